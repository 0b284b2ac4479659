//! Rows of norm 1, or an error that names the row.

use cornu_core::{ProviderError, normalise_rows};
use ndarray::Array2;
use proptest::prelude::*;

proptest! {
    #[test]
    fn normalised_rows_have_norm_one_and_keep_their_direction(
        values in prop::collection::vec(-1e30_f32..1e30, 12),
        exponent in -30_i32..30,
    ) {
        let scale = 2.0_f32.powi(exponent);
        let raw = Array2::from_shape_vec((3, 4), values).unwrap().mapv(|x| x * scale);
        let mut unit = raw.clone();
        match normalise_rows(&mut unit) {
            Ok(()) => for (row, before) in unit.rows().into_iter().zip(raw.rows()) {
                let wide = |v: ndarray::ArrayView1<'_, f32>| v.mapv(f64::from);
                let (row, before) = (wide(row), wide(before));
                prop_assert!((row.dot(&row).sqrt() - 1.0).abs() < 1e-6);
                let cosine = row.dot(&before) / before.dot(&before).sqrt();
                prop_assert!((cosine - 1.0).abs() < 1e-6);
            },
            Err(_) => {
                let bad = raw.rows().into_iter().any(|row| {
                    row.iter().all(|x| *x == 0.0) || row.iter().any(|x| !x.is_finite())
                });
                prop_assert!(bad);
            }
        }
    }
}

#[test]
fn the_largest_and_the_smallest_numbers_have_a_direction() {
    for value in [f32::MAX, f32::MIN_POSITIVE, 1e-45] {
        let mut rows = ndarray::arr2(&[[value, value, 0.0, 0.0]]);
        normalise_rows(&mut rows).unwrap();
        assert!(
            (rows[[0, 0]] - std::f32::consts::FRAC_1_SQRT_2).abs() < 1e-6,
            "{value}"
        );
    }
}

#[test]
fn a_row_without_direction_is_named() {
    for (bad, expected) in [
        (0.0, "zero"),
        (f32::NAN, "not finite"),
        (f32::INFINITY, "not finite"),
    ] {
        let mut rows = ndarray::arr2(&[[1.0, 0.0], [bad, 0.0]]);
        let error = normalise_rows(&mut rows).unwrap_err();
        let named = matches!(error, ProviderError::BadVector { row: 1, what } if what == expected);
        assert!(named, "{error}");
    }
}
