//! The best k of many.

use std::cmp::Ordering;

use cornu_core::{ChunkId, Ranking, RankingError};

/// The k-th largest value; the smallest of all when there are no more than k. O(n) time on
/// average, O(k) memory beyond the values. `None` for k = 0 or no values.
pub(crate) fn kth_largest(values: &[f32], k: usize) -> Option<f32> {
    if k == 0 || values.is_empty() {
        return None;
    }
    if values.len() <= k {
        return values.iter().copied().min_by(f32::total_cmp);
    }
    let room = k.saturating_mul(2).max(64).min(values.len());
    let mut best: Vec<f32> = Vec::with_capacity(room);
    let mut floor = f32::NEG_INFINITY;
    for &value in values {
        if value < floor {
            continue;
        }
        best.push(value);
        if best.len() == room && room > k {
            floor = cut(&mut best, k);
        }
    }
    Some(cut(&mut best, k))
}

/// Keeps the k largest; the last of them.
fn cut(best: &mut Vec<f32>, k: usize) -> f32 {
    let (_, kth, _) = best.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    let kth = *kth;
    best.truncate(k);
    kth
}

/// The ranking of the best k of some exactly scored hits. O(n + k log k).
pub(crate) fn ranking(
    mut hits: Vec<(ChunkId, f64)>,
    k: usize,
) -> Result<Ranking<ChunkId>, RankingError> {
    if k == 0 {
        return Ok(Ranking::empty());
    }
    if hits.len() > k {
        hits.select_nth_unstable_by(k - 1, best_first);
        hits.truncate(k);
    }
    Ranking::new(hits)
}

/// Score descending, then id ascending, with the two zeros as one: the order of a [`Ranking`].
fn best_first(a: &(ChunkId, f64), b: &(ChunkId, f64)) -> Ordering {
    let scores = (b.1 + 0.0).total_cmp(&(a.1 + 0.0));
    scores.then_with(|| a.0.cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use cornu_core::testing::proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_kth_largest_is_that_of_a_sort(values in prop::collection::vec(-3i8..3, 0..300), k in 0usize..320) {
            let values: Vec<f32> = values.into_iter().map(f32::from).collect();
            let mut sorted = values.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let expected = match k {
                0 => None,
                _ => sorted.get(k - 1).or(sorted.last()).copied(),
            };
            prop_assert_eq!(kth_largest(&values, k), expected);
        }

        #[test]
        fn the_ranking_is_a_prefix_of_that_of_all(scores in prop::collection::vec(-2i8..2, 0..60), k in 0usize..70) {
            let hits: Vec<_> = scores.iter().enumerate()
                .map(|(at, score)| (ChunkId::from_bytes([at as u8; 32]), f64::from(*score)))
                .collect();
            let all = Ranking::new(hits.clone()).unwrap().top(k);
            prop_assert_eq!(ranking(hits, k).unwrap(), all);
        }
    }
}
