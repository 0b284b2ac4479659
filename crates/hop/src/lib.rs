//! Multi-hop retrieval: from the names in a question, over facts, to passages that share no word
//! with it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`passage`] | [`Passage`]: a text with what was read from it |
//! | [`memory`] | [`HopMemory`]: the facts of all documents, and a graph for each view |
//! | [`graph`] | [`HopGraph`]: the passages, names and facts that one view sees |
//! | [`growing`] | [`GrowingGraph`], [`PrincipalGraphs`]: the same, brought up to date as passages and documents come and go |
//! | [`recall`] | [`HopGraph::recall`]: names, facts and meaning as seeds of a walk; [`Recalled`] |
//! | [`paper`] | [`paper::PaperHippoRag`], [`paper::FirstHippoRag`]: HippoRAG 2 and 1 as published |
//! | [`prop`] | [`prop::PropRag`]: PropRAG, as published and clean |
//! | [`hoprag`] | [`hoprag::HopRag`]: HopRAG over the whole corpus |
//! | [`synonyms`] | [`Synonym`]: names that are spelled differently and are one |
//! | [`gate`] | [`HopGate`]: whether a question needs hops, from its names and what a first search found |
//! | [`explain`] | [`HopGraph::explain`]: shares of a score and the paths they came by |
//!
//! **What an asker may not see has no part in a walk.** A graph is built from the visible
//! documents and nothing else: names, the numbers of passages that have them, weights, the
//! frequencies of words. There is no call that walks over more and filters afterwards.
//!
//! # Example
//!
//! The bridge, document 2, shares no word with the question.
//!
//! ```
//! use cornu_extract::RuleExtractor;
//! use cornu_hop::{HopGraph, Passage, RecallOptions};
//!
//! let rules = RuleExtractor::new();
//! let read = |id, text: &str| Passage::new(id, text, rules.read(text));
//! let passages = [
//!     read(1, "Alpha 资本持有 Star 控股 60% 的股份。"),
//!     read(2, "Star 控股是 Horizon 科技的唯一股东。"),
//!     read(3, "Horizon 科技向 Gamma 科技支付了 3 亿元。"),
//!     read(4, "Delta 物流在杭州市新设仓库。"),
//! ];
//! let graph = HopGraph::build(&passages)?;
//! let found = graph.recall("Alpha 资本和 Gamma 科技有什么关系？", None, &RecallOptions::default())?;
//! assert!(found.ranking.rank_of(&2).is_some());
//! assert!(found.ranking.rank_of(&4).is_none());
//! # Ok::<(), cornu_hop::HopError>(())
//! ```

mod error;
pub mod explain;
pub mod gate;
pub mod graph;
pub mod growing;
pub mod hoprag;
mod meeting;
pub mod memory;
mod names;
pub mod paper;
pub mod passage;
pub mod prop;
pub mod recall;
mod relation;
mod scale;
pub mod synonyms;

pub use error::HopError;
pub use explain::{Explanation, Part, Step};
pub use gate::{FirstStage, GATE_PASSAGES, HopDecision, HopGate, HopSign};
pub use graph::{GraphOptions, HopGraph};
pub use growing::{GrowingGraph, Held, PrincipalGraphs};
pub use memory::HopMemory;
pub use passage::Passage;
pub use recall::{RecallOptions, Recalled, Seed, SeedReason};
pub use synonyms::Synonym;

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
