//! The paired randomisation (sign-flip) test.

use super::random::{Draws, Purpose};
use super::{StatError, differences, tie_width};

/// How to test: two-sided, on the mean difference of pairs.
///
/// If two systems were interchangeable, each difference could as well have the other sign. p is the
/// share of sign patterns whose mean is at least as far from 0 as the observed one, equality
/// included.
///
/// Pairs without a difference change no pattern's mean. With at most
/// [`Randomization::EXACT_PAIRS`] others, all patterns are enumerated. Above, `samples` patterns are
/// drawn and p = (b + 1)/(m + 1) with b of m as far (Phipson and Smyth 2010), so p is never 0.
///
/// ```
/// use cornu_eval::significance::Randomization;
///
/// let ours = [1.0, 1.0, 1.0, 1.0, 1.0, 0.5];
/// let theirs = [0.0, 0.0, 0.0, 0.0, 0.0, 0.5];
/// let test = Randomization::default().test(&ours, &theirs)?;
/// assert_eq!(test.p, 2.0 / 32.0); // two of 2^5 patterns: all plus, all minus
/// assert!(test.exact);
/// # Ok::<(), cornu_eval::significance::StatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Randomization {
    /// How many sign patterns are drawn when there are too many to enumerate; at least 1.
    pub samples: usize,
    /// Seed of the patterns.
    pub seed: u64,
}

impl Default for Randomization {
    /// 10,000 patterns, seed 20.
    fn default() -> Self {
        Self {
            samples: 10_000,
            seed: 20,
        }
    }
}

/// What a paired randomisation test found. See [`Randomization`] for an example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomizationTest {
    /// Mean of a − b.
    pub mean_difference: f64,
    /// Two-sided p, in (0, 1].
    pub p: f64,
    /// Pairs.
    pub n: usize,
    /// Pairs that differ.
    pub differing: usize,
    /// Whether every sign pattern was looked at.
    pub exact: bool,
}

impl Randomization {
    /// Up to this many differing pairs, all 2^n patterns are enumerated.
    pub const EXACT_PAIRS: usize = 20;

    /// Tests the pairs (aᵢ, bᵢ). At most O(2^19) when exact, else O(samples · n).
    ///
    /// # Errors
    /// [`StatError::UnequalLengths`], [`StatError::NoValues`], [`StatError::NotFinite`],
    /// [`StatError::TooLarge`], [`StatError::Setting`].
    pub fn test(&self, a: &[f64], b: &[f64]) -> Result<RandomizationTest, StatError> {
        let differences = differences(a, b)?;
        if differences.is_empty() {
            return Err(StatError::NoValues);
        }
        if self.samples == 0 {
            let must = "1 or more";
            return Err(StatError::Setting {
                name: "samples",
                value: 0.0,
                must,
            });
        }
        let n = differences.len();
        let sum: f64 = differences.iter().sum();
        let differing: Vec<f64> = differences.into_iter().filter(|&d| d != 0.0).collect();
        // Sums of n terms that are equal on paper differ by rounding; they are ties.
        let bound = sum.abs() - tie_width(&differing) * differing.len() as f64;
        let exact = differing.len() <= Self::EXACT_PAIRS;
        let p = if exact {
            exact_p(&differing, bound)
        } else {
            self.sampled_p(&differing, bound)
        };
        let mean_difference = sum / n as f64;
        Ok(RandomizationTest {
            mean_difference,
            p,
            n,
            differing: differing.len(),
            exact,
        })
    }

    fn sampled_p(&self, differences: &[f64], bound: f64) -> f64 {
        let mut draws = Draws::new(self.seed, Purpose::Signs);
        let mut as_far = 0_usize;
        for _ in 0..self.samples {
            let mut sum = 0.0;
            for block in differences.chunks(64) {
                let mut signs = draws.word();
                for difference in block {
                    sum += if signs & 1 == 1 {
                        *difference
                    } else {
                        -*difference
                    };
                    signs >>= 1;
                }
            }
            as_far += usize::from(sum.abs() >= bound);
        }
        (as_far + 1) as f64 / (self.samples + 1) as f64
    }
}

/// A pattern and its mirror image are equally far, so the first sign is fixed.
fn exact_p(differences: &[f64], bound: f64) -> f64 {
    match differences.split_first() {
        None => 1.0,
        Some((&first, rest)) => {
            let patterns = libm::ldexp(1.0, i32::try_from(rest.len()).unwrap_or(i32::MAX));
            count_as_far(rest, first, bound) as f64 / patterns
        }
    }
}

fn count_as_far(rest: &[f64], sum: f64, bound: f64) -> u64 {
    match rest.split_first() {
        None => u64::from(sum.abs() >= bound),
        Some((&next, rest)) => {
            count_as_far(rest, sum + next, bound) + count_as_far(rest, sum - next, bound)
        }
    }
}
