//! One reranker behind another.

use std::fmt;
use std::sync::Arc;

use cornu_core::Fingerprint;

use crate::candidate::{Candidate, Candidates};
use crate::error::RerankError;
use crate::maxsim::TokenMatch;
use crate::reranked::{Earlier, Entry, Reranked};
use crate::reranker::Reranker;
use crate::score::Score;

/// A cheap reranker puts all candidates in order, and a dear one looks again at the head of that
/// order: MaxSim before an [`ElbowCascade`](crate::ElbowCascade), which then cuts where MaxSim's
/// order breaks off and not where the first stage's does.
///
/// What the second leaves out keeps the order of the first. Each entry says what the first made of
/// it ([`Entry::earlier`]); the report is the second's. Costs both.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::{ChunkId, Fingerprint, PairScorer, ProviderError};
/// use cornu_rerank::{Candidate, Candidates, CrossEncoder, Reranker, Scale, Scorer, Staged};
///
/// /// Stands for a model: how often a document has a letter.
/// struct Letter(char, Fingerprint);
/// impl PairScorer for Letter {
///     fn fingerprint(&self) -> &Fingerprint { &self.1 }
///     fn score(&self, _: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
///         Ok(documents.iter().map(|d| d.matches(self.0).count() as f32).collect())
///     }
/// }
/// let of = |letter| Scorer::new(Arc::new(Letter(letter, Fingerprint::new("letter"))), Scale::Logit);
/// let dear = CrossEncoder::new(of('b')).with_depth(2);
/// let staged = Staged::new(Arc::new(CrossEncoder::new(of('a'))), Arc::new(dear));
///
/// let id = |byte| ChunkId::from_bytes([byte; 32]);
/// let found = [("bbb", 0.9), ("aa", 0.8), ("ab", 0.7)];
/// let found = found.iter().zip(1..).map(|(&(text, score), at)| Candidate::new(id(at), text, score));
/// let reranked = staged.rerank("?", &Candidates::new(found)?)?;
/// // By `a` 2, 3, 1; of the first two, by `b` 3, 2.
/// assert_eq!(reranked.ids().collect::<Vec<_>>(), [id(3), id(2), id(1)]);
/// let top = reranked.entries()[0];
/// assert_eq!((top.first_rank, top.earlier.map(|earlier| earlier.rank)), (3, Some(2)));
/// # Ok::<(), cornu_rerank::RerankError>(())
/// ```
pub struct Staged {
    first: Arc<dyn Reranker>,
    second: Arc<dyn Reranker>,
    fingerprint: Fingerprint,
}

impl Staged {
    /// `second` behind `first`.
    #[must_use]
    pub fn new(first: Arc<dyn Reranker>, second: Arc<dyn Reranker>) -> Self {
        let earlier = first.fingerprint().to_string();
        let fingerprint = second.fingerprint().clone().with("rerank.behind", earlier);
        Self {
            first,
            second,
            fingerprint,
        }
    }
}

impl Reranker for Staged {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn rerank(&self, query: &str, candidates: &Candidates<'_>) -> Result<Reranked, RerankError> {
        let first = self.first.rerank(query, candidates)?;
        let between = in_order(candidates, &first);
        let second = self.second.rerank(query, &between)?;
        Ok(
            second.told_of(&first, candidates.duplicates(), |entry, before| Entry {
                first_rank: before.first_rank,
                first_score: before.first_score,
                earlier: Some(Earlier {
                    rank: entry.first_rank,
                    outcome: before.outcome,
                    blended: before.blended,
                }),
                ..entry
            }),
        )
    }

    fn token_space(&self) -> Option<&Fingerprint> {
        self.first.token_space().or(self.second.token_space())
    }

    fn explain(
        &self,
        query: &str,
        candidate: &Candidate<'_>,
    ) -> Result<Vec<TokenMatch>, RerankError> {
        let first = self.first.explain(query, candidate)?;
        match first.is_empty() {
            true => self.second.explain(query, candidate),
            false => Ok(first),
        }
    }
}

/// The candidates in the order that a reranker gave them, with what they are ordered by. Those
/// without a score stand behind all others, at the value of the last.
fn in_order<'c>(candidates: &Candidates<'c>, reranked: &Reranked) -> Candidates<'c> {
    let mut last = 0.0;
    let ordered = reranked.entries().iter().filter_map(|entry| {
        let candidate = candidates
            .as_slice()
            .get(entry.first_rank.checked_sub(1)?)?;
        let score = entry.outcome.score().map(Score::value);
        last = entry.blended.or(score).unwrap_or(last);
        Some(Candidate {
            score: last,
            ..*candidate
        })
    });
    Candidates::in_order(ordered.collect())
}

impl fmt::Debug for Staged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Staged")
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}
