//! The built program, from outside: arguments in; bytes and an exit code out.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asking;
#[cfg(feature = "torch")]
mod bert;
mod indexing;
mod owner;
mod program;
mod reranking;
mod shell;
