//! Runs of chunks that belong together.

use std::collections::BTreeMap;

use cornu_core::{ChunkId, DocId, DocumentFacts, Principal, Scored, Trace};
use cornu_segment::select::Limits;
use cornu_segment::{DocumentChunks, Mode, Run, SegmentOptions, Segments, documents_of, extract};
use cornu_store::Snapshot;

use crate::error::RagError;
use crate::evidence::cosine;
use crate::explain;
use crate::index::LiveRagIndex;
use crate::search::{Hit, Routes};

/// How many results of each question have a value, as in dsRAG.
const RESULTS: usize = 200;

/// Runs of neighbouring chunks, and how they were chosen.
///
/// ```
/// use std::sync::Arc;
/// use cornu::{Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, Preset, Principal};
/// use cornu::{RagOptions, SegmentOptions, segment::Relevance};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("index.db");
/// let provider = Arc::new(HashEmbeddingProvider::default());
/// let index = LiveRagIndex::open(path, provider, RagOptions::default())?;
/// let guide = "# Pump\n\n## Start\n\nOpen the valve of the pump.\n\n## Stop\n\nClose the valve of the pump.\n";
/// index.ingest(&Document::new(DocId::new("pump.md")?, guide, Acl::public()))?;
///
/// let options = SegmentOptions {
///     relevance: Relevance::around(0.2), // where this embedder's relevant texts begin
///     ..SegmentOptions::preset(Preset::Balanced)
/// };
/// let found = index.segments(&Principal::public(), &["valve of the pump"], &options)?;
/// assert_eq!(found.runs[0].citation(), "pump.md § Pump, lines 3-9");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FoundSegments {
    /// The runs, most valuable first.
    pub runs: Vec<Run>,
    /// The sum of their values.
    pub value: f64,
    /// What they had to keep to.
    pub limits: Limits,
    /// What each step did: the searches, the value of each result, the runs.
    pub trace: Trace,
}

impl LiveRagIndex {
    /// The runs of neighbouring chunks that are worth most to one or several questions: Relevant
    /// Segment Extraction over [hybrid searches](Self::search_hybrid) on one state of the index.
    ///
    /// Ranks are those of the fused list (its first 200), or of the reranker where one is set;
    /// relevance is that of the cosine of
    /// question and chunk by [`SegmentOptions::relevance`]: choose it for the model. All chunks of
    /// the documents of the first results take part; hidden documents do not exist.
    ///
    /// Costs a hybrid search a question, and the reading of at most
    /// [`documents`](SegmentOptions::documents) documents a question with their vectors.
    ///
    /// # Errors
    /// [`RagError::Segment`], and as the searches.
    pub fn segments(
        &self,
        principal: &Principal,
        questions: &[&str],
        options: &SegmentOptions,
    ) -> Result<FoundSegments, RagError> {
        options.check()?;
        self.segments_on(&self.snapshot(principal)?, questions, options)
    }

    pub(crate) fn segments_on(
        &self,
        snapshot: &Snapshot<'_>,
        questions: &[&str],
        options: &SegmentOptions,
    ) -> Result<FoundSegments, RagError> {
        let mut trace = Trace::new();
        let mut found: Vec<(Routes, Vec<Hit>)> = Vec::new();
        for question in questions {
            let routes = self.routes(snapshot, question, RESULTS)?;
            explain::question(&mut trace, &self.options.tokenizer, question);
            self.note_vectors(snapshot, self.options.depth, &mut trace)?;
            routes.note(&mut trace, self);
            let mut hits = routes.hits(snapshot)?;
            // A column of a table shows what its rows own: it takes part in no run, and so has no
            // rank among those that do.
            hits.retain(|hit| !hit.chunk.is_column());
            found.push((routes, hits));
        }
        let docs: Vec<Vec<&DocId>> = found
            .iter()
            .map(|(_, hits)| hits.iter().map(|hit| &hit.chunk.doc).collect())
            .collect();
        let docs: Vec<&[&DocId]> = docs.iter().map(Vec::as_slice).collect();
        let mut documents: Vec<DocumentFacts> = Vec::new();
        for doc in documents_of(&docs, options.documents) {
            documents.extend(snapshot.facts(doc)?);
        }
        let results: Vec<Vec<Scored<ChunkId>>> = found
            .iter()
            .map(|(routes, hits)| scored(routes, hits, &documents))
            .collect();
        let results: Vec<&[Scored<ChunkId>]> = results.iter().map(Vec::as_slice).collect();
        let chunks: Vec<DocumentChunks<'_>> = documents
            .iter()
            .map(|facts| DocumentChunks {
                doc: &facts.doc,
                chunks: &facts.chunks,
            })
            .collect();
        let segments = extract(&results, &chunks, options)?;
        note(&mut trace, options, &documents, &segments);
        Ok(FoundSegments {
            runs: segments.runs,
            value: segments.value,
            limits: segments.limits,
            trace,
        })
    }
}

impl FoundSegments {
    /// As JSON, the same bytes for the same view.
    #[must_use]
    pub fn to_json(&self) -> String {
        crate::json(self)
    }
}

/// The chunks in order of rank with their cosines. A chunk that the dense list does not hold has
/// that of its stored vector; one of a document that is not looked at counts for nothing.
fn scored(routes: &Routes, hits: &[Hit], documents: &[DocumentFacts]) -> Vec<Scored<ChunkId>> {
    let by_doc: BTreeMap<&DocId, &DocumentFacts> =
        documents.iter().map(|facts| (&facts.doc, facts)).collect();
    let stored = |hit: &Hit| {
        let facts = by_doc.get(&hit.chunk.doc)?;
        let at = facts.indexed().position(|chunk| chunk.id == hit.chunk.id)?;
        let row = (at < facts.vectors.nrows()).then(|| facts.vectors.row(at))?;
        Some(cosine(&routes.query.view(), &row))
    };
    let score = |hit: &Hit| match &hit.dense {
        Some(place) => place.score,
        None => stored(hit).unwrap_or(0.0),
    };
    let one = |hit: &Hit| Scored {
        id: hit.chunk.id,
        score: score(hit),
    };
    hits.iter().map(one).collect()
}

fn note(
    trace: &mut Trace,
    options: &SegmentOptions,
    documents: &[DocumentFacts],
    segments: &Segments,
) {
    let limits = segments.limits;
    let mode = match options.mode {
        Mode::Paper => "greedy",
        _ => "exact",
    };
    trace
        .step("segments")
        .note("choice", mode)
        .note("relevance", format!("{:?}", options.relevance))
        .note("penalty", options.irrelevant_chunk_penalty)
        .note("decay", options.decay_rate)
        .note("max_length", limits.segment)
        .note("overall_max_length", limits.total)
        .note("minimum", limits.minimum)
        .note("price", limits.price)
        .note("documents", documents.len());
    for (query, values) in segments.values.iter().enumerate() {
        let mut values = values.iter();
        for facts in documents {
            let owners = || facts.indexed().filter(|chunk| !chunk.is_column());
            let chunks = owners().zip(values.by_ref());
            let found = chunks.filter_map(|(chunk, value)| {
                let rank = value.rank?;
                Some(format!(
                    "lines {}: {} (rank {rank}, relevance {})",
                    chunk.lines, value.value, value.relevance
                ))
            });
            let found: Vec<String> = found.collect();
            if !found.is_empty() {
                trace
                    .step("values")
                    .note("question", query + 1)
                    .note("document", facts.doc.as_str())
                    .note("chunks", owners().count())
                    .note("found", found);
            }
        }
    }
    for (at, run) in segments.runs.iter().enumerate() {
        let values: Vec<f64> = run.chunks.iter().map(|chunk| chunk.value.value).collect();
        trace
            .step("run")
            .note("place", at + 1)
            .note("question", run.query + 1)
            .note("citation", run.citation())
            .note("value", run.value)
            .note("chunks", values);
    }
}
