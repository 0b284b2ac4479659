//! Texts to unit vectors, token vectors and pair scores.
//!
//! | module | what it holds |
//! |---|---|
//! | [`hash`] | [`HashEmbeddingProvider`]: the teaching baseline, specified bit for bit |
//! | [`bert`] | BERT and XLM-R: model files read safely, tokenizers, token counting; with the feature `torch` the encoder, [token vectors](cornu_core::TokenEmbedder) and [pair scores](cornu_core::PairScorer) |
//! | [`openai`] | [`OpenAiEmbeddingProvider`]: any server with `/v1/embeddings` |
//! | [`gemini`] | [`GeminiEmbeddingProvider`] |
//! | [`requests`] | what the remote providers share: batches, limits, checks |
//!
//! All providers have one signature, [`cornu_core::EmbeddingProvider`].
//!
//! # Example
//!
//! ```
//! use cornu_core::EmbeddingProvider;
//! use cornu_embed::HashEmbeddingProvider;
//!
//! let provider: Box<dyn EmbeddingProvider> = Box::new(HashEmbeddingProvider::default());
//! let vectors = provider.embed(&["清空梯度 zero_grad", "损益表"])?;
//! let query = provider.embed_query("怎么清空梯度")?;
//! assert_eq!((vectors.dim(), query.len()), ((2, 512), 512));
//! assert!(vectors.row(0).dot(&query) > vectors.row(1).dot(&query));
//! # Ok::<(), cornu_core::ProviderError>(())
//! ```
//!
//! # Features
//!
//! - `torch` (off by default): BERT on libtorch. Build through `cargo xtask`, which sets `LIBTORCH`.

pub mod bert;
pub mod gemini;
pub mod hash;
pub mod openai;
pub mod requests;

pub use gemini::{GeminiEmbeddingProvider, GeminiOptions};
pub use hash::HashEmbeddingProvider;
pub use openai::{OpenAiEmbeddingProvider, OpenAiOptions};

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
