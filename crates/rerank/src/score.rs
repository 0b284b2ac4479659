//! Scores with their scale. A scale is a property of a model, told by whoever opens it, and never
//! guessed from values: a batch whose logits all lie between 0 and 1 is still one of logits.

use std::cmp::Ordering;
use std::fmt;

use crate::error::RerankError;

/// What a reranker's numbers mean.
///
/// ```
/// use cornu_rerank::Scale;
/// assert_eq!(Scale::Logit.name(), "logit");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scale {
    /// Log-odds of relevance: any finite number, 0 is even odds. What the heads of BERT
    /// cross-encoders give.
    Logit,
    /// A probability of relevance: from 0 to 1.
    Probability,
    /// A sum over the query's tokens of the largest inner product with a document's token
    /// (MaxSim): at most the number of those tokens for unit vectors. Comparable between the
    /// documents of one query, not between queries.
    MaxSim,
    /// Larger is better, and nothing else is known.
    Ordinal,
}

impl Scale {
    /// The name in traces: `logit`, `probability`, `max_sim`, `ordinal`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Logit => "logit",
            Self::Probability => "probability",
            Self::MaxSim => "max_sim",
            Self::Ordinal => "ordinal",
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A finite number on a [`Scale`]. Candidates are ordered by [`value`](Self::value) as the model
/// gave it; the probability is for display and thresholds.
///
/// ```
/// use cornu_rerank::{Scale, Score};
///
/// let (a, b) = (Score::new(20.0, Scale::Logit)?, Score::new(18.0, Scale::Logit)?);
/// assert!(a.value() > b.value());
/// let shown = Score::new(0.9, Scale::Logit)?.probability().ok_or("a logit has one")?;
/// assert_eq!(format!("{shown:.3}"), "0.711");
/// assert!(Score::new(1.5, Scale::Probability).is_err());
/// assert!(Score::new(f64::NAN, Scale::Logit).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    value: f64,
    scale: Scale,
}

impl Score {
    /// A score.
    ///
    /// # Errors
    /// [`RerankError::OffScale`] for a number that is not finite, or a probability outside 0 to 1.
    pub fn new(value: f64, scale: Scale) -> Result<Self, RerankError> {
        let on_scale = match scale {
            Scale::Probability => (0.0..=1.0).contains(&value),
            _ => value.is_finite(),
        };
        match on_scale {
            true => Ok(Self {
                value: value + 0.0,
                scale,
            }),
            false => Err(RerankError::OffScale { value, scale }),
        }
    }

    /// The model's number.
    #[must_use]
    pub fn value(self) -> f64 {
        self.value
    }

    /// What it means.
    #[must_use]
    pub fn scale(self) -> Scale {
        self.scale
    }

    /// The probability of relevance, in f64: σ(x) = 1 / (1 + e^−x) of a logit, a probability as it
    /// is, `None` on the scales that have none. Not to be ranked by: it saturates.
    #[must_use]
    pub fn probability(self) -> Option<f64> {
        match self.scale {
            Scale::Logit => Some(sigmoid(self.value)),
            Scale::Probability => Some(self.value),
            Scale::MaxSim | Scale::Ordinal => None,
        }
    }

    pub(crate) fn descending(self, other: Self) -> Ordering {
        other.value.total_cmp(&self.value)
    }
}

/// The least score that passes, on a scale that is said beside the number.
///
/// A threshold in probabilities judges logits by their [probability](Score::probability). Any
/// other pair of different scales is an error, so that 0.5 never meets a raw logit.
///
/// ```
/// use cornu_rerank::{Cutoff, Scale, Score};
///
/// let half = Cutoff::new(0.5, Scale::Probability)?;
/// assert!(half.passes(Score::new(0.4, Scale::Logit)?)?);
/// assert!(!half.passes(Score::new(-1.5, Scale::Logit)?)?);
/// assert!(half.passes(Score::new(3.2, Scale::MaxSim)?).is_err());
/// # Ok::<(), cornu_rerank::RerankError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cutoff {
    least: Score,
}

impl Cutoff {
    /// A threshold at a value of a scale.
    ///
    /// # Errors
    /// As [`Score::new`].
    pub fn new(least: f64, scale: Scale) -> Result<Self, RerankError> {
        Score::new(least, scale).map(|least| Self { least })
    }

    /// Whether a score is at least the threshold.
    ///
    /// # Errors
    /// [`RerankError::Scales`] when the two cannot be compared.
    pub fn passes(self, score: Score) -> Result<bool, RerankError> {
        let value = match (self.least.scale, score.scale) {
            (Scale::Probability, _) => score.probability(),
            (ours, theirs) if ours == theirs => Some(score.value),
            _ => None,
        };
        value
            .map(|value| value >= self.least.value)
            .ok_or(RerankError::Scales {
                cutoff: self.least.scale,
                score: score.scale,
            })
    }
}

/// 1 / (1 + e^−x) without overflow on either side.
fn sigmoid(x: f64) -> f64 {
    let small = (-x.abs()).exp();
    if x >= 0.0 {
        1.0 / (1.0 + small)
    } else {
        small / (1.0 + small)
    }
}
