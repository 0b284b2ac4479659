//! The pool and the cache under threads, panics and deadlines.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cache;
mod lifetime;
mod pool;
mod single_flight;
