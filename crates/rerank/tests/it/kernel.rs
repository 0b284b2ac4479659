//! The kernel against the formula, written down as it stands.

use cornu_rerank::{Precision, QueryTokens, TokenMatrix, TokensError, max_sims};
use ndarray::Array2;
use proptest::prelude::*;

/// Σᵢ maxⱼ qᵢ · dⱼ in f64.
fn naive(query: &Array2<f32>, keep: &[bool], document: &Array2<f32>) -> f64 {
    let product = |q: ndarray::ArrayView1<'_, f32>, d: ndarray::ArrayView1<'_, f32>| {
        q.iter()
            .zip(d)
            .map(|(&q, &d)| f64::from(q) * f64::from(d))
            .sum::<f64>()
    };
    let rows = query
        .rows()
        .into_iter()
        .zip(keep)
        .filter(|(_, kept)| **kept);
    rows.map(|(q, _)| {
        document
            .rows()
            .into_iter()
            .map(|d| product(q, d))
            .fold(f64::NEG_INFINITY, f64::max)
    })
    .sum()
}

fn unit(rows: usize, dimension: usize, values: &[f32]) -> Array2<f32> {
    let mut out = Array2::from_shape_fn((rows, dimension), |(i, j)| {
        values[(i * 131 + j * 7 + i * j) % values.len()]
    });
    for mut row in out.rows_mut() {
        let norm = row.dot(&row).sqrt();
        row /= norm.max(1e-3);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Every shape around the sizes of a block and a panel, every precision, any mask.
    #[test]
    fn the_kernel_is_the_formula(
        tokens in 0_usize..40,
        dimension in 1_usize..40,
        lengths in prop::collection::vec(0_usize..30, 0..5),
        mask in prop::collection::vec(any::<bool>(), 40),
        values in prop::collection::vec(-1.0_f32..1.0, 97),
    ) {
        let query = unit(tokens, dimension, &values);
        let keep = &mask[..tokens];
        let kept = keep.iter().filter(|kept| **kept).count();
        let asked = QueryTokens::masked(query.view(), keep).unwrap();
        prop_assert_eq!(asked.len(), kept);
        let documents: Vec<Array2<f32>> = lengths
            .iter()
            .enumerate()
            .map(|(at, &length)| unit(length, dimension, &values[at..]))
            .collect();
        // Of unit vectors: rounding a component to 11 bits, or to 1 in 254 of the largest.
        let precisions = [(Precision::F32, 1e-6), (Precision::F16, 1e-3), (Precision::Int8, 0.02)];
        for (precision, error) in precisions {
            let held: Vec<TokenMatrix> = documents
                .iter()
                .map(|rows| TokenMatrix::new(rows.view(), precision).unwrap())
                .collect();
            let refs: Vec<&TokenMatrix> = held.iter().collect();
            let scores = max_sims(&asked, &refs).unwrap();
            prop_assert_eq!(scores.len(), documents.len());
            for (at, (score, rows)) in scores.iter().zip(&documents).enumerate() {
                let expected = naive(&query, keep, rows);
                match score {
                    None => prop_assert!(kept == 0 || rows.nrows() == 0),
                    Some(score) => {
                        prop_assert!((score.sum - expected).abs() <= error * kept as f64);
                        prop_assert_eq!(score.tokens, kept);
                        // Alone, in f32 from the same values: the same bits.
                        prop_assert_eq!(max_sims(&asked, &refs[at..=at]).unwrap()[0], Some(*score));
                        let widened = held[at].to_precision(Precision::F32);
                        prop_assert_eq!(max_sims(&asked, &[&widened]).unwrap()[0], Some(*score));
                    }
                }
            }
        }
    }

    /// A document's padding and a query's masked rows could hold anything.
    #[test]
    fn what_is_masked_is_absent(
        values in prop::collection::vec(-1.0_f32..1.0, 97),
        other in -9.0_f32..9.0,
        mask in prop::collection::vec(any::<bool>(), 20),
    ) {
        let mut rows = unit(20, 8, &values);
        let kept: Vec<usize> = (0..20).filter(|&at| mask[at]).collect();
        let only = rows.select(ndarray::Axis(0), &kept);
        for (at, mut row) in rows.rows_mut().into_iter().enumerate() {
            if !mask[at] {
                row.fill(if at % 2 == 0 { other } else { f32::NAN });
            }
        }
        prop_assert_eq!(
            QueryTokens::masked(rows.view(), &mask).unwrap(),
            QueryTokens::new(only.view()).unwrap()
        );
        for precision in [Precision::F32, Precision::F16, Precision::Int8] {
            prop_assert_eq!(
                TokenMatrix::masked(rows.view(), &mask, precision).unwrap(),
                TokenMatrix::new(only.view(), precision).unwrap()
            );
        }
    }
}

#[test]
fn more_tokens_never_lower_a_maximum_and_copies_never_move_it() {
    let values: Vec<f32> = (0..97)
        .map(|at| ((at * 37) % 97) as f32 / 97.0 - 0.5)
        .collect();
    let rows = unit(30, 16, &values);
    let query = QueryTokens::new(unit(5, 16, &values[3..]).view()).unwrap();
    let score = |count: usize| {
        let rows = rows.slice(ndarray::s![..count, ..]);
        let tokens = TokenMatrix::new(rows, Precision::F32).unwrap();
        max_sims(&query, &[&tokens]).unwrap()[0].unwrap().sum
    };
    for count in 1..30 {
        assert!(score(count + 1) >= score(count));
    }
    let twice = ndarray::concatenate(ndarray::Axis(0), &[rows.view(), rows.view()]).unwrap();
    let twice = TokenMatrix::new(twice.view(), Precision::F32).unwrap();
    assert_eq!(
        max_sims(&query, &[&twice]).unwrap()[0].unwrap().sum,
        score(30)
    );
}

#[test]
fn vectors_of_another_length_are_refused_and_empty_documents_have_none() {
    let query = QueryTokens::new(ndarray::arr2(&[[1.0, 0.0]]).view()).unwrap();
    let wrong = TokenMatrix::new(ndarray::arr2(&[[1.0, 0.0, 0.0]]).view(), Precision::F16).unwrap();
    let error = max_sims(&query, &[&TokenMatrix::default(), &wrong]).unwrap_err();
    assert_eq!(
        error,
        TokensError::Dimension {
            query: 2,
            document: 3
        }
    );
    assert_eq!(
        max_sims(&query, &[&TokenMatrix::default()]).unwrap(),
        [None]
    );
    assert_eq!(max_sims(&query, &[]).unwrap(), []);
}
