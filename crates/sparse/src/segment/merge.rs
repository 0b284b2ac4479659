//! Two segments to one, without going back to the facts.

use std::cmp::Ordering;

use super::Segment;
use crate::bits::Bits;
use crate::dictionary::Dictionary;
use crate::error::SparseError;

impl<I: Ord + Clone> Segment<I> {
    /// The segment of the rows of `self` that are not `dead` and all rows of `other`, which share
    /// no id: the same bytes as one built from these rows. O(postings + terms · length of a term).
    pub(crate) fn merge(&self, dead: &Bits, other: &Self) -> Result<Self, SparseError> {
        let rows = self.ids.len() - dead.count() + other.ids.len();
        if u32::try_from(rows).is_err() {
            return Err(SparseError::TooLarge);
        }
        let mut ids = Vec::with_capacity(rows);
        let mut documents = Vec::with_capacity(rows);
        let mut lengths = Vec::with_capacity(rows);
        let mut places = [vec![None; self.ids.len()], vec![None; other.ids.len()]];
        let (mut here, mut there) = (0, 0);
        loop {
            if dead.contains(here) && here < self.ids.len() {
                here += 1;
                continue;
            }
            let first = match (self.ids.get(here), other.ids.get(there)) {
                (None, None) => break,
                (Some(a), Some(b)) => a < b,
                (a, _) => a.is_some(),
            };
            let (segment, at, map) = match (first, &mut places) {
                (true, [map, _]) => (self, &mut here, map),
                (false, [_, map]) => (other, &mut there, map),
            };
            if let Some(place) = map.get_mut(*at) {
                *place = u32::try_from(ids.len()).ok();
            }
            ids.extend(segment.ids.get(*at).cloned());
            documents.extend(segment.documents.get(*at));
            lengths.extend(segment.lengths.get(*at));
            *at += 1;
        }
        let [mine, theirs] = places;
        let postings = self.postings_len() + other.postings_len();
        let mut out = Matrix {
            dictionary: Dictionary::default(),
            indptr: vec![0],
            indices: Vec::with_capacity(postings),
            data: Vec::with_capacity(postings),
        };
        let (mut here, mut there) = (0, 0);
        loop {
            let (a, b) = (self.dictionary.get(here), other.dictionary.get(there));
            let (name, order) = match (a, b) {
                (None, None) => break,
                (Some(a), Some(b)) => (a.min(b), a.cmp(b)),
                (Some(a), None) => (a, Ordering::Less),
                (None, Some(b)) => (b, Ordering::Greater),
            };
            let left = (order.is_le()).then(|| self.moved(here, &mine));
            let right = (order.is_ge()).then(|| other.moved(there, &theirs));
            out.push(
                name,
                left.into_iter().flatten(),
                right.into_iter().flatten(),
            );
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
        Self::assemble(ids, documents, lengths, dictionary, indptr, indices, data)
    }

    /// A term's postings under the new numbers of rows, ascending, without the dead.
    fn moved<'a>(
        &'a self,
        term: usize,
        places: &'a [Option<u32>],
    ) -> impl Iterator<Item = (u32, u32)> {
        let postings =
            u32::try_from(term).map_or_else(|_| Default::default(), |term| self.postings(term));
        let moved = |(&row, &count): (&u32, &u32)| Some(((*places.get(row as usize)?)?, count));
        postings.rows.iter().zip(postings.counts).filter_map(moved)
    }
}

struct Matrix {
    dictionary: Dictionary,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    data: Vec<u32>,
}

impl Matrix {
    /// Adds a term with the postings of both sides; a term without any is left out.
    fn push(
        &mut self,
        name: &str,
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
