//! What has a default when a cache is made.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::cache::similar::SimilarOptions;

/// Everything about a cache that has a default.
///
/// ```
/// use std::time::Duration;
/// let options = cornu_pool::CacheOptions {
///     ttl: Some(Duration::from_secs(600)),
///     ..cornu_pool::CacheOptions::default()
/// };
/// assert!(options.similar.is_none());
/// ```
#[derive(Clone)]
pub struct CacheOptions {
    /// The most that keys and values take together, by [`Weigh`](crate::Weigh) and a fixed sum for
    /// each entry. Default 64 MiB. 0 keeps nothing.
    pub bytes: usize,
    /// Parts with a lock each, each with its share of the bytes; 0 counts as 1, and more than 1,024
    /// as so many. Default 16.
    pub shards: usize,
    /// How long a result is used. Default `None`: until a commit. A result never outlives the state
    /// it came from; a time limit is for those who want questions forgotten.
    pub ttl: Option<Duration>,
    /// What tells the time for `ttl`. Default [`MonotonicClock`].
    pub clock: Arc<dyn Clock>,
    /// Whether a question in other words may get the result of a similar one. Default `None`: it
    /// may not, and then a cache changes no byte of any result.
    pub similar: Option<SimilarOptions>,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            shards: 16,
            ttl: None,
            clock: Arc::new(MonotonicClock::default()),
            similar: None,
        }
    }
}

impl fmt::Debug for CacheOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheOptions")
            .field("bytes", &self.bytes)
            .field("shards", &self.shards)
            .field("ttl", &self.ttl)
            .field("similar", &self.similar)
            .finish_non_exhaustive()
    }
}

/// The time since any fixed moment.
///
/// It ought not to go backwards; where it does, an entry from what is now the future counts as
/// too old.
///
/// ```
/// use std::time::Duration;
/// struct Stopped;
/// impl cornu_pool::Clock for Stopped {
///     fn now(&self) -> Duration { Duration::ZERO }
/// }
/// ```
pub trait Clock: Send + Sync {
    /// The time.
    fn now(&self) -> Duration;
}

/// The system's clock that nobody sets.
///
/// ```
/// use cornu_pool::{Clock, MonotonicClock};
/// let clock = MonotonicClock::default();
/// assert!(clock.now() <= clock.now());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock(Instant);

impl Default for MonotonicClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}
