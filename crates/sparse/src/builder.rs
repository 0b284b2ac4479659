//! An index of many documents, a few at a time.

use std::collections::BTreeSet;

use cornu_core::Fingerprint;

use crate::bits::Bits;
use crate::counts::DocumentRows;
use crate::error::SparseError;
use crate::index::{Bm25Index, segment};
use crate::segment::Segment;

/// Builds a [`Bm25Index`] from documents that come in batches, so that the term counts of all of
/// them need not be in memory at a time.
///
/// The result is, bit for bit, that of [`Bm25Index::build`] over all of them. O(n log n) time for
/// n postings; memory of twice the index, and of the largest batch.
///
/// ```
/// use cornu_core::Fingerprint;
/// use cornu_sparse::{Bm25Index, Builder, DocumentRows, Row, TermCounts};
///
/// let document = |document| DocumentRows {
///     document,
///     rows: vec![Row { id: document, counts: TermCounts::from_pairs(1, [("grad", 1)]).unwrap() }],
/// };
/// let tokenizer = Fingerprint::new("by hand");
/// let mut builder = Builder::new(tokenizer.clone());
/// builder.push((0..3).map(document))?;
/// builder.push((3..5).map(document))?;
/// assert_eq!(builder.finish(1)?, Bm25Index::build(tokenizer, (0..5).map(document), 1)?);
/// # Ok::<(), cornu_sparse::SparseError>(())
/// ```
#[derive(Debug)]
pub struct Builder<I> {
    tokenizer: Fingerprint,
    documents: BTreeSet<u32>,
    /// Each with more than twice the postings of the next.
    segments: Vec<Segment<I>>,
}

impl<I: Ord + Clone> Builder<I> {
    /// An empty one; `tokenizer` as in [`Bm25Index::build`].
    #[must_use]
    pub fn new(tokenizer: Fingerprint) -> Self {
        Self {
            tokenizer,
            documents: BTreeSet::new(),
            segments: Vec::new(),
        }
    }

    /// Begins with the documents of an index that is there.
    ///
    /// # Errors
    /// [`SparseError::TooLarge`], [`SparseError::Damaged`].
    pub fn onto(index: Bm25Index<I>) -> Result<Self, SparseError> {
        let tokenizer = index.tokenizer().clone();
        let base = index.into_base()?;
        Ok(Self {
            tokenizer,
            documents: base.documents.all()?.iter().copied().collect(),
            segments: vec![base],
        })
    }

    /// Adds documents.
    ///
    /// # Errors
    /// [`SparseError::DuplicateRow`], [`SparseError::DuplicateDocument`] for one that was there
    /// before, [`SparseError::TooLarge`]; after an error the builder is of no use.
    pub fn push(
        &mut self,
        documents: impl IntoIterator<Item = DocumentRows<I>>,
    ) -> Result<(), SparseError> {
        let (mut fresh, ordinals) = segment(documents)?;
        for document in ordinals {
            if !self.documents.insert(document) {
                return Err(SparseError::DuplicateDocument { document });
            }
        }
        while let Some(last) = self
            .segments
            .pop_if(|last| last.postings_len() <= 2 * fresh.postings_len())
        {
            fresh = last.merge(&Bits::new(last.len()), &fresh)?;
        }
        self.segments.push(fresh);
        Ok(())
    }

    /// The index, as of an epoch.
    ///
    /// # Errors
    /// [`SparseError::DuplicateRow`], [`SparseError::TooLarge`].
    pub fn finish(mut self, epoch: u64) -> Result<Bm25Index<I>, SparseError> {
        let mut all = self.segments.pop().unwrap_or_default();
        while let Some(last) = self.segments.pop() {
            all = last.merge(&Bits::new(last.len()), &all)?;
        }
        Ok(Bm25Index::of(self.tokenizer, all, epoch))
    }
}
