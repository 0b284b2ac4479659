//! What speaks for hops.

use cornu_hop::{FirstStage, HopGate, HopSigns};

fn signs(question: &str, passages: &[&str]) -> HopSigns {
    HopSigns::read(&FirstStage {
        question,
        dense: &[0.9, 0.8, 0.7],
        passages,
    })
}

#[test]
fn names_are_linked_by_the_passages_that_mention_them() {
    let question = "How are Alpha Capital and Gamma Systems related?";
    let both = signs(
        question,
        &["GAMMA SYSTEMS and the Alpha Capital are related."],
    );
    assert_eq!((both.names.len(), both.unlinked.len()), (2, 0));
    let each = signs(question, &["Alpha Capital grew.", "Gamma Systems shrank."]);
    assert!(each.unlinked.is_empty());
    let one = signs(question, &["Alpha Capital grew.", "Gamma shrank."]);
    assert_eq!(one.unlinked, ["Gamma Systems"]);
    // Only the first five passages are looked at.
    let mut late = vec!["Nothing."; 5];
    late.push("Alpha Capital and Gamma Systems are related.");
    assert_eq!(signs(question, &late).unlinked.len(), 2);
}

#[test]
fn words_are_covered_by_one_passage_that_names_something() {
    let question = "Where was the director of Dying God born?";
    let alone = signs(question, &["Dying God was directed by Fabrice Lambot."]);
    let whole = signs(question, &["The director of Dying God was born here."]);
    assert!(whole.uncovered < alone.uncovered, "{whole:?} {alone:?}");
    // A passage that names nothing of the question covers nothing of it.
    let other = "A director was born.";
    let both = signs(
        question,
        &["Dying God was directed by Fabrice Lambot.", other],
    );
    assert_eq!(both.uncovered, alone.uncovered);
    assert_eq!(whole.relations, 1);
}

#[test]
fn scores_that_say_nothing_add_nothing() {
    for dense in [&[][..], &[0.5], &[0.5, 0.5, 0.5]] {
        let first = FirstStage {
            question: "Who owns Alpha Capital?",
            dense,
            passages: &[],
        };
        let read = HopSigns::read(&first);
        assert_eq!(read.spread, 0.0);
        assert!(HopGate::default().decide(&first).need.is_finite());
    }
}

#[test]
fn a_best_score_stands_out_of_few_passages_as_out_of_many() {
    let spread = |dense: &[f64]| {
        let first = FirstStage {
            question: "Who?",
            dense,
            passages: &[],
        };
        HopSigns::read(&first).spread
    };
    let mut many = vec![0.5; 100];
    many[0] = 0.9;
    // One of 100: √99 standard deviations.
    assert!((spread(&many) - 99.0_f64.sqrt()).abs() < 1e-9);
    assert_eq!(spread(&many), spread(&[0.9, 0.5]));
    // What stands behind the first 100 says nothing.
    many.extend([0.1; 50]);
    assert!((spread(&many) - 99.0_f64.sqrt()).abs() < 1e-9);
}

#[test]
fn a_question_in_chinese_is_read_as_well() {
    let question = "谁是 Alpha 资本的股东的实控人，与 Gamma 科技有什么关系？";
    let read = signs(question, &["Alpha 资本布局半导体。", "Gamma 科技被调查。"]);
    assert_eq!((read.names.len(), read.unlinked.len()), (2, 0), "{read:?}");
}

#[test]
fn the_decision_is_the_sum_against_the_threshold() {
    let first = FirstStage {
        question: "Who owns the owner of Alpha Capital?",
        dense: &[0.9, 0.8],
        passages: &["Alpha Capital grew."],
    };
    let need = HopGate::default().decide(&first).need;
    for (threshold, hops) in [(need, true), (need + 1e-9, false)] {
        let gate = HopGate {
            threshold,
            ..HopGate::default()
        };
        let decision = gate.decide(&first);
        assert_eq!(
            (decision.hops, decision.need, decision.threshold),
            (hops, need, threshold)
        );
        assert!(!decision.reasons().is_empty());
    }
}
