//! The bias-corrected and accelerated bootstrap interval of a mean.

use super::random::{Draws, Purpose};
use super::{StatError, check_finite, check_open_unit, differences, normal, tie_width};

/// How to bootstrap: BCa (Efron, *Better bootstrap confidence intervals*, 1987).
///
/// With θ the mean, θ*₁ … θ*_B the means of B resamples with replacement and zₚ normal quantiles:
/// - bias correction z₀ = Φ⁻¹(share of θ* below θ, ties counted half);
/// - acceleration a = Σ(xᵢ − x̄)³ / (6·(Σ(xᵢ − x̄)²)^{3/2}), the jackknife's for a mean;
/// - the bounds are the quantiles of θ* at Φ(z₀ + (z₀ + zₚ) / (1 − a(z₀ + zₚ))), p = (1 ∓ level)/2.
///
/// Where that is undefined: a share of 0 or 1 is taken as half a resample from the edge, and past
/// the pole of the fraction the probability is 0 or 1.
///
/// # Data without spread
/// Constant values, a single one among them, bootstrap to a point, which would claim certainty.
/// So on [`Scale::Rate`], when all are 0 or all are 1, the interval is Clopper and Pearson's exact
/// one for n of n (17 of 17 gives \[0.805, 1\] at 95 %); otherwise there are no bounds.
///
/// ```
/// use cornu_eval::significance::{Bootstrap, Method};
///
/// let interval = Bootstrap::default().mean(&[0.0, 1.0, 1.0, 0.5, 1.0, 0.0, 1.0, 1.0])?;
/// assert_eq!(interval.mean, 0.6875);
/// let (lo, hi) = interval.bounds.expect("the values differ");
/// assert!(lo < 0.6875 && 0.6875 < hi);
/// assert_eq!(interval.method, Method::Bca);
/// # Ok::<(), cornu_eval::significance::StatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// How many resamples; at least 1.
    pub resamples: usize,
    /// Confidence level, above 0 and below 1.
    pub level: f64,
    /// What the values are.
    pub scale: Scale,
    /// Seed of the resamples.
    pub seed: u64,
}

impl Default for Bootstrap {
    /// 10,000 resamples, 95 %, any scale, seed 20.
    fn default() -> Self {
        Self {
            resamples: 10_000,
            level: 0.95,
            scale: Scale::Any,
            seed: 20,
        }
    }
}

/// What is known of the values beforehand.
///
/// ```
/// use cornu_eval::significance::{Bootstrap, Method, Scale};
///
/// let bootstrap = Bootstrap { scale: Scale::Rate, ..Bootstrap::default() };
/// let interval = bootstrap.mean(&[1.0; 17])?;
/// assert_eq!(interval.method, Method::ClopperPearson);
/// assert!(interval.bounds.is_some_and(|(lo, hi)| lo > 0.80 && lo < 0.81 && hi == 1.0));
/// # Ok::<(), cornu_eval::significance::StatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Nothing.
    Any,
    /// They lie in \[0, 1\], as metrics do; others are refused.
    Rate,
}

/// A mean with its interval. See [`Bootstrap`] for an example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Lower and upper bound; `None` when the values say nothing of their spread.
    pub bounds: Option<(f64, f64)>,
    /// How many values.
    pub n: usize,
    /// How the bounds were found.
    pub method: Method,
}

/// How the bounds of an [`Interval`] were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Bias-corrected and accelerated bootstrap.
    Bca,
    /// Clopper and Pearson's exact interval: a rate of exactly 0 or 1.
    ClopperPearson,
    /// No bounds: the values are constant.
    Constant,
}

impl Bootstrap {
    /// The interval of the mean of `values`. O(resamples · n) time, O(resamples) memory.
    ///
    /// # Errors
    /// [`StatError::NoValues`], [`StatError::NotFinite`], [`StatError::TooLarge`], [`StatError::NotARate`] on
    /// [`Scale::Rate`], [`StatError::Setting`].
    pub fn mean(&self, values: &[f64]) -> Result<Interval, StatError> {
        self.check(values)?;
        let n = values.len();
        let mean = mean(values);
        if values
            .iter()
            .all(|&value| value == values.first().copied().unwrap_or(value))
        {
            return Ok(self.of_constant(mean, n));
        }
        let means = self.resampled_means(values);
        let [lower, upper] = self.bca_probabilities(values, mean, &means);
        let bounds = Some((
            sorted_quantile(&means, lower),
            sorted_quantile(&means, upper),
        ));
        Ok(Interval {
            mean,
            bounds,
            n,
            method: Method::Bca,
        })
    }

    /// The interval of the mean difference a − b over pairs.
    ///
    /// The resamples draw pairs, so what makes a query hard for both systems cancels.
    /// [`Bootstrap::scale`] has no bearing on a difference.
    ///
    /// # Errors
    /// [`StatError::UnequalLengths`], and what [`Bootstrap::mean`] says.
    pub fn mean_difference(&self, a: &[f64], b: &[f64]) -> Result<Interval, StatError> {
        Self {
            scale: Scale::Any,
            ..*self
        }
        .mean(&differences(a, b)?)
    }

    fn check(&self, values: &[f64]) -> Result<(), StatError> {
        check_open_unit("level", self.level)?;
        if self.resamples == 0 {
            let must = "1 or more";
            return Err(StatError::Setting {
                name: "resamples",
                value: 0.0,
                must,
            });
        }
        if values.is_empty() {
            return Err(StatError::NoValues);
        }
        check_finite(values)?;
        let outside = values
            .iter()
            .enumerate()
            .find(|(_, v)| !(0.0..=1.0).contains(*v));
        match (self.scale, outside) {
            (Scale::Rate, Some((index, &value))) => Err(StatError::NotARate { index, value }),
            _ => Ok(()),
        }
    }

    fn of_constant(&self, mean: f64, n: usize) -> Interval {
        // Clopper and Pearson for n of n: the p with pⁿ = (1 − level)/2.
        let lowest = libm::pow((1.0 - self.level) / 2.0, 1.0 / n as f64);
        let (bounds, method) = match self.scale {
            Scale::Rate if mean == 1.0 => (Some((lowest, 1.0)), Method::ClopperPearson),
            Scale::Rate if mean == 0.0 => (Some((0.0, 1.0 - lowest)), Method::ClopperPearson),
            _ => (None, Method::Constant),
        };
        Interval {
            mean,
            bounds,
            n,
            method,
        }
    }

    /// Means of the resamples, ascending.
    fn resampled_means(&self, values: &[f64]) -> Vec<f64> {
        let n = values.len();
        let mut draws = Draws::new(self.seed, Purpose::Resample);
        let mut means: Vec<f64> = (0..self.resamples)
            .map(|_| {
                let drawn = (0..n).filter_map(|_| values.get(draws.below(n as u64) as usize));
                drawn.sum::<f64>() / n as f64
            })
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        means
    }

    /// Where the two bounds lie in the distribution of `means`, which is sorted.
    fn bca_probabilities(&self, values: &[f64], mean: f64, means: &[f64]) -> [f64; 2] {
        let bias = bias_correction(mean, means, tie_width(values));
        let acceleration = acceleration(values, mean);
        let tail = (1.0 - self.level) / 2.0;
        [tail, 1.0 - tail].map(|p| {
            let shifted = bias + normal::quantile(p);
            let denominator = 1.0 - acceleration * shifted;
            if denominator > 0.0 {
                normal::cdf(bias + shifted / denominator)
            } else if shifted > 0.0 {
                1.0
            } else {
                0.0
            }
        })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn bias_correction(mean: f64, means: &[f64], tie: f64) -> f64 {
    let below = means.partition_point(|&value| value < mean - tie);
    let not_above = means.partition_point(|&value| value <= mean + tie);
    let resamples = means.len() as f64;
    let share = (below as f64 + not_above as f64) / 2.0 / resamples;
    let edge = 0.5 / resamples;
    normal::quantile(share.clamp(edge, 1.0 - edge))
}

fn acceleration(values: &[f64], mean: f64) -> f64 {
    let (mut squares, mut cubes) = (0.0, 0.0);
    for value in values {
        let deviation = value - mean;
        squares += deviation * deviation;
        cubes += deviation * deviation * deviation;
    }
    // Underflow of tiny deviations: no skew that a float can show.
    if squares > 0.0 {
        cubes / (6.0 * squares * libm::sqrt(squares))
    } else {
        0.0
    }
}

/// Type 7 of Hyndman and Fan over ascending values; 0 for none.
fn sorted_quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len().saturating_sub(1)) as f64;
    let index = position as usize;
    let fraction = position - index as f64;
    let at = |index: usize| sorted.get(index).or(sorted.last()).copied().unwrap_or(0.0);
    let (low, high) = (at(index), at(index + 1));
    low + (high - low) * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_by_type_7() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        let at = |p| sorted_quantile(&sorted, p);
        assert_eq!([at(0.0), at(0.5), at(1.0)], [1.0, 3.0, 8.0]);
        assert!((at(0.25) - 1.75).abs() < 1e-12);
    }

    #[test]
    fn a_mean_past_all_resamples_keeps_a_finite_bias() {
        let means = [0.2, 0.3, 0.4];
        let edge = normal::quantile(0.5 / 3.0);
        for (mean, expected) in [(0.1, edge), (0.3, 0.0), (0.5, -edge)] {
            assert!((bias_correction(mean, &means, 0.0) - expected).abs() < 1e-12);
        }
    }

    /// scipy's own probabilities for the resamples that the same generator gives in numpy.
    #[test]
    fn bca_parts_are_scipys() {
        let oracle: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/data/significance.json"))
                .expect("oracle");
        let cases = oracle["bca"].as_array().expect("cases");
        assert!(cases.len() >= 5);
        for case in cases {
            let number = |key: &str| case[key].as_f64().expect("number");
            let values: Vec<f64> = case["values"]
                .as_array()
                .expect("values")
                .iter()
                .map(|value| value.as_f64().expect("number"))
                .collect();
            let bootstrap = Bootstrap {
                resamples: case["resamples"].as_u64().expect("count") as usize,
                level: number("level"),
                scale: Scale::Any,
                seed: case["seed"].as_u64().expect("seed"),
            };
            let interval = bootstrap.mean(&values).expect("interval");
            let means = bootstrap.resampled_means(&values);
            let [lower, upper] = bootstrap.bca_probabilities(&values, interval.mean, &means);
            let (lo, hi) = interval.bounds.expect("bounds");
            for (ours, key) in [
                (acceleration(&values, interval.mean), "acceleration"),
                (
                    bias_correction(interval.mean, &means, tie_width(&values)),
                    "bias_correction",
                ),
                (lower, "lower_probability"),
                (upper, "upper_probability"),
                (lo, "lo"),
                (hi, "hi"),
            ] {
                assert!((ours - number(key)).abs() < 1e-9, "{key}: {ours} in {case}");
            }
        }
    }
}
