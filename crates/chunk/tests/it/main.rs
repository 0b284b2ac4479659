//! The crate's tests, in one binary.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod any_bytes;
mod counters;
mod documents;
mod faults;
mod generated;
mod html_cases;
mod html_properties;
mod invariants;
mod limits;
mod line_ends;
mod markdown_blocks;
mod markdown_cases;
mod metrics;
mod packing;
mod properties;
mod rendering;
mod shape_contract;
mod statements;
mod strategies;
mod table_cases;
mod table_columns;
mod table_doubts;
mod table_questions;
mod table_rows;
mod tree;
