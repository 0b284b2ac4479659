//! What a pool is doing.

use std::time::Duration;

use crate::waits::Waits;

/// One moment of a pool.
///
/// See [`ThreadSafeVecPool::metrics`](crate::ThreadSafeVecPool::metrics).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// The readers.
    pub readers: LaneMetrics,
    /// The writer.
    pub writer: LaneMetrics,
}

/// One moment of the readers, or of the writer.
///
/// ```
/// let fresh = cornu_pool::LaneMetrics::default();
/// assert_eq!((fresh.in_use, fresh.waiting), (0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneMetrics {
    /// Connections that may be out at the same time.
    pub size: usize,
    /// Connections that are out.
    pub in_use: usize,
    /// Calls that wait.
    pub waiting: usize,
    /// Connections opened since the start.
    pub opened: u64,
    /// Connections thrown away since the start: broken, or held by a thread that panicked.
    pub discarded: u64,
    /// Connections opened in the place of one that was thrown away.
    pub replaced: u64,
    /// Calls whose time was over.
    pub timeouts: u64,
    /// The longest that a call has waited.
    pub longest_wait: Duration,
    /// How long calls have waited, those whose time was over included.
    pub waits: Waits,
}
