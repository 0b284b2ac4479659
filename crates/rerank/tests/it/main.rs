//! Integration tests, one binary.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod blend;
mod cascade;
mod cases;
mod chapter;
mod cost;
mod fingerprints;
mod interference;
mod kernel;
mod maxsim;
mod staged;
mod tokens;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cornu_core::{ChunkId, Fingerprint, PairScorer, ProviderError};
use cornu_rerank::{Candidate, Candidates, ManualClock, Reranked, Scale, Scorer};

fn id(number: usize) -> ChunkId {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
    ChunkId::from_bytes(bytes)
}

fn number(id: ChunkId) -> usize {
    u64::from_be_bytes(id.as_bytes()[..8].try_into().unwrap()) as usize
}

/// The chunks' numbers, best first.
fn order(reranked: &Reranked) -> Vec<usize> {
    reranked.ids().map(number).collect()
}

/// Candidates 0, 1, 2, … with these scores; each one's text is its number.
fn candidates<'t>(texts: &'t [String], scores: &[f64]) -> Candidates<'t> {
    let pairs = texts.iter().zip(scores).enumerate();
    Candidates::new(pairs.map(|(at, (text, &score))| Candidate::new(id(at), text, score))).unwrap()
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|at| at.to_string()).collect()
}

/// Falling scores, as of a first stage.
fn falling(count: usize) -> Vec<f64> {
    (0..count).map(|at| 1.0 / (60 + at) as f64).collect()
}

/// Scores a text that is a number by a list, moves a clock by what a pair costs, and counts.
struct Table {
    fingerprint: Fingerprint,
    scores: Vec<f32>,
    cost: Duration,
    clock: Arc<ManualClock>,
    calls: AtomicUsize,
    sizes: Mutex<Vec<usize>>,
}

impl Table {
    fn new(scores: impl IntoIterator<Item = f32>) -> Self {
        Self {
            fingerprint: Fingerprint::new("table"),
            scores: scores.into_iter().collect(),
            cost: Duration::ZERO,
            clock: Arc::default(),
            calls: AtomicUsize::new(0),
            sizes: Mutex::default(),
        }
    }

    fn costing(mut self, cost: Duration, clock: &Arc<ManualClock>) -> Self {
        self.cost = cost;
        self.clock = Arc::clone(clock);
        self
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn scorer(self: &Arc<Self>, scale: Scale) -> Scorer {
        Scorer::new(Arc::clone(self) as Arc<dyn PairScorer>, scale)
    }
}

impl PairScorer for Table {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn score(&self, _: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.sizes.lock().unwrap().push(documents.len());
        self.clock.advance(self.cost * documents.len() as u32);
        Ok(documents
            .iter()
            .map(|text| self.scores[text.parse::<usize>().unwrap()])
            .collect())
    }
}
