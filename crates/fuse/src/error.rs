use crate::rrf::MAX_RANK_CONSTANT;
use crate::weighted::MAX_WEIGHT;

/// Why lists were not fused, or no weight was fitted.
///
/// ```
/// use cornu_core::Ranking;
/// use cornu_fuse::{RrfOptions, Weighted, rrf_fuse};
///
/// let list = Ranking::new([(1, 0.5)])?;
/// let error = rrf_fuse(&[Weighted::new(&list, -0.5)], RrfOptions::default()).unwrap_err();
/// assert_eq!(error.to_string(), "the weight of list 0 is -0.5; give a number from 0 to 1000000000");
/// # Ok::<(), cornu_core::RankingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FuseError {
    /// A weight is negative, too large, infinite or NaN.
    #[error("the weight of list {list} is {weight}; give a number from 0 to {MAX_WEIGHT}")]
    Weight {
        /// Position of the list, from 0.
        list: usize,
        /// Its weight.
        weight: f64,
    },
    /// Lists were given, and all of their weights are zero.
    #[error("all {lists} weights are 0, so nothing would count; give one list a positive weight")]
    NoWeight {
        /// Number of lists.
        lists: usize,
    },
    /// α is no number from 0 to 1.
    #[error("alpha is {alpha}; give a number from 0 (sparse alone) to 1 (dense alone)")]
    Alpha {
        /// The value.
        alpha: f64,
    },
    /// The constant k of reciprocal rank fusion is negative, too large or NaN.
    #[error(
        "k of reciprocal rank fusion is {k}; give a number from 0 to {MAX_RANK_CONSTANT} (60 is usual)"
    )]
    RankConstant {
        /// The value.
        k: f64,
    },
    /// ε of the min-max normalisation is no number from 0 to 1.
    #[error("epsilon of the min-max normalisation is {epsilon}; give a number from 0 to 1")]
    Epsilon {
        /// The value.
        epsilon: f64,
    },
    /// There is not one theoretical minimum for each list.
    #[error("{minima} theoretical minima for {lists} lists; give one for each list, in order")]
    Minima {
        /// Number of minima.
        minima: usize,
        /// Number of lists.
        lists: usize,
    },
    /// A theoretical minimum is infinite or NaN, or a score lies below it.
    #[error(
        "the theoretical minimum of list {list} is {minimum}, and its lowest score {lowest}; give \
         a finite number that no score of this route can fall below"
    )]
    Minimum {
        /// Position of the list, from 0.
        list: usize,
        /// Its minimum.
        minimum: f64,
        /// Its lowest score.
        lowest: f64,
    },
    /// Nothing to fit on: no queries, no values of α to try, or no resamples.
    #[error("nothing to fit alpha on: no {missing}; give at least one")]
    NothingToFit {
        /// What is missing.
        missing: &'static str,
    },
    /// The confidence is not between 0 and 1.
    #[error("the confidence is {confidence}; give a number between 0 and 1, such as 0.95")]
    Confidence {
        /// The value.
        confidence: f64,
    },
    /// The caller's metric gave no finite number.
    #[error(
        "the metric gave {value} for query {query} at alpha {alpha}; it has to give a finite number"
    )]
    Metric {
        /// Position of the query, from 0.
        query: usize,
        /// The α that was tried.
        alpha: f64,
        /// What the metric gave.
        value: f64,
    },
}
