//! Why a model's files could not be used.

use std::path::PathBuf;

#[cfg(feature = "torch")]
use cornu_core::ProviderError;

/// Why a model was not opened.
///
/// ```
/// use cornu_embed::bert::{ModelError, ModelFiles};
/// let error = ModelFiles::open("no-such-model".as_ref()).err();
/// assert!(matches!(error, Some(ModelError::Missing { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A file or folder is not there.
    #[error("{} is not there; {remedy}", path.display())]
    Missing {
        /// What was looked for.
        path: PathBuf,
        /// What to do.
        remedy: String,
    },
    /// A file could not be read.
    #[error("cannot read {file}: {source}; check its permissions and the disk")]
    Io {
        /// Which file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file contradicts itself or its format.
    #[error("{file} is not valid: {what}; fetch the model again")]
    Malformed {
        /// Which file.
        file: String,
        /// What is wrong, and where.
        what: String,
    },
    /// A file is larger than anything that a model needs.
    #[error("{file}: {what} is {value}, the most that is read is {limit}; is this a BERT model?")]
    TooLarge {
        /// Which file.
        file: String,
        /// Which number.
        what: String,
        /// The number.
        value: u64,
        /// The largest that is accepted.
        limit: u64,
    },
    /// A file is valid, and asks for something that this crate does not do.
    #[error("{file} asks for {what}, which is not supported; {remedy}")]
    Unsupported {
        /// Which file.
        file: String,
        /// What it asks for.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A weight that the configuration calls for is absent or has another shape.
    #[error(
        "{file}: weight {tensor} has shape {found:?}, {expected:?} is needed (an empty shape: \
         absent); the file and config.json are of different models"
    )]
    Weight {
        /// Which file.
        file: String,
        /// Which weight.
        tensor: String,
        /// Its shape, empty where it is absent.
        found: Vec<usize>,
        /// The shape that the configuration gives.
        expected: Vec<usize>,
    },
    /// An adapter was trained on other weights.
    #[error(
        "{file} was trained on {base} (weights with sha256 {expected}), the model's weights have \
         {found}; open it with that model, or train it again with `cargo xtask train-reranker`"
    )]
    OtherBase {
        /// Which adapter.
        file: String,
        /// The name of the model that it was trained on.
        base: String,
        /// sha256 of that model's weights.
        expected: String,
        /// sha256 of the weights at hand.
        found: String,
    },
    /// The tokenizer could not be built or used.
    #[error("tokenizer of {file}: {what}; fetch the model again")]
    Tokenizer {
        /// Which file.
        file: String,
        /// What went wrong.
        what: String,
    },
    /// libtorch refused.
    #[error("libtorch failed while the model was loaded: {what}")]
    Torch {
        /// What it said.
        what: String,
    },
}

impl ModelError {
    pub(crate) fn malformed(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Malformed {
            file: file.into(),
            what: what.into(),
        }
    }

    /// The same error for callers that speak of providers.
    #[cfg(feature = "torch")]
    pub(super) fn for_provider(self, provider: &str) -> ProviderError {
        match self {
            Self::Missing { path, remedy } => ProviderError::Unavailable {
                provider: provider.to_owned(),
                reason: format!("{} is not there", path.display()),
                remedy,
            },
            other => ProviderError::Failed {
                provider: provider.to_owned(),
                source: Box::new(other),
            },
        }
    }
}
