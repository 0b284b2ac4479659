//! Retrieval by the published rules.

use std::collections::BTreeMap;

use cornu_core::Ranking;
use cornu_graph_ppr::{Restart, SolveOptions, solve};
use ndarray::{ArrayView1, ArrayView2};

use super::graph::PaperHippoRag;
use crate::error::HopError;
use crate::scale::min_max;

/// The published parameters.
///
/// ```
/// use cornu_hop::paper::PaperOptions;
/// let published = PaperOptions { facts: 5, phrases: 5, passage_weight: 0.05, damping: 0.5 };
/// assert_eq!(PaperOptions::default(), published);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperOptions {
    /// Facts that are taken (`linking_top_k`).
    pub facts: usize,
    /// Phrases that are kept as seeds (`link_top_k`).
    pub phrases: usize,
    /// The weight of passages beside phrases.
    pub passage_weight: f64,
    /// The probability to follow an edge.
    pub damping: f64,
}

impl Default for PaperOptions {
    fn default() -> Self {
        Self {
            facts: 5,
            phrases: 5,
            passage_weight: 0.05,
            damping: 0.5,
        }
    }
}

/// What was found.
///
/// ```
/// let none: Option<cornu_hop::paper::PaperRecalled> = None;
/// assert!(none.is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PaperRecalled {
    /// Passages, by their numbers in the call that built the index.
    pub ranking: Ranking<u32>,
    /// The facts that were taken, by number, with their scaled scores.
    pub facts: Vec<(u32, f64)>,
    /// Whether there was no fact to start from, so that the ranking is that of the dense scores.
    pub dense_only: bool,
}

impl PaperHippoRag {
    /// Finds passages. `fact_vectors` are those of [`fact_texts`](Self::fact_texts), in order;
    /// `question` is the question's vector; `dense` holds a similarity for each passage.
    ///
    /// # Errors
    /// [`HopError::Vectors`] where a number of rows differs, [`HopError::Walk`] for a damping
    /// outside [0, 1).
    pub fn recall(
        &self,
        question: &ArrayView1<'_, f32>,
        fact_vectors: &ArrayView2<'_, f32>,
        dense: &[f64],
        options: &PaperOptions,
    ) -> Result<PaperRecalled, HopError> {
        HopError::check_rows("facts", fact_vectors.nrows(), self.facts.len())?;
        HopError::check_rows("passages", dense.len(), self.passages)?;
        HopError::check_rows(
            "dimensions of the question",
            question.len(),
            fact_vectors.ncols(),
        )?;
        let near = fact_vectors.dot(question);
        let near: Vec<f64> = near.iter().map(|score| f64::from(*score)).collect();
        let scaled = min_max(&near);
        let mut order: Vec<(u32, f64)> = (0..).zip(scaled).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.truncate(options.facts);
        let phrases = self.phrase_weights(&order, options.phrases);
        let passages = min_max(dense);
        let dense_only = phrases.is_empty();
        let ranking = if dense_only {
            Ranking::new((0..).zip(passages)).unwrap_or_else(|_| Ranking::empty())
        } else {
            let base = self.passages as u32;
            let phrases = phrases
                .iter()
                .map(|(phrase, weight)| (base + phrase, *weight));
            let passages = (0..).zip(passages);
            let passages = passages.map(|(node, score)| (node, score * options.passage_weight));
            let restart = Restart::new(self.walk.nodes(), phrases.chain(passages))?;
            let solution = solve(&self.walk, &restart, &SolveOptions::new(options.damping))?;
            let scores = solution.scores.iter().take(self.passages).copied();
            Ranking::new((0..).zip(scores)).unwrap_or_else(|_| Ranking::empty())
        };
        Ok(PaperRecalled {
            ranking,
            facts: order,
            dense_only,
        })
    }

    /// For each end of the facts: the fact's score by the number of passages that have the phrase,
    /// the mean over its occurrences; the largest are kept.
    fn phrase_weights(&self, facts: &[(u32, f64)], kept: usize) -> Vec<(u32, f64)> {
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for &(fact, score) in facts {
            let Some((subject, _, object)) = self.facts.get(fact as usize) else {
                continue;
            };
            for phrase in [*subject, *object] {
                let holders = self.holders.get(phrase as usize).copied().unwrap_or(0);
                let weight = score / f64::from(holders.max(1));
                let sum = sums.entry(phrase).or_default();
                *sum = (sum.0 + weight, sum.1 + 1.0);
            }
        }
        let means = sums.into_iter().map(|(phrase, (sum, n))| (phrase, sum / n));
        let mut means: Vec<(u32, f64)> = means.filter(|(_, weight)| *weight > 0.0).collect();
        means.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        means.truncate(kept);
        means
    }
}
