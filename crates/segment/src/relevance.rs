//! What a score is worth: similarities and rerankers' scores to relevance on one scale.

use crate::beta::beta_cdf;
use crate::error::SegmentError;

/// How far a cosine may lie outside [−1, 1] by rounding.
const ROUNDING: f64 = 1e-5;

/// From a score to a relevance, which is 1 for a text that surely answers and 0 for one that
/// surely does not.
///
/// ```
/// use cornu_segment::Relevance;
///
/// assert_eq!(Relevance::Cosine.of(0.84), Some(0.84));
/// assert_eq!(Relevance::Linear { zero: 0.75, one: 0.95 }.of(0.80).map(|r| (r * 1e9).round() / 1e9), Some(0.25));
/// assert_eq!(Relevance::COHERE.of(0.5).map(|r| (r * 1e9).round() / 1e9), Some(0.5));
/// assert_eq!(Relevance::Cosine.of(1.5), None, "no cosine of unit vectors");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Relevance {
    /// The cosine of two unit vectors as it is, as dsRAG does without a reranker.
    Cosine,
    /// The same for every result, whatever its score; dsRAG's other choice, with 0.8.
    Constant(f64),
    /// From `zero` (0) to `one` (1), and 0 and 1 outside: for embedders whose cosines fill a small
    /// part of their range.
    Linear {
        /// The score of a text that has nothing to do with the question.
        zero: f64,
        /// The score of a text that answers it.
        one: f64,
    },
    /// The distribution function of Beta(a, b) at a score from 0 to 1: dsRAG's transform for
    /// rerankers (`reranker.py:42-48, 80-86, 112-123`).
    Beta {
        /// First parameter, positive.
        a: f64,
        /// Second parameter, positive.
        b: f64,
    },
    /// 1 / (1 + exp(−(slope · score + intercept))): for scorers without bounds, as cross-encoders;
    /// [`fit_logistic`](crate::fit_logistic) fits it.
    Logistic {
        /// By how much a score counts.
        slope: f64,
        /// The log odds at score 0.
        intercept: f64,
    },
}

impl Relevance {
    /// dsRAG's transform for Cohere's rerankers.
    pub const COHERE: Self = Self::Beta { a: 0.4, b: 0.4 };
    /// dsRAG's transform for Voyage's rerank-2.
    pub const VOYAGE: Self = Self::Beta { a: 0.5, b: 1.8 };

    /// A linear relevance around the cosine from which on a text counts as relevant, for want of a
    /// fit: ½ there, 0 and 1 as far below and above as there is room on the smaller side. 0.2 gives
    /// 0 to 0.4, 0.85 gives 0.7 to 1. The raw cosine outside of 0 to 1.
    #[must_use]
    pub fn around(threshold: f64) -> Self {
        let room = threshold.min(1.0 - threshold);
        if room > 0.0 {
            Self::Linear {
                zero: threshold - room,
                one: threshold + room,
            }
        } else {
            Self::Cosine
        }
    }

    /// The relevance of a score; `None` for a score that is not finite, is no cosine where one is
    /// needed, or lies outside 0 to 1 where that is.
    #[must_use]
    pub fn of(&self, score: f64) -> Option<f64> {
        if !score.is_finite() {
            return None;
        }
        match *self {
            Self::Cosine => (score.abs() <= 1.0 + ROUNDING).then(|| score.clamp(-1.0, 1.0)),
            Self::Constant(value) => Some(value),
            Self::Linear { zero, one } => Some(((score - zero) / (one - zero)).clamp(0.0, 1.0)),
            Self::Beta { a, b } => (-ROUNDING..=1.0 + ROUNDING)
                .contains(&score)
                .then(|| beta_cdf(score, a, b)),
            Self::Logistic { slope, intercept } => {
                Some(1.0 / (1.0 + libm::exp(-(slope * score + intercept))))
            }
        }
    }

    /// Whether the parameters make sense.
    pub(crate) fn check(&self) -> Result<(), SegmentError> {
        let (sound, remedy) = match *self {
            Self::Cosine => (true, ""),
            Self::Constant(value) => ((0.0..=1.0).contains(&value), "a constant from 0 to 1"),
            Self::Linear { zero, one } => (
                zero.is_finite() && one.is_finite() && zero < one,
                "`zero` below `one`, both finite",
            ),
            Self::Beta { a, b } => (
                (0.001..=1000.0).contains(&a) && (0.001..=1000.0).contains(&b),
                "parameters from 0.001 to 1000",
            ),
            Self::Logistic { slope, intercept } => (
                slope.is_finite() && slope > 0.0 && intercept.is_finite(),
                "a positive slope, both finite",
            ),
        };
        if sound {
            return Ok(());
        }
        Err(SegmentError::option(
            "relevance",
            format!("{self:?}"),
            remedy,
        ))
    }

    pub(crate) fn error(&self, query: usize, rank: usize, score: f64) -> SegmentError {
        match self {
            Self::Cosine => SegmentError::NotACosine { query, rank, score },
            Self::Constant(_) => SegmentError::Score {
                query,
                rank,
                score,
                relevance: "a constant relevance",
            },
            Self::Linear { .. } => SegmentError::Score {
                query,
                rank,
                score,
                relevance: "a linear relevance",
            },
            Self::Beta { .. } => SegmentError::Score {
                query,
                rank,
                score,
                relevance: "a beta distribution (0 to 1)",
            },
            Self::Logistic { .. } => SegmentError::Score {
                query,
                rank,
                score,
                relevance: "a logistic relevance",
            },
        }
    }
}
