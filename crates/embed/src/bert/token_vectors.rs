//! One vector a token, for late interaction.

use std::sync::Arc;

use cornu_core::{Fingerprint, ProviderError, Side, TokenEmbedder, TokenVectors, normalise_rows};
use ndarray::Array2;

use super::provider::Inner;

/// The encoder's last hidden states, each normalised: one vector a token, special and prefix
/// tokens among them (their span is `None`), no padding.
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
    fingerprint: Fingerprint,
}

impl BertTokenEmbedder {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        let width = inner.runtime.encoder.config().hidden;
        Self {
            fingerprint: inner
                .fingerprint()
                .with("output", "tokens")
                .with("dimension", width),
            inner,
        }
    }
}

impl TokenEmbedder for BertTokenEmbedder {
    fn token_dimension(&self) -> usize {
        self.inner.runtime.encoder.config().hidden
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn embed_tokens(&self, texts: &[&str], side: Side) -> Result<Vec<TokenVectors>, ProviderError> {
        let inner = &*self.inner;
        let width = self.token_dimension();
        let texts = inner.tokenize(texts, side)?;
        let states = inner.runtime.encode(&texts, |_, rows| rows.to_vec())?;
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
