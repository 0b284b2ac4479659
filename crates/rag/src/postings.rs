//! The sparse route's index: an artifact of the stored term counts, filled as views ask for it.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::{ChunkId, Fingerprint};
use cornu_sparse::{Bm25Index, DocumentRows, Row, Searcher, SparseError};
use cornu_store::{ChunkTerms, Snapshot};
use cornu_text::Tokenizer;
use parking_lot::{RwLock, RwLockWriteGuard};
use roaring::RoaringBitmap;

use crate::error::RagError;

/// Documents that may lie in the index without any view asking for them, before they are dropped.
const SLACK: u64 = 4096;

/// Views that are remembered as held, at 32 bytes each.
const VIEWS: usize = 4096;

/// A chunk in one version of its document. A view sees one version only, so equal scores stand in
/// the order of the chunks' ids and the ordinal, which depends on what else was ever written, never
/// decides anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TermRow {
    pub(crate) chunk: ChunkId,
    ordinal: u32,
}

/// Postings of the documents that somebody's view has held, under their ordinals. An ordinal names
/// one version of one document for ever, so what is here never goes stale; what no view holds any
/// more is dropped when it outweighs the rest. Statistics come from the view.
pub(crate) struct Postings {
    state: RwLock<State>,
    slack: u64,
}

struct State {
    index: Bm25Index<TermRow>,
    /// Documents whose terms are in the index.
    held: RoaringBitmap,
    /// Those of them that a view of the present epoch holds.
    wanted: RoaringBitmap,
    /// Digests of views of the present epoch whose documents are all held.
    ready: BTreeSet<[u8; 32]>,
}

impl Postings {
    pub(crate) fn new(tokenizer: &Fingerprint) -> Result<Self, SparseError> {
        let state = State {
            index: Bm25Index::build(tokenizer.clone(), [], 0)?,
            held: RoaringBitmap::new(),
            wanted: RoaringBitmap::new(),
            ready: BTreeSet::new(),
        };
        Ok(Self {
            state: RwLock::new(state),
            slack: SLACK,
        })
    }

    /// Runs the work over an index that holds at least what the snapshot sees, and that is ready to
    /// be searched with its view. O(log views) when the view was there before, otherwise O(its
    /// documents + the terms that are not there yet). The work must not wait for a thread that reads
    /// the snapshot.
    pub(crate) fn with<T>(
        &self,
        snapshot: &Snapshot<'_>,
        work: impl FnOnce(&Searcher<'_, TermRow>) -> T,
    ) -> Result<T, RagError> {
        let view = snapshot.view();
        {
            let state = self.state.read();
            if state.index.epoch() == view.epoch() && state.ready.contains(view.digest()) {
                return Ok(work(&state.index.searcher(view)?));
            }
        }
        let mut state = self.state.write();
        state.update(snapshot, self.slack)?;
        let state = RwLockWriteGuard::downgrade(state);
        Ok(work(&state.index.searcher(view)?))
    }
}

impl State {
    fn update(&mut self, snapshot: &Snapshot<'_>, slack: u64) -> Result<(), RagError> {
        let view = snapshot.view();
        let seen: RoaringBitmap = view.ordinals().collect();
        let moved = self.index.epoch() != view.epoch();
        let mut changes: Vec<DocumentRows<TermRow>> = Vec::new();
        let mut dropped = RoaringBitmap::new();
        if moved {
            let stale = &self.held - &(&self.wanted | &seen);
            if stale.len() > self.held.len() / 2 + slack {
                let empty = |document| DocumentRows {
                    document,
                    rows: Vec::new(),
                };
                changes.extend(stale.iter().map(empty));
                dropped = stale;
            }
        }
        let missing = &seen - &self.held;
        changes.extend(read(snapshot, &missing)?);
        if self.held.is_empty() {
            let tokenizer = self.index.tokenizer().clone();
            self.index = Bm25Index::build(tokenizer, changes, view.epoch())?;
        } else if moved || !changes.is_empty() {
            self.index.apply(changes, view.epoch())?;
        }
        if moved {
            self.wanted.clear();
            self.ready.clear();
        }
        self.held -= dropped;
        self.held |= missing;
        self.wanted |= seen;
        if self.ready.len() >= VIEWS {
            self.ready.clear();
        }
        self.ready.insert(*view.digest());
        Ok(())
    }
}

/// The terms of some documents that the snapshot sees, as rows.
fn read(
    snapshot: &Snapshot<'_>,
    ordinals: &RoaringBitmap,
) -> Result<Vec<DocumentRows<TermRow>>, RagError> {
    let mut rows: BTreeMap<u32, Vec<Row<TermRow>>> = BTreeMap::new();
    let mut wrong = None;
    snapshot.read_terms(ordinals, |terms| match decode(&terms) {
        Ok(row) => rows.entry(terms.ordinal).or_default().push(row),
        Err(error) => wrong = Some(error),
    })?;
    match wrong {
        Some(error) => Err(error.into()),
        None => Ok(rows
            .into_iter()
            .map(|(document, rows)| DocumentRows { document, rows })
            .collect()),
    }
}

/// The term under which a text's number of words is stored. No tokenizer gives an empty term.
const LENGTH: &str = "";

/// What is stored of a text for this route: its number of words, then its terms.
pub(crate) fn encode(tokenizer: &Tokenizer, text: &str) -> cornu_store::TermCounts {
    let counts = cornu_sparse::TermCounts::new(&tokenizer.tokens(text));
    let length = (LENGTH.to_owned(), counts.length());
    let terms = counts.iter().map(|(term, count)| (term.to_owned(), count));
    std::iter::once(length).chain(terms).collect()
}

fn decode(terms: &ChunkTerms) -> Result<Row<TermRow>, SparseError> {
    let (length, counts) = match terms.counts.split_first() {
        Some(((name, length), counts)) if name == LENGTH => (*length, counts),
        _ => (0, terms.counts.as_slice()),
    };
    let pairs = counts.iter().map(|(term, count)| (term, *count));
    Ok(Row {
        id: TermRow {
            chunk: terms.chunk,
            ordinal: terms.ordinal,
        },
        counts: cornu_sparse::TermCounts::from_pairs(length, pairs)?,
    })
}

/// The row of a chunk that the searcher's view holds.
pub(crate) fn chunk_of(row: &TermRow) -> ChunkId {
    row.chunk
}

/// The version of a document that the row stands for.
pub(crate) fn ordinal_of(row: &TermRow) -> u32 {
    row.ordinal
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cornu_core::{Acl, DocId, Document, Principal};
    use cornu_embed::HashEmbeddingProvider;

    use crate::{LiveRagIndex, RagOptions};

    #[test]
    fn what_no_view_holds_any_more_is_dropped_and_comes_back_when_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let provider = Arc::new(HashEmbeddingProvider::default());
        let mut index = LiveRagIndex::open(path, provider, RagOptions::default()).unwrap();
        index.postings.slack = 0;
        let write = |index: &LiveRagIndex, name: &str, grant: &str, text: &str| {
            let acl = Acl::new([grant]).unwrap();
            let document = Document::new(DocId::new(name).unwrap(), text, acl);
            index.ingest(&document).unwrap();
        };
        for at in 0..8 {
            write(&index, &format!("{at}.md"), "hr", "shared words of a page");
        }
        let hr = Principal::new(["hr"]).unwrap();
        let public = Principal::public();
        let found = |index: &LiveRagIndex, who: &Principal| {
            let found = index.search_sparse(who, "shared words", 100).unwrap();
            found.to_json()
        };
        let before = found(&index, &hr);
        assert_eq!(index.postings.state.read().held.len(), 8);
        // Two epochs in which only the public asks.
        for text in ["shared", "shared words"] {
            write(&index, "open.md", "public", text);
            found(&index, &public);
        }
        // Its page, and the version before, which was wanted until just now.
        assert_eq!(index.postings.state.read().held.len(), 2);
        assert_eq!(found(&index, &hr), before);
        assert_eq!(index.postings.state.read().held.len(), 10);
    }
}
