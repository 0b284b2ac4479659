//! Terms in byte order, end to end in one string.

use std::cmp::Ordering;

use crate::file::{Damaged, Part};

/// Terms numbered from 0 in byte order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Dictionary {
    text: Part<u8>,
    ends: Part<u64>,
}

/// Takes terms in order, and becomes a [`Dictionary`].
#[derive(Default)]
pub(crate) struct Terms {
    text: Vec<u8>,
    ends: Vec<u64>,
}

impl Terms {
    /// Adds the next term; it has to come after all others.
    pub(crate) fn push(&mut self, term: &[u8]) {
        self.text.extend_from_slice(term);
        self.ends.push(self.text.len() as u64);
    }

    pub(crate) fn finish(self) -> Dictionary {
        Dictionary::new(self.text.into(), self.ends.into())
    }
}

impl Dictionary {
    pub(crate) fn new(text: Part<u8>, ends: Part<u64>) -> Self {
        Self { text, ends }
    }

    /// The bytes of the terms, and where each ends.
    pub(crate) fn parts(&self) -> (&Part<u8>, &Part<u64>) {
        (&self.text, &self.ends)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A term's bytes; it has to be one that is there.
    pub(crate) fn get(&self, at: usize) -> Result<&[u8], Damaged> {
        let place = |end: &u64| usize::try_from(*end).map_err(|_| Damaged);
        let range = match at.checked_sub(1) {
            None => match self.ends.get(0..1)? {
                [end] => 0..place(end)?,
                _ => return Err(Damaged),
            },
            Some(before) => match self.ends.get(before..at + 1)? {
                [start, end] => place(start)?..place(end)?,
                _ => return Err(Damaged),
            },
        };
        self.text.get(range)
    }

    /// O(log terms) comparisons.
    pub(crate) fn find(&self, term: &str) -> Result<Option<u32>, Damaged> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle)?.cmp(term.as_bytes()) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok(u32::try_from(middle).ok()),
                Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.text.heap_bytes() + self.ends.heap_bytes()
    }
}
