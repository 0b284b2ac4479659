//! Hops from passage to passage, and pruning by how often they led somewhere.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::{ProviderError, Ranking};
use ndarray::{ArrayView1, ArrayView2};

use super::graph::{HopRag, QuestionEdge};
use super::keywords::AskedWords;
use crate::error::HopError;

/// The parameters of the traversal.
///
/// ```
/// let options = cornu_hop::hoprag::HopRagOptions::default();
/// assert_eq!((options.hops, options.top), (4, 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopRagOptions {
    /// Passages to start from, and to keep.
    pub top: usize,
    /// Rounds of hops.
    pub hops: usize,
}

impl Default for HopRagOptions {
    fn default() -> Self {
        Self { top: 20, hops: 4 }
    }
}

/// Chooses which of a passage's questions to follow: the seam for a language model.
pub trait HopChooser: Send + Sync {
    /// The position of the edge to follow, among those of one passage; `None` to stay.
    ///
    /// `similarity` holds, for each edge, how near its question is to the one asked.
    ///
    /// # Errors
    /// [`ProviderError`].
    fn choose(
        &self,
        edges: &[QuestionEdge],
        similarity: &[f64],
    ) -> Result<Option<usize>, ProviderError>;
}

/// Follows the question that is nearest to the one asked; the first of equals. No model.
///
/// ```
/// use cornu_hop::hoprag::{BySimilarity, HopChooser, QuestionEdge};
/// let edge = |to| QuestionEdge { from: 0, to, pending: None, answerable: 0, similarity: 0.0 };
/// let chosen = BySimilarity.choose(&[edge(1), edge(2)], &[0.1, 0.4])?;
/// assert_eq!(chosen, Some(1));
/// # Ok::<(), cornu_core::ProviderError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BySimilarity;

impl HopChooser for BySimilarity {
    fn choose(
        &self,
        edges: &[QuestionEdge],
        similarity: &[f64],
    ) -> Result<Option<usize>, ProviderError> {
        let all = similarity.iter().take(edges.len()).enumerate();
        let best = all.reduce(|best, next| if next.1 > best.1 { next } else { best });
        Ok(best.map(|(at, _)| at))
    }
}

/// A passage that was reached: why it stands where it stands.
///
/// ```
/// let visit = cornu_hop::hoprag::Visit { passage: 1, count: 2, edge: None };
/// assert_eq!(visit.count, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// The passage.
    pub passage: u32,
    /// How often it was reached, the start included.
    pub count: u32,
    /// The edge by which it was reached first; `None` where it was a start.
    pub edge: Option<QuestionEdge>,
}

/// What was found.
///
/// ```
/// let none: Option<cornu_hop::hoprag::HopRagRecalled> = None;
/// assert!(none.is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HopRagRecalled {
    /// Passages by helpfulness: the mean of similarity and importance.
    pub ranking: Ranking<u32>,
    /// Every passage that was reached, by number.
    pub visits: Vec<Visit>,
    /// How many passages stood in the queue in each round.
    pub queue: Vec<usize>,
}

impl HopRag {
    /// Finds passages: from the nearest ones, each round follows one question of each passage in
    /// the queue, which grows by those that are new; then the most helpful are kept.
    ///
    /// Helpfulness is (SIM + IMP) / 2, SIM = (cosine + Jaccard index of the keywords) / 2, IMP =
    /// visits by all visits. `dense` holds a similarity for each passage, `pending` the vectors of
    /// the pending questions as in [`build`](Self::build). O(hops · queue · edges · dimension).
    ///
    /// # Errors
    /// [`HopError::Vectors`] where a number differs, [`HopError::Provider`] from the chooser.
    pub fn recall(
        &self,
        question: &ArrayView1<'_, f32>,
        keywords: &BTreeSet<String>,
        pending: &ArrayView2<'_, f32>,
        dense: &[f64],
        chooser: &dyn HopChooser,
        options: &HopRagOptions,
    ) -> Result<HopRagRecalled, HopError> {
        HopError::check_rows("passages", dense.len(), self.passages.len())?;
        HopError::check_rows("dimensions", question.len(), pending.ncols())?;
        let asked = self.keywords.asked(keywords);
        let near = Ranking::new((0..).zip(dense.iter().copied()));
        let start: Vec<u32> = near
            .map(|near| near.ids().take(options.top).copied().collect())
            .unwrap_or_default();
        let mut visits: BTreeMap<u32, Visit> = start
            .iter()
            .map(|&passage| {
                let (count, edge) = (1, None);
                (
                    passage,
                    Visit {
                        passage,
                        count,
                        edge,
                    },
                )
            })
            .collect();
        let mut queue = start;
        let mut sizes = vec![queue.len()];
        for _ in 0..options.hops {
            let mut next = Vec::new();
            for &passage in &queue {
                let edges = self.edges_of(passage);
                let similarity: Vec<f64> = edges
                    .iter()
                    .map(|edge| self.edge_similarity(edge, question, &asked, pending))
                    .collect();
                let chosen = chooser.choose(edges, &similarity)?;
                let Some(&edge) = chosen.and_then(|at| edges.get(at)) else {
                    continue;
                };
                let visit = visits.entry(edge.to).or_insert_with(|| {
                    next.push(edge.to);
                    Visit {
                        passage: edge.to,
                        count: 0,
                        edge: Some(edge),
                    }
                });
                visit.count += 1;
            }
            sizes.push(next.len());
            queue = next;
            if queue.is_empty() {
                break;
            }
        }
        let total: u32 = visits.values().map(|visit| visit.count).sum();
        let helpful = visits.values().map(|visit| {
            let at = visit.passage as usize;
            let shared = asked.jaccard([self.keywords.of(visit.passage)]);
            let similarity = (dense.get(at).copied().unwrap_or(0.0) + shared) / 2.0;
            let importance = f64::from(visit.count) / f64::from(total.max(1));
            (visit.passage, (similarity + importance) / 2.0)
        });
        let ranking = Ranking::new(helpful).unwrap_or_else(|_| Ranking::empty());
        Ok(HopRagRecalled {
            ranking: ranking.top(options.top),
            visits: visits.into_values().collect(),
            queue: sizes,
        })
    }

    /// How near an edge's question is to the one asked: the mean of the cosine and of the Jaccard
    /// index of the keywords of both its ends with the question's.
    fn edge_similarity(
        &self,
        edge: &QuestionEdge,
        question: &ArrayView1<'_, f32>,
        asked: &AskedWords,
        pending: &ArrayView2<'_, f32>,
    ) -> f64 {
        let row = edge.pending.map(|row| row as usize);
        let row = row.filter(|&row| row < pending.nrows());
        let cosine = row.map_or(0.0, |row| {
            let products = pending.row(row).into_iter().zip(question);
            products.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        });
        let ends = [edge.from, edge.to].map(|end| self.keywords.of(end));
        (cosine + asked.jaccard(ends)) / 2.0
    }
}
