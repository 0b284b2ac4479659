//! The first stage's scores and a reranker's in one order.

use cornu_core::Ranking;
use cornu_fuse::{Normalisation, Weighted, convex_fuse};

use crate::error::RerankError;

/// How much a reranker's score counts beside the first stage's.
///
/// Both are brought to 0…1 over the candidates that were scored (min-max), whatever the scale of
/// either, and the order is that of w · second + (1 − w) · first, ties in first-stage order. A small cross-encoder and a hybrid
/// search err on different candidates, so that their mean is often better than either. At w = 1
/// the order is the reranker's own. What was not scored still follows behind, as it stood.
///
/// The weight belongs to a scorer and a first stage: fit it on questions of your own, with
/// [`cornu_fuse::fit_alpha`] for example.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::{ChunkId, Fingerprint, PairScorer, ProviderError};
/// use cornu_rerank::{Blend, Candidate, Candidates, CrossEncoder, Reranker, Scale, Scorer};
///
/// # struct Shares(Fingerprint);
/// # impl PairScorer for Shares {
/// #     fn fingerprint(&self) -> &Fingerprint { &self.0 }
/// #     fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
/// #         Ok(documents.iter().map(|d| d.matches(query).count() as f32).collect())
/// #     }
/// # }
/// # let model = Arc::new(Shares(Fingerprint::new("shares")));
/// let cross = CrossEncoder::new(Scorer::new(model, Scale::Logit)).with_blend(Blend::new(0.5)?);
///
/// let id = |byte| ChunkId::from_bytes([byte; 32]);
/// let found = [("slope", 0.9), ("slope of a slope", 0.8), ("fruit", 0.4)];
/// let found = found.iter().zip(1..).map(|(&(text, score), at)| Candidate::new(id(at), text, score));
/// let reranked = cross.rerank("slope", &Candidates::new(found)?)?;
/// let first = reranked.entries()[0];
/// // 0.5 · 1 of the model, 0.5 · (0.8 − 0.4) / (0.9 − 0.4) of the first stage.
/// assert_eq!((first.id, first.first_rank), (id(2), 2));
/// assert!((first.blended.ok_or("blended")? - 0.9).abs() < 1e-6);
/// assert!(Blend::new(1.2).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    weight: f64,
}

impl Default for Blend {
    /// Equal weights. For the carried cross-encoder behind the hybrid search, table `rerank` has the
    /// weight that its dev questions prefer, and how sure they are.
    fn default() -> Self {
        Self { weight: 0.5 }
    }
}

impl Blend {
    /// With this weight of the reranker's score, from 0 to 1.
    ///
    /// # Errors
    /// [`RerankError::Options`] for any other number.
    pub fn new(weight: f64) -> Result<Self, RerankError> {
        match (0.0..=1.0).contains(&weight) {
            true => Ok(Self { weight }),
            false => Err(RerankError::Options {
                problem: format!("the weight of a blend is {weight}; give one from 0 to 1"),
            }),
        }
    }

    /// The weight of the reranker's score.
    #[must_use]
    pub fn weight(self) -> f64 {
        self.weight
    }

    /// The blended value of each (first, second), from 0 to 1. O(n log n).
    pub(crate) fn values(self, scores: &[(f64, f64)]) -> Vec<f64> {
        // Scores are finite and positions differ by construction.
        let ranking = |of: fn(&(f64, f64)) -> f64| {
            // Min-max has an ε beside the differences. In units of the largest score it is as small
            // for a walk's probabilities as for logits.
            let largest = scores
                .iter()
                .map(of)
                .fold(0.0, |most: f64, x| most.max(x.abs()));
            let unit = if largest > 0.0 { largest } else { 1.0 };
            let in_units = scores.iter().map(|both| of(both) / unit);
            Ranking::new(in_units.enumerate()).unwrap_or_else(|_| Ranking::empty())
        };
        let (first, second) = (ranking(|both| both.0), ranking(|both| both.1));
        let lists = [
            Weighted::new(&second, self.weight),
            Weighted::new(&first, 1.0 - self.weight),
        ];
        let mut values = vec![0.0; scores.len()];
        // The weight was checked, so that nothing is left to refuse.
        if let Ok(fused) = convex_fuse(&lists, &Normalisation::default()) {
            for hit in fused.ranking() {
                if let Some(value) = values.get_mut(hit.id) {
                    *value = hit.score;
                }
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_are_the_mean_of_both_scales() {
        let blend = Blend::new(0.25).unwrap();
        let values = blend.values(&[(10.0, -3.0), (9.0, 1.0), (5.0, -1.0)]);
        let expected = [0.75, 0.25 + 0.75 * 0.8, 0.25 * 0.5];
        assert!(
            values
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-6),
            "{values:?}"
        );
        assert!(blend.values(&[]).is_empty());
        // Nothing to tell apart: one value for all.
        let flat = blend.values(&[(2.0, 3.0), (2.0, 3.0)]);
        assert_eq!(flat[0].to_bits(), flat[1].to_bits());
    }
}
