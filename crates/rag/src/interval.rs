//! Exact intervals of rates.

/// A rate with its interval.
///
/// ```
/// let rate = cornu::Rate::observed(0, 59);
/// assert_eq!(rate.expected, 0.0);
/// assert!((rate.high - 0.0606).abs() < 1e-4); // no error in 59 still allows 6 %
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Rate {
    /// The rate to expect.
    pub expected: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

const TAIL: f64 = 0.025;

impl Rate {
    /// `count` of `of`, with the exact interval of Clopper and Pearson (Biometrika 1934). For
    /// `of` = 0 nothing is known: from 0 to 1. O(of) time.
    #[must_use]
    pub fn observed(count: usize, of: usize) -> Self {
        let count = count.min(of);
        Self {
            expected: count as f64 / of.max(1) as f64,
            low: beta_quantile(count, of - count + 1, TAIL),
            high: beta_quantile(count + 1, of - count, 1.0 - TAIL),
        }
    }

    /// The rate at which new values lie beyond the `beyond`-th of `of` exchangeable ones, counted
    /// from the far end: Beta(`beyond`, `of` + 1 − `beyond`), with mean `beyond` / (`of` + 1) (Vovk,
    /// Machine Learning 2013, on what conformal prediction promises for one calibration set).
    pub(crate) fn beyond(beyond: usize, of: usize) -> Self {
        let beyond = beyond.min(of + 1);
        Self {
            expected: beyond as f64 / (of + 1) as f64,
            low: beta_quantile(beyond, of + 1 - beyond, TAIL),
            high: beta_quantile(beyond, of + 1 - beyond, 1.0 - TAIL),
        }
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [expected, low, high] = [self.expected, self.low, self.high].map(|rate| rate * 100.0);
        write!(f, "{expected:.1} % ({low:.1} to {high:.1})")
    }
}

/// The quantile of Beta(a, b) for whole a and b: 0 for a = 0, 1 for b = 0. Bisection to the last
/// bit; Beta's distribution function is a binomial tail.
fn beta_quantile(a: usize, b: usize, probability: f64) -> f64 {
    if a == 0 {
        return 0.0;
    }
    if b == 0 {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if binomial_at_least(a, a + b - 1, middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// P(X ≥ k) for X ~ Binomial(n, p), 0 < p < 1. O(n).
fn binomial_at_least(k: usize, n: usize, p: f64) -> f64 {
    let (success, failure) = (p.ln(), (-p).ln_1p());
    let mut coefficient = 0.0; // ln of n over i
    let mut sum = 0.0;
    for i in 0..=n {
        if i >= k {
            let term: f64 = coefficient + i as f64 * success + (n - i) as f64 * failure;
            sum += term.exp();
        }
        coefficient += ((n - i) as f64).ln() - ((i + 1) as f64).ln();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Clopper and Pearson's, from R's binom.test.
        for (count, of, low, high) in [
            (0, 10, 0.0, 0.308_497_1),
            (1, 10, 0.002_528_579, 0.445_016_1),
            (5, 10, 0.187_086, 0.812_914),
            (10, 10, 0.691_502_9, 1.0),
            (3, 42, 0.014_969_5, 0.194_793),
        ] {
            let rate = Rate::observed(count, of);
            assert!((rate.low - low).abs() < 2e-4, "{count} of {of}: {rate:?}");
            assert!((rate.high - high).abs() < 2e-4, "{count} of {of}: {rate:?}");
        }
        assert_eq!(Rate::observed(0, 0).high, 1.0);
    }

    #[test]
    fn a_uniform_rate_has_uniform_quantiles() {
        let rate = Rate::beyond(1, 1); // Beta(1, 1)
        assert!((rate.low - 0.025).abs() < 1e-12 && (rate.high - 0.975).abs() < 1e-12);
        assert_eq!(rate.expected, 0.5);
    }
}
