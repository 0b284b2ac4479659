//! The workspace's own commands, behind the alias `cargo xtask`.
//!
//! Light on purpose: no torch, no SQLite, no async runtime, so that the first command a newcomer
//! types answers in seconds. What is here, from the outside in:
//!
//! - [`cli`]: the command line, one subcommand per job.
//! - [`setup`]: libtorch and model weights into the user's cache, checked by sha256, all or nothing.
//! - [`jobs`]: `test`, `bench-tables` and `with-torch`, which run cargo in the one environment in
//!   which torch-sys is built once.
//! - [`tidy`]: the rules of the workspace as checks.
//! - [`workspace`], [`progress`]: what the others share: cargo's metadata, bars and notes.
//!
//! ```
//! use xtask::setup::manifest::Manifest;
//!
//! let pins = Manifest::embedded()?;
//! assert!(pins.models.iter().any(|model| model.name == "all-MiniLM-L6-v2"));
//! # Ok::<(), anyhow::Error>(())
//! ```
#![allow(
    clippy::print_stdout,
    reason = "a program's library: reports go to stdout"
)]
#![allow(
    clippy::print_stderr,
    reason = "a program's library: progress goes to stderr"
)]

pub mod cli;
pub mod jobs;
pub mod progress;
pub mod setup;
pub mod tidy;
pub mod workspace;

pub use cli::main;
