//! The one list type that every search route produces and every fusion and reranker consumes.

use std::cmp::Ordering;
use std::collections::BTreeSet;

/// One place of a [`Ranking`].
///
/// ```
/// use cornu_core::Scored;
/// let hit = Scored { id: "a", score: 0.5 };
/// assert_eq!(hit.id, "a");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Scored<I> {
    /// What was found.
    pub id: I,
    /// How well it fits; larger is better. Always finite.
    pub score: f64,
}

/// Ids with finite scores: score descending, then id ascending, no id twice.
///
/// The order is a function of the contents: it does not depend on the order of insertion, and a
/// shorter ranking of the same contents is a prefix of a longer one.
///
/// ```
/// use cornu_core::Ranking;
///
/// let ranking = Ranking::new([(7, 1.0), (3, 1.0), (5, 2.0)])?;
/// assert_eq!(ranking.ids().copied().collect::<Vec<_>>(), [5, 3, 7]);
/// assert_eq!(ranking.rank_of(&7), Some(3));
/// assert!(Ranking::new([(1, f64::NAN)]).is_err());
/// assert!(Ranking::new([(1, 0.0), (1, 1.0)]).is_err());
/// # Ok::<(), cornu_core::RankingError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Ranking<I> {
    items: Vec<Scored<I>>,
}

impl<I: Ord> Ranking<I> {
    /// Orders the pairs. O(n log n) time; negative zero counts as zero.
    ///
    /// # Errors
    /// [`RankingError`] when a score is NaN or infinite, or an id comes twice.
    pub fn new(pairs: impl IntoIterator<Item = (I, f64)>) -> Result<Self, RankingError> {
        let mut items = Vec::new();
        for (position, (id, score)) in pairs.into_iter().enumerate() {
            if !score.is_finite() {
                return Err(RankingError::NotFinite { position, score });
            }
            items.push(Scored {
                id,
                score: score + 0.0,
            });
        }
        items.sort_unstable_by(order);
        let mut seen = BTreeSet::new();
        if let Some(position) = items.iter().position(|item| !seen.insert(&item.id)) {
            return Err(RankingError::Duplicate { position });
        }
        Ok(Self { items })
    }

    /// The ranking without entries.
    #[must_use]
    pub fn empty() -> Self {
        Self { items: Vec::new() }
    }

    /// Keeps the best `k`.
    #[must_use]
    pub fn top(mut self, k: usize) -> Self {
        self.items.truncate(k);
        self
    }

    /// The entries, best first.
    #[must_use]
    pub fn as_slice(&self) -> &[Scored<I>] {
        &self.items
    }

    /// The entries, best first.
    pub fn iter(&self) -> std::slice::Iter<'_, Scored<I>> {
        self.items.iter()
    }

    /// The ids, best first.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &I> {
        self.items.iter().map(|item| &item.id)
    }

    /// The rank, from 1, of an id. O(n).
    #[must_use]
    pub fn rank_of(&self, id: &I) -> Option<usize> {
        self.items
            .iter()
            .position(|item| item.id == *id)
            .map(|at| at + 1)
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<I> IntoIterator for Ranking<I> {
    type Item = Scored<I>;
    type IntoIter = std::vec::IntoIter<Scored<I>>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, I> IntoIterator for &'a Ranking<I> {
    type Item = &'a Scored<I>;
    type IntoIter = std::slice::Iter<'a, Scored<I>>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// Why pairs are no ranking.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RankingError {
    /// A score is NaN or infinite.
    #[error("the score at position {position} is {score}; a route has to give finite scores")]
    NotFinite {
        /// Position in the input, from 0.
        position: usize,
        /// The score.
        score: f64,
    },
    /// An id comes twice.
    #[error(
        "an id comes twice (again at position {position} of the ordered list, from 0); merge its \
         scores first"
    )]
    Duplicate {
        /// Position in the ordered list, from 0.
        position: usize,
    },
}

fn order<I: Ord>(a: &Scored<I>, b: &Scored<I>) -> Ordering {
    b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id))
}
