//! Words with tags, where jieba's guesses at names are mended.

use std::ops::Range;

use cornu_text::tagged_words;

/// A word, its tag and its bytes in the sentence.
#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) tag: &'a str,
    pub(super) span: Range<usize>,
}

/// Verbs and particles that the hidden Markov model takes for the last character of a name.
const NO_LAST_OF_NAME: [char; 14] = [
    '任', '于', '在', '为', '是', '由', '和', '与', '及', '说', '将', '曾', '现', '等',
];

/// Whether a clause ends here.
pub(super) fn ends_clause(c: char) -> bool {
    matches!(c, '，' | '；' | ';' | '。' | '！' | '？' | '\n')
}

/// The words of a sentence. `李伟任` is a name and a verb, `任甲` after a person a verb and the
/// beginning of something else.
pub(super) fn words(sentence: &str) -> Vec<Word<'_>> {
    let mut out: Vec<Word<'_>> = Vec::new();
    for word in tagged_words(sentence) {
        let after_person = out.last().is_some_and(|before| before.tag == "nr");
        match cut(word.text, word.tag, after_person) {
            Some((at, first, second)) => {
                let (head, tail) = word.text.split_at(at);
                let middle = word.span.start + at;
                out.push(Word {
                    text: head,
                    tag: first,
                    span: word.span.start..middle,
                });
                out.push(Word {
                    text: tail,
                    tag: second,
                    span: middle..word.span.end,
                });
            }
            None => out.push(Word {
                text: word.text,
                tag: word.tag,
                span: word.span,
            }),
        }
    }
    out
}

/// Where a word guessed to be a person parts in two, with the tags of the parts.
fn cut(word: &str, tag: &str, after_person: bool) -> Option<(usize, &'static str, &'static str)> {
    if !tag.starts_with("nr") {
        return None;
    }
    let characters = word.chars().count();
    let last = word.chars().next_back()?;
    if characters >= 3 && NO_LAST_OF_NAME.contains(&last) {
        return Some((word.len() - last.len_utf8(), "nr", "v"));
    }
    let first = word.chars().next()?;
    (after_person && first == '任' && characters == 2).then_some((first.len_utf8(), "v", "n"))
}
