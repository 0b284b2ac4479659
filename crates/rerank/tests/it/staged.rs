//! One reranker behind another.

use std::sync::Arc;

use cornu_rerank::{
    Blend, CascadeOptions, CrossEncoder, ElbowCascade, MaxSim, NoRerank, Reranker, Scale, Staged,
    TokenSpace, Unscored,
};
use proptest::prelude::*;

use crate::maxsim::Letters;
use crate::{Table, candidates, order, texts};

fn cross(scores: &[f32]) -> Arc<CrossEncoder> {
    let table = Arc::new(Table::new(scores.iter().copied()));
    Arc::new(CrossEncoder::new(table.scorer(Scale::Logit)))
}

fn cascade(scores: &[f32], floor: usize, ceiling: usize) -> Arc<ElbowCascade> {
    let table = Arc::new(Table::new(scores.iter().copied()));
    let options = CascadeOptions {
        floor,
        ceiling,
        ..CascadeOptions::default()
    };
    Arc::new(ElbowCascade::new(table.scorer(Scale::Logit), options).unwrap())
}

#[test]
fn the_second_cuts_where_the_first_breaks_off_and_the_entries_tell_both_places() {
    let texts = texts(5);
    let found = candidates(&texts, &[0.9, 0.8, 0.7, 0.6, 0.5]);
    // The first stage falls evenly; the first reranker puts 3 and 4 far above all others.
    let first = cross(&[2.0, 1.0, 1.5, 8.0, 9.0]);
    let staged = Staged::new(first, cascade(&[0.0, 0.0, 0.0, 5.0, 4.0], 1, 4));
    let reranked = staged.rerank("?", &found).unwrap();
    assert_eq!(order(&reranked), [3, 4, 0, 2, 1]);
    let report = reranked.report();
    assert_eq!((report.scored, report.cut.unwrap().at), (2, 2));
    let told: Vec<_> = reranked
        .entries()
        .iter()
        .map(|entry| {
            let earlier = entry.earlier.unwrap();
            let score = earlier.outcome.score().unwrap().value();
            (entry.first_rank, entry.first_score, earlier.rank, score)
        })
        .collect();
    let expected = [
        (4, 0.6, 2, 8.0),
        (5, 0.5, 1, 9.0),
        (1, 0.9, 3, 2.0),
        (3, 0.7, 4, 1.5),
        (2, 0.8, 5, 1.0),
    ];
    assert_eq!(told, expected);
    let last = reranked.entries()[4].outcome;
    assert_eq!(last.unscored(), Some(Unscored::BelowCut));
}

#[test]
fn what_the_first_could_not_score_stands_behind_and_is_still_looked_at() {
    let texts = texts(3);
    let found = candidates(&texts, &[0.9, 0.8, 0.7]);
    let first = cross(&[f32::NAN, 1.0, 2.0]);
    let staged = Staged::new(first, cross(&[3.0, 1.0, 2.0]));
    let reranked = staged.rerank("?", &found).unwrap();
    assert_eq!(order(&reranked), [0, 2, 1]);
    let earlier = reranked.entries()[0].earlier.unwrap();
    assert_eq!(earlier.rank, 3);
    assert_eq!(earlier.outcome.unscored(), Some(Unscored::NotFinite));
}

#[test]
fn tokens_are_those_of_the_stage_that_uses_them() {
    let space = TokenSpace::new(Arc::new(Letters::default()));
    let max_sim: Arc<dyn Reranker> = Arc::new(MaxSim::new(space.clone()));
    let pairs: Arc<dyn Reranker> = cross(&[]);
    for (first, second) in [(&max_sim, &pairs), (&pairs, &max_sim)] {
        let staged = Staged::new(Arc::clone(first), Arc::clone(second));
        assert_eq!(staged.token_space(), Some(space.fingerprint()));
        let found = ["slope".to_owned()];
        let found = candidates(&found, &[1.0]);
        assert!(
            !staged
                .explain("slope", &found.as_slice()[0])
                .unwrap()
                .is_empty()
        );
    }
}

proptest! {
    /// No candidate is lost or comes twice; behind one that reorders nothing, the second gives what
    /// it gives alone; what the second leaves out keeps the first's order.
    #[test]
    fn a_stage_before_adds_and_loses_nothing(
        first in prop::collection::vec(-3.0_f32..3.0, 12),
        second in prop::collection::vec(-3.0_f32..3.0, 12),
        scores in prop::collection::vec(0.01_f64..1.0, 0..12),
        blended: bool,
    ) {
        let texts = texts(scores.len());
        let found = candidates(&texts, &scores);
        let alone = cascade(&second, 2, 5);
        let behind_nothing = Staged::new(Arc::new(NoRerank::new()), cross(&second));
        let all = cross(&second).rerank("?", &found).unwrap();
        prop_assert_eq!(order(&behind_nothing.rerank("?", &found).unwrap()), order(&all));

        let table = Arc::new(Table::new(first.iter().copied()));
        let before = CrossEncoder::new(table.scorer(Scale::Logit));
        let before = if blended { before.with_blend(Blend::default()) } else { before };
        let before: Arc<dyn Reranker> = Arc::new(before);
        let by_first = order(&before.rerank("?", &found).unwrap());
        let staged = Staged::new(before, alone).rerank("?", &found).unwrap();
        let mut sorted = order(&staged);
        let behind = sorted.split_off(staged.report().scored);
        let left: Vec<usize> = by_first[sorted.len()..].to_vec();
        prop_assert_eq!(&behind, &left);
        sorted.sort_unstable();
        let mut head = by_first[..sorted.len()].to_vec();
        head.sort_unstable();
        prop_assert_eq!(sorted, head);
    }
}
