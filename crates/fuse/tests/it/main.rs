//! Integration tests, one binary.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod cases;
mod chapter;
mod fitting;
mod normalisation;
mod properties;

use cornu_core::Ranking;
use cornu_fuse::{Fused, RrfOptions, Weighted, rrf_fuse};

/// A ranking with scores that fall by place.
fn places<I: Ord>(ids: impl IntoIterator<Item = I>) -> Ranking<I> {
    let scored = ids.into_iter().enumerate();
    Ranking::new(scored.map(|(at, id)| (id, 100.0 - at as f64))).unwrap()
}

fn scored<I: Ord, const N: usize>(pairs: [(I, f64); N]) -> Ranking<I> {
    Ranking::new(pairs).unwrap()
}

fn equal_rrf<I: Ord + Clone>(lists: &[&Ranking<I>]) -> Fused<I> {
    let lists: Vec<_> = lists.iter().map(|list| Weighted::new(*list, 1.0)).collect();
    rrf_fuse(&lists, RrfOptions::default()).unwrap()
}

fn ids<I: Ord + Clone>(ranking: &Ranking<I>) -> Vec<I> {
    ranking.ids().cloned().collect()
}

fn score<I: Ord + Copy>(ranking: &Ranking<I>, id: I) -> f64 {
    ranking.iter().find(|hit| hit.id == id).unwrap().score
}
