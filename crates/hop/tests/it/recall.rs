//! Seeds, and what is refused.

use cornu_core::Ranking;
use cornu_hop::{HopError, HopGraph, HopMemory, RecallOptions, SeedReason};

use crate::world::passage;

/// A film with a director and an actor, who have passages of their own.
fn film() -> HopGraph<u32> {
    let passages = [
        passage(
            1,
            "Dying God\nDying God is a 2008 film directed by Fabrice Lambot and starring James Horan.",
        ),
        passage(2, "Fabrice Lambot\nFabrice Lambot was born in Metz."),
        passage(3, "James Horan\nJames Horan was born in Louisville."),
    ];
    HopGraph::build(&passages).unwrap()
}

#[test]
fn the_fact_that_is_asked_for_leads_the_walk() {
    let graph = film();
    let order = |question: &str| -> Vec<u32> {
        let found = graph
            .recall(question, None, &RecallOptions::default())
            .unwrap();
        found.ranking.ids().copied().collect()
    };
    assert_eq!(
        order("Where was the director of Dying God born?"),
        [1, 2, 3]
    );
    assert_eq!(order("Where was the star of Dying God born?"), [1, 3, 2]);
}

#[test]
fn seeds_say_why() {
    let graph = film();
    let question = "Where was the director of dying god, DYING GOD, born?";
    let found = graph
        .recall(question, None, &RecallOptions::default())
        .unwrap();
    assert_eq!(found.names, ["Dying God"]); // written as in the passages, once
    let fact = found.seeds.iter().find_map(|seed| match &seed.reason {
        SeedReason::Fact { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert!(fact.unwrap().contains("directed by"), "{fact:?}");
}

#[test]
fn dense_scores_are_scaled_over_what_the_graph_holds() {
    let graph = film();
    let ask = |dense: &Ranking<u32>| {
        let options = RecallOptions::default();
        graph.recall("why?", Some(dense), &options).unwrap()
    };
    // 9 is not in the graph: neither a seed nor a part of the scale.
    let with = Ranking::new([(9, 100.0), (1, 0.9), (2, 0.8), (3, 0.7)]).unwrap();
    let without = Ranking::new([(1, 0.9), (2, 0.8), (3, 0.7)]).unwrap();
    assert_eq!(ask(&with), ask(&without));
    assert_eq!(ask(&without).seeds.len(), 2); // the least near weighs nothing
    let tied = Ranking::new([(1, 0.5), (2, 0.5)]).unwrap();
    assert_eq!(ask(&tied).seeds.len(), 2); // no range: each counts whole
}

#[test]
fn options_out_of_range_are_refused() {
    let graph = film();
    let ask = |options: RecallOptions| graph.recall("Dying God", None, &options).unwrap_err();
    let wrong = RecallOptions {
        fact_weight: -1.0,
        ..RecallOptions::default()
    };
    assert!(matches!(
        ask(wrong),
        HopError::Option {
            name: "fact_weight",
            ..
        }
    ));
    let wrong = RecallOptions {
        dense_weight: f64::NAN,
        ..RecallOptions::default()
    };
    assert!(matches!(
        ask(wrong),
        HopError::Option {
            name: "dense_weight",
            ..
        }
    ));
    let wrong = RecallOptions {
        alpha: 1.0,
        ..RecallOptions::default()
    };
    assert!(matches!(ask(wrong), HopError::Walk(_)));
}

#[test]
fn an_id_belongs_to_one_document() {
    let mut memory = HopMemory::new(1);
    memory.insert(0, vec![passage(1, "Rome is old.")]).unwrap();
    let before = memory.len();
    let twice = vec![passage(2, "a"), passage(2, "b")];
    for wrong in [vec![passage(1, "Rome is new.")], twice] {
        let refused = memory.insert(1, wrong).unwrap_err();
        assert!(matches!(refused, HopError::DuplicatePassage { .. }));
        assert_eq!(memory.len(), before);
    }
    memory.insert(0, vec![passage(1, "Rome is new.")]).unwrap(); // its own successor may have it
}

#[test]
fn nothing_in_a_text_makes_it_fail() {
    let awkward = [
        "",
        "\n",
        "《",
        "“”",
        "((((",
        "某",
        "1",
        "The",
        "'s",
        "A\u{301}\u{301}",
        "\u{0}\n\u{0}",
    ];
    let passages: Vec<_> = (0..)
        .zip(awkward)
        .map(|(id, text)| passage(id, text))
        .collect();
    let graph = HopGraph::build(&passages).unwrap();
    for question in awkward {
        graph
            .recall(question, None, &RecallOptions::default())
            .unwrap();
    }
}

/// Two ends that the question names, a bridge that shares no word with it, and others of the kind.
fn trade() -> Vec<cornu_hop::Passage<u32>> {
    let chain = [
        "Alpha Capital is owned by the Star Fund.",
        "The Star Fund is held by the Horizon Trust.",
        "The Horizon Trust owns Gamma Robotics.",
    ];
    let others = (0..30).map(|at| format!("Orion{at} Capital is owned by the Vega{at} Fund."));
    let texts = chain.iter().map(|text| (*text).to_owned()).chain(others);
    (1..)
        .zip(texts)
        .map(|(id, text)| passage(id, &text))
        .collect()
}

#[test]
fn what_stands_between_two_names_is_among_the_first_two() {
    let passages = trade();
    let graph = HopGraph::build(&passages).unwrap();
    let ask = |question: &str, between_weight: f64| {
        let options = RecallOptions {
            between_weight,
            ..RecallOptions::default()
        };
        graph.recall(question, None, &options).unwrap()
    };
    let question = "How are Alpha Capital and Gamma Robotics related?";
    let found = ask(question, 1.0);
    let between = |seed: &&cornu_hop::Seed| matches!(&seed.reason, SeedReason::Between { names } if names == &["Alpha Capital", "Gamma Robotics"]);
    assert_eq!(
        found.seeds.iter().filter(between).count(),
        1,
        "{:?}",
        found.seeds
    );
    assert!(
        found.ranking.rank_of(&2).unwrap() <= 2,
        "{:?}",
        found.ranking
    );
    assert_eq!(ask(question, 0.0).ranking.rank_of(&2), Some(3));
    // One name, or two that a passage holds together, have nothing between them.
    for question in [
        "Who owns Alpha Capital?",
        "What have Alpha Capital and the Star Fund to do?",
    ] {
        assert!(!ask(question, 1.0).seeds.iter().any(|seed| between(&seed)));
    }
    let explained = graph.explain(&found, &2).unwrap().unwrap();
    assert!(matches!(
        explained.parts[0].reason,
        SeedReason::Between { .. }
    ));
}

#[test]
fn a_name_with_a_passage_of_its_own_is_asked_for_what_that_says() {
    let mut passages = trade();
    passages.push(passage(
        90,
        "Alpha Capital\nAlpha Capital is a company of the south.",
    ));
    let graph = HopGraph::build(&passages).unwrap();
    let question = "How are Alpha Capital and Gamma Robotics related?";
    let found = graph
        .recall(question, None, &RecallOptions::default())
        .unwrap();
    let mut reasons = found.seeds.iter().map(|seed| &seed.reason);
    assert!(!reasons.any(|reason| matches!(reason, SeedReason::Between { .. })));
}

#[test]
fn a_walk_goes_over_spellings() {
    let passages = [
        passage(1, "Billy Elliot is a film scored by Stephen Warbeck."),
        passage(2, "Steven Warbeck was born in Southampton."),
        passage(3, "Delta Freight was founded in Oslo."),
    ];
    let question = "Where was the composer of Billy Elliot born?";
    let ask = |synonyms| {
        let options = cornu_hop::GraphOptions {
            synonyms,
            ..Default::default()
        };
        let graph = HopGraph::build_with(&passages, &options).unwrap();
        let found = graph.recall(question, None, &RecallOptions::default());
        found.unwrap().ranking.ids().copied().collect::<Vec<u32>>()
    };
    assert_eq!(ask(Some(0.5)), [1, 2]);
    assert_eq!(ask(None), [1]);
    for threshold in [0.0, 1.5, f64::NAN] {
        let options = cornu_hop::GraphOptions {
            synonyms: Some(threshold),
            ..Default::default()
        };
        let refused = HopGraph::<u32>::build_with(&passages, &options).unwrap_err();
        assert!(matches!(
            refused,
            HopError::Option {
                name: "synonyms",
                ..
            }
        ));
    }
}
