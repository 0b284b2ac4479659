//! Paths of propositions that together mean what a question means.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::{EmbeddingProvider, ProviderError};
use ndarray::{Array1, ArrayView1, ArrayView2};

use super::graph::PropRag;

/// The parameters of the beam.
///
/// ```
/// use cornu_hop::prop::BeamOptions;
/// let published = BeamOptions { width: 4, length: 3, start: 200, parallel: 3, again: 40 };
/// assert_eq!(BeamOptions::default(), published);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeamOptions {
    /// Paths that are kept at each length.
    pub width: usize,
    /// The most propositions of a path.
    pub length: usize,
    /// Propositions that paths start from: the nearest to the question.
    pub start: usize,
    /// How many of these any path may take on, connected or not.
    pub parallel: usize,
    /// How many candidates are embedded again as one text, where a model is given.
    pub again: usize,
}

impl Default for BeamOptions {
    fn default() -> Self {
        Self {
            width: 4,
            length: 3,
            start: 200,
            parallel: 3,
            again: 40,
        }
    }
}

/// Propositions in the order in which they were joined.
///
/// ```
/// let path = cornu_hop::prop::PropositionPath { propositions: vec![3, 1], score: 0.9 };
/// assert_eq!(path.propositions.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PropositionPath {
    /// Positions in [`PropRag::propositions`].
    pub propositions: Vec<u32>,
    /// Cosine of the question and the mean of the members' vectors, or of their joined text.
    pub score: f64,
}

/// What a beam searches with.
pub(super) struct Search<'a> {
    pub(super) index: &'a PropRag,
    pub(super) question: &'a ArrayView1<'a, f32>,
    pub(super) vectors: &'a ArrayView2<'a, f32>,
    /// Similarity of each proposition to the question.
    pub(super) near: &'a [f64],
    /// Embeds joined texts, where there is a model.
    pub(super) model: Option<&'a dyn EmbeddingProvider>,
}

impl Search<'_> {
    /// The paths of all lengths, best first; equal scores by their propositions.
    pub(super) fn paths(
        &self,
        allowed: Option<&BTreeSet<u32>>,
        options: &BeamOptions,
    ) -> Result<Vec<PropositionPath>, ProviderError> {
        let mut start: Vec<PropositionPath> = (0..)
            .zip(self.near)
            .filter(|(at, _)| allowed.is_none_or(|allowed| allowed.contains(at)))
            .map(|(at, &score)| PropositionPath {
                propositions: vec![at],
                score,
            })
            .collect();
        sort(&mut start);
        start.truncate(options.start);
        let parallel: Vec<u32> = start
            .iter()
            .take(options.parallel)
            .flat_map(|path| path.propositions.iter().copied())
            .collect();
        let mut beam = start;
        beam.truncate(options.width);
        let mut all = beam.clone();
        for _ in 1..options.length {
            // A set of propositions stands for one path, whatever their order.
            let mut next: BTreeMap<Vec<u32>, PropositionPath> = BTreeMap::new();
            for path in &beam {
                let mut steps = self.steps(path, allowed);
                steps.extend(&parallel);
                for step in steps {
                    if path.propositions.contains(&step) {
                        continue;
                    }
                    let mut propositions = path.propositions.clone();
                    propositions.push(step);
                    let mut set = propositions.clone();
                    set.sort_unstable();
                    next.entry(set).or_insert_with(|| PropositionPath {
                        score: self.mean_score(&propositions),
                        propositions,
                    });
                }
            }
            let mut candidates: Vec<PropositionPath> = next.into_values().collect();
            sort(&mut candidates);
            if let Some(model) = self.model.filter(|_| candidates.len() > options.width) {
                candidates.truncate(options.again);
                self.score_again(model, &mut candidates)?;
            }
            candidates.truncate(options.width);
            all.extend(candidates.iter().cloned());
            beam = candidates;
        }
        sort(&mut all);
        Ok(all)
    }

    /// The propositions that share an entity, or a synonym of one, with the path's last.
    fn steps(&self, path: &PropositionPath, allowed: Option<&BTreeSet<u32>>) -> BTreeSet<u32> {
        let last = path.propositions.last();
        let node = last.and_then(|&last| self.index.nodes.get(last as usize));
        let entities = node
            .map(|node| node.entities.as_slice())
            .unwrap_or_default();
        let near = entities
            .iter()
            .flat_map(|&entity| std::iter::once(entity).chain(self.index.synonyms_of(entity)));
        near.filter_map(|entity| self.index.propositions_of.get(entity as usize))
            .flatten()
            .copied()
            .filter(|at| allowed.is_none_or(|allowed| allowed.contains(at)))
            .collect()
    }

    /// The cosine of the question and the mean of the members' vectors.
    fn mean_score(&self, propositions: &[u32]) -> f64 {
        let mut sum = Array1::<f64>::zeros(self.vectors.ncols());
        for &at in propositions {
            let row = self.vectors.row(at as usize);
            sum.iter_mut()
                .zip(row)
                .for_each(|(sum, x)| *sum += f64::from(*x));
        }
        let norm = sum.dot(&sum).sqrt();
        let dot: f64 = sum
            .iter()
            .zip(self.question)
            .map(|(a, b)| a * f64::from(*b))
            .sum();
        if norm > 0.0 { dot / norm } else { 0.0 }
    }

    fn score_again(
        &self,
        model: &dyn EmbeddingProvider,
        paths: &mut [PropositionPath],
    ) -> Result<(), ProviderError> {
        let text = |path: &PropositionPath| {
            let nodes = path
                .propositions
                .iter()
                .filter_map(|&at| self.index.nodes.get(at as usize));
            nodes
                .map(|node| node.text.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let texts: Vec<String> = paths.iter().map(text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = model.embed(&texts)?;
        for (path, vector) in paths.iter_mut().zip(vectors.rows()) {
            let products = vector.iter().zip(self.question);
            path.score = products.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        }
        sort(paths);
        Ok(())
    }
}

fn sort(paths: &mut [PropositionPath]) {
    paths.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then_with(|| a.propositions.cmp(&b.propositions))
    });
}
