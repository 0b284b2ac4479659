//! What can go wrong with a pool.

use std::time::Duration;

use crate::pool::{MAX_READERS, Role};

/// Why there is no connection.
///
/// See the [`crate`] for an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError<E> {
    /// All connections of the role stayed in use.
    #[error(
        "no {role} of {pool} became free within {waited:?} ({in_use} in use, {waiting} others waiting); \
         return a connection before taking another, or allow more time"
    )]
    Timeout {
        /// The pool's name.
        pool: String,
        /// Reader or writer.
        role: Role,
        /// How long this call waited.
        waited: Duration,
        /// Connections of the role that were out at the end.
        in_use: usize,
        /// Calls for the role that still waited at the end.
        waiting: usize,
    },
    /// The pool was closed.
    #[error("{pool} is closing and lends nothing any more; open it anew to go on")]
    Closed {
        /// The pool's name.
        pool: String,
    },
    /// The manager could not open a connection; the place in the pool stays.
    #[error(transparent)]
    Open(E),
}

/// A pool without readers, or with too many.
///
/// ```
/// assert!(cornu_pool::Size::readers(0).is_err());
/// assert!(cornu_pool::Size::readers(usize::MAX).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a pool has from 1 to {MAX_READERS} readers; give as many as may read at the same time")]
pub struct SizeError;
