//! What holds for any text.

use cornu_extract::{RuleExtractor, split_title};
use proptest::prelude::*;

/// Texts of the marks and words that the rules look at.
fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "Rome",
        "He",
        "the",
        "of",
        "\"",
        "“",
        "《",
        "》",
        "(",
        ")",
        "（",
        ",",
        ", ",
        "1963",
        "May",
        "$3",
        "million",
        "'s",
        "'",
        "-",
        "–",
        ".",
        "。",
        "\n",
        " ",
        " ",
        "&",
        "甲",
        "公司",
        "李伟任",
        "某",
        "的",
        "于1999年",
        "Jr.",
        "é",
        "\u{301}",
        "is a",
        "who",
        "𠮷",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn names_are_from_the_text_and_statements_are_between_different_things(text in text()) {
        let found = RuleExtractor::new().read(&text);
        let bare = |text: &str| text.split_whitespace().collect::<Vec<_>>().concat();
        let all = bare(&text);
        for name in &found.entities {
            prop_assert!(all.contains(&bare(name)), "{name:?} is not in {text:?}");
        }
        for triple in &found.triples {
            prop_assert!(triple.subject != triple.object && !triple.predicate.is_empty());
        }
        for proposition in &found.propositions {
            prop_assert!(proposition.entities.len() >= 2 && !proposition.text.is_empty());
        }
        // No repeats, and the same again.
        let mut entities = found.entities.clone();
        entities.sort();
        entities.dedup();
        prop_assert_eq!(entities.len(), found.entities.len());
        prop_assert_eq!(&RuleExtractor::new().read(&text), &found);
    }

    #[test]
    fn title_and_body_are_parts_of_the_text(text in ".{0,40}\n?.{0,40}") {
        let (title, body) = split_title(&text);
        prop_assert!(text.ends_with(body));
        prop_assert!(title.is_none_or(|title| text.contains(title) && !title.trim().is_empty()));
    }
}
