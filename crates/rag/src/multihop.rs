//! The route over names and facts: from what a question names to chunks that share no word with it.

use std::sync::Arc;

use cornu_core::{Chunk, ChunkId, ContentHash, Principal, Ranking, Trace};
use cornu_hop::{
    Explanation, FirstStage, GraphOptions, Held, HopDecision, HopGraph, PrincipalGraphs, Recalled,
    SeedReason, Step,
};
use cornu_store::Snapshot;
use parking_lot::Mutex;

use crate::error::RagError;
use crate::explain;
use crate::extractions::{digest, passage};
use crate::index::LiveRagIndex;
use crate::search::{Found, Hit, Place, hits, in_order};

/// So many views keep their graphs.
const KEPT: usize = 4;

/// So many parts of a score are shown with their paths.
const SHOWN: usize = 5;

impl LiveRagIndex {
    /// The best `k` visible chunks by a walk over names and facts: it also reaches a chunk that is
    /// not like the question at all but stands between two that are.
    ///
    /// The walk starts at the names of the question, at facts that join them or that the question
    /// asks for, and faintly at the chunks of a [dense search](Self::search_dense); see
    /// [`HopGraph::recall`]. It goes over a graph that is made of the visible chunks and what
    /// [`RagOptions::extractor`](crate::RagOptions::extractor) read from them, and of nothing else.
    /// [`Hit::score`] is the probability that the walk stands there.
    ///
    /// The trace tells the seeds, and for each chunk the shares of its score and the most probable
    /// path of each: names, the facts that hold them, the chunks between.
    ///
    /// Costs a dense search and the walk, some dozen passes over the graph. At the first question of
    /// a view after a commit the graph is built, in O(visible text); for one of the four principals
    /// who asked last it is brought up to date instead: the versions of the visible documents are
    /// compared, and only documents that came or changed are read, and of them only chunks that
    /// changed, besides those in which a title that is new or gone may stand. The graphs of the last
    /// four views are kept. Chunks that the extractor has not read take part by the titles of others
    /// alone; the trace counts them as `unread`.
    ///
    /// # Errors
    /// As [`search_dense`](Self::search_dense); [`RagError::Options`] when the index was opened
    /// without an extractor, [`RagError::NoExtractions`] when it has read nothing that the
    /// principal sees, [`RagError::Hop`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use cornu::extract::RuleExtractor;
    /// use cornu::{Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, Principal, RagOptions};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let options = RagOptions { extractor: Some(Arc::new(RuleExtractor::new())), ..RagOptions::default() };
    /// let index = LiveRagIndex::open(path, Arc::new(HashEmbeddingProvider::default()), options)?;
    /// for (name, text) in [
    ///     ("a.md", "Alpha Capital owns Star Holdings."),
    ///     ("b.md", "Star Holdings is the parent of Horizon Trust."),
    ///     ("c.md", "Horizon Trust bought Gamma Systems."),
    ///     ("d.md", "Delta Freight opened a warehouse."),
    /// ] {
    ///     index.ingest(&Document::new(DocId::new(name)?, text, Acl::public()))?;
    /// }
    /// let question = "How are Alpha Capital and Gamma Systems related?";
    /// let found = index.search_hop(&Principal::public(), question, 3)?;
    /// assert!(found.hits.iter().any(|hit| hit.chunk.doc.as_str() == "b.md"));
    /// assert!(found.trace.to_string().contains("Star Holdings"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search_hop(
        &self,
        principal: &Principal,
        question: &str,
        k: usize,
    ) -> Result<Found, RagError> {
        let snapshot = self.snapshot(principal)?;
        let depth = self.options.depth.max(k);
        let (_, dense) = self.dense(&snapshot, question, depth)?;
        let walked = self.walk(&snapshot, question, &dense, k)?;
        let mut trace = Trace::new();
        self.note_vectors(&snapshot, depth, &mut trace)?;
        explain::route(&mut trace, "dense", depth, &dense);
        let hits = walked.shown(&snapshot, &dense, &mut trace)?;
        Ok(Found { hits, trace })
    }

    /// As [`explain`](Self::explain), of the walk: what the question was taken for, and the trace
    /// of [`search_hop`](Self::search_hop).
    ///
    /// # Errors
    /// As there.
    pub fn explain_hop(
        &self,
        principal: &Principal,
        question: &str,
        k: usize,
    ) -> Result<Trace, RagError> {
        let mut trace = Trace::new();
        explain::question(&mut trace, &self.options.tokenizer, question);
        trace.append(self.search_hop(principal, question, k)?.trace);
        Ok(trace)
    }

    /// A walk from a question, with a dense ranking under the same view.
    pub(crate) fn walk(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        dense: &Ranking<ChunkId>,
        k: usize,
    ) -> Result<Walked, RagError> {
        let view = self.graph(snapshot)?;
        let recalled = view
            .graph
            .recall(question, Some(dense), &self.options.recall)?;
        let best: Vec<ChunkId> = recalled.ranking.ids().take(k).copied().collect();
        let why = view.graph.explain_all(&recalled, &best)?;
        Ok(Walked {
            k,
            view,
            recalled,
            why: why.into_iter().flatten().collect(),
        })
    }

    /// Whether the names of a question lead somewhere, in the graph of the snapshot's view.
    pub(crate) fn decide_by_names(
        &self,
        snapshot: &Snapshot<'_>,
        first: &FirstStage<'_>,
    ) -> Result<HopDecision, RagError> {
        let view = self.graph(snapshot)?;
        Ok(self.options.gate.decide(&view.graph, first))
    }

    /// The graph of what the snapshot's principal sees, in the snapshot's state.
    fn graph(&self, snapshot: &Snapshot<'_>) -> Result<Arc<ViewGraph>, RagError> {
        let extractor = self.extractor()?;
        let name = (*snapshot.view().digest(), snapshot.state());
        if let Some(graph) = self.graphs.known(&name) {
            return Ok(graph);
        }
        let digest = digest(extractor);
        let versions = snapshot.extraction_versions(&digest)?;
        let (chunks, unread) = versions.iter().fold((0, 0), |(chunks, unread), one| {
            (chunks + one.chunks, unread + one.unread)
        });
        if unread == chunks && unread > 0 {
            return Err(RagError::NoExtractions {
                extractor: extractor.fingerprint().to_string(),
            });
        }
        let seen = versions.iter().map(|one| (one.ordinal, one.version));
        let look = |changed: &[u32]| {
            let mut held = Vec::new();
            let changed = changed.iter().copied();
            snapshot.read_extractions(&digest, changed, |document, chunk, row| {
                held.push(Held {
                    document,
                    id: chunk.id,
                    stamp: row.as_deref().map(ContentHash::of),
                    source: (chunk, row),
                });
            })?;
            Ok(held)
        };
        let read =
            |(chunk, row): (Chunk, Option<Vec<u8>>)| passage(&chunk, row.as_deref()).map(Arc::new);
        let principal = snapshot.view().principal();
        let graph = self.graphs.grown.graph(principal, seen, look, read)?;
        let graph = Arc::new(ViewGraph { graph, unread });
        self.graphs.keep(name, &graph);
        Ok(graph)
    }
}

/// The graphs of the views that asked last, and what they are made of, newest at the end. A view's
/// digest names sources and not what was read from them, so the state of the store is part of the
/// name.
#[derive(Debug)]
pub(crate) struct Graphs {
    last: Mutex<Vec<(Name, Arc<ViewGraph>)>>,
    /// By document, with what the store calls its version. A chunk's stamp is the hash of what was
    /// read from it, if it was read; its id changes with its text and its headings.
    grown: PrincipalGraphs<u32, [u8; 16], ChunkId, Option<ContentHash>>,
}

/// The digest of a view, and the state that it was read in.
type Name = ([u8; 32], [u8; 16]);

/// The graph of one view.
#[derive(Debug)]
struct ViewGraph {
    graph: HopGraph<ChunkId>,
    /// Chunks that the extractor has not read.
    unread: usize,
}

impl Graphs {
    pub(crate) fn new(options: GraphOptions) -> Self {
        Self {
            last: Mutex::default(),
            grown: PrincipalGraphs::new(KEPT, options),
        }
    }

    fn known(&self, name: &Name) -> Option<Arc<ViewGraph>> {
        let mut last = self.last.lock();
        let at = last.iter().position(|(known, _)| known == name)?;
        let known = last.remove(at);
        let graph = Arc::clone(&known.1);
        last.push(known);
        Some(graph)
    }

    fn keep(&self, name: Name, graph: &Arc<ViewGraph>) {
        let mut last = self.last.lock();
        // Another thread may have built the same.
        last.retain(|(known, _)| *known != name);
        last.push((name, Arc::clone(graph)));
        let surplus = last.len().saturating_sub(KEPT);
        last.drain(..surplus);
    }
}

/// What a walk found.
pub(crate) struct Walked {
    k: usize,
    view: Arc<ViewGraph>,
    recalled: Recalled<ChunkId>,
    /// Of the best `k`.
    why: Vec<Explanation<ChunkId>>,
}

impl Walked {
    /// The best chunks, with their places in the dense list.
    pub(crate) fn hits(
        &self,
        snapshot: &Snapshot<'_>,
        dense: &Ranking<ChunkId>,
    ) -> Result<Vec<Hit>, RagError> {
        let best = in_order(&self.recalled.ranking).take(self.k);
        hits(snapshot, best, |id, _, _| {
            (Place::in_ranking(dense, id), None)
        })
    }

    /// As [`hits`](Self::hits), told to the trace with their paths.
    pub(crate) fn shown(
        &self,
        snapshot: &Snapshot<'_>,
        dense: &Ranking<ChunkId>,
        trace: &mut Trace,
    ) -> Result<Vec<Hit>, RagError> {
        self.note(trace);
        let hits = self.hits(snapshot, dense)?;
        for (at, hit) in hits.iter().enumerate() {
            let paths = self.paths(snapshot, &hit.chunk.id)?;
            explain::hit(trace, at + 1, hit).note("paths", paths);
        }
        Ok(hits)
    }

    pub(crate) fn note(&self, trace: &mut Trace) {
        let (near, named): (Vec<_>, Vec<_>) = self
            .recalled
            .seeds
            .iter()
            .partition(|seed| seed.reason == SeedReason::Dense);
        let named: Vec<String> = named
            .into_iter()
            .map(|seed| format!("{} ({:.4})", in_words(&seed.reason), seed.weight))
            .collect();
        let graph = &self.view.graph;
        trace
            .step("hop")
            .note("k", self.k)
            .note("found", self.recalled.ranking.len())
            .note("names", self.recalled.names.clone())
            .note("seeds", named)
            .note("near", near.len())
            .note("passages", graph.passages().len())
            .note("facts", graph.facts().len())
            .note("spellings", graph.synonyms().len())
            .note("unread", self.view.unread)
            .note("converged", self.recalled.converged);
    }

    /// The largest shares of a chunk's score, each with why its seeds are seeds and the most
    /// probable path.
    pub(crate) fn paths(
        &self,
        snapshot: &Snapshot<'_>,
        id: &ChunkId,
    ) -> Result<Vec<String>, RagError> {
        let mut out = Vec::new();
        let why = self.why.iter().find(|why| why.id == *id);
        for part in why.into_iter().flat_map(|why| &why.parts).take(SHOWN) {
            let mut path = Vec::new();
            for step in &part.path {
                path.push(match step {
                    Step::Name { name, fact: None } => name.clone(),
                    Step::Name {
                        name,
                        fact: Some(fact),
                    } => format!("{name} “{fact}”"),
                    Step::Passage { id, .. } => match snapshot.chunk(id)? {
                        Some(chunk) => format!("[{}]", chunk.citation()),
                        None => String::new(),
                    },
                });
            }
            let (share, from) = (part.share, in_words(&part.reason));
            out.push(format!("{share:.4} from {from}: {}", path.join(" → ")));
        }
        Ok(out)
    }
}

/// Why a seed is one.
fn in_words(reason: &SeedReason) -> String {
    match reason {
        SeedReason::Named { name } => format!("the name {name}"),
        SeedReason::Fact { name, text } => format!("what is asked of {name}, “{text}”"),
        SeedReason::Joined { text } => format!("what joins two names, “{text}”"),
        SeedReason::Between {
            names: [one, another],
        } => format!("standing between {one} and {another}"),
        SeedReason::Dense => "being near the question".to_owned(),
    }
}
