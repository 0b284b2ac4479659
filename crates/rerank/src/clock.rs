//! Time as something that is handed in.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Where a reranker takes the time from: for its report, and for a latency budget.
///
/// ```
/// use cornu_rerank::{Clock, SystemClock};
/// let clock: Box<dyn Clock> = Box::new(SystemClock::new());
/// assert!(clock.now() <= clock.now());
/// ```
pub trait Clock: Send + Sync {
    /// Time since a fixed moment; never goes back.
    fn now(&self) -> Duration;
}

/// The system's monotonic clock.
///
/// ```
/// use cornu_rerank::{Clock, SystemClock};
/// assert!(SystemClock::new().now().as_secs() < 60);
/// ```
#[derive(Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock that begins now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SystemClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SystemClock")
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A clock that stands until it is moved, for tests: a fake scorer moves it by what a pair costs.
///
/// ```
/// use std::time::Duration;
/// use cornu_rerank::{Clock, ManualClock};
///
/// let clock = ManualClock::default();
/// clock.advance(Duration::from_millis(4));
/// assert_eq!(clock.now(), Duration::from_millis(4));
/// ```
#[derive(Debug, Default)]
pub struct ManualClock {
    nanoseconds: AtomicU64,
}

impl ManualClock {
    /// Moves the clock.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(by, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }
}
