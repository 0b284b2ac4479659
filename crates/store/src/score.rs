//! What a similarity is, to the bit, and how far the fast approximations of it may be off.
//!
//! The similarity of a stored row x and a query q is the inner product of x with q/‖q‖, both
//! taken to f64, summed in the order of [`exact`], and cut to [−1, 1]. Every route finds
//! candidates in its own way and then computes this number, so that all give the same bits. The
//! bounds here say how many candidates make sure that none is missed.

use ndarray::ArrayView1;

use crate::error::StoreError;
use crate::kernel::{LANES, products};
use crate::validate::{UNIT_TOLERANCE, direction};

/// Half a unit in the last place of f32: the relative error of one rounding.
const ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

/// A query with a direction.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Norm 1.
    pub(crate) exact: Vec<f64>,
    /// The same, each component rounded.
    pub(crate) rounded: Vec<f32>,
}

impl Query {
    pub(crate) fn new(query: &ArrayView1<'_, f32>, dimension: usize) -> Result<Self, StoreError> {
        let what = || "the query".to_owned();
        if query.len() != dimension {
            return Err(StoreError::WrongDimension {
                what: what(),
                expected: dimension,
                found: query.len(),
            });
        }
        let norm = direction(query, what)?;
        let exact: Vec<f64> = query.iter().map(|&x| f64::from(x) / norm).collect();
        let rounded = exact.iter().map(|&x| x as f32).collect();
        Ok(Self { exact, rounded })
    }

    /// A stored row as a query.
    pub(crate) fn of_row(row: &[f32]) -> Self {
        Self {
            exact: row.iter().map(|&x| f64::from(x)).collect(),
            rounded: row.to_vec(),
        }
    }

    /// The similarity.
    pub(crate) fn similarity(&self, row: &[f32]) -> f64 {
        exact(row, &self.exact).clamp(-1.0, 1.0)
    }

    /// The similarity of each row before it is cut, within [`scan_error`].
    pub(crate) fn approximate(&self, rows: &[f32], scores: &mut [f32]) {
        products(rows, &self.rounded, scores);
    }
}

/// Σ xᵢqᵢ in f64: each product is exact, the sums are not.
fn exact(row: &[f32], query: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (rows, row_rest) = row.as_chunks::<LANES>();
    let (queries, query_rest) = query.as_chunks::<LANES>();
    for (x, q) in rows.iter().zip(queries) {
        for ((lane, x), q) in lanes.iter_mut().zip(x).zip(q) {
            *lane += f64::from(*x) * q;
        }
    }
    let rest: f64 = row_rest
        .iter()
        .zip(query_rest)
        .map(|(x, q)| f64::from(*x) * q)
        .sum();
    lanes.iter().sum::<f64>() + rest
}

/// By how much [`Query::approximate`] may differ from the inner product with the exact query.
///
/// A component passes the rounding of the query, of the product, at most ⌈D/16⌉ additions in its
/// lane (or 15 in the rest) and 17 at the end. By the standard bound (Higham, *Accuracy and Stability of Numerical
/// Algorithms*, 3.1) the sum is off by at most γₙ Σ|xᵢqᵢ| ≤ γₙ ‖x‖‖q‖ with n that count and
/// γₙ = nu/(1 − nu). Norms are 1 within [`UNIT_TOLERANCE`]; a thousandth is added for them and for
/// the f64 sum, and what underflows is less than 1e-30.
pub(crate) fn scan_error(dimension: usize) -> f64 {
    let roundings = dimension.div_ceil(LANES).max(LANES) + LANES + 3;
    1.001 * gamma(roundings) + 1e-30
}

/// A similarity as known from a distance of `vec0`: `1 − d²/2`, and by how much it may be off.
///
/// vec0 sums (xᵢ − qᵢ)² in f32. All terms are positive, so d² is off by a *relative* γ of D + 3
/// roundings at most, whatever the order of the sum; the square root and its squaring here add
/// two. 1 − d²/2 is the inner product up to half of what ‖x‖² and ‖q‖² differ from 1 by, and q is
/// rounded to f32.
pub(crate) fn from_distance(distance: f64, dimension: usize) -> (f64, f64) {
    let half_square = distance * distance / 2.0;
    let norms = UNIT_TOLERANCE * 1.01 + 2.0 * ROUNDING;
    let error = half_square * 1.01 * gamma(dimension + 5) + norms;
    (1.0 - half_square, error)
}

fn gamma(roundings: usize) -> f64 {
    let nu = roundings as f64 * ROUNDING;
    // Beyond this the bound says nothing; every row is then a candidate.
    if nu < 0.5 {
        nu / (1.0 - nu)
    } else {
        f64::INFINITY
    }
}

/// The lowest approximate score that a row of the best k may have, when `kth` is the k-th largest
/// approximate score and each is within `error` of the truth.
///
/// k rows have a true score of at least `kth − error`, so the k-th best true score is no less, and
/// a row that reaches it has an approximate score of at least `kth − 2·error`. Scores are cut at
/// 1, where rows tie that lay apart: hence the `min`.
pub(crate) fn threshold(kth: f64, error: f64) -> f64 {
    kth.min(1.0) - 2.0 * error
}

#[cfg(test)]
mod tests {
    use cornu_core::testing::proptest::prelude::*;
    use cornu_core::testing::strategies::unit_vector;

    use super::*;

    proptest! {
        #[test]
        fn the_scan_is_within_its_bound(dimension in 1usize..70, seed in any::<u64>()) {
            let (row, query) = pair(dimension, seed);
            let query = Query::new(&query.view(), dimension).unwrap();
            let truth = exact(row.as_slice().unwrap(), &query.exact);
            let mut found = [0.0; 2];
            let twice = [row.to_vec(), row.to_vec()].concat();
            query.approximate(&twice, &mut found);
            prop_assert_eq!(found[0].to_bits(), found[1].to_bits());
            prop_assert!((f64::from(found[0]) - truth).abs() <= scan_error(dimension));
            prop_assert!(query.similarity(row.as_slice().unwrap()).abs() <= 1.0);
        }

        #[test]
        fn equal_rows_have_equal_scores_wherever_they_stand(row in unit_vector(37), query in unit_vector(37)) {
            let query = Query::new(&query.view(), 37).unwrap();
            let row = row.to_vec();
            let mut shifted = vec![0.0];
            shifted.extend_from_slice(&row);
            prop_assert_eq!(
                query.similarity(&row).to_bits(),
                query.similarity(&shifted[1..]).to_bits()
            );
        }
    }

    /// Two unit vectors of any dimension from a seed, by splitmix64.
    fn pair(dimension: usize, mut seed: u64) -> (ndarray::Array1<f32>, ndarray::Array1<f32>) {
        let mut vector = || {
            let raw = ndarray::Array1::from_shape_fn(dimension, |_| {
                seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((z >> 40) as f32 / (1u64 << 23) as f32) - 1.0
            });
            let norm = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
            raw / norm.max(1e-20)
        };
        (vector(), vector())
    }

    #[test]
    fn bounds_are_small_where_models_live() {
        assert!(scan_error(384) < 3e-6);
        assert!(scan_error(1024) < 6e-6);
        let (similarity, error) = from_distance(1.0, 384);
        assert!((similarity - 0.5).abs() < 1e-12 && error < 1.5e-5);
    }
}
