//! A query and a document to a score: checkpoints with a sequence-classification head.

use std::path::Path;

use cornu_core::{Fingerprint, PairScorer, ProviderError};

use super::adapter::Adapter;
use super::config::{BertConfig, Family};
use super::encoder::Weights;
use super::error::ModelError;
use super::files::ModelFiles;
use super::options::BertOptions;
use super::runtime::Runtime;
use super::split::SplitHead;

/// What the code adds to a score's history: raised whenever scores may change.
const CODE: &str = "pair/1";

/// A cross-encoder: BERT or XLM-R with a classification head of one output, or an embedding model
/// with an [`Adapter`] that makes a cross-encoder of it.
///
/// The score is the head's output as it is (a logit), which orders pairs as its sigmoid would.
/// A pair that is too long loses the end of its document; a query that leaves no room for a
/// document is an error. [`BertOptions::truncation`] and pooling have no part in it, and prefixes
/// only where there is an adapter: then they are the base model's own.
///
/// Time as for embedding a text as long as both together, for each document. With an adapter the
/// lower layers read the query once and each document alone.
///
/// ```no_run
/// use cornu_core::PairScorer;
/// use cornu_embed::bert::{BertOptions, BertPairScorer};
///
/// let scorer = BertPairScorer::open("models/bge-reranker-base", &BertOptions::default())?;
/// let scores = scorer.score("what is a gradient", &["A slope.", "A fruit."])?;
/// assert!(scores[0] > scores[1]);
/// # Ok::<(), cornu_core::ProviderError>(())
/// ```
pub struct BertPairScorer {
    runtime: Runtime,
    head: Head,
    fingerprint: Fingerprint,
}

enum Head {
    /// On pairs of at most `limit` tokens.
    Classifier {
        layers: Classifier,
        limit: usize,
    },
    Split(SplitHead),
}

/// tanh(W₁ · x + b₁) and then a linear output, both on the first token's state. BERT calls the
/// two pooler and classifier, XLM-R classifier.dense and classifier.out_proj.
struct Classifier {
    dense: Dense,
    out: Dense,
}

struct Dense {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl BertPairScorer {
    /// Opens a model's folder by its path, or a [shipped adapter](Adapter::shipped) by its name.
    ///
    /// # Errors
    /// [`ProviderError::Unavailable`] when a file is missing, [`ProviderError::Failed`] with a
    /// [`ModelError`] when one is not usable or its head has not one output.
    pub fn open(model: &str, options: &BertOptions) -> Result<Self, ProviderError> {
        if Adapter::shipped_names().any(|name| name == model) {
            return Self::open_shipped(model, options);
        }
        options
            .folder(model)
            .and_then(|folder| Self::load(&folder, options))
            .map_err(|error| error.for_provider(model))
    }

    fn load(folder: &Path, options: &BertOptions) -> Result<Self, ModelError> {
        let files = ModelFiles::open(folder)?;
        let config = files.config().clone();
        let positions = config.max_tokens();
        let limit = options
            .max_tokens
            .map_or(positions, |limit| limit.get().min(positions));
        let (runtime, layers) = Runtime::load(files, options, None, |weights| {
            Classifier::load(&config, weights)
        })?;
        let fingerprint = Fingerprint::new(runtime.name.as_str())
            .with("code", CODE)
            .with("output", "pair score")
            .with("weights_sha256", &runtime.weights_sha256)
            .with("tokenizer_sha256", runtime.tokenizer.sha256())
            .with("max_tokens", limit);
        Ok(Self {
            runtime,
            head: Head::Classifier { layers, limit },
            fingerprint,
        })
    }

    /// Opens an embedding model, by a preset's name or its folder's path, with the adapter in
    /// another folder. The adapter's changes are merged into the weights as they are read.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`ModelError::OtherBase`] where the adapter was trained on other
    /// weights.
    ///
    /// ```no_run
    /// use cornu_embed::bert::{BertOptions, BertPairScorer};
    /// let adapter = "crates/embed/adapters/e5-zh-en-pair".as_ref();
    /// let options = BertOptions::default();
    /// let scorer = BertPairScorer::open_with_adapter("multilingual-e5-small", adapter, &options)?;
    /// # Ok::<(), cornu_core::ProviderError>(())
    /// ```
    pub fn open_with_adapter(
        model: &str,
        adapter: &Path,
        options: &BertOptions,
    ) -> Result<Self, ProviderError> {
        options
            .folder(model)
            .and_then(|folder| Self::load_with_adapter(&folder, adapter, options))
            .map_err(|error| error.for_provider(model))
    }

    /// As [`open_with_adapter`](Self::open_with_adapter), from two folders.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn load_with_adapter(
        base: &Path,
        adapter: &Path,
        options: &BertOptions,
    ) -> Result<Self, ModelError> {
        Self::adapted(base, Adapter::open(adapter)?, options)
    }

    fn open_shipped(name: &str, options: &BertOptions) -> Result<Self, ProviderError> {
        Adapter::shipped(name)
            .and_then(|adapter| {
                let folder = options.folder(&adapter.manifest().base.name)?;
                Self::adapted(&folder, adapter, options)
            })
            .map_err(|error| error.for_provider(name))
    }

    /// Keeps what the lower layers make of passages, up to so many bytes, so that one that comes
    /// again costs the upper layers alone: two of twelve for the carried adapter. The scores are
    /// the same, bit for bit. Takes 4 · hidden bytes a token; the longest kept goes first. Without
    /// an adapter all layers read both texts, and nothing is kept.
    #[must_use]
    pub fn keeping(mut self, bytes: usize) -> Self {
        if let Head::Split(head) = &mut self.head {
            head.keep(bytes);
        }
        self
    }

    fn adapted(base: &Path, adapter: Adapter, options: &BertOptions) -> Result<Self, ModelError> {
        let files = ModelFiles::open(base)?;
        adapter.check_base(files.weights_sha256())?;
        let head = SplitHead::load(&adapter, files.config(), files.sentence())?;
        let said = adapter.manifest().clone();
        let prefixes = files.sentence().clone();
        let (runtime, ()) = Runtime::load(files, options, Some(adapter), |_| Ok(()))?;
        let fingerprint = Fingerprint::new(said.name.as_str())
            .with("code", CODE)
            .with("output", "pair score")
            .with("base", runtime.name.as_str())
            .with("weights_sha256", &runtime.weights_sha256)
            .with("adapter_sha256", &said.tensors_sha256)
            .with("split", said.split)
            .with("tokenizer_sha256", runtime.tokenizer.sha256())
            .with("query_prefix", prefixes.query_prefix.unwrap_or_default())
            .with(
                "document_prefix",
                prefixes.document_prefix.unwrap_or_default(),
            )
            .with("document_tokens", head.document_tokens());
        Ok(Self {
            runtime,
            head: Head::Split(head),
            fingerprint,
        })
    }
}

impl PairScorer for BertPairScorer {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
        let scores = match &self.head {
            Head::Split(head) => head.score(&self.runtime, query, documents)?,
            Head::Classifier { layers, limit } => {
                let pairs = self.runtime.tokenize(documents, |at, document| {
                    self.runtime
                        .tokenizer
                        .encode_pair(query, document, *limit)
                        .map_err(|error| error.at(at, &self.runtime.name))
                })?;
                let width = self.runtime.encoder.config().hidden;
                self.runtime.encode(&pairs, |_, rows| {
                    layers.score(rows.get(..width).unwrap_or_default())
                })?
            }
        };
        match scores.iter().position(|score| !score.is_finite()) {
            Some(row) => Err(ProviderError::BadVector {
                row,
                what: "not finite",
            }),
            None => Ok(scores),
        }
    }
}

impl Classifier {
    fn load(config: &BertConfig, weights: &mut Weights) -> Result<Self, ModelError> {
        let hidden = config.hidden;
        let (dense, out) = match config.family {
            Family::Bert => ("pooler.dense", "classifier"),
            Family::Roberta => ("classifier.dense", "classifier.out_proj"),
        };
        Ok(Self {
            dense: Dense::load(weights, dense, hidden, hidden)?,
            out: Dense::load(weights, out, hidden, 1)?,
        })
    }

    fn score(&self, first: &[f32]) -> f32 {
        let inner: Vec<f32> = self
            .dense
            .apply(first)
            .map(f64::tanh)
            .map(|x| x as f32)
            .collect();
        self.out.apply(&inner).map(|x| x as f32).sum()
    }
}

impl Dense {
    fn load(
        weights: &mut Weights,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            weight: weights.matrix(&format!("{name}.weight"), outputs, inputs)?,
            bias: weights.vector(&format!("{name}.bias"), outputs)?,
        })
    }

    /// W · x + b, sums in f64.
    fn apply<'a>(&'a self, input: &'a [f32]) -> impl Iterator<Item = f64> + 'a {
        let rows = self.weight.chunks_exact(input.len().max(1));
        rows.zip(&self.bias).map(move |(row, bias)| {
            let products = row
                .iter()
                .zip(input)
                .map(|(w, x)| f64::from(*w) * f64::from(*x));
            f64::from(*bias) + products.sum::<f64>()
        })
    }
}
