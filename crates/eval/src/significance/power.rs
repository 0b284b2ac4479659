//! The smallest difference that a set of queries can show.

use super::{StatError, check_open_unit, normal};

/// The mean difference that a paired two-sided comparison at level `alpha` finds with probability
/// `power`: (z_{1−α/2} + z_power) · s / √n, with `deviation` s the standard deviation of the
/// per-query differences. Normal approximation: for n under about 30 it is somewhat too hopeful.
///
/// ```
/// use cornu_eval::significance::smallest_resolvable_difference;
///
/// let d = smallest_resolvable_difference(0.4, 300, 0.05, 0.8)?;
/// assert!((d - 0.0647).abs() < 1e-4);
/// # Ok::<(), cornu_eval::significance::StatError>(())
/// ```
///
/// # Errors
/// [`StatError::Setting`] for a negative or non-finite deviation, or `alpha` or `power` outside
/// (0, 1); [`StatError::NoValues`] for n = 0.
pub fn smallest_resolvable_difference(
    deviation: f64,
    n: usize,
    alpha: f64,
    power: f64,
) -> Result<f64, StatError> {
    check_open_unit("alpha", alpha)?;
    check_open_unit("power", power)?;
    if !(deviation.is_finite() && deviation >= 0.0) {
        let must = "finite and not negative";
        return Err(StatError::Setting {
            name: "deviation",
            value: deviation,
            must,
        });
    }
    if n == 0 {
        return Err(StatError::NoValues);
    }
    let width = normal::quantile(1.0 - alpha / 2.0) + normal::quantile(power);
    Ok((width * deviation / libm::sqrt(n as f64)).max(0.0))
}

/// The same for a rate (hit@k, refusal), from n alone, before anything is measured.
///
/// Assumption: the two systems disagree on the share `discordance` of the queries. Differences are
/// then −1, 0 or 1 with variance at most `discordance`, which is taken. Two systems that are right
/// independently half of the time disagree on 0.5; two versions of one system rather on 0.1.
///
/// `None` when the difference would exceed `discordance`, which no two such systems can have: the
/// set is too small to tell them apart at all.
///
/// ```
/// use cornu_eval::significance::smallest_resolvable_rate_difference;
///
/// let of = |n| smallest_resolvable_rate_difference(n, 0.1, 0.05, 0.8);
/// assert!(of(300)?.is_some_and(|d| (d - 0.0511).abs() < 1e-4));
/// assert_eq!(of(17)?, None);
/// # Ok::<(), cornu_eval::significance::StatError>(())
/// ```
///
/// # Errors
/// As [`smallest_resolvable_difference`]; [`StatError::Setting`] for a discordance outside (0, 1].
pub fn smallest_resolvable_rate_difference(
    n: usize,
    discordance: f64,
    alpha: f64,
    power: f64,
) -> Result<Option<f64>, StatError> {
    if !(discordance > 0.0 && discordance <= 1.0) {
        let must = "above 0 and at most 1";
        return Err(StatError::Setting {
            name: "discordance",
            value: discordance,
            must,
        });
    }
    let difference = smallest_resolvable_difference(libm::sqrt(discordance), n, alpha, power)?;
    Ok((difference <= discordance).then_some(difference))
}
