//! A file of more postings than memory is to hold.

use std::collections::BTreeSet;
use std::io::{self, Seek, Write};

use bytemuck::{AnyBitPattern, NoUninit};
use cornu_core::Fingerprint;

use super::Origin;
use super::merged::{Merged, Run};
use crate::bits::Bits;
use crate::builder::Builder;
use crate::counts::DocumentRows;
use crate::error::SparseError;
use crate::index::{Bm25Index, fingerprint};

/// What is written to, and sought in.
pub trait Output: Write + Seek {}

impl<T: Write + Seek> Output for T {}

/// Where runs of postings are kept until they are merged: files, mapped as a rule.
///
/// See [`FileBuilder`].
pub trait Scratch {
    /// What was written.
    type Bytes: AsRef<[u8]> + Send + Sync + 'static;

    /// Keeps what is written, and gives it back. Nobody else changes it.
    ///
    /// # Errors
    /// Those of `write`, and of the place.
    fn keep(
        &mut self,
        write: impl FnOnce(&mut dyn Output) -> io::Result<()>,
    ) -> io::Result<Self::Bytes>;
}

/// Why a file was not built.
///
/// ```
/// let error = cornu_sparse::FileError::from(cornu_sparse::SparseError::TooLarge);
/// assert!(matches!(error, cornu_sparse::FileError::Sparse(_)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The documents cannot stand in one index, or what was there is damaged.
    #[error(transparent)]
    Sparse(#[from] SparseError),
    /// The file, or a run, could not be written.
    #[error("the postings cannot be written: {0}; is there space left beside the index?")]
    Io(#[from] io::Error),
}

/// Builds the file of a [`Bm25Index`] without the index in memory: runs of some postings each go to
/// a [`Scratch`], and are merged into the file in order.
///
/// The file is, byte for byte, what [`Bm25Index::write`] gives for an index of the same documents,
/// whatever the size of the runs. Memory: three times a run at 8 bytes a posting, the largest
/// batch, and 16 bytes a row; the pages of mapped runs belong to the system. O(n log n) time for n
/// postings, which are read three times.
///
/// ```
/// use std::io::{self, Cursor};
/// use cornu_core::Fingerprint;
/// use cornu_sparse::{Bm25Index, DocumentRows, FileBuilder, Origin, Output, Row, Scratch, TermCounts};
///
/// struct Memory;
/// impl Scratch for Memory {
///     type Bytes = Vec<u8>;
///     fn keep(
///         &mut self,
///         write: impl FnOnce(&mut dyn Output) -> io::Result<()>,
///     ) -> io::Result<Vec<u8>> {
///         let mut run = Cursor::new(Vec::new());
///         write(&mut run)?;
///         Ok(run.into_inner())
///     }
/// }
///
/// let document = |document: u32| DocumentRows {
///     document,
///     rows: vec![Row { id: document, counts: TermCounts::from_pairs(1, [("grad", 1)]).unwrap() }],
/// };
/// let origin = Origin { owner: [0; 32], state: [1; 16], documents: vec![] };
/// let tokenizer = Fingerprint::new("by hand");
/// let mut whole = Cursor::new(Vec::new());
/// Bm25Index::build(tokenizer.clone(), (0..9).map(document), 1)?.write(&origin, &mut whole)?;
///
/// let mut builder = FileBuilder::new(tokenizer, 2, Memory);
/// for at in 0..9 {
///     builder.push([document(at)])?;
/// }
/// let mut merged = Cursor::new(Vec::new());
/// builder.finish(1, &origin, &mut merged)?;
/// assert_eq!(merged, whole);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FileBuilder<I, S> {
    tokenizer: Fingerprint,
    limit: usize,
    scratch: S,
    documents: BTreeSet<u32>,
    runs: Vec<Run<I>>,
    builder: Builder<I>,
    postings: usize,
}

impl<I: Ord + Clone + NoUninit + AnyBitPattern, S: Scratch> FileBuilder<I, S> {
    /// An empty one; `tokenizer` as in [`Bm25Index::build`]. A run goes to the scratch as soon as it
    /// has `limit` postings.
    #[must_use]
    pub fn new(tokenizer: Fingerprint, limit: usize, scratch: S) -> Self {
        Self {
            builder: Builder::new(tokenizer.clone()),
            tokenizer,
            limit,
            scratch,
            documents: BTreeSet::new(),
            runs: Vec::new(),
            postings: 0,
        }
    }

    /// Begins with the documents of an index that is there, opened from a file as a rule, but for
    /// those that are `stale`.
    ///
    /// # Errors
    /// [`SparseError::Damaged`].
    pub fn onto(
        index: Bm25Index<I>,
        stale: impl Fn(u32) -> bool,
        limit: usize,
        scratch: S,
    ) -> Result<Self, FileError> {
        let mut builder = Self::new(index.tokenizer().clone(), limit, scratch);
        for mut run in index.into_runs() {
            let rows = run.segment.rows().map_err(SparseError::from)?;
            for (row, &document) in rows.documents.iter().enumerate() {
                if stale(document) {
                    run.dead.insert(row);
                } else if !run.dead.contains(row) {
                    builder.documents.insert(document);
                }
            }
            builder.runs.push(run);
        }
        Ok(builder)
    }

    /// Adds documents.
    ///
    /// # Errors
    /// [`SparseError::DuplicateRow`], [`SparseError::DuplicateDocument`] for one that was there
    /// before, [`SparseError::TooLarge`], [`FileError::Io`]; after an error the builder is of no use.
    pub fn push(
        &mut self,
        documents: impl IntoIterator<Item = DocumentRows<I>>,
    ) -> Result<(), FileError> {
        let documents: Vec<DocumentRows<I>> = documents.into_iter().collect();
        for DocumentRows { document, rows } in &documents {
            if !self.documents.insert(*document) {
                let document = *document;
                return Err(SparseError::DuplicateDocument { document }.into());
            }
            let terms = rows.iter().map(|row| row.counts.iter().count());
            self.postings += terms.sum::<usize>();
        }
        self.builder.push(documents)?;
        match self.postings >= self.limit {
            true => self.spill(),
            false => Ok(()),
        }
    }

    /// Writes the file, as of an epoch.
    ///
    /// # Errors
    /// [`SparseError::DuplicateRow`], [`SparseError::TooLarge`], [`SparseError::Damaged`],
    /// [`FileError::Io`].
    pub fn finish(
        mut self,
        epoch: u64,
        origin: &Origin,
        out: impl Write + Seek,
    ) -> Result<(), FileError> {
        if cfg!(target_endian = "big") {
            return Err(io::Error::from(io::ErrorKind::Unsupported).into());
        }
        let last = std::mem::replace(&mut self.builder, Builder::new(self.tokenizer.clone()));
        self.runs.extend(last.finish(epoch)?.into_runs());
        let merged = Merged::new(&self.runs)?;
        Ok(merged.write(&fingerprint(&self.tokenizer), epoch, origin, out)?)
    }

    fn spill(&mut self) -> Result<(), FileError> {
        let full = std::mem::replace(&mut self.builder, Builder::new(self.tokenizer.clone()));
        self.postings = 0;
        let index = full.finish(0)?;
        let origin = Origin {
            owner: [0; 32],
            state: [0; 16],
            documents: Vec::new(),
        };
        let bytes = self.scratch.keep(|out| index.write(&origin, out))?;
        drop(index);
        let opened = Bm25Index::open(bytes, self.tokenizer.clone(), &origin.owner);
        let (index, _) = opened.ok_or(SparseError::Damaged)?;
        self.runs.extend(index.into_runs());
        Ok(())
    }
}

impl<I> Bm25Index<I> {
    /// What it consists of: the base, and what came since.
    fn into_runs(self) -> impl Iterator<Item = Run<I>> {
        let (base, dead, delta) = self.into_parts();
        let fresh = Bits::new(delta.len());
        let runs = [(base, dead), (delta, fresh)];
        let runs = runs.into_iter().filter(|(segment, _)| segment.len() > 0);
        runs.map(|(segment, dead)| Run { segment, dead })
    }
}
