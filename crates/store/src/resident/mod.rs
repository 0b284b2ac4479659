//! The resident vectors: an artifact of contiguous rows, by document, that a scan reads at the
//! speed of memory.
//!
//! A [`Resident`] belongs to one state of the facts and never changes. The next state's shares
//! its segments: documents that are gone lose their place in the table, new ones come in a
//! segment of their own, and when too much is dead or scattered all is written anew.

mod build;
mod crowd;
mod file;
mod rows;
mod scan;
mod segment;

use std::sync::Arc;

use cornu_core::View;

use crate::sqlite::schema::State;

pub(crate) use build::{Plan, compact};
pub(crate) use crowd::{UnderWay, Waiting};
pub(crate) use file::{Identity, load, save};
pub(crate) use rows::Rows;
pub(crate) use scan::FEW_ROWS;
pub(crate) use segment::{Damaged, Segment};

/// The vectors of one state of the facts.
pub(crate) struct Resident {
    pub(crate) state: State,
    dimension: usize,
    /// The newest document of the state, with vectors or without; or an older one.
    newest: Option<u32>,
    segments: Vec<Arc<Segment>>,
    /// Live documents that have vectors, by ordinal.
    places: Vec<Place>,
}

/// Where the rows of a document stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) ordinal: u32,
    /// Half of the digest of its facts: tells versions apart across copies of a database.
    pub(crate) digest: [u8; 16],
    segment: u32,
    start: u32,
    pub(crate) rows: u32,
}

impl Resident {
    /// Whether the view has no document that is newer than all that were read. Where its state
    /// follows upon the one of these vectors, all its documents are among them: an ordinal grows
    /// with time and is never used twice.
    pub(crate) fn has_room_for(&self, view: &View) -> bool {
        view.last_ordinal() <= self.newest
    }

    /// Rows of live documents.
    pub(crate) fn live(&self) -> usize {
        self.places.iter().map(|place| place.rows as usize).sum()
    }

    /// Rows that take up memory.
    pub(crate) fn slots(&self) -> usize {
        self.segments.iter().map(|segment| segment.len()).sum()
    }

    /// Rows that are in no file.
    pub(crate) fn unsaved(&self) -> usize {
        let owned = self.segments.iter().filter(|segment| !segment.is_mapped());
        owned.map(|segment| segment.len()).sum()
    }
}

/// Stands after the database's name.
pub(crate) const SUFFIX: &str = ".vec";

pub(crate) fn half(digest: &[u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    for (to, from) in half.iter_mut().zip(digest) {
        *to = *from;
    }
    half
}
