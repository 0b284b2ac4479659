//! The matrix: terms × rows, with the raw counts. Built once, then only read.

mod merge;

use std::collections::HashMap;

use sprs::CsMatI;

use crate::counts::Row;
use crate::dictionary::Dictionary;
use crate::error::SparseError;

/// Postings in a block.
pub(crate) const BLOCK: usize = 128;

/// Rows in order of their ids, and the counts of every term over them. A function of the set of
/// rows: whatever order they came in, and whatever stood between them, the bytes are the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Segment<I> {
    ids: Vec<I>,
    documents: Vec<u32>,
    lengths: Vec<u32>,
    dictionary: Dictionary,
    counts: CsMatI<u32, u32, usize>,
    blocks: Vec<Block>,
    /// Where each term's blocks start, and where the last one's end.
    block_starts: Vec<u32>,
}

/// What bounds the score of every posting of a block, whatever a view's statistics: no formula
/// gives more for a smaller count or a greater length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) most: u32,
    pub(crate) shortest: u32,
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
        let mut dictionary = Dictionary::default();
        for term in sorted {
            dictionary.push(names.get(term as usize).copied().unwrap_or_default());
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
        Self::assemble(ids, documents, lengths, dictionary, indptr, indices, data)
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
                Block {
                    most: counts.iter().copied().max().unwrap_or(0),
                    shortest: lengths.copied().min().unwrap_or(0),
                }
            }));
            block_starts.push(u32::try_from(blocks.len()).map_err(|_| SparseError::TooLarge)?);
        }
        let shape = (dictionary.len(), ids.len());
        let counts = CsMatI::try_new(shape, indptr, indices, data);
        Ok(Self {
            ids,
            documents,
            lengths,
            dictionary,
            counts: counts.map_err(|_| SparseError::TooLarge)?,
            blocks,
            block_starts,
        })
    }

    pub(crate) fn row_of(&self, id: &I) -> Option<u32> {
        let at = self.ids.binary_search(id).ok()?;
        u32::try_from(at).ok()
    }
}

impl<I> Segment<I> {
    pub(crate) fn id(&self, row: u32) -> Option<&I> {
        self.ids.get(row as usize)
    }

    pub(crate) fn ids(&self) -> &[I] {
        &self.ids
    }

    pub(crate) fn documents(&self) -> &[u32] {
        &self.documents
    }

    pub(crate) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    #[inline]
    pub(crate) fn length(&self, row: u32) -> u32 {
        self.lengths.get(row as usize).copied().unwrap_or(0)
    }

    /// Number of pairs of a term and a row that holds it.
    pub(crate) fn postings_len(&self) -> usize {
        self.counts.nnz()
    }

    /// The number of a term; it means nothing outside this segment.
    pub(crate) fn term(&self, term: &str) -> Option<u32> {
        self.dictionary.find(term)
    }

    pub(crate) fn postings(&self, term: u32) -> Postings<'_> {
        let term = term as usize;
        let bounds = |starts: &[u32]| Some((*starts.get(term)?, *starts.get(term + 1)?));
        let (Some(range), Some((first, last))) = (
            self.counts
                .indptr()
                .raw_storage()
                .get(term..term + 2)
                .and_then(|ends| Some(*ends.first()?..*ends.last()?)),
            bounds(&self.block_starts),
        ) else {
            return Postings::default();
        };
        Postings {
            rows: self.counts.indices().get(range.clone()).unwrap_or_default(),
            counts: self.counts.data().get(range).unwrap_or_default(),
            blocks: self
                .blocks
                .get(first as usize..last as usize)
                .unwrap_or_default(),
        }
    }

    /// Bytes on the heap, without what ids themselves point to.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.ids.len() * (size_of::<I>() + 2 * size_of::<u32>())
            + self.dictionary.heap_bytes()
            + self.counts.nnz() * 2 * size_of::<u32>()
            + size_of_val(self.counts.indptr().raw_storage())
            + self.blocks.len() * size_of::<Block>()
            + self.block_starts.len() * size_of::<u32>()
    }
}

impl<I: Ord> Default for Segment<I> {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            documents: Vec::new(),
            lengths: Vec::new(),
            dictionary: Dictionary::default(),
            counts: CsMatI::zero((0, 0)),
            blocks: Vec::new(),
            block_starts: vec![0],
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
