//! A set in a model's space, and what vectors alone and beside words find in it.

use anyhow::{Context, Result};
use cornu_core::{EmbeddingProvider, Ranking};
use cornu_fuse::{RrfOptions, Weighted, rrf_fuse};
use ndarray::{Array1, Array2, s};

use super::set::Set;

/// Texts that are embedded at a time.
const STEP: usize = 256;

/// Passages and questions with their vectors, which are made here, so that no method's time holds
/// them.
pub(crate) struct Embedded<'a> {
    pub(crate) set: &'a Set,
    passages: Array2<f32>,
    questions: Vec<Array1<f32>>,
}

impl<'a> Embedded<'a> {
    pub(crate) fn new(set: &'a Set, model: &dyn EmbeddingProvider) -> Result<Self> {
        let asked = set.asked.iter();
        let questions = asked.map(|asked| model.embed_query(&asked.text));
        Ok(Self {
            set,
            passages: embed(model, &set.texts)?,
            questions: questions.collect::<Result<_, _>>()?,
        })
    }

    /// The question at a position.
    pub(crate) fn question(&self, at: usize) -> Result<(&'a str, &Array1<f32>)> {
        let vector = self.questions.get(at).context("a question's vector")?;
        Ok((&self.set.question(at)?.text, vector))
    }

    /// The cosine of each passage.
    pub(crate) fn scores(&self, vector: &Array1<f32>) -> Vec<f64> {
        let scores = self.passages.dot(vector);
        scores.iter().map(|score| f64::from(*score)).collect()
    }

    /// All passages by cosine.
    pub(crate) fn ranked(&self, vector: &Array1<f32>) -> Result<Ranking<usize>> {
        Ok(Ranking::new(self.scores(vector).into_iter().enumerate())?)
    }
}

/// Reciprocal ranks over the best `depth` of the dense route and those of the other.
pub(crate) fn hybrid(
    dense: &Ranking<usize>,
    sparse: &Ranking<usize>,
    depth: usize,
) -> Result<Ranking<usize>> {
    let best = dense.iter().take(depth);
    let dense = Ranking::new(best.map(|scored| (scored.id, scored.score)))?;
    let lists = [Weighted::new(&dense, 1.0), Weighted::new(sparse, 1.0)];
    Ok(rrf_fuse(&lists, RrfOptions::default())?.ranking().clone())
}

/// Rows in the order of the texts.
pub(crate) fn embed<S: AsRef<str>>(
    model: &dyn EmbeddingProvider,
    texts: &[S],
) -> Result<Array2<f32>> {
    let mut rows = Array2::zeros((texts.len(), model.dimension()));
    for (part, at) in texts.chunks(STEP).zip((0..).step_by(STEP)) {
        let given: Vec<&str> = part.iter().map(AsRef::as_ref).collect();
        let vectors = model.embed(&given)?;
        rows.slice_mut(s![at..at + part.len(), ..]).assign(&vectors);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_dense_route_only_the_best_are_fused() {
        let dense = Ranking::new([(1, 0.9), (2, 0.8), (3, 0.7)]).unwrap();
        let sparse = Ranking::new([(4, 5.0), (2, 4.0)]).unwrap();
        let found = |depth| {
            let fused = hybrid(&dense, &sparse, depth).unwrap();
            fused.ids().copied().collect::<Vec<usize>>()
        };
        assert_eq!(found(1), [1, 4, 2]);
        assert_eq!(found(2), [2, 1, 4]);
        assert_eq!(found(9), [2, 1, 4, 3]);
    }
}
