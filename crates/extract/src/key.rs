//! When two names are one.

use std::ops::Range;

use cornu_text::{is_cjk, search_fold};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

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
    let mut key = String::with_capacity(name.len());
    for word in key_words(name) {
        push_key_word(&mut key, &word.key);
    }
    key
}

/// A word of a text as keys are made of it; [`key_words`] gives them.
///
/// ```
/// let words = cornu_extract::key_words("O'Brien 任");
/// let keys: Vec<&str> = words.iter().map(|word| word.key.as_str()).collect();
/// assert_eq!(keys, ["o", "brien", "任"]);
/// assert!(words[0].opens_name && words[0].span == (0..1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyWord {
    /// The word, folded.
    pub key: String,
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// Whether a name can begin with it: it has a capital letter, begins with a digit, or is
    /// written in a script without capitals.
    pub opens_name: bool,
}

/// The words of a text: runs of letters and digits, and every Chinese, Japanese or Korean
/// character by itself. Pushed one after another by [`push_key_word`], the words of a name give
/// its [`entity_key`]; so a name is found in a text by looking up the keys of runs of its words.
/// O(bytes).
#[must_use]
pub fn key_words(text: &str) -> Vec<KeyWord> {
    let mut out = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        if is_cjk(c) && c.is_alphanumeric() {
            push_word(text, start.take(), at, &mut out);
            push_word(text, Some(at), at + c.len_utf8(), &mut out);
        } else if is_kept(c) {
            start = start.or(Some(at));
        } else {
            push_word(text, start.take(), at, &mut out);
        }
    }
    push_word(text, start, text.len(), &mut out);
    out
}

fn push_word(text: &str, start: Option<usize>, end: usize, out: &mut Vec<KeyWord>) {
    let Some(start) = start else {
        return;
    };
    let Some(word) = text.get(start..end) else {
        return;
    };
    let key = plain(&search_fold(word));
    if key.is_empty() {
        return;
    }
    let opens_name = word.chars().any(|c| c.is_uppercase() || is_cjk(c))
        || word
            .chars()
            .next()
            .is_some_and(|c| c.is_numeric() || !cased(c));
    out.push(KeyWord {
        key,
        span: start..end,
        opens_name,
    });
}

/// Whether the letter belongs to a script with capitals.
fn cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase()
}

/// Appends a word of [`key_words`] to a key in the making. A leading "the" gives way to the word
/// after it; a space parts two digits that would meet.
pub fn push_key_word(key: &mut String, word: &str) {
    if key == "the" {
        key.clear();
    }
    let digits_meet = key.chars().next_back().is_some_and(char::is_numeric)
        && word.chars().next().is_some_and(char::is_numeric);
    if digits_meet {
        key.push(' ');
    }
    key.push_str(word);
}

/// Letters and digits, and the marks that stand on them.
fn is_kept(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// The folded word with Latin letters bare of accents; other scripts keep their marks, which there
/// make another letter. Folding can bring marks in (`㏂` becomes `am` with dots), which are left
/// out.
fn plain(word: &str) -> String {
    if word.is_ascii() {
        return word.chars().filter(char::is_ascii_alphanumeric).collect();
    }
    let mut on_latin = true; // a mark at the start stands on nothing
    let bare = word.nfd().filter(|&c| {
        if is_combining_mark(c) {
            return !on_latin;
        }
        on_latin = c.is_ascii_alphabetic();
        c.is_alphanumeric()
    });
    bare.nfc().collect()
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
