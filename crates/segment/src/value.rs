//! What a chunk is worth to a query.

use crate::options::{REFERENCE_LENGTH, SegmentOptions};
use crate::select::on_grid;

/// A chunk's value for one query, with what it is made of:
/// `value = (decay · relevance − penalty) · length_factor`, brought to a multiple of
/// [`STEP`](crate::select::STEP).
///
/// dsRAG's function (`rse.py:104-107, 139-149`). A chunk that the search did not find has relevance
/// 0 and length factor 1, so it costs the penalty.
///
/// ```
/// use cornu_segment::{ChunkValue, SegmentOptions};
///
/// let options = SegmentOptions::default();
/// let first = ChunkValue::found(1, 0.84, 0.84, 350, &options);
/// assert_eq!((first.decay, first.length_factor), (1.0, 1.0));
/// assert!((first.value - (0.84 - 0.18)).abs() < 1e-9);
/// assert!((ChunkValue::not_found(&options).value + 0.18).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ChunkValue {
    /// Rank among the query's results, from 1; `None` when it is not among them.
    pub rank: Option<usize>,
    /// The score that the search gave.
    pub score: Option<f64>,
    /// What the score is worth, by [`Relevance`](crate::Relevance).
    pub relevance: f64,
    /// exp(−(rank − 1) / decay rate).
    pub decay: f64,
    /// max(characters, 700) / 700, or 1.
    pub length_factor: f64,
    /// What the chunk adds to a segment.
    pub value: f64,
}

impl ChunkValue {
    /// A result: its rank from 1, its score, what the score is worth, and the chunk's length in
    /// characters.
    #[must_use]
    pub fn found(
        rank: usize,
        score: f64,
        relevance: f64,
        characters: usize,
        options: &SegmentOptions,
    ) -> Self {
        let decay = libm::exp(-(rank.saturating_sub(1) as f64) / options.decay_rate);
        let length_factor = if options.adjust_for_length {
            (characters as f64).max(REFERENCE_LENGTH) / REFERENCE_LENGTH
        } else {
            1.0
        };
        let plain = decay * relevance - options.irrelevant_chunk_penalty;
        Self {
            rank: Some(rank),
            score: Some(score),
            relevance,
            decay,
            length_factor,
            value: on_grid(plain * length_factor),
        }
    }

    /// A chunk that is not among the results.
    #[must_use]
    pub fn not_found(options: &SegmentOptions) -> Self {
        Self {
            rank: None,
            score: None,
            relevance: 0.0,
            decay: 0.0,
            length_factor: 1.0,
            value: on_grid(-options.irrelevant_chunk_penalty),
        }
    }
}
