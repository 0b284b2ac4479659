//! The built program, from outside: arguments in; bytes and an exit code out.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

mod asking;
#[cfg(feature = "torch")]
mod bert;
mod chatting;
mod config;
mod eval;
mod hop;
mod indexing;
mod memory;
mod owner;
mod pages;
mod program;
mod prune;
mod reranking;
mod searching;
mod shell;
mod tables;
mod terminal;
mod watch;
