//! A store of its own that is right, and one fault at a time wrong.

use std::sync::Mutex;

use cornu_core::{
    Acl, Change, Chunk, ChunkId, ContentHash, DocId, DocumentFacts, FactStore, Principal, Ranking,
    View, ViewEntry,
};
use ndarray::ArrayView1;

/// A mistake that stores of this kind make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    // Who sees
    EmptyAclIsPublic,
    GrantPrefixes,
    GrantCases,
    AllGrantsNeeded,
    DocumentsByInsertion,
    EmptyViewIsAnError,
    EmptyViewIsNoFilter,
    DigestCountsHidden,
    ChunkLeaksHidden,
    KnnWithoutFilter,
    OldViewOnNewState,
    // Nearest neighbours
    FilterAfterCut,
    KAboveLimitIsAnError,
    KAboveLimitFilledLate,
    TiesByInsertion,
    TieCutDependsOnHidden,
    ScoresFollowTotal,
    ScoresFollowFirstSeen,
    ScoresFollowK,
    InnerProduct,
    Distance,
    FarthestFirst,
    ParentsAreHits,
    BadQueryIsEmpty,
    // Writing
    StaleChunks,
    KeepsRemoved,
    RemovesByVector,
    UnchangedByContent,
    AlwaysReplaced,
    AcceptsNotFinite,
    AcceptsNotUnit,
    AcceptsDimension,
    AcceptsRowCount,
    AcceptsStrangeChunks,
    ClearsBeforeChecking,
    LosesChunksWithoutVectors,
    PanicsOnSeventhWrite,
}

/// Rows of facts in order of insertion; an ordinal is a place in that order.
pub(crate) struct BrokenStore {
    fault: Fault,
    dimension: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    epoch: u64,
    rows: Vec<DocumentFacts>,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refused(&'static str);

/// The vec0 extension takes no k above this.
const ENGINE_LIMIT: usize = 4096;

impl BrokenStore {
    pub(crate) fn new(dimension: usize, fault: Fault) -> Self {
        let state = Mutex::default();
        Self {
            fault,
            dimension,
            state,
        }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn check(&self, facts: &DocumentFacts) -> Result<(), Refused> {
        let rows = facts.vectors.rows();
        if facts.vectors.ncols() != self.dimension && !self.is(Fault::AcceptsDimension) {
            return Err(Refused("dimension"));
        }
        let count = facts.indexed().count();
        if facts.vectors.nrows() != count && !self.is(Fault::AcceptsRowCount) {
            return Err(Refused("row count"));
        }
        for row in rows {
            let norm = row
                .iter()
                .map(|x| f64::from(*x).powi(2))
                .sum::<f64>()
                .sqrt();
            let finite = row.iter().all(|x| x.is_finite());
            if !finite && !self.is(Fault::AcceptsNotFinite) {
                return Err(Refused("not finite"));
            }
            if finite && (norm - 1.0).abs() > 1e-5 && !self.is(Fault::AcceptsNotUnit) {
                return Err(Refused("norm"));
            }
        }
        let mut ids = std::collections::BTreeSet::new();
        let mine = |chunk: &Chunk| chunk.doc == facts.doc;
        let sound = facts
            .chunks
            .iter()
            .all(|chunk| mine(chunk) && ids.insert(chunk.id));
        if !sound && !self.is(Fault::AcceptsStrangeChunks) {
            return Err(Refused("chunks"));
        }
        Ok(())
    }

    fn admits(&self, acl: &Acl, principal: &Principal) -> bool {
        let any = |same: fn(&str, &str) -> bool| {
            acl.grants().any(|granted| {
                principal
                    .grants()
                    .any(|held| same(held.as_str(), granted.as_str()))
            })
        };
        match self.fault {
            Fault::EmptyAclIsPublic => acl.is_empty() || acl.admits(principal),
            Fault::GrantPrefixes => any(|held, granted| granted.starts_with(held)),
            Fault::GrantCases => any(|held, granted| held.to_lowercase() == granted.to_lowercase()),
            Fault::AllGrantsNeeded => {
                !acl.is_empty()
                    && acl
                        .grants()
                        .all(|one| principal.grants().any(|held| held == one))
            }
            _ => acl.admits(principal),
        }
    }

    fn seen<'a>(&self, state: &'a State, view: &View) -> Result<Vec<&'a DocumentFacts>, Refused> {
        if view.epoch() != state.epoch && !self.is(Fault::OldViewOnNewState) {
            return Err(Refused("outdated"));
        }
        if view.is_empty() && self.is(Fault::EmptyViewIsAnError) {
            return Err(Refused("near \")\": syntax error"));
        }
        let numbered = (0_u32..).zip(&state.rows);
        let seen = numbered.filter(|(ordinal, _)| view.contains(*ordinal));
        Ok(seen.map(|(_, facts)| facts).collect())
    }

    /// Candidates in order of insertion, with their similarities and whether the view holds them.
    fn candidates(&self, state: &State, view: &View, query: &[f64]) -> Vec<(ChunkId, f64, bool)> {
        let length = query.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut out = Vec::new();
        for (ordinal, facts) in (0_u32..).zip(&state.rows) {
            let seen = view.contains(ordinal);
            let chunks = facts.chunks.iter();
            let chunks: Vec<&Chunk> = match self.is(Fault::ParentsAreHits) {
                true => chunks.collect(),
                false => chunks.filter(|chunk| chunk.role.is_indexed()).collect(),
            };
            for (chunk, row) in chunks.into_iter().zip(facts.vectors.rows()) {
                let dot: f64 = query.iter().zip(row).map(|(x, y)| x * f64::from(*y)).sum();
                let score = match self.fault {
                    Fault::InnerProduct => dot,
                    Fault::Distance => (2.0 - 2.0 * dot / length).max(0.0).sqrt(),
                    Fault::ScoresFollowTotal => {
                        dot / length * (1.0 - 1e-8 * state.rows.len() as f64)
                    }
                    Fault::ScoresFollowFirstSeen => {
                        let first = state.rows.get(view.ordinals().next().unwrap_or(0) as usize);
                        let name = first.map_or(0, |facts| facts.content.as_bytes()[0]);
                        dot / length * (1.0 - 1e-9 * f64::from(name))
                    }
                    _ => dot / length,
                };
                out.push((chunk.id, score, seen));
            }
        }
        out
    }
}

impl FactStore for BrokenStore {
    type Error = Refused;

    fn upsert(&self, facts: &DocumentFacts) -> Result<Change, Refused> {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if self.is(Fault::ClearsBeforeChecking) {
            let before = state.rows.len();
            if self.check(facts).is_err() {
                state.rows.retain(|row| row.doc != facts.doc);
                state.epoch += u64::from(state.rows.len() != before);
            }
        }
        self.check(facts)?;
        if self.is(Fault::PanicsOnSeventhWrite) {
            assert!(state.epoch < 6, "seventh write");
        }
        let mut facts = facts.clone();
        if self.is(Fault::LosesChunksWithoutVectors) {
            facts.chunks.retain(|chunk| chunk.role.is_indexed());
        }
        let at = state.rows.iter().position(|row| row.doc == facts.doc);
        let before = at.map(|at| state.rows[at].clone());
        let same = match self.fault {
            Fault::UnchangedByContent => before
                .as_ref()
                .is_some_and(|before| before.content == facts.content),
            _ => before.as_ref() == Some(&facts),
        };
        if same && !self.is(Fault::AlwaysReplaced) {
            return Ok(Change::Unchanged);
        }
        state.epoch += 1;
        if let (Some(before), true) = (&before, self.is(Fault::StaleChunks)) {
            let fresh: Vec<ChunkId> = facts.chunks.iter().map(|chunk| chunk.id).collect();
            for (chunk, row) in before.indexed().zip(before.vectors.rows()) {
                if !fresh.contains(&chunk.id) {
                    facts.chunks.push(chunk.clone());
                    facts.vectors.push_row(row).map_err(|_| Refused("shape"))?;
                }
            }
        }
        // As INSERT OR REPLACE: the new row stands at the end.
        state.rows.retain(|row| row.doc != facts.doc);
        state.rows.push(facts);
        Ok(if before.is_some() {
            Change::Replaced
        } else {
            Change::Inserted
        })
    }

    fn remove(&self, doc: &DocId) -> Result<bool, Refused> {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(at) = state.rows.iter().position(|row| row.doc == *doc) else {
            return Ok(false);
        };
        state.epoch += 1;
        if self.is(Fault::KeepsRemoved) {
            return Ok(true);
        }
        let gone = state.rows.remove(at);
        if self.is(Fault::RemovesByVector) {
            state
                .rows
                .retain(|row| row.vectors != gone.vectors || row.vectors.is_empty());
        }
        Ok(true)
    }

    fn view(&self, principal: &Principal) -> Result<View, Refused> {
        let state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let hidden = |facts: &&DocumentFacts| !self.admits(&facts.acl, principal);
        let count = state.rows.iter().filter(hidden).count();
        // `View::resolve` decides who sees; to be wrong, a store has to hand it other ACLs.
        let admitting = principal
            .grants()
            .next()
            .cloned()
            .into_iter()
            .collect::<Acl>();
        let entries: Vec<(u32, &DocumentFacts, ContentHash)> = (0_u32..)
            .zip(&state.rows)
            .map(
                |(ordinal, facts)| match self.is(Fault::DigestCountsHidden) {
                    true => {
                        let salted = [&facts.content.as_bytes()[..], &[count as u8]].concat();
                        (ordinal, facts, ContentHash::of(&salted))
                    }
                    false => (ordinal, facts, facts.content),
                },
            )
            .collect();
        let nobody = Acl::nobody();
        let entries = entries.iter().map(|(ordinal, facts, content)| ViewEntry {
            ordinal: *ordinal,
            id: &facts.doc,
            content,
            acl: match self.admits(&facts.acl, principal) {
                true => &admitting,
                false => &nobody,
            },
        });
        Ok(View::resolve(principal, state.epoch, entries))
    }

    fn documents(&self, view: &View) -> Result<Vec<DocId>, Refused> {
        let state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut docs: Vec<DocId> = self
            .seen(&state, view)?
            .into_iter()
            .map(|facts| facts.doc.clone())
            .collect();
        if !self.is(Fault::DocumentsByInsertion) {
            docs.sort();
        }
        Ok(docs)
    }

    fn chunk(&self, view: &View, id: &ChunkId) -> Result<Option<Chunk>, Refused> {
        let state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut documents = self.seen(&state, view)?;
        if self.is(Fault::ChunkLeaksHidden) {
            documents = state.rows.iter().collect();
        }
        let mut chunks = documents.into_iter().flat_map(|facts| &facts.chunks);
        Ok(chunks.find(|chunk| chunk.id == *id).cloned())
    }

    fn knn(
        &self,
        view: &View,
        query: ArrayView1<'_, f32>,
        k: usize,
    ) -> Result<Ranking<ChunkId>, Refused> {
        let state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        self.seen(&state, view)?;
        let query: Vec<f64> = query.iter().copied().map(f64::from).collect();
        let length = query.iter().map(|x| x * x).sum::<f64>().sqrt();
        if query.len() != self.dimension || !length.is_finite() || length == 0.0 {
            return match self.is(Fault::BadQueryIsEmpty) {
                true => Ok(Ranking::empty()),
                false => Err(Refused("query")),
            };
        }
        if k > ENGINE_LIMIT && self.is(Fault::KAboveLimitIsAnError) {
            return Err(Refused("k value in knn query too large"));
        }
        let mut found = self.candidates(&state, view, &query);
        let hidden = found.iter().filter(|(_, _, seen)| !seen).count();
        let unfiltered = self.is(Fault::KnnWithoutFilter)
            || (view.is_empty() && self.is(Fault::EmptyViewIsNoFilter));
        let late = self.is(Fault::FilterAfterCut) || self.is(Fault::KAboveLimitFilledLate);
        if !unfiltered && !late {
            found.retain(|(_, _, seen)| *seen);
        }
        let by_insertion = self.is(Fault::TiesByInsertion);
        let backwards = self.is(Fault::TieCutDependsOnHidden) && hidden % 2 == 1;
        found.sort_by(|(a, x, _), (b, y, _)| {
            let best = match self.is(Fault::FarthestFirst) {
                true => x.total_cmp(y),
                false => y.total_cmp(x),
            };
            best.then_with(|| match (by_insertion, backwards) {
                (true, _) => std::cmp::Ordering::Equal, // the sort is stable
                (_, true) => b.cmp(a),
                _ => a.cmp(b),
            })
        });
        match self.fault {
            // Asks for more than it needs, but no more than the engine takes.
            Fault::KAboveLimitFilledLate => found.truncate(ENGINE_LIMIT),
            _ => found.truncate(k),
        }
        if late {
            found.retain(|(_, _, seen)| *seen);
            found.truncate(k);
        }
        let shift = match self.is(Fault::ScoresFollowK) {
            true => 1e-9 * k.min(100) as f64,
            false => 0.0,
        };
        let pairs = found.into_iter().map(|(id, score, _)| (id, score - shift));
        Ranking::new(pairs).map_err(|_| Refused("ranking"))
    }
}
