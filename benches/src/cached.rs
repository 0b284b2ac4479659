//! An embedder that computes each text once: several tables and systems ask for the same ones.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use cornu_core::{EmbeddingProvider, Embeddings, Fingerprint, ProviderError, TextTokens};
use ndarray::{Array1, Array2, ArrayView1};

/// Remembers, for as long as it lives, every vector that the provider below has given. It changes no
/// bit: a provider's vector does not depend on the other texts of a call.
///
/// Memory: the texts, and 4·D bytes for each.
pub struct Cached {
    inner: Box<dyn EmbeddingProvider>,
    documents: Mutex<HashMap<String, (Array1<f32>, TextTokens)>>,
    queries: Mutex<HashMap<String, Array1<f32>>>,
}

impl Cached {
    /// With nothing remembered yet.
    #[must_use]
    pub fn new(inner: Box<dyn EmbeddingProvider>) -> Self {
        Self {
            inner,
            documents: Mutex::default(),
            queries: Mutex::default(),
        }
    }
}

impl EmbeddingProvider for Cached {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }

    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        let mut known = self
            .documents
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let new: BTreeSet<&str> = texts
            .iter()
            .copied()
            .filter(|text| !known.contains_key(*text))
            .collect();
        let new: Vec<&str> = new.into_iter().collect();
        if !new.is_empty() {
            let embedded = self.inner.embed_counted(&new)?;
            let rows = embedded.vectors.rows().into_iter();
            for ((text, row), tokens) in new.iter().zip(rows).zip(embedded.tokens) {
                known.insert((*text).to_owned(), (row.to_owned(), tokens));
            }
        }
        let found: Vec<&(Array1<f32>, TextTokens)> =
            texts.iter().filter_map(|text| known.get(*text)).collect();
        let rows: Vec<ArrayView1<'_, f32>> = found.iter().map(|(row, _)| row.view()).collect();
        let mut vectors = Array2::zeros((rows.len(), self.dimension()));
        for (mut to, from) in vectors.rows_mut().into_iter().zip(&rows) {
            to.assign(from);
        }
        Ok(Embeddings {
            vectors,
            tokens: found.iter().map(|(_, tokens)| *tokens).collect(),
        })
    }

    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        let mut known = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = known.get(text) {
            return Ok(vector.clone());
        }
        let vector = self.inner.embed_query(text)?;
        known.insert(text.to_owned(), vector.clone());
        Ok(vector)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use cornu_embed::hash::HashEmbeddingProvider;

    use super::*;

    /// Counts the texts that it is given.
    pub(crate) struct Counting(
        pub(crate) HashEmbeddingProvider,
        pub(crate) Arc<AtomicUsize>,
    );

    impl EmbeddingProvider for Counting {
        fn dimension(&self) -> usize {
            self.0.dimension()
        }
        fn fingerprint(&self) -> &Fingerprint {
            self.0.fingerprint()
        }
        fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
            self.1.fetch_add(texts.len(), Ordering::Relaxed);
            self.0.embed_counted(texts)
        }
        fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.embed_query(text)
        }
    }

    #[test]
    fn each_text_is_computed_once_and_has_the_bits_of_the_provider_below() {
        let calls = Arc::new(AtomicUsize::new(0));
        let plain = HashEmbeddingProvider::default();
        let cached = Cached::new(Box::new(Counting(plain.clone(), calls.clone())));
        let texts = ["gradients add up", "call zero_grad", "gradients add up"];
        assert_eq!(
            cached.embed_counted(&texts).unwrap(),
            plain.embed_counted(&texts).unwrap()
        );
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        assert_eq!(
            cached.embed(&["call zero_grad", "new"]).unwrap(),
            plain.embed(&["call zero_grad", "new"]).unwrap()
        );
        assert_eq!(calls.load(Ordering::Relaxed), 3);
        for _ in 0..2 {
            assert_eq!(
                cached.embed_query("new").unwrap(),
                plain.embed_query("new").unwrap()
            );
        }
        assert_eq!(calls.load(Ordering::Relaxed), 4);
        assert_eq!(cached.embed(&[]).unwrap().dim(), (0, plain.dimension()));
    }
}
