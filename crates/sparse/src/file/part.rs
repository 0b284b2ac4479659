//! Arrays that stand on the heap or in a file, whose bytes are compared with their hashes when
//! they are first touched.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::AnyBitPattern;

/// Bytes that are hashed together. Small, because looking up one term touches a dozen places.
pub(crate) const PAGE: usize = 16 << 10;

/// The file is not as it was written; the index is to be built anew from the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// The bytes of a file, page by page.
pub(crate) struct Pages {
    bytes: Box<dyn AsRef<[u8]> + Send + Sync>,
    /// Where the pages lie.
    body: Range<usize>,
    /// The hash of each.
    hashes: Vec<[u8; 32]>,
    /// Those whose hash was compared and agreed.
    verified: Vec<AtomicBool>,
}

impl Pages {
    pub(super) fn new(
        bytes: Box<dyn AsRef<[u8]> + Send + Sync>,
        body: Range<usize>,
        hashes: Vec<[u8; 32]>,
    ) -> Self {
        let verified = hashes.iter().map(|_| AtomicBool::new(false)).collect();
        Self {
            bytes,
            body,
            hashes,
            verified,
        }
    }

    /// Bytes of the body, whose pages are verified.
    fn get(&self, range: Range<usize>) -> Result<&[u8], Damaged> {
        let body = (*self.bytes)
            .as_ref()
            .get(self.body.clone())
            .ok_or(Damaged)?;
        for page in range.start / PAGE..range.end.div_ceil(PAGE) {
            let verified = self.verified.get(page).ok_or(Damaged)?;
            // Relaxed: the flag guards nothing but itself; the bytes do not change.
            if verified.load(Ordering::Relaxed) {
                continue;
            }
            let end = body.len().min((page + 1) * PAGE);
            let bytes = body.get(page * PAGE..end).ok_or(Damaged)?;
            if self.hashes.get(page) != Some(blake3::hash(bytes).as_bytes()) {
                return Err(Damaged);
            }
            verified.store(true, Ordering::Relaxed);
        }
        body.get(range).ok_or(Damaged)
    }
}

/// An array, on the heap or in a file.
#[derive(Clone)]
pub(crate) enum Part<T> {
    Owned(Vec<T>),
    Mapped {
        pages: Arc<Pages>,
        /// Bytes of the body.
        range: Range<usize>,
        cast: fn(&[u8]) -> Option<&[T]>,
    },
}

impl<T> Part<T> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Owned(values) => values.len(),
            Self::Mapped { range, .. } => range.len() / size_of::<T>().max(1),
        }
    }

    /// Some of the values. O(1), and in a file a hash for each page that is touched first.
    pub(crate) fn get(&self, range: Range<usize>) -> Result<&[T], Damaged> {
        match self {
            Self::Owned(values) => values.get(range).ok_or(Damaged),
            Self::Mapped {
                pages,
                range: whole,
                cast,
            } => {
                let place = |at: usize| {
                    let bytes = at.checked_mul(size_of::<T>())?;
                    whole.start.checked_add(bytes).filter(|&at| at <= whole.end)
                };
                match (place(range.start), place(range.end)) {
                    (Some(start), Some(end)) if start <= end => {
                        cast(pages.get(start..end)?).ok_or(Damaged)
                    }
                    _ => Err(Damaged),
                }
            }
        }
    }

    pub(crate) fn all(&self) -> Result<&[T], Damaged> {
        self.get(0..self.len())
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Owned(values) => size_of_val(values.as_slice()),
            Self::Mapped { .. } => 0,
        }
    }
}

impl<T: AnyBitPattern> Part<T> {
    pub(super) fn mapped(pages: &Arc<Pages>, range: Range<usize>) -> Self {
        Self::Mapped {
            pages: Arc::clone(pages),
            range,
            cast: |bytes| bytemuck::try_cast_slice(bytes).ok(),
        }
    }
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self::Owned(Vec::new())
    }
}

impl<T> From<Vec<T>> for Part<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Owned(values)
    }
}

/// Equal values; parts that are damaged equal nothing.
impl<T: PartialEq> PartialEq for Part<T> {
    fn eq(&self, other: &Self) -> bool {
        matches!((self.all(), other.all()), (Ok(a), Ok(b)) if a == b)
    }
}

impl<T: fmt::Debug> fmt::Debug for Part<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owned(values) => values.fmt(f),
            Self::Mapped { range, .. } => write!(f, "bytes {range:?} of a file"),
        }
    }
}
