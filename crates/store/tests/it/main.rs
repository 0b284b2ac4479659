//! The store against its oracles, its cases, and a process that is killed.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

mod artifacts;
mod beside;
mod carried;
mod cases;
mod conformance;
mod extractions;
mod files;
mod graph;
mod killed;
mod opening;
mod outlived;
mod owner;
mod recent;
mod routes;
mod sample;
mod scans;
mod seeds;
mod together;
mod under_process;
mod writing;
