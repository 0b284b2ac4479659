//! Published mistakes of other systems.

use cornu_core::Ranking;
use cornu_hop::{HopGraph, RecallOptions};

use crate::world::passage;

/// PR-13: variants of case, width and white space are one node, and the name is shown as it is
/// written.
#[test]
fn pr_13_variants_of_a_name_are_one_node() {
    let texts = [
        "System Admin\nThe System Admin grants access.",
        "system  admin\nThis one is about the same.",
        "ＳｙｓｔｅｍＡｄｍｉｎ\nWide letters.",
        "SystemAdmin\nOne word.",
    ];
    let passages: Vec<_> = (0..)
        .zip(texts)
        .map(|(id, text)| passage(id, text))
        .collect();
    let graph = HopGraph::build(&passages).unwrap();
    assert_eq!(
        graph
            .names()
            .filter(|name| name.len() > 8)
            .collect::<Vec<_>>(),
        ["System Admin"]
    );
    let found = graph
        .recall(
            "What does the SYSTEM ADMIN do?",
            None,
            &RecallOptions::default(),
        )
        .unwrap();
    assert_eq!(found.ranking.len(), 4);
}

/// PR-14: two people with one name stay apart by the company that the question names.
#[test]
fn pr_14_one_name_two_people() {
    let passages = [
        passage(1, "李伟任甲公司财务总监。"),
        passage(2, "李伟任乙公司门卫。"),
    ];
    let graph = HopGraph::build(&passages).unwrap();
    let found = graph
        .recall("甲公司李伟的职务", None, &RecallOptions::default())
        .unwrap();
    assert_eq!(found.ranking.ids().next(), Some(&1));
    let scores: Vec<f64> = found.ranking.iter().map(|scored| scored.score).collect();
    assert!(scores[0] > 2.0 * scores[1], "{scores:?}");
}

/// PR-16: a list of names does not win over the passage that says what they do.
#[test]
fn pr_16_a_list_of_names_is_no_explanation() {
    let passages = [
        passage(1, "目录：甲、乙、丙、丁、戊。"),
        passage(2, "甲通过加热使乙分解为丙。"),
    ];
    let graph = HopGraph::build(&passages).unwrap();
    let question = "甲如何作用于乙";
    // Both name both; the walk alone decides, and so it does beside a dense route that ties.
    let dense = Ranking::new([(1, 0.5), (2, 0.5)]).unwrap();
    for dense in [None, Some(&dense)] {
        let found = graph
            .recall(question, dense, &RecallOptions::default())
            .unwrap();
        assert_eq!(found.ranking.ids().next(), Some(&2), "{found:?}");
    }
}
