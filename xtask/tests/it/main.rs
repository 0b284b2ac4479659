//! Tests of the program as a whole, without a network: a made-up index, hub and workspace.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

mod archive;
mod ci;
mod cli;
mod hub;
mod install;
mod jobs;
mod tidy;
mod world;
