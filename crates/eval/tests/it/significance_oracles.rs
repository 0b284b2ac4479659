//! Statistics against scipy and statsmodels (see tests/data/make_oracles.py). The parts of BCa are
//! compared beside their code.

use cornu_eval::significance::{Bootstrap, Method, Randomization, holm};
use serde::Deserialize;

#[derive(Deserialize)]
struct Oracle {
    bca: Vec<BcaCase>,
    bootstrap: Vec<BootstrapCase>,
    permutation: Vec<PermutationCase>,
    sampled_permutation: Vec<SampledCase>,
    holm: Vec<HolmCase>,
}

#[derive(Deserialize)]
struct BcaCase {
    values: Vec<f64>,
    resamples: usize,
    seed: u64,
    level: f64,
    lo: f64,
    hi: f64,
}

#[derive(Deserialize)]
struct BootstrapCase {
    values: Vec<f64>,
    level: f64,
    lo: f64,
    hi: f64,
    standard_error: f64,
}

#[derive(Deserialize)]
struct PermutationCase {
    a: Vec<f64>,
    b: Vec<f64>,
    mean: f64,
    p: f64,
}

#[derive(Deserialize)]
struct SampledCase {
    a: Vec<f64>,
    b: Vec<f64>,
    samples: usize,
    seed: u64,
    p: f64,
}

#[derive(Deserialize)]
struct HolmCase {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

fn oracle() -> Oracle {
    serde_json::from_str(include_str!("../data/significance.json")).unwrap()
}

/// The same resamples in numpy, the interval by scipy's own code: the same bounds.
#[test]
fn bca_bounds_are_scipys_on_the_same_resamples() {
    for case in oracle().bca {
        let bootstrap = Bootstrap {
            resamples: case.resamples,
            level: case.level,
            seed: case.seed,
            ..Bootstrap::default()
        };
        let interval = bootstrap.mean(&case.values).unwrap();
        let (lo, hi) = interval.bounds.unwrap();
        assert_eq!(interval.method, Method::Bca);
        assert!(
            (lo - case.lo).abs() < 1e-9 && (hi - case.hi).abs() < 1e-9,
            "{lo} {hi}"
        );
    }
}

/// Other resamples: the bounds agree within the noise of 10,000 of them. A bound's standard error
/// is about sqrt(p(1 - p)/B)/density, 0.03 standard errors of the mean at the 2.5 % quantile;
/// skewed data and the discreteness of rates add to it.
#[test]
fn bca_bounds_are_scipys_within_monte_carlo_error() {
    let cases = oracle().bootstrap;
    assert_eq!(cases.len(), 3);
    for case in cases {
        let bootstrap = Bootstrap {
            level: case.level,
            ..Bootstrap::default()
        };
        let (lo, hi) = bootstrap.mean(&case.values).unwrap().bounds.unwrap();
        let allowed = 0.2 * case.standard_error;
        assert!((lo - case.lo).abs() < allowed, "{lo} against {}", case.lo);
        assert!((hi - case.hi).abs() < allowed, "{hi} against {}", case.hi);
    }
}

#[test]
fn exact_randomization_is_scipys() {
    for case in oracle().permutation {
        let test = Randomization::default().test(&case.a, &case.b).unwrap();
        assert!(test.exact);
        assert!(
            (test.p - case.p).abs() < 1e-12,
            "{} against {}",
            test.p,
            case.p
        );
        assert!((test.mean_difference - case.mean).abs() < 1e-12);
    }
}

#[test]
fn sampled_randomization_counts_the_same_patterns() {
    for case in oracle().sampled_permutation {
        let randomization = Randomization {
            samples: case.samples,
            seed: case.seed,
        };
        let test = randomization.test(&case.a, &case.b).unwrap();
        assert!(!test.exact);
        assert!(
            (test.p - case.p).abs() < 1e-12,
            "{} against {}",
            test.p,
            case.p
        );
    }
}

#[test]
fn holm_is_statsmodels() {
    for case in oracle().holm {
        let adjusted = holm(&case.p).unwrap();
        assert_eq!(adjusted.len(), case.adjusted.len());
        for (ours, theirs) in adjusted.iter().zip(&case.adjusted) {
            assert!((ours - theirs).abs() < 1e-12, "{ours} against {theirs}");
        }
    }
}
