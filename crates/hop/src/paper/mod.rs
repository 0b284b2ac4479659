//! HippoRAG 1 and 2 as published, for comparison: parameter for parameter, quirks included.
//!
//! [`HopGraph`](crate::HopGraph) is the method that Cornu stands behind; this one is what it is
//! measured against. What differs from the published program: no language model filters the facts
//! at query time (their ablation without it: 73.0 / 90.7 / 95.4 against 74.7 / 90.4 / 96.3), ties
//! have a fixed order, and passages are numbered by id, so that equal content gives equal bits.

mod first;
mod graph;
mod recall;
mod synonyms;

pub use first::{FirstHippoRag, FirstOptions, FirstRecalled};
pub use graph::{PaperCounts, PaperHippoRag, PaperPassage, WeightMode};
pub use recall::{PaperOptions, PaperRecalled};
pub use synonyms::SynonymOptions;
