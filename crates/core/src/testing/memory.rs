//! The reference store: what a [`FactStore`] has to answer, in the shortest exact form.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use ndarray::ArrayView1;

use crate::acl::Principal;
use crate::chunk::Chunk;
use crate::id::{ChunkId, DocId};
use crate::ranking::{Ranking, RankingError};
use crate::store::{Change, DocumentFacts, FactStore};
use crate::view::{View, ViewEntry};

/// By how much the norm of a row may differ from 1.
const UNIT_TOLERANCE: f64 = 1e-5;

/// The executable specification of [`FactStore`], exact and in memory: a control for
/// [`check_store`](super::conformance::check_store), and a store for the tests of what stands
/// above.
///
/// Any number of threads may share it. A view is valid until the next write that changes
/// something; after it, reading under the view is [`MemoryStoreError::Outdated`].
///
/// Cost: memory is that of the facts. `upsert` O(chunks of the document · D), `view`
/// O(documents), `chunk` O(chunks seen), `knn` O(chunks seen · (D + log chunks)), each call
/// under one lock.
///
/// ```
/// use cornu_core::testing::MemoryStore;
/// use cornu_core::{FactStore, Principal};
///
/// let store = MemoryStore::new(2);
/// let view = store.view(&Principal::public())?;
/// assert!(store.knn(&view, ndarray::aview1(&[1.0, 0.0]), 10)?.is_empty());
/// assert!(store.knn(&view, ndarray::aview1(&[0.0, 0.0]), 10).is_err());
/// # Ok::<(), cornu_core::testing::MemoryStoreError>(())
/// ```
#[derive(Debug)]
pub struct MemoryStore {
    dimension: usize,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    epoch: u64,
    documents: BTreeMap<DocId, DocumentFacts>,
}

impl MemoryStore {
    /// An empty store for vectors of shape (`dimension`).
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            state: RwLock::default(),
        }
    }

    /// The present state. A state is changed only after everything was checked, so one that a
    /// panicking thread left behind is whole.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, change: impl FnOnce(&mut State) -> bool) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if change(&mut state) {
            state.epoch += 1;
        }
    }

    fn check_facts(&self, facts: &DocumentFacts) -> Result<(), MemoryStoreError> {
        let doc = || facts.doc.clone();
        let (rows, columns) = facts.vectors.dim();
        if columns != self.dimension {
            return Err(MemoryStoreError::Dimension {
                what: format!("the vectors of {}", facts.doc),
                expected: self.dimension,
                found: columns,
            });
        }
        let chunks = facts.indexed().count();
        if rows != chunks {
            let doc = doc();
            return Err(MemoryStoreError::RowCount { doc, rows, chunks });
        }
        for (row, vector) in facts.vectors.rows().into_iter().enumerate() {
            let norm = dot(&vector, &vector).sqrt();
            if !norm.is_finite() || (norm - 1.0).abs() > UNIT_TOLERANCE {
                let doc = doc();
                return Err(MemoryStoreError::NotUnit { doc, row, norm });
            }
        }
        let mut ids = BTreeSet::new();
        for chunk in &facts.chunks {
            if chunk.doc != facts.doc || !ids.insert(chunk.id) {
                return Err(MemoryStoreError::Chunk {
                    doc: doc(),
                    chunk: chunk.id,
                });
            }
        }
        Ok(())
    }
}

impl State {
    /// The documents that the view holds, in order of name. A document's ordinal is its place
    /// among all names, so a view means something in its own epoch only.
    fn seen(&self, view: &View) -> Result<Vec<&DocumentFacts>, MemoryStoreError> {
        if view.epoch() != self.epoch {
            return Err(MemoryStoreError::Outdated {
                view: view.epoch(),
                store: self.epoch,
            });
        }
        let numbered = (0..=u32::MAX).zip(self.documents.values());
        let seen = numbered.filter(|(ordinal, _)| view.contains(*ordinal));
        Ok(seen.map(|(_, facts)| facts).collect())
    }
}

impl FactStore for MemoryStore {
    type Error = MemoryStoreError;

    fn upsert(&self, facts: &DocumentFacts) -> Result<Change, MemoryStoreError> {
        self.check_facts(facts)?;
        let mut change = Change::Unchanged;
        self.write(|state| {
            if state.documents.get(&facts.doc) == Some(facts) {
                return false;
            }
            change = match state.documents.insert(facts.doc.clone(), facts.clone()) {
                None => Change::Inserted,
                Some(_) => Change::Replaced,
            };
            true
        });
        Ok(change)
    }

    fn remove(&self, doc: &DocId) -> Result<bool, MemoryStoreError> {
        let mut removed = false;
        self.write(|state| {
            removed = state.documents.remove(doc).is_some();
            removed
        });
        Ok(removed)
    }

    fn view(&self, principal: &Principal) -> Result<View, MemoryStoreError> {
        let state = self.read();
        let numbered = (0..=u32::MAX).zip(&state.documents);
        let entries = numbered.map(|(ordinal, (id, facts))| ViewEntry {
            ordinal,
            id,
            content: &facts.content,
            acl: &facts.acl,
        });
        Ok(View::resolve(principal, state.epoch, entries))
    }

    fn documents(&self, view: &View) -> Result<Vec<DocId>, MemoryStoreError> {
        let state = self.read();
        let seen = state.seen(view)?;
        Ok(seen.into_iter().map(|facts| facts.doc.clone()).collect())
    }

    fn chunk(&self, view: &View, id: &ChunkId) -> Result<Option<Chunk>, MemoryStoreError> {
        let state = self.read();
        let mut chunks = state
            .seen(view)?
            .into_iter()
            .flat_map(|facts| &facts.chunks);
        Ok(chunks.find(|chunk| chunk.id == *id).cloned())
    }

    fn knn(
        &self,
        view: &View,
        query: ArrayView1<'_, f32>,
        k: usize,
    ) -> Result<Ranking<ChunkId>, MemoryStoreError> {
        if query.len() != self.dimension {
            return Err(MemoryStoreError::Dimension {
                what: "the query".to_owned(),
                expected: self.dimension,
                found: query.len(),
            });
        }
        let query_norm = dot(&query, &query).sqrt();
        if !(query_norm.is_finite() && query_norm > 0.0) {
            return Err(MemoryStoreError::NoDirection);
        }
        let state = self.read();
        let hits = state.seen(view)?.into_iter().flat_map(|facts| {
            facts
                .indexed()
                .zip(facts.vectors.rows())
                .map(|(chunk, row)| {
                    let cosine = dot(&query, &row) / (query_norm * dot(&row, &row).sqrt());
                    (chunk.id, cosine.clamp(-1.0, 1.0))
                })
        });
        Ok(Ranking::new(hits)?.top(k))
    }
}

/// The inner product, summed in f64 from the first component to the last: the same bits for the
/// same pair, whatever else the store holds.
fn dot(a: &ArrayView1<'_, f32>, b: &ArrayView1<'_, f32>) -> f64 {
    let products = a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y));
    products.sum()
}

/// Why a [`MemoryStore`] refused.
///
/// ```
/// use cornu_core::testing::{MemoryStore, MemoryStoreError};
/// use cornu_core::{FactStore, Principal};
///
/// let store = MemoryStore::new(2);
/// let view = store.view(&Principal::public())?;
/// let error = store.knn(&view, ndarray::aview1(&[1.0]), 1).unwrap_err();
/// assert!(matches!(error, MemoryStoreError::Dimension { expected: 2, found: 1, .. }));
/// # Ok::<(), MemoryStoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryStoreError {
    /// Vectors of another length.
    #[error("{what}: dimension {found}, the store holds {expected}; use the store's own embedder")]
    Dimension {
        /// What has the wrong dimension.
        what: String,
        /// The store's dimension.
        expected: usize,
        /// The dimension given.
        found: usize,
    },
    /// Not one row for each indexed chunk.
    #[error("{doc} has {rows} vectors for {chunks} indexed chunks; give one row for each")]
    RowCount {
        /// The document.
        doc: DocId,
        /// Rows given.
        rows: usize,
        /// Chunks to be searched.
        chunks: usize,
    },
    /// A row that is not a unit vector.
    #[error("{doc}, vector {row}: norm {norm}, not 1; normalise before writing")]
    NotUnit {
        /// The document.
        doc: DocId,
        /// Row, from 0.
        row: usize,
        /// Its L2 norm; NaN or infinite when a component is.
        norm: f64,
    },
    /// A chunk of another document, or two chunks with one id.
    #[error("{doc}: the chunk {chunk} belongs to another document or comes twice; chunk it again")]
    Chunk {
        /// The document.
        doc: DocId,
        /// The chunk.
        chunk: ChunkId,
    },
    /// The store has changed since the view was made.
    #[error("the view is of epoch {view}, the store of epoch {store}; ask for a new view")]
    Outdated {
        /// The view's epoch.
        view: u64,
        /// The store's epoch.
        store: u64,
    },
    /// A query that is zero or not finite.
    #[error("the query vector is zero or not finite; check the embedder")]
    NoDirection,
    /// Two documents brought a chunk of one id.
    #[error("the hits are no ranking: {0}")]
    Ranking(#[from] RankingError),
}
