//! MaxSim as a reranker.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cornu_core::Fingerprint;

use super::kernel::max_sims;
use super::matches::{TokenMatch, matches};
use super::space::TokenSpace;
use super::tokens::TokenMatrix;
use crate::blend::Blend;
use crate::candidate::{Candidate, Candidates};
use crate::clock::{Clock, SystemClock};
use crate::error::RerankError;
use crate::reranked::{Draft, Reranked, Unscored};
use crate::reranker::Reranker;
use crate::score::Scale;

/// All candidates by late interaction: one pass of the model for the query, and a matrix product
/// with the candidates' stored token vectors.
///
/// A candidate without stored vectors has its text embedded on the spot, which costs a pass of the
/// model and gives the same score.
///
/// See [`TokenSpace`] for an embedder.
///
/// ```
/// # use std::sync::Arc;
/// # use cornu_core::{ChunkId, Fingerprint, ProviderError, Side, TextTokens, TokenEmbedder, TokenVectors};
/// use cornu_rerank::{Candidate, Candidates, MaxSim, Reranker, Scale, TokenSpace};
/// # struct Letters(Fingerprint);
/// # impl TokenEmbedder for Letters {
/// #     fn token_dimension(&self) -> usize { 256 }
/// #     fn fingerprint(&self) -> &Fingerprint { &self.0 }
/// #     fn embed_tokens(&self, texts: &[&str], _: Side) -> Result<Vec<TokenVectors>, ProviderError> {
/// #         Ok(texts.iter().map(|text| TokenVectors {
/// #             vectors: ndarray::Array2::from_shape_fn((text.len(), 256), |(token, place)| {
/// #                 f32::from(u8::from(text.as_bytes()[token] as usize == place))
/// #             }),
/// #             spans: vec![None; text.len()],
/// #             tokens: TextTokens::whole(text.len()),
/// #         }).collect())
/// #     }
/// # }
/// # let embedder = Arc::new(Letters(Fingerprint::new("letters")));
/// let space = TokenSpace::new(embedder);
/// let stored = space.documents(&["slope", "fruit"])?; // at ingest
///
/// let reranker = MaxSim::new(space);
/// let id = |byte| ChunkId::from_bytes([byte; 32]);
/// let found = [
///     Candidate { tokens: Some(&stored[1]), ..Candidate::new(id(1), "fruit", 0.9) },
///     Candidate { tokens: Some(&stored[0]), ..Candidate::new(id(2), "slope", 0.8) },
/// ];
/// let reranked = reranker.rerank("slop", &Candidates::new(found)?)?;
/// assert_eq!(reranked.ids().next(), Some(id(2)));
/// let score = reranked.entries()[0].outcome.score().ok_or("scored")?;
/// assert_eq!((score.value(), score.scale()), (4.0, Scale::MaxSim));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MaxSim {
    space: TokenSpace,
    blend: Option<Blend>,
    clock: Arc<dyn Clock>,
    fingerprint: Fingerprint,
}

impl MaxSim {
    /// A reranker by the vectors of a space.
    #[must_use]
    pub fn new(space: TokenSpace) -> Self {
        let fingerprint = space.fingerprint().clone().with("rerank", "maxsim");
        Self {
            space,
            blend: None,
            clock: Arc::new(SystemClock::new()),
            fingerprint,
        }
    }

    /// In the order of both stages' scores, not of MaxSim alone.
    #[must_use]
    pub fn with_blend(mut self, blend: Blend) -> Self {
        self.fingerprint = self.fingerprint.with("rerank.blend", blend.weight());
        self.blend = Some(blend);
        self
    }

    /// Another clock for the report.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}

impl Reranker for MaxSim {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn rerank(&self, query: &str, candidates: &Candidates<'_>) -> Result<Reranked, RerankError> {
        let start = self.clock.now();
        let mut draft = Draft::new(candidates, Unscored::NoTokens).blended(self.blend);
        if candidates.is_empty() {
            return Ok(draft.finish(Duration::ZERO));
        }
        let query = self.space.query(query)?;
        let missing: Vec<&str> = candidates
            .iter()
            .filter(|candidate| candidate.tokens.is_none())
            .map(|candidate| candidate.text)
            .collect();
        let embedded = self.space.documents(&missing)?;
        let mut embedded = embedded.iter();
        let empty = TokenMatrix::default();
        let documents: Vec<&TokenMatrix> = candidates
            .iter()
            .map(|candidate| {
                candidate
                    .tokens
                    .or_else(|| embedded.next())
                    .unwrap_or(&empty)
            })
            .collect();
        draft.report.sent = candidates.len();
        for (at, score) in max_sims(&query, &documents)?.into_iter().enumerate() {
            if let Some(score) = score {
                draft.row(at, score.sum, Scale::MaxSim)?;
            }
        }
        Ok(draft.finish(self.clock.now().saturating_sub(start)))
    }

    fn token_space(&self) -> Option<&Fingerprint> {
        Some(self.space.fingerprint())
    }

    fn explain(
        &self,
        query: &str,
        candidate: &Candidate<'_>,
    ) -> Result<Vec<TokenMatch>, RerankError> {
        matches(&self.space, query, candidate.text)
    }
}

impl fmt::Debug for MaxSim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaxSim")
            .field("space", &self.space)
            .finish_non_exhaustive()
    }
}
