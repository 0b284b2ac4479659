//! The stable names of the metrics.

use std::fmt;
use std::str::FromStr;

use super::judged::{Gain, Judged};

/// A metric, printed and parsed under a name that stays.
///
/// | name | trec_eval | |
/// |---|---|---|
/// | `recall@5` | `recall_5` | denominator: all relevant |
/// | `r_cap@5` | | denominator: at most k |
/// | `hit@1` | `success_1` | |
/// | `precision@5` | `P_5` | denominator: k |
/// | `mrr`, `mrr@10` | `recip_rank` | |
/// | `ndcg`, `ndcg@10` | `ndcg`, `ndcg_cut_10` | linear gain |
/// | `ndcg_exp`, `ndcg_exp@10` | | gain 2^g − 1 |
/// | `map`, `map@10` | `map`, `map_cut_10` | |
/// | `r_precision` | `Rprec` | |
///
/// ```
/// use cornu_eval::metrics::Metric;
///
/// let metric: Metric = "recall@5".parse()?;
/// assert_eq!(metric, Metric::Recall(5));
/// assert_eq!(metric.to_string(), "recall@5");
/// assert!("recall@0".parse::<Metric>().is_err());
/// # Ok::<(), cornu_eval::metrics::ParseMetricError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// [`Judged::recall`].
    Recall(usize),
    /// [`Judged::capped_recall`].
    CappedRecall(usize),
    /// [`Judged::hit`].
    Hit(usize),
    /// [`Judged::precision`].
    Precision(usize),
    /// [`Judged::reciprocal_rank`].
    Mrr(Option<usize>),
    /// [`Judged::ndcg`].
    Ndcg(Option<usize>, Gain),
    /// [`Judged::average_precision`].
    Map(Option<usize>),
    /// [`Judged::r_precision`].
    RPrecision,
}

impl Metric {
    /// The metric's value for one ranked list, in \[0, 1\]; `None` where the query has no relevant
    /// document.
    #[must_use]
    pub fn of(self, judged: &Judged) -> Option<f64> {
        match self {
            Self::Recall(k) => judged.recall(k),
            Self::CappedRecall(k) => judged.capped_recall(k),
            Self::Hit(k) => judged.hit(k),
            Self::Precision(k) => judged.precision(k),
            Self::Mrr(cut) => judged.reciprocal_rank(cut),
            Self::Ndcg(cut, gain) => judged.ndcg(cut, gain),
            Self::Map(cut) => judged.average_precision(cut),
            Self::RPrecision => judged.r_precision(),
        }
    }

    /// What the metric is, in one sentence that a report can print beside its figures.
    #[must_use]
    pub fn definition(self) -> &'static str {
        match self {
            Self::Recall(_) => "relevant documents in the first k over all relevant documents",
            Self::CappedRecall(_) => {
                "relevant documents in the first k over the smaller of k and all relevant documents"
            }
            Self::Hit(_) => "1 when a relevant document is in the first k, else 0",
            Self::Precision(_) => "relevant documents in the first k over k",
            Self::Mrr(_) => "1 over the rank of the first relevant document, 0 when there is none",
            Self::Ndcg(_, Gain::Linear) => {
                "discounted gain over that of the ideal list cut alike, gain = grade (linear)"
            }
            Self::Ndcg(_, Gain::Exponential) => {
                "discounted gain over that of the ideal list cut alike, gain = 2^grade - 1 \
                 (exponential)"
            }
            Self::Map(_) => "precision at each relevant document, averaged over all of them",
            Self::RPrecision => "precision at the number of relevant documents",
        }
    }

    fn parts(self) -> (&'static str, Option<usize>) {
        match self {
            Self::Recall(k) => ("recall", Some(k)),
            Self::CappedRecall(k) => ("r_cap", Some(k)),
            Self::Hit(k) => ("hit", Some(k)),
            Self::Precision(k) => ("precision", Some(k)),
            Self::Mrr(cut) => ("mrr", cut),
            Self::Ndcg(cut, Gain::Linear) => ("ndcg", cut),
            Self::Ndcg(cut, Gain::Exponential) => ("ndcg_exp", cut),
            Self::Map(cut) => ("map", cut),
            Self::RPrecision => ("r_precision", None),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            (name, None) => f.write_str(name),
            (name, Some(k)) => write!(f, "{name}@{k}"),
        }
    }
}

impl FromStr for Metric {
    type Err = ParseMetricError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseMetricError {
            text: text.to_owned(),
        };
        let (name, cut) = match text.split_once('@') {
            None => (text, None),
            Some((name, digits)) => {
                // Only the form that Display writes: no sign, no leading zero, so no 0.
                let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
                let k = digits.parse().ok().filter(|_| plain).ok_or_else(error)?;
                (name, Some(k))
            }
        };
        match (name, cut) {
            ("recall", Some(k)) => Ok(Self::Recall(k)),
            ("r_cap", Some(k)) => Ok(Self::CappedRecall(k)),
            ("hit", Some(k)) => Ok(Self::Hit(k)),
            ("precision", Some(k)) => Ok(Self::Precision(k)),
            ("mrr", cut) => Ok(Self::Mrr(cut)),
            ("ndcg", cut) => Ok(Self::Ndcg(cut, Gain::Linear)),
            ("ndcg_exp", cut) => Ok(Self::Ndcg(cut, Gain::Exponential)),
            ("map", cut) => Ok(Self::Map(cut)),
            ("r_precision", None) => Ok(Self::RPrecision),
            _ => Err(error()),
        }
    }
}

/// A name that is no metric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no metric; use recall@K, r_cap@K, hit@K, precision@K, mrr, mrr@K, ndcg, ndcg@K, \
     ndcg_exp, ndcg_exp@K, map, map@K or r_precision, with K from 1"
)]
#[non_exhaustive]
pub struct ParseMetricError {
    /// What was given.
    pub text: String,
}
