//! One vector a token, for late interaction.

use std::sync::Arc;

use cornu_core::{Fingerprint, ProviderError, Side, TokenEmbedder, TokenVectors, normalise_rows};
use ndarray::Array2;

use super::adapter::{Adapter, AdapterKind};
use super::error::ModelError;
use super::options::BertOptions;
use super::provider::{BertEmbeddingProvider, Inner};

/// The encoder's last hidden states, each normalised: one vector a token, special and prefix
/// tokens among them (their span is `None`), no padding. With an [`Adapter`] of the kind `tokens`
/// they are mapped to fewer dimensions first.
///
/// ```no_run
/// use cornu_core::{Side, TokenEmbedder};
/// use cornu_embed::bert::{BertEmbeddingProvider, BertOptions};
///
/// let provider = BertEmbeddingProvider::open("all-MiniLM-L6-v2", &BertOptions::default())?;
/// let tokens = provider.token_embedder().embed_tokens(&["two words"], Side::Document)?;
/// assert_eq!(tokens[0].vectors.dim(), (4, 384)); // [CLS] two words [SEP]
/// # Ok::<(), cornu_core::ProviderError>(())
/// ```
pub struct BertTokenEmbedder {
    inner: Arc<Inner>,
    projection: Option<Projection>,
    fingerprint: Fingerprint,
}

/// A linear map of token vectors, (out, in) row-major.
struct Projection {
    weight: Vec<f32>,
    outputs: usize,
}

impl Projection {
    /// Rows of `width` to rows of `outputs`, sums in f64.
    fn apply(&self, rows: &[f32], width: usize) -> Vec<f32> {
        let mut out = Vec::with_capacity(rows.len() / width.max(1) * self.outputs);
        for row in rows.chunks_exact(width.max(1)) {
            out.extend(self.weight.chunks_exact(width.max(1)).map(|axis| {
                let products = axis
                    .iter()
                    .zip(row)
                    .map(|(a, x)| f64::from(*a) * f64::from(*x));
                products.sum::<f64>() as f32
            }));
        }
        out
    }
}

impl BertTokenEmbedder {
    /// Opens the token vectors of an embedding model, by a preset's name or its folder's path; or
    /// those of a [shipped adapter](Adapter::shipped) by its name, whose base is opened with it.
    ///
    /// # Errors
    /// As [`BertEmbeddingProvider::open`], and [`ModelError`] for an adapter of another kind.
    ///
    /// ```no_run
    /// use cornu_core::TokenEmbedder;
    /// use cornu_embed::bert::{BertOptions, BertTokenEmbedder};
    ///
    /// let tokens = BertTokenEmbedder::open("e5-zh-en-tokens", &BertOptions::default())?;
    /// assert_eq!(tokens.token_dimension(), 128);
    /// # Ok::<(), cornu_core::ProviderError>(())
    /// ```
    pub fn open(model: &str, options: &BertOptions) -> Result<Self, ProviderError> {
        if !Adapter::shipped_names().any(|name| name == model) {
            return Ok(BertEmbeddingProvider::open(model, options)?.token_embedder());
        }
        let adapter = Adapter::shipped(model).map_err(|error| error.for_provider(model))?;
        // Of another kind it is refused before anything is read.
        adapter
            .check_kind(AdapterKind::Tokens)
            .map_err(|error| error.for_provider(model))?;
        let base = BertEmbeddingProvider::open(&adapter.manifest().base.name, options)?;
        base.projected_token_embedder(&adapter)
            .map_err(|error| error.for_provider(model))
    }

    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        let width = inner.runtime.encoder.config().hidden;
        Self {
            fingerprint: inner
                .fingerprint()
                .with("output", "tokens")
                .with("dimension", width),
            inner,
            projection: None,
        }
    }

    pub(crate) fn projected(inner: Arc<Inner>, adapter: &Adapter) -> Result<Self, ModelError> {
        adapter.check_kind(AdapterKind::Tokens)?;
        adapter.check_base(&inner.runtime.weights_sha256)?;
        let width = inner.runtime.encoder.config().hidden;
        let outputs = adapter.rows("projection")?;
        let weight = adapter.tensor("projection", &[outputs, width])?.to_vec();
        Ok(Self {
            fingerprint: inner
                .fingerprint()
                .with("output", "tokens")
                .with("adapter_sha256", &adapter.manifest().tensors_sha256)
                .with("dimension", outputs),
            inner,
            projection: Some(Projection { weight, outputs }),
        })
    }
}

impl TokenEmbedder for BertTokenEmbedder {
    fn token_dimension(&self) -> usize {
        let hidden = self.inner.runtime.encoder.config().hidden;
        self.projection
            .as_ref()
            .map_or(hidden, |projection| projection.outputs)
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn embed_tokens(&self, texts: &[&str], side: Side) -> Result<Vec<TokenVectors>, ProviderError> {
        let inner = &*self.inner;
        let width = self.token_dimension();
        let texts = inner.tokenize(texts, side)?;
        let hidden = inner.runtime.encoder.config().hidden;
        let states = inner
            .runtime
            .encode(&texts, |_, rows| match &self.projection {
                Some(projection) => projection.apply(rows, hidden),
                None => rows.to_vec(),
            })?;
        texts
            .into_iter()
            .zip(states)
            .map(|(tokens, rows)| {
                let mut vectors =
                    Array2::from_shape_vec((tokens.len(), width), rows).map_err(|error| {
                        ProviderError::Failed {
                            provider: inner.runtime.name.clone(),
                            source: Box::new(error),
                        }
                    })?;
                normalise_rows(&mut vectors)?;
                Ok(TokenVectors {
                    vectors,
                    spans: tokens.spans,
                    tokens: tokens.count,
                })
            })
            .collect()
    }
}
