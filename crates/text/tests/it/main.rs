//! Tests of `cornu-text` through its public API.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod counter;
mod normalise;
mod sentence;
mod sentence_properties;
mod texts;
mod word_properties;
mod words;
