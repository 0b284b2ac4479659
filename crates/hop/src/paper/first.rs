//! HippoRAG 1: a walk over phrases alone, whose probabilities are summed over each passage's facts.

use std::collections::BTreeMap;

use cornu_core::Ranking;
use cornu_graph_ppr::{Dangling, GraphBuilder, Restart, SolveOptions, Walk, solve};
use ndarray::ArrayView2;

use super::graph::PaperHippoRag;
use crate::error::HopError;
use crate::scale::min_max;

/// The published parameters of HippoRAG 1.
///
/// ```
/// use cornu_hop::paper::FirstOptions;
/// let options = FirstOptions::default();
/// assert_eq!((options.damping, options.recognition), (0.5, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstOptions {
    /// The probability to follow an edge: 0.5 in the paper and in all scripts.
    pub damping: f64,
    /// With a value: where the least similar link of a name is at most this (0.9 in the program),
    /// the result is half the walk and half the dense scores.
    pub recognition: Option<f64>,
}

impl Default for FirstOptions {
    fn default() -> Self {
        Self {
            damping: 0.5,
            recognition: None,
        }
    }
}

/// What HippoRAG 1 found.
///
/// ```
/// let none: Option<cornu_hop::paper::FirstRecalled> = None;
/// assert!(none.is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FirstRecalled {
    /// Passages, by their numbers in the call that built the index; scores from 0 to 1.
    pub ranking: Ranking<u32>,
    /// For each name of the question, the phrase it was linked to, with their cosine.
    pub links: Vec<(u32, f64)>,
    /// Whether the question named nothing, so that the ranking is that of the dense scores.
    pub dense_only: bool,
}

/// HippoRAG 1 over the phrases, facts and synonyms of a [`PaperHippoRag`].
///
/// ```
/// use cornu_core::Triple;
/// use cornu_hop::paper::{FirstHippoRag, FirstOptions, PaperHippoRag, PaperPassage, WeightMode};
/// use ndarray::{Array2, arr2};
///
/// let triple = |s: &str, o: &str| Triple {
///     subject: s.into(),
///     predicate: "knows".into(),
///     object: o.into(),
/// };
/// let texts = [[triple("a", "b")], [triple("b", "c")], [triple("d", "e")]];
/// let passages: Vec<_> = texts.iter().map(|triples| PaperPassage { triples }).collect();
/// let phrases = PaperHippoRag::build(&passages, WeightMode::Published)?;
/// let index = FirstHippoRag::new(&phrases)?;
/// // The question names "a"; phrases have one dimension each.
/// let names = arr2(&[[1.0_f32, 0.0, 0.0, 0.0, 0.0]]);
/// let vectors = Array2::eye(5);
/// let found = index.recall(&names.view(), &vectors.view(), &[0.5; 3], &FirstOptions::default())?;
/// assert_eq!(found.ranking.ids().collect::<Vec<_>>(), [&0, &1, &2]);
/// # Ok::<(), cornu_hop::HopError>(())
/// ```
#[derive(Debug)]
pub struct FirstHippoRag<'a> {
    index: &'a PaperHippoRag,
    walk: Walk<f64>,
}

impl<'a> FirstHippoRag<'a> {
    /// The walk over phrases: facts between them, and synonyms, whose score takes the place of the
    /// count or adds to it by the index's [`WeightMode`](super::WeightMode). O(pairs · log).
    ///
    /// # Errors
    /// [`HopError::Walk`] for more phrases than 32 bits count.
    pub fn new(index: &'a PaperHippoRag) -> Result<Self, HopError> {
        let mut builder = GraphBuilder::undirected(index.phrases.len())?;
        for ((from, to), weight) in index.pair_weights() {
            builder.add(from, to, weight)?;
        }
        let walk = Walk::new(&builder.build(), Dangling::Restart)?;
        Ok(Self { index, walk })
    }

    /// Finds passages. `names` are the vectors of the names in the question, `phrases` those of
    /// [`PaperHippoRag::phrases`], in order; `dense` holds a similarity for each passage.
    ///
    /// Each name is linked to the one phrase nearest to it, which seeds the walk by 1 / number of
    /// passages that have it. A passage's score is the sum, over its facts, of the probabilities of
    /// both ends, scaled to between 0 and 1.
    ///
    /// # Errors
    /// [`HopError::Vectors`] where a number of rows differs, [`HopError::Walk`] for a damping
    /// outside [0, 1).
    pub fn recall(
        &self,
        names: &ArrayView2<'_, f32>,
        phrases: &ArrayView2<'_, f32>,
        dense: &[f64],
        options: &FirstOptions,
    ) -> Result<FirstRecalled, HopError> {
        HopError::check_rows("phrases", phrases.nrows(), self.index.phrases.len())?;
        HopError::check_rows("passages", dense.len(), self.index.passages)?;
        let links = link(names, phrases)?;
        let dense = min_max(dense);
        let ranked =
            |scores: Vec<f64>| Ranking::new((0..).zip(scores)).unwrap_or_else(|_| Ranking::empty());
        if links.is_empty() {
            return Ok(FirstRecalled {
                ranking: ranked(dense),
                links,
                dense_only: true,
            });
        }
        let mut seeds: BTreeMap<u32, f64> = BTreeMap::new();
        for &(phrase, _) in &links {
            let holders = self
                .index
                .holders
                .get(phrase as usize)
                .copied()
                .unwrap_or(0);
            seeds.insert(phrase, 1.0 / f64::from(holders.max(1)));
        }
        let restart = Restart::new(self.walk.nodes(), seeds)?;
        let solution = solve(&self.walk, &restart, &SolveOptions::new(options.damping))?;
        let reached = |phrase: u32| solution.scores.get(phrase as usize).copied().unwrap_or(0.0);
        let sums = self.index.passage_facts.iter().map(|facts| {
            let both = facts
                .iter()
                .map(|&(subject, object)| reached(subject) + reached(object));
            both.sum::<f64>()
        });
        let mut scores = min_max(&sums.collect::<Vec<_>>());
        let least = links
            .iter()
            .map(|(_, score)| *score)
            .fold(f64::INFINITY, f64::min);
        if options
            .recognition
            .is_some_and(|threshold| least <= threshold)
        {
            let pairs = scores.iter_mut().zip(&dense);
            pairs.for_each(|(score, dense)| *score = 0.5 * *score + 0.5 * dense);
        }
        Ok(FirstRecalled {
            ranking: ranked(scores),
            links,
            dense_only: false,
        })
    }
}

/// For each name the nearest phrase, the first of equals.
fn link(
    names: &ArrayView2<'_, f32>,
    phrases: &ArrayView2<'_, f32>,
) -> Result<Vec<(u32, f64)>, HopError> {
    if names.nrows() == 0 || phrases.nrows() == 0 {
        return Ok(Vec::new());
    }
    HopError::check_rows("dimensions of the names", names.ncols(), phrases.ncols())?;
    let cosines = names.dot(&phrases.t());
    let links = cosines.rows().into_iter().filter_map(|row| {
        let all = (0_u32..).zip(row.iter().map(|score| f64::from(*score)));
        all.reduce(|best, next| if next.1 > best.1 { next } else { best })
    });
    Ok(links.collect())
}
