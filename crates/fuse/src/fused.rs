//! What a fusion gives: one ranking, and where each score comes from.

use std::collections::BTreeMap;

use cornu_core::Ranking;

/// What one list gives to the fused score of one id.
///
/// See [`Fused`] for an example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The id's rank in the list, from 1.
    pub rank: usize,
    /// Its score in the list, as the route gave it.
    pub score: f64,
    /// What it adds to the fused score: the weight times the reciprocal rank, or the weight times
    /// the normalised score. At least 0.
    pub value: f64,
}

/// A fused ranking with each list's share of every entry.
///
/// The ids are the union of the lists' ids, those of lists with weight 0 included. A score is the
/// sum of its shares' values, added from the smallest to the largest: so it has the same bits in
/// whatever order the lists are given.
///
/// Memory: one entry and one [`Share`] a list for each id.
///
/// ```
/// use cornu_core::Ranking;
/// use cornu_fuse::{RrfOptions, Weighted, rrf_fuse};
///
/// let a = Ranking::new([("x", 3.0)])?;
/// let b = Ranking::new([("y", 9.0), ("x", 5.0)])?;
/// let fused = rrf_fuse(&[Weighted::new(&a, 1.0), Weighted::new(&b, 1.0)], RrfOptions::default())?;
///
/// let (best, shares) = fused.iter().next().ok_or("empty")?;
/// assert_eq!(best.id, "x");
/// assert_eq!(best.score, 1.0 / 61.0 + 1.0 / 62.0);
/// assert_eq!(shares[1].map(|share| (share.rank, share.score)), Some((2, 5.0)));
/// assert_eq!(fused.shares(&"y").map(|shares| shares[0]), Some(None)); // `a` does not hold it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fused<I> {
    ranking: Ranking<I>,
    lists: usize,
    /// `lists` shares for each entry of the ranking, in its order.
    shares: Vec<Option<Share>>,
}

impl<I: Ord> Fused<I> {
    /// The fused ranking.
    #[must_use]
    pub fn ranking(&self) -> &Ranking<I> {
        &self.ranking
    }

    /// The fused ranking without the shares.
    #[must_use]
    pub fn into_ranking(self) -> Ranking<I> {
        self.ranking
    }

    /// One share for each list, in the order of the lists; `None` where a list does not hold the
    /// id. `None` altogether when no list does. O(n).
    #[must_use]
    pub fn shares(&self, id: &I) -> Option<&[Option<Share>]> {
        let at = self.ranking.rank_of(id)? - 1;
        self.shares.get(at * self.lists..(at + 1) * self.lists)
    }

    /// The entries, best first, with their shares.
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = (&cornu_core::Scored<I>, &[Option<Share>])> {
        // An entry stands in at least one list, so `lists` is 0 only where there is no entry.
        self.ranking
            .iter()
            .zip(self.shares.chunks(self.lists.max(1)))
    }

    /// Keeps the best `k`, after fusion: lists that were cut before it lose what only their sum
    /// would have brought up.
    #[must_use]
    pub fn top(mut self, k: usize) -> Self {
        self.ranking = self.ranking.top(k);
        self.shares.truncate(self.ranking.len() * self.lists);
        self
    }
}

/// Collects the shares by id, adds them up and orders the sums. The shares have to be finite.
pub(crate) fn assemble<'a, I, S>(
    lists: impl ExactSizeIterator<Item = (&'a Ranking<I>, S)>,
) -> Fused<I>
where
    I: Ord + Clone + 'a,
    S: Fn(usize, f64) -> f64,
{
    let count = lists.len();
    let mut by_id: BTreeMap<&I, Vec<Option<Share>>> = BTreeMap::new();
    for (at, (list, value)) in lists.enumerate() {
        for (before, hit) in list.iter().enumerate() {
            let shares = by_id.entry(&hit.id).or_insert_with(|| vec![None; count]);
            if let Some(share) = shares.get_mut(at) {
                *share = Some(Share {
                    rank: before + 1,
                    score: hit.score,
                    value: value(before + 1, hit.score),
                });
            }
        }
    }
    let sum = |shares: &[Option<Share>]| total(shares.iter().flatten().map(|share| share.value));
    let ranking = ranked(by_id.iter().map(|(&id, shares)| (id.clone(), sum(shares))));
    let shares = ranking
        .ids()
        .filter_map(|id| by_id.get(id))
        .flatten()
        .copied()
        .collect();
    Fused {
        ranking,
        lists: count,
        shares,
    }
}

/// The ranking of pairs with finite scores and distinct ids. Pairs that are not so, which no caller
/// in this crate makes, rank as nothing.
pub(crate) fn ranked<I: Ord>(pairs: impl IntoIterator<Item = (I, f64)>) -> Ranking<I> {
    let ranking = Ranking::new(pairs);
    debug_assert!(ranking.is_ok(), "a fused score is not finite");
    ranking.unwrap_or_else(|_| Ranking::empty())
}

/// The sum, from the smallest to the largest: the same bits for every order of the values.
pub(crate) fn total(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.iter().sum()
}
