//! The integration tests of cornu-core, one binary.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod acl;
mod document;
mod fingerprint;
mod fit;
mod id;
mod ranking;
#[cfg(feature = "serde")]
mod serde_forms;
mod span;
mod trace;
mod vectors;
mod view;

#[cfg(feature = "proptest")]
mod broken_embedder;
#[cfg(feature = "proptest")]
mod broken_store;
#[cfg(feature = "proptest")]
mod conformance_embedder;
#[cfg(feature = "proptest")]
mod conformance_models;
#[cfg(feature = "proptest")]
mod conformance_store;
#[cfg(feature = "proptest")]
mod memory_store;
#[cfg(feature = "proptest")]
mod strategies;
