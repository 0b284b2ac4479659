//! The sparse route's index: an artifact of the stored term counts, filled as views ask for it.

mod file;

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::{ChunkId, Fingerprint, View};
use cornu_sparse::{Bm25Index, DocumentRows, Row, Searcher, SparseError};
use cornu_store::{ArtifactFile, ChunkTerms, Snapshot, SqliteVecStore, StoreError};
use cornu_text::Tokenizer;
use parking_lot::{RwLock, RwLockWriteGuard};
use roaring::RoaringBitmap;

use crate::error::RagError;

pub(crate) use self::file::{check, prepare, rebuild};

/// Documents that may lie in memory without any view asking for them, before they are dropped.
const SLACK: u64 = 4096;

/// Views that are remembered as held, at 32 bytes each.
const VIEWS: usize = 4096;

/// A chunk in one version of its document: its id as eight big-endian numbers, and the version's
/// ordinal. So the order is that of the chunks' ids, and the row is its own bytes in a file.
///
/// A view sees one version only, so equal scores stand in the order of the chunks' ids and the
/// ordinal, which depends on what else was ever written, never decides anything.
pub(crate) type TermRow = [u32; 9];

/// Postings of the documents of the artifact's file, and of those that somebody's view has held
/// since, under their ordinals. An ordinal names one version of one document for ever, so what is
/// here never goes stale; what no view holds any more is dropped when it outweighs the rest, but
/// for what lies in the file. Statistics come from the view.
pub(crate) struct Postings {
    state: RwLock<State>,
    file: ArtifactFile,
    owner: [u8; 32],
    slack: u64,
}

struct State {
    index: Bm25Index<TermRow>,
    /// The name of the state whose number the index bears; none before any view was asked for.
    at: Option<[u8; 16]>,
    /// Whether the file was looked for.
    opened: bool,
    /// Documents whose terms are in the index.
    held: RoaringBitmap,
    /// Those of them that lie in the file.
    filed: RoaringBitmap,
    /// Those of them that a view which stood at the index's epoch holds.
    wanted: RoaringBitmap,
    /// Digests of views that stood at the index's epoch and whose documents are all held. Names are
    /// unique in one state, so there a digest means one set of ordinals.
    ready: BTreeSet<[u8; 32]>,
}

impl Postings {
    pub(crate) fn new(store: &SqliteVecStore) -> Result<Self, SparseError> {
        Ok(Self {
            state: RwLock::new(State::new(file::tokenizer(store))?),
            file: file::of(store),
            owner: store.owner(),
            slack: SLACK,
        })
    }

    /// Runs the work over an index that holds at least what the snapshot sees, and that is ready to
    /// be searched with its view. O(log views) when the view was there before, whatever was committed
    /// since that the asker does not see; otherwise O(rows), and the terms that are neither here nor
    /// in the file are read. The work must not wait for a
    /// thread that reads the snapshot.
    ///
    /// A damaged file is not believed: the work is done again over an index from the facts.
    pub(crate) fn with<T>(
        &self,
        snapshot: &Snapshot<'_>,
        work: impl Fn(&Searcher<'_, TermRow>) -> Result<T, SparseError>,
    ) -> Result<T, RagError> {
        match self.attempt(snapshot, &work) {
            Err(RagError::Sparse(SparseError::Damaged)) => {
                self.file.discard();
                self.state.write().reset(true)?;
                self.attempt(snapshot, &work)
            }
            result => result,
        }
    }

    /// Lets go of what is in memory, so that the next question opens the file anew.
    pub(crate) fn reopen(&self) -> Result<(), SparseError> {
        self.state.write().reset(false)
    }

    fn attempt<T>(
        &self,
        snapshot: &Snapshot<'_>,
        work: impl Fn(&Searcher<'_, TermRow>) -> Result<T, SparseError>,
    ) -> Result<T, RagError> {
        let view = snapshot.view();
        {
            let state = self.state.read();
            let is_ready = state.stands_for(view) && state.ready.contains(view.digest());
            if is_ready && state.leads_to(snapshot)? {
                return Ok(work(&state.index.searcher(view)?)?);
            }
        }
        let mut state = self.state.write();
        if state.stands_for(view) && !state.leads_to(snapshot)? {
            // Another database in this one's place: its ordinals mean other versions.
            state.reset(false)?;
        }
        if !state.opened {
            state.open(&self.file, &self.owner, snapshot)?;
        }
        state.update(snapshot, self.slack)?;
        let state = RwLockWriteGuard::downgrade(state);
        Ok(work(&state.index.searcher(view)?)?)
    }
}

impl State {
    fn new(tokenizer: Fingerprint) -> Result<Self, SparseError> {
        Ok(Self {
            index: Bm25Index::build(tokenizer, [], 0)?,
            at: None,
            opened: false,
            held: RoaringBitmap::new(),
            filed: RoaringBitmap::new(),
            wanted: RoaringBitmap::new(),
            ready: BTreeSet::new(),
        })
    }

    fn reset(&mut self, opened: bool) -> Result<(), SparseError> {
        *self = Self {
            opened,
            ..Self::new(self.index.tokenizer().clone())?
        };
        Ok(())
    }

    /// Whether the view's documents stood at the index's epoch.
    fn stands_for(&self, view: &View) -> bool {
        self.at.is_some() && view.stood_at(self.index.epoch())
    }

    /// Whether the snapshot's state is the index's, or came from it.
    fn leads_to(&self, snapshot: &Snapshot<'_>) -> Result<bool, StoreError> {
        let epoch = self.index.epoch();
        self.at.map_or(Ok(true), |at| snapshot.follows(epoch, at))
    }

    /// Begins with what lies in the file and still is, or is again, a version of a document.
    fn open(
        &mut self,
        file: &ArtifactFile,
        owner: &[u8; 32],
        snapshot: &Snapshot<'_>,
    ) -> Result<(), RagError> {
        self.opened = true;
        let Some((mut index, origin)) = file::open(file, self.index.tokenizer(), owner) else {
            return Ok(());
        };
        let mut there: RoaringBitmap = ordinals(&origin.documents);
        if origin.state != snapshot.state() {
            let present = file::Comparison::new(&origin.documents, &snapshot.all_versions()?);
            index.apply(present.stale.iter().map(removed), index.epoch())?;
            there -= present.stale;
        }
        self.index = index;
        self.held.clone_from(&there);
        self.filed = there;
        Ok(())
    }

    fn update(&mut self, snapshot: &Snapshot<'_>, slack: u64) -> Result<(), RagError> {
        let view = snapshot.view();
        let seen: RoaringBitmap = view.ordinals().collect();
        let moved = !self.stands_for(view);
        let epoch = if moved {
            view.epoch()
        } else {
            self.index.epoch()
        };
        let mut changes: Vec<DocumentRows<TermRow>> = Vec::new();
        let mut dropped = RoaringBitmap::new();
        if moved {
            let in_memory = &self.held - &self.filed;
            let stale = &in_memory - &(&self.wanted | &seen);
            if stale.len() > in_memory.len() / 2 + slack {
                changes.extend(stale.iter().map(removed));
                dropped = stale;
            }
        }
        let missing = &seen - &self.held;
        changes.extend(gather(|take| snapshot.read_terms(&missing, take))?);
        if self.held.is_empty() {
            let tokenizer = self.index.tokenizer().clone();
            self.index = Bm25Index::build(tokenizer, changes, epoch)?;
        } else if moved || !changes.is_empty() {
            self.index.apply(changes, epoch)?;
        }
        if moved {
            self.at = Some(snapshot.state());
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

fn ordinals(documents: &[(u32, [u8; 16])]) -> RoaringBitmap {
    documents.iter().map(|(ordinal, _)| *ordinal).collect()
}

fn removed(document: u32) -> DocumentRows<TermRow> {
    DocumentRows {
        document,
        rows: Vec::new(),
    }
}

/// The terms that are handed over, as rows by document.
fn gather(
    read: impl FnOnce(&mut dyn FnMut(ChunkTerms)) -> Result<(), StoreError>,
) -> Result<Vec<DocumentRows<TermRow>>, RagError> {
    let mut rows: BTreeMap<u32, Vec<Row<TermRow>>> = BTreeMap::new();
    let mut wrong = None;
    read(&mut |terms| match decode(&terms) {
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
        id: row_of(&terms.chunk, terms.ordinal),
        counts: cornu_sparse::TermCounts::from_pairs(length, pairs)?,
    })
}

fn row_of(chunk: &ChunkId, ordinal: u32) -> TermRow {
    let mut row = [ordinal; 9];
    for (to, bytes) in row.iter_mut().zip(chunk.as_bytes().as_chunks::<4>().0) {
        *to = u32::from_be_bytes(*bytes);
    }
    row
}

/// The chunk of a row.
pub(crate) fn chunk_of(row: &TermRow) -> ChunkId {
    let mut bytes = [0; 32];
    for (to, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(row) {
        *to = word.to_be_bytes();
    }
    ChunkId::from_bytes(bytes)
}

/// The version of a document that the row stands for.
pub(crate) fn ordinal_of(row: &TermRow) -> u32 {
    let [.., ordinal] = row;
    *ordinal
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

    /// What the asker does not see leaves them all that was made ready for them.
    #[test]
    fn hidden_commits_leave_the_statistics_of_a_view() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let provider = Arc::new(HashEmbeddingProvider::default());
        let index = LiveRagIndex::open(path, provider, RagOptions::default()).unwrap();
        let write = |name: &str, grant: &str, text: &str| {
            let acl = Acl::new([grant]).unwrap();
            let document = Document::new(DocId::new(name).unwrap(), text, acl);
            index.ingest(&document).unwrap();
        };
        let made = || {
            let who = Principal::public();
            let found = index.search_sparse(&who, "shared words", 9).unwrap();
            (index.postings.state.read().index.epoch(), found.hits.len())
        };
        write("a.md", "public", "shared words of a page");
        assert_eq!(made(), (1, 1));
        write("b.md", "hr", "shared words of another page");
        write("b.md", "hr", "shared words of that page");
        index.remove(&DocId::new("b.md").unwrap()).unwrap();
        assert_eq!(made(), (1, 1));
        write("c.md", "public", "shared words of a third page");
        assert_eq!(made(), (5, 2));
    }

    /// An index in this folder, of few fsyncs, and its one page that all see.
    fn of_one_page(folder: &std::path::Path) -> LiveRagIndex {
        let index = at(&folder.join("index.db"));
        write(&index, "a.md", "public", "shared words of a page");
        index
    }

    fn at(path: &std::path::Path) -> LiveRagIndex {
        let mut options = RagOptions::default();
        options.store.durability = cornu_store::Durability::ProcessKill;
        LiveRagIndex::open(path, Arc::new(HashEmbeddingProvider::default()), options).unwrap()
    }

    fn write(index: &LiveRagIndex, name: &str, grant: &str, text: &str) {
        let acl = Acl::new([grant]).unwrap();
        let document = Document::new(DocId::new(name).unwrap(), text, acl);
        index.ingest(&document).unwrap();
    }

    /// Two copies of a database give the same ordinals to different documents, and one takes the
    /// place of the other. What was read from the first has no part in what is said of the second,
    /// whether the asker saw all of it since the state that the index stands at or not.
    #[test]
    fn postings_of_a_copy_that_went_another_way_are_not_taken_for_the_same() {
        for more in [0, 1, 2] {
            let folder = tempfile::tempdir().unwrap();
            drop(of_one_page(folder.path()));
            let copy = folder.path().join("copy.db");
            std::fs::copy(folder.path().join("index.db"), &copy).unwrap();
            let (index, other) = (at(&folder.path().join("index.db")), at(&copy));
            write(
                &index,
                "b.md",
                "hr",
                "shared words, and shared words of the payroll",
            );
            let hr = Principal::new(["hr"]).unwrap();
            let found = index.search_sparse(&hr, "shared words", 9).unwrap();
            assert_eq!(found.hits.len(), 1);
            write(&other, "c.md", "public", "shared words of another page");
            for at in 0..more {
                write(
                    &other,
                    &format!("{at}.md"),
                    "public",
                    "shared words of more pages",
                );
            }
            let snapshot = other.snapshot(&Principal::public()).unwrap();
            let found = |postings: &super::Postings| {
                let query = cornu_sparse::Query::new(&index.options.tokenizer, "shared words");
                let bm25 = &index.options.bm25;
                let found = postings.with(&snapshot, |searcher| searcher.search(&query, bm25, 9));
                let found = found.unwrap();
                let found = found
                    .iter()
                    .map(|hit| (super::chunk_of(&hit.id), hit.score));
                found.collect::<Vec<_>>()
            };
            assert_eq!(
                found(&index.postings),
                found(&other.postings),
                "{more} more commits"
            );
        }
    }

    /// What the asker does not see leaves them what was made ready for them, also where somebody
    /// who sees it asks.
    #[test]
    fn a_hidden_commit_that_others_ask_about_leaves_the_statistics_of_a_view() {
        let folder = tempfile::tempdir().unwrap();
        let index = of_one_page(folder.path());
        let (hr, public) = (Principal::new(["hr"]).unwrap(), Principal::public());
        let ask = |who: &Principal| drop(index.search_sparse(who, "shared words", 9).unwrap());
        let is_ready = || {
            let snapshot = index.snapshot(&public).unwrap();
            let (view, state) = (snapshot.view(), index.postings.state.read());
            state.stands_for(view) && state.ready.contains(view.digest())
        };
        ask(&public);
        assert!(is_ready());
        write(&index, "b.md", "hr", "shared words of another page");
        assert!(is_ready());
        ask(&hr);
        assert!(is_ready());
    }

    /// More hidden commits than states are on record, between which the asker looks: their view is
    /// carried from each to the next, and the index is not thrown away.
    #[test]
    fn hidden_commits_without_end_leave_the_index() {
        let folder = tempfile::tempdir().unwrap();
        let index = of_one_page(folder.path());
        write(&index, "b.md", "hr", "shared words of another page");
        let (hr, public) = (Principal::new(["hr"]).unwrap(), Principal::public());
        let ask = |who: &Principal| drop(index.search_sparse(who, "shared words", 9).unwrap());
        ask(&hr);
        ask(&public);
        let held = || index.postings.state.read().held.clone();
        let before = held();
        assert_eq!(before.len(), 2);
        for at in 0..1100 {
            write(&index, "c.md", "ops", &format!("page {at}"));
            ask(&public);
            assert_eq!(held(), before, "{at} commits");
        }
    }

    /// The dense route of a search reads from the connection while the sparse route of the same
    /// search ranks words: who finds all ready waits for nobody, since whoever wants to write to the
    /// index, and all who come after, wait for them.
    #[test]
    fn a_ready_index_is_read_while_the_connection_is_busy() {
        let folder = tempfile::tempdir().unwrap();
        let index = of_one_page(folder.path());
        let snapshot = index.snapshot(&Principal::public()).unwrap();
        let words = |snapshot| index.postings.with(snapshot, |_| Ok(())).unwrap();
        words(&snapshot);
        let (busy, is_busy) = std::sync::mpsc::channel();
        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let snapshot = &snapshot;
            let reading = scope.spawn(move || {
                let mut in_time = false;
                let take = |_| {
                    busy.send(()).unwrap();
                    let limit = std::time::Duration::from_secs(5);
                    in_time = is_done.recv_timeout(limit).is_ok();
                };
                snapshot.read_terms([1], take).unwrap();
                in_time
            });
            is_busy.recv().unwrap();
            words(snapshot);
            let _ = done.send(());
            assert!(reading.join().unwrap(), "waited for the connection");
        });
    }

    /// Snapshots of several states are asked in any order, while two indexes write in turns.
    #[test]
    fn states_of_any_age_are_asked_side_by_side() {
        for seed in 0..12_u64 {
            let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut below = move |end: u64| {
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
                bits % end
            };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("index.db");
            let open = || {
                let mut options = RagOptions::default();
                options.store.durability = cornu_store::Durability::ProcessKill;
                options.store.readers = 12;
                let provider = Arc::new(HashEmbeddingProvider::new(16).unwrap());
                LiveRagIndex::open(&path, provider, options).unwrap()
            };
            let (mut index, other) = (open(), open());
            index.postings.slack = below(3);
            let index = &index;
            let askers = [&["public"][..], &["hr"], &["hr", "ops"], &["public", "ops"]];
            let askers = askers.map(|grants| Principal::new(grants).unwrap());
            let ask = |index: &LiveRagIndex, snapshot: &cornu_store::Snapshot<'_>| {
                let (rows, ranking) = index.sparse_anew(snapshot, "shared words of 3", 9).unwrap();
                let ordinals: Vec<u32> = rows.iter().map(super::ordinal_of).collect();
                let hits = ranking.iter().map(|hit| (hit.id, hit.score.to_bits()));
                (ordinals, hits.collect::<Vec<_>>())
            };
            let mut held = Vec::new();
            for _ in 0..60 {
                for _ in 0..below(3) {
                    let by = if below(2) == 0 { index } else { &other };
                    let name = format!("{}.md", below(6));
                    if below(4) == 0 {
                        by.remove(&DocId::new(&name).unwrap()).unwrap();
                        continue;
                    }
                    let grant = ["public", "hr", "ops"][below(3) as usize];
                    write(by, &name, grant, &format!("shared words of {}", below(4)));
                }
                if below(12) == 0 {
                    index.prepare().unwrap();
                }
                let who = &askers[below(4) as usize];
                let fresh = open();
                let expected = ask(&fresh, &fresh.snapshot(who).unwrap());
                let snapshot = index.snapshot(who).unwrap();
                if below(3) > 0 {
                    assert_eq!(ask(index, &snapshot), expected);
                }
                held.push((snapshot, expected));
                if held.len() > 5 {
                    held.swap_remove(below(5) as usize);
                }
                for _ in 0..3 {
                    let (snapshot, expected) = &held[below(held.len() as u64) as usize];
                    assert_eq!(&ask(index, snapshot), expected);
                }
            }
        }
    }
}
