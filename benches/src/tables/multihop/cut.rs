//! Passages that are longer than the model takes.

use std::sync::Arc;

use cornu_core::{EmbeddingProvider, Embeddings, Fingerprint, ProviderError, TokenCounter};
use ndarray::Array1;

use crate::models::Shared;

/// Tokens of a text that are embedded. The model takes 512, of which its own marks and prefix are
/// some.
const MOST: usize = 480;

/// A model that is given the beginning of a text that is too long for it: the methods of this table
/// know whole passages only.
pub(crate) struct Cut {
    provider: Arc<dyn EmbeddingProvider>,
    counter: Arc<dyn TokenCounter>,
}

impl Cut {
    pub(crate) fn new(model: Shared) -> Self {
        Self {
            provider: model.provider,
            counter: model.counter,
        }
    }

    fn cut<'a>(&self, text: &'a str) -> &'a str {
        text.get(..self.counter.fit(text, MOST)).unwrap_or(text)
    }
}

impl EmbeddingProvider for Cut {
    fn dimension(&self) -> usize {
        self.provider.dimension()
    }

    fn fingerprint(&self) -> &Fingerprint {
        self.provider.fingerprint()
    }

    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        let cut: Vec<&str> = texts.iter().map(|text| self.cut(text)).collect();
        self.provider.embed_counted(&cut)
    }

    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        self.provider.embed_query(self.cut(text))
    }
}
