//! The index.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use cornu_core::{DocId, EmbeddingProvider, FactStore, Fingerprint, Principal, Ranking};
use cornu_store::{Snapshot, SqliteVecStore};

use crate::error::RagError;
use crate::kept::{Keeper, WORTH_A_THREAD};
use crate::multihop::Graphs;
use crate::options::RagOptions;
use crate::postings::Postings;

/// Documents in, cited evidence or a refusal out.
///
/// Any number of threads may share it: questions are answered from one committed state each, while
/// others write. Every question is asked as a [`Principal`]; what that principal may not see has no
/// influence on any byte of what they get.
///
/// See the [crate](crate) for an example, and each method for its cost.
pub struct LiveRagIndex {
    pub(crate) store: SqliteVecStore,
    pub(crate) provider: Arc<dyn EmbeddingProvider>,
    pub(crate) options: RagOptions,
    pub(crate) postings: Postings,
    pub(crate) graphs: Graphs,
    pub(crate) kept: Option<Keeper>,
    /// Documents of a view from which on the sparse route gets a thread, where a core is free.
    pub(crate) worth_a_thread: u64,
}

impl LiveRagIndex {
    /// Opens the index at `path`, and creates it when it is not there and may be written.
    ///
    /// # Errors
    /// [`RagError`]: an index that was built with another model, chunker or tokenizer (the message
    /// says what differs), a damaged or newer file, options that contradict each other. The file is
    /// not changed by any of these.
    pub fn open(
        path: impl AsRef<Path>,
        provider: Arc<dyn EmbeddingProvider>,
        options: RagOptions,
    ) -> Result<Self, RagError> {
        options.check()?;
        let fingerprint = provider
            .fingerprint()
            .clone()
            .with("index.chunker", options.chunker.fingerprint())
            .with("index.tokenizer", options.tokenizer.fingerprint());
        let store = SqliteVecStore::open(path, &fingerprint, provider.dimension(), &options.store)?;
        let kept = options
            .cache
            .as_ref()
            .map(|cache| Keeper::new(cache, fingerprint, &options));
        let postings = Postings::new(&store)?;
        let graphs = Graphs::new(options.graph);
        let index = Self {
            kept,
            store,
            provider,
            options,
            postings,
            graphs,
            worth_a_thread: WORTH_A_THREAD,
        };
        // Weights that no fusion takes are better found now than at the first question.
        index.fuse(&Ranking::empty(), &Ranking::empty())?;
        Ok(index)
    }

    /// Removes a document and all that is derived from it; `false` when it was not there.
    ///
    /// # Errors
    /// [`RagError::Store`].
    pub fn remove(&self, doc: &DocId) -> Result<bool, RagError> {
        Ok(self.store.remove(doc)?)
    }

    /// The documents that the principal sees, in order of name.
    ///
    /// # Errors
    /// [`RagError::Store`].
    pub fn documents(&self, principal: &Principal) -> Result<Vec<DocId>, RagError> {
        Ok(self.snapshot(principal)?.documents()?)
    }

    /// The database below: statistics, `doctor`, rebuilding. For the index's owner; it tells about
    /// all documents.
    #[must_use]
    pub fn store(&self) -> &SqliteVecStore {
        &self.store
    }

    /// The model that the vectors come from, without what the index adds to its name.
    #[must_use]
    pub fn provider(&self) -> &Fingerprint {
        self.provider.fingerprint()
    }

    /// How the index was opened.
    #[must_use]
    pub fn options(&self) -> &RagOptions {
        &self.options
    }

    pub(crate) fn snapshot(&self, principal: &Principal) -> Result<Snapshot<'_>, RagError> {
        Ok(self.store.snapshot(principal)?)
    }
}

impl fmt::Debug for LiveRagIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveRagIndex")
            .field("store", &self.store)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
