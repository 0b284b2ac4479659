//! When two names are one.

use unicode_normalization::UnicodeNormalization;

use cornu_text::{is_cjk, search_fold};

/// The form under which names are joined: case, width, white space, accents on Latin letters and
/// punctuation make no difference, and a leading "the" is left out. Letters and digits of every
/// script are kept. Empty when the name has none of them. Idempotent; O(bytes).
///
/// White space vanishes, so that `System Admin`, `system  admin`, `ＳｙｓｔｅｍＡｄｍｉｎ` and
/// `SystemAdmin` are one name. Two digits that a space or a mark parts stay apart (`1 2`, `3.5`).
/// The key is for comparing; keep the name itself for display.
///
/// ```
/// use cornu_extract::entity_key;
/// assert_eq!(entity_key("ＳｙｓｔｅｍＡｄｍｉｎ"), entity_key("system  admin"));
/// assert_eq!(entity_key("The Société Générale"), entity_key("Societe Generale"));
/// assert_eq!(entity_key("甲公司"), "甲公司");
/// assert_ne!(entity_key("1 2"), entity_key("12"));
/// ```
#[must_use]
pub fn entity_key(name: &str) -> String {
    let folded = search_fold(name);
    let mut words = folded
        .split(|c: char| !is_kept(c))
        .filter(|word| !word.is_empty())
        .peekable();
    // "The" alone is a name (a band's), before other words it is none.
    if words.peek() == Some(&"the") {
        let mut rest = words.clone();
        rest.next();
        if rest.peek().is_some() {
            words = rest;
        }
    }
    let mut key = String::with_capacity(folded.len());
    for word in words {
        let digits_meet = key.chars().next_back().is_some_and(char::is_numeric)
            && word.chars().next().is_some_and(char::is_numeric);
        if digits_meet {
            key.push(' ');
        }
        push_plain(&mut key, word);
    }
    key
}

/// Letters and digits, and the marks that stand on them.
fn is_kept(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c)
}

fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Appends the word, with Latin letters bare of accents; other scripts keep their marks, which
/// there make another letter.
fn push_plain(key: &mut String, word: &str) {
    if word.is_ascii() || word.chars().all(is_cjk) {
        key.push_str(word);
        return;
    }
    let mut on_latin = false;
    let bare: String = word
        .nfd()
        .filter(|&c| {
            if is_mark(c) {
                !on_latin
            } else {
                on_latin = c.is_ascii_alphabetic();
                true
            }
        })
        .nfc()
        .collect();
    key.push_str(&bare);
}

/// The normal form that HippoRAG uses: lower case, every character outside `[A-Za-z0-9 ]` becomes
/// a space, trimmed. Runs of spaces stay, and a name in any other script becomes the empty string:
/// that is the published behaviour, kept for comparison. O(bytes).
///
/// ```
/// use cornu_extract::paper_key;
/// assert_eq!(paper_key(" Men's  Press"), "men s  press");
/// assert_eq!(paper_key("甲公司"), "");
/// ```
#[must_use]
pub fn paper_key(name: &str) -> String {
    let spaced: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' })
        .collect();
    spaced.trim().to_owned()
}
