//! Reciprocal rank fusion.

use cornu_core::Ranking;

use crate::error::FuseError;
use crate::fused::{Fused, assemble};
use crate::weighted::{Weighted, check};

/// The largest constant: far beyond it neighbouring ranks would get the same share, since k and k + 1
/// are the same float.
pub const MAX_RANK_CONSTANT: f64 = 1e9;

/// The constant of reciprocal rank fusion.
///
/// ```
/// assert_eq!(cornu_fuse::RrfOptions::default().k, 60.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RrfOptions {
    /// How flat the weights of ranks are: at 0 the second place counts half as much as the first,
    /// at 60 (the value of the paper) 61/62 as much. From 0 to [`MAX_RANK_CONSTANT`].
    pub k: f64,
}

impl Default for RrfOptions {
    fn default() -> Self {
        Self { k: 60.0 }
    }
}

/// Fuses any number of lists by rank: score(d) = Σ over the lists that hold d of
/// weight / (k + rank), rank from 1 (Cormack, Clarke and Büttcher, SIGIR 2009, with weights).
///
/// - Only ranks count: other scores in the same order give the same result.
/// - A rank is the place in the [`Ranking`]. Entries with equal scores therefore have different
///   ranks, in the order of their ids: the rank that a trace shows is the rank that counts.
/// - A list that does not hold an id adds nothing for it; an empty list changes nothing.
/// - Equal sums stand in the order of their ids.
///
/// O(n log n) time for n entries in all.
///
/// # Errors
/// [`FuseError::RankConstant`], [`FuseError::Weight`], [`FuseError::NoWeight`].
///
/// ```
/// use cornu_core::Ranking;
/// use cornu_fuse::{RrfOptions, Weighted, rrf_fuse};
///
/// let dense = Ranking::new([("a", 0.9), ("b", 0.8)])?;
/// let sparse = Ranking::new([("b", 12.0), ("a", 3.0)])?;
/// let lists = [Weighted::new(&dense, 1.0), Weighted::new(&sparse, 2.0)];
/// let fused = rrf_fuse(&lists, RrfOptions::default())?;
/// assert_eq!(fused.ranking().as_slice()[0].score, 1.0 / 62.0 + 2.0 / 61.0); // b
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rrf_fuse<I: Ord + Clone>(
    lists: &[Weighted<&Ranking<I>>],
    options: RrfOptions,
) -> Result<Fused<I>, FuseError> {
    let k = options.k;
    if !(0.0..=MAX_RANK_CONSTANT).contains(&k) {
        return Err(FuseError::RankConstant { k });
    }
    check(lists)?;
    let shares = lists.iter().map(|weighted| {
        let weight = weighted.weight;
        let share = move |rank: usize, _score: f64| weight / (k + rank as f64);
        (weighted.list, share)
    });
    Ok(assemble(shares))
}
