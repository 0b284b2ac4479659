//! The embedding provider on BERT.

use std::path::Path;
use std::sync::Arc;

use cornu_core::{EmbeddingProvider, Embeddings, Fingerprint, ProviderError, Side, normalise_rows};
use ndarray::{Array1, Array2};

use super::adapter::Adapter;
use super::error::ModelError;
use super::files::ModelFiles;
use super::options::BertOptions;
use super::runtime::Runtime;
use super::sentence::Pooling;
use super::token_vectors::BertTokenEmbedder;
use super::tokenizer::{Tokens, Truncation};

/// What the code adds to a vector's history: raised whenever vectors may change.
const CODE: &str = "bert/1";

/// Texts to unit vectors with a BERT encoder on libtorch, in f32.
///
/// Time: layers · (4 · h² + 2 · h · i) multiplications and as many additions a token for the linear
/// layers (10.6 million of each for all-MiniLM-L6-v2, 21 million for multilingual-e5-small), and 2 · layers
/// · h · n more for attention in a text of n tokens. Memory: see
/// [`BertOptions::rows_per_pack`]. Threads may share one provider.
///
/// ```no_run
/// use cornu_core::EmbeddingProvider;
/// use cornu_embed::bert::{BertEmbeddingProvider, BertOptions};
///
/// let provider = BertEmbeddingProvider::open("multilingual-e5-small", &BertOptions::default())?;
/// let documents = provider.embed(&["反向传播逐层计算梯度。", "The weather is fine."])?;
/// let query = provider.embed_query("梯度是怎么算的")?;
/// let scores = documents.dot(&query);
/// assert!(scores[0] > scores[1]);
/// # Ok::<(), cornu_core::ProviderError>(())
/// ```
pub struct BertEmbeddingProvider {
    pub(crate) inner: Arc<Inner>,
    fingerprint: Fingerprint,
}

/// What a provider and its token embedder share.
pub(crate) struct Inner {
    pub(crate) runtime: Runtime,
    pub(crate) query_prefix: String,
    pub(crate) document_prefix: String,
    pub(crate) limit: usize,
    pub(crate) truncation: Truncation,
    pooling: Pooling,
}

impl BertEmbeddingProvider {
    /// Opens a preset by its name, or a model's folder by its path. Reads the weights twice (once
    /// for their sha256) and runs a few small forward passes.
    ///
    /// # Errors
    /// [`ProviderError::Unavailable`] when a file is missing, [`ProviderError::Failed`] with a
    /// [`ModelError`] when one is not usable.
    pub fn open(model: &str, options: &BertOptions) -> Result<Self, ProviderError> {
        options
            .folder(model)
            .and_then(|folder| Self::load(&folder, options))
            .map_err(|error| error.for_provider(model))
    }

    fn load(folder: &Path, options: &BertOptions) -> Result<Self, ModelError> {
        let files = ModelFiles::open(folder)?;
        let said = files.sentence().clone();
        let file = files.weights_path().display().to_string();
        let pooling = Pooling::required(options.pooling.or(said.pooling), &file)?;
        let positions = files.config().max_tokens();
        let limit = options
            .max_tokens
            .map(std::num::NonZero::get)
            .or(said.max_tokens)
            .map_or(positions, |limit| limit.min(positions));
        let prefix =
            |own: &Option<String>, said: Option<String>| own.clone().or(said).unwrap_or_default();
        let (runtime, ()) = Runtime::load(files, options, None, |_| Ok(()))?;
        let inner = Inner {
            runtime,
            query_prefix: prefix(&options.query_prefix, said.query_prefix),
            document_prefix: prefix(&options.document_prefix, said.document_prefix),
            limit,
            truncation: options.truncation,
            pooling,
        };
        Ok(Self {
            fingerprint: inner
                .fingerprint()
                .with("pooling", pooling.name())
                .with("dimension", inner.runtime.encoder.config().hidden),
            inner: Arc::new(inner),
        })
    }

    /// The most tokens of a text, special tokens and prefix included.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        self.inner.limit
    }

    /// The prefix of one side.
    #[must_use]
    pub fn prefix(&self, side: Side) -> &str {
        self.inner.prefix(side)
    }

    /// Whether several texts share one matrix product on this machine. They do where libtorch
    /// gives a row the same bits whatever the number of rows, which is measured when a model is
    /// opened; where not, texts are computed one by one, more slowly.
    #[must_use]
    pub fn packs_texts(&self) -> bool {
        self.inner.runtime.packable()
    }

    /// The token vectors of the same encoder; the weights are shared, not copied.
    #[must_use]
    pub fn token_embedder(&self) -> BertTokenEmbedder {
        BertTokenEmbedder::new(Arc::clone(&self.inner))
    }

    /// The token vectors through the projection of an adapter, which was trained on this model.
    ///
    /// # Errors
    /// [`ModelError::OtherBase`] where it was trained on other weights.
    pub fn projected_token_embedder(
        &self,
        adapter: &Adapter,
    ) -> Result<BertTokenEmbedder, ModelError> {
        BertTokenEmbedder::projected(Arc::clone(&self.inner), adapter)
    }

    fn vectors(&self, texts: &[Tokens]) -> Result<Array2<f32>, ProviderError> {
        let inner = &*self.inner;
        let width = inner.runtime.encoder.config().hidden;
        let pooled = inner
            .runtime
            .encode(texts, |_, rows| inner.pooling.pool(rows, width))?;
        let mut vectors = Array2::zeros((texts.len(), width));
        for (mut row, pooled) in vectors.rows_mut().into_iter().zip(pooled) {
            for (cell, value) in row.iter_mut().zip(pooled) {
                *cell = value;
            }
        }
        normalise_rows(&mut vectors)?;
        Ok(vectors)
    }
}

impl EmbeddingProvider for BertEmbeddingProvider {
    fn dimension(&self) -> usize {
        self.inner.runtime.encoder.config().hidden
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        let tokens = self.inner.tokenize(texts, Side::Document)?;
        Ok(Embeddings {
            vectors: self.vectors(&tokens)?,
            tokens: tokens.iter().map(|tokens| tokens.count).collect(),
        })
    }

    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        let tokens = self.inner.tokenize(&[text], Side::Query)?;
        Ok(self.vectors(&tokens)?.into_iter().collect())
    }
}

impl Inner {
    pub(crate) fn prefix(&self, side: Side) -> &str {
        match side {
            Side::Query => &self.query_prefix,
            Side::Document => &self.document_prefix,
        }
    }

    pub(crate) fn tokenize(
        &self,
        texts: &[&str],
        side: Side,
    ) -> Result<Vec<Tokens>, ProviderError> {
        let prefix = self.prefix(side);
        self.runtime.tokenize(texts, |at, text| {
            self.runtime
                .tokenizer
                .encode(text, prefix, self.limit, self.truncation)
                .map_err(|error| error.at(at, &self.runtime.name))
        })
    }

    /// All that vectors depend on, but for what is made of the hidden states.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(self.runtime.name.as_str())
            .with("code", CODE)
            .with("weights_sha256", &self.runtime.weights_sha256)
            .with("tokenizer_sha256", self.runtime.tokenizer.sha256())
            .with("query_prefix", &self.query_prefix)
            .with("document_prefix", &self.document_prefix)
            .with("max_tokens", self.limit)
            .with("truncation", self.truncation.name())
    }
}
