//! What holds for every text.

use cornu_text::{SentenceEnds, cuts_word, ends_sentence, sentences};
use proptest::prelude::*;

use crate::texts::any_text;

/// What carries meaning, said independently of the library: letters, digits and emoji.
fn has_content(text: &str) -> bool {
    text.chars()
        .any(|c| c.is_alphanumeric() || ('\u{1F300}'..='\u{1FAFF}').contains(&c))
}

proptest! {
    #[test]
    fn sentences_partition_the_bytes(text in any_text()) {
        let mut end = 0;
        for span in sentences(&text) {
            prop_assert_eq!(span.start(), end);
            prop_assert!(!span.is_empty());
            prop_assert!(span.slice(&text).is_some(), "{} cuts a character", span);
            end = span.end();
        }
        prop_assert_eq!(end, text.len());
    }

    #[test]
    fn no_sentence_is_punctuation_only(text in any_text()) {
        prop_assume!(has_content(&text));
        for span in sentences(&text) {
            let sentence = span.slice(&text).unwrap();
            // Marks from Unicode's symbol blocks count as content as well; only letters, digits
            // and emoji are looked for here, so skip what holds another symbol.
            let symbols = sentence.chars().any(|c| c >= '\u{2100}' && !c.is_alphanumeric());
            prop_assert!(has_content(sentence) || symbols, "{:?}", sentence);
        }
    }

    #[test]
    fn no_sentence_begins_with_a_closing_mark(text in any_text()) {
        let parts: Vec<&str> = sentences(&text).map(|span| span.slice(&text).unwrap()).collect();
        for pair in parts.windows(2) {
            let tail = &pair[0][pair[0].trim_end().len()..];
            let blank_line = tail.contains(['\n', '\r', '\u{2029}']);
            prop_assert!(blank_line || !pair[1].starts_with(['”', '」', '』', '）', '】', '》', '，', '、']));
        }
    }

    #[test]
    fn splitting_is_deterministic_and_its_ends_are_ends(text in any_text()) {
        let spans: Vec<_> = sentences(&text).collect();
        prop_assert_eq!(&spans, &sentences(&text).collect::<Vec<_>>());
        let ends = SentenceEnds::new(&text);
        for span in spans {
            prop_assert!(ends.is_end(span.end()));
        }
        for at in 0..text.len() + 2 {
            let _ = (ends.is_end(at), cuts_word(&text, at));
        }
        let _ = ends_sentence(&text);
    }
}
