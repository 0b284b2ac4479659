//! BERT: model files, tokenizers and (feature `torch`) the encoder.

mod config;
mod counter;
mod error;
mod files;
mod packed;
mod preset;
mod safetensors;
mod sentence;
mod source;
mod tokenizer;

#[cfg(feature = "torch")]
mod encoder;
#[cfg(feature = "torch")]
mod options;
#[cfg(feature = "torch")]
mod pair;
#[cfg(feature = "torch")]
mod provider;
#[cfg(feature = "torch")]
mod runtime;
#[cfg(feature = "torch")]
mod token_vectors;

pub use config::{Activation, BertConfig, Family};
pub use counter::HfTokenCounter;
pub use error::ModelError;
pub use files::ModelFiles;
pub use packed::PackedModel;
pub use preset::Preset;
pub use safetensors::SafeTensors;
pub use sentence::{Pooling, SentenceConfig};
pub use tokenizer::{BertTokenizer, Truncation};

#[cfg(feature = "torch")]
pub use options::BertOptions;
#[cfg(feature = "torch")]
pub use pair::BertPairScorer;
#[cfg(feature = "torch")]
pub use provider::BertEmbeddingProvider;
#[cfg(feature = "torch")]
pub use token_vectors::BertTokenEmbedder;
