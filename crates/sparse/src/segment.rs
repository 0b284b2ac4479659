//! The matrix: terms × rows, with the raw counts. Built once, then only read.

mod merge;

use std::collections::HashMap;

use sprs::CsMatI;

use crate::counts::Row;
use crate::dictionary::{Dictionary, Terms};
use crate::error::SparseError;
use crate::file::{Damaged, Part};

/// Postings in a block.
pub(crate) const BLOCK: usize = 128;

/// Rows in order of their ids, and the counts of every term over them. A function of the set of
/// rows: whatever order they came in, and whatever stood between them, the bytes are the same.
///
/// On the heap, or in a file whose bytes are verified when they are first touched; so whatever
/// reads may find damage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Segment<I> {
    pub(crate) ids: Part<I>,
    pub(crate) documents: Part<u32>,
    pub(crate) lengths: Part<u32>,
    pub(crate) dictionary: Dictionary,
    /// The matrix of counts by term, in compressed rows: where each term starts, and where the
    /// last one ends; the rows that hold it; how often.
    pub(crate) starts: Part<u64>,
    pub(crate) indices: Part<u32>,
    pub(crate) counts: Part<u32>,
    pub(crate) blocks: Part<Block>,
    /// Where each term's blocks start, and where the last one's end.
    pub(crate) block_starts: Part<u32>,
}

/// What bounds the score of every posting of a block, whatever a view's statistics, since no
/// formula gives more for a smaller count or a greater length: the largest count, and the smallest
/// length.
pub(crate) type Block = [u32; 2];

/// The rows of a segment, read and found whole.
pub(crate) struct Rows<'a, I> {
    pub(crate) ids: &'a [I],
    /// The document of each.
    pub(crate) documents: &'a [u32],
    pub(crate) lengths: &'a [u32],
    /// How many postings they have together.
    pub(crate) postings: usize,
}

/// One term's postings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Postings<'a> {
    /// Ascending.
    pub(crate) rows: &'a [u32],
    pub(crate) counts: &'a [u32],
    /// Of [`BLOCK`] postings each.
    pub(crate) blocks: &'a [Block],
}

impl<I: Ord> Segment<I> {
    /// O(n log n) time for n postings; 12 bytes a posting beside the result while it is built.
    pub(crate) fn build(mut rows: Vec<(u32, Row<I>)>) -> Result<Self, SparseError> {
        rows.sort_unstable_by(|(_, a), (_, b)| a.id.cmp(&b.id));
        let twins = rows.windows(2).find_map(|pair| match pair {
            [(_, a), (document, b)] if a.id == b.id => Some(*document),
            _ => None,
        });
        if let Some(document) = twins {
            return Err(SparseError::DuplicateRow { document });
        }
        let (names, postings) = intern(&rows)?;
        let mut sorted: Vec<u32> = (0..).take(names.len()).collect();
        sorted.sort_unstable_by_key(|&term| names.get(term as usize));
        let mut rank = vec![0_usize; names.len()];
        for (at, &term) in sorted.iter().enumerate() {
            if let Some(rank) = rank.get_mut(term as usize) {
                *rank = at;
            }
        }
        let mut dictionary = Terms::default();
        for term in sorted {
            let name = names.get(term as usize).copied().unwrap_or_default();
            dictionary.push(name.as_bytes());
        }
        // Postings come row by row, so counting them into place keeps rows ascending.
        let rank_of = |term: u32| rank.get(term as usize).copied().unwrap_or_default();
        let mut indptr = vec![0_usize; names.len() + 1];
        for &(term, ..) in &postings {
            if let Some(size) = indptr.get_mut(rank_of(term) + 1) {
                *size += 1;
            }
        }
        let mut sum = 0;
        for start in &mut indptr {
            sum += *start;
            *start = sum;
        }
        let mut next = indptr.clone();
        let mut indices = vec![0; postings.len()];
        let mut data = vec![0; postings.len()];
        for (term, row, count) in postings {
            if let Some(place) = next.get_mut(rank_of(term)) {
                if let (Some(index), Some(datum)) = (indices.get_mut(*place), data.get_mut(*place))
                {
                    (*index, *datum) = (row, count);
                }
                *place += 1;
            }
        }
        let documents = rows.iter().map(|(document, _)| *document).collect();
        let lengths = rows.iter().map(|(_, row)| row.counts.length()).collect();
        let ids = rows.into_iter().map(|(_, row)| row.id).collect();
        Self::assemble(
            ids,
            documents,
            lengths,
            dictionary.finish(),
            indptr,
            indices,
            data,
        )
    }

    fn assemble(
        ids: Vec<I>,
        documents: Vec<u32>,
        lengths: Vec<u32>,
        dictionary: Dictionary,
        indptr: Vec<usize>,
        indices: Vec<u32>,
        data: Vec<u32>,
    ) -> Result<Self, SparseError> {
        let mut blocks = Vec::new();
        let mut block_starts = vec![0];
        for ends in indptr.windows(2) {
            let &[start, end] = ends else { continue };
            let rows = indices.get(start..end).unwrap_or_default().chunks(BLOCK);
            let counts = data.get(start..end).unwrap_or_default().chunks(BLOCK);
            blocks.extend(rows.zip(counts).map(|(rows, counts)| {
                let lengths = rows.iter().filter_map(|&row| lengths.get(row as usize));
                [
                    counts.iter().copied().max().unwrap_or(0),
                    lengths.copied().min().unwrap_or(0),
                ]
            }));
            block_starts.push(u32::try_from(blocks.len()).map_err(|_| SparseError::TooLarge)?);
        }
        let shape = (dictionary.len(), ids.len());
        let matrix = CsMatI::<u32, u32, usize>::try_new(shape, indptr, indices, data);
        let (indptr, indices, counts) = matrix
            .map_err(|_| SparseError::TooLarge)?
            .into_raw_storage();
        let starts: Vec<u64> = indptr.into_iter().map(|start| start as u64).collect();
        Ok(Self {
            ids: ids.into(),
            documents: documents.into(),
            lengths: lengths.into(),
            dictionary,
            starts: starts.into(),
            indices: indices.into(),
            counts: counts.into(),
            blocks: blocks.into(),
            block_starts: block_starts.into(),
        })
    }
}

impl<I> Segment<I> {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// O(1), and in a file a hash over 8 bytes a row and the ids, once.
    pub(crate) fn rows(&self) -> Result<Rows<'_, I>, Damaged> {
        Ok(Rows {
            ids: self.ids.all()?,
            documents: self.documents.all()?,
            lengths: self.lengths.all()?,
            postings: self.postings_len(),
        })
    }

    /// Number of pairs of a term and a row that holds it.
    pub(crate) fn postings_len(&self) -> usize {
        self.indices.len()
    }

    /// The number of a term; it means nothing outside this segment.
    pub(crate) fn term(&self, term: &str) -> Result<Option<u32>, Damaged> {
        self.dictionary.find(term)
    }

    pub(crate) fn postings(&self, term: u32) -> Result<Postings<'_>, Damaged> {
        let ends = term as usize..(term as usize).saturating_add(2);
        let (&[start, end], &[first, last]) =
            (self.starts.get(ends.clone())?, self.block_starts.get(ends)?)
        else {
            return Err(Damaged);
        };
        let place = |at: u64| usize::try_from(at).map_err(|_| Damaged);
        let range = place(start)?..place(end)?;
        Ok(Postings {
            rows: self.indices.get(range.clone())?,
            counts: self.counts.get(range)?,
            blocks: self.blocks.get(first as usize..last as usize)?,
        })
    }

    /// Bytes on the heap, without what ids themselves point to.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.ids.heap_bytes()
            + self.documents.heap_bytes()
            + self.lengths.heap_bytes()
            + self.dictionary.heap_bytes()
            + self.starts.heap_bytes()
            + self.indices.heap_bytes()
            + self.counts.heap_bytes()
            + self.blocks.heap_bytes()
            + self.block_starts.heap_bytes()
    }
}

impl<'a, I> Rows<'a, I> {
    pub(crate) fn id(&self, row: u32) -> Option<&'a I> {
        self.ids.get(row as usize)
    }

    #[inline]
    pub(crate) fn length(&self, row: u32) -> u32 {
        self.lengths.get(row as usize).copied().unwrap_or(0)
    }

    pub(crate) fn row_of(&self, id: &I) -> Option<u32>
    where
        I: Ord,
    {
        let at = self.ids.binary_search(id).ok()?;
        u32::try_from(at).ok()
    }
}

impl<I> Clone for Rows<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Rows<'_, I> {}

impl<I> Default for Segment<I> {
    fn default() -> Self {
        Self {
            ids: Part::default(),
            documents: Part::default(),
            lengths: Part::default(),
            dictionary: Dictionary::default(),
            starts: vec![0].into(),
            indices: Part::default(),
            counts: Part::default(),
            blocks: Part::default(),
            block_starts: vec![0].into(),
        }
    }
}

/// A term, in order of first appearance; a row; the count.
type Triples = Vec<(u32, u32, u32)>;

fn intern<I>(rows: &[(u32, Row<I>)]) -> Result<(Vec<&str>, Triples), SparseError> {
    let mut names = Vec::new();
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut postings = Triples::new();
    for (at, (_, row)) in rows.iter().enumerate() {
        let at = u32::try_from(at).map_err(|_| SparseError::TooLarge)?;
        for (term, count) in row.counts.iter() {
            let next = u32::try_from(names.len()).map_err(|_| SparseError::TooLarge)?;
            let number = *numbers.entry(term).or_insert_with(|| {
                names.push(term);
                next
            });
            postings.push((number, at, count));
        }
    }
    Ok((names, postings))
}
