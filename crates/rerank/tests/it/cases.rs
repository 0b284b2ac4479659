//! The collected faults of other systems.

use std::sync::Arc;

use cornu_core::{Fingerprint, PairScorer, ProviderError};
use cornu_rerank::{
    Candidate, Candidates, CascadeOptions, CrossEncoder, Cutoff, ElbowCascade, MaxSim, NoRerank,
    Precision, QueryTokens, RerankError, Reranked, Reranker, Scale, Score, Scorer, TokenMatrix,
    TokenSpace, Unscored, max_sims,
};
use ndarray::{Array2, arr2};

use crate::maxsim::Letters;
use crate::{Table, candidates, falling, id, order, texts};

#[test]
fn rr_01_no_candidates_give_an_empty_result_and_no_model_is_called() {
    let table = Arc::new(Table::new([]));
    let letters = Arc::new(Letters::default());
    let none = Candidates::new([]).unwrap();
    let rerankers: [Box<dyn Reranker>; 4] = [
        Box::new(CrossEncoder::new(table.scorer(Scale::Logit))),
        Box::new(ElbowCascade::new(table.scorer(Scale::Logit), CascadeOptions::default()).unwrap()),
        Box::new(MaxSim::new(TokenSpace::new(letters.clone()))),
        Box::new(NoRerank::new()),
    ];
    for reranker in rerankers {
        let reranked = reranker.rerank("x", &none).unwrap();
        assert!(reranked.entries().is_empty(), "{}", reranker.fingerprint());
    }
    assert_eq!(table.calls() + letters.calls(), 0);
}

#[test]
fn rr_03_positions_are_those_of_the_list_without_duplicates() {
    let found = [("d1", 1, 0.9), ("d1", 1, 0.9), ("d2", 2, 0.5)];
    let found = Candidates::new(found.map(|(text, at, score)| Candidate::new(id(at), text, score)));
    let found = found.unwrap();
    let reranked = Reranked::from_rows(&found, [(1, 0.9), (0, 0.2)], Scale::Probability).unwrap();
    assert_eq!(order(&reranked), [2, 1]);
    assert_eq!(reranked.report().duplicates, 1);
    assert!(reranked.report().is_clean());
}

#[test]
fn rr_04_missing_repeated_and_foreign_rows_lose_no_candidate() {
    let texts = texts(5);
    let found = candidates(&texts, &falling(5));
    let rows = [(3, 0.9), (3, 0.95), (9, 0.8), (0, 0.7)];
    let reranked = Reranked::from_rows(&found, rows, Scale::Probability).unwrap();
    assert_eq!(order(&reranked), [3, 0, 1, 2, 4]);
    let report = reranked.report();
    assert_eq!((report.sent, report.scored, report.ignored_rows), (5, 2, 2));
    assert!(!report.is_clean());
    // The first row of a position counts, not the last or the best.
    assert_eq!(reranked.entries()[0].outcome.score().unwrap().value(), 0.9);
}

#[test]
fn rr_04_a_scorer_with_another_number_of_scores_is_an_error() {
    struct Short(Fingerprint, isize);
    impl PairScorer for Short {
        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }
        fn score(&self, _: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
            Ok(vec![0.5; documents.len().saturating_add_signed(self.1)])
        }
    }
    let texts = texts(5);
    let found = candidates(&texts, &falling(5));
    for off in [-5, -1, 1] {
        let model = Arc::new(Short(Fingerprint::new("short"), off));
        let reranker = CrossEncoder::new(Scorer::new(model, Scale::Logit));
        let error = reranker.rerank("x", &found).unwrap_err();
        assert!(
            matches!(error, RerankError::Rows { sent: 5, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_score_that_is_not_finite_leaves_its_candidate_in_its_old_place() {
    let table = Arc::new(Table::new([f32::NAN, 1.0, f32::INFINITY, 2.0]));
    let texts = texts(4);
    let found = candidates(&texts, &falling(4));
    let reranked = CrossEncoder::new(table.scorer(Scale::Logit))
        .rerank("x", &found)
        .unwrap();
    assert_eq!(order(&reranked), [3, 1, 0, 2]);
    assert_eq!(reranked.report().not_finite, 2);
    assert_eq!(
        reranked.entries()[2].outcome.unscored(),
        Some(Unscored::NotFinite)
    );
    assert!(!reranked.report().is_clean());
}

#[test]
fn rr_05_scores_of_two_stages_are_not_sorted_together() {
    let table = Arc::new(Table::new([-4.2, -0.3]));
    let texts = texts(4);
    let found = candidates(&texts, &[0.9, 0.8, 0.61, 0.60]);
    let reranker = CrossEncoder::new(table.scorer(Scale::Logit)).with_depth(2);
    let reranked = reranker.rerank("x", &found).unwrap();
    assert_eq!(order(&reranked), [1, 0, 2, 3]);
    // Each score is told with its stage.
    let (first, last) = (reranked.entries()[0], reranked.entries()[3]);
    assert_eq!(
        first.outcome.score(),
        Some(Score::new(f64::from(-0.3_f32), Scale::Logit).unwrap())
    );
    assert_eq!(last.outcome.unscored(), Some(Unscored::BeyondDepth));
    assert_eq!((last.first_score, last.first_rank), (0.60, 4));
    assert_eq!((reranked.scored().len(), reranked.unscored().len()), (2, 2));
}

#[test]
fn rr_06_a_pool_larger_than_the_cut_lets_the_last_reach_the_top() {
    let table = Arc::new(Table::new([0.1, 0.2, 0.3, 4.0]));
    let texts = texts(4);
    let found = candidates(&texts, &falling(4));
    let reranked = CrossEncoder::new(table.scorer(Scale::Logit))
        .rerank("x", &found)
        .unwrap();
    let k = 2;
    assert_eq!(order(&reranked)[..k], [3, 2]);
}

#[test]
fn rr_07_padding_has_no_part_in_a_maximum() {
    let query = QueryTokens::new(arr2(&[[1.0, 0.0]]).view()).unwrap();
    // a is padded to 3 with zeros, which would win with 0.
    let a = arr2(&[[-0.2, 0.98], [0.0, 0.0], [0.0, 0.0]]);
    let b = arr2(&[[-0.1, 0.995]]);
    for precision in [Precision::F32, Precision::F16, Precision::Int8] {
        let a = TokenMatrix::masked(a.view(), &[true, false, false], precision).unwrap();
        let b = TokenMatrix::new(b.view(), precision).unwrap();
        let scores = max_sims(&query, &[&a, &b]).unwrap();
        let [a, b] = [0, 1].map(|at: usize| scores[at].unwrap().sum);
        assert!(
            (a + 0.2).abs() < 0.005 && (b + 0.1).abs() < 0.005,
            "{precision:?}: {a} {b}"
        );
        assert!(b > a);
    }
}

#[test]
fn rr_08_masked_query_tokens_are_in_neither_the_sum_nor_the_count() {
    // The largest similarities are 0.9, 0.8, and for the two of padding 0.7 each.
    let rows = arr2(&[[0.9], [0.8], [0.7], [0.7]]);
    let query = QueryTokens::masked(rows.view(), &[true, true, false, false]).unwrap();
    let document = TokenMatrix::new(arr2(&[[1.0]]).view(), Precision::F32).unwrap();
    let score = max_sims(&query, &[&document]).unwrap()[0].unwrap();
    assert!(
        (score.sum - 1.7).abs() < 1e-6 && (score.mean() - 0.85).abs() < 1e-6,
        "{score:?}"
    );
    assert_eq!(score.tokens, 2);
}

#[test]
fn rr_10_a_score_does_not_depend_on_the_rest_of_the_batch() {
    let rows = |count: usize, seed: usize| {
        Array2::from_shape_fn((count, 24), |(i, j)| {
            ((i * 31 + j * 17 + seed) % 23) as f32 / 23.0 - 0.4
        })
    };
    let query = QueryTokens::new(rows(5, 3).view()).unwrap();
    for precision in [Precision::F32, Precision::F16, Precision::Int8] {
        let a = TokenMatrix::new(rows(7, 1).view(), precision).unwrap();
        let long = TokenMatrix::new(rows(70, 2).view(), precision).unwrap();
        let alone = max_sims(&query, &[&a]).unwrap()[0];
        let among = max_sims(&query, &[&long, &a, &long]).unwrap()[1];
        assert_eq!(alone, among, "bit for bit");
    }
}

#[test]
fn rr_12_a_threshold_is_told_with_its_scale() {
    let logits = [2.2_f64, 0.4, -1.5, -6.0];
    let half = Cutoff::new(0.5, Scale::Probability).unwrap();
    let scores = logits.map(|logit| Score::new(logit, Scale::Logit).unwrap());
    let shown = scores.map(|score| score.probability().unwrap());
    for (shown, expected) in shown.iter().zip([0.900, 0.599, 0.182, 0.0025]) {
        assert!((shown - expected).abs() < 5e-4, "{shown} {expected}");
    }
    assert_eq!(
        scores.map(|score| half.passes(score).unwrap()),
        [true, true, false, false]
    );

    let table = Arc::new(Table::new(logits.map(|logit| logit as f32)));
    let texts = texts(4);
    let found = candidates(&texts, &falling(4));
    let reranked = CrossEncoder::new(table.scorer(Scale::Logit))
        .rerank("x", &found)
        .unwrap();
    assert_eq!(reranked.passing(half).unwrap().len(), 2);
    // A sum of similarities is no probability, and a logit is not one of them.
    assert!(matches!(
        half.passes(Score::new(0.9, Scale::MaxSim).unwrap()),
        Err(RerankError::Scales { .. })
    ));
    let raw = Cutoff::new(0.5, Scale::MaxSim).unwrap();
    assert!(reranked.passing(raw).is_err());
}

#[test]
fn rr_13_large_logits_keep_their_order() {
    let table = Arc::new(Table::new([17.5, 20.0, 18.0, 60.0, 61.0]));
    let texts = texts(5);
    let found = candidates(&texts, &falling(5));
    let reranked = CrossEncoder::new(table.scorer(Scale::Logit))
        .rerank("x", &found)
        .unwrap();
    assert_eq!(order(&reranked), [4, 3, 1, 2, 0]);
    // Their probabilities would not: in f64 those of 60 and 61 are both 1.
    let shown: Vec<f64> = reranked
        .entries()
        .iter()
        .map(|entry| entry.outcome.score().unwrap().probability().unwrap())
        .collect();
    assert_eq!(shown[0], shown[1]);
    assert!(shown[2] > shown[3] && shown[3] > shown[4], "{shown:?}");
}

#[test]
fn rr_14_a_scale_is_told_and_not_guessed() {
    let shown = |batch: [f32; 3]| {
        let table = Arc::new(Table::new(batch));
        let texts = texts(3);
        let found = candidates(&texts, &falling(3));
        let reranked = CrossEncoder::new(table.scorer(Scale::Logit))
            .rerank("x", &found)
            .unwrap();
        reranked.entries()[0]
            .outcome
            .score()
            .unwrap()
            .probability()
            .unwrap()
    };
    let (all_in_range, one_outside) = (shown([0.9, 0.2, 0.1]), shown([0.9, 0.2, -3.0]));
    assert_eq!(all_in_range, one_outside);
    assert!((all_in_range - 0.711).abs() < 5e-4);
}

#[test]
fn a_model_declared_with_the_wrong_scale_is_an_error() {
    let table = Arc::new(Table::new([0.5, 2.2]));
    let texts = texts(2);
    let found = candidates(&texts, &falling(2));
    let error = CrossEncoder::new(table.scorer(Scale::Probability)).rerank("x", &found);
    assert!(matches!(error, Err(RerankError::OffScale { .. })));
}
