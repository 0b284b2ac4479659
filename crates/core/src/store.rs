//! Facts in; facts and nearest neighbours, under a view, out.

use ndarray::{Array2, ArrayView1};

use crate::acl::{Acl, Principal};
use crate::chunk::Chunk;
use crate::id::{ChunkId, ContentHash, DocId};
use crate::ranking::Ranking;
use crate::view::View;

/// All that an index knows of one document: written together, replaced together.
///
/// ```
/// use cornu_core::{Acl, ContentHash, DocId, DocumentFacts};
///
/// let facts = DocumentFacts {
///     doc: DocId::new("empty.md")?,
///     content: ContentHash::of(b""),
///     acl: Acl::public(),
///     chunks: vec![],
///     vectors: ndarray::Array2::zeros((0, 384)),
/// };
/// assert_eq!(facts.indexed().count(), 0);
/// # Ok::<(), cornu_core::IdError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentFacts {
    /// The document.
    pub doc: DocId,
    /// Of its source.
    pub content: ContentHash,
    /// Who may see it, and all that is derived from it.
    pub acl: Acl,
    /// Its chunks, parents among them, in document order.
    pub chunks: Vec<Chunk>,
    /// Shape (n, D): row i belongs to the i-th chunk that is indexed. Rows have L2 norm 1.
    pub vectors: Array2<f32>,
}

impl DocumentFacts {
    /// The chunks that are indexed, in the order of the rows of `vectors`.
    pub fn indexed(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().filter(|chunk| chunk.role.is_indexed())
    }
}

/// What an upsert did.
///
/// ```
/// assert_ne!(cornu_core::Change::Unchanged, cornu_core::Change::Inserted);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The document was not there.
    Inserted,
    /// It was there with other facts, all of which are gone.
    Replaced,
    /// It was there with the same facts.
    Unchanged,
}

/// What the rest of Cornu needs of a store.
///
/// Every reading call takes a [`View`]; what the view does not hold is absent: from results, from
/// counts, from the choice of which ties make the cut. The suite `check_store` of the module
/// `testing` (feature `proptest`) checks any implementation against an oracle, over random
/// histories in which hidden documents resemble visible ones as closely as they can.
pub trait FactStore: Send + Sync {
    /// What can go wrong.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Writes all facts of a document in one step, in place of those it had.
    ///
    /// # Errors
    /// Wrong dimension, a row that is not a unit vector (within 1e-5), a row count that does not
    /// match, a chunk of another document, two chunks of one id; then nothing is written.
    fn upsert(&self, facts: &DocumentFacts) -> Result<Change, Self::Error>;

    /// Removes a document and all that is derived from it; `false` when it was not there.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn remove(&self, doc: &DocId) -> Result<bool, Self::Error>;

    /// What the principal sees of the present state.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn view(&self, principal: &Principal) -> Result<View, Self::Error>;

    /// The documents that the view holds, in order of name.
    ///
    /// # Errors
    /// When the store cannot be read, or has moved on from the view's epoch and kept no snapshot.
    fn documents(&self, view: &View) -> Result<Vec<DocId>, Self::Error>;

    /// A chunk by its id; `None` alike when it does not exist and when the view does not hold it.
    ///
    /// # Errors
    /// As [`documents`](Self::documents).
    fn chunk(&self, view: &View, id: &ChunkId) -> Result<Option<Chunk>, Self::Error>;

    /// The `k` indexed chunks of the view nearest to a query of shape (D), exactly: cosine
    /// similarity descending, then id ascending; `min(k, visible)` entries.
    ///
    /// # Errors
    /// As [`documents`](Self::documents), and for a query of another dimension or no direction.
    /// Any `k` and any length of the query will do.
    fn knn(
        &self,
        view: &View,
        query: ArrayView1<'_, f32>,
        k: usize,
    ) -> Result<Ranking<ChunkId>, Self::Error>;
}
