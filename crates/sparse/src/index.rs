//! The index: an artifact of term counts, kept up to date by small steps.

use std::collections::BTreeSet;

use cornu_core::{Fingerprint, View};

use crate::bits::Bits;
use crate::counts::DocumentRows;
use crate::error::SparseError;
use crate::search::Searcher;
use crate::segment::{Rows, Segment};
use crate::stats::{SegmentView, StatsCache};

/// The bytes that the statistics of views may take, unless the caller says otherwise.
const STATS_BYTES: usize = 64 << 20;

/// A segment of changes smaller than this is never merged into the base on its own.
const SMALL: usize = 1 << 16;

/// Raw term counts of rows (chunks, say), each under the ordinal of its document.
///
/// Nothing in it depends on who asks: idf and average length are computed over what a
/// [`View`] sees, when it is searched. It is an artifact: derived from term counts that a database
/// holds, and equal to a fresh build bit for bit. It may be [written](Self::write) to a file and
/// [opened](Self::open) from there, which reads nothing but what a search needs.
///
/// Memory: 8 bytes a posting (row and count), 8 bytes a block of 128 postings, per row its id
/// and 8 bytes, per term its text and 20 to 28 bytes; as many bytes in a file.
///
/// ```
/// use cornu_core::{Acl, ContentHash, DocId, Principal, View, ViewEntry};
/// use cornu_sparse::{Bm25, Bm25Index, DocumentRows, Query, Row, TermCounts};
/// use cornu_text::Tokenizer;
///
/// let tokenizer = Tokenizer::new();
/// let texts = ["zero_grad clears the gradients", "the payroll of zero_grad"];
/// let documents = texts.iter().zip(0..).map(|(text, document)| DocumentRows {
///     document,
///     rows: vec![Row { id: *text, counts: TermCounts::new(&tokenizer.tokens(text)) }],
/// });
/// let index = Bm25Index::build(tokenizer.fingerprint().clone(), documents, 1)?;
///
/// let (open, secret) = (DocId::new("open.md")?, DocId::new("secret.md")?);
/// let (public, hr) = (Acl::public(), Acl::new(["hr"])?);
/// let content = ContentHash::of(b"");
/// let view = View::resolve(&Principal::public(), 1, [
///     ViewEntry { ordinal: 0, id: &open, content: &content, acl: &public },
///     ViewEntry { ordinal: 1, id: &secret, content: &content, acl: &hr },
/// ]);
///
/// let searcher = index.searcher(&view)?;
/// let query = Query::new(&tokenizer, "zero_grad payroll");
/// let found = searcher.search(&query, &Bm25::default(), 10)?;
/// assert_eq!(found.ids().collect::<Vec<_>>(), [&texts[0]]);
/// let why = searcher.explain(&query, &Bm25::default(), &texts[0])?.ok_or("seen")?;
/// assert_eq!((why.rows, why.score), (1, found.as_slice()[0].score));
/// assert!(searcher.explain(&query, &Bm25::default(), &texts[1])?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Bm25Index<I> {
    tokenizer: Fingerprint,
    fingerprint: Fingerprint,
    epoch: u64,
    base: Segment<I>,
    /// Rows of the base that were replaced or removed since.
    dead: Bits,
    /// What came since the base was built.
    delta: Segment<I>,
    cache: StatsCache,
}

impl<I: Ord + Clone> Bm25Index<I> {
    /// Builds from all facts, in any order. `tokenizer` is the fingerprint of the tokenizer that
    /// the terms come from, `epoch` the state of the facts: [`View`]s whose documents are not known
    /// to have [stood](View::stood_at) in it are refused. O(n log n) time for n postings.
    ///
    /// # Errors
    /// [`SparseError::DuplicateRow`], [`SparseError::DuplicateDocument`],
    /// [`SparseError::TooLarge`].
    pub fn build(
        tokenizer: Fingerprint,
        documents: impl IntoIterator<Item = DocumentRows<I>>,
        epoch: u64,
    ) -> Result<Self, SparseError> {
        let (base, _) = segment(documents)?;
        Ok(Self::of(tokenizer, base, epoch))
    }

    pub(crate) fn of(tokenizer: Fingerprint, base: Segment<I>, epoch: u64) -> Self {
        Self {
            fingerprint: fingerprint(&tokenizer),
            tokenizer,
            epoch,
            dead: Bits::new(base.len()),
            base,
            delta: Segment::default(),
            cache: StatsCache::new(STATS_BYTES),
        }
    }

    /// With another bound, in bytes, for the statistics of views that are kept (64 MiB by
    /// default). One view takes a bit a row and at most some 300 KB beside.
    #[must_use]
    pub fn with_stats_bytes(mut self, bytes: usize) -> Self {
        self.cache = StatsCache::new(bytes);
        self
    }

    /// Writes documents, each in place of the rows it had; one without rows is removed. Afterwards
    /// the index answers as one that was built from the present facts. On an error nothing has
    /// changed.
    ///
    /// `epoch` is the state of the facts that the index has now: the one before, or another one of
    /// the same history, where each number is one state; and in one state, names of documents are
    /// unique. For facts that went another way, build another index: what is kept of views would be
    /// taken for theirs.
    ///
    /// O(rows + postings that changed since the last merge); a merge, now and then, is O(postings).
    /// What is kept of views stays: all of it when nothing changes, otherwise what stands in the
    /// base, but for views of which a document was replaced or removed. A merge ends it.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    ///
    /// ```
    /// use cornu_core::Fingerprint;
    /// use cornu_sparse::{Bm25Index, DocumentRows, Row, TermCounts};
    ///
    /// let row = |id| Row { id, counts: TermCounts::from_pairs(1, [("gradient", 1)]).unwrap() };
    /// let tokenizer = Fingerprint::new("by hand");
    /// let first = DocumentRows { document: 0, rows: vec![row("a"), row("b")] };
    /// let mut index = Bm25Index::build(tokenizer.clone(), [first], 1)?;
    ///
    /// let changed = DocumentRows { document: 0, rows: vec![row("c")] };
    /// index.apply([changed.clone()], 2)?;
    /// index.compact()?;
    /// assert_eq!(index, Bm25Index::build(tokenizer, [changed], 2)?);
    /// # Ok::<(), cornu_sparse::SparseError>(())
    /// ```
    pub fn apply(
        &mut self,
        changes: impl IntoIterator<Item = DocumentRows<I>>,
        epoch: u64,
    ) -> Result<(), SparseError> {
        let (fresh, documents) = segment(changes)?;
        if !documents.is_empty() {
            let (base, delta, new) = (self.base.rows()?, self.delta.rows()?, fresh.rows()?);
            let replaced = |rows: Rows<'_, I>, dead: &mut Bits| {
                for (row, document) in rows.documents.iter().enumerate() {
                    if documents.contains(document) {
                        dead.insert(row);
                    }
                }
            };
            let mut dead = self.dead.clone();
            replaced(base, &mut dead);
            let mut stale = Bits::new(self.delta.len());
            replaced(delta, &mut stale);
            for (id, &document) in new.ids.iter().zip(new.documents) {
                let lives = |rows: Rows<'_, I>, dead: &Bits| {
                    let row = rows.row_of(id);
                    row.is_some_and(|row| !dead.contains(row as usize))
                };
                if lives(base, &dead) || lives(delta, &stale) {
                    return Err(SparseError::DuplicateRow { document });
                }
            }
            self.delta = self.delta.merge(&stale, &fresh)?;
            self.dead = dead;
            self.cache.change(&self.dead);
        }
        self.epoch = epoch;
        let large = self.delta.postings_len() > SMALL.max(self.base.postings_len() / 32);
        if large || self.dead.count() * 4 > self.base.len() {
            self.compact()?;
        }
        Ok(())
    }

    /// Merges all changes into the base. Only the layout changes; afterwards it is, bit for bit,
    /// that of a fresh build. O(postings).
    ///
    /// # Errors
    /// [`SparseError::TooLarge`], [`SparseError::Damaged`]; then nothing has changed.
    pub fn compact(&mut self) -> Result<(), SparseError> {
        if self.is_compact() {
            return Ok(());
        }
        self.base = self.base.merge(&self.dead, &self.delta)?;
        self.dead = Bits::new(self.base.len());
        self.delta = Segment::default();
        self.cache.clear();
        Ok(())
    }

    pub(crate) fn is_compact(&self) -> bool {
        self.delta.len() == 0 && self.dead.count() == 0
    }

    /// The base, with all changes merged into it.
    pub(crate) fn merged(&self) -> Result<Segment<I>, SparseError> {
        self.base.merge(&self.dead, &self.delta)
    }

    pub(crate) fn into_base(self) -> Result<Segment<I>, SparseError> {
        match self.is_compact() {
            true => Ok(self.base),
            false => self.merged(),
        }
    }

    pub(crate) fn base(&self) -> &Segment<I> {
        &self.base
    }

    /// What a view sees, ready to be searched; the index has to hold all of the view's documents.
    /// The view's statistics are kept: they serve it again, and every view with the same digest
    /// whose documents stood in the same state, as long as its documents stand and no merge comes.
    /// O(1) where they are kept, O(rows that changed since the last merge) after a change that the
    /// view does not see, O(rows) otherwise.
    ///
    /// # Errors
    /// [`SparseError::Epoch`] when the view's documents are not known to have
    /// [stood](View::stood_at) at the index's epoch, and [`SparseError::Damaged`].
    pub fn searcher(&self, view: &View) -> Result<Searcher<'_, I>, SparseError> {
        SparseError::check_epoch(view, self.epoch)?;
        let (base, delta) = (self.base.rows()?, self.delta.rows()?);
        let make_base = || SegmentView::new(view, base, &self.dead);
        let make_delta = || SegmentView::new(view, delta, &Bits::default());
        let stats = self.cache.get(view, self.epoch, make_base, make_delta);
        let parts = [(&self.base, base), (&self.delta, delta)];
        Ok(Searcher::new(parts, stats))
    }

    /// Everything that the index depends on beside its facts, the tokenizer's fingerprint among
    /// it.
    #[must_use]
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The tokenizer that the terms come from. Queries have to come from the same.
    #[must_use]
    pub fn tokenizer(&self) -> &Fingerprint {
        &self.tokenizer
    }

    /// The state of the facts.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Number of postings, those that changes have replaced and no merge has dropped yet among
    /// them. For the owner of the index: no view has a part in it.
    #[must_use]
    pub fn postings(&self) -> usize {
        self.base.postings_len() + self.delta.postings_len()
    }

    /// Bytes on the heap, the statistics of views among them, without what ids point to. For the
    /// owner of the index.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.base.heap_bytes()
            + self.delta.heap_bytes()
            + self.dead.heap_bytes()
            + self.cache.bytes()
    }
}

impl<I> Bm25Index<I> {
    /// The base, its rows that are dead, and what came since.
    pub(crate) fn into_parts(self) -> (Segment<I>, Bits, Segment<I>) {
        (self.base, self.dead, self.delta)
    }
}

/// The same counts in the same layout, at the same epoch, of the same tokenizer.
impl<I: PartialEq> PartialEq for Bm25Index<I> {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
            && self.epoch == other.epoch
            && self.base == other.base
            && self.dead == other.dead
            && self.delta == other.delta
    }
}

/// Everything that the counts depend on beside the facts.
pub(crate) fn fingerprint(tokenizer: &Fingerprint) -> Fingerprint {
    Fingerprint::new("cornu bm25 counts")
        .with("format", 1)
        .with("length", "words, not their parts")
        .with("tokenizer", tokenizer)
}

/// The segment of these documents, and their ordinals.
pub(crate) fn segment<I: Ord>(
    documents: impl IntoIterator<Item = DocumentRows<I>>,
) -> Result<(Segment<I>, BTreeSet<u32>), SparseError> {
    let mut ordinals = BTreeSet::new();
    let mut rows = Vec::new();
    for DocumentRows {
        document,
        rows: its,
    } in documents
    {
        if !ordinals.insert(document) {
            return Err(SparseError::DuplicateDocument { document });
        }
        rows.extend(its.into_iter().map(|row| (document, row)));
    }
    Ok((Segment::build(rows)?, ordinals))
}
