use cornu_text::{fold_whitespace, is_cjk, nfc, search_fold};
use proptest::prelude::*;

use crate::texts::any_text;

#[test]
fn folding_settles_after_one_application_for_every_character() {
    let settles = |text: String| {
        let once = search_fold(&text).into_owned();
        assert_eq!(
            search_fold(&once),
            once,
            "{:?}",
            text.escape_unicode().to_string()
        );
    };
    // All assigned planes; combinations where characters have case or a decomposition.
    for c in ('\0'..='\u{323AF}').chain('\u{E0000}'..='\u{E01EF}') {
        settles(c.to_string());
        if c < '\u{2200}' || ('\u{FB00}'..='\u{FFFF}').contains(&c) {
            settles(format!("a{c}\u{301}"));
            settles(format!("{c}\u{345}\u{301}"));
        }
    }
}

#[test]
fn folding_brings_variants_together() {
    for (a, b) in [
        ("ＡＢＣ１２３", "abc123"),
        ("Straße", "STRASSE"),
        ("ΟΔΟΣ", "οδος"),
        ("ﬁ", "FI"),
        ("e\u{301}", "É"),
        ("ｶﾞ", "ガ"),
        ("㎏", "KG"),
        ("ſ", "S"),
    ] {
        assert_eq!(search_fold(a), search_fold(b), "{a} {b}");
    }
    assert_ne!(search_fold("资"), search_fold("資"));
}

#[test]
fn nfc_composes_and_borrows_what_is_composed() {
    assert_eq!(nfc("e\u{301}"), "é");
    assert!(matches!(nfc("é字"), std::borrow::Cow::Borrowed(_)));
    assert_eq!(nfc("①²"), "①²"); // compatibility forms are other characters
}

#[test]
fn white_space_folds_and_maps_back() {
    let text = "\u{3000}一  二\r\n\n三 ";
    let folded = fold_whitespace(text);
    assert_eq!(folded.text(), "一 二 三");
    for (at, c) in folded
        .text()
        .char_indices()
        .filter(|(_, c)| !c.is_whitespace())
    {
        assert!(text[folded.source_offset(at)..].starts_with(c));
    }
    assert_eq!(
        folded.source_offset(folded.text().len()),
        text.trim_end().len()
    );
    assert_eq!(fold_whitespace(" \n").text(), "");
    assert_eq!(fold_whitespace("").source_offset(5), 0);
}

#[test]
fn cjk_is_characters_not_punctuation() {
    assert!("字㐀𠀀々〇あアｱー한ㄱ豈".chars().all(is_cjk));
    assert!(!"。，「」・　！１Ａａé€😀—…".chars().any(is_cjk));
}

proptest! {
    #[test]
    fn normal_forms_settle(text in any_text()) {
        let folded = search_fold(&text).into_owned();
        prop_assert_eq!(search_fold(&folded), folded.as_str());
        let composed = nfc(&text).into_owned();
        prop_assert_eq!(nfc(&composed), composed.as_str());
        let white = fold_whitespace(&text);
        let again = fold_whitespace(white.text());
        prop_assert_eq!(again.text(), white.text());
        for (at, c) in white.text().char_indices() {
            let rest = &text[white.source_offset(at)..];
            prop_assert!(rest.starts_with(c) || (c == ' ' && rest.starts_with(char::is_whitespace)));
        }
    }
}
