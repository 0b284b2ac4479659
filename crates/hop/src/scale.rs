//! Scores between 0 and 1.

/// Scales by least and most; all 1 when they are equal.
pub(crate) fn min_max(scores: &[f64]) -> Vec<f64> {
    let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = most - least;
    let scale = |score: &f64| {
        if range > 0.0 {
            (score - least) / range
        } else {
            1.0
        }
    };
    scores.iter().map(scale).collect()
}
