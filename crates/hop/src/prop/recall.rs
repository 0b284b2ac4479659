//! Two walks: over everything, then over what the first found.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::{EmbeddingProvider, Ranking};
use cornu_graph_ppr::{Dangling, GraphBuilder, Restart, SolveOptions, Walk, solve};
use ndarray::{ArrayView1, ArrayView2};

use super::beam::{BeamOptions, PropositionPath, Search};
use super::graph::PropRag;
use crate::error::HopError;
use crate::scale::min_max;

/// The published parameters.
///
/// ```
/// let options = cornu_hop::prop::PropOptions::default();
/// assert_eq!((options.first_damping, options.second_damping), (0.75, 0.45));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PropOptions {
    /// Propositions whose entities seed the first walk.
    pub first_paths: usize,
    /// Entities that seed the first walk, each by 1.
    pub first_entities: usize,
    /// The probability to follow an edge in the first walk.
    pub first_damping: f64,
    /// Passages that the second walk is about.
    pub focus: usize,
    /// The beam before the second walk.
    pub beam: BeamOptions,
    /// Paths whose entities seed the second walk.
    pub second_paths: usize,
    /// Entities of these paths, and of the nearest propositions, that seed it.
    pub second_entities: usize,
    /// The probability to follow an edge in the second walk.
    pub second_damping: f64,
    /// The weight of passages beside entities.
    pub passage_weight: f64,
}

impl Default for PropOptions {
    fn default() -> Self {
        Self {
            first_paths: 20,
            first_entities: 40,
            first_damping: 0.75,
            focus: 50,
            beam: BeamOptions::default(),
            second_paths: 5,
            second_entities: 5,
            second_damping: 0.45,
            passage_weight: 0.05,
        }
    }
}

/// What was found.
///
/// ```
/// let none: Option<cornu_hop::prop::PropRecalled> = None;
/// assert!(none.is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PropRecalled {
    /// Passages, by their numbers in the call that built the index.
    pub ranking: Ranking<u32>,
    /// The paths of propositions, best first: why.
    pub paths: Vec<PropositionPath>,
    /// Whether no proposition has an entity, so that the ranking is that of the dense scores.
    pub dense_only: bool,
}

impl PropRag {
    /// Finds passages. `vectors` are those of [`propositions`](Self::propositions), in order;
    /// `dense` holds a similarity for each passage; a `model` scores joined paths once more.
    ///
    /// # Errors
    /// [`HopError::Vectors`], [`HopError::Walk`], and [`HopError::Provider`] from the model.
    pub fn recall(
        &self,
        question: &ArrayView1<'_, f32>,
        vectors: &ArrayView2<'_, f32>,
        dense: &[f64],
        model: Option<&dyn EmbeddingProvider>,
        options: &PropOptions,
    ) -> Result<PropRecalled, HopError> {
        HopError::check_rows("propositions", vectors.nrows(), self.nodes.len())?;
        HopError::check_rows("passages", dense.len(), self.passages)?;
        HopError::check_rows("dimensions", question.len(), vectors.ncols())?;
        let near = vectors.dot(question);
        let near: Vec<f64> = near.iter().map(|score| f64::from(*score)).collect();
        let search = Search {
            index: self,
            question,
            vectors,
            near: &near,
            model,
        };
        let single = BeamOptions {
            width: options.beam.start,
            length: 1,
            ..options.beam
        };
        let first = search.paths(None, &single)?;
        let entities = self.entities_of(&first, options.first_paths, options.first_entities);
        let scaled = min_max(dense);
        if entities.is_empty() {
            let ranking = Ranking::new((0..).zip(scaled)).unwrap_or_else(|_| Ranking::empty());
            let (paths, dense_only) = (Vec::new(), true);
            return Ok(PropRecalled {
                ranking,
                paths,
                dense_only,
            });
        }
        let base = self.passages as u32;
        let seeds = entities.iter().map(|(entity, _)| (base + entity, 1.0));
        let passages = (0..).zip(scaled.iter().map(|score| score * options.passage_weight));
        let restart = Restart::new(self.walk.nodes(), seeds.chain(passages))?;
        let everywhere = solve(
            &self.walk,
            &restart,
            &SolveOptions::new(options.first_damping),
        )?;
        let scores = (0..).zip(everywhere.scores.iter().take(self.passages).copied());
        let scores: Vec<(u32, f64)> = scores.collect();
        let ranked = Ranking::new(scores.iter().copied()).unwrap_or_else(|_| Ranking::empty());
        let focus: BTreeSet<u32> = ranked.ids().take(options.focus).copied().collect();

        let allowed: BTreeSet<u32> = (0..)
            .zip(&self.nodes)
            .filter(|(_, node)| node.passages.iter().any(|passage| focus.contains(passage)))
            .map(|(at, _)| at)
            .collect();
        let paths = search.paths(Some(&allowed), &options.beam)?;
        let singles = search.paths(Some(&allowed), &single)?;
        let mut seeds: BTreeMap<u32, f64> = BTreeMap::new();
        for found in [&paths, &singles] {
            let best = self.entities_of(found, options.second_paths, options.second_entities);
            let weights = min_max(&best.iter().map(|(_, score)| *score).collect::<Vec<_>>());
            for ((entity, _), weight) in best.into_iter().zip(weights) {
                let kept = seeds.entry(entity).or_default();
                *kept = kept.max(weight);
            }
        }
        let near = self.walk_near(&focus, &seeds, dense, options)?;
        let least = near.values().copied().fold(f64::INFINITY, f64::min);
        let all = scores.iter().map(|&(passage, score)| {
            let second = near.get(&passage).copied();
            (passage, second.unwrap_or(score * 0.5 * least))
        });
        Ok(PropRecalled {
            ranking: Ranking::new(all).unwrap_or_else(|_| Ranking::empty()),
            paths,
            dense_only: false,
        })
    }

    /// The entities of the best paths, each with the best score of a path that has it, in that
    /// order.
    fn entities_of(&self, paths: &[PropositionPath], of: usize, kept: usize) -> Vec<(u32, f64)> {
        let mut best: BTreeMap<u32, f64> = BTreeMap::new();
        for path in paths.iter().take(of) {
            let nodes = path
                .propositions
                .iter()
                .filter_map(|&at| self.nodes.get(at as usize));
            for &entity in nodes.flat_map(|node| &node.entities) {
                let score = best.entry(entity).or_insert(f64::NEG_INFINITY);
                *score = score.max(path.score);
            }
        }
        let mut best: Vec<(u32, f64)> = best.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.truncate(kept);
        best
    }

    /// The second walk: over the passages in focus, their entities, and the edges between these.
    fn walk_near(
        &self,
        focus: &BTreeSet<u32>,
        seeds: &BTreeMap<u32, f64>,
        dense: &[f64],
        options: &PropOptions,
    ) -> Result<BTreeMap<u32, f64>, HopError> {
        let base = self.passages as u32;
        let mut inside = focus.clone();
        for &passage in focus {
            inside.extend(self.graph.row(passage).0);
        }
        let order: Vec<u32> = inside.iter().copied().collect();
        let local = |node: u32| order.binary_search(&node).ok().map(|at| at as u32);
        let mut builder = GraphBuilder::undirected(order.len())?;
        for (from, &node) in (0_u32..).zip(&order) {
            let (columns, weights) = self.graph.row(node);
            for (&column, &weight) in columns.iter().zip(weights) {
                if let Some(to) = local(column).filter(|&to| to > from) {
                    builder.add(from, to, weight)?;
                }
            }
        }
        let near: Vec<f64> = focus
            .iter()
            .map(|&passage| dense.get(passage as usize).copied().unwrap_or(0.0))
            .collect();
        let scaled = focus.iter().zip(min_max(&near));
        let passages = scaled.filter_map(|(&passage, score)| {
            Some((local(passage)?, score * options.passage_weight))
        });
        let entities = seeds
            .iter()
            .filter_map(|(entity, weight)| Some((local(base + entity)?, *weight)));
        let restart = Restart::new(order.len(), entities.chain(passages))?;
        let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart)?;
        let solution = solve(&walk, &restart, &SolveOptions::new(options.second_damping))?;
        let scores = order.iter().copied().zip(solution.scores);
        Ok(scores.filter(|(node, _)| focus.contains(node)).collect())
    }
}
