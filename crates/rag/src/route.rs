//! Where evidence comes from, and the choice between a walk and the hybrid search.

use cornu_core::{ChunkId, Principal, Ranking, Trace};
use cornu_hop::{FirstStage, GATE_PASSAGES, HopDecision, HopSign};
use cornu_store::Snapshot;

use crate::error::RagError;
use crate::explain;
use crate::extractions::text;
use crate::index::LiveRagIndex;
use crate::multihop::Walked;
use crate::search::{Found, Hit, Place, Routes, found, hits, in_order};

/// Where the evidence of an answer comes from.
///
/// ```
/// assert_eq!(cornu::AskOptions::default().route, cornu::AnswerRoute::Hybrid);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerRoute {
    /// The [dense search](LiveRagIndex::search_dense).
    Dense,
    /// The [hybrid search](LiveRagIndex::search_hybrid).
    #[default]
    Hybrid,
    /// A [walk](LiveRagIndex::search_hop) over names and facts.
    Hop,
    /// One of the last two, as the question [needs](LiveRagIndex::search_auto).
    Auto,
}

impl LiveRagIndex {
    /// The best `k` visible chunks by the hybrid search or, where the question has a name that leads
    /// somewhere, by the [walk](Self::search_hop): what the one or the other would give, hit by hit.
    ///
    /// [`RagOptions::gate`](crate::RagOptions::gate) decides, from what the asker sees and nothing
    /// else: the names in the question, how many visible chunks have each or are about it, how many
    /// of the five best chunks mention it. The step `route` of the trace tells the decision, what it
    /// was made of, and why.
    ///
    /// Costs the hybrid search, the reading of five chunks, and the walk where it is taken; the
    /// graph is built and kept as for a walk, whatever is decided.
    ///
    /// # Errors
    /// As [`search_hybrid`](Self::search_hybrid) and [`search_hop`](Self::search_hop), whatever the
    /// question needs.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use cornu::extract::RuleExtractor;
    /// use cornu::{Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, Principal, RagOptions};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let options = RagOptions {
    ///     extractor: Some(Arc::new(RuleExtractor::new())),
    ///     ..RagOptions::default()
    /// };
    /// let index = LiveRagIndex::open(path, Arc::new(HashEmbeddingProvider::default()), options)?;
    /// for (name, text) in [
    ///     ("a.md", "Alpha Capital owns Star Holdings."),
    ///     ("b.md", "Star Holdings is the parent of Horizon Trust."),
    ///     ("c.md", "Horizon Trust bought Gamma Systems."),
    /// ] {
    ///     index.ingest(&Document::new(DocId::new(name)?, text, Acl::public()))?;
    /// }
    /// let reader = Principal::public();
    /// let found = index.search_auto(&reader, "How are Alpha Capital and Gamma Systems related?", 3)?;
    /// assert!(found.trace.to_string().contains("taken = \"hop\""));
    /// let found = index.search_auto(&reader, "what is bought?", 3)?;
    /// assert!(found.trace.to_string().contains("taken = \"hybrid\""));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search_auto(
        &self,
        principal: &Principal,
        question: &str,
        k: usize,
    ) -> Result<Found, RagError> {
        self.extractor()?;
        let snapshot = self.snapshot(principal)?;
        let mut trace = Trace::new();
        let (routes, decision) = self.auto(&snapshot, question, k)?;
        routes.note(&mut trace, self);
        note(&mut trace, &decision);
        if decision.hops {
            let walked = self.walk(&snapshot, question, &routes.dense, k)?;
            let hits = walked.shown(&snapshot, &routes.dense, &mut trace)?;
            return Ok(Found { hits, trace });
        }
        Ok(found(routes.hits(&snapshot)?, trace))
    }

    /// As [`explain`](Self::explain) or [`explain_hop`](Self::explain_hop), whichever the question
    /// needs, with the decision.
    ///
    /// # Errors
    /// As [`search_auto`](Self::search_auto).
    pub fn explain_auto(
        &self,
        principal: &Principal,
        question: &str,
        k: usize,
    ) -> Result<Trace, RagError> {
        self.extractor()?;
        let snapshot = self.snapshot(principal)?;
        let mut trace = Trace::new();
        explain::question(&mut trace, &self.options.tokenizer, question);
        let (routes, decision) = self.auto(&snapshot, question, k)?;
        routes.note(&mut trace, self);
        note(&mut trace, &decision);
        if decision.hops {
            let walked = self.walk(&snapshot, question, &routes.dense, k)?;
            walked.shown(&snapshot, &routes.dense, &mut trace)?;
        } else {
            self.explain_hits(&snapshot, &routes, question, &mut trace)?;
        }
        Ok(trace)
    }

    /// As [`explain`](Self::explain), of the dense search: what the question was taken for, and the
    /// trace of [`search_dense`](Self::search_dense).
    ///
    /// # Errors
    /// As there.
    pub fn explain_dense(
        &self,
        principal: &Principal,
        question: &str,
        k: usize,
    ) -> Result<Trace, RagError> {
        let mut trace = Trace::new();
        explain::question(&mut trace, &self.options.tokenizer, question);
        trace.append(self.search_dense(principal, question, k)?.trace);
        Ok(trace)
    }

    /// The candidates of an answer, and what led to them. A reranker looks at those of the hybrid
    /// search alone.
    pub(crate) fn candidates(
        &self,
        route: AnswerRoute,
        snapshot: &Snapshot<'_>,
        question: &str,
    ) -> Result<Candidates, RagError> {
        let k = self.options.evidence;
        let (routes, decision) = match route {
            AnswerRoute::Auto => {
                self.extractor()?;
                let (routes, decision) = self.auto(snapshot, question, k)?;
                (routes, Some(decision))
            }
            AnswerRoute::Hybrid => (self.routes(snapshot, question, k)?, None),
            AnswerRoute::Dense | AnswerRoute::Hop => {
                (self.first_stage(snapshot, question, k)?, None)
            }
        };
        let hops = route == AnswerRoute::Hop || decision.as_ref().is_some_and(|one| one.hops);
        let walked = match hops {
            true => Some(self.walk(snapshot, question, &routes.dense, k)?),
            false => None,
        };
        let hits = match (&walked, route) {
            (Some(walked), _) => walked.hits(snapshot, &routes.dense)?,
            (None, AnswerRoute::Dense) => nearest(snapshot, &routes.dense, k)?,
            (None, _) => routes.hits(snapshot)?,
        };
        Ok(Candidates {
            routes,
            hits,
            walked,
            decision,
        })
    }

    /// The first stage and what it says of the question; with the second look where no walk is to
    /// be taken.
    fn auto(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        k: usize,
    ) -> Result<(Routes, HopDecision), RagError> {
        let mut routes = self.first_stage(snapshot, question, k)?;
        let decision = self.decide_route(snapshot, question, &routes)?;
        if !decision.hops {
            self.look_again(snapshot, question, &mut routes)?;
        }
        Ok((routes, decision))
    }

    /// Whether to walk, from the graph of the snapshot's view and what the first stage found under
    /// it.
    fn decide_route(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        routes: &Routes,
    ) -> Result<HopDecision, RagError> {
        let chunks = snapshot.chunks(routes.first().iter().take(GATE_PASSAGES))?;
        let passages: Vec<String> = chunks.iter().flatten().map(|chunk| text(chunk)).collect();
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let first = FirstStage {
            question,
            passages: &passages,
        };
        self.decide_by_names(snapshot, &first)
    }
}

/// What an answer is looked for in.
pub(crate) struct Candidates {
    pub(crate) routes: Routes,
    pub(crate) hits: Vec<Hit>,
    pub(crate) walked: Option<Walked>,
    pub(crate) decision: Option<HopDecision>,
}

fn nearest(
    snapshot: &Snapshot<'_>,
    dense: &Ranking<ChunkId>,
    k: usize,
) -> Result<Vec<Hit>, RagError> {
    let best = in_order(dense).take(k);
    hits(snapshot, best, |id, _, _| {
        (Place::in_ranking(dense, id), None)
    })
}

/// The decision, what it was made of, and why.
pub(crate) fn note(trace: &mut Trace, decision: &HopDecision) {
    let (leading, others): (Vec<_>, Vec<_>) = decision
        .names
        .iter()
        .partition(|name| name.leads(decision.few));
    let written = |names: Vec<&HopSign>| -> Vec<String> {
        names.into_iter().map(|name| name.name.clone()).collect()
    };
    trace
        .step("route")
        .note("asked", "auto")
        .note("taken", if decision.hops { "hop" } else { "hybrid" })
        .note("few", decision.few)
        .note("leading", written(leading))
        .note("others", written(others))
        .note("reasons", decision.reasons());
}
