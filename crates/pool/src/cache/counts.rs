//! What a cache has done.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since a cache was made, and what it holds.
///
/// ```
/// let fresh = cornu_pool::CacheMetrics::default();
/// assert_eq!((fresh.hits, fresh.hit_rate()), (0, None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheMetrics {
    /// Look-ups that found the very question.
    pub hits: u64,
    /// Look-ups that found a similar question whose result was taken.
    pub similar_hits: u64,
    /// Look-ups that waited for another's computation and took its result.
    pub joined: u64,
    /// Look-ups that had to compute.
    pub misses: u64,
    /// Entries that made room for others.
    pub evictions: u64,
    /// Entries that were found too old.
    pub expired: u64,
    /// Hits that were not given because something in them is not seen by the asker. The key holds
    /// the view, so there should be none.
    pub refused_hidden: u64,
    /// Similar questions that were turned down by the guard.
    pub refused_similar: u64,
    /// Look-ups that met another key of the same hash: misses.
    pub collisions: u64,
    /// Values that are larger than a shard, and were not kept.
    pub too_large: u64,
    /// Entries held.
    pub entries: usize,
    /// Bytes held by them, and by the vectors of the second level.
    pub bytes: usize,
}

impl CacheMetrics {
    /// Results that were not computed, as a part of all; `None` before the first look-up.
    #[must_use]
    pub fn hit_rate(&self) -> Option<f64> {
        let found = self.hits + self.similar_hits + self.joined;
        let all = found + self.misses;
        (all > 0).then(|| found as f64 / all as f64)
    }
}

/// Counters of one shard.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) hits: Count,
    pub(crate) similar_hits: Count,
    pub(crate) joined: Count,
    pub(crate) misses: Count,
    pub(crate) evictions: Count,
    pub(crate) expired: Count,
    pub(crate) refused_hidden: Count,
    pub(crate) refused_similar: Count,
    pub(crate) collisions: Count,
    pub(crate) too_large: Count,
}

impl Counts {
    pub(crate) fn add_to(&self, sum: &mut CacheMetrics) {
        sum.hits += self.hits.get();
        sum.similar_hits += self.similar_hits.get();
        sum.joined += self.joined.get();
        sum.misses += self.misses.get();
        sum.evictions += self.evictions.get();
        sum.expired += self.expired.get();
        sum.refused_hidden += self.refused_hidden.get();
        sum.refused_similar += self.refused_similar.get();
        sum.collisions += self.collisions.get();
        sum.too_large += self.too_large.get();
    }
}

/// Orders nothing but itself.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn one_more(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
