//! How sure a figure is: intervals, paired tests, and what a set can resolve at all.
//!
//! # Reproducible numbers
//! Everything random takes a seed and draws from PCG64 (XSL-RR 128/64, O'Neill 2014), an algorithm
//! published with reference vectors and implemented outside this crate as well (numpy's `PCG64` is
//! the same), seeded by SplitMix64. Integers below n come from Lemire's multiplication with
//! rejection, so they are exactly uniform. Draws run on one thread in one order, and logarithms and
//! error functions come from a Rust library rather than the system's: the same seed gives the same
//! numbers on any platform and any number of threads.
//!
//! # Quantiles
//! The p-quantile of m sorted values is linear interpolation at position (m − 1)·p counted from 0
//! (Hyndman and Fan's type 7, the default of numpy and R).

mod bootstrap;
mod holm;
mod normal;
mod power;
mod random;
mod randomization;

pub use bootstrap::{Bootstrap, Interval, Method, Scale};
pub use holm::holm;
pub use power::{smallest_resolvable_difference, smallest_resolvable_rate_difference};
pub use randomization::{Randomization, RandomizationTest};

/// Why a statistic could not be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatError {
    /// There is nothing to average.
    #[error("no values; score at least one query that has a relevant document")]
    NoValues,
    /// A value is NaN or infinite.
    #[error("value {value} at index {index} is not finite; leave the query out and count it apart")]
    NotFinite {
        /// Where, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A value is so large that its powers overflow.
    #[error("value {value} at index {index} is beyond 1e90; choose a larger unit")]
    TooLarge {
        /// Where, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A value of a rate lies outside \[0, 1\].
    #[error("value {value} at index {index} is no rate; use Scale::Any for values outside [0, 1]")]
    NotARate {
        /// Where, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// Two paired samples differ in length.
    #[error("{left} values are paired with {right}; give both systems the same queries")]
    UnequalLengths {
        /// Values of the first system.
        left: usize,
        /// Values of the second.
        right: usize,
    },
    /// A query was scored for one system only.
    #[error("query {query:?} was scored for one system only; evaluate both on the same judgments")]
    UnpairedQuery {
        /// The query's id.
        query: String,
    },
    /// A setting is out of its range.
    #[error("{name} is {value}; it must be {must}")]
    Setting {
        /// The setting's name.
        name: &'static str,
        /// What it was.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
}

/// Finite, and small enough that sums of third powers are finite too.
fn check_finite(values: &[f64]) -> Result<(), StatError> {
    for (index, &value) in values.iter().enumerate() {
        if !value.is_finite() {
            return Err(StatError::NotFinite { index, value });
        }
        if value.abs() > 1e90 {
            return Err(StatError::TooLarge { index, value });
        }
    }
    Ok(())
}

/// a − b for each pair.
fn differences(a: &[f64], b: &[f64]) -> Result<Vec<f64>, StatError> {
    if a.len() != b.len() {
        return Err(StatError::UnequalLengths {
            left: a.len(),
            right: b.len(),
        });
    }
    check_finite(a)?;
    check_finite(b)?;
    Ok(a.iter().zip(b).map(|(a, b)| a - b).collect())
}

fn check_open_unit(name: &'static str, value: f64) -> Result<(), StatError> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(StatError::Setting {
            name,
            value,
            must: "above 0 and below 1",
        })
    }
}

/// Sums and resamples of a few values differ in their last bits when they are equal in exact
/// arithmetic; below this they count as equal.
fn tie_width(values: &[f64]) -> f64 {
    values
        .iter()
        .fold(0.0_f64, |largest, value| largest.max(value.abs()))
        * 1e-12
}
