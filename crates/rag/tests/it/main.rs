//! The journey of a query, from a folder to a cited answer or a refusal, without interference.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

mod asking;
mod auto;
mod cached;
mod cases;
mod chat;
mod chat_interference;
mod chat_server;
mod claims;
mod faults;
mod fine_points;
mod hop;
mod interference;
mod journey;
mod leaks;
mod near_miss;
mod near_questions;
mod postings;
mod prune;
mod question_set;
mod quotes;
mod rerankers;
mod reranking;
mod segments;
mod suite;
mod tables;
mod together;
mod vectors;
mod world;
