//! How a model is opened.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::error::ModelError;
use super::preset::Preset;
use super::sentence::Pooling;
use super::tokenizer::Truncation;

/// How a BERT model is opened. Everything has a default; what a default says "the model's own" is
/// read from the model's files, and for a preset from its card.
///
/// ```
/// use cornu_embed::bert::{BertOptions, Truncation};
/// let options = BertOptions {
///     truncation: Truncation::Right,
///     ..BertOptions::default()
/// };
/// assert_eq!(options.rows_per_pack.get(), 256);
/// ```
#[derive(Clone, Debug)]
pub struct BertOptions {
    /// The folder that presets are looked for in, one folder a model. Default: the environment
    /// variable `CORNU_MODELS`.
    pub models: Option<PathBuf>,
    /// What to do with texts that are too long. Default: an error.
    pub truncation: Truncation,
    /// The most tokens of a text, special tokens and prefix included; never more than the model
    /// has positions. Default: the model's own.
    pub max_tokens: Option<NonZeroUsize>,
    /// Put before each query. Default: the model's own.
    pub query_prefix: Option<String>,
    /// Put before each document. Default: the model's own.
    pub document_prefix: Option<String>,
    /// CLS or mean. Default: the model's own; where its files do not say, it must be named here.
    pub pooling: Option<Pooling>,
    /// Threads that work on one call. Default: as many as the process may use.
    pub threads: Option<NonZeroUsize>,
    /// Tokens that are computed on together, by each thread: the bound on memory. Beside the
    /// weights and the result, a call needs for each token of its texts about 40 bytes, and for
    /// each thread, with r = max(this, the longest text) and the model's hidden size h and inner
    /// size i, about 4 · r · (8 · h + 2 · i) bytes: 6 MB for h = 384 and r = 256. Vectors do not
    /// depend on it; more than 1,024 is taken as 1,024. Default: 256, where matrix products reach their full speed.
    pub rows_per_pack: NonZeroUsize,
}

impl Default for BertOptions {
    fn default() -> Self {
        Self {
            models: None,
            truncation: Truncation::default(),
            max_tokens: None,
            query_prefix: None,
            document_prefix: None,
            pooling: None,
            threads: None,
            rows_per_pack: const { NonZeroUsize::new(256).unwrap() },
        }
    }
}

impl BertOptions {
    /// The folder of a preset's name, or `model` itself as a path.
    pub(crate) fn folder(&self, model: &str) -> Result<PathBuf, ModelError> {
        let Some(preset) = Preset::named(model) else {
            return Ok(Path::new(model).to_owned());
        };
        let models = self
            .models
            .clone()
            .or_else(|| std::env::var_os("CORNU_MODELS").map(PathBuf::from));
        let missing = |path: PathBuf| ModelError::Missing {
            path,
            remedy: "run `cargo xtask setup`, or name the folder that holds the models in \
                     BertOptions::models or CORNU_MODELS"
                .to_owned(),
        };
        let Some(models) = models else {
            return Err(missing(PathBuf::from(model)));
        };
        preset
            .locate(&models)
            .ok_or_else(|| missing(models.join(model)))
    }
}
