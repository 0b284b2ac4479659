//! Each normalisation against its formula, and the edges of its input.

use cornu_core::Ranking;
use cornu_fuse::{FuseError, Normalisation, RrfOptions, Weighted, convex_fuse, rrf_fuse};

use crate::{score, scored};

fn alone(list: &Ranking<&'static str>, normalisation: &Normalisation) -> Ranking<&'static str> {
    let lists = [Weighted::new(list, 3.0)];
    convex_fuse(&lists, normalisation).unwrap().into_ranking()
}

#[test]
fn z_scores_count_from_the_lowest_entry() {
    let list = scored([("a", 1.0), ("b", 2.0), ("c", 6.0)]);
    let mean = 3.0;
    let sigma = ((4.0 + 1.0 + 9.0) / 3.0_f64).sqrt();
    let fused = alone(&list, &Normalisation::ZScore);
    let lowest = (1.0 - mean) / sigma;
    for (id, raw) in [("a", 1.0), ("b", 2.0), ("c", 6.0)] {
        let expected = (raw - mean) / sigma - lowest;
        assert!((score(&fused, id) - expected).abs() < 1e-12);
    }
}

/// Absent entries at the lowest z-score and plain z-scores give the same order: all sums differ
/// by one constant.
#[test]
fn z_scores_order_as_plain_z_scores_do() {
    let (one, two) = (
        scored([("a", 0.3), ("b", 0.1), ("c", 0.9)]),
        scored([("b", 12.0), ("c", 2.0), ("d", 5.0)]),
    );
    let plain = |list: &Ranking<&str>, id: &str| {
        let n = list.len() as f64;
        let mean = list.iter().map(|hit| hit.score).sum::<f64>() / n;
        let sigma = (list
            .iter()
            .map(|hit| (hit.score - mean).powi(2))
            .sum::<f64>()
            / n)
            .sqrt();
        let found = list.iter().find(|hit| hit.id == id);
        (found.unwrap_or(&list.as_slice()[list.len() - 1]).score - mean) / sigma
    };
    let lists = [Weighted::new(&one, 0.5), Weighted::new(&two, 0.5)];
    let fused = convex_fuse(&lists, &Normalisation::ZScore).unwrap();
    let expected = ["a", "b", "c", "d"].map(|id| (id, plain(&one, id) + plain(&two, id)));
    let expected = Ranking::new(expected).unwrap();
    assert_eq!(crate::ids(fused.ranking()), crate::ids(&expected));
}

#[test]
fn a_theoretical_minimum_keeps_the_lowest_entry_above_nothing() {
    let list = scored([("a", 2.0), ("b", 8.0)]);
    let fused = alone(&list, &Normalisation::TheoreticalMin { minima: vec![0.0] });
    assert_eq!((score(&fused, "a"), score(&fused, "b")), (0.25, 1.0));
    let bottom = scored([("a", -1.0), ("b", -1.0)]);
    let fused = alone(
        &bottom,
        &Normalisation::TheoreticalMin { minima: vec![-1.0] },
    );
    assert_eq!((score(&fused, "a"), score(&fused, "b")), (0.0, 0.0));
}

#[test]
fn weights_are_divided_by_their_sum() {
    let list = scored([("a", 2.0), ("b", 8.0)]);
    let exact = Normalisation::MinMax { epsilon: 0.0 };
    let lists = [Weighted::new(&list, 3.0), Weighted::new(&list, 1.0)];
    let fused = convex_fuse(&lists, &exact).unwrap();
    assert_eq!(score(fused.ranking(), "b"), 1.0);
    assert_eq!(fused.shares(&"b").unwrap()[0].unwrap().value, 0.75);
}

#[test]
fn the_largest_and_smallest_numbers_stay_finite() {
    let tiny = f64::from_bits(1);
    for list in [
        scored([("a", f64::MAX), ("b", 0.0), ("c", f64::MIN)]),
        scored([("a", tiny), ("b", 0.0), ("c", -tiny)]),
        scored([("a", f64::MAX), ("b", f64::MAX), ("c", f64::MAX)]),
        scored([("a", 1.0 + f64::EPSILON), ("b", 1.0), ("c", 1.0)]),
    ] {
        for normalisation in [
            Normalisation::MinMax { epsilon: 0.0 },
            Normalisation::MinMax { epsilon: 1.0 },
            Normalisation::ZScore,
            Normalisation::TheoreticalMin {
                minima: vec![f64::MIN],
            },
        ] {
            let fused = alone(&list, &normalisation);
            assert_eq!(fused.len(), 3);
            for hit in &fused {
                assert!(hit.score.is_finite() && hit.score >= 0.0, "{hit:?}");
            }
            assert_eq!(crate::ids(&fused)[0], "a");
        }
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let list = scored([("a", -2.0)]);
    let lists = [Weighted::new(&list, 1.0)];
    for epsilon in [-1e-9, f64::NAN, 2.0] {
        let error = convex_fuse(&lists, &Normalisation::MinMax { epsilon }).unwrap_err();
        assert!(matches!(error, FuseError::Epsilon { .. }), "{error}");
    }
    for (minima, wrong) in [
        (vec![], "count"),
        (vec![f64::NAN], "nan"),
        (vec![-1.0], "above"),
    ] {
        let error = convex_fuse(&lists, &Normalisation::TheoreticalMin { minima }).unwrap_err();
        match error {
            FuseError::Minima { .. } => assert_eq!(wrong, "count"),
            FuseError::Minimum { lowest, .. } => assert_eq!(lowest, -2.0),
            other => panic!("{other}"),
        }
    }
    for k in [-1.0, f64::NAN, f64::INFINITY] {
        let error = rrf_fuse(&lists, RrfOptions { k }).unwrap_err();
        assert!(matches!(error, FuseError::RankConstant { .. }), "{error}");
    }
}
