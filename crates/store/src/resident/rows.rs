//! Rows by number, for what is derived from them.

use cornu_core::ChunkId;

use super::segment::{Damaged, Segment};
use super::{Place, Resident};
use crate::options::Scanning;
use crate::score::Query;

/// All live rows, by document and by place.
pub(crate) struct Rows<'r> {
    at: Vec<(&'r Segment, u32)>,
}

impl<'r> Rows<'r> {
    pub(crate) fn len(&self) -> usize {
        self.at.len()
    }

    pub(crate) fn get(&self, row: usize) -> Result<(ChunkId, &'r [f32]), Damaged> {
        let (segment, row) = *self.at.get(row).ok_or(Damaged)?;
        let row = row as usize;
        Ok((segment.id(row)?, segment.values(row..row + 1)?))
    }
}

impl Resident {
    /// Live documents that have vectors, by ordinal.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// 16 bytes a row.
    pub(crate) fn rows(&self) -> Result<Rows<'_>, Damaged> {
        let mut at = Vec::with_capacity(self.live());
        for place in &self.places {
            let (rows, segment) = place.rows_of(self)?;
            for row in rows {
                at.push((segment, u32::try_from(row).map_err(|_| Damaged)?));
            }
        }
        Ok(Rows { at })
    }

    /// A row of a place.
    pub(crate) fn row_of(&self, place: &Place, row: u32) -> Result<(ChunkId, &[f32]), Damaged> {
        let (rows, segment) = place.rows_of(self)?;
        let at = rows.start + row as usize;
        if at >= rows.end {
            return Err(Damaged);
        }
        Ok((segment.id(at)?, segment.values(at..at + 1)?))
    }

    /// As [`candidates`](Self::candidates), among the documents of these ordinals, which ascend.
    pub(crate) fn candidates_among(
        &self,
        ordinals: impl Iterator<Item = u32>,
        query: &Query,
        k: usize,
        scanning: Scanning<'_>,
    ) -> Result<Vec<(ChunkId, f64)>, Damaged> {
        self.best_of(&self.runs(ordinals)?, query, k, scanning)
    }
}
