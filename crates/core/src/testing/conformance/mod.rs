//! Suites for your own implementations of the traits: each takes one, and gives a [`Report`] of
//! what was checked, or the first [`Violation`].
//!
//! | suite | of |
//! |---|---|
//! | [`check_embedder`] | [`EmbeddingProvider`](crate::EmbeddingProvider) |
//! | [`check_token_embedder`] | [`TokenEmbedder`](crate::TokenEmbedder) |
//! | [`check_pair_scorer`] | [`PairScorer`](crate::PairScorer) |
//! | [`check_token_counter`] | [`TokenCounter`](crate::TokenCounter) |
//! | [`check_store`] | [`FactStore`](crate::FactStore) |
//!
//! Every suite is seeded: the same options give the same inputs. A suite that passes has looked
//! at a sample; it proves the presence of faults, never their absence.

mod counter;
mod embedder;
mod provider;
mod report;
mod rule;
mod scorer;
mod store;
mod token_embedder;

pub use counter::{CounterOptions, check_token_counter};
pub use embedder::{EmbedderOptions, check_embedder};
pub use report::{Report, Violation};
pub use rule::Rule;
pub use scorer::{ScorerOptions, check_pair_scorer};
pub use store::{StoreOptions, check_store, check_store_examples, check_store_histories};
pub use token_embedder::check_token_embedder;
