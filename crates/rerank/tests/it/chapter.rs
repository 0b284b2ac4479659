//! What the course's chapter says of reranking, and what it injects as a fault.

use std::sync::Arc;
use std::time::Duration;

use cornu_rerank::{
    Budget, CascadeOptions, CrossEncoder, ElbowCascade, ManualClock, PairCost, Reranker, Scale,
};

use crate::{Table, candidates, falling, id, texts};

const PAIR: Duration = Duration::from_millis(4);
const LATENCY: Duration = Duration::from_millis(100);

#[test]
fn fault_injection_50_candidates_without_a_bound_miss_the_latency_budget_and_the_cascade_keeps_it()
{
    let clock = Arc::new(ManualClock::default());
    let table = Arc::new(Table::new((0..50).map(|at| at as f32)).costing(PAIR, &clock));
    let texts = texts(50);
    let found = candidates(&texts, &falling(50));

    let full = CrossEncoder::new(table.scorer(Scale::Logit)).with_clock(clock.clone());
    let full = full.rerank("x", &found).unwrap();
    assert_eq!(full.report().scored, 50);
    assert!(full.elapsed() > LATENCY, "{:?}", full.elapsed());

    let cost = PairCost {
        pair: PAIR,
        kib: Duration::ZERO,
    };
    // Even a cut that would let all 50 through is held by the budget.
    for ceiling in [16, 50] {
        let options = CascadeOptions {
            ceiling,
            budget: Some(Budget::planned(LATENCY, cost).enforced()),
            ..CascadeOptions::default()
        };
        let cascade = ElbowCascade::new(table.scorer(Scale::Logit), options).unwrap();
        let cascade = cascade.with_clock(clock.clone());
        let bounded = cascade.rerank("x", &found).unwrap();
        assert!(bounded.elapsed() <= LATENCY, "{:?}", bounded.elapsed());
        assert!(bounded.report().scored >= 8);
    }
}

#[test]
fn absent_gold_chunk_no_reranker_brings_back_what_was_not_retrieved() {
    let gold = 7;
    let (all, scores) = (texts(10), falling(10));
    let table = Arc::new(Table::new(
        (0..10).map(|at| if at == gold { 9.0 } else { 0.0 }),
    ));
    let full = CrossEncoder::new(table.scorer(Scale::Logit));

    let retrieved = full.rerank("x", &candidates(&all, &scores)).unwrap();
    assert_eq!(retrieved.entries()[0].id, id(gold));
    // Recall at 5 of a first stage that did not find it is 0 before and after.
    let missed = candidates(&all[..gold], &scores[..gold]);
    let reranked = full.rerank("x", &missed).unwrap();
    assert!(!missed.iter().any(|candidate| candidate.id == id(gold)));
    assert!(!reranked.ids().any(|one| one == id(gold)));
    let (mut before, mut after): (Vec<_>, Vec<_>) = (
        missed.iter().map(|candidate| candidate.id).collect(),
        reranked.ids().collect(),
    );
    before.sort_unstable();
    after.sort_unstable();
    assert_eq!(before, after, "the same set in another order");
}
