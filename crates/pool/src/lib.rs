//! A blocking pool of connections: a fixed number of readers and exactly one writer. And a cache of
//! what was found through them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`pool`] | [`ThreadSafeVecPool`], its [`Guard`]s and the [`Manager`] that opens connections |
//! | [`metrics`] | [`Metrics`]: who holds, who waits |
//! | [`waits`] | [`Waits`]: how long callers have waited |
//! | [`error`] | [`PoolError`]: a deadline that passed, a connection that could not be opened |
//! | [`cache`] | [`SemanticVectorCache`]: results by view, state, model and question |
//!
//! # Example
//!
//! ```
//! use cornu_pool::{Manager, PoolError, Role, Size, ThreadSafeVecPool};
//! use std::time::Duration;
//!
//! struct Counters;
//! impl Manager for Counters {
//!     type Connection = u32;
//!     type Error = std::convert::Infallible;
//!     fn open(&self, _: Role) -> Result<u32, Self::Error> { Ok(0) }
//!     fn recycle(&self, _: &mut u32) -> bool { true }
//! }
//!
//! let pool = ThreadSafeVecPool::new("example.db", Counters, Size::readers(1)?);
//! let mut reader = pool.reader(Duration::from_millis(10))?;
//! *reader += 1;
//! // The only reader is out: a second one waits, and says so when its time is over.
//! let late = pool.reader(Duration::from_millis(10));
//! assert!(matches!(late, Err(PoolError::Timeout { in_use: 1, .. })));
//! drop(reader);
//! assert_eq!(*pool.reader(Duration::ZERO)?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cache;
pub mod error;
mod lane;
pub mod metrics;
pub mod pool;
mod sync;
pub mod waits;

pub use cache::{
    CacheKey, CacheMetrics, CacheOptions, Clock, MonotonicClock, Scope, SemanticVectorCache,
    SimilarOptions, SimilarityGuard, Weigh, normalised,
};
pub use error::{PoolError, SizeError};
pub use metrics::{LaneMetrics, Metrics};
pub use pool::{Guard, MAX_READERS, Manager, Role, Size, ThreadSafeVecPool};
pub use waits::Waits;

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
