//! What holds of the statistics for any values, and the rules for values without spread.

use std::thread;

use cornu_eval::significance::{
    Bootstrap, Interval, Method, Randomization, Scale, StatError, holm,
    smallest_resolvable_difference, smallest_resolvable_rate_difference,
};
use proptest::prelude::*;

fn quick() -> Bootstrap {
    Bootstrap {
        resamples: 400,
        ..Bootstrap::default()
    }
}

fn rate() -> Bootstrap {
    Bootstrap {
        scale: Scale::Rate,
        ..Bootstrap::default()
    }
}

proptest! {
    #[test]
    fn an_interval_encloses_its_mean(values in prop::collection::vec(0.0_f64..1.0, 5..40)) {
        let interval = quick().mean(&values).unwrap();
        let (lo, hi) = interval.bounds.unwrap();
        prop_assert!(lo <= interval.mean && interval.mean <= hi, "{interval:?}");
        let largest = values.iter().copied().fold(0.0, f64::max);
        prop_assert!(lo >= 0.0 && hi <= largest);
    }

    #[test]
    fn an_interval_moves_and_stretches_with_the_values(
        eighths in prop::collection::vec(0_i32..=8, 5..30), shift in -4_i32..4, stretch in 1_i32..4,
    ) {
        prop_assume!(eighths.iter().any(|value| *value != eighths[0]));
        // Small integers over 8: every sum is exact, so the same resamples tie in both.
        let values: Vec<f64> = eighths.iter().map(|&v| f64::from(v) / 8.0).collect();
        let moved: Vec<f64> =
            eighths.iter().map(|&v| f64::from(v * stretch) / 8.0 + f64::from(shift)).collect();
        let (lo, hi) = quick().mean(&values).unwrap().bounds.unwrap();
        let (moved_lo, moved_hi) = quick().mean(&moved).unwrap().bounds.unwrap();
        let image = |x: f64| x * f64::from(stretch) + f64::from(shift);
        prop_assert!((moved_lo - image(lo)).abs() < 1e-9 && (moved_hi - image(hi)).abs() < 1e-9);
    }

    #[test]
    fn a_higher_level_is_wider(values in prop::collection::vec(0.0_f64..1.0, 5..30)) {
        let at = |level| Bootstrap { level, ..quick() }.mean(&values).unwrap().bounds.unwrap();
        let ((lo, hi), (wide_lo, wide_hi)) = (at(0.8), at(0.95));
        prop_assert!(wide_lo <= lo && hi <= wide_hi);
    }

    #[test]
    fn a_p_value_is_above_0_and_symmetric(
        pairs in prop::collection::vec((0.0_f64..1.0, 0.0_f64..1.0), 1..26),
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let randomization = Randomization { samples: 200, ..Randomization::default() };
        // The exact test of 20 pairs is tested once; here it would take most of the time.
        prop_assume!(a.len() <= 12 || a.len() > Randomization::EXACT_PAIRS);
        let there = randomization.test(&a, &b).unwrap();
        let back = randomization.test(&b, &a).unwrap();
        prop_assert!(there.p > 0.0 && there.p <= 1.0);
        prop_assert_eq!(there.p, back.p);
        prop_assert_eq!(there.mean_difference, -back.mean_difference);
        prop_assert_eq!(there.exact, a.len() <= Randomization::EXACT_PAIRS);
    }

    #[test]
    fn pairs_without_difference_do_not_move_p(
        a in prop::collection::vec(0.0_f64..1.0, 1..10), same in 1_usize..30,
    ) {
        let b: Vec<f64> = a.iter().map(|value| 1.0 - value).collect();
        let p = Randomization::default().test(&a, &b).unwrap().p;
        let pad = |values: &[f64]| [values, &vec![0.5; same]].concat();
        let padded = Randomization::default().test(&pad(&a), &pad(&b)).unwrap();
        prop_assert_eq!(padded.p, p);
        prop_assert_eq!(padded.n, a.len() + same);
    }

    #[test]
    fn holm_raises_and_keeps_order(p in prop::collection::vec(0.0_f64..=1.0, 0..12)) {
        let adjusted = holm(&p).unwrap();
        for (i, (raw, new)) in p.iter().zip(&adjusted).enumerate() {
            prop_assert!(raw <= new && *new <= 1.0);
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_thread() {
    let values: Vec<f64> = (0..60).map(|i| f64::from(i * i % 17) / 17.0).collect();
    let others: Vec<f64> = values.iter().rev().copied().collect();
    let all = |values: &[f64], others: &[f64]| {
        let interval = Bootstrap::default().mean(values).unwrap();
        (
            interval,
            Randomization::default().test(values, others).unwrap(),
        )
    };
    let here = all(&values, &others);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| all(&values, &others)))
            .collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), here);
        }
    });
    let other_seed = Bootstrap {
        seed: 21,
        ..Bootstrap::default()
    }
    .mean(&values)
    .unwrap();
    assert_ne!(other_seed.bounds, here.0.bounds);
}

#[test]
fn values_without_spread_follow_the_stated_rules() {
    let exact = |values: &[f64]| rate().mean(values).unwrap();
    // 17 of 17: Clopper and Pearson, 0.025^(1/17).
    let all = exact(&[1.0; 17]);
    assert_eq!(
        (all.mean, all.n, all.method),
        (1.0, 17, Method::ClopperPearson)
    );
    let (lo, hi) = all.bounds.unwrap();
    assert!((lo - 0.804_94).abs() < 1e-5 && hi == 1.0, "{lo}");
    let (lo, hi) = exact(&[0.0; 17]).bounds.unwrap();
    assert!(lo == 0.0 && (hi - 0.195_06).abs() < 1e-5, "{hi}");
    // One success is next to nothing.
    let (lo, _) = exact(&[1.0]).bounds.unwrap();
    assert!((lo - 0.025).abs() < 1e-12);
    // No known form: no bounds rather than a point.
    for (bootstrap, values) in [
        (rate(), vec![0.5; 9]),
        (Bootstrap::default(), vec![1.0; 9]),
        (rate(), vec![0.3]),
    ] {
        let Interval {
            mean,
            bounds,
            method,
            ..
        } = bootstrap.mean(&values).unwrap();
        assert_eq!(
            (mean, bounds, method),
            (
                values.iter().sum::<f64>() / values.len() as f64,
                None,
                Method::Constant
            )
        );
    }
    // Two systems that never differ.
    let same = Bootstrap::default()
        .mean_difference(&[0.2, 0.4], &[0.2, 0.4])
        .unwrap();
    assert_eq!((same.mean, same.bounds), (0.0, None));
    let test = Randomization::default()
        .test(&[0.2, 0.4], &[0.2, 0.4])
        .unwrap();
    assert_eq!((test.p, test.differing), (1.0, 0));
}

/// 0.1 + 0.1 + 0.1 - 0.1 is 0.2 on paper and a little more in binary; the patterns tie all the same.
#[test]
fn sums_that_are_equal_on_paper_tie() {
    let test = Randomization::default()
        .test(&[0.1, 0.1, 0.1, 0.0], &[0.0, 0.0, 0.0, 0.1])
        .unwrap();
    assert_eq!(test.p, 10.0 / 16.0); // all but the 6 patterns of two and two
}

#[test]
fn twenty_pairs_are_enumerated() {
    let a = [1.0; 20];
    let b = [0.0; 20];
    let test = Randomization::default().test(&a, &b).unwrap();
    assert!(test.exact);
    assert_eq!(test.p, 2.0 / f64::from(1 << 20));
    let test = Randomization::default()
        .test(&[1.0; 21], &[0.0; 21])
        .unwrap();
    assert!(!test.exact);
    assert_eq!(test.p, 1.0 / 10_001.0);
}

/// Numbers in [0, 1) from another generator than the one under test.
fn uniform_from(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Under no difference, p ≤ 0.05 comes in about 5 % of the sets; a 95 % interval misses about 5 %.
#[test]
fn error_rates_are_as_promised() {
    let mut uniform = uniform_from(1);
    let (mut rejected, mut missed) = (0, 0);
    let sets = 400;
    for seed in 0..sets {
        let a: Vec<f64> = (0..40).map(|_| uniform()).collect();
        let b: Vec<f64> = (0..40).map(|_| uniform()).collect();
        let randomization = Randomization { samples: 500, seed };
        rejected += usize::from(randomization.test(&a, &b).unwrap().p <= 0.05);
        let bootstrap = Bootstrap {
            resamples: 500,
            seed,
            ..Bootstrap::default()
        };
        let (lo, hi) = bootstrap.mean(&a).unwrap().bounds.unwrap();
        missed += usize::from(lo > 0.5 || hi < 0.5);
    }
    // Expected 20 with standard deviation 4.4; the interval is a little too narrow at n = 40.
    assert!((7..=33).contains(&rejected), "{rejected} of {sets}");
    assert!((7..=42).contains(&missed), "{missed} of {sets}");
}

/// A difference of the stated size is found with about the stated power.
#[test]
fn the_smallest_resolvable_difference_is_found_as_often_as_stated() {
    let n = 100;
    let deviation = (1.0_f64 / 12.0).sqrt();
    let difference = smallest_resolvable_difference(deviation, n, 0.05, 0.8).unwrap();
    let mut uniform = uniform_from(7);
    let zeros = vec![0.0; n];
    let found = (0..300)
        .filter(|&seed| {
            let a: Vec<f64> = (0..n).map(|_| uniform() - 0.5 + difference).collect();
            Randomization { samples: 500, seed }
                .test(&a, &zeros)
                .unwrap()
                .p
                <= 0.05
        })
        .count();
    // Expected 240 with standard deviation 7.
    assert!((215..=265).contains(&found), "{found} of 300");
    assert_eq!(
        smallest_resolvable_rate_difference(10, 0.5, 0.05, 0.8),
        Ok(None)
    );
}

#[test]
fn what_cannot_be_computed_is_an_error() {
    let bootstrap = Bootstrap::default();
    assert_eq!(bootstrap.mean(&[]), Err(StatError::NoValues));
    assert!(matches!(
        bootstrap.mean(&[0.0, f64::NAN]),
        Err(StatError::NotFinite { index: 1, .. })
    ));
    assert!(matches!(
        rate().mean(&[0.5, 1.5]),
        Err(StatError::NotARate { index: 1, .. })
    ));
    for level in [0.0, 1.0, f64::NAN] {
        let error = Bootstrap { level, ..bootstrap }
            .mean(&[0.0, 1.0])
            .unwrap_err();
        assert!(matches!(error, StatError::Setting { name: "level", .. }));
    }
    let none = Bootstrap {
        resamples: 0,
        ..bootstrap
    }
    .mean(&[0.0, 1.0])
    .unwrap_err();
    assert!(
        none.to_string()
            .contains("resamples is 0; it must be 1 or more"),
        "{none}"
    );
    let test = |a: &[f64], b: &[f64]| Randomization::default().test(a, b).unwrap_err();
    assert_eq!(
        test(&[1.0], &[]),
        StatError::UnequalLengths { left: 1, right: 0 }
    );
    assert_eq!(test(&[], &[]), StatError::NoValues);
    assert!(matches!(
        test(&[f64::MAX], &[f64::MIN]),
        StatError::TooLarge { .. }
    ));
    assert!(matches!(
        bootstrap.mean(&[1.0, -1e91]),
        Err(StatError::TooLarge { index: 1, .. })
    ));
    assert!(holm(&[0.1, f64::NAN]).is_err() && holm(&[1.1]).is_err());
    assert_eq!(holm(&[]), Ok(Vec::new()));
    assert!(smallest_resolvable_difference(-1.0, 10, 0.05, 0.8).is_err());
    assert!(smallest_resolvable_difference(1.0, 0, 0.05, 0.8).is_err());
    assert!(smallest_resolvable_rate_difference(10, 0.0, 0.05, 0.8).is_err());
}
