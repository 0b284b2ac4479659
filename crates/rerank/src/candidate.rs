//! What a reranker is given.

use std::collections::BTreeSet;

use cornu_core::ChunkId;

use crate::error::RerankError;
use crate::maxsim::TokenMatrix;

/// A chunk that a first stage found.
///
/// ```
/// use cornu_core::ChunkId;
/// use cornu_rerank::Candidate;
///
/// let candidate = Candidate::new(ChunkId::from_bytes([1; 32]), "The text.", 0.8);
/// assert!(candidate.tokens.is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Which chunk.
    pub id: ChunkId,
    /// What a cross-encoder reads.
    pub text: &'a str,
    /// The first stage's score; larger is better, on any scale.
    pub score: f64,
    /// Its token vectors, where they were computed at ingest.
    pub tokens: Option<&'a TokenMatrix>,
}

impl<'a> Candidate<'a> {
    /// A candidate without token vectors.
    #[must_use]
    pub fn new(id: ChunkId, text: &'a str, score: f64) -> Self {
        Self {
            id,
            text,
            score,
            tokens: None,
        }
    }
}

/// Candidates in first-stage order: score descending, then id ascending, no id twice.
///
/// ```
/// use cornu_core::ChunkId;
/// use cornu_rerank::{Candidate, Candidates};
///
/// let id = |byte| ChunkId::from_bytes([byte; 32]);
/// let twice = [Candidate::new(id(1), "a", 0.2), Candidate::new(id(2), "b", 0.9),
///     Candidate::new(id(1), "a", 0.4)];
/// let candidates = Candidates::new(twice)?;
/// assert_eq!(candidates.iter().map(|c| (c.id, c.score)).collect::<Vec<_>>(),
///     [(id(2), 0.9), (id(1), 0.4)]);
/// assert_eq!(candidates.duplicates(), 1);
/// # Ok::<(), cornu_rerank::RerankError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Candidates<'a> {
    items: Vec<Candidate<'a>>,
    duplicates: usize,
}

impl<'a> Candidates<'a> {
    /// Puts candidates in first-stage order. Of one that comes twice, the better place counts; the
    /// other is dropped here, before any position is handed to a model. O(n log n).
    ///
    /// # Errors
    /// [`RerankError::FirstStage`] for a score that is not finite.
    pub fn new(candidates: impl IntoIterator<Item = Candidate<'a>>) -> Result<Self, RerankError> {
        let mut items: Vec<_> = candidates.into_iter().collect();
        if let Some(bad) = items.iter().find(|item| !item.score.is_finite()) {
            return Err(RerankError::FirstStage {
                id: bad.id,
                score: bad.score,
            });
        }
        // Adding zero makes the negative one positive, so that the two are one score.
        items.iter_mut().for_each(|item| item.score += 0.0);
        items.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        let all = items.len();
        let mut seen = BTreeSet::new();
        items.retain(|item| seen.insert(item.id));
        Ok(Self {
            duplicates: all - items.len(),
            items,
        })
    }

    /// In the order of an earlier reranker: no id twice, scores finite and falling, ties as they
    /// stand.
    pub(crate) fn in_order(items: Vec<Candidate<'a>>) -> Self {
        Self {
            items,
            duplicates: 0,
        }
    }

    /// The candidates, best first.
    #[must_use]
    pub fn as_slice(&self) -> &[Candidate<'a>] {
        &self.items
    }

    /// The candidates, best first.
    pub fn iter(&self) -> std::slice::Iter<'_, Candidate<'a>> {
        self.items.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none: a normal outcome, for which no model is asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many were dropped because they came twice.
    #[must_use]
    pub fn duplicates(&self) -> usize {
        self.duplicates
    }
}
