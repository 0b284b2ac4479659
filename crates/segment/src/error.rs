use std::fmt;

use crate::select::{MAX_CELLS, MAX_MAGNITUDE, MAX_SEGMENT};

/// Why no segments were extracted.
///
/// ```
/// use cornu_segment::{Preset, SegmentOptions};
/// let options = SegmentOptions { max_length: 0, ..SegmentOptions::preset(Preset::Balanced) };
/// let error = options.check().unwrap_err();
/// assert_eq!(error.to_string(), "`max_length` is 0; give a number from 1 to 65535");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// An option is outside of what makes sense.
    #[error("`{name}` is {value}; give {remedy}")]
    Option {
        /// The option.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would do.
        remedy: String,
    },
    /// A score is no cosine of unit vectors.
    #[error(
        "the score at rank {rank} of query {query} is {score}, no cosine of unit vectors; \
         normalise the vectors, or choose the `Relevance` of the scorer that gave it"
    )]
    NotACosine {
        /// Position of the query, from 0.
        query: usize,
        /// Rank of the result, from 1.
        rank: usize,
        /// The score.
        score: f64,
    },
    /// A score is outside of what its calibration takes, or not finite.
    #[error(
        "the score at rank {rank} of query {query} is {score}, which {relevance} does not take; \
         choose the `Relevance` of the scorer that gave it"
    )]
    Score {
        /// Position of the query, from 0.
        query: usize,
        /// Rank of the result, from 1.
        rank: usize,
        /// The score.
        score: f64,
        /// The calibration.
        relevance: &'static str,
    },
    /// A chunk comes twice in one query's results.
    #[error("the chunk at rank {rank} of query {query} came before; give each chunk once")]
    DuplicateResult {
        /// Position of the query, from 0.
        query: usize,
        /// Rank of the second occurrence, from 1.
        rank: usize,
    },
    /// A document, or a chunk, is given twice.
    #[error("{doc} is given twice, or holds a chunk twice; give each document once")]
    DuplicateDocument {
        /// The document.
        doc: String,
    },
    /// The chunks of a document are not in the order of their spans, or not all its own.
    #[error(
        "chunk {at} of {doc} belongs to another document, or begins before the one in front of it; \
         give the chunks of a document as its chunker made them"
    )]
    Order {
        /// The document.
        doc: String,
        /// Position of the chunk among the indexed ones, from 0.
        at: usize,
    },
    /// Rows of values do not match the documents' lengths.
    #[error("query {query} has {found} values for {expected} chunks; give one for each chunk")]
    Shape {
        /// Position of the query, from 0.
        query: usize,
        /// Number of values.
        found: usize,
        /// Number of chunks.
        expected: usize,
    },
    /// A value is not finite, or so large that sums would not be exact.
    #[error(
        "the value {value} of chunk {at} is too large for exact sums over {chunks} chunks (at most \
         {MAX_MAGNITUDE} in all); give shorter chunks or fewer documents"
    )]
    Value {
        /// Position in the joined documents, from 0.
        at: usize,
        /// The value.
        value: f64,
        /// Number of chunks.
        chunks: usize,
    },
    /// The exact optimum would need too large a table.
    #[error(
        "the exact optimum over {ends} possible ends and {total} chunks in all needs more than \
         {MAX_CELLS} cells; lower `overall_max_length`, or choose the greedy `Mode::Paper`"
    )]
    TooLarge {
        /// Places at which a segment may end.
        ends: usize,
        /// The limit on all segments together.
        total: usize,
    },
    /// Nothing to fit a calibration on.
    #[error(
        "{positives} relevant and {negatives} other scores are no basis for a calibration; give \
         at least one of each, all finite"
    )]
    NothingToFit {
        /// Scores of relevant texts.
        positives: usize,
        /// Scores of others.
        negatives: usize,
    },
}

impl SegmentError {
    pub(crate) fn option(
        name: &'static str,
        value: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Option {
            name,
            value: value.to_string(),
            remedy: remedy.into(),
        }
    }

    pub(crate) fn segment_length(name: &'static str, value: usize) -> Self {
        Self::option(name, value, format!("a number from 1 to {MAX_SEGMENT}"))
    }
}
