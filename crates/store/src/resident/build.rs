//! From one state of the facts to another.

use std::sync::Arc;

use cornu_core::ChunkId;

use super::segment::{Damaged, Segment};
use super::{Place, Resident, half};
use crate::error::StoreError;
use crate::read::{Reader, Version};
use crate::sqlite::schema::State;

/// Segments that a scan walks through without loss; with more, all rows are put together.
const MAX_SEGMENTS: usize = 12;

/// Below this share of live rows all are put together.
const MIN_LIVE: f64 = 0.7;

/// Rows that need no file: reading them from the facts takes a few milliseconds.
const FEW_ROWS: usize = 1024;

/// Where the vectors of a state come from: rows of another state that still stand, and documents
/// whose rows have to be read from the facts. Nothing is read yet, so a file can be written row by
/// row.
pub(crate) struct Plan<'b> {
    base: Option<&'b Resident>,
    state: State,
    dimension: usize,
    /// By ordinal.
    kept: Vec<Place>,
    /// By ordinal.
    missing: Vec<Version>,
    /// Of all documents of the state.
    newest: Option<u32>,
}

impl<'b> Plan<'b> {
    /// For the state that the reader sees, from those of another state or from nothing.
    /// O(documents).
    pub(crate) fn new(
        base: Option<&'b Resident>,
        reader: &Reader<'_>,
        state: State,
        dimension: usize,
    ) -> Result<Self, StoreError> {
        let places = base.map_or(&[][..], |base| &base.places);
        let versions = reader.versions()?;
        let newest = versions.last().map(|version| version.ordinal);
        let (kept, missing) = compare(places, versions);
        Ok(Self {
            base,
            state,
            dimension,
            kept,
            missing,
            newest,
        })
    }

    /// The state that it leads to.
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Rows that are in no file.
    pub(crate) fn unsaved(&self) -> usize {
        self.base.map_or(0, Resident::unsaved) + self.missing_rows()
    }

    /// Whether too much is dead or scattered.
    pub(crate) fn is_scattered(&self) -> bool {
        let slots = self.base.map_or(0, Resident::slots) + self.missing_rows();
        let segments = self.base.map_or(0, |base| base.segments.len());
        let sparse = (self.live() as f64) < MIN_LIVE * slots as f64;
        sparse || segments + usize::from(!self.missing.is_empty()) > MAX_SEGMENTS
    }

    /// Whether a new file is worth its writing: an eighth of the rows are in none, so that over a
    /// growing index each row is written eight times at most.
    pub(crate) fn is_worth_saving(&self) -> bool {
        let unsaved = self.unsaved();
        unsaved > FEW_ROWS && unsaved > self.live() / 8
    }

    pub(super) fn live(&self) -> usize {
        let kept: usize = self.kept.iter().map(|place| place.rows as usize).sum();
        kept + self.missing_rows()
    }

    fn missing_rows(&self) -> usize {
        self.missing.iter().map(|version| version.vectors).sum()
    }

    /// All documents in one segment, by ordinal.
    pub(super) fn places(&self) -> Vec<Place> {
        let mut places = self.kept.clone();
        places.extend(self.missing.iter().map(|version| place(version, 0, 0)));
        places.sort_unstable_by_key(|place| place.ordinal);
        let mut start = 0_u32;
        for place in &mut places {
            (place.segment, place.start) = (0, start);
            start = start.saturating_add(place.rows);
        }
        places
    }

    /// Reads what is missing into a segment of its own, in memory.
    pub(crate) fn read(self, reader: &Reader<'_>) -> Result<Resident, StoreError> {
        let mut segments = self
            .base
            .map_or_else(Vec::new, |base| base.segments.clone());
        let mut places = self.kept;
        if !self.missing.is_empty() {
            let new = u32::try_from(segments.len()).unwrap_or(u32::MAX);
            let rows: usize = self.missing.iter().map(|version| version.vectors).sum();
            let mut values = Vec::with_capacity(rows.saturating_mul(self.dimension));
            let mut ids = Vec::with_capacity(rows);
            read(reader, &self.missing, self.dimension, |_, id, vector| {
                values.extend_from_slice(vector);
                ids.push(*id.as_bytes());
                Ok(())
            })?;
            let mut start = 0_u32;
            for version in &self.missing {
                let place = place(version, new, start);
                start = start.saturating_add(place.rows);
                places.push(place);
            }
            places.sort_unstable_by_key(|place| place.ordinal);
            segments.push(Arc::new(Segment::owned(self.dimension, values, ids)));
        }
        Ok(Resident {
            state: self.state,
            dimension: self.dimension,
            newest: self.newest,
            segments,
            places,
        })
    }

    /// Hands over all rows in the order of [`places`](Self::places), and holds none of them.
    pub(super) fn each_row(
        &self,
        reader: &Reader<'_>,
        mut take: impl FnMut(ChunkId, &[f32]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let damaged = |_: Damaged| reader.damaged("the vectors that were to be copied are damaged");
        let copy = |place: &Place, take: &mut dyn FnMut(ChunkId, &[f32]) -> _| {
            let base = self.base.ok_or(Damaged).map_err(damaged)?;
            let (rows, segment) = place.rows_of(base).map_err(damaged)?;
            for row in rows {
                let id = segment.id(row).map_err(damaged)?;
                take(id, segment.values(row..row + 1).map_err(damaged)?)?;
            }
            Ok::<_, StoreError>(())
        };
        let mut kept = self.kept.iter().peekable();
        read(reader, &self.missing, self.dimension, |ordinal, id, row| {
            while let Some(place) = kept.next_if(|place| place.ordinal < ordinal) {
                copy(place, &mut take)?;
            }
            take(id, row)
        })?;
        kept.try_for_each(|place| copy(place, &mut take))
    }
}

fn place(version: &Version, segment: u32, start: u32) -> Place {
    Place {
        ordinal: version.ordinal,
        digest: half(&version.digest),
        segment,
        start,
        rows: u32::try_from(version.vectors).unwrap_or(u32::MAX),
    }
}

/// What of the base still stands, and what it lacks. Both are sorted by ordinal.
fn compare(base: &[Place], versions: Vec<Version>) -> (Vec<Place>, Vec<Version>) {
    let (mut kept, mut missing) = (Vec::new(), Vec::new());
    let mut base = base.iter().peekable();
    for version in versions.into_iter().filter(|version| version.vectors > 0) {
        while base
            .next_if(|place| place.ordinal < version.ordinal)
            .is_some()
        {}
        let same = |place: &&Place| {
            place.ordinal == version.ordinal && place.digest == half(&version.digest)
        };
        match base.next_if(same) {
            Some(place) => kept.push(*place),
            None => missing.push(version),
        }
    }
    (kept, missing)
}

/// The rows of these documents from the facts: as many of each as it is said to have.
fn read(
    reader: &Reader<'_>,
    documents: &[Version],
    dimension: usize,
    mut take: impl FnMut(u32, ChunkId, &[f32]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let lacking = || reader.damaged("a document lacks some of its vectors");
    let mut rest = documents.iter();
    let (mut ordinal, mut left) = (0, 0);
    reader.vectors(
        documents.iter().map(|version| version.ordinal),
        dimension,
        |of, id, vector| {
            if left == 0 {
                let next = rest.next().ok_or_else(lacking)?;
                (ordinal, left) = (next.ordinal, next.vectors);
            }
            if of != ordinal {
                return Err(lacking());
            }
            left -= 1;
            take(of, id, vector)
        },
    )?;
    if left > 0 || rest.next().is_some() {
        return Err(lacking());
    }
    Ok(())
}

/// All live rows in one segment, by ordinal.
pub(crate) fn compact(resident: &Resident) -> Result<Resident, Damaged> {
    let dimension = resident.dimension;
    let live = resident.live();
    let mut values = Vec::with_capacity(live.saturating_mul(dimension));
    let mut ids = Vec::with_capacity(live);
    let mut places = Vec::with_capacity(resident.places.len());
    for place in &resident.places {
        let (rows, segment) = place.rows_of(resident)?;
        places.push(Place {
            segment: 0,
            start: u32::try_from(ids.len()).map_err(|_| Damaged)?,
            ..*place
        });
        values.extend_from_slice(segment.values(rows.clone())?);
        for row in rows {
            ids.push(*segment.id(row)?.as_bytes());
        }
    }
    Ok(Resident {
        state: resident.state,
        dimension,
        newest: resident.newest,
        segments: vec![Arc::new(Segment::owned(dimension, values, ids))],
        places,
    })
}

impl Place {
    pub(super) fn rows_of<'r>(
        &self,
        resident: &'r Resident,
    ) -> Result<(std::ops::Range<usize>, &'r Segment), Damaged> {
        let segment = resident
            .segments
            .get(self.segment as usize)
            .ok_or(Damaged)?;
        let start = self.start as usize;
        Ok((start..start + self.rows as usize, segment))
    }
}

impl Resident {
    /// Whether these are the documents and rows of the facts, each bit, wherever they stand.
    /// O(rows), and a row at a time.
    pub(crate) fn agrees_with(&self, reader: &Reader<'_>) -> Result<bool, StoreError> {
        let facts = Plan::new(None, reader, self.state, self.dimension)?;
        let places = facts.places();
        let same = |(a, b): (&Place, &Place)| {
            (a.ordinal, a.digest, a.rows) == (b.ordinal, b.digest, b.rows)
        };
        if places.len() != self.places.len() || !places.iter().zip(&self.places).all(same) {
            return Ok(false);
        }
        let mut rows = self.places.iter().flat_map(|place| {
            let rows = place.rows_of(self).into_iter();
            rows.flat_map(|(rows, segment)| rows.map(move |row| (row, segment)))
        });
        let mut agree = true;
        facts.each_row(reader, |id, values| {
            agree = agree
                && rows.next().is_some_and(|(row, segment)| {
                    segment.id(row) == Ok(id) && segment.values(row..row + 1) == Ok(values)
                });
            Ok(())
        })?;
        Ok(agree)
    }
}
