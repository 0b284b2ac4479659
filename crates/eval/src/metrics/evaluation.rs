//! A run against its judgments: per query, and averaged over judged queries.

use std::collections::{BTreeMap, BTreeSet};

use super::judged::Judged;
use super::metric::Metric;
use super::sets::{Qrels, Run};
use crate::significance::{Bootstrap, Interval, Scale, StatError};

/// Scores `run` against `qrels`. O(total list length · log) time.
///
/// A query is scored when it has a relevant document; with no results it scores 0. Queries without
/// relevant documents, and queries of the run that were never judged, are only counted.
///
/// ```
/// use cornu_eval::metrics::{Metric, Qrels, Run, evaluate};
///
/// let mut qrels = Qrels::new();
/// qrels.insert("q1", "d1", 1);
/// qrels.insert("q2", "d9", 1);
/// let mut run = Run::new();
/// run.insert("q1", vec!["d1"])?;
///
/// let evaluation = evaluate(&qrels, &run, &[Metric::Recall(5)]);
/// assert_eq!(evaluation.mean(Metric::Recall(5)), Some(0.5)); // q2 found nothing: 0, not absent
/// assert_eq!(evaluation.counts().scored, 2);
/// assert_eq!(evaluation.counts().without_results, 1);
/// # Ok::<(), cornu_eval::metrics::RunError>(())
/// ```
#[must_use]
pub fn evaluate<D: Ord>(qrels: &Qrels<D>, run: &Run<D>, metrics: &[Metric]) -> Evaluation {
    let metrics: Vec<Metric> = metrics
        .iter()
        .copied()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let mut evaluation = Evaluation {
        metrics,
        scored: BTreeMap::new(),
        without_results: BTreeSet::new(),
        without_relevant: BTreeSet::new(),
        unjudged: BTreeSet::new(),
    };
    for (query, judgments) in qrels.iter() {
        let judged = Judged::of_unique(run.get(query).unwrap_or_default(), judgments);
        let values: Option<Vec<f64>> = evaluation
            .metrics
            .iter()
            .map(|metric| metric.of(&judged))
            .collect();
        match values {
            Some(values) if judged.relevant() > 0 => {
                if judged.retrieved() == 0 {
                    evaluation.without_results.insert(query.to_owned());
                }
                evaluation.scored.insert(query.to_owned(), values);
            }
            _ => {
                evaluation.without_relevant.insert(query.to_owned());
            }
        }
    }
    evaluation.unjudged = run
        .iter()
        .map(|(query, _)| query)
        .filter(|query| qrels.get(query).is_none())
        .map(str::to_owned)
        .collect();
    evaluation
}

/// How many queries stand behind a mean, and how many do not.
///
/// See [`evaluate`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Queries in every mean: judged, with a relevant document.
    pub scored: usize,
    /// Of the scored, those with no results (each scores 0).
    pub without_results: usize,
    /// Judged queries with no relevant document: left out of the means; they test refusal.
    pub without_relevant: usize,
    /// Queries of the run without judgments: left out.
    pub unjudged: usize,
}

/// The values of a run per query and metric. See [`evaluate`] for an example.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    metrics: Vec<Metric>,
    scored: BTreeMap<String, Vec<f64>>,
    without_results: BTreeSet<String>,
    without_relevant: BTreeSet<String>,
    unjudged: BTreeSet<String>,
}

impl Evaluation {
    /// The metrics, ascending, each once.
    #[must_use]
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// How many queries stand behind the means.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            scored: self.scored.len(),
            without_results: self.without_results.len(),
            without_relevant: self.without_relevant.len(),
            unjudged: self.unjudged.len(),
        }
    }

    /// Scored queries with their values, in the order of [`Evaluation::metrics`]; ascending ids.
    pub fn per_query(&self) -> impl Iterator<Item = (&str, &[f64])> {
        self.scored
            .iter()
            .map(|(query, values)| (query.as_str(), values.as_slice()))
    }

    /// Judged queries that have no relevant document, ascending.
    pub fn without_relevant(&self) -> impl Iterator<Item = &str> {
        self.without_relevant.iter().map(String::as_str)
    }

    /// The value of one query; `None` when the query is not scored or the metric was not asked for.
    #[must_use]
    pub fn value(&self, query: &str, metric: Metric) -> Option<f64> {
        self.scored.get(query)?.get(self.column(metric)?).copied()
    }

    /// The values of all scored queries, in the order of their ids; `None` when the metric was not
    /// asked for.
    #[must_use]
    pub fn values(&self, metric: Metric) -> Option<Vec<f64>> {
        let column = self.column(metric)?;
        Some(
            self.scored
                .values()
                .filter_map(|values| values.get(column).copied())
                .collect(),
        )
    }

    /// The mean over the scored queries: their sum in the order of ids over their number. `None`
    /// when nothing was scored or the metric was not asked for.
    #[must_use]
    pub fn mean(&self, metric: Metric) -> Option<f64> {
        let values = self.values(metric)?;
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The mean with its bootstrap interval; the scale is that of a rate.
    ///
    /// # Errors
    /// [`StatError::NoValues`] when nothing was scored or the metric was not asked for, and what
    /// [`Bootstrap::mean`] says.
    pub fn interval(&self, metric: Metric, bootstrap: &Bootstrap) -> Result<Interval, StatError> {
        let bootstrap = Bootstrap {
            scale: Scale::Rate,
            ..*bootstrap
        };
        bootstrap.mean(&self.values(metric).unwrap_or_default())
    }

    /// The values of this run and of another over the same queries, for a paired test.
    ///
    /// # Errors
    /// [`StatError::UnpairedQuery`] when one of them scored a query that the other did not;
    /// [`StatError::NoValues`] when the metric was not asked for in both.
    pub fn paired_with(
        &self,
        other: &Self,
        metric: Metric,
    ) -> Result<(Vec<f64>, Vec<f64>), StatError> {
        let unpaired = self
            .scored
            .keys()
            .find(|query| !other.scored.contains_key(*query))
            .or_else(|| {
                other
                    .scored
                    .keys()
                    .find(|query| !self.scored.contains_key(*query))
            });
        if let Some(query) = unpaired {
            return Err(StatError::UnpairedQuery {
                query: query.clone(),
            });
        }
        match (self.values(metric), other.values(metric)) {
            (Some(ours), Some(theirs)) => Ok((ours, theirs)),
            _ => Err(StatError::NoValues),
        }
    }

    /// The same evaluation over the queries that `keep` accepts, for a breakdown by type or split.
    #[must_use]
    pub fn restricted_to(&self, keep: impl Fn(&str) -> bool) -> Self {
        let set = |names: &BTreeSet<String>| {
            names
                .iter()
                .filter(|name| keep(name))
                .cloned()
                .collect::<BTreeSet<_>>()
        };
        Self {
            metrics: self.metrics.clone(),
            scored: self
                .scored
                .iter()
                .filter(|(query, _)| keep(query))
                .map(|(query, values)| (query.clone(), values.clone()))
                .collect(),
            without_results: set(&self.without_results),
            without_relevant: set(&self.without_relevant),
            unjudged: set(&self.unjudged),
        }
    }

    fn column(&self, metric: Metric) -> Option<usize> {
        self.metrics.binary_search(&metric).ok()
    }
}
