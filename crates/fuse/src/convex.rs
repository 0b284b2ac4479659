//! Convex combination of normalised scores.

use cornu_core::Ranking;

use crate::error::FuseError;
use crate::fused::{Fused, assemble, total};
use crate::weighted::{Weighted, check};

/// How the scores of one list come to the scale that all lists share.
///
/// Every form is monotone in the score, gives the bottom of its scale the value 0, and gives 0 to
/// an id that the list does not hold: no evidence is the bottom of the scale, never below it. None
/// gives NaN or an infinity, whatever the scores.
///
/// A *flat* list, one whose scores are all equal (a list with one entry among them), has no spread
/// to divide by. With [`MinMax`](Self::MinMax) and [`ZScore`](Self::ZScore) its entries get 1 when
/// their score is positive (they are hits, and the best ones there are) and 0 otherwise (a column
/// of zeros says nothing). Here the published formula, which would give 0/ε, is set aside: it would
/// make the only hit of a list worth nothing.
///
/// ```
/// use cornu_core::Ranking;
/// use cornu_fuse::{Normalisation, convex_fuse, dense_sparse};
///
/// let dense = Ranking::new([("a", 0.9), ("b", 0.5), ("c", -0.1)])?;
/// let sparse = Ranking::new([("b", 7.0)])?;
/// let cosine_and_bm25 = Normalisation::TheoreticalMin { minima: vec![-1.0, 0.0] };
/// let fused = convex_fuse(&dense_sparse(&dense, &sparse, 0.5)?, &cosine_and_bm25)?;
/// assert_eq!(fused.ranking().as_slice()[0].score, 0.5 * (1.5 / 1.9) + 0.5); // b
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Normalisation {
    /// (S − min) / (max − min + ε): from 0 for the lowest entry to nearly 1 for the best.
    MinMax {
        /// ε, from 0 to 1. Keeps lists apart whose scores differ by rounding alone. It stands beside
        /// the scores as they are: a list whose scores are not far above it loses weight, as those
        /// of a walk over a million nodes do beside the default.
        epsilon: f64,
    },
    /// (S − min) / σ, with σ the standard deviation of the list's scores (divided by n). This is
    /// the z-score counted from the list's lowest entry, which is what ids that the list does not
    /// hold are taken at: the same order as with plain z-scores, and no negative shares.
    ZScore,
    /// (S − m) / (max − m), with m the lowest score that the route could give at all: −1 for a
    /// cosine, 0 for BM25 (Bruch, Gai and Ingber, TOIS 2023). The lowest entry keeps a value. 0
    /// throughout when the best score is m itself.
    TheoreticalMin {
        /// m of each list, in the order of the lists.
        minima: Vec<f64>,
    },
}

impl Default for Normalisation {
    /// Min-max with ε = 1e-9.
    fn default() -> Self {
        Self::MinMax { epsilon: 1e-9 }
    }
}

/// Fuses any number of lists by normalised score: S(d) = Σ wᵢ · normᵢ(Sᵢ(d)), with wᵢ the list's
/// weight divided by the sum of the weights. For two lists with weights α and 1 − α (see
/// [`dense_sparse`](crate::dense_sparse)) that is α · dense + (1 − α) · sparse.
///
/// - An empty list adds nothing, and the others keep their order. A list that is left out
///   altogether also leaves the sum of the weights; hand in [`Ranking::empty`] to keep the scale
///   of scores when a route found nothing.
/// - Equal sums stand in the order of their ids.
/// - The scores are no probabilities and depend on the query's other hits: do not compare them
///   with a threshold across queries.
///
/// O(n log n) time for n entries in all.
///
/// # Errors
/// [`FuseError::Weight`], [`FuseError::NoWeight`], [`FuseError::Epsilon`], [`FuseError::Minima`],
/// [`FuseError::Minimum`].
pub fn convex_fuse<I: Ord + Clone>(
    lists: &[Weighted<&Ranking<I>>],
    normalisation: &Normalisation,
) -> Result<Fused<I>, FuseError> {
    check(lists)?;
    let sum = total(lists.iter().map(|weighted| weighted.weight));
    let mut scales = Vec::with_capacity(lists.len());
    for at in 0..lists.len() {
        scales.push(scale(lists, at, normalisation)?);
    }
    let shares = lists.iter().zip(scales).map(|(weighted, scale)| {
        let weight = weighted.weight / sum;
        let share = move |_rank: usize, score: f64| weight * scale.apply(score);
        (weighted.list, share)
    });
    Ok(assemble(shares))
}

/// How one list's scores map to the shared scale.
#[derive(Clone, Copy)]
enum Scale {
    /// (S − from) / (width + epsilon), times `factor`.
    Linear {
        from: f64,
        to: f64,
        epsilon: f64,
        factor: f64,
    },
    /// The same for all.
    Constant(f64),
}

impl Scale {
    fn apply(self, score: f64) -> f64 {
        match self {
            Self::Constant(value) => value,
            Self::Linear {
                from,
                to,
                epsilon,
                factor,
            } => fraction(score, from, to, epsilon) * factor,
        }
    }
}

fn scale<I: Ord>(
    lists: &[Weighted<&Ranking<I>>],
    at: usize,
    normalisation: &Normalisation,
) -> Result<Scale, FuseError> {
    let entries = lists.get(at).map_or(&[][..], |list| list.list.as_slice());
    let ends = entries.first().zip(entries.last());
    let (max, min) = ends.map_or((0.0, 0.0), |(best, last)| (best.score, last.score));
    let flat = Scale::Constant(if max > 0.0 { 1.0 } else { 0.0 });
    match normalisation {
        Normalisation::MinMax { epsilon } => {
            let epsilon = *epsilon;
            if !(0.0..=1.0).contains(&epsilon) {
                return Err(FuseError::Epsilon { epsilon });
            }
            if max == min {
                return Ok(flat);
            }
            Ok(linear(min, max, epsilon, 1.0))
        }
        Normalisation::ZScore => {
            if max == min {
                return Ok(flat);
            }
            // Within [0, 1] first, so that no square overflows; σ scales along.
            let scores = || entries.iter().map(|hit| fraction(hit.score, min, max, 0.0));
            let n = entries.len() as f64;
            let mean = scores().sum::<f64>() / n;
            let variance = scores().map(|t| (t - mean) * (t - mean)).sum::<f64>() / n;
            Ok(linear(min, max, 0.0, 1.0 / variance.sqrt()))
        }
        Normalisation::TheoreticalMin { minima } => {
            if minima.len() != lists.len() {
                return Err(FuseError::Minima {
                    minima: minima.len(),
                    lists: lists.len(),
                });
            }
            let minimum = minima.get(at).copied().unwrap_or_default();
            if !minimum.is_finite() || (min < minimum && !entries.is_empty()) {
                return Err(FuseError::Minimum {
                    list: at,
                    minimum,
                    lowest: min,
                });
            }
            if max <= minimum {
                return Ok(Scale::Constant(0.0));
            }
            Ok(linear(minimum, max, 0.0, 1.0))
        }
    }
}

fn linear(from: f64, to: f64, epsilon: f64, factor: f64) -> Scale {
    Scale::Linear {
        from,
        to,
        epsilon,
        factor,
    }
}

/// (score − from) / (to − from + epsilon) for from ≤ score ≤ to, from < to: within [0, 1], and
/// finite where the differences themselves would overflow.
fn fraction(score: f64, from: f64, to: f64, epsilon: f64) -> f64 {
    let width = to - from;
    if width.is_finite() {
        return (score - from) / (width + epsilon);
    }
    (score / 2.0 - from / 2.0) / (to / 2.0 - from / 2.0 + epsilon / 2.0)
}
