//! What a view's statistics are computed from.

mod cache;

pub(crate) use self::cache::StatsCache;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cornu_core::View;

use crate::bits::Bits;
use crate::gallop::gallop;
use crate::segment::Rows;

/// Document frequencies that one view's statistics remember for one segment.
const REMEMBERED: usize = 1 << 14;

/// What the rows that a view sees add up to. Exact: integers over these rows alone.
///
/// In two parts, since the base stays what it is while the delta moves.
#[derive(Clone, Debug)]
pub(crate) struct ViewStats {
    pub(crate) base: Arc<SegmentView>,
    pub(crate) delta: Arc<SegmentView>,
}

/// The rows of one segment that a view sees.
#[derive(Debug)]
pub(crate) struct SegmentView {
    pub(crate) visible: Bits,
    /// How many.
    pub(crate) count: usize,
    /// Whether that is all of the segment.
    pub(crate) all: bool,
    /// Those that are not empty.
    rows: u64,
    /// Their words.
    words: u64,
    frequencies: Mutex<HashMap<u32, u32>>,
    remembers: usize,
}

impl ViewStats {
    /// Rows that are seen and not empty.
    pub(crate) fn rows(&self) -> u64 {
        self.base.rows + self.delta.rows
    }

    /// Their words.
    pub(crate) fn words(&self) -> u64 {
        self.base.words + self.delta.words
    }
}

impl SegmentView {
    /// O(rows of the segment) time, however many documents the view sees.
    pub(crate) fn new<I>(view: &View, part: Rows<'_, I>, dead: &Bits) -> Self {
        let seen = Seen::new(view, part.documents);
        let mut visible = Bits::new(part.ids.len());
        let (mut count, mut rows, mut words) = (0, 0, 0);
        let both = part.documents.iter().zip(part.lengths);
        for (row, (&document, &length)) in both.enumerate() {
            if seen.contains(document) && !dead.contains(row) {
                visible.insert(row);
                count += 1;
                rows += u64::from(length > 0);
                words += u64::from(length);
            }
        }
        Self {
            visible,
            count,
            all: count == part.ids.len(),
            rows,
            words,
            frequencies: Mutex::default(),
            remembers: REMEMBERED.min(part.postings),
        }
    }

    /// An upper bound of its bytes, now and later.
    fn bytes(&self) -> usize {
        const ENTRY: usize = 2 * (2 * size_of::<u32>() + 1); // a hash map at half load
        size_of::<Self>() + self.visible.heap_bytes() + self.remembers * ENTRY
    }

    /// How many of a term's rows are seen. O(postings), or O(seen rows · log) where those are few;
    /// O(1) where it is remembered.
    pub(crate) fn frequency(&self, term: u32, rows: &[u32]) -> u64 {
        if self.all {
            return rows.len() as u64;
        }
        if let Some(&known) = lock(&self.frequencies).get(&term) {
            return u64::from(known);
        }
        let frequency = self.counted(rows);
        let mut memory = lock(&self.frequencies);
        if memory.len() < self.remembers {
            memory.insert(term, frequency);
        }
        u64::from(frequency)
    }

    fn counted(&self, rows: &[u32]) -> u32 {
        let mut seen = 0;
        if self.count * 16 < rows.len() {
            let mut at = 0;
            for row in self.visible.iter() {
                at = gallop(rows, at, row as u32);
                seen += u32::from(rows.get(at).is_some_and(|&found| found as usize == row));
            }
        } else {
            for &row in rows {
                seen += u32::from(self.visible.contains(row as usize));
            }
        }
        seen
    }
}

/// The documents of a view: bits where these are few for the rows that are looked at, the view
/// itself where they are not.
enum Seen<'a> {
    Dense(Bits),
    Sparse(&'a View),
}

impl<'a> Seen<'a> {
    /// Bits are worth making when they cost less than asking the view for every row.
    fn new(view: &'a View, documents: &[u32]) -> Self {
        const WORTH: usize = 8; // numbers put into bits, for each row that asks
        let size = documents.iter().max().map_or(0, |&last| last as usize + 1);
        let numbers = usize::try_from(view.len()).unwrap_or(usize::MAX);
        if numbers.saturating_add(size / 64) > WORTH.saturating_mul(documents.len()) {
            return Self::Sparse(view);
        }
        let mut bits = Bits::new(size);
        for ordinal in view.ordinals() {
            bits.insert(ordinal as usize);
        }
        Self::Dense(bits)
    }

    fn contains(&self, document: u32) -> bool {
        match self {
            Self::Dense(bits) => bits.contains(document as usize),
            Self::Sparse(view) => view.contains(document),
        }
    }
}

/// A poisoned lock guards counters that are whole at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
