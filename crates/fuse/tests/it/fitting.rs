//! α fitted on dev queries.

use cornu_core::{Fingerprint, Ranking};
use cornu_fuse::{DevQuery, FitOptions, FuseError, Origin, fit_alpha};

use crate::{places, scored};

fn reciprocal_rank(fused: &Ranking<u32>, relevant: &u32) -> f64 {
    fused
        .rank_of(relevant)
        .map_or(0.0, |rank| 1.0 / rank as f64)
}

/// `dense` queries that only the dense list answers, `sparse` that only the sparse one does.
fn dev(dense: u32, sparse: u32) -> Vec<DevQuery<u32, u32>> {
    let right = || scored([(7, 1.0), (8, 0.5), (1, 0.0)]);
    let wrong = || scored([(1, 9.0), (2, 5.0), (7, 0.0)]);
    let query = |good: bool| DevQuery {
        dense: if good { right() } else { wrong() },
        sparse: if good { wrong() } else { right() },
        relevant: 7,
    };
    (0..dense)
        .map(|_| query(true))
        .chain((0..sparse).map(|_| query(false)))
        .collect()
}

#[test]
fn alpha_goes_to_the_list_that_is_right() {
    let dense = fit_alpha(&dev(20, 0), &FitOptions::default(), reciprocal_rank).unwrap();
    assert!(dense.alpha > 0.5 && dense.dev_mean == 1.0);
    let sparse = fit_alpha(&dev(0, 20), &FitOptions::default(), reciprocal_rank).unwrap();
    assert!(sparse.alpha < 0.5);
    // All queries agree, so every resample does.
    assert_eq!(sparse.interval, (sparse.alpha, sparse.alpha));
    assert_eq!((sparse.queries, sparse.curve.len()), (20, 21));
}

/// Half against half: the interval says that the dev set does not settle α.
#[test]
fn the_interval_is_as_wide_as_the_doubt() {
    let fitted = fit_alpha(&dev(6, 5), &FitOptions::default(), reciprocal_rank).unwrap();
    let (low, high) = fitted.interval;
    assert!(low < 0.5 && high > 0.5, "{fitted:?}");
    let sure = fit_alpha(&dev(60, 5), &FitOptions::default(), reciprocal_rank).unwrap();
    assert!(sure.interval.0 > 0.5, "{sure:?}");
}

/// Whatever the seed: an interval from low to high that does not depend much on the draws, and is
/// wider the surer it has to be.
#[test]
fn the_interval_is_one_of_quantiles() {
    for seed in 0..40 {
        let fit = |confidence| {
            let options = FitOptions {
                seed,
                resamples: 400,
                confidence,
                ..FitOptions::default()
            };
            let (low, high) = fit_alpha(&dev(6, 5), &options, reciprocal_rank)
                .unwrap()
                .interval;
            assert!(low <= high, "{low} {high}");
            (low, high)
        };
        let (narrow, wide) = (fit(0.05), fit(0.99));
        assert!(wide.0 <= narrow.0 && narrow.1 <= wide.1);
        assert!(wide.0 < 0.5 && wide.1 > 0.5);
    }
}

#[test]
fn no_preference_gives_the_middle() {
    let query = DevQuery {
        dense: places([1, 2, 3]),
        sparse: places([1, 2, 3]),
        relevant: 2,
    };
    let fitted = fit_alpha(&[query], &FitOptions::default(), reciprocal_rank).unwrap();
    assert_eq!((fitted.alpha, fitted.dev_mean), (0.5, 0.5));
}

#[test]
fn the_same_seed_gives_the_same_fit_and_it_says_where_from() {
    let options = FitOptions {
        seed: 14,
        origin: Origin {
            set: "questions-dev".to_owned(),
            view: [3; 32],
            fingerprints: vec![Fingerprint::new("e5"), Fingerprint::new("cornu tokenizer")],
        },
        ..FitOptions::default()
    };
    let first = fit_alpha(&dev(6, 5), &options, reciprocal_rank).unwrap();
    let again = fit_alpha(&dev(6, 5), &options, reciprocal_rank).unwrap();
    assert_eq!(first, again);
    assert_eq!(first.options.origin.set, "questions-dev");
    // The order of the grid does not matter, nor do repetitions in it.
    let shuffled = FitOptions {
        grid: options
            .grid
            .iter()
            .rev()
            .chain(&options.grid)
            .copied()
            .collect(),
        ..options
    };
    let other = fit_alpha(&dev(6, 5), &shuffled, reciprocal_rank).unwrap();
    assert_eq!((other.alpha, other.interval), (first.alpha, first.interval));
}

#[test]
fn a_fit_on_nothing_is_refused() {
    let none: [DevQuery<u32, u32>; 0] = [];
    let refuse = |dev: &[DevQuery<u32, u32>], options: &FitOptions, value: f64| {
        fit_alpha(dev, options, |_, _| value).unwrap_err()
    };
    let usual = FitOptions::default();
    let error = refuse(&none, &usual, 1.0);
    assert!(matches!(
        error,
        FuseError::NothingToFit { missing: "queries" }
    ));
    let some = dev(1, 1);
    let grid = FitOptions {
        grid: vec![],
        ..usual.clone()
    };
    assert!(matches!(
        refuse(&some, &grid, 1.0),
        FuseError::NothingToFit { .. }
    ));
    let grid = FitOptions {
        grid: vec![1.5],
        ..usual.clone()
    };
    assert!(matches!(refuse(&some, &grid, 1.0), FuseError::Alpha { .. }));
    let confidence = FitOptions {
        confidence: 1.0,
        ..usual.clone()
    };
    assert!(matches!(
        refuse(&some, &confidence, 1.0),
        FuseError::Confidence { .. }
    ));
    assert!(matches!(
        refuse(&some, &usual, f64::NAN),
        FuseError::Metric { query: 0, .. }
    ));
}
