//! Rows that stand together.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use cornu_core::ChunkId;
use memmap2::Mmap;

use crate::codes::{BitCodes, Int8Codes};

/// Rows that are hashed together: 384 KiB at dimension 384.
pub(super) const BLOCK_ROWS: usize = 256;

/// Rows of f32 with the id of each row's chunk, and their codes once they were asked for.
pub(crate) struct Segment {
    dimension: usize,
    rows: usize,
    store: Rows,
    int8: OnceLock<Int8Codes>,
    bits: OnceLock<BitCodes>,
}

enum Rows {
    Owned {
        values: Vec<f32>,
        ids: Vec<[u8; 32]>,
    },
    Mapped(Mapped),
}

/// The sections of a mapped file. Where they lie was checked when the file was opened.
pub(super) struct Mapped {
    pub(super) map: Mmap,
    pub(super) ids: Range<usize>,
    pub(super) values: Range<usize>,
    /// The hash of each block of rows.
    pub(super) hashes: Vec<[u8; 32]>,
    /// Blocks whose hash was compared and agreed.
    pub(super) verified: Vec<AtomicBool>,
}

/// The file is not as it was written; it is to be built anew from the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

impl Segment {
    /// Rows in memory: `ids.len()` times `dimension` values.
    pub(super) fn owned(dimension: usize, values: Vec<f32>, ids: Vec<[u8; 32]>) -> Self {
        Self::new(dimension, ids.len(), Rows::Owned { values, ids })
    }

    pub(super) fn mapped(dimension: usize, rows: usize, mapped: Mapped) -> Self {
        Self::new(dimension, rows, Rows::Mapped(mapped))
    }

    fn new(dimension: usize, rows: usize, store: Rows) -> Self {
        Self {
            dimension,
            rows,
            store,
            int8: OnceLock::new(),
            bits: OnceLock::new(),
        }
    }

    /// The rows in 8 bits.
    pub(super) fn int8(&self) -> Result<&Int8Codes, Damaged> {
        self.coded(&self.int8, |rows| Int8Codes::new(rows, self.dimension))
    }

    /// The rows in one bit a component. The centre is the same at each call: it is the store's.
    pub(super) fn bits(&self, centre: Option<&[f32]>) -> Result<&BitCodes, Damaged> {
        self.coded(&self.bits, |rows| {
            BitCodes::new(rows, self.dimension, centre)
        })
    }

    /// Made at first, and then at hand. Threads that come at the same time may each make them, and
    /// one is kept: making them under a lock would have threads of one pool wait for each other.
    fn coded<'s, T>(
        &'s self,
        held: &'s OnceLock<T>,
        make: impl FnOnce(&[f32]) -> T,
    ) -> Result<&'s T, Damaged> {
        if let Some(codes) = held.get() {
            return Ok(codes);
        }
        let made = make(self.values(0..self.rows)?);
        Ok(held.get_or_init(|| made))
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.store, Rows::Mapped(_))
    }

    /// The values of some rows. The blocks of a file are verified when they are first touched:
    /// reading them costs about as much as hashing them does.
    pub(super) fn values(&self, rows: Range<usize>) -> Result<&[f32], Damaged> {
        let at = rows.start * self.dimension..rows.end * self.dimension;
        match &self.store {
            Rows::Owned { values, .. } => values.get(at).ok_or(Damaged),
            Rows::Mapped(mapped) => {
                let all = mapped.all()?;
                mapped.verify(all, rows, self.dimension)?;
                all.get(at).ok_or(Damaged)
            }
        }
    }

    pub(super) fn id(&self, row: usize) -> Result<ChunkId, Damaged> {
        let id = match &self.store {
            Rows::Owned { ids, .. } => ids.get(row).copied(),
            Rows::Mapped(mapped) => {
                let ids = mapped.map.get(mapped.ids.clone()).ok_or(Damaged)?;
                ids.as_chunks::<32>().0.get(row).copied()
            }
        };
        id.map(ChunkId::from_bytes).ok_or(Damaged)
    }
}

impl Mapped {
    fn all(&self) -> Result<&[f32], Damaged> {
        let bytes = self.map.get(self.values.clone()).ok_or(Damaged)?;
        bytemuck::try_cast_slice(bytes).map_err(|_| Damaged)
    }

    fn verify(&self, all: &[f32], rows: Range<usize>, dimension: usize) -> Result<(), Damaged> {
        let blocks = rows.start / BLOCK_ROWS..rows.end.div_ceil(BLOCK_ROWS);
        for block in blocks {
            let verified = self.verified.get(block).ok_or(Damaged)?;
            // Relaxed: the flag guards nothing but itself; the bytes do not change.
            if verified.load(Ordering::Relaxed) {
                continue;
            }
            let size = BLOCK_ROWS * dimension;
            let end = all.len().min((block + 1) * size);
            let values = all.get(block * size..end).ok_or(Damaged)?;
            let hash = blake3::hash(bytemuck::cast_slice(values));
            if self.hashes.get(block) != Some(hash.as_bytes()) {
                return Err(Damaged);
            }
            verified.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}
