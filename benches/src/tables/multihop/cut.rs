//! Passages that are longer than the model takes.

use std::sync::Arc;

use anyhow::Result;
use cornu_core::{EmbeddingProvider, Embeddings, Fingerprint, ProviderError, TokenCounter};
use ndarray::Array1;

use crate::keeping::KeepingVectors;
use crate::kept::Kept;
use crate::models::{Models, PINNED, Prefixes, Shared};

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
    /// The pinned model, with what it embedded in earlier runs; or why it is not to be had.
    pub(crate) fn keeping(models: &Models) -> Result<Result<Self, String>> {
        let shared = match models.shared_or_reason(PINNED, Prefixes::Own)? {
            Err(reason) => return Ok(Err(reason)),
            Ok(shared) => shared,
        };
        let kept = Kept::open("vectors", shared.provider.fingerprint())?;
        Ok(Ok(Self::new(Shared {
            provider: Arc::new(KeepingVectors::new(shared.provider, kept)),
            counter: shared.counter,
        })))
    }

    fn new(model: Shared) -> Self {
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
