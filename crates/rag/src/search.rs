//! The three searches.

use std::sync::Arc;

use cornu_core::{Chunk, ChunkId, Principal, Ranking, Trace};
use cornu_fuse::{Fused, Share, Weighted, convex_fuse, dense_sparse, rrf_fuse};
use cornu_sparse::Query;
use cornu_store::Snapshot;
use ndarray::Array1;

use crate::error::RagError;
use crate::explain;
use crate::index::LiveRagIndex;
use crate::options::Fusion;
use crate::postings::{TermRow, chunk_of};
use crate::second::{self, Second, SecondLook};
use crate::tables;

/// How many chunks join the evidence for one name of a question.
const NAMED: usize = 2;

/// How many results of a search lead to tables.
pub(crate) const LEADS: usize = 20;

/// What a search found, best first, and how.
///
/// ```
/// use cornu::{Found, Trace};
/// let found = Found { hits: vec![], trace: Trace::new() };
/// assert_eq!(found.to_json(), r#"{"hits":[],"trace":[]}"#);
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Found {
    /// The chunks, best first.
    pub hits: Vec<Hit>,
    /// What each step did.
    pub trace: Trace,
}

/// A chunk that was found.
///
/// ```
/// fn best(found: &cornu::Found) -> Option<String> {
///     let hit = found.hits.first()?;
///     Some(format!("{:.3} {}", hit.score, hit.citation))
/// }
/// assert_eq!(best(&cornu::Found { hits: vec![], trace: cornu::Trace::new() }), None);
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Hit {
    /// The chunk: its text, its heading path, its place in the source.
    pub chunk: Arc<Chunk>,
    /// The place, for a reader.
    pub citation: String,
    /// What it was ranked by: a cosine, a BM25 score or a fused score. Scores of different searches
    /// have different scales.
    pub score: f64,
    /// Its place in the dense list, if that list holds it.
    pub dense: Option<Place>,
    /// Its place in the sparse list, if that list holds it.
    pub sparse: Option<Place>,
    /// What the reranker said of it; `None` where nothing was reranked. Hits then stand in the
    /// reranker's order, and `score` is that of the first stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<Second>,
}

/// A chunk's place in one route's list.
///
/// ```
/// let place = cornu::Place { rank: 1, score: 0.8, share: Some(1.0 / 61.0) };
/// assert!(place.share < Some(place.score));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Place {
    /// From 1.
    pub rank: usize,
    /// The route's score: a cosine, or BM25.
    pub score: f64,
    /// What the list adds to the fused score; `None` where nothing was fused.
    pub share: Option<f64>,
}

impl LiveRagIndex {
    /// The `k` visible chunks nearest to the question by cosine similarity, exactly.
    ///
    /// Costs the embedding of the question, and one pass over the visible vectors.
    ///
    /// # Errors
    /// [`RagError::Provider`], [`RagError::Store`].
    pub fn search_dense(
        &self,
        principal: &Principal,
        question: &str,
        k: usize,
    ) -> Result<Found, RagError> {
        let snapshot = self.snapshot(principal)?;
        let (_, ranking) = self.dense(&snapshot, question, k)?;
        let mut trace = Trace::new();
        self.note_vectors(&snapshot, k, &mut trace)?;
        by_one(&snapshot, "dense", k, &ranking, trace, |place| {
            (Some(place), None)
        })
    }

    /// The best `k` visible chunks by BM25, with statistics of the visible chunks alone; fewer
    /// where fewer hold a word of the question.
    ///
    /// The first question of a principal reads the terms of what they see.
    ///
    /// # Errors
    /// [`RagError::Store`], [`RagError::Sparse`].
    pub fn search_sparse(
        &self,
        principal: &Principal,
        question: &str,
        k: usize,
    ) -> Result<Found, RagError> {
        let snapshot = self.snapshot(principal)?;
        let (_, ranking) = self.sparse(&snapshot, question, k)?;
        by_one(&snapshot, "sparse", k, &ranking, Trace::new(), |place| {
            (None, Some(place))
        })
    }

    /// Both searches side by side on one state of the index, fused and, where there is a reranker,
    /// reranked as the [options](crate::RagOptions) say. A route that fails fails the search: half a result
    /// is never shown as a whole one.
    ///
    /// # Errors
    /// As the two searches, [`RagError::Fuse`] and [`RagError::Rerank`].
    pub fn search_hybrid(
        &self,
        principal: &Principal,
        question: &str,
        k: usize,
    ) -> Result<Found, RagError> {
        let snapshot = self.snapshot(principal)?;
        let routes = self.routes(&snapshot, question, k)?;
        let mut trace = Trace::new();
        self.note_vectors(&snapshot, routes.depth, &mut trace)?;
        routes.note(&mut trace, self);
        Ok(found(routes.hits(&snapshot)?, trace))
    }

    /// Why a hybrid search finds what it finds: each chunk's rank and score in each route, its
    /// shares of the fused score, and the words that BM25 counted for it; and what
    /// [tables](Self::ask_tables) say.
    ///
    /// # Errors
    /// As [`search_hybrid`](Self::search_hybrid).
    pub fn explain(
        &self,
        principal: &Principal,
        question: &str,
        k: usize,
    ) -> Result<Trace, RagError> {
        let snapshot = self.snapshot(principal)?;
        let routes = self.routes(&snapshot, question, k)?;
        let mut trace = Trace::new();
        explain::question(&mut trace, &self.options.tokenizer, question);
        self.note_vectors(&snapshot, routes.depth, &mut trace)?;
        routes.note(&mut trace, self);
        self.explain_hits(&snapshot, &routes, question, &mut trace)?;
        Ok(trace)
    }

    /// Notes by what the best `depth` were looked for among the vectors, where it is not the default.
    pub(crate) fn note_vectors(
        &self,
        snapshot: &Snapshot<'_>,
        depth: usize,
        trace: &mut Trace,
    ) -> Result<(), RagError> {
        let walk = snapshot.walk_breadth(depth)?;
        explain::vectors(trace, &self.options.store, walk);
        Ok(())
    }

    /// What each chunk of a hybrid search was found by, and what tables say.
    pub(crate) fn explain_hits(
        &self,
        snapshot: &Snapshot<'_>,
        routes: &Routes,
        question: &str,
        trace: &mut Trace,
    ) -> Result<(), RagError> {
        let query = Query::new(&self.options.tokenizer, question);
        let hits = routes.hits(snapshot)?;
        let bm25 = &self.options.bm25;
        let words = self.postings.with(snapshot, |searcher| {
            hits.iter()
                .map(|hit| {
                    let row = routes
                        .rows
                        .iter()
                        .find(|row| chunk_of(row) == hit.chunk.id)?;
                    searcher.explain(&query, bm25, row).transpose()
                })
                .map(Option::transpose)
                .collect::<Result<Vec<_>, _>>()
        })?;
        for (at, (hit, words)) in hits.iter().zip(&words).enumerate() {
            let step = explain::hit(trace, at + 1, hit);
            if let Some(words) = words {
                explain::words(step, words);
            }
            if let Some(reranker) = &self.options.reranker {
                second::matches(step, &**reranker, question, hit)?;
            }
        }
        let tables = self.tables_on(snapshot, question, routes)?;
        tables::note(trace, &tables);
        Ok(())
    }

    /// Both routes on one snapshot, fused, looked at again by a reranker where there is one, cut at
    /// `k`.
    pub(crate) fn routes(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        k: usize,
    ) -> Result<Routes, RagError> {
        let mut routes = self.first_stage(snapshot, question, k)?;
        self.look_again(snapshot, question, &mut routes)?;
        Ok(routes)
    }

    /// As [`routes`](Self::routes), before any reranker.
    pub(crate) fn first_stage(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        k: usize,
    ) -> Result<Routes, RagError> {
        // Retrieve many, rerank, then cut: a pool of k could promote nothing into the first k.
        let pool = match self.options.reranker {
            Some(_) => k.max(self.options.pool),
            None => k,
        };
        let depth = self.options.depth.max(pool);
        // A thread of its own rather than one of rayon's: the dense route may wait for rayon while
        // it holds the connection that the sparse route reads from.
        let (dense, sparse) = self.side_by_side(snapshot, question, depth);
        let (query, dense) = dense?;
        let (rows, sparse) = sparse?;
        let fused = self.fuse(&dense, &sparse)?;
        let first = fused.ranking().iter().take(LEADS);
        let first = first.map(|hit| hit.id).collect();
        let fused = fused.top(pool);
        Ok(Routes {
            k,
            pool,
            depth,
            first,
            second: None,
            query,
            dense,
            sparse,
            rows,
            fused,
        })
    }

    /// Has the reranker, where there is one, look at the best of the first stage.
    pub(crate) fn look_again(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        routes: &mut Routes,
    ) -> Result<(), RagError> {
        routes.second = self.second_look(snapshot, question, &routes.fused)?;
        Ok(())
    }

    /// The chunks that are best by BM25 for one name of a question alone, with their places in the
    /// routes.
    pub(crate) fn naming(
        &self,
        snapshot: &Snapshot<'_>,
        name: &str,
        routes: &Routes,
    ) -> Result<Vec<Hit>, RagError> {
        let (_, ranking) = self.sparse(snapshot, name, NAMED)?;
        hits(snapshot, in_order(&ranking), |id, _, _| {
            let place = |ranking| Place::in_ranking(ranking, id);
            (place(&routes.dense), place(&routes.sparse))
        })
    }

    pub(crate) fn dense_anew(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        k: usize,
    ) -> Result<(Array1<f32>, Ranking<ChunkId>), RagError> {
        if snapshot.view().is_empty() {
            return Ok((Array1::zeros(0), Ranking::empty()));
        }
        let query = self.provider.embed_query(question)?;
        let ranking = snapshot.knn(query.view(), k)?;
        Ok((query, ranking))
    }

    pub(crate) fn sparse_anew(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        k: usize,
    ) -> Result<(Vec<TermRow>, Ranking<ChunkId>), RagError> {
        if snapshot.view().is_empty() {
            return Ok((Vec::new(), Ranking::empty()));
        }
        let query = Query::new(&self.options.tokenizer, question);
        let bm25 = &self.options.bm25;
        let rows = self
            .postings
            .with(snapshot, |searcher| searcher.search(&query, bm25, k))?;
        let ranking = Ranking::new(rows.iter().map(|hit| (chunk_of(&hit.id), hit.score)))?;
        Ok((rows.into_iter().map(|hit| hit.id).collect(), ranking))
    }

    pub(crate) fn fuse(
        &self,
        dense: &Ranking<ChunkId>,
        sparse: &Ranking<ChunkId>,
    ) -> Result<Fused<ChunkId>, RagError> {
        Ok(match &self.options.fusion {
            Fusion::Rrf {
                options,
                dense: a,
                sparse: b,
            } => rrf_fuse(
                &[Weighted::new(dense, *a), Weighted::new(sparse, *b)],
                *options,
            )?,
            Fusion::Convex {
                alpha,
                normalisation,
            } => convex_fuse(&dense_sparse(dense, sparse, *alpha)?, normalisation)?,
        })
    }
}

impl Found {
    /// As JSON, the same bytes for the same view.
    #[must_use]
    pub fn to_json(&self) -> String {
        crate::json(self)
    }
}

/// What the two routes gave, and what became of it.
pub(crate) struct Routes {
    k: usize,
    pool: usize,
    /// The first fused chunks, however few hits were asked for.
    first: Vec<ChunkId>,
    second: Option<SecondLook>,
    pub(crate) depth: usize,
    /// The question's vector; without places where nothing is visible.
    pub(crate) query: Array1<f32>,
    pub(crate) dense: Ranking<ChunkId>,
    pub(crate) sparse: Ranking<ChunkId>,
    rows: Vec<TermRow>,
    pub(crate) fused: Fused<ChunkId>,
}

impl Routes {
    /// The first [`LEADS`] chunks, or as many as there are, however few hits were asked for.
    pub(crate) fn leads(&self) -> Vec<ChunkId> {
        match &self.second {
            Some(second) => second.order().take(LEADS).map(|(id, _)| id).collect(),
            None => self.first.clone(),
        }
    }

    /// As [`leads`](Self::leads), in the order of the first stage.
    pub(crate) fn first(&self) -> &[ChunkId] {
        &self.first
    }

    /// The fused chunks, best first.
    pub(crate) fn hits(&self, snapshot: &Snapshot<'_>) -> Result<Vec<Hit>, RagError> {
        let places = |id: &ChunkId, _, _| {
            let mut shares = self.fused.shares(id).unwrap_or_default().iter();
            let mut next = || shares.next().copied().flatten().map(Place::of);
            (next(), next())
        };
        let Some(second) = &self.second else {
            return hits(
                snapshot,
                in_order(self.fused.ranking()).take(self.k),
                places,
            );
        };
        let mut hits = hits(snapshot, second.order().take(self.k), places)?;
        for hit in &mut hits {
            hit.second = second.of(&hit.chunk.id);
        }
        Ok(hits)
    }

    pub(crate) fn note(&self, trace: &mut Trace, index: &LiveRagIndex) {
        explain::route(trace, "dense", self.depth, &self.dense);
        explain::route(trace, "sparse", self.depth, &self.sparse);
        let kept = self.fused.ranking().len();
        explain::fusion(trace, &index.options.fusion, self.pool, kept);
        if let Some(second) = &self.second {
            second.note(trace, self.k);
        }
    }
}

impl Place {
    pub(crate) fn in_ranking(ranking: &Ranking<ChunkId>, id: &ChunkId) -> Option<Self> {
        let rank = ranking.rank_of(id)?;
        let score = ranking.as_slice().get(rank - 1)?.score;
        Some(Self {
            rank,
            score,
            share: None,
        })
    }

    fn of(share: Share) -> Self {
        Self {
            rank: share.rank,
            score: share.score,
            share: Some(share.value),
        }
    }
}

pub(crate) fn in_order(ranking: &Ranking<ChunkId>) -> impl Iterator<Item = (ChunkId, f64)> {
    ranking.iter().map(|hit| (hit.id, hit.score))
}

/// The chunks of a ranking, with their places in the routes.
pub(crate) fn hits(
    snapshot: &Snapshot<'_>,
    ranking: impl Iterator<Item = (ChunkId, f64)>,
    places: impl Fn(&ChunkId, usize, f64) -> (Option<Place>, Option<Place>),
) -> Result<Vec<Hit>, RagError> {
    let ranking: Vec<(ChunkId, f64)> = ranking.collect();
    let chunks = snapshot.chunks(ranking.iter().map(|(id, _)| id))?;
    let mut out = Vec::with_capacity(ranking.len());
    for (before, ((id, score), chunk)) in ranking.into_iter().zip(chunks).enumerate() {
        let (dense, sparse) = places(&id, before + 1, score);
        if let Some(chunk) = chunk {
            out.push(Hit {
                citation: chunk.citation(),
                chunk,
                score,
                dense,
                sparse,
                second: None,
            });
        }
    }
    Ok(out)
}

/// What one route found by itself.
fn by_one(
    snapshot: &Snapshot<'_>,
    route: &'static str,
    k: usize,
    ranking: &Ranking<ChunkId>,
    mut trace: Trace,
    places: impl Fn(Place) -> (Option<Place>, Option<Place>),
) -> Result<Found, RagError> {
    explain::route(&mut trace, route, k, ranking);
    let hits = hits(snapshot, in_order(ranking), |_, rank, score| {
        places(Place {
            rank,
            score,
            share: None,
        })
    })?;
    Ok(found(hits, trace))
}

pub(crate) fn found(hits: Vec<Hit>, mut trace: Trace) -> Found {
    for (at, hit) in hits.iter().enumerate() {
        explain::hit(&mut trace, at + 1, hit);
    }
    Found { hits, trace }
}
