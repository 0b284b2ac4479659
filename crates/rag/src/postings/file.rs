//! The file of the postings, beside the database: written when it is worth it, compared with the
//! facts before it is read.

use std::io;

use cornu_core::Fingerprint;
use cornu_sparse::{Bm25Index, DocumentRows, FileBuilder, FileError, Origin, Output, Scratch};
use cornu_store::{ArtifactFile, DocumentVersion, Facts, POSTINGS_SUFFIX, SqliteVecStore};
use roaring::RoaringBitmap;

use super::{TermRow, gather, ordinals};
use crate::error::RagError;

/// Chunks whose terms are read from the facts at a time: some 40 MB.
const BATCH_ROWS: usize = 4096;

/// Postings that are sorted in memory before they go to a run of their own: 16 MB, three times that
/// while they are sorted.
const RUN_POSTINGS: usize = 2 << 20;

/// A file is written anew when more than one chunk in so many would have to be read from the facts:
/// 40 ms of a question over 100,000 chunks. Over a growing index each chunk is written so many
/// times at most, at a few microseconds each.
const ONE_IN: usize = 64;

pub(super) fn of(store: &SqliteVecStore) -> ArtifactFile {
    store.artifact(POSTINGS_SUFFIX)
}

/// What the stored terms come from, as the index that they were written through was opened.
pub(super) fn tokenizer(store: &SqliteVecStore) -> Fingerprint {
    Fingerprint::new(store.fingerprint().get("index.tokenizer").unwrap_or("none"))
}

pub(super) fn open(
    file: &ArtifactFile,
    tokenizer: &Fingerprint,
    owner: &[u8; 32],
) -> Option<(Bm25Index<TermRow>, Origin)> {
    Bm25Index::open(file.map()?, tokenizer.clone(), owner)
}

/// Brings the file up to date where that is worth it, and says whether it was. O(documents) when
/// little has changed.
pub(crate) fn prepare(store: &SqliteVecStore) -> Result<bool, RagError> {
    let facts = store.facts()?;
    let found = open(&of(store), &tokenizer(store), &store.owner());
    let Some((index, origin)) = found else {
        return rebuild_from(store, &facts).map(|()| true);
    };
    if origin.state == facts.state() {
        return Ok(false);
    }
    let versions = facts.versions()?;
    let change = Comparison::new(&origin.documents, &versions);
    let rows = |wanted: &RoaringBitmap| -> usize {
        let wanted = versions.iter().filter(|one| wanted.contains(one.ordinal));
        wanted.map(|one| one.rows).sum()
    };
    let all: usize = versions.iter().map(|one| one.rows).sum();
    let much_is_missing = rows(&change.missing) * ONE_IN > all;
    let much_is_stale = change.stale.len() * 4 > origin.documents.len() as u64;
    if !much_is_missing && !much_is_stale {
        return Ok(false);
    }
    let written = match write(
        store,
        &facts,
        Some((index, &change)),
        &versions,
        RUN_POSTINGS,
    ) {
        // What was to be copied is damaged, which the facts are not.
        Err(_) if of(store).is_writable() => rebuild_from(store, &facts),
        result => result,
    };
    written.map(|()| true)
}

/// Writes the file from the facts alone.
pub(crate) fn rebuild(store: &SqliteVecStore) -> Result<(), RagError> {
    rebuild_from(store, &store.facts()?)
}

/// What of the file is not what the facts say; `None` where there is no file, or nothing to say.
///
/// A file is the same bytes whatever it was written onto and in runs of whatever size, so the one
/// that the facts give is written beside it, in runs and without a name, and the two are compared.
pub(crate) fn check(store: &SqliteVecStore) -> Result<Option<String>, RagError> {
    check_by(store, RUN_POSTINGS)
}

fn check_by(store: &SqliteVecStore, run: usize) -> Result<Option<String>, RagError> {
    let file = of(store);
    let Some(bytes) = file.map() else {
        return Ok(None);
    };
    let found = |detail: &str| Ok(Some(format!("{}: {detail}", file.path().display())));
    let Some((index, origin)) = open(&file, &tokenizer(store), &store.owner()) else {
        return found("it is damaged or belongs to another index");
    };
    let facts = store.facts()?;
    let versions = facts.versions()?;
    let change = Comparison::new(&origin.documents, &versions);
    let (epoch, kept) = (index.epoch(), &ordinals(&origin.documents) - &change.stale);
    let documents = origin.documents.iter();
    let documents = documents.filter(|(ordinal, _)| kept.contains(*ordinal));
    let origin = Origin {
        documents: documents.copied().collect(),
        ..origin
    };
    // What it says of documents that are still there.
    let said: Box<dyn AsRef<[u8]>> = if change.stale.is_empty() {
        Box::new(bytes)
    } else {
        let stale = |document| change.stale.contains(document);
        let rest = FileBuilder::onto(index, stale, run, Runs(&file));
        match rest.and_then(|rest| nameless(&file, rest, epoch, &origin)) {
            Ok(rest) => rest,
            Err(error) if is_damage(&error) => return found("its rows are not what was written"),
            Err(error) => return Err(failed(&file, error)),
        }
    };
    let mut fresh = FileBuilder::new(tokenizer(store), run, Runs(&file));
    add(&facts, &versions, &kept, |batch| {
        fresh.push(batch).map_err(|error| failed(&file, error))
    })?;
    let fresh = nameless(&file, fresh, epoch, &origin).map_err(|error| failed(&file, error))?;
    if (*said).as_ref() == (*fresh).as_ref() {
        return Ok(None);
    }
    found("its rows are not those of the facts")
}

/// A whole file that has no name.
fn nameless(
    file: &ArtifactFile,
    builder: FileBuilder<TermRow, Runs<'_>>,
    epoch: u64,
    origin: &Origin,
) -> Result<Box<dyn AsRef<[u8]> + Send + Sync>, FileError> {
    let kept = file.scratch(|out| {
        let written = builder.finish(epoch, origin, out);
        written.map_err(|error| match error {
            FileError::Io(error) => error,
            error => io::Error::new(io::ErrorKind::InvalidData, error),
        })
    });
    Ok(kept?)
}

/// Whether what was read is not what was once written.
fn is_damage(error: &FileError) -> bool {
    match error {
        FileError::Io(error) => error.kind() == io::ErrorKind::InvalidData,
        _ => true,
    }
}

fn failed(file: &ArtifactFile, error: FileError) -> RagError {
    match error {
        FileError::Sparse(error) => error.into(),
        FileError::Io(error) => file.failed(error).into(),
        error => file.failed(io::Error::other(error)).into(),
    }
}

fn rebuild_from(store: &SqliteVecStore, facts: &Facts<'_>) -> Result<(), RagError> {
    write(store, facts, None, &facts.versions()?, RUN_POSTINGS)
}

/// Writes the file: what is there already, without what is stale in it, and the rest, in runs of so
/// many postings.
fn write(
    store: &SqliteVecStore,
    facts: &Facts<'_>,
    base: Option<(Bm25Index<TermRow>, &Comparison)>,
    versions: &[DocumentVersion],
    run: usize,
) -> Result<(), RagError> {
    let file = of(store);
    let mut missing: RoaringBitmap = versions.iter().map(|one| one.ordinal).collect();
    if !file.is_writable() {
        return Err(file.failed(io::ErrorKind::ReadOnlyFilesystem.into()).into());
    }
    let failed = |error| failed(&file, error);
    let runs = Runs(&file);
    let mut builder = match base {
        None => FileBuilder::new(tokenizer(store), run, runs),
        Some((index, change)) => {
            missing.clone_from(&change.missing);
            let stale = |document| change.stale.contains(document);
            FileBuilder::onto(index, stale, run, runs).map_err(failed)?
        }
    };
    add(facts, versions, &missing, |batch| {
        builder.push(batch).map_err(failed)
    })?;
    let documents = versions.iter().map(|one| (one.ordinal, one.version));
    let origin = Origin {
        owner: store.owner(),
        state: facts.state(),
        documents: documents.collect(),
    };
    Ok(file.replace(|out| {
        let written = builder.finish(facts.epoch(), &origin, out);
        written.map_err(|error| match error {
            FileError::Io(error) => error,
            error => io::Error::other(error),
        })
    })?)
}

/// Runs beside the file that they are merged into.
struct Runs<'a>(&'a ArtifactFile);

/// A run, mapped.
struct Mapped(Box<dyn AsRef<[u8]> + Send + Sync>);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl Scratch for Runs<'_> {
    type Bytes = Mapped;

    fn keep(
        &mut self,
        write: impl FnOnce(&mut dyn Output) -> io::Result<()>,
    ) -> io::Result<Self::Bytes> {
        self.0.scratch(|out| write(out)).map(Mapped)
    }
}

/// Hands over the terms of some documents, some at a time.
fn add(
    facts: &Facts<'_>,
    versions: &[DocumentVersion],
    wanted: &RoaringBitmap,
    mut take: impl FnMut(Vec<DocumentRows<TermRow>>) -> Result<(), RagError>,
) -> Result<(), RagError> {
    let mut batch = Vec::new();
    let mut rows = 0;
    let mut wanted = versions
        .iter()
        .filter(|one| wanted.contains(one.ordinal))
        .peekable();
    while let Some(one) = wanted.next() {
        batch.push(one.ordinal);
        rows += one.rows;
        if rows >= BATCH_ROWS || wanted.peek().is_none() {
            let ordinals = std::mem::take(&mut batch);
            take(gather(|take| facts.read_terms(ordinals, take))?)?;
            rows = 0;
        }
    }
    Ok(())
}

/// The documents of a file beside those of a state of the facts.
pub(super) struct Comparison {
    /// In the file, and no document of this state.
    pub(super) stale: RoaringBitmap,
    /// A document of this state, and not in the file.
    pub(super) missing: RoaringBitmap,
}

impl Comparison {
    /// Both are sorted by ordinal. An ordinal of another version is both stale and missing.
    pub(super) fn new(file: &[(u32, [u8; 16])], versions: &[DocumentVersion]) -> Self {
        let mut stale = ordinals(file);
        let mut missing: RoaringBitmap = versions.iter().map(|one| one.ordinal).collect();
        let mut rest = versions.iter().peekable();
        for (ordinal, version) in file {
            while rest.next_if(|one| one.ordinal < *ordinal).is_some() {}
            if rest
                .next_if(|one| one.ordinal == *ordinal && one.version == *version)
                .is_some()
            {
                stale.remove(*ordinal);
                missing.remove(*ordinal);
            }
        }
        Self { stale, missing }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cornu_core::{Acl, DocId, Document};
    use cornu_embed::HashEmbeddingProvider;

    use super::*;
    use crate::{LiveRagIndex, RagOptions};

    fn index_in(folder: &std::path::Path) -> LiveRagIndex {
        let provider = Arc::new(HashEmbeddingProvider::default());
        let path = folder.join("index.db");
        LiveRagIndex::open(path, provider, RagOptions::default()).unwrap()
    }

    fn ingest(index: &LiveRagIndex, at: usize, words: &str) {
        let name = DocId::new(&format!("{at}.md")).unwrap();
        let text = format!("# Part {at}\n\n{words} of part {}.\n", at % 7);
        let document = Document::new(name, text, Acl::public());
        index.ingest(&document).unwrap();
    }

    /// From the facts alone, and onto the file of another state: the same bytes, and nothing is left
    /// beside.
    #[test]
    fn the_file_is_the_same_whatever_the_size_of_the_runs() {
        let folder = tempfile::tempdir().unwrap();
        let index = index_in(folder.path());
        let ingest = |at, words| ingest(&index, at, words);
        (0..40).for_each(|at| ingest(at, "shared words"));
        let store = index.store();
        rebuild(store).unwrap();
        let first = std::fs::read(of(store).path()).unwrap();
        (30..50).for_each(|at| ingest(at, "other words"));
        let facts = store.facts().unwrap();
        let versions = facts.versions().unwrap();
        rebuild(store).unwrap();
        let fresh = std::fs::read(of(store).path()).unwrap();
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        for run in [1, 100, 1_000] {
            write(store, &facts, None, &versions, run).unwrap();
            assert!(std::fs::read(of(store).path()).unwrap() == fresh);
            std::fs::write(of(store).path(), &first).unwrap();
            let (found, origin) = open(&of(store), &tokenizer(store), &store.owner()).unwrap();
            let change = Comparison::new(&origin.documents, &versions);
            assert!(!change.stale.is_empty() && !change.missing.is_empty());
            write(store, &facts, Some((found, &change)), &versions, run).unwrap();
            assert!(std::fs::read(of(store).path()).unwrap() == fresh);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), files);
    }

    /// A file of the present state, and one of which some documents are gone: whole, with a byte
    /// changed anywhere, and with the rows of another document in the place of one's own.
    #[test]
    fn the_check_finds_what_is_wrong_whatever_the_size_of_the_runs() {
        let folder = tempfile::tempdir().unwrap();
        let index = index_in(folder.path());
        let ingest = |at, words| ingest(&index, at, words);
        (0..40).for_each(|at| ingest(at, "shared words"));
        let store = index.store();
        rebuild(store).unwrap();
        let file = of(store);
        let first = std::fs::read(file.path()).unwrap();
        let (mut forged, origin) = open(&file, &tokenizer(store), &store.owner()).unwrap();
        let facts = store.facts().unwrap();
        let [one, other] = [3, 5].map(|at| origin.documents[at].0);
        let mut rows = gather(|take| facts.read_terms([other], take)).unwrap();
        rows[0].document = one;
        for row in &mut rows[0].rows {
            row.id[8] = one;
        }
        drop(facts);
        forged.apply(rows, forged.epoch()).unwrap();
        for stale in [false, true] {
            if stale {
                (30..50).for_each(|at| ingest(at, "other words"));
            }
            let found = |run| check_by(store, run).unwrap();
            for run in [1, 100, 1_000] {
                std::fs::write(file.path(), &first).unwrap();
                assert_eq!(found(run), None);
                for at in (0..first.len()).step_by(first.len() / 9) {
                    let mut changed = first.clone();
                    changed[at] ^= 0x10;
                    std::fs::write(file.path(), &changed).unwrap();
                    let padding = check_by(store, run).unwrap().is_none();
                    let rest = open(&file, &tokenizer(store), &store.owner());
                    assert!(!padding || stale && rest.is_some(), "byte {at}, {stale}");
                }
                file.replace(|out| forged.write(&origin, out)).unwrap();
                let detail = found(run).unwrap();
                assert!(detail.contains("not those of the facts"), "{detail}");
            }
        }
    }
}
