//! Whether to walk: what names lead somewhere.

use cornu_core::testing::proptest::prelude::*;
use cornu_hop::{FirstStage, HopDecision, HopGate, HopGraph, HopMemory};

use crate::world::{Id, finally, passage, put, question, view, writes};

/// What the gate makes of a question over passages of which the search found some, in their order.
fn decided(question: &str, texts: &[&str], found: &[&str], few: usize) -> HopDecision {
    let passages = (0..).zip(texts).map(|(id, text)| passage(id, text));
    let passages: Vec<_> = passages.collect();
    let graph: HopGraph<i32> = HopGraph::build(&passages).unwrap();
    let first = FirstStage {
        question,
        passages: found,
    };
    HopGate { few }.decide(&graph, &first)
}

/// Of each name the passages that have it, are about it, and mention it among the first.
fn counts(decision: &HopDecision) -> Vec<(&str, usize, usize, usize)> {
    let mut out = Vec::new();
    for sign in &decision.names {
        out.push((sign.name.as_str(), sign.having, sign.about, sign.mentioning));
    }
    out
}

/// Two names of one passage each, which nothing is about and no passage states together: what is
/// asked lies between them. How the scores of the first stage are spread is of no account; a rule
/// that went by that walked for one such question and not for the next of the same pattern.
#[test]
fn two_rare_names_that_no_passage_joins_lead_on() {
    let texts = [
        "Alpha Capital is owned by Star Holdings.",
        "Star Holdings is held by Ada Stone.",
        "Ada Stone bought shares of Gamma Systems.",
        "Vega Capital met Lyra Systems.",
    ];
    let question = "Does whoever stands behind Alpha Capital have money in Gamma Systems?";
    let decision = decided(question, &texts, &[texts[3], texts[0], texts[2]], 2);
    assert!(decision.hops);
    let expected = [("Alpha Capital", 1, 0, 1), ("Gamma Systems", 1, 0, 1)];
    assert_eq!(counts(&decision), expected);
    let said = "Alpha Capital leads on: 1 passage has it, 1 of the first 3 mentions it";
    assert_eq!(decision.reasons()[0], said);
    // Nor does it matter whether the search found them.
    assert!(decided(question, &texts, &[texts[3]], 2).hops);
}

/// An extractor took it for a name in one passage alone, and yet all that was found speaks of it.
#[test]
fn the_subject_of_the_first_passages_leads_nowhere() {
    let texts = [
        "Vennor Dam was built by Ada Stone.",
        "The gates of the Vennor Dam are opened in spring.",
        "Anglers at VENNOR DAM need a permit.",
    ];
    let passages = [
        passage(1, texts[0]),
        cornu_hop::Passage::new(2, texts[1], cornu_core::Extraction::default()),
        cornu_hop::Passage::new(3, texts[2], cornu_core::Extraction::default()),
    ];
    let graph = HopGraph::build(&passages).unwrap();
    let decide = |passages: &[&str]| {
        let question = "When are the gates of the Vennor Dam opened?";
        HopGate::default().decide(&graph, &FirstStage { question, passages })
    };
    let all = decide(&texts);
    assert_eq!(counts(&all), [("Vennor Dam", 1, 0, 3)]);
    assert!(!all.hops);
    let said = "Vennor Dam does not lead on: 1 passage has it, 3 of the first 3 mention it";
    assert_eq!(all.reasons(), [said]);
    assert!(decide(&texts[..2]).hops);
}

#[test]
fn a_title_leads_to_its_passage_however_often_it_is_mentioned() {
    let title = "Dying God\nDying God was directed by Fabrice Lambot.";
    let others: Vec<String> = (0..6)
        .map(|at| format!("Film {at}\nFilm {at} is by the makers of Dying God."))
        .collect();
    let mut texts: Vec<&str> = others.iter().map(String::as_str).collect();
    texts.push(title);
    let question = "Where was the director of Dying God born?";
    let decision = decided(question, &texts, &texts[2..], 2);
    assert_eq!(counts(&decision), [("Dying God", 7, 1, 5)]);
    assert!(decision.hops);
    assert_eq!(
        decision.reasons(),
        ["Dying God leads on: 1 passage is about it"]
    );
    // What many passages are about is a subject like any other.
    let parts: Vec<String> = (0..3)
        .map(|at| format!("Dying God\nPart {at} of Dying God."))
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let decision = decided(question, &parts, &parts, 2);
    assert_eq!(counts(&decision), [("Dying God", 3, 3, 3)]);
    assert!(!decision.hops);
    assert!(decided(question, &parts, &parts, 3).hops);
}

#[test]
fn names_that_the_graph_does_not_know_say_nothing() {
    let texts = ["Alpha Capital grew.", "Beta Capital shrank."];
    for question in ["Who owns Delta Freight?", "what is this?", ""] {
        let decision = decided(question, &texts, &texts, usize::MAX);
        assert!(!decision.hops && decision.names.is_empty());
        let said = "nothing in the question was taken for a name of a visible passage";
        assert_eq!(decision.reasons(), [said]);
    }
}

#[test]
fn names_are_mentioned_as_whole_words_in_any_spelling_of_one_key() {
    let texts = ["Christ Church has a cathedral.", "Ina Lund moved away."];
    let found = [
        "ＣＨＲＩＳＴ ＣＨＵＲＣＨ",
        "In Christchurch, they say",
        "Christ Churchill",
        "the Antichrist Church",
        "Christ's Church",
        "Christ Church", // the sixth
    ];
    let decision = decided("Who built Christ Church?", &texts, &found, 2);
    assert_eq!(counts(&decision), [("Christ Church", 1, 0, 2)]);
    assert_eq!(decision.names[0].looked_at, 5);
}

#[test]
fn a_question_in_chinese_is_read_as_well() {
    let texts = [
        "Alpha 资本由星河控股全资持有。",
        "Gamma 科技被列入制裁名单。",
        "海风银行发布年报。",
    ];
    let question = "Alpha 资本的最终实控人是否涉足对 Gamma 科技的投资？";
    let decision = decided(question, &texts, &texts, 2);
    assert!(decision.hops, "{decision:?}");
    let expected = [("Alpha 资本", 1, 0, 1), ("Gamma 科技", 1, 0, 1)];
    assert_eq!(counts(&decision), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Documents that the asker does not see, whatever they name and however often, decide nothing,
    /// nor does the history of those that are seen; and where few passages are few, so are fewer.
    #[test]
    fn a_decision_is_a_function_of_the_view(
        writes in writes(),
        question in question(),
        few in 0..4_usize,
    ) {
        let mut grown: HopMemory<Id> = HopMemory::new(2);
        for (document, source) in &writes {
            match source {
                Some(source) => put(&mut grown, u32::from(*document), *document, source),
                None => drop(grown.remove(u32::from(*document))),
            }
        }
        let left = finally(&writes);
        let numbered = left.iter().map(|(&id, source)| (id, (u32::from(id), source.clone())));
        let documents = numbered.collect();
        for grant in ["public", "hr"] {
            let mut without: HopMemory<Id> = HopMemory::new(0);
            let mut seen = std::collections::BTreeMap::new();
            for (&id, source) in left.iter().filter(|(_, source)| source.grant == grant) {
                put(&mut without, u32::from(id), id, source);
                seen.insert(id, (u32::from(id), source.clone()));
            }
            let texts = seen.values().flat_map(|(_, source)| &source.texts);
            let passages: Vec<&str> = texts.map(String::as_str).collect();
            let first = FirstStage { question: &question, passages: &passages };
            let whole = grown.graph(&view(&documents, grant)).unwrap();
            let bare = without.graph(&view(&seen, grant)).unwrap();
            let decision = HopGate { few }.decide(&whole, &first);
            let without_hidden = HopGate { few }.decide(&bare, &first);
            prop_assert_eq!(&decision, &without_hidden);
            let wider = HopGate { few: few + 1 }.decide(&whole, &first);
            prop_assert!(!decision.hops || wider.hops);
            prop_assert!(few > 0 || !decision.hops);
            let always = HopGate { few: usize::MAX }.decide(&whole, &first);
            prop_assert_eq!(always.hops, !always.names.is_empty());
        }
    }
}

/// The capital of a question's first word says nothing, so a single word that opens the question is
/// taken for a name only where a title is it or several passages have it.
#[test]
fn a_word_that_opens_the_question_is_no_name_for_one_passing_mention() {
    let texts = [
        "The mill at Vennor was built by Ada Stone.",
        "Ada Stone was born in Lund.",
    ];
    let inside = "Who built the mill at Vennor?";
    let opening = "Vennor has a mill that who built?";
    let decide = |question, texts: &[&str]| decided(question, texts, texts, usize::MAX);
    assert_eq!(counts(&decide(inside, &texts)), [("Vennor", 1, 0, 1)]);
    let passing = decide(opening, &texts);
    assert!(!passing.hops && passing.names.is_empty());
    assert_eq!(
        passing.reasons(),
        ["nothing in the question was taken for a name of a visible passage"]
    );
    let twice = [texts[0], texts[1], "Lund is far from Vennor."];
    assert_eq!(counts(&decide(opening, &twice)), [("Vennor", 2, 0, 2)]);
}
