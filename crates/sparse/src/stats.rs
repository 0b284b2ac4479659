//! What a view's statistics are computed from, and the cache that keeps them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cornu_core::View;

use crate::bits::Bits;
use crate::gallop::gallop;
use crate::segment::Rows;

/// Document frequencies that one view's statistics remember for one segment.
const REMEMBERED: usize = 1 << 14;

/// What the rows that a view sees add up to. Exact: integers over these rows alone.
#[derive(Debug)]
pub(crate) struct ViewStats {
    pub(crate) base: SegmentView,
    pub(crate) delta: SegmentView,
    /// Rows that are seen and not empty.
    pub(crate) rows: u64,
    /// Their words.
    pub(crate) words: u64,
}

/// The rows of one segment that a view sees.
#[derive(Debug)]
pub(crate) struct SegmentView {
    pub(crate) visible: Bits,
    /// How many.
    pub(crate) count: usize,
    /// Whether that is all of the segment.
    pub(crate) all: bool,
    frequencies: Mutex<HashMap<u32, u32>>,
    remembers: usize,
}

impl ViewStats {
    /// O(rows) time.
    pub(crate) fn new<I>(view: &View, base: Rows<'_, I>, dead: &Bits, delta: Rows<'_, I>) -> Self {
        let seen = Seen::new(view, base, delta);
        let (mut rows, mut words) = (0, 0);
        let mut look = |part: Rows<'_, I>, dead: &Bits| {
            let mut visible = Bits::new(part.ids.len());
            let mut count = 0;
            let both = part.documents.iter().zip(part.lengths);
            for (row, (&document, &length)) in both.enumerate() {
                if seen.contains(document) && !dead.contains(row) {
                    visible.insert(row);
                    count += 1;
                    rows += u64::from(length > 0);
                    words += u64::from(length);
                }
            }
            SegmentView {
                visible,
                count,
                all: count == part.ids.len(),
                frequencies: Mutex::default(),
                remembers: REMEMBERED.min(part.postings),
            }
        };
        let base = look(base, dead);
        let delta = look(delta, &Bits::default());
        Self {
            base,
            delta,
            rows,
            words,
        }
    }

    /// An upper bound of the bytes on the heap, now and later.
    pub(crate) fn bytes(&self) -> usize {
        const ENTRY: usize = 2 * (2 * size_of::<u32>() + 1); // a hash map at half load
        [&self.base, &self.delta]
            .into_iter()
            .map(|view| view.visible.heap_bytes() + view.remembers * ENTRY)
            .sum::<usize>()
            + size_of::<Self>()
    }
}

impl SegmentView {
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

/// The documents of a view: bits where ordinals are dense, the view itself where they are not.
enum Seen<'a> {
    Dense(Bits),
    Sparse(&'a View),
}

impl<'a> Seen<'a> {
    fn new<I>(view: &'a View, base: Rows<'_, I>, delta: Rows<'_, I>) -> Self {
        let documents = || base.documents.iter().chain(delta.documents);
        let size = documents().max().map_or(0, |&last| last as usize + 1);
        if size / 64 > documents().count() {
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

/// Statistics by the digest of the view, within a byte bound; the least recently used go first.
#[derive(Debug)]
pub(crate) struct StatsCache {
    bound: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_view: BTreeMap<[u8; 32], (Arc<ViewStats>, u64)>,
    bytes: usize,
    uses: u64,
}

impl StatsCache {
    pub(crate) fn new(bound: usize) -> Self {
        Self {
            bound,
            kept: Mutex::default(),
        }
    }

    /// The bytes that the statistics kept may take.
    pub(crate) fn bound(&self) -> usize {
        self.bound
    }

    pub(crate) fn bytes(&self) -> usize {
        lock(&self.kept).bytes
    }

    pub(crate) fn get(
        &self,
        digest: &[u8; 32],
        make: impl FnOnce() -> ViewStats,
    ) -> Arc<ViewStats> {
        {
            let mut kept = lock(&self.kept);
            kept.uses += 1;
            let now = kept.uses;
            if let Some((stats, used)) = kept.by_view.get_mut(digest) {
                *used = now;
                return Arc::clone(stats);
            }
        }
        let stats = Arc::new(make()); // without the lock: others need not wait
        let bytes = stats.bytes();
        if bytes <= self.bound {
            let mut kept = lock(&self.kept);
            let now = kept.uses;
            if let Some((old, _)) = kept.by_view.insert(*digest, (Arc::clone(&stats), now)) {
                kept.bytes -= old.bytes();
            }
            kept.bytes += bytes;
            while kept.bytes > self.bound {
                let oldest = kept.by_view.iter().filter(|(key, _)| *key != digest);
                let oldest = oldest
                    .min_by_key(|(_, (_, used))| *used)
                    .map(|(key, _)| *key);
                match oldest.and_then(|key| kept.by_view.remove(&key)) {
                    Some((old, _)) => kept.bytes -= old.bytes(),
                    None => break,
                }
            }
        }
        stats
    }
}

/// A poisoned lock guards counters that are whole at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
