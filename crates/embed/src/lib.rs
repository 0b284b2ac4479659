//! Placeholder: texts to unit vectors, token vectors and pair scores.

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
