//! Whether a place in a text is the end of a sentence, or the middle of a word.

use cornu_core::ByteSpan;
use unicode_segmentation::UnicodeSegmentation;

use super::scan::{Cause, Scanner};
use crate::chars::{char_at, char_before, is_closing};

/// The ends of all sentences of a text, for many questions about one text.
///
/// ```
/// use cornu_text::SentenceEnds;
///
/// let text = "**好。** 行。";
/// let ends = SentenceEnds::new(text);
/// assert!(ends.is_end("**好。".len()));     // only closing marks and a blank to the end
/// assert!(ends.is_end("**好。** ".len()));
/// assert!(!ends.is_end("**好。** 行".len()));
/// ```
#[derive(Clone, Debug)]
pub struct SentenceEnds<'a> {
    text: &'a str,
    ends: Vec<usize>,
}

impl<'a> SentenceEnds<'a> {
    /// Splits the text once. O(bytes) time, one `usize` a sentence.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            ends: super::sentences(text).map(ByteSpan::end).collect(),
        }
    }

    /// Whether a cut at byte `at` falls on a sentence end: the start or the end of the text, or a
    /// place that only white space and closing marks (`)` `]` `”` `"` `*` `_` `` ` `` and the like)
    /// part from the end of a sentence, before or after it. A place outside the text or within a
    /// character is none.
    ///
    /// O(log sentences + the white space and marks around the cut).
    #[must_use]
    pub fn is_end(&self, at: usize) -> bool {
        if !self.text.is_char_boundary(at) {
            return false;
        }
        let index = self.ends.partition_point(|&end| end < at);
        let after = self.ends.get(index).copied().unwrap_or(self.text.len());
        let before = index
            .checked_sub(1)
            .and_then(|index| self.ends.get(index))
            .copied()
            .unwrap_or(0);
        self.only_closing(at, after) || (before < at && self.only_white(before, at)) || at == 0
    }

    /// The ends, ascending; the last is the text's length unless the text is empty.
    #[must_use]
    pub fn as_slice(&self) -> &[usize] {
        &self.ends
    }

    fn only_closing(&self, from: usize, to: usize) -> bool {
        self.text
            .get(from..to)
            .is_some_and(|part| part.chars().all(is_neutral))
    }

    fn only_white(&self, from: usize, to: usize) -> bool {
        self.text
            .get(from..to)
            .is_some_and(|part| part.chars().all(char::is_whitespace))
    }
}

/// Whether a cut at byte `at` of `text` falls on a sentence end, as [`SentenceEnds::is_end`]
/// defines it. O(bytes of the text): for many cuts in one text make a [`SentenceEnds`].
///
/// ```
/// use cornu_text::is_sentence_end;
/// assert!(is_sentence_end("好。行。", "好。".len()));
/// assert!(!is_sentence_end("约3.14米。", "约3.".len()));
/// ```
#[must_use]
pub fn is_sentence_end(text: &str, at: usize) -> bool {
    SentenceEnds::new(text).is_end(at)
}

/// Whether a text, taken alone, ends where a sentence ends: its last characters, white space and
/// closing marks apart, are marks that end a sentence. An abbreviation (`see Fig.` is short for a
/// word, `e.g.` waits for one) and a heading without a mark do not. O(bytes).
///
/// ```
/// use cornu_text::ends_sentence;
/// assert!(ends_sentence("他说：“好的。”\n"));
/// assert!(ends_sentence("**Done.**"));
/// assert!(!ends_sentence("see Dr."));
/// assert!(!ends_sentence("约3.14"));
/// assert!(!ends_sentence(""));
/// ```
#[must_use]
pub fn ends_sentence(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    let mut last = None;
    while let Some(found) = scanner.next_sentence() {
        last = Some(found);
    }
    last.is_some_and(|found| {
        found.cause == Cause::Mark
            && text
                .get(found.marks_end..)
                .is_some_and(|tail| tail.chars().all(is_neutral))
    })
}

/// Whether a cut at byte `at` falls inside a word by Unicode's word boundaries (UAX 29), or inside
/// an identifier or a number that those would part at `_`, `-`, `.` or `/` between letters or
/// digits. Every Chinese character is a word of its own here;
/// [`Tokenizer::cuts_word`](crate::Tokenizer::cuts_word) knows Chinese words. A place within a
/// character cuts a word; a place outside the text does not. Looks at most 64 characters to
/// either side: constant cost.
///
/// ```
/// use cornu_text::cuts_word;
/// assert!(cuts_word("gradient", 4));
/// assert!(cuts_word("zero_grad", 5));
/// assert!(cuts_word("3.14", 2));
/// assert!(!cuts_word("ab cd", 2) && !cuts_word("梯度", 3));
/// ```
#[must_use]
pub fn cuts_word(text: &str, at: usize) -> bool {
    if at >= text.len() || at == 0 {
        return false;
    }
    if !text.is_char_boundary(at) {
        return true;
    }
    let (Some(before), Some(after)) = (char_before(text, at), char_at(text, at)) else {
        return false;
    };
    if before.is_whitespace() || after.is_whitespace() {
        return false;
    }
    if joins(before) && char_before(text, at - before.len_utf8()).is_some_and(is_ascii_word) {
        return is_ascii_word(after);
    }
    if joins(after) && is_ascii_word(before) {
        return char_at(text, at + after.len_utf8()).is_some_and(is_ascii_word);
    }
    const REACH: usize = 64;
    let head = text.get(..at).unwrap_or_default();
    let start = head
        .char_indices()
        .rev()
        .take(REACH)
        .last()
        .map_or(at, |(at, _)| at);
    let tail = text.get(at..).unwrap_or_default();
    let end = tail
        .char_indices()
        .nth(REACH)
        .map_or(text.len(), |(offset, _)| at + offset);
    let window = text.get(start..end).unwrap_or_default();
    !window
        .split_word_bound_indices()
        .any(|(offset, _)| start + offset == at)
}

fn joins(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/')
}

fn is_ascii_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// White space and marks that close something: they do not part a cut from a sentence's end.
fn is_neutral(c: char) -> bool {
    c.is_whitespace() || is_closing(c) || matches!(c, '"' | '\'' | '*' | '_' | '~' | '`')
}
