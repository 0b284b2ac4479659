//! Holm's correction for several tests at once.

use super::StatError;

/// Adjusts p-values so that rejecting those at or below α keeps the chance of any false rejection
/// at α (Holm 1979, step-down): the i-th smallest of m is multiplied by m − i + 1, made no smaller
/// than the one before it, and cut at 1. The result stands in the order of the input. O(m log m).
///
/// ```
/// use cornu_eval::significance::holm;
///
/// assert_eq!(holm(&[0.01, 0.5, 0.02])?, vec![0.03, 0.5, 0.04]);
/// # Ok::<(), cornu_eval::significance::StatError>(())
/// ```
///
/// # Errors
/// [`StatError::Setting`] when a value is no probability.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatError> {
    if let Some(&value) = p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(StatError::Setting {
            name: "p",
            value,
            must: "from 0 to 1",
        });
    }
    let mut ordered: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    ordered.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut floor = 0.0_f64;
    for (rank, (_, p)) in ordered.iter_mut().enumerate() {
        floor = floor.max(*p * (p_values.len() - rank) as f64).min(1.0);
        *p = floor;
    }
    ordered.sort_by_key(|&(index, _)| index);
    Ok(ordered.into_iter().map(|(_, p)| p).collect())
}
