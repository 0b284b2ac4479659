//! Placeholder: texts to unit vectors, token vectors and pair scores.

// Providers without torch.
pub mod gemini;
pub mod hash;
pub mod openai;

// BERT: files, tokenizers, and (feature `torch`) the encoder.
pub mod bert;
