//! When two names are one.

use cornu_extract::{entity_key, key_words, paper_key, push_key_word};
use proptest::prelude::*;

/// PR-13.
#[test]
fn pr_13_case_width_and_white_space_make_no_difference() {
    let variants = [
        "System Admin",
        "system  admin",
        "ＳｙｓｔｅｍＡｄｍｉｎ",
        "SystemAdmin",
    ];
    for variant in variants {
        assert_eq!(entity_key(variant), "systemadmin", "{variant}");
    }
}

#[test]
fn other_scripts_keep_their_letters() {
    assert_eq!(entity_key("甲公司（集团）"), "甲公司集团");
    assert_eq!(entity_key("Éric Rohmer"), entity_key("ERIC  ROHMER"));
    assert_ne!(entity_key("Йод"), entity_key("Иод")); // another letter, not an accent
    assert_eq!(entity_key("…"), "");
    assert_eq!(entity_key("The"), "the");
    assert_eq!(entity_key("The Police"), "police");
}

/// The published normal form, quirks included: runs of spaces stay, other scripts vanish.
#[test]
fn the_paper_key_is_the_papers() {
    assert_eq!(paper_key("U.S. (1963)"), "u s   1963");
    assert_eq!(paper_key("Éric"), "ric");
    assert_eq!(paper_key("公司"), "");
}

proptest! {
    #[test]
    fn keys_are_idempotent_and_made_of_words(name in ".{0,24}") {
        let key = entity_key(&name);
        let mut joined = String::new();
        for word in key_words(&name) {
            prop_assert!(name.get(word.span.clone()).is_some());
            prop_assert!(!word.key.is_empty());
            push_key_word(&mut joined, &word.key);
        }
        prop_assert_eq!(&joined, &key);
        prop_assert!(key.chars().all(|c| c.is_alphanumeric() || c == ' ' || !c.is_ascii()), "{}", key);
        prop_assert_eq!(paper_key(&paper_key(&name)), paper_key(&name));
    }
}
