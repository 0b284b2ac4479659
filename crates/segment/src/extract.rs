//! From results to runs of chunks.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::{Chunk, ChunkId, DocId, Scored};

use crate::error::SegmentError;
use crate::options::{Mode, SegmentOptions};
use crate::run::{LineEnd, Run, RunChunk};
use crate::select::{Limits, Selection, Values, greedy, optimal};
use crate::value::ChunkValue;

/// A document whose chunks may form segments.
///
/// ```
/// use cornu_core::DocId;
/// use cornu_segment::DocumentChunks;
/// let doc = DocId::new("a.md")?;
/// let document = DocumentChunks { doc: &doc, chunks: &[] };
/// assert!(document.chunks.is_empty());
/// # Ok::<(), cornu_core::IdError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DocumentChunks<'a> {
    /// Its name.
    pub doc: &'a DocId,
    /// All its chunks, as its chunker made them; parents among them are passed over.
    pub chunks: &'a [Chunk],
}

/// The segments of some documents for one or several queries, with the numbers behind them.
///
/// ```
/// use cornu_segment::{SegmentOptions, Segments, extract};
/// let nothing: Segments = extract(&[&[]], &[], &SegmentOptions::default())?;
/// assert!(nothing.runs.is_empty() && nothing.value == 0.0);
/// # Ok::<(), cornu_segment::SegmentError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Segments {
    /// The segments, most valuable first; of equal ones the one that stands first in the documents
    /// as given.
    pub runs: Vec<Run>,
    /// The sum of the runs' values.
    pub value: f64,
    /// What the runs had to keep to.
    pub limits: Limits,
    /// Values of all chunks of all documents, in order: one list a query.
    pub values: Vec<Vec<ChunkValue>>,
}

/// The documents of the first `per_query` results of each query, in the order in which they first
/// come, query by query: the documents that dsRAG joins. (There their order is that of a set, so
/// not stable.) O(results · log) time.
///
/// ```
/// use cornu_core::DocId;
/// use cornu_segment::documents_of;
/// let [a, b, c] = [DocId::new("a")?, DocId::new("b")?, DocId::new("c")?];
/// assert_eq!(documents_of(&[&[&b, &a, &b, &c]], 3), [&b, &a]);
/// # Ok::<(), cornu_core::IdError>(())
/// ```
#[must_use]
pub fn documents_of<'a>(results: &[&[&'a DocId]], per_query: usize) -> Vec<&'a DocId> {
    let first = results.iter().flat_map(|list| list.iter().take(per_query));
    let mut seen = BTreeSet::new();
    first.copied().filter(|doc| seen.insert(*doc)).collect()
}

/// The runs of neighbouring chunks that are worth most to the queries.
///
/// Each query's `results` are chunks in order of rank with their scores; the order is taken as
/// given, so a list may be ranked by one route and scored by another. Chunks of `documents` that
/// are not among the results count as irrelevant; results in none of the documents are passed over,
/// and so are the columns of tables, which own no bytes.
/// No segment reaches across documents. See [`ChunkValue`] for a chunk's value, and
/// [`greedy`] and [`optimal`] for the choice.
///
/// Both lists have to hold only what the asker may see: a document's chunks count for and against
/// their neighbours.
///
/// O((chunks + results) · log) time besides the choice.
///
/// # Errors
/// [`SegmentError`]; no input makes it panic.
pub fn extract(
    results: &[&[Scored<ChunkId>]],
    documents: &[DocumentChunks<'_>],
    options: &SegmentOptions,
) -> Result<Segments, SegmentError> {
    options.check()?;
    let meta = Meta::join(documents)?;
    let values = results
        .iter()
        .enumerate()
        .map(|(query, list)| meta.values(query, list, options))
        .collect::<Result<Vec<_>, _>>()?;
    let rows = values
        .iter()
        .map(|row| row.iter().map(|v| v.value).collect());
    let limits = options.limits(results.len());
    let table = Values::new(rows.collect(), &meta.lengths)?;
    let selection = match options.mode {
        Mode::Paper => greedy(&table, &limits)?,
        Mode::Clean => optimal(&table, &limits)?,
    };
    Ok(Segments {
        runs: meta.runs(&selection, &values),
        value: selection.value(),
        limits,
        values,
    })
}

/// Documents joined end to end.
struct Meta<'a> {
    chunks: Vec<&'a Chunk>,
    lengths: Vec<usize>,
    /// For each chunk, how the lines of its document end.
    line_ends: Vec<LineEnd>,
    /// Where each chunk stands.
    places: BTreeMap<ChunkId, usize>,
}

impl<'a> Meta<'a> {
    fn join(documents: &[DocumentChunks<'a>]) -> Result<Self, SegmentError> {
        let mut meta = Self {
            chunks: Vec::new(),
            lengths: Vec::new(),
            line_ends: Vec::new(),
            places: BTreeMap::new(),
        };
        let mut seen = BTreeSet::new();
        for document in documents {
            let twice = || SegmentError::DuplicateDocument {
                doc: document.doc.to_string(),
            };
            if !seen.insert(document.doc) {
                return Err(twice());
            }
            let mut before: Option<&Chunk> = None;
            // A column shows what rows own, so it is no part of a run.
            let indexed = document
                .chunks
                .iter()
                .filter(|c| c.role.is_indexed() && !c.is_column());
            let begin = meta.chunks.len();
            for (at, chunk) in indexed.enumerate() {
                let in_order = before.is_none_or(|b| b.span.start() <= chunk.span.start());
                if chunk.doc != *document.doc || !in_order {
                    let doc = document.doc.to_string();
                    return Err(SegmentError::Order { doc, at });
                }
                if meta.places.insert(chunk.id, begin + at).is_some() {
                    return Err(twice());
                }
                meta.chunks.push(chunk);
                before = Some(chunk);
            }
            meta.lengths.push(meta.chunks.len() - begin);
            let line_end = LineEnd::of(document.chunks);
            meta.line_ends.resize(meta.chunks.len(), line_end);
        }
        Ok(meta)
    }

    fn values(
        &self,
        query: usize,
        results: &[Scored<ChunkId>],
        options: &SegmentOptions,
    ) -> Result<Vec<ChunkValue>, SegmentError> {
        let mut values = vec![ChunkValue::not_found(options); self.chunks.len()];
        let mut seen = BTreeSet::new();
        for (before, result) in results.iter().enumerate() {
            let rank = before + 1;
            if !seen.insert(result.id) {
                return Err(SegmentError::DuplicateResult { query, rank });
            }
            let Some(&place) = self.places.get(&result.id) else {
                continue;
            };
            let Some(relevance) = options.relevance.of(result.score) else {
                return Err(options.relevance.error(query, rank, result.score));
            };
            if let (Some(value), Some(chunk)) = (values.get_mut(place), self.chunks.get(place)) {
                let length = chunk.text.chars().count();
                *value = ChunkValue::found(rank, result.score, relevance, length, options);
            }
        }
        Ok(values)
    }

    fn runs(&self, selection: &Selection, values: &[Vec<ChunkValue>]) -> Vec<Run> {
        let mut picks = selection.picks.clone();
        picks.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.start.cmp(&b.start)));
        let run = |pick: &crate::select::Pick| {
            let chunks = self.chunks.get(pick.start..pick.end)?;
            let own = values.get(pick.query)?.get(pick.start..pick.end)?;
            let why = chunks.iter().zip(own).map(|(chunk, value)| RunChunk {
                id: chunk.id,
                lines: chunk.lines,
                value: *value,
            });
            let line_end = self.line_ends.get(pick.start).copied().unwrap_or_default();
            Run::of(pick.query, pick.value, chunks, why.collect(), line_end)
        };
        picks.iter().filter_map(run).collect()
    }
}
