//! HopRAG: passages joined by questions that one raises and another answers.
//!
//! As published (ACL Findings 2025), but over the whole corpus: the published program joins only the
//! candidate passages of one question, and needs the question to do so. [`EdgeRules::published`]
//! and [`EdgeRules::clean`] are the two sets of rules; hops are chosen by similarity, or by whatever
//! implements [`HopChooser`], such as a language model.

mod graph;
mod keywords;
mod nearest;
mod traverse;

pub use graph::{EdgeRules, HopRag, HopRagPassage, QuestionEdge};
pub use traverse::{BySimilarity, HopChooser, HopRagOptions, HopRagRecalled, Visit};
