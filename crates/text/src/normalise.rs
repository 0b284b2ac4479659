//! Normal forms of text: for identity, for display, and for matching.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc, is_nfkc};

/// Unicode normal form C: the same characters, composed. For identifiers and names, where two
/// spellings of `é` must be one. O(bytes); no allocation when nothing changes.
///
/// ```
/// assert_eq!(cornu_text::nfc("e\u{301}"), "é");
/// ```
#[must_use]
pub fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

/// The form in which two texts are compared when width, ligatures and case do not matter: NFKC
/// with full case folding (`ß` to `ss`, `ς` to `σ`). Idempotent.
///
/// It loses distinctions that matter in running text (`10²` becomes `102`), so apply it to a token
/// whose borders are settled, as [`Tokenizer`](crate::Tokenizer) does, and never to stored text.
/// O(bytes); no allocation for text that is folded already and ASCII.
///
/// ```
/// use cornu_text::search_fold;
/// assert_eq!(search_fold("ＢＥＲＴ"), "bert");
/// assert_eq!(search_fold("Straße"), search_fold("STRASSE"));
/// ```
#[must_use]
pub fn search_fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    // Folding can leave characters that compose, and composing can leave characters that fold;
    // the second round settles all of Unicode (a test goes through every character).
    let mut folded = fold_once(text);
    if !folded.is_ascii() {
        folded = fold_once(&folded);
    }
    Cow::Owned(folded)
}

fn fold_once(text: &str) -> String {
    let fold = |c: char| {
        // Upper case first brings together what differs in lower case only: ß, ς, ſ.
        c.to_uppercase().flat_map(char::to_lowercase)
    };
    if is_nfkc(text) {
        text.chars().flat_map(fold).nfkc().collect()
    } else {
        text.nfkc().flat_map(fold).nfkc().collect()
    }
}

/// Makes each run of white space one space and drops it at both ends, and remembers where
/// everything came from. O(bytes) time; one pair of numbers for each run.
///
/// ```
/// let folded = cornu_text::fold_whitespace("  一\u{3000}\n b ");
/// assert_eq!(folded.text(), "一 b");
/// assert_eq!(folded.source_offset(4), 10); // the `b`
/// ```
#[must_use]
pub fn fold_whitespace(text: &str) -> FoldedText {
    let mut folded = FoldedText {
        text: String::with_capacity(text.len()),
        pieces: Vec::new(),
    };
    let mut at = 0;
    for word in text.split(char::is_whitespace) {
        if !word.is_empty() {
            if !folded.text.is_empty() {
                folded.text.push(' ');
            }
            folded.pieces.push((folded.text.len(), at));
            folded.text.push_str(word);
        }
        at += word.len();
        at += text
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
    }
    folded
}

/// A text with its white space folded, and the way back; [`fold_whitespace`] makes it.
///
/// ```
/// let folded: cornu_text::FoldedText = cornu_text::fold_whitespace("a  b");
/// assert_eq!((folded.text(), folded.source_offset(2)), ("a b", 3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedText {
    text: String,
    /// Where each word starts: in the folded text, in the source.
    pieces: Vec<(usize, usize)>,
}

impl FoldedText {
    /// The folded text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte of the source that byte `at` of the folded text came from. A space maps to the
    /// first byte of its run of white space, the end to the end of the last word. O(log words).
    #[must_use]
    pub fn source_offset(&self, at: usize) -> usize {
        let index = self.pieces.partition_point(|&(folded, _)| folded <= at);
        index
            .checked_sub(1)
            .and_then(|index| self.pieces.get(index))
            .map_or(0, |&(folded, source)| {
                source + at.min(self.text.len()) - folded
            })
    }
}
