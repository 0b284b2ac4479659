//! Texts to unit vectors, token vectors and pair scores.
//!
//! | module | what it holds |
//! |---|---|
//! | [`hash`] | [`HashEmbeddingProvider`]: the teaching baseline, exact and without files |
//! | [`bert`] | model files, tokenizers, and (feature `torch`) BERT on libtorch |
//! | [`openai`] | [`OpenAiEmbeddingProvider`]: any server with `/v1/embeddings` |
//! | [`gemini`] | [`GeminiEmbeddingProvider`] |
//! | [`requests`] | what the remote providers share |
//!
//! ```
//! use cornu_core::EmbeddingProvider;
//! use cornu_embed::HashEmbeddingProvider;
//!
//! let provider: Box<dyn EmbeddingProvider> = Box::new(HashEmbeddingProvider::default());
//! let vectors = provider.embed(&["one text", "another text"])?;
//! assert_eq!(vectors.dim(), (2, provider.dimension()));
//! # Ok::<(), cornu_core::ProviderError>(())
//! ```
//!
//! # Features
//!
//! - `torch`: BERT on libtorch. Off by default; built through `cargo xtask`, which gets libtorch.

// Providers without torch.
pub mod gemini;
pub mod hash;
pub mod openai;
pub mod requests;

// BERT: files, tokenizers, and (feature `torch`) the encoder.
pub mod bert;

pub use gemini::{GeminiEmbeddingProvider, GeminiOptions};
pub use hash::HashEmbeddingProvider;
pub use openai::{OpenAiEmbeddingProvider, OpenAiOptions};
