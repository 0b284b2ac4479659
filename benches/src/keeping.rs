//! Models whose results are [kept](Kept) from run to run. It changes no bit: neither a vector nor a
//! score depends on the other texts of a call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use cornu_core::{
    EmbeddingProvider, Embeddings, Fingerprint, PairScorer, ProviderError, TextTokens,
};
use cornu_rerank::{TokenMatrix, TokenSpace};
use ndarray::{Array1, Array2};

use crate::kept::Kept;

/// Texts that are computed between two lines of progress.
const STEP: usize = 512;
/// Kept beside a question's vector, whose text may be a passage's too.
const QUERY: &str = "query";

/// An embedder.
pub struct KeepingVectors {
    inner: Arc<dyn EmbeddingProvider>,
    kept: Kept,
}

/// A scorer of pairs. Each pair is scored once, whatever strategies ask for it; for quality: a
/// latency has to be measured on the scorer itself.
pub struct KeepingScores {
    inner: Arc<dyn PairScorer>,
    kept: Kept,
    scores: Mutex<BTreeMap<String, BTreeMap<String, f32>>>,
}

impl KeepingVectors {
    /// Of an embedder, with what was kept of it.
    #[must_use]
    pub fn new(inner: Arc<dyn EmbeddingProvider>, kept: Kept) -> Self {
        Self { inner, kept }
    }

    fn read(&self, texts: &[&str]) -> Result<Option<(Vec<f32>, TextTokens)>, ProviderError> {
        let Some(bytes) = self.kept.get(texts).map_err(failed)? else {
            return Ok(None);
        };
        let Some((numbers, values)) = bytes.split_first_chunk::<16>() else {
            return Ok(None);
        };
        let number = |at: usize| {
            let bytes: Vec<u8> = numbers.iter().skip(at).take(8).copied().collect();
            bytes.try_into().map_or(0, u64::from_le_bytes) as usize
        };
        let tokens = TextTokens {
            kept: number(0),
            total: number(8),
        };
        Ok(Some((floats(values), tokens)))
    }

    fn write(&self, texts: &[&str], row: &[f32], tokens: TextTokens) -> Result<(), ProviderError> {
        let mut bytes = Vec::with_capacity(16 + 4 * row.len());
        bytes.extend((tokens.kept as u64).to_le_bytes());
        bytes.extend((tokens.total as u64).to_le_bytes());
        bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
        self.kept.put(texts, &bytes).map_err(failed)
    }
}

impl EmbeddingProvider for KeepingVectors {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }

    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        let mut all = Embeddings {
            vectors: Array2::zeros((texts.len(), self.dimension())),
            tokens: vec![TextTokens::whole(0); texts.len()],
        };
        let mut put = |at: usize, row: &[f32], tokens: TextTokens| {
            let mut to = all.vectors.row_mut(at);
            to.iter_mut().zip(row).for_each(|(to, from)| *to = *from);
            if let Some(place) = all.tokens.get_mut(at) {
                *place = tokens;
            }
        };
        let mut missing = Vec::new();
        for (at, &text) in texts.iter().enumerate() {
            match self.read(&[text])? {
                Some((row, tokens)) => put(at, &row, tokens),
                None => missing.push((at, text)),
            }
        }
        for part in missing.chunks(STEP) {
            let own: Vec<&str> = part.iter().map(|&(_, text)| text).collect();
            let embedded = self.inner.embed_counted(&own)?;
            let rows = embedded.vectors.rows().into_iter().zip(embedded.tokens);
            for (&(at, text), (row, tokens)) in part.iter().zip(rows) {
                let row = row.to_vec();
                self.write(&[text], &row, tokens)?;
                put(at, &row, tokens);
            }
        }
        Ok(all)
    }

    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        if let Some((row, _)) = self.read(&[text, QUERY])? {
            return Ok(row.into());
        }
        let vector = self.inner.embed_query(text)?;
        self.write(&[text, QUERY], &vector.to_vec(), TextTokens::whole(0))?;
        Ok(vector)
    }
}

impl KeepingScores {
    /// Of a scorer, with what was kept of it.
    #[must_use]
    pub fn new(inner: Arc<dyn PairScorer>, kept: Kept) -> Self {
        Self {
            inner,
            kept,
            scores: Mutex::default(),
        }
    }
}

impl PairScorer for KeepingScores {
    fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }

    fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
        let mut known = self.scores.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.entry(query.to_owned()).or_default();
        let mut new: Vec<&str> = Vec::new();
        for &text in documents {
            if known.contains_key(text) || new.contains(&text) {
                continue;
            }
            match self.kept.get(&[query, text]).map_err(failed)? {
                Some(bytes) => {
                    let score = floats(&bytes).first().copied();
                    known.extend(score.map(|score| (text.to_owned(), score)));
                }
                None => new.push(text),
            }
        }
        if !new.is_empty() {
            let scores = self.inner.score(query, &new)?;
            for (text, score) in new.iter().zip(scores) {
                let bytes = score.to_le_bytes();
                self.kept.put(&[query, text], &bytes).map_err(failed)?;
                known.insert((*text).to_owned(), score);
            }
        }
        // A scorer that gave too few leaves a text without: then this gives too few as well, and
        // the reranker refuses it.
        Ok(documents
            .iter()
            .filter_map(|text| known.get(*text).copied())
            .collect())
    }
}

/// The token vectors of texts, each computed once.
///
/// # Errors
/// A model that fails; a file that cannot be read or written.
pub fn token_vectors(
    space: &TokenSpace,
    texts: &[Arc<str>],
    kept: &Kept,
) -> Result<BTreeMap<Arc<str>, Arc<TokenMatrix>>> {
    let mut known = BTreeMap::new();
    let mut missing = Vec::new();
    for text in texts {
        match kept.get(&[text])? {
            Some(bytes) => {
                let tokens = TokenMatrix::from_bytes(&bytes).context("kept token vectors")?;
                known.insert(Arc::clone(text), Arc::new(tokens));
            }
            None => missing.push(text),
        }
    }
    for (at, part) in missing.chunks(STEP).enumerate() {
        let done = at * STEP + part.len();
        crate::run::say(&format!("  token vectors {done} of {}", missing.len()));
        let own: Vec<&str> = part.iter().map(AsRef::as_ref).collect();
        for (text, tokens) in part.iter().zip(space.documents(&own)?) {
            kept.put(&[text], &tokens.to_bytes())?;
            known.insert(Arc::clone(text), Arc::new(tokens));
        }
    }
    Ok(known)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (values, _) = bytes.as_chunks::<4>();
    values
        .iter()
        .map(|&value| f32::from_le_bytes(value))
        .collect()
}

fn failed(error: anyhow::Error) -> ProviderError {
    ProviderError::Failed {
        provider: "what was kept".to_owned(),
        source: error.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use cornu_embed::hash::HashEmbeddingProvider;

    use super::*;
    use crate::cached::tests::Counting;

    impl PairScorer for Counting {
        fn fingerprint(&self) -> &Fingerprint {
            self.0.fingerprint()
        }
        fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
            self.1.fetch_add(documents.len(), Ordering::Relaxed);
            let score = |text: &&str| (query.len() * 100 + text.len()) as f32 / 7.0;
            Ok(documents.iter().map(score).collect())
        }
    }

    #[test]
    fn nothing_is_computed_twice_and_no_bit_changes() {
        let folder = tempfile::tempdir().unwrap();
        let calls = Arc::new(AtomicUsize::new(0));
        let plain = HashEmbeddingProvider::default();
        let texts = ["gradients add up", "call zero_grad", ""];
        for (run, expected) in [(0, 3 + 1 + 4), (1, 0)] {
            calls.store(0, Ordering::Relaxed);
            let counting = || Arc::new(Counting(plain.clone(), Arc::clone(&calls)));
            let kept = |name: &str| Kept::at(&folder.path().join(name)).unwrap();
            let vectors = KeepingVectors::new(counting(), kept("vectors"));
            for _ in 0..2 {
                assert_eq!(
                    vectors.embed_counted(&texts).unwrap(),
                    plain.embed_counted(&texts).unwrap()
                );
                assert_eq!(
                    vectors.embed_query(texts[0]).unwrap(),
                    plain.embed_query(texts[0]).unwrap()
                );
            }
            let scores = KeepingScores::new(counting(), kept("scores"));
            let model = counting();
            for documents in [&["a", "bbb", "a"][..], &["bbb", "cc"], &["a"]] {
                let ours = scores.score("?", documents).unwrap();
                let before = calls.load(Ordering::Relaxed);
                assert_eq!(ours, model.score("?", documents).unwrap());
                calls.store(before, Ordering::Relaxed);
            }
            assert_eq!(scores.score("??", &["a"]).unwrap(), [201.0 / 7.0]);
            assert_eq!(calls.load(Ordering::Relaxed), expected, "run {run}");
        }
    }
}
