//! Results of searches, kept for whoever asks the same again.
//!
//! | module | what it holds |
//! |---|---|
//! | [`semantic`] | [`SemanticVectorCache`] |
//! | [`key`] | [`Scope`] and [`CacheKey`]: what has to agree, all of it |
//! | [`options`] | [`CacheOptions`], [`Clock`] |
//! | [`similar`] | [`SimilarOptions`], [`SimilarityGuard`]: the second level, off by default |
//! | [`counts`] | [`CacheMetrics`] |

pub mod counts;
mod flight;
pub mod key;
#[cfg(all(test, loom))]
mod models;
pub mod options;
pub mod semantic;
mod shard;
pub mod similar;

pub use counts::CacheMetrics;
pub use key::{CacheKey, Scope, normalised};
pub use options::{CacheOptions, Clock, MonotonicClock};
pub use semantic::{SemanticVectorCache, Weigh};
pub use similar::{SimilarOptions, SimilarityGuard};
