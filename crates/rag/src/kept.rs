//! What the two routes gave, kept for those who ask the same again.
//!
//! Only the routes' lists are kept: ids, scores, and the question's vector. Fusion, evidence,
//! thresholds and refusals are computed each time, and texts are read under the asker's view.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cornu_core::{ChunkId, Fingerprint, Ranking, View};
use cornu_pool::{
    CacheKey, CacheMetrics, CacheOptions, Scope, SemanticVectorCache, Weigh, normalised,
};
use cornu_store::Snapshot;
use ndarray::Array1;

use crate::error::RagError;
use crate::index::LiveRagIndex;
use crate::options::RagOptions;
use crate::postings::{TermRow, ordinal_of};

/// Documents of a view. Below, BM25 takes about as long as a thread takes to start: some 50 µs.
pub(crate) const WORTH_A_THREAD: u64 = 20_000;

/// The question's vector, and what is near it.
pub(crate) type Dense = (Array1<f32>, Ranking<ChunkId>);
/// The rows that hold the question's words, and their ranking.
pub(crate) type Sparse = (Vec<TermRow>, Ranking<ChunkId>);

/// One cache for each route, of one index: nothing is shared between two.
pub(crate) struct Keeper {
    dense: SemanticVectorCache<Kept<Dense>>,
    sparse: SemanticVectorCache<Kept<Sparse>>,
    /// Model, chunker and tokenizer.
    built_with: Arc<Fingerprint>,
    dense_settings: Arc<Fingerprint>,
    sparse_settings: Arc<Fingerprint>,
}

/// What a route found.
struct Kept<T> {
    found: T,
    /// The documents of what was found, by ordinal.
    documents: Vec<u32>,
}

impl Keeper {
    pub(crate) fn new(cache: &CacheOptions, built_with: Fingerprint, options: &RagOptions) -> Self {
        // Half of the bytes for each; and no similarity between words.
        let half = CacheOptions {
            bytes: cache.bytes / 2,
            ..cache.clone()
        };
        let exact = CacheOptions {
            similar: None,
            ..half.clone()
        };
        let dense_settings = Fingerprint::new("dense");
        let sparse_settings = Fingerprint::new("sparse")
            .with("bm25", format!("{:?}", options.bm25))
            .with("tokenizer", options.tokenizer.fingerprint());
        Self {
            dense: SemanticVectorCache::new(&half),
            sparse: SemanticVectorCache::new(&exact),
            built_with: Arc::new(built_with),
            dense_settings: Arc::new(dense_settings),
            sparse_settings: Arc::new(sparse_settings),
        }
    }

    fn dense_key(&self, view: &View, question: &str, k: usize) -> CacheKey {
        let scope = Scope::new(view, &self.built_with, k, &self.dense_settings);
        CacheKey::new(scope, question)
    }

    fn sparse_key(&self, view: &View, question: &str, k: usize) -> CacheKey {
        let scope = Scope::new(view, &self.built_with, k, &self.sparse_settings);
        CacheKey::new(scope, question)
    }
}

impl LiveRagIndex {
    /// What the caches of the dense and of the sparse route have done; `None` where
    /// [`RagOptions::cache`] is. For the index's owner: the counts tell what others asked.
    #[must_use]
    pub fn cache_metrics(&self) -> Option<(CacheMetrics, CacheMetrics)> {
        let kept = self.kept.as_ref()?;
        Some((kept.dense.metrics(), kept.sparse.metrics()))
    }

    /// Forgets every question that was asked and what was found for it. Results that are no longer
    /// true need no such call: a commit leaves them behind.
    pub fn forget_questions(&self) {
        if let Some(kept) = &self.kept {
            kept.dense.clear();
            kept.sparse.clear();
        }
    }

    /// The dense route, by the cache if there is one.
    pub(crate) fn dense(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        k: usize,
    ) -> Result<Dense, RagError> {
        let view = snapshot.view();
        let question = &*normalised(question);
        let Some(kept) = self.kept.as_ref().filter(|_| !view.is_empty()) else {
            return self.dense_anew(snapshot, question, k);
        };
        let key = kept.dense_key(view, question, k);
        let seen = |kept: &Kept<Dense>| kept.is_seen_in(view);
        let mut own = false;
        let value = kept.dense.get_or_compute(&key, self.patience(), seen, || {
            let found = match kept.dense.options().similar {
                None => self.dense_anew(snapshot, question, k)?,
                Some(_) => {
                    let query = self.provider.embed_query(question)?;
                    match similar(kept, snapshot, &key, &query)? {
                        Some(ranking) => (query, ranking),
                        None => {
                            own = true;
                            let ranking = snapshot.knn(query.view(), k)?;
                            (query, ranking)
                        }
                    }
                }
            };
            // The check of a later hit. What was found just now is seen, all of it.
            let documents = snapshot.ordinals_of(found.1.ids())?.unwrap_or_default();
            Ok::<_, RagError>(Kept { found, documents })
        })?;
        // Only what was found for the question itself is lent to others.
        if own && let Some(vector) = value.found.0.as_slice() {
            kept.dense.introduce(&key, vector);
        }
        Ok(value.found.clone())
    }

    /// The sparse route, by the cache if there is one.
    pub(crate) fn sparse(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        k: usize,
    ) -> Result<Sparse, RagError> {
        let view = snapshot.view();
        let question = &*normalised(question);
        let Some(kept) = self.kept.as_ref().filter(|_| !view.is_empty()) else {
            return self.sparse_anew(snapshot, question, k);
        };
        let key = kept.sparse_key(view, question, k);
        let seen = |kept: &Kept<Sparse>| kept.is_seen_in(view);
        let value = kept
            .sparse
            .get_or_compute(&key, self.patience(), seen, || {
                let found = self.sparse_anew(snapshot, question, k)?;
                let mut documents: Vec<u32> = found.0.iter().map(ordinal_of).collect();
                documents.sort_unstable();
                documents.dedup();
                Ok::<_, RagError>(Kept { found, documents })
            })?;
        Ok(value.found.clone())
    }

    /// Both routes on one snapshot: at the same time where that pays, and to the same bytes.
    pub(crate) fn side_by_side(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        k: usize,
    ) -> (Result<Dense, RagError>, Result<Sparse, RagError>) {
        // For what is there already a thread costs more than the look-up.
        if let Some(kept) = &self.kept {
            let view = snapshot.view();
            let key = kept.sparse_key(view, question, k);
            if let Some(sparse) = kept.sparse.get(&key, |kept| kept.is_seen_in(view)) {
                let dense = self.dense(snapshot, question, k);
                return (dense, Ok(sparse.found.clone()));
            }
        }
        if !self.has_a_thread_for(snapshot.view()) {
            let dense = self.dense(snapshot, question, k);
            return (dense, self.sparse(snapshot, question, k));
        }
        thread::scope(|scope| {
            let sparse = scope.spawn(|| self.sparse(snapshot, question, k));
            let dense = self.dense(snapshot, question, k);
            let sparse = sparse.join().unwrap_or_else(|panic| resume_unwind(panic));
            (dense, sparse)
        })
    }

    /// Whether the sparse route of a search takes longer than a thread takes to start, and there is
    /// a core for it: one for each search that is under way, and this one.
    fn has_a_thread_for(&self, view: &View) -> bool {
        let cores = rayon::current_num_threads();
        let searches = self.store.metrics().readers.in_use;
        view.len() >= self.worth_a_thread && 2 * searches <= cores
    }

    /// How long another's computation is waited for. On a thread of rayon's it is not: that
    /// computation may need the thread.
    fn patience(&self) -> Duration {
        match rayon::current_thread_index() {
            Some(_) => Duration::ZERO,
            None => self.options.store.pool_timeout,
        }
    }
}

/// The candidates of a similar question in the order of this one's cosines, if there is one that
/// may lend them.
fn similar(
    kept: &Keeper,
    snapshot: &Snapshot<'_>,
    key: &CacheKey,
    query: &Array1<f32>,
) -> Result<Option<Ranking<ChunkId>>, RagError> {
    let seen = |kept: &Kept<Dense>| kept.is_seen_in(snapshot.view());
    let lent = query
        .as_slice()
        .and_then(|vector| kept.dense.similar(key, vector, seen));
    let Some(lent) = lent else {
        return Ok(None);
    };
    Ok(Some(snapshot.score(query.view(), lent.found.1.ids())?))
}

impl<T> Kept<T> {
    fn is_seen_in(&self, view: &View) -> bool {
        self.documents.iter().all(|&one| view.contains(one))
    }
}

impl Weigh for Kept<Dense> {
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of::<f32>() * self.found.0.len()
            + size_of::<(ChunkId, f64)>() * self.found.1.len()
            + size_of::<u32>() * self.documents.capacity()
    }
}

impl Weigh for Kept<Sparse> {
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of::<TermRow>() * self.found.0.capacity()
            + size_of::<(ChunkId, f64)>() * self.found.1.len()
            + size_of::<u32>() * self.documents.capacity()
    }
}

#[cfg(test)]
mod tests {
    use cornu_core::{Acl, DocId, Document, Principal};
    use cornu_embed::HashEmbeddingProvider;

    use super::*;

    /// With a thread for the sparse route and without, one search alone and many at once.
    #[test]
    fn no_byte_depends_on_threads() {
        let folder = tempfile::tempdir().unwrap();
        let provider = Arc::new(HashEmbeddingProvider::default());
        let path = folder.path().join("index.db");
        let mut index = LiveRagIndex::open(path, provider, RagOptions::default()).unwrap();
        for at in 0..12 {
            let text = format!("gradients are cleared in step {at}\n");
            let name = DocId::new(&format!("{at}.md")).unwrap();
            let document = Document::new(name, text, Acl::public());
            index.ingest(&document).unwrap();
        }
        let who = Principal::public();
        let ask = |index: &LiveRagIndex| {
            let found = index.search_hybrid(&who, "which step clears gradients", 5);
            found.unwrap().to_json()
        };
        let alone = {
            let snapshot = index.snapshot(&who).unwrap();
            assert!(!index.has_a_thread_for(snapshot.view()));
            ask(&index)
        };
        index.worth_a_thread = 0;
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool(4).build().unwrap().install(|| {
            let snapshot = index.snapshot(&who).unwrap();
            assert!(index.has_a_thread_for(snapshot.view()));
            drop(snapshot);
            assert_eq!(ask(&index), alone);
        });
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| (0..5).for_each(|_| assert_eq!(ask(&index), alone)));
            }
        });
    }
}
