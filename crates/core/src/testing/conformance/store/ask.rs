//! What one asker can read of a store, as a value that can be compared bit for bit.

use ndarray::Array1;

use super::super::report::{Checks, Violation};
use super::super::rule::Rule;
use crate::acl::Principal;
use crate::chunk::Chunk;
use crate::id::{ChunkId, DocId};
use crate::store::FactStore;
use crate::view::View;

/// A ranking, with its scores.
pub(super) type Hits = Vec<(ChunkId, f64)>;

/// Everything that is asked of a store on behalf of one asker.
pub(super) struct Questions<'a> {
    pub(super) asker: &'a Principal,
    /// Chunks to look up, hidden and removed ones among them.
    pub(super) chunks: &'a [ChunkId],
    pub(super) queries: &'a [Array1<f32>],
    pub(super) ks: &'a [usize],
}

/// The answers to [`Questions`].
#[derive(Debug, PartialEq)]
pub(super) struct Answers {
    pub(super) digest: [u8; 32],
    pub(super) documents: Vec<DocId>,
    pub(super) chunks: Vec<Option<Chunk>>,
    /// For each query, for each k.
    pub(super) rankings: Vec<Vec<Hits>>,
}

impl Answers {
    /// How these answers differ from others; `None` when not a bit does.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if self.digest != other.digest {
            return Some("another view digest".to_owned());
        }
        if self.documents != other.documents {
            let (here, there) = (&self.documents, &other.documents);
            return Some(format!("the documents {here:?}, not {there:?}"));
        }
        let mut chunks = self.chunks.iter().zip(&other.chunks);
        if let Some((here, there)) = chunks.find(|(here, there)| here != there) {
            return Some(format!("the chunk {here:?}, not {there:?}"));
        }
        let rankings = self.rankings.iter().flatten();
        let mut rankings = rankings.zip(other.rankings.iter().flatten());
        rankings
            .find(|(here, there)| bits(here) != bits(there))
            .map(|(here, there)| format!("the ranking {here:?}, not {there:?}"))
    }
}

/// Asks everything under one new view. An error breaks `rule`.
pub(super) fn ask<S: FactStore>(
    store: &S,
    checks: &Checks,
    rule: Rule,
    questions: &Questions<'_>,
) -> Result<Answers, Violation> {
    let who = || format!("asked by {:?}", questions.asker);
    let view = checks.ok(rule, store.view(questions.asker), who)?;
    let documents = checks.ok(rule, store.documents(&view), who)?;
    let mut chunks = Vec::new();
    for id in questions.chunks {
        let input = || format!("chunk {id}, {}", who());
        chunks.push(checks.ok(rule, store.chunk(&view, id), input)?);
    }
    let mut rankings = Vec::new();
    for query in questions.queries {
        let mut by_k = Vec::new();
        for &k in questions.ks {
            let input = || format!("{k} nearest to {query}, {}", who());
            let hits = knn(store, &view, query, k);
            by_k.push(checks.ok(rule, hits, input)?);
        }
        rankings.push(by_k);
    }
    Ok(Answers {
        digest: *view.digest(),
        documents,
        chunks,
        rankings,
    })
}

pub(super) fn knn<S: FactStore>(
    store: &S,
    view: &View,
    query: &Array1<f32>,
    k: usize,
) -> Result<Hits, S::Error> {
    let ranking = store.knn(view, query.view(), k)?;
    Ok(ranking.into_iter().map(|hit| (hit.id, hit.score)).collect())
}

pub(super) fn bits(hits: &Hits) -> Vec<(ChunkId, u64)> {
    hits.iter()
        .map(|&(id, score)| (id, score.to_bits()))
        .collect()
}
