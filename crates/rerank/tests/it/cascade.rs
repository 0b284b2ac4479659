//! The cut, the budget, the early exit.

use std::sync::Arc;
use std::time::Duration;

use cornu_rerank::{
    Blend, Budget, CascadeOptions, CrossEncoder, Cut, CutReason, EarlyExit, ElbowCascade,
    ManualClock, PairCost, RerankError, Reranked, Reranker, Scale, Unscored, elbow,
};
use proptest::prelude::*;

use crate::{Table, candidates, falling, number, order, texts};

#[test]
fn the_cut_is_at_the_largest_relative_drop() {
    // The largest difference is 10 to 8, the largest relative drop 1.0 to 0.4.
    let scores = [10.0, 8.0, 7.5, 1.2, 1.0, 0.4, 0.39];
    let at = |floor, ceiling| elbow(&scores, floor, ceiling, 0.0).at;
    assert_eq!(at(1, 7), 3, "7.5 to 1.2");
    assert_eq!(at(4, 7), 5, "1.0 to 0.4");
    assert_eq!(at(1, 2), 1, "within the ceiling");
    assert_eq!(at(6, 6), 6);
}

#[test]
fn lists_of_every_kind_have_a_cut() {
    let cut = |at, why| Cut { at, why };
    assert_eq!(elbow(&[], 2, 4, 0.0), cut(0, CutReason::All));
    assert_eq!(elbow(&[0.3], 2, 4, 0.0), cut(1, CutReason::All));
    assert_eq!(elbow(&[0.3; 9], 2, 4, 0.0), cut(4, CutReason::Flat));
    assert_eq!(elbow(&[0.0; 9], 2, 4, 0.0), cut(4, CutReason::Flat));
    assert_eq!(elbow(&[0.3; 3], 2, 4, 0.0), cut(3, CutReason::Flat));
    assert_eq!(elbow(&[-1.0, -1.1, -4.0, -4.1], 1, 4, 0.0).at, 2);
    assert_eq!(elbow(&[0.2, 0.1, -0.1, -0.1], 1, 4, 0.0).at, 2);
    assert_eq!(
        elbow(&[1e308, -1e308], 1, 2, 0.0),
        cut(1, CutReason::Elbow { drop: 2.0 })
    );
    assert_eq!(
        elbow(&[5e-324, 0.0, 0.0], 1, 3, 0.0),
        cut(1, CutReason::Elbow { drop: 1.0 })
    );
    // Of equal drops the first; a drop that is not large enough is none.
    assert_eq!(elbow(&[8.0, 4.0, 2.0, 1.0], 1, 4, 0.0).at, 1);
    assert_eq!(
        elbow(&[8.0, 4.0, 2.0, 1.0], 1, 3, 0.5),
        cut(3, CutReason::Flat)
    );
    assert_eq!(
        elbow(&[1.0, 0.5], 7, 1, 0.0).at,
        1,
        "a floor above the ceiling"
    );
    assert_eq!(elbow(&[1.0, 0.5], 0, 0, 0.0).at, 0);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let table = Arc::new(Table::new([]));
    let exit = |top, margin| {
        Some(EarlyExit {
            top,
            margin,
            patience: 1,
        })
    };
    let default = CascadeOptions::default();
    for wrong in [
        CascadeOptions {
            floor: 0,
            ..default
        },
        CascadeOptions {
            floor: 17,
            ..default
        },
        CascadeOptions {
            batch: 0,
            ..default
        },
        CascadeOptions {
            least_drop: f64::NAN,
            ..default
        },
        CascadeOptions {
            least_drop: -0.1,
            ..default
        },
        CascadeOptions {
            early_exit: exit(0, 1.0),
            ..default
        },
        CascadeOptions {
            early_exit: exit(1, f64::NAN),
            ..default
        },
    ] {
        let made = ElbowCascade::new(table.scorer(Scale::Logit), wrong);
        assert!(
            matches!(made, Err(RerankError::Options { .. })),
            "{wrong:?}"
        );
    }
}

#[test]
fn the_result_says_how_many_went_through_and_why_the_rest_did_not() {
    let mut scores = falling(50);
    scores[12..].iter_mut().for_each(|score| *score /= 2.0);
    let texts = texts(50);
    let found = candidates(&texts, &scores);
    let table = Arc::new(Table::new((0..50).map(|at| at as f32)));
    let cascade = ElbowCascade::new(table.scorer(Scale::Logit), CascadeOptions::default()).unwrap();
    let reranked = cascade.rerank("x", &found).unwrap();
    assert_eq!(reranked.report().scored, 12);
    assert!(matches!(
        reranked.report().cut,
        Some(Cut {
            at: 12,
            why: CutReason::Elbow { .. }
        })
    ));
    let expected: Vec<usize> = (0..12).rev().chain(12..50).collect();
    assert_eq!(order(&reranked), expected);
    assert!(
        reranked.entries()[12..]
            .iter()
            .all(|entry| entry.outcome.unscored() == Some(Unscored::BelowCut))
    );
    assert_eq!(
        table.calls(),
        1,
        "without a budget to watch there is one call"
    );
}

fn limited(limit: u64, pair: u64, enforced: bool) -> CascadeOptions {
    let cost = PairCost {
        pair: Duration::from_millis(pair),
        kib: Duration::ZERO,
    };
    let budget = Budget::planned(Duration::from_millis(limit), cost);
    CascadeOptions {
        floor: 16,
        ceiling: 16,
        budget: Some(if enforced { budget.enforced() } else { budget }),
        ..CascadeOptions::default()
    }
}

/// A cascade over 20 candidates whose scorer really takes `cost` milliseconds a pair.
fn run(options: CascadeOptions, cost: u64) -> Reranked {
    let clock = Arc::new(ManualClock::default());
    let table = Table::new((0..20).map(|at| at as f32));
    let table = Arc::new(table.costing(Duration::from_millis(cost), &clock));
    let texts = texts(20);
    let cascade = ElbowCascade::new(table.scorer(Scale::Logit), options).unwrap();
    cascade
        .with_clock(clock)
        .rerank("x", &candidates(&texts, &falling(20)))
        .unwrap()
}

#[test]
fn a_budget_plans_how_many_pairs_fit() {
    let reranked = run(limited(50, 5, false), 5);
    assert_eq!(
        (reranked.report().scored, reranked.report().planned),
        (10, Some(10))
    );
    assert_eq!(reranked.elapsed(), Duration::from_millis(50));
    let why: Vec<_> = reranked.entries()[10..]
        .iter()
        .map(|entry| entry.outcome.unscored())
        .collect();
    assert_eq!(why[..6], [Some(Unscored::BudgetSpent); 6]);
    assert_eq!(why[6..], [Some(Unscored::BelowCut); 4]);
    // The same cost gives the same plan however slow the machine is.
    let slow = run(limited(50, 5, false), 11);
    assert_eq!(slow, reranked);
    assert_ne!(slow.elapsed(), reranked.elapsed());
}

#[test]
fn an_enforced_budget_is_kept_where_pairs_cost_more_than_calibrated() {
    let reranked = run(limited(50, 5, true), 9);
    assert!(
        reranked.elapsed() <= Duration::from_millis(50),
        "{:?}",
        reranked.elapsed()
    );
    assert_eq!(
        reranked.report().scored,
        5,
        "4 in 36 ms, then the one that fits into 14"
    );
    // And not given away where they cost less.
    assert_eq!(run(limited(50, 5, true), 1).report().scored, 10);
    // A budget into which nothing fits leaves the first stage's order.
    let none = run(limited(4, 5, true), 5);
    assert_eq!(none.report().scored, 0);
    assert_eq!(order(&none), (0..20).collect::<Vec<_>>());
}

#[test]
fn a_decided_top_ends_the_cascade() {
    let texts = texts(20);
    let found = candidates(&texts, &falling(20));
    let scores = (0..20).map(|at| if at == 2 { 9.0 } else { 1.0 - at as f32 / 10.0 });
    let table = Arc::new(Table::new(scores));
    let options = CascadeOptions {
        floor: 16,
        ceiling: 16,
        batch: 4,
        early_exit: Some(EarlyExit {
            top: 1,
            margin: 2.0,
            patience: 4,
        }),
        ..CascadeOptions::default()
    };
    let cascade = ElbowCascade::new(table.scorer(Scale::Logit), options).unwrap();
    let reranked = cascade.rerank("x", &found).unwrap();
    assert_eq!(reranked.report().scored, 8);
    assert_eq!(order(&reranked)[0], 2);
    assert_eq!(
        reranked.entries()[8].outcome.unscored(),
        Some(Unscored::TopDecided)
    );
    assert_eq!(
        reranked.entries()[16].outcome.unscored(),
        Some(Unscored::BelowCut)
    );
    assert_eq!(*table.sizes.lock().unwrap(), [4, 4]);
}

#[test]
fn a_top_is_not_decided_by_too_little() {
    let exit = EarlyExit {
        top: 2,
        margin: 1.0,
        patience: 2,
    };
    assert!(exit.decided(&[5.0, 4.0, 3.0, 2.0]));
    assert!(!exit.decided(&[5.0, 4.0]), "nobody stands below the top");
    assert!(
        !exit.decided(&[5.0, 3.0, 2.0, 4.0]),
        "the latest changed it"
    );
    assert!(
        !exit.decided(&[5.0, 4.0, 3.5, 2.0]),
        "the margin is not there"
    );
    assert!(!exit.decided(&[]));
}

fn scores() -> impl Strategy<Value = Vec<f64>> {
    // Few values, so that ties come often, and some of every size.
    let one = prop_oneof![
        (-3_i32..4).prop_map(f64::from),
        -1.0_f64..1.0,
        Just(0.0),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
    ];
    prop::collection::vec(one, 0..40)
}

prop_compose! {
    fn options()(
        floor in 1_usize..12,
        more in 0_usize..12,
        least_drop in prop_oneof![Just(0.0), 0.0_f64..1.0],
        batch in 1_usize..6,
        limit in prop::option::of((0_u64..80, any::<bool>())),
        exit in prop::option::of((1_usize..4, 0.0_f64..2.0, 0_usize..5)),
        weight in prop::option::of(0.0_f64..=1.0),
    ) -> CascadeOptions {
        let cost = PairCost { pair: Duration::from_millis(3), kib: Duration::from_millis(1) };
        CascadeOptions {
            floor,
            ceiling: floor + more,
            least_drop,
            batch,
            budget: limit.map(|(limit, enforced)| {
                Budget { limit: Duration::from_millis(limit), cost, enforced }
            }),
            early_exit: exit.map(|(top, margin, patience)| EarlyExit { top, margin, patience }),
            blend: weight.and_then(|weight| Blend::new(weight).ok()),
        }
    }
}

proptest! {
    /// Behind the scored part the first stage's order stays, and no candidate is lost.
    #[test]
    fn never_worse_ordered_than_its_first_stage_on_what_it_did_not_score(
        first in scores(),
        second in prop::collection::vec(
            prop_oneof![9 => (-3_i8..4).prop_map(f32::from), 1 => Just(f32::NAN)], 40,
        ),
        options in options(),
        cost in 0_u64..9,
    ) {
        let clock = Arc::new(ManualClock::default());
        let table = Table::new(second.clone());
        let table = Arc::new(table.costing(Duration::from_millis(cost), &clock));
        let texts = texts(first.len());
        let found = candidates(&texts, &first);
        let cascade = ElbowCascade::new(table.scorer(Scale::Logit), options).unwrap();
        let reranked = cascade.with_clock(clock).rerank("x", &found).unwrap();

        let before: Vec<usize> = found.iter().map(|candidate| number(candidate.id)).collect();
        let place = |at: usize| before.iter().position(|&one| one == at).unwrap();
        let entries = reranked.entries();
        let mut all = order(&reranked);
        all.sort_unstable();
        prop_assert_eq!(all, (0..first.len()).collect::<Vec<_>>());

        let scored = entries.iter().take_while(|entry| entry.outcome.score().is_some()).count();
        prop_assert_eq!(scored, reranked.report().scored);
        prop_assert!(scored <= options.ceiling);
        for pair in entries.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            let (a_place, b_place) = (place(number(a.id)), place(number(b.id)));
            match (a.outcome.score(), b.outcome.score()) {
                (Some(own), Some(other)) => {
                    let own = a.blended.unwrap_or(own.value());
                    let other = b.blended.unwrap_or(other.value());
                    prop_assert!(own > other || (own == other && a_place < b_place));
                    prop_assert_eq!(a.blended.is_some(), options.blend.is_some());
                }
                (Some(_), None) => {}
                (None, Some(_)) => prop_assert!(false, "an unscored candidate before a scored one"),
                (None, None) => prop_assert!(a_place < b_place),
            }
        }
        for entry in entries {
            let at = number(entry.id);
            prop_assert_eq!(entry.first_rank, place(at) + 1);
            prop_assert_eq!(entry.first_score, first[at]);
            if let Some(score) = entry.outcome.score() {
                prop_assert_eq!(score.value(), f64::from(second[at]));
            }
        }
        // What was sent is a prefix of the first stage's list.
        let sent = reranked.report().sent;
        prop_assert_eq!(sent, scored + reranked.report().not_finite);
        for entry in entries {
            let why = entry.outcome.unscored();
            let asked = matches!(why, None | Some(Unscored::NotFinite));
            prop_assert_eq!(entry.first_rank <= sent, asked);
        }
        // An enforced budget is only missed by what one call was mistaken in.
        if let Some(budget) = options.budget.filter(|budget| budget.enforced && cost <= 3) {
            prop_assert!(reranked.elapsed() <= budget.limit);
        }
    }

    /// With a floor that takes all, the cascade is the cross-encoder.
    #[test]
    fn a_cascade_without_a_cut_is_the_whole_cross_encoder(
        second in prop::collection::vec((-3_i8..4).prop_map(f32::from), 0..20),
    ) {
        let texts = texts(second.len());
        let scores = falling(second.len());
        let found = candidates(&texts, &scores);
        let table = Arc::new(Table::new(second));
        let options = CascadeOptions { floor: 20, ceiling: 20, ..CascadeOptions::default() };
        let cascade = ElbowCascade::new(table.scorer(Scale::Logit), options).unwrap();
        let full = CrossEncoder::new(table.scorer(Scale::Logit));
        let cascade = cascade.rerank("x", &found).unwrap();
        let full = full.rerank("x", &found).unwrap();
        prop_assert_eq!(cascade.entries(), full.entries());
    }

    /// The cut lies within its bounds and does not depend on the scores' unit.
    #[test]
    fn a_cut_is_within_its_bounds_and_has_no_unit(
        mut scores in prop::collection::vec(-1.0_f64..1.0, 0..40),
        floor in 1_usize..9,
        more in 0_usize..9,
        power in -20_i32..20,
    ) {
        scores.sort_by(|a, b| b.total_cmp(a));
        let cut = elbow(&scores, floor, floor + more, 0.0);
        prop_assert!(cut.at >= floor.min(scores.len()) && cut.at <= floor + more);
        prop_assert!(cut.at <= scores.len());
        let unit = 2_f64.powi(power);
        let scaled: Vec<f64> = scores.iter().map(|score| score * unit).collect();
        prop_assert_eq!(elbow(&scaled, floor, floor + more, 0.0), cut);
    }
}

/// No limit and no idea of the cost: times add up to the longest there is, and not beyond.
#[test]
fn the_longest_times_are_no_overflow() {
    let texts = texts(16);
    let found = candidates(&texts, &falling(16));
    for limit in [Duration::ZERO, Duration::MAX] {
        for (pair, kib) in [
            (Duration::MAX, Duration::ZERO),
            (Duration::MAX, Duration::MAX),
        ] {
            let budget = Budget::planned(limit, PairCost { pair, kib });
            for budget in [budget, budget.enforced()] {
                let options = CascadeOptions {
                    floor: 16,
                    batch: 2,
                    budget: Some(budget),
                    ..CascadeOptions::default()
                };
                let table = Arc::new(Table::new((0_u8..16).map(f32::from)));
                let cascade = ElbowCascade::new(table.scorer(Scale::Logit), options).unwrap();
                let clock: Arc<ManualClock> = Arc::default();
                let reranked = cascade.with_clock(clock).rerank("?", &found).unwrap();
                let expected = if limit.is_zero() { 0 } else { 16 };
                assert_eq!(reranked.report().scored, expected, "{budget:?}");
            }
        }
    }
}
