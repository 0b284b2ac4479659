//! The comparison tables: what is measured, how, and how it is written down.
//!
//! | module | what it holds |
//! |---|---|
//! | [`tables`] | the tables, one module each |
//! | [`table`] | what a table is, and the bench that runs one |
//! | [`run`] | measure, check, render: the work behind `cargo xtask bench-tables` |
//! | [`corpus`] | `bench-data`: documents, grants, questions, synonym groups |
//! | [`external`] | the public sets that `CORNU_DATA` names |
//! | [`licenses`] | under which licence what is used may be used |
//! | [`models`] | the models at hand, each with the sha256 of its weights |
//! | [`cached`] | an embedder that computes each text once |
//! | [`kept`], [`keeping`] | what models have computed, kept from run to run |
//! | [`strategies`] | chunkers by name |
//! | [`live`] | the library's index over some documents, its routes and their fusions |
//! | [`fitted`] | α and thresholds, fitted on dev questions alone |
//! | [`paired`] | systems compared question by question |
//! | [`planted`] | chat answers with claims that are true or planted |
//! | [`dense`] | exact nearest neighbours of a query among rows of a matrix |
//! | [`reranker`] | training and evaluation of rerankers |
//! | [`second_look`] | rerankers side by side: orders and latencies |
//! | [`frontier`] | quality over latency as a plot |
//! | [`timing`] | interleaved timings |
//! | [`load`] | many clients at once, closed and open loop |
//! | [`tree`] | the hash of the tree that was measured |

pub mod cached;
pub mod corpus;
pub mod dense;
pub mod external;
mod figures;
pub mod fitted;
pub mod frontier;
pub mod keeping;
pub mod kept;
pub mod licenses;
pub mod live;
pub mod load;
pub mod models;
pub mod paired;
pub mod planted;
pub mod reranker;
pub mod run;
pub mod second_look;
pub mod strategies;
pub mod table;
pub mod tables;
pub mod timing;
pub mod tree;
mod vectors;

/// The workspace's READMEs, so that their example is compiled and run in both languages.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../README.zh-CN.md")]
struct Readme;
