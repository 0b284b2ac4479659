//! Training and evaluation of rerankers: the work behind `cargo xtask train-reranker`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sets`] | question sets over passages, and which questions may be trained on |
//! | [`first_stage`] | the candidates of a question: dense and BM25, fused by reciprocal ranks |
//! | [`questions`] | what is trained on: questions asked, and questions made of sentences |
//! | [`quality`] | metrics before and after, with paired intervals |
//! | `recipe` | what is trained, on what (feature `torch`, as all below) |
//! | `learner` | one face for the two trainers |
//! | `library` | lower states of texts, computed once |
//! | `training` | steps, looks at the dev questions, checkpoints |
//! | `card` | the model card, written from what was measured |

#[cfg(feature = "torch")]
pub mod card;
pub mod first_stage;
#[cfg(feature = "torch")]
pub mod learner;
#[cfg(feature = "torch")]
pub mod library;
pub mod quality;
pub mod questions;
#[cfg(feature = "torch")]
pub mod recipe;
pub mod sets;
#[cfg(feature = "torch")]
pub mod training;
