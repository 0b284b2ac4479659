//! The sparse route's index: an artifact of the stored term counts, filled as views ask for it.

mod file;

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::{ChunkId, Fingerprint, View};
use cornu_sparse::{Bm25Index, DocumentRows, Row, Searcher, SparseError};
use cornu_store::{ArtifactFile, ChunkTerms, Snapshot, SqliteVecStore, StoreError};
use cornu_text::Tokenizer;
use parking_lot::{Mutex, RwLock, RwLockWriteGuard};
use roaring::RoaringBitmap;

use crate::error::RagError;

pub(crate) use self::file::{check, prepare, rebuild};

/// Documents that may lie in memory without any view asking for them, before they are dropped.
const SLACK: u64 = 4096;

/// Views that are remembered as held, at 40 bytes each.
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
    /// The last state that was found to be of one line with all that is held: its number and its
    /// name. None before any view was asked for.
    line: Mutex<Option<(u64, [u8; 16])>>,
    /// Whether the file was looked for.
    opened: bool,
    /// Documents whose terms are in the index.
    held: RoaringBitmap,
    /// Those of them that lie in the file.
    filed: RoaringBitmap,
    /// Those of them that somebody asked among since the index came to its epoch.
    wanted: Mutex<Wanted>,
    /// Digests of views whose documents are all held, each with a state at which they stood. Names
    /// are unique in one state, so a view of the same digest that stood there, too, has the same
    /// ordinals.
    ready: BTreeMap<[u8; 32], u64>,
}

/// Documents that somebody asks among, and the digests of the views that they are of.
#[derive(Default)]
struct Wanted {
    documents: RoaringBitmap,
    views: BTreeSet<[u8; 32]>,
}

impl Wanted {
    /// O(log views) for a view that was there before.
    fn add(&mut self, view: &View) {
        if self.views.len() >= VIEWS {
            self.views.clear();
        }
        if self.views.insert(*view.digest()) {
            self.documents.extend(view.ordinals());
        }
    }
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
    /// in the file are read. The work must not wait for a thread that reads the snapshot.
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
            if state.is_ready_for(view) && state.is_of_one_line_with(snapshot)? {
                state.wanted.lock().add(view);
                return Ok(work(&state.index.searcher(view)?)?);
            }
        }
        let mut state = self.state.write();
        if !state.is_of_one_line_with(snapshot)? {
            // Another database may be in this one's place, whose ordinals mean other versions.
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
            line: Mutex::new(None),
            opened: false,
            held: RoaringBitmap::new(),
            filed: RoaringBitmap::new(),
            wanted: Mutex::default(),
            ready: BTreeMap::new(),
        })
    }

    fn reset(&mut self, opened: bool) -> Result<(), SparseError> {
        *self = Self {
            opened,
            ..Self::new(self.index.tokenizer().clone())?
        };
        Ok(())
    }

    /// Whether the view's documents are held, and stood at the index's epoch.
    fn is_ready_for(&self, view: &View) -> bool {
        let at = self.ready.get(view.digest());
        view.stood_at(self.index.epoch()) && at.is_some_and(|&epoch| view.stood_at(epoch))
    }

    /// Whether what is held under an ordinal is what the snapshot's state has under it.
    fn is_of_one_line_with(&self, snapshot: &Snapshot<'_>) -> Result<bool, StoreError> {
        let last = *self.line.lock();
        let Some((epoch, state)) = last else {
            return Ok(true);
        };
        let is_one = snapshot.shares_line(epoch, state)?;
        if is_one && snapshot.view().epoch() > epoch {
            *self.line.lock() = Some((snapshot.view().epoch(), snapshot.state()));
        }
        Ok(is_one)
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
        let moved = !view.stood_at(self.index.epoch());
        let epoch = if moved {
            view.epoch()
        } else {
            self.index.epoch()
        };
        let mut changes: Vec<DocumentRows<TermRow>> = Vec::new();
        let mut dropped = RoaringBitmap::new();
        if moved {
            let in_memory = &self.held - &self.filed;
            let stale = &in_memory - &(&self.wanted.get_mut().documents | &seen);
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
        self.line
            .get_mut()
            .get_or_insert((view.epoch(), snapshot.state()));
        let wanted = self.wanted.get_mut();
        if moved {
            *wanted = Wanted::default();
        }
        wanted.add(view);
        if !dropped.is_empty() {
            self.ready.clear();
        }
        self.held -= dropped;
        self.held |= missing;
        if self.ready.len() >= VIEWS {
            self.ready.clear();
        }
        self.ready.insert(*view.digest(), view.epoch());
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
mod tests;
