//! Strategies and conformance suites (feature `proptest`): property-test your own embedder or
//! store with what Cornu tests its own with.
//!
//! | module | what it holds |
//! |---|---|
//! | [`strategies`] | grants, principals, documents, facts, and [`History`](strategies::History): inserts, updates and deletes in which hidden documents resemble visible ones |
//! | [`conformance`] | suites that take an implementation and return a [`Report`](conformance::Report) or the first [`Violation`](conformance::Violation) |
//! | [`MemoryStore`] | the reference [`FactStore`](crate::FactStore): small, exact, in memory |
//!
//! # Checking a store
//!
//! ```
//! use cornu_core::testing::conformance::{Rule, StoreOptions, check_store};
//! use cornu_core::testing::MemoryStore;
//!
//! let options = StoreOptions { cases: 8, crowd: 100, ..StoreOptions::new(4) };
//! let report = check_store(|| MemoryStore::new(4), &options)?;
//! assert!(report.checked(Rule::NonInterference) > 0);
//! # Ok::<(), cornu_core::testing::conformance::Violation>(())
//! ```
//!
//! # Checking an embedder
//!
//! A violation names the rule and the input. This embedder forgets to normalise:
//!
//! ```
//! use cornu_core::testing::conformance::{EmbedderOptions, Rule, check_embedder};
//! use cornu_core::{EmbeddingProvider, Embeddings, Fingerprint, ProviderError, TextTokens};
//! use ndarray::{Array1, Array2};
//!
//! struct Raw(Fingerprint);
//! impl EmbeddingProvider for Raw {
//!     fn dimension(&self) -> usize { 2 }
//!     fn fingerprint(&self) -> &Fingerprint { &self.0 }
//!     fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
//!         let lengths = texts.iter().flat_map(|text| [1.0, text.len() as f32]).collect();
//!         Ok(Embeddings {
//!             vectors: Array2::from_shape_vec((texts.len(), 2), lengths).unwrap(),
//!             tokens: texts.iter().map(|text| TextTokens::whole(text.len())).collect(),
//!         })
//!     }
//!     fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
//!         Ok(self.embed(&[text])?.row(0).to_owned())
//!     }
//! }
//!
//! let raw = Raw(Fingerprint::new("raw"));
//! let violation = check_embedder(&raw, &EmbedderOptions::default()).unwrap_err();
//! assert_eq!(violation.rule, Rule::UnitNorm);
//! ```
//!
//! # Your own properties
//!
//! The crate `proptest` is re-exported, so that the versions agree.
//!
//! ```
//! use cornu_core::testing::{proptest::prelude::*, strategies};
//!
//! proptest!(|(acl in strategies::acl(), asker in strategies::principal())| {
//!     let shared = acl.grants().any(|grant| asker.grants().any(|held| held == grant));
//!     prop_assert_eq!(acl.admits(&asker), shared);
//! });
//! ```

pub mod conformance;
mod memory;
pub mod strategies;

pub use memory::{MemoryStore, MemoryStoreError};
pub use proptest;
