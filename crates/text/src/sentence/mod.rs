//! Sentences of Chinese and English text, one set of rules for both.
//!
//! A sentence ends
//! - after `。` `！` `？` and their half-width, small and vertical forms;
//! - after `!` `?` where white space, the end, or CJK text follows (so not inside a URL or `!=`);
//! - after `.` likewise, unless it belongs to an abbreviation (`e.g.`, `Dr.`, `Fig. 3`), to
//!   initials (`J. R. R. Tolkien`), to the label of an item (`1. `, `2.1. `, `b. ` at the start of a
//!   line or of a sentence, or after a colon or semicolon), or a small letter follows;
//! - after an ellipsis `……` or `...` where a new sentence can begin; a single `…` ends only before
//!   white space, and `我……我` (the same character on both sides) is a hesitation;
//! - at a blank line, whatever stands before it. A single line break ends nothing, and neither do
//!   `；` `;` `：` `:`: they join clauses, and a retrieval unit wants the whole statement.
//!
//! A run of marks ends one sentence (`？！`, `……！！！`). Closing quotes and brackets, closing
//! Markdown emphasis and citation marks (`[3]`, `²`) directly after it belong to the sentence, and
//! so does the white space that follows. A sentence goes on where `，` `、` `；` `：` or, after a
//! closing quote, a small letter or one of 的, 之, 等, 和, 与, 或 follows. Nothing ends inside a
//! title (`《…》`), inline code, or a bracket that opens within a sentence and closes within 256
//! characters; an ellipsis ends nothing inside any such bracket. No sentence consists of
//! punctuation alone, unless the whole text does.
//!
//! # Known limits
//! A single capital before a full stop is taken for an initial, so `Plan B. Then we left.` is one
//! sentence; so is `Total: 5. Then we left.`, since a number after a colon is taken for a label. A
//! capital after an abbreviation such as `Inc.` counts as a new sentence only for words that usually
//! open one. A quotation is split at its own sentence ends, and what follows a quoted question
//! (`“真的吗？”她问。`) is a sentence of its own. Other languages work as far as these marks go.

mod abbreviation;
mod boundary;
mod scan;

pub use boundary::{SentenceEnds, cuts_word, ends_sentence, is_sentence_end};

use cornu_core::ByteSpan;

use self::scan::Scanner;

/// Splits a text into sentences; see the [module](self) for the rules.
///
/// The spans follow each other without a gap and cover every byte: concatenated, the sentences are
/// the text. The empty text has none. O(bytes) time with a look-ahead of at most 256 characters
/// besides runs of marks and white space; no allocation.
///
/// ```
/// use cornu_text::sentences;
///
/// let text = "圆周率约3.14。See Dr. Wu, e.g. in Fig. 2. 完！";
/// let found: Vec<&str> = sentences(text).filter_map(|span| span.slice(text)).collect();
/// assert_eq!(found, ["圆周率约3.14。", "See Dr. Wu, e.g. in Fig. 2. ", "完！"]);
/// ```
#[must_use]
pub fn sentences(text: &str) -> Sentences<'_> {
    Sentences {
        scanner: Scanner::new(text),
    }
}

/// The iterator that [`sentences`] gives.
///
/// ```
/// use cornu_text::{Sentences, sentences};
/// let mut found: Sentences<'_> = sentences("好。行。");
/// assert_eq!(found.next().map(|span| span.range()), Some(0..6));
/// assert_eq!(found.count(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Sentences<'a> {
    scanner: Scanner<'a>,
}

impl Iterator for Sentences<'_> {
    type Item = ByteSpan;

    fn next(&mut self) -> Option<ByteSpan> {
        self.scanner.next_sentence().map(|found| found.span)
    }
}

impl std::iter::FusedIterator for Sentences<'_> {}

#[cfg(test)]
mod tests {
    use super::sentences;
    use crate::chars::work::steps_of;

    /// SS-11: what a scan looks at grows with the text, not with its square. Each unit is built
    /// to make a scanner look again and again at the same place.
    #[test]
    fn ss_11_work_is_linear() {
        let units = [
            "a",
            " ",
            ".",
            ". ",
            "\n",
            "(",
            "（",
            "[(",
            "((x)",
            "`",
            "`` ` ",
            "*",
            ".*",
            "。）",
            "\"",
            "e.g. ",
            "A. ",
            "1. ",
            "...",
            "… ",
            "《",
            "字",
            "https://a.b?",
            "\u{301}",
            "😀",
            "! ?",
            "[1",
            ".[",
            "。 ",
        ];
        for unit in units {
            let steps = |n: usize| {
                let text = format!("x{}y", unit.repeat(n));
                let steps = steps_of(|| sentences(&text).count());
                assert!(
                    steps <= 300 * text.len() as u64,
                    "{unit:?}: {steps} steps for {} bytes",
                    text.len()
                );
                steps
            };
            let (small, large) = (steps(2_000), steps(8_000));
            // Four times the text; a little more because no look-ahead is cut short by its end.
            assert!(
                large <= small * 43 / 10 + 2_000,
                "{unit:?}: {small} then {large}"
            );
        }
    }
}
