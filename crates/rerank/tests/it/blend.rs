//! Both stages' scores in one order.

use std::sync::Arc;

use cornu_rerank::{
    Blend, CascadeOptions, CrossEncoder, ElbowCascade, RerankError, Reranker, Scale, Unscored,
};
use proptest::prelude::*;

use crate::{Table, candidates, number, order, texts};

fn blended(scores: &[f32], weight: f64) -> CrossEncoder {
    let table = Arc::new(Table::new(scores.iter().copied()));
    CrossEncoder::new(table.scorer(Scale::Logit)).with_blend(Blend::new(weight).unwrap())
}

#[test]
fn the_order_is_that_of_the_weighted_mean_and_both_scores_stay() {
    let texts = texts(4);
    // By the first stage 0, 1, 2, 3; by the scorer 2, 1, 0, 3.
    let found = candidates(&texts, &[0.9, 0.8, 0.5, 0.1]);
    let scores = [-1.0, 1.0, 2.0, -6.0];
    let reranked = blended(&scores, 0.5).rerank("?", &found).unwrap();
    // 0.5 · ((s + 6) / 8 + (f − 0.1) / 0.8): 0.8125, 0.875, 0.75, 0.
    assert_eq!(order(&reranked), [1, 0, 2, 3]);
    let values: Vec<f64> = reranked
        .entries()
        .iter()
        .map(|entry| entry.blended.unwrap())
        .collect();
    for (value, expected) in values.iter().zip([0.875, 0.8125, 0.75, 0.0]) {
        assert!((value - expected).abs() < 1e-6, "{values:?}");
    }
    let top = reranked.entries()[0];
    assert_eq!((top.first_score, top.first_rank), (0.8, 2));
    assert_eq!(top.outcome.score().unwrap().value(), 1.0);
}

#[test]
fn at_its_ends_a_blend_is_one_of_the_two_orders() {
    let texts = texts(5);
    let found = candidates(&texts, &[0.9, 0.8, 0.5, 0.3, 0.1]);
    let scores = [-2.0, 1.0, 2.0, -6.0, 0.5];
    let table = Arc::new(Table::new(scores));
    let alone = CrossEncoder::new(table.scorer(Scale::Logit));
    let alone = alone.rerank("?", &found).unwrap();
    let of = |weight| order(&blended(&scores, weight).rerank("?", &found).unwrap());
    assert_eq!(of(1.0), order(&alone));
    assert_eq!(of(0.0), [0, 1, 2, 3, 4]);
    assert!(alone.entries().iter().all(|entry| entry.blended.is_none()));
}

#[test]
fn what_a_cascade_leaves_out_is_not_blended_and_stays_behind() {
    let texts = texts(5);
    let found = candidates(&texts, &[0.9, 0.8, 0.7, 0.2, 0.1]);
    let table = Arc::new(Table::new([-9.0, 1.0, 0.0, 50.0, 60.0]));
    let options = CascadeOptions {
        floor: 1,
        ceiling: 4,
        blend: Some(Blend::new(0.75).unwrap()),
        ..CascadeOptions::default()
    };
    let cascade = ElbowCascade::new(table.scorer(Scale::Logit), options).unwrap();
    let reranked = cascade.rerank("?", &found).unwrap();
    assert_eq!(order(&reranked), [1, 2, 0, 3, 4]);
    for entry in &reranked.entries()[3..] {
        assert_eq!(entry.outcome.unscored(), Some(Unscored::BelowCut));
        assert_eq!(entry.blended, None);
    }
}

/// A walk over a large graph gives probabilities of 1e-10 and less, a scorer logits.
#[test]
fn the_scale_of_neither_stage_counts() {
    let texts = texts(4);
    let (first, scores) = ([0.9, 0.7, 0.4, 0.1], [0.1_f32, 0.7, 0.3, 0.9]);
    let of = |by: f64, scores: &[f32]| {
        let found = candidates(&texts, &first.map(|score| score * by));
        order(&blended(scores, 0.3).rerank("?", &found).unwrap())
    };
    let expected = of(1.0, &scores);
    for by in [1e-300, 1e-15, 1e-10, 1e-9, 1e-6, 1e3, 1e300] {
        assert_eq!(of(by, &scores), expected, "{by}");
    }
    for by in [1e-30, 1e-10, 1e-6, 1e6, 1e30] {
        assert_eq!(of(1.0, &scores.map(|score| score * by)), expected, "{by}");
    }
    // Scores that differ by rounding alone are no difference of 1.
    let near = [1.0, 1.0 - 1e-16, 1.0 - 2e-16, 1.0 - 3e-16];
    let found = candidates(&texts, &near);
    let reranked = blended(&scores, 0.01).rerank("?", &found).unwrap();
    assert_eq!(order(&reranked), [3, 1, 2, 0]);
}

#[test]
fn a_weight_is_from_0_to_1() {
    for weight in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = Blend::new(weight).unwrap_err();
        assert!(matches!(error, RerankError::Options { .. }), "{error}");
    }
}

proptest! {
    /// Both stages agree on a pair: so does the blend. Nothing is lost, and a NaN is not blended.
    #[test]
    fn a_blend_keeps_what_both_stages_say(
        scores in prop::collection::vec(prop_oneof![9 => -8.0_f32..8.0, 1 => Just(f32::NAN)], 1..20),
        first in prop::collection::vec(-1.0_f64..1.0, 20),
        weight in 0.0_f64..=1.0,
    ) {
        let texts = texts(scores.len());
        let found = candidates(&texts, &first[..scores.len()]);
        let reranked = blended(&scores, weight).rerank("?", &found).unwrap();
        let mut all = order(&reranked);
        for (at, above) in reranked.entries().iter().enumerate() {
            let own = scores[number(above.id)];
            prop_assert_eq!(above.blended.is_some(), own.is_finite());
            for below in &reranked.entries()[at + 1..] {
                let other = scores[number(below.id)];
                let reversed = other > own && below.first_score > above.first_score;
                prop_assert!(!(reversed && own.is_finite()), "{above:?} {below:?}");
                prop_assert!(own.is_finite() || !other.is_finite());
            }
        }
        all.sort_unstable();
        prop_assert_eq!(all, (0..scores.len()).collect::<Vec<_>>());
    }
}
