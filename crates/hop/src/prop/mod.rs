//! PropRAG: propositions instead of triples, a beam of proposition paths, and two walks.
//!
//! As published (EMNLP 2025), with two modes: [`PropMode::Published`] keeps the program's quirks,
//! [`PropMode::Clean`] is what they were meant to be. No language model is called at query time in
//! either.

mod beam;
mod graph;
mod recall;

pub use beam::{BeamOptions, PropositionPath};
pub use graph::{PropMode, PropPassage, PropRag};
pub use recall::{PropOptions, PropRecalled};
