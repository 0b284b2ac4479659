//! One ranked list seen through one query's judgments, and every metric of it.

use std::fmt::Display;

use super::sets::{Judgments, RunError, check_unique};

/// How nDCG turns a grade g into a gain. Equal for grades 0 and 1, different above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gain {
    /// g, as trec_eval (Järvelin and Kekäläinen 2002).
    Linear,
    /// 2^g − 1 (Burges et al. 2005).
    Exponential,
}

impl Gain {
    fn of(self, grade: u8) -> f64 {
        match self {
            Self::Linear => f64::from(grade),
            Self::Exponential => libm::ldexp(1.0, i32::from(grade)) - 1.0,
        }
    }
}

/// A ranked list as its grades, ready for any metric.
///
/// Every metric is `None` where the query has no relevant document: nothing is measured there.
/// Otherwise it is finite and in \[0, 1\]. A cut of `None` looks at the whole list. Each call costs
/// O(min(k, list)) plus, for nDCG, O(min(k, relevant)).
///
/// ```
/// use cornu_eval::metrics::{Gain, Judged, Judgments};
///
/// let judgments: Judgments<&str> = [("a", 3), ("b", 1)].into_iter().collect();
/// let judged = Judged::new(&["x", "a"], &judgments)?;
/// assert_eq!(judged.recall(2), Some(0.5));
/// assert_eq!(judged.hit(1), Some(0.0));
/// assert_eq!(judged.reciprocal_rank(None), Some(0.5));
/// assert!(judged.ndcg(Some(10), Gain::Linear).is_some_and(|v| v < 1.0));
/// # Ok::<(), cornu_eval::metrics::RunError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Grade at each rank, 0 for an unjudged document.
    grades: Vec<u8>,
    /// The relevant documents' grades, best first: the best list there could be.
    ideal: Vec<u8>,
}

impl Judged {
    /// Looks up the grades of `ranked`, which stands in the order the user sees. O(n log n).
    ///
    /// # Errors
    /// [`RunError::DuplicateDocument`] when the list names a document twice; its query id is empty.
    pub fn new<D: Ord + Display>(ranked: &[D], judgments: &Judgments<D>) -> Result<Self, RunError> {
        check_unique("", ranked)?;
        Ok(Self::of_unique(ranked, judgments))
    }

    /// As [`Judged::new`], for a list already known to hold each document once.
    pub(super) fn of_unique<D: Ord>(ranked: &[D], judgments: &Judgments<D>) -> Self {
        let mut ideal: Vec<u8> = judgments
            .iter()
            .map(|(_, grade)| grade)
            .filter(|&grade| grade > 0)
            .collect();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            grades: ranked
                .iter()
                .map(|document| judgments.grade(document))
                .collect(),
            ideal,
        }
    }

    /// How many relevant documents the query has.
    #[must_use]
    pub fn relevant(&self) -> usize {
        self.ideal.len()
    }

    /// Length of the ranked list.
    #[must_use]
    pub fn retrieved(&self) -> usize {
        self.grades.len()
    }

    /// Relevant documents among the first k, over all relevant documents (`recall_k`).
    #[must_use]
    pub fn recall(&self, k: usize) -> Option<f64> {
        self.measured(|| ratio(self.found(k), self.relevant()))
    }

    /// Recall with the denominator capped at k, so that k relevant documents in k places give 1.
    /// Not comparable with published recall; 0 at k = 0.
    #[must_use]
    pub fn capped_recall(&self, k: usize) -> Option<f64> {
        self.measured(|| ratio(self.found(k), self.relevant().min(k)))
    }

    /// 1 when a relevant document is among the first k, else 0 (`success_k`).
    #[must_use]
    pub fn hit(&self, k: usize) -> Option<f64> {
        self.measured(|| if self.found(k) > 0 { 1.0 } else { 0.0 })
    }

    /// Relevant documents among the first k, over k, however short the list is (`P_k`).
    #[must_use]
    pub fn precision(&self, k: usize) -> Option<f64> {
        self.measured(|| ratio(self.found(k), k))
    }

    /// 1 over the rank of the first relevant document within the cut, 0 when there is none
    /// (`recip_rank`).
    #[must_use]
    pub fn reciprocal_rank(&self, cut: Option<usize>) -> Option<f64> {
        self.measured(|| {
            self.top(cut)
                .iter()
                .position(|&grade| grade > 0)
                .map_or(0.0, |index| ratio(1, index + 1))
        })
    }

    /// Discounted cumulative gain over that of the best list there could be, with the discount
    /// 1 / log2(rank + 1). The cut cuts the best list too (`ndcg_cut_k`; `ndcg` without a cut).
    #[must_use]
    pub fn ndcg(&self, cut: Option<usize>, gain: Gain) -> Option<f64> {
        self.measured(|| {
            let best = dcg(top(&self.ideal, cut), gain);
            // best is 0 only at k = 0. The quotient of a perfect list is exactly 1: both sums then
            // run over the same numbers in the same order.
            if best > 0.0 {
                dcg(self.top(cut), gain) / best
            } else {
                0.0
            }
        })
    }

    /// Precision at the rank of each relevant document within the cut, summed, over all relevant
    /// documents (`map`, `map_cut_k`).
    #[must_use]
    pub fn average_precision(&self, cut: Option<usize>) -> Option<f64> {
        self.measured(|| {
            let mut found = 0;
            let mut sum = 0.0;
            for (index, _) in self
                .top(cut)
                .iter()
                .enumerate()
                .filter(|&(_, &grade)| grade > 0)
            {
                found += 1;
                sum += ratio(found, index + 1);
            }
            sum / as_f64(self.relevant())
        })
    }

    /// Precision at R, the number of relevant documents (`Rprec`).
    #[must_use]
    pub fn r_precision(&self) -> Option<f64> {
        self.precision(self.relevant())
    }

    fn measured(&self, value: impl FnOnce() -> f64) -> Option<f64> {
        (!self.ideal.is_empty()).then(value)
    }

    fn top(&self, cut: Option<usize>) -> &[u8] {
        top(&self.grades, cut)
    }

    fn found(&self, k: usize) -> usize {
        self.top(Some(k)).iter().filter(|&&grade| grade > 0).count()
    }
}

fn top(grades: &[u8], cut: Option<usize>) -> &[u8] {
    cut.and_then(|k| grades.get(..k)).unwrap_or(grades)
}

fn dcg(grades: &[u8], gain: Gain) -> f64 {
    grades
        .iter()
        .enumerate()
        .map(|(index, &grade)| gain.of(grade) / libm::log2(as_f64(index + 2)))
        .fold(0.0, |sum, term| sum + term) // sum() of nothing is -0.0
}

/// a / b, and 0 for b = 0 (only at k = 0).
fn ratio(a: usize, b: usize) -> f64 {
    if b == 0 { 0.0 } else { as_f64(a) / as_f64(b) }
}

/// Exact below 2^53, past any list that fits in memory.
fn as_f64(count: usize) -> f64 {
    count as f64
}
