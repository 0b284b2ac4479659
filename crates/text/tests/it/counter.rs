use cornu_core::TokenCounter;
use cornu_text::{CharCounter, WordCounter};
use proptest::prelude::*;

use crate::texts::any_text;

#[test]
fn words_count_cjk_singly_and_runs_once() {
    let counter = WordCounter::new();
    for (text, expected) in [
        ("", 0),
        (" \n\u{3000}", 0),
        ("梯度", 2),
        ("カナと한국", 5),
        ("one two", 2),
        ("don't stop.", 2),
        ("node.js v1.5 3.14 1,234 zero_grad", 5),
        ("zero-shot", 3),
        ("a,b", 2),
        ("v1.x", 2),
        ("好。", 2),
        ("“好”，", 4),
        ("end...", 2),
        ("-----", 1),
        ("| a | b |", 5),
        ("👩\u{200D}🔬", 2),
        ("e\u{301}té", 1),
        ("$5", 2),
    ] {
        assert_eq!(counter.count(text), expected, "{text}");
    }
}

#[test]
fn a_limit_in_words_bounds_any_data() {
    let counter = WordCounter::new();
    for unit in [
        "a", "=", "\u{301}", "a\u{301}", ".", "a.", "\u{200B}", "😀", "1,",
    ] {
        let text = unit.repeat(10_000);
        let characters = text.chars().count();
        assert!(
            counter.count(&text) >= characters / 32,
            "{unit:?}: {}",
            counter.count(&text)
        );
    }
}

#[test]
fn ss_09_a_fitting_prefix_ends_between_characters() {
    let text = format!("{}完", "—".repeat(1500));
    for counter in [
        &CharCounter::new() as &dyn TokenCounter,
        &WordCounter::new(),
    ] {
        let mut rest = text.as_str();
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let at = counter.fit(rest, 100);
            assert!(at > 0 && rest.is_char_boundary(at));
            pieces.push(&rest[..at]);
            rest = &rest[at..];
        }
        assert_eq!(pieces.concat(), text);
    }
}

#[test]
fn counters_name_themselves() {
    assert_ne!(
        CharCounter::new().fingerprint(),
        WordCounter::new().fingerprint()
    );
    assert_eq!(CharCounter::new().count("一二a"), 3);
    assert_eq!(CharCounter::new().fit("一二a", 0), 0);
    assert_eq!(CharCounter::new().fit("一二a", 9), 7);
    assert_eq!(
        (CharCounter::new().slack(), WordCounter::new().slack()),
        (0, 0)
    );
}

proptest! {
    #[test]
    fn a_prefix_never_counts_more_and_fit_is_the_longest(text in any_text(), limit in 0_usize..40) {
        for counter in [&CharCounter::new() as &dyn TokenCounter, &WordCounter::new()] {
            let mut before = 0;
            for (at, c) in text.char_indices() {
                let count = counter.count(&text[..at + c.len_utf8()]);
                prop_assert!(count >= before);
                before = count;
            }
            let end = counter.fit(&text, limit);
            prop_assert!(counter.count(&text[..end]) <= limit);
            if let Some(c) = text[end..].chars().next() {
                prop_assert!(counter.count(&text[..end + c.len_utf8()]) > limit);
            }
        }
    }
}
