//! Scores to relevance.

use cornu_core::Fingerprint;
use cornu_segment::{Relevance, SegmentError, SegmentOptions, fit_logistic};

/// Against Simpson's rule on the density with its pole substituted away (9 digits).
#[test]
fn the_rerankers_transforms() {
    let tables = [
        (
            Relevance::COHERE,
            [
                (0.01, 0.093_916_194),
                (0.1, 0.239_739_159),
                (0.25, 0.356_332_937),
                (0.5, 0.5),
                (0.75, 0.643_667_063),
                (0.9, 0.760_260_841),
                (0.99, 0.906_083_806),
            ],
        ),
        (
            Relevance::VOYAGE,
            [
                (0.01, 0.140_970_96),
                (0.1, 0.434_988_815),
                (0.25, 0.658_861_086),
                (0.5, 0.861_480_462),
                (0.75, 0.964_585_732),
                (0.9, 0.993_565_316),
                (0.99, 0.999_901_056),
            ],
        ),
    ];
    for (relevance, table) in tables {
        for (score, expected) in table {
            let found = relevance.of(score).unwrap();
            assert!(
                (found - expected).abs() < 2e-9,
                "{relevance:?} {score}: {found}"
            );
        }
        assert_eq!(
            (relevance.of(0.0), relevance.of(1.0)),
            (Some(0.0), Some(1.0))
        );
        assert_eq!((relevance.of(-0.1), relevance.of(1.1)), (None, None));
    }
}

#[test]
fn what_is_no_score_has_no_relevance() {
    let all = [
        Relevance::Cosine,
        Relevance::Constant(0.8),
        Relevance::Linear {
            zero: 0.7,
            one: 0.9,
        },
        Relevance::COHERE,
        Relevance::Logistic {
            slope: 1.0,
            intercept: 0.0,
        },
    ];
    for relevance in all {
        for score in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(relevance.of(score), None, "{relevance:?} {score}");
        }
    }
    assert_eq!(Relevance::Constant(0.8).of(-3.0), Some(0.8));
    assert_eq!(
        Relevance::Cosine.of(1.000_001),
        Some(1.0),
        "rounding is forgiven"
    );
    assert_eq!(Relevance::Cosine.of(1.01), None);
    let linear = Relevance::Linear {
        zero: 0.5,
        one: 1.0,
    };
    assert_eq!(
        [0.2, 0.75, 1.0].map(|s| linear.of(s)),
        [Some(0.0), Some(0.5), Some(1.0)]
    );
}

#[test]
fn around_a_threshold_a_relevance_of_one_half() {
    for threshold in [0.05, 0.2, 0.5, 0.85, 0.99] {
        let relevance = Relevance::around(threshold);
        let options = SegmentOptions {
            relevance,
            ..SegmentOptions::default()
        };
        assert!(options.check().is_ok());
        assert!((relevance.of(threshold).unwrap() - 0.5).abs() < 1e-9);
        assert!(relevance.of(1.0).unwrap() > 0.999_999, "{threshold}");
    }
    for threshold in [-1.0, 0.0, 1.0, 2.0, f64::NAN] {
        assert_eq!(Relevance::around(threshold), Relevance::Cosine);
    }
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    for relevance in [
        Relevance::Constant(1.2),
        Relevance::Linear {
            zero: 0.9,
            one: 0.9,
        },
        Relevance::Beta { a: 0.0, b: 1.0 },
        Relevance::Logistic {
            slope: -1.0,
            intercept: 0.0,
        },
        Relevance::Logistic {
            slope: f64::NAN,
            intercept: 0.0,
        },
    ] {
        let options = SegmentOptions {
            relevance,
            ..SegmentOptions::default()
        };
        let refused = options.check();
        assert!(matches!(
            refused,
            Err(SegmentError::Option {
                name: "relevance",
                ..
            })
        ));
    }
}

/// Labels drawn from a known curve: the fit finds it again, at any scale of the scores.
#[test]
fn a_known_curve_is_found_again() {
    let mut seed = 3_u64;
    let mut random = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / f64::from(1_u32 << 31)
    };
    for (slope, intercept, scale) in [(1.5, -0.5, 1.0), (0.02, 1.0, 100.0)] {
        let truth = Relevance::Logistic { slope, intercept };
        let scored: Vec<(f64, bool)> = (0..20_000)
            .map(|_| {
                let score = (random() * 6.0 - 3.0) * scale;
                (score, random() < truth.of(score).unwrap())
            })
            .collect();
        let fitted = fit_logistic(&scored, &Fingerprint::new("known")).unwrap();
        for score in [-2.0, -1.0, 0.0, 1.0, 2.0].map(|score| score * scale) {
            let (found, expected) = (
                fitted.relevance.of(score).unwrap(),
                truth.of(score).unwrap(),
            );
            assert!(
                (found - expected).abs() < 0.02,
                "{score}: {found} {expected}"
            );
        }
        assert_eq!(fitted.relevant + fitted.others, scored.len());
        assert!(fitted.loss > 0.0 && fitted.loss < std::f64::consts::LN_2);
    }
}

#[test]
fn separable_scores_give_a_finite_slope() {
    let scored = [(2.0, true), (3.0, true), (-2.0, false), (-3.0, false)];
    let fitted = fit_logistic(&scored, &Fingerprint::new("x")).unwrap();
    let at = |score| fitted.relevance.of(score).unwrap();
    assert!(
        at(2.5) > 0.7 && at(2.5) < 0.99 && at(-2.5) < 0.3,
        "{fitted:?}"
    );
}

#[test]
fn scores_of_one_kind_or_the_wrong_way_round_are_refused() {
    let scorer = Fingerprint::new("x");
    for scored in [
        vec![],
        vec![(1.0, true)],
        vec![(1.0, true), (f64::NAN, false), (0.0, false)],
    ] {
        let refused = fit_logistic(&scored, &scorer);
        assert!(
            matches!(refused, Err(SegmentError::NothingToFit { .. })),
            "{refused:?}"
        );
    }
    let reversed = [(-1.0, true), (-2.0, true), (1.0, false), (2.0, false)];
    assert!(matches!(
        fit_logistic(&reversed, &scorer),
        Err(SegmentError::Option { .. })
    ));
}
