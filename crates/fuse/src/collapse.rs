//! From chunks to what holds them.

use std::collections::BTreeMap;

use cornu_core::Ranking;

/// A ranking of groups (the documents of chunks, say), each with the best score of its members.
///
/// Collapse each list *before* a fusion by document: a document counts once for each list, with
/// its best rank, however many of its chunks the list holds. O(n log n).
///
/// ```
/// use cornu_core::Ranking;
/// use cornu_fuse::best_per;
///
/// let chunks = Ranking::new([("a#1", 3.0), ("a#2", 2.0), ("b#1", 1.0)])?;
/// let documents = best_per(&chunks, |chunk| &chunk[..1]);
/// assert_eq!(documents, Ranking::new([("a", 3.0), ("b", 1.0)])?);
/// # Ok::<(), cornu_core::RankingError>(())
/// ```
pub fn best_per<'a, I: Ord, J: Ord + Clone>(
    ranking: &'a Ranking<I>,
    group: impl Fn(&'a I) -> J,
) -> Ranking<J> {
    let mut best: BTreeMap<J, f64> = BTreeMap::new();
    for hit in ranking {
        best.entry(group(&hit.id)).or_insert(hit.score); // best first
    }
    crate::fused::ranked(best)
}
