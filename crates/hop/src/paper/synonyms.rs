//! Pairs of phrases that mean the same, by exact nearest neighbours in bounded memory.

use ndarray::{ArrayView2, Axis, s};

use super::graph::{PaperHippoRag, is_long};
use crate::error::HopError;

/// Rows that are compared at once: 512 × phrases scores, 4 bytes each, are in memory.
const BLOCK: usize = 512;

/// Which phrases are synonyms.
///
/// ```
/// use cornu_hop::paper::SynonymOptions;
/// assert_eq!(SynonymOptions::default(), SynonymOptions { neighbours: 2047, threshold: 0.8, most: 101 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SynonymOptions {
    /// Neighbours that are looked at, the phrase itself among them.
    pub neighbours: usize,
    /// The least cosine.
    pub threshold: f64,
    /// The most synonyms of a phrase.
    pub most: usize,
}

impl Default for SynonymOptions {
    fn default() -> Self {
        Self {
            neighbours: 2047,
            threshold: 0.8,
            most: 101,
        }
    }
}

impl PaperHippoRag {
    /// Adds synonyms: for each phrase with more than two letters or digits, its nearest other
    /// phrases with a cosine of at least the threshold, nearest first, but none that is empty.
    ///
    /// `vectors` are unit vectors of [`phrases`](Self::phrases), in their order. O(phrases² ·
    /// dimension) time, O(512 · phrases) memory; equal scores are taken by the phrase's order.
    ///
    /// # Errors
    /// [`HopError::Vectors`] for another number of rows.
    pub fn with_synonyms(
        mut self,
        vectors: &ArrayView2<'_, f32>,
        options: &SynonymOptions,
    ) -> Result<Self, HopError> {
        if vectors.nrows() != self.phrases.len() {
            return Err(HopError::Vectors {
                what: "phrases",
                found: vectors.nrows(),
                expected: self.phrases.len(),
            });
        }
        self.synonyms.clear();
        let all = vectors.t();
        for from in (0..self.phrases.len()).step_by(BLOCK) {
            let to = (from + BLOCK).min(self.phrases.len());
            let scores = vectors.slice(s![from..to, ..]).dot(&all);
            for (row, scores) in (from..to).zip(scores.axis_iter(Axis(0))) {
                if !self.phrases.get(row).is_some_and(|phrase| is_long(phrase)) {
                    continue;
                }
                let mut near: Vec<(usize, f64)> = scores
                    .iter()
                    .map(|score| f64::from(*score))
                    .enumerate()
                    .filter(|&(_, score)| score >= options.threshold)
                    .collect();
                near.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                near.truncate(options.neighbours);
                let others = near.into_iter().filter(|&(at, _)| {
                    at != row
                        && self
                            .phrases
                            .get(at)
                            .is_some_and(|phrase| !phrase.is_empty())
                });
                for (at, score) in others.take(options.most) {
                    self.synonyms.insert((row as u32, at as u32), score);
                }
            }
        }
        self.walk = self.make_walk()?;
        Ok(self)
    }
}
