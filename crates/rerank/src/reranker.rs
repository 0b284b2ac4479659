//! The seam.

use std::time::Duration;

use cornu_core::Fingerprint;

use crate::candidate::{Candidate, Candidates};
use crate::error::RerankError;
use crate::maxsim::TokenMatch;
use crate::reranked::{Draft, Reranked, Unscored};

/// A second look at what a first stage found. It reorders: no candidate is lost, and none that was
/// not retrieved comes back.
///
/// A reranker reads the query and the candidates, and nothing else. Candidates come from a search
/// within the asker's [`View`](cornu_core::View), so what the asker may not see has no part in it.
/// An implementation has to keep to that: no score may depend on an earlier call.
///
/// ```
/// use std::time::Duration;
/// use cornu_core::{ChunkId, Fingerprint};
/// use cornu_rerank::{Candidate, Candidates, Reranked, RerankError, Reranker, Scale};
///
/// /// Shorter is better.
/// struct Shortest(Fingerprint);
///
/// impl Reranker for Shortest {
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn rerank(&self, _: &str, candidates: &Candidates<'_>) -> Result<Reranked, RerankError> {
///         let rows = candidates.iter().map(|c| -(c.text.len() as f64)).enumerate();
///         Reranked::from_rows(candidates, rows, Scale::Ordinal)
///     }
/// }
///
/// let reranker: Box<dyn Reranker> = Box::new(Shortest(Fingerprint::new("shortest")));
/// let id = |byte| ChunkId::from_bytes([byte; 32]);
/// let found = [Candidate::new(id(1), "long text", 0.9), Candidate::new(id(2), "text", 0.8)];
/// let reranked = reranker.rerank("?", &Candidates::new(found)?)?;
/// assert_eq!(reranked.ids().next(), Some(id(2)));
/// # Ok::<(), RerankError>(())
/// ```
pub trait Reranker: Send + Sync {
    /// Everything that scores and cuts depend on.
    fn fingerprint(&self) -> &Fingerprint;

    /// The candidates in their new order. No candidates: an empty result, and no model is asked.
    ///
    /// # Errors
    /// [`RerankError`]; then there is no result, not even for the part that went well.
    fn rerank(&self, query: &str, candidates: &Candidates<'_>) -> Result<Reranked, RerankError>;

    /// Of which model the candidates' [token vectors](Candidate::tokens) have to be, for a
    /// reranker that uses them.
    fn token_space(&self) -> Option<&Fingerprint> {
        None
    }

    /// Why a candidate is scored as it is, token by token; empty where there is nothing to say.
    ///
    /// # Errors
    /// As [`rerank`](Self::rerank).
    fn explain(
        &self,
        query: &str,
        candidate: &Candidate<'_>,
    ) -> Result<Vec<TokenMatch>, RerankError> {
        let _ = (query, candidate);
        Ok(Vec::new())
    }
}

/// Leaves the first stage's order as it is.
///
/// ```
/// use cornu_core::ChunkId;
/// use cornu_rerank::{Candidate, Candidates, NoRerank, Reranker};
///
/// let id = |byte| ChunkId::from_bytes([byte; 32]);
/// let found = Candidates::new([Candidate::new(id(1), "", 0.1), Candidate::new(id(2), "", 0.2)])?;
/// let reranked = NoRerank::new().rerank("?", &found)?;
/// assert_eq!(reranked.ids().collect::<Vec<_>>(), [id(2), id(1)]);
/// # Ok::<(), cornu_rerank::RerankError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NoRerank {
    fingerprint: Fingerprint,
}

impl NoRerank {
    /// The reranker that does nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            fingerprint: Fingerprint::new("none"),
        }
    }
}

impl Default for NoRerank {
    fn default() -> Self {
        Self::new()
    }
}

impl Reranker for NoRerank {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn rerank(&self, _: &str, candidates: &Candidates<'_>) -> Result<Reranked, RerankError> {
        Ok(Draft::new(candidates, Unscored::NotAsked).finish(Duration::ZERO))
    }
}
