//! An approximate index: a hierarchical navigable small world graph (Malkov and Yashunin, 2018) over
//! rows in 8 bits.
//!
//! It is an artifact of one state of the facts, and stays of use in later ones: rows of documents
//! that are gone are walked through and never returned, rows that came since are scanned beside it.
//! All that is computed in it are integers, scaled once, and every choice has a rule for ties. So a
//! graph is the same, byte for byte, on any processor and any number of threads.

mod attach;
mod build;
mod file;
mod ladder;
mod net;

use std::ops::Range;

use memmap2::Mmap;

use crate::sqlite::schema::State;

pub(crate) use attach::Attached;
pub(crate) use build::build;
pub(crate) use file::{documents_of, load, save};
pub(crate) use ladder::{Probe, climb, held_back};
pub(crate) use net::Net;

/// Stands after the database's name.
pub(crate) const SUFFIX: &str = ".hnsw";

/// A graph in a file, mapped. Its bytes were hashed when it was opened.
pub(crate) struct Graph {
    pub(crate) state: State,
    pub(crate) shape: Shape,
    documents: Vec<Document>,
    pub(crate) ladder: Vec<Rung>,
    /// Where the links of each node in the upper layers begin, in blocks of `links`.
    upper_at: Vec<u32>,
    entry: Option<u32>,
    sections: Sections,
    map: Mmap,
}

/// What a graph was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) dimension: usize,
    /// Of a node in each upper layer; twice as many in the lowest.
    pub(crate) links: usize,
    pub(crate) build_ef: usize,
}

/// The rows of a document are the nodes from `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) ordinal: u32,
    pub(crate) digest: [u8; 16],
    pub(crate) start: u32,
    pub(crate) rows: u32,
}

/// What a search of that breadth finds.
///
/// See [`SqliteVecStore::graph_ladder`](crate::SqliteVecStore::graph_ladder).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rung {
    /// Rows that a search keeps while it walks.
    pub ef: usize,
    /// Recall@10 against the exact search, of the mean question.
    pub recall: f64,
    /// Rows that were compared with the question, of the mean question.
    pub compared: f64,
}

struct Sections {
    scales: Range<usize>,
    codes: Range<usize>,
    base: Range<usize>,
    upper: Range<usize>,
}

impl Graph {
    pub(crate) fn nodes(&self) -> usize {
        self.upper_at.len().saturating_sub(1)
    }

    pub(crate) fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// The parts of the file as numbers.
    pub(crate) fn net(&self) -> Net<'_> {
        fn section<'g, T: bytemuck::Pod>(map: &'g Mmap, at: &Range<usize>) -> &'g [T] {
            let bytes = map.get(at.clone()).unwrap_or_default();
            bytemuck::try_cast_slice(bytes).unwrap_or_default()
        }
        Net {
            shape: self.shape,
            scales: section(&self.map, &self.sections.scales),
            codes: section(&self.map, &self.sections.codes),
            base: section(&self.map, &self.sections.base),
            upper: section(&self.map, &self.sections.upper),
            upper_at: &self.upper_at,
            entry: self.entry,
        }
    }

    /// The narrowest search whose measured recall reaches the target; `None` when none does.
    pub(crate) fn ef_for(&self, target: f64) -> Option<usize> {
        let reaching = self.ladder.iter().find(|rung| rung.recall >= target);
        reaching.map(|rung| rung.ef)
    }
}
