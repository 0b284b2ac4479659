//! Any bytes as a file: all strategies, several token counters, every invariant.
//!
//! `cargo +nightly fuzz run chunk_any_bytes`. The checks are those of the crate's own tests.
#![no_main]

#[path = "../../crates/chunk/tests/it/any_bytes.rs"]
mod any_bytes;
#[allow(dead_code)]
#[path = "../../crates/chunk/tests/it/counters.rs"]
mod counters;
#[path = "../../crates/chunk/tests/it/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| any_bytes::check_bytes(bytes));
