//! Words of Chinese with their parts of speech.

use std::ops::Range;

use super::han::jieba;

/// A word with its part of speech, as [`tagged_words`] gives it.
///
/// ```
/// let words = cornu_text::tagged_words("李伟在杭州市工作");
/// assert_eq!((words[0].text, words[0].tag), ("李伟", "nr"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedWord<'a> {
    /// The word, as it stands in the text.
    pub text: &'a str,
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// jieba's tag: `nr` a person, `ns` a place, `nt` an organisation, `nz` another proper noun,
    /// `n` a noun, `v` a verb, `eng` Latin letters, `x` a mark, and so on.
    pub tag: &'a str,
}

/// Cuts text into words with their parts of speech, guessing unknown words as jieba's hidden
/// Markov model does. The words cover the text. O(bytes); the first call of a process loads
/// jieba's dictionary, which all of this crate shares.
#[must_use]
pub fn tagged_words(text: &str) -> Vec<TaggedWord<'_>> {
    let mut at = 0;
    let mut out = Vec::new();
    for tag in jieba().tag(text, true) {
        let span = at..at + tag.word.len();
        at = span.end;
        let Some(word) = text.get(span.clone()) else {
            break;
        };
        out.push(TaggedWord {
            text: word,
            span,
            tag: tag.tag,
        });
    }
    out
}
