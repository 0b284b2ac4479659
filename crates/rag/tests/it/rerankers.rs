//! Models for rerankers that are functions of their texts and nothing else.

use std::sync::Arc;

use cornu::Fingerprint;
use cornu::core::{
    ByteSpan, PairScorer, ProviderError, Side, TextTokens, TokenEmbedder, TokenVectors,
};
use cornu::rerank::{
    Blend, Budget, CascadeOptions, CrossEncoder, ElbowCascade, MaxSim, PairCost, Precision,
    Reranker, Scale, Scorer, Staged, TokenSpace,
};
use ndarray::Array2;

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A logit that means nothing, so that every order comes about.
pub(crate) struct Dice(pub(crate) Fingerprint);

impl PairScorer for Dice {
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }

    fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
        let one = |text: &&str| (hash(&format!("{query}\0{text}")) % 64) as f32 / 8.0 - 4.0;
        Ok(documents.iter().map(one).collect())
    }
}

/// How often a word stands in a text, whatever is asked.
pub(crate) struct Counts(pub(crate) Fingerprint, pub(crate) &'static str);

impl PairScorer for Counts {
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }

    fn score(&self, _: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
        Ok(documents
            .iter()
            .map(|text| text.matches(self.1).count() as f32)
            .collect())
    }
}

/// A unit vector a word, at a place that its letters choose.
pub(crate) struct Words(pub(crate) Fingerprint);

const PLACES: usize = 32;

impl TokenEmbedder for Words {
    fn token_dimension(&self) -> usize {
        PLACES
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }

    fn embed_tokens(&self, texts: &[&str], _: Side) -> Result<Vec<TokenVectors>, ProviderError> {
        let one = |text: &&str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let mut vectors = Array2::zeros((words.len(), PLACES));
            for (row, word) in words.iter().enumerate() {
                vectors[(row, hash(&word.to_lowercase()) as usize % PLACES)] = 1.0;
            }
            let span = |word: &str| {
                let start = word.as_ptr() as usize - text.as_ptr() as usize;
                ByteSpan::new(start, start + word.len()).ok()
            };
            TokenVectors {
                vectors,
                spans: words.iter().map(|word| span(word)).collect(),
                tokens: TextTokens::whole(words.len()),
            }
        };
        Ok(texts.iter().map(one).collect())
    }
}

pub(crate) fn space() -> TokenSpace {
    let words = Arc::new(Words(Fingerprint::new("words")));
    TokenSpace::new(words).with_precision(Precision::Int8)
}

fn dice() -> Scorer {
    Scorer::new(Arc::new(Dice(Fingerprint::new("dice"))), Scale::Logit)
}

pub(crate) fn counting(word: &'static str) -> Arc<dyn Reranker> {
    let model = Arc::new(Counts(Fingerprint::new("counts"), word));
    Arc::new(CrossEncoder::new(Scorer::new(model, Scale::Logit)))
}

/// One of each kind.
pub(crate) fn all() -> Vec<Arc<dyn Reranker>> {
    let cost = PairCost {
        pair: std::time::Duration::from_millis(1),
        kib: std::time::Duration::from_millis(20),
    };
    let cascade = CascadeOptions {
        floor: 1,
        ceiling: 4,
        budget: Some(Budget::planned(std::time::Duration::from_millis(9), cost)),
        ..CascadeOptions::default()
    };
    vec![
        Arc::new(CrossEncoder::new(dice())),
        Arc::new(CrossEncoder::new(dice()).with_blend(Blend::new(0.4).unwrap())),
        Arc::new(ElbowCascade::new(dice(), cascade).unwrap()),
        Arc::new(MaxSim::new(space())),
        Arc::new(MaxSim::new(space()).with_blend(Blend::new(0.7).unwrap())),
        Arc::new(Staged::new(
            Arc::new(MaxSim::new(space()).with_blend(Blend::new(0.7).unwrap())),
            Arc::new(ElbowCascade::new(dice(), CascadeOptions::default()).unwrap()),
        )),
    ]
}
