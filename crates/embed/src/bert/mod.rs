//! BERT: model files, tokenizers and, with the feature `torch`, the encoder on libtorch.
//!
//! | what | without `torch` | with `torch` |
//! |---|---|---|
//! | a model's folder | [`ModelFiles`], [`SafeTensors`], [`PackedModel`], [`BertConfig`], [`SentenceConfig`] | the same |
//! | tokens | [`BertTokenizer`], [`HfTokenCounter`] | the same |
//! | texts to vectors | | `BertEmbeddingProvider` |
//! | one vector a token | | `BertTokenEmbedder` |
//! | query and document to a score | | `BertPairScorer` |
//!
//! # Which models
//!
//! A [`Preset`] by name (`bge-small-zh-v1.5`, `bge-small-en-v1.5`, `multilingual-e5-small`,
//! `all-MiniLM-L6-v2`), or any folder with the checkpoint of a BERT, RoBERTa or XLM-RoBERTa encoder
//! as safetensors and a `tokenizer.json`. Pooling, limit and prefixes come from the files that
//! sentence-transformers puts there; a pooling that is not named is not guessed.
//!
//! # Untrusted files
//!
//! Reading a model runs no code of its and trusts no number of its: sizes and offsets are checked
//! against the size of the file before anything is allocated, and a panic of the tokenizer library
//! on a broken `tokenizer.json` becomes a [`ModelError`]. `SafeTensors::new`, `PackedModel::new`,
//! `BertTokenizer::from_json` and `BertConfig::from_json` take bytes, for fuzzing.
//!
//! # Same text, same bits
//!
//! A text's vector does not depend on its neighbours, their order, the pack size or the number of
//! threads, bit for bit, on one type of processor with one libtorch. On another type the last bits
//! differ (about 1e-6 in a component), because libtorch picks other kernels there.
//!
//! # Threads
//!
//! A provider has a pool of its own, and each of its threads works on its own pack with libtorch's
//! threads switched off. `tch::set_num_threads(1)` is called on these threads; libtorch remembers
//! the last such call for threads that have not chosen yet, which matters only to a program that
//! also uses `tch` elsewhere: it should call `tch::set_num_threads` itself.

mod adapter;
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
mod lower;
#[cfg(feature = "torch")]
mod options;
#[cfg(feature = "torch")]
mod pair;
#[cfg(feature = "torch")]
mod provider;
#[cfg(feature = "torch")]
mod runtime;
#[cfg(feature = "torch")]
mod split;
#[cfg(feature = "torch")]
mod token_vectors;
#[cfg(feature = "torch")]
mod train;

pub use adapter::{Adapter, AdapterBase, AdapterKind, AdapterManifest, write_adapter};
pub use config::{Activation, BertConfig, Family};
pub use counter::HfTokenCounter;
pub use error::ModelError;
pub use files::ModelFiles;
pub use packed::PackedModel;
pub use preset::Preset;
pub use safetensors::SafeTensors;
pub use sentence::{Pooling, SentenceConfig};
pub use tokenizer::{BertTokenizer, EncodeError, Tokens, Truncation};

#[cfg(feature = "torch")]
pub use options::BertOptions;
#[cfg(feature = "torch")]
pub use pair::BertPairScorer;
#[cfg(feature = "torch")]
pub use provider::BertEmbeddingProvider;
#[cfg(feature = "torch")]
pub use token_vectors::BertTokenEmbedder;
#[cfg(feature = "torch")]
pub use train::{
    Group, Loss, PairTrainer, ProjectionOptions, ProjectionTrainer, States, TrainOptions,
};
