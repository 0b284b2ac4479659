//! A second look at what a search found: cross-encoders, a cascade that cuts at the elbow, late
//! interaction.
//!
//! | module | what it holds |
//! |---|---|
//! | [`reranker`] | [`Reranker`]: the seam; [`NoRerank`] |
//! | [`candidate`] | [`Candidates`]: what a reranker is given |
//! | [`reranked`] | [`Reranked`]: the new order, and for each candidate its score or why it has none |
//! | [`score`] | [`Score`] on a [`Scale`], [`Cutoff`]: logits and probabilities are never mixed up |
//! | [`cross`] | [`CrossEncoder`]: every candidate through the model |
//! | [`cascade`] | [`ElbowCascade`]: as many as the first stage's scores are worth, within a [`Budget`] |
//! | [`staged`] | [`Staged`]: a dear reranker behind a cheap one |
//! | [`blend`] | [`Blend`]: the scores of both stages in one order |
//! | [`mod@elbow`] | [`elbow()`]: where a list of scores breaks off |
//! | [`cost`], [`clock`] | [`PairCost`], [`Clock`]: time as something that is calibrated and handed in |
//! | [`maxsim`] | [`MaxSim`], [`TokenMatrix`], [`max_sims`]: late interaction and its kernel |
//!
//! Models come in through `PairScorer` and `TokenEmbedder` of `cornu-core`; this crate knows none.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use cornu_core::{ChunkId, Fingerprint, PairScorer, ProviderError};
//! use cornu_rerank::{Candidate, Candidates, CascadeOptions, ElbowCascade, Reranker, Scale, Scorer};
//!
//! /// Stands for a cross-encoder: how often a document has the query's word.
//! struct Occurrences(Fingerprint);
//! impl PairScorer for Occurrences {
//!     fn fingerprint(&self) -> &Fingerprint { &self.0 }
//!     fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
//!         Ok(documents.iter().map(|d| d.matches(query).count() as f32).collect())
//!     }
//! }
//!
//! let model = Arc::new(Occurrences(Fingerprint::new("occurrences")));
//! let options = CascadeOptions { floor: 2, ceiling: 3, ..CascadeOptions::default() };
//! let cascade = ElbowCascade::new(Scorer::new(model, Scale::Logit), options)?;
//!
//! let id = |byte| ChunkId::from_bytes([byte; 32]);
//! let found = Candidates::new([
//!     Candidate::new(id(1), "a fruit", 0.84),
//!     Candidate::new(id(2), "the slope", 0.80),
//!     Candidate::new(id(3), "slope after slope", 0.31),
//! ])?;
//! let reranked = cascade.rerank("slope", &found)?;
//! assert_eq!(reranked.ids().collect::<Vec<_>>(), [id(2), id(1), id(3)]);
//! assert_eq!(reranked.report().scored, 2); // the scores break off after the second
//! # Ok::<(), cornu_rerank::RerankError>(())
//! ```

pub mod blend;
pub mod candidate;
pub mod cascade;
pub mod clock;
pub mod cost;
pub mod cross;
pub mod elbow;
mod error;
pub mod maxsim;
pub mod reranked;
pub mod reranker;
pub mod score;
pub mod staged;

pub use blend::Blend;
pub use candidate::{Candidate, Candidates};
pub use cascade::{Budget, CascadeOptions, EarlyExit, ElbowCascade};
pub use clock::{Clock, ManualClock, SystemClock};
pub use cost::PairCost;
pub use cross::{CrossEncoder, Scorer};
pub use elbow::{Cut, CutReason, elbow};
pub use error::{RerankError, TokensError};
pub use maxsim::{
    MaxSim, MaxSimScore, Precision, QueryTokens, TokenMatch, TokenMatrix, TokenSpace, max_sims,
};
pub use reranked::{Earlier, Entry, Outcome, Report, Reranked, Unscored};
pub use reranker::{NoRerank, Reranker};
pub use score::{Cutoff, Scale, Score};
pub use staged::Staged;

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
