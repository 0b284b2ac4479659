//! A graph of one state beside the vectors of another: what of it still stands, and what it lacks.

use std::collections::VecDeque;
use std::sync::Arc;

use cornu_core::{ChunkId, View};
use parking_lot::Mutex;

use super::ladder::K;
use super::{Document, Graph};
use crate::codes::CodedQuery;
use crate::options::{Hnsw, Scanning};
use crate::resident::{Damaged, FEW_ROWS, Resident};
use crate::score::Query;

/// Views whose nodes are kept at hand: a bit a node each.
const VIEWS: usize = 32;

/// Of the rows that are visible in all, so many may stand outside of the graph before all are
/// scanned.
const MOST_OUTSIDE: usize = 5;

/// A graph and the vectors of the present state.
pub(crate) struct Attached {
    graph: Arc<Graph>,
    resident: Arc<Resident>,
    /// For each document of the graph its place among those of the vectors, if it is still there.
    places: Vec<Option<usize>>,
    /// Documents that the graph lacks, by ordinal, and their rows.
    outside: Vec<(u32, u32)>,
    views: Mutex<VecDeque<([u8; 32], Arc<Seen>)>>,
}

/// What a view sees of a graph.
struct Seen {
    /// A bit for each node.
    nodes: Vec<u64>,
    inside: usize,
    outside: usize,
}

impl Seen {
    fn holds(&self, node: u32) -> bool {
        let word = self.nodes.get(node as usize / 64).copied().unwrap_or(0);
        word >> (node % 64) & 1 == 1
    }
}

impl Attached {
    /// O(documents).
    pub(crate) fn new(graph: Arc<Graph>, resident: Arc<Resident>) -> Self {
        let (mut places, mut outside) = (Vec::with_capacity(graph.documents().len()), Vec::new());
        let mut present = resident.places().iter().enumerate().peekable();
        // Both stand by ordinal.
        for document in graph.documents() {
            while let Some((_, place)) =
                present.next_if(|(_, place)| place.ordinal < document.ordinal)
            {
                outside.push((place.ordinal, place.rows));
            }
            let same = present.next_if(|(_, place)| {
                let facts = (place.ordinal, place.digest, place.rows);
                facts == (document.ordinal, document.digest, document.rows)
            });
            places.push(same.map(|(at, _)| at));
        }
        outside.extend(present.map(|(_, place)| (place.ordinal, place.rows)));
        Self {
            graph,
            resident,
            places,
            outside,
            views: Mutex::default(),
        }
    }

    pub(crate) fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Whether an eighth of the rows or more are gone or outside: then a new graph is worth its
    /// time.
    pub(crate) fn is_worn(&self) -> bool {
        let outside: usize = self.outside.iter().map(|(_, rows)| *rows as usize).sum();
        let gone = self.documents().filter(|(_, place)| place.is_none());
        let gone: usize = gone.map(|(document, _)| document.rows as usize).sum();
        (outside + gone) * 8 >= self.graph.nodes().max(1)
    }

    /// As [`Resident::candidates`], by a walk: the rows of the graph that may be among the best k,
    /// and of those that it lacks. `None` where a scan is to be preferred: the view is narrow, too much
    /// stands outside, no breadth that was measured reaches the target, or the walk came to fewer
    /// rows than were asked for.
    pub(crate) fn candidates(
        &self,
        view: &View,
        query: &Query,
        k: usize,
        options: &Hnsw,
        scanning: Scanning<'_>,
    ) -> Result<Option<Vec<(ChunkId, f64)>>, Damaged> {
        let Some((ef, seen)) = self.plan(view, k, options) else {
            return Ok(None);
        };
        let coded = CodedQuery::new(query);
        let walk = self.graph.net().search(&coded, ef, |node| seen.holds(node));
        // Not every node can be reached from where a walk begins. It must not cost a hit.
        if walk.found.len() < k.min(seen.inside) {
            return Ok(None);
        }
        let mut hits = Vec::with_capacity(walk.found.len());
        for near in walk.found {
            let (id, values) = self.row(near.node)?;
            hits.push((id, query.similarity(values)));
        }
        if seen.outside > 0 {
            let ordinals = self.outside.iter().map(|(ordinal, _)| *ordinal);
            let ordinals = ordinals.filter(|ordinal| view.contains(*ordinal));
            hits.extend(
                self.resident
                    .candidates_among(ordinals, query, k, scanning)?,
            );
        }
        Ok(Some(hits))
    }

    /// How broad a walk for the best k would be; `None` where none is to be tried.
    pub(crate) fn breadth(&self, view: &View, k: usize, options: &Hnsw) -> Option<usize> {
        self.plan(view, k, options).map(|(ef, _)| ef)
    }

    fn plan(&self, view: &View, k: usize, options: &Hnsw) -> Option<(usize, Arc<Seen>)> {
        let target = f64::from(options.recall_per_mille) / 1000.0;
        let ef = options.ef.or_else(|| self.graph.ef_for(target))?;
        // A ladder is of the best ten: more take as many times the breadth.
        let ef = ef.max(ef.saturating_mul(k).div_ceil(K)).max(k);
        let seen = self.seen(view);
        let visible = seen.inside + seen.outside;
        let share = visible.saturating_mul(1000) / self.graph.nodes().max(1);
        let least = usize::from(options.narrow_per_mille);
        let few = visible <= FEW_ROWS || ef.saturating_mul(4) > visible;
        let narrow = least > 0 && (share < least || few);
        let most_outside = seen.outside.saturating_mul(MOST_OUTSIDE) > visible;
        (!narrow && !most_outside).then_some((ef, seen))
    }

    fn documents(&self) -> impl Iterator<Item = (&Document, Option<usize>)> {
        let places = self.places.iter().copied();
        self.graph.documents().iter().zip(places)
    }

    /// Made for a view when it is first met. O(documents + nodes / 64).
    fn seen(&self, view: &View) -> Arc<Seen> {
        let mut views = self.views.lock();
        if let Some((_, seen)) = views.iter().find(|(digest, _)| digest == view.digest()) {
            return Arc::clone(seen);
        }
        let mut nodes = vec![0_u64; self.graph.nodes().div_ceil(64)];
        let mut inside = 0;
        for (document, place) in self.documents() {
            if place.is_none() || !view.contains(document.ordinal) {
                continue;
            }
            inside += document.rows as usize;
            for node in document.start..document.start + document.rows {
                if let Some(word) = nodes.get_mut(node as usize / 64) {
                    *word |= 1 << (node % 64);
                }
            }
        }
        let outside = self.outside.iter();
        let outside = outside.filter(|(ordinal, _)| view.contains(*ordinal));
        let seen = Arc::new(Seen {
            nodes,
            inside,
            outside: outside.map(|(_, rows)| *rows as usize).sum(),
        });
        if views.len() == VIEWS {
            views.pop_front();
        }
        views.push_back((*view.digest(), Arc::clone(&seen)));
        seen
    }

    /// The row of a node.
    fn row(&self, node: u32) -> Result<(ChunkId, &[f32]), Damaged> {
        let documents = self.graph.documents();
        let at = documents.partition_point(|document| document.start <= node);
        let at = at.checked_sub(1).ok_or(Damaged)?;
        let document = documents.get(at).ok_or(Damaged)?;
        let place = self.places.get(at).copied().flatten().ok_or(Damaged)?;
        let place = self.resident.places().get(place).ok_or(Damaged)?;
        self.resident.row_of(place, node - document.start)
    }
}
