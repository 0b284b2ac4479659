//! From one state of the facts to another.

use std::sync::Arc;

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

impl Resident {
    /// Whether too much is dead or scattered.
    pub(crate) fn is_scattered(&self) -> bool {
        let sparse = (self.live() as f64) < MIN_LIVE * self.slots() as f64;
        sparse || self.segments.len() > MAX_SEGMENTS
    }

    /// Whether a new file is worth its writing: an eighth of the rows are in none, so that over a
    /// growing index each row is written eight times at most.
    pub(crate) fn is_worth_saving(&self) -> bool {
        let unsaved = self.unsaved();
        unsaved > FEW_ROWS && unsaved > self.live() / 8
    }
}

/// The vectors of the state that the reader sees, from those of another state or from nothing.
///
/// O(documents) to compare, and the vectors of documents that the base does not have are read.
pub(crate) fn update(
    base: Option<&Resident>,
    reader: &Reader<'_>,
    state: State,
    dimension: usize,
) -> Result<Resident, StoreError> {
    let versions = reader.versions()?;
    let (mut places, missing) = match base {
        Some(base) => compare(&base.places, &versions),
        None => (
            Vec::new(),
            versions
                .iter()
                .filter(|version| version.vectors > 0)
                .collect(),
        ),
    };
    let mut segments = base.map_or_else(Vec::new, |base| base.segments.clone());
    if !missing.is_empty() {
        let new = u32::try_from(segments.len()).unwrap_or(u32::MAX);
        let (segment, mut new_places) = read(reader, &missing, dimension, new)?;
        segments.push(Arc::new(segment));
        places.append(&mut new_places);
        places.sort_unstable_by_key(|place| place.ordinal);
    }
    Ok(Resident {
        state,
        dimension,
        segments,
        places,
    })
}

/// What of the base still stands, and what it lacks. Both are sorted by ordinal.
fn compare<'v>(base: &[Place], versions: &'v [Version]) -> (Vec<Place>, Vec<&'v Version>) {
    let (mut kept, mut missing) = (Vec::with_capacity(versions.len()), Vec::new());
    let mut base = base.iter().peekable();
    for version in versions.iter().filter(|version| version.vectors > 0) {
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

fn read(
    reader: &Reader<'_>,
    missing: &[&Version],
    dimension: usize,
    segment: u32,
) -> Result<(Segment, Vec<Place>), StoreError> {
    let rows: usize = missing.iter().map(|version| version.vectors).sum();
    let mut values = Vec::with_capacity(rows.saturating_mul(dimension));
    let mut ids = Vec::with_capacity(rows);
    let mut counts = Vec::with_capacity(missing.len());
    reader.vectors(
        missing.iter().map(|version| version.ordinal),
        dimension,
        |ordinal, id, vector| {
            values.extend_from_slice(vector);
            ids.push(*id.as_bytes());
            match counts.last_mut() {
                Some((last, count)) if *last == ordinal => *count += 1,
                _ => counts.push((ordinal, 1)),
            }
        },
    )?;
    let mut start = 0;
    let mut places = Vec::with_capacity(missing.len());
    for (position, version) in missing.iter().enumerate() {
        let rows = u32::try_from(version.vectors).unwrap_or(u32::MAX);
        if counts.get(position) != Some(&(version.ordinal, rows)) {
            return Err(reader.damaged("a document lacks some of its vectors"));
        }
        places.push(Place {
            ordinal: version.ordinal,
            digest: half(&version.digest),
            segment,
            start,
            rows,
        });
        start = start.saturating_add(rows);
    }
    Ok((Segment::owned(dimension, values, ids), places))
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
    /// Whether two hold the same documents with the same rows, each bit, wherever they stand.
    pub(crate) fn holds_the_same(&self, other: &Self) -> bool {
        let same_rows = |(a, b): (&Place, &Place)| {
            let (a_rows, a_segment) = a.rows_of(self)?;
            let (b_rows, b_segment) = b.rows_of(other)?;
            let mut ids = a_rows.clone().zip(b_rows.clone());
            let same_ids = ids.try_fold(true, |same, (a, b)| {
                Ok(same && a_segment.id(a)? == b_segment.id(b)?)
            })?;
            let same_values = a_segment.values(a_rows)? == b_segment.values(b_rows)?;
            Ok::<_, Damaged>(
                same_ids && same_values && a.ordinal == b.ordinal && a.digest == b.digest,
            )
        };
        self.places.len() == other.places.len()
            && self
                .places
                .iter()
                .zip(&other.places)
                .all(|pair| same_rows(pair) == Ok(true))
    }
}
