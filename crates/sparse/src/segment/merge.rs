//! Two segments to one, without going back to the facts.

use std::cmp::Ordering;

use super::{Postings, Segment};
use crate::bits::Bits;
use crate::dictionary::Terms;
use crate::error::SparseError;

impl<I: Ord + Clone> Segment<I> {
    /// The segment of the rows of `self` that are not `dead` and all rows of `other`: the same
    /// bytes as one built from these rows. O(postings + terms · length of a term).
    pub(crate) fn merge(&self, dead: &Bits, other: &Self) -> Result<Self, SparseError> {
        let (ours, others) = (self.rows()?, other.rows()?);
        let rows = self.len() - dead.count() + other.len();
        if u32::try_from(rows).is_err() {
            return Err(SparseError::TooLarge);
        }
        let mut ids = Vec::with_capacity(rows);
        let mut documents = Vec::with_capacity(rows);
        let mut lengths = Vec::with_capacity(rows);
        let mut places = [vec![None; self.len()], vec![None; other.len()]];
        let (mut here, mut there) = (0, 0);
        loop {
            if dead.contains(here) && here < self.len() {
                here += 1;
                continue;
            }
            let first = match (ours.ids.get(here), others.ids.get(there)) {
                (None, None) => break,
                (Some(a), Some(b)) if a == b => {
                    let document = others.documents.get(there).copied();
                    return Err(SparseError::DuplicateRow {
                        document: document.unwrap_or_default(),
                    });
                }
                (Some(a), Some(b)) => a < b,
                (a, _) => a.is_some(),
            };
            let (from, at, map) = match (first, &mut places) {
                (true, [map, _]) => (ours, &mut here, map),
                (false, [_, map]) => (others, &mut there, map),
            };
            if let Some(place) = map.get_mut(*at) {
                *place = u32::try_from(ids.len()).ok();
            }
            ids.extend(from.ids.get(*at).cloned());
            documents.extend(from.documents.get(*at));
            lengths.extend(from.lengths.get(*at));
            *at += 1;
        }
        let [mine, theirs] = places;
        let postings = self.postings_len() + other.postings_len();
        let mut out = Matrix {
            dictionary: Terms::default(),
            indptr: vec![0],
            indices: Vec::with_capacity(postings),
            data: Vec::with_capacity(postings),
        };
        let (mut here, mut there) = (0, 0);
        loop {
            let (a, b) = (self.name(here)?, other.name(there)?);
            let (name, order) = match (a, b) {
                (None, None) => break,
                (Some(a), Some(b)) => (a.min(b), a.cmp(b)),
                (Some(a), None) => (a, Ordering::Less),
                (None, Some(b)) => (b, Ordering::Greater),
            };
            let left = match order.is_le() {
                true => self.postings(u32::try_from(here).unwrap_or(u32::MAX))?,
                false => Postings::default(),
            };
            let right = match order.is_ge() {
                true => other.postings(u32::try_from(there).unwrap_or(u32::MAX))?,
                false => Postings::default(),
            };
            out.push(name, left.moved(&mine), right.moved(&theirs));
            here += usize::from(order.is_le());
            there += usize::from(order.is_ge());
        }
        let Matrix {
            dictionary,
            indptr,
            mut indices,
            mut data,
        } = out;
        indices.shrink_to_fit();
        data.shrink_to_fit();
        let dictionary = dictionary.finish();
        Self::assemble(ids, documents, lengths, dictionary, indptr, indices, data)
    }

    /// The name of a term; `None` behind the last one.
    fn name(&self, term: usize) -> Result<Option<&[u8]>, SparseError> {
        match term < self.dictionary.len() {
            true => Ok(Some(self.dictionary.get(term)?)),
            false => Ok(None),
        }
    }
}

impl<'a> Postings<'a> {
    /// The postings under new numbers of rows, ascending, without those that have none.
    fn moved(self, places: &'a [Option<u32>]) -> impl Iterator<Item = (u32, u32)> + 'a {
        let moved = |(&row, &count): (&u32, &u32)| Some(((*places.get(row as usize)?)?, count));
        self.rows.iter().zip(self.counts).filter_map(moved)
    }
}

struct Matrix {
    dictionary: Terms,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    data: Vec<u32>,
}

impl Matrix {
    /// Adds a term with the postings of both sides; a term without any is left out.
    fn push(
        &mut self,
        name: &[u8],
        left: impl Iterator<Item = (u32, u32)>,
        right: impl Iterator<Item = (u32, u32)>,
    ) {
        let (mut left, mut right) = (left.peekable(), right.peekable());
        let start = self.indices.len();
        loop {
            let next = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) if b.0 < a.0 => right.next(),
                (None, _) => right.next(),
                _ => left.next(),
            };
            let Some((row, count)) = next else { break };
            self.indices.push(row);
            self.data.push(count);
        }
        if self.indices.len() > start {
            self.dictionary.push(name);
            self.indptr.push(self.indices.len());
        }
    }
}
