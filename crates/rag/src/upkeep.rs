//! What an owner does with an index as a whole, artifacts included. None of it needs a model, all of
//! it sees all documents.
//!
//! An index has three artifacts: the `.vec` file, the `vec0` table and the `.postings` file. Each is
//! derived from the facts, brought up to date before it is read, and may be deleted at any time.

use cornu_store::{Check, Finding, SqliteVecStore, StoreError};

use crate::error::RagError;
use crate::index::LiveRagIndex;
use crate::postings;

/// Brings the artifacts up to date where that is worth it, as a writer should when it has finished:
/// then the next process answers its first question without delay.
///
/// O(vectors + postings) when much has changed, O(documents) when little has.
///
/// # Errors
/// [`RagError::Store`] when the index is read-only or cannot be written; it can still be searched.
///
/// ```
/// # use std::sync::Arc;
/// use cornu::{Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, RagOptions, upkeep};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("index.db");
/// let provider = Arc::new(HashEmbeddingProvider::default());
/// let index = LiveRagIndex::open(path, provider, RagOptions::default())?;
/// index.ingest(&Document::new(DocId::new("a.md")?, "some words", Acl::public()))?;
/// upkeep::prepare(index.store())?;
/// assert!(index.store().stats()?.postings_bytes > 0);
/// assert_eq!(upkeep::doctor(index.store())?, []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prepare(store: &SqliteVecStore) -> Result<(), RagError> {
    store.prepare()?;
    postings::prepare(store).map(drop)
}

/// Writes all artifacts anew from the facts.
///
/// # Errors
/// As [`prepare`].
pub fn rebuild(store: &SqliteVecStore) -> Result<(), RagError> {
    store.rebuild_index()?;
    postings::rebuild(store)
}

/// Checks all that [`SqliteVecStore::doctor`] does, and that the file of postings holds what the
/// stored terms say; an empty list is a clean bill.
///
/// For the latter the file that the facts give is written again, without a name, beside the index or,
/// where that may not be written, in the system's folder for temporary files: free space as large as
/// the file, twice that where documents of it are gone, and memory as for [`prepare`].
///
/// # Errors
/// As there.
pub fn doctor(store: &SqliteVecStore) -> Result<Vec<Finding>, StoreError> {
    let mut findings = store.doctor()?;
    let detail = match postings::check(store) {
        Ok(detail) => detail,
        Err(error) => Some(error.to_string()),
    };
    findings.extend(detail.map(|detail| Finding {
        check: Check::Postings,
        detail,
    }));
    Ok(findings)
}

impl LiveRagIndex {
    /// [`upkeep::prepare`](prepare), after which this index reads from what it wrote.
    ///
    /// # Errors
    /// As there.
    pub fn prepare(&self) -> Result<(), RagError> {
        self.store.prepare()?;
        if postings::prepare(&self.store)? {
            self.postings.reopen()?;
        }
        Ok(())
    }
}
