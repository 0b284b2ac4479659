//! What a question is about by name: an answer about something else is none.
//!
//! An embedding puts "What does error LN-602 mean?" beside the paragraph on LN-601, and no
//! threshold tells the two apart. So the names, numbers and identifiers of a question, its
//! *anchors*, have to stand in the evidence. They are found by form alone, without a model:
//!
//! - identifiers and codes: words with a digit, an underscore, an inner dot, `::`, `+` or `#`
//!   (`zero_grad`, `CT-2024-0181`, `C++`, `P10`); where it is a number with its unit (`24GB`), both
//!   of these, wherever they stand;
//! - numbers of two digits or more (`2024`, `0.5`): single digits mostly count things. A number
//!   counts only where one of the question's names stands beside it ([`named`]);
//! - names in Latin letters: capitals within a word (`PyTorch`, `BERT`), or a capital at its
//!   beginning where no sentence begins (`Lantern`); neighbours are one name (`Tomasz Wren`);
//! - what stands in quotation marks, `《》`, `「」` or backquotes.
//!
//! What this does not see: names in Chinese without marks around them, names in lower case, and
//! that two words name one thing (`GPU` and 显卡: an answer is refused then although it is there).

use std::collections::BTreeSet;
use std::ops::Range;

use cornu_chunk::html::is_html;
use cornu_core::Chunk;
use cornu_text::{StopWords, Token, Tokenizer, is_cjk, search_fold};

/// Quoted text longer than this is a quotation, not a name.
const LONGEST_NAME: usize = 48;

/// One name, number or identifier of a question.
///
/// ```
/// use cornu::anchors::anchors;
/// use cornu_text::Tokenizer;
///
/// let tokenizer = Tokenizer::new();
/// let found = |question| {
///     let anchors = anchors(&tokenizer, question);
///     anchors.iter().map(|anchor| anchor.text().to_owned()).collect::<Vec<_>>()
/// };
/// assert_eq!(found("What does error LN-602 mean?"), ["LN-602"]);
/// assert_eq!(found("Who led Retrieval before Tomasz Wren?"), ["Retrieval", "Tomasz Wren"]);
/// assert_eq!(found("《反向传播》在 2024 年改了什么？"), ["反向传播", "2024"]);
/// assert!(found("How are gradients cleared?").is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    text: String,
    /// For each word that has to be there, the forms that will do.
    words: Vec<Vec<String>>,
    is_number: bool,
}

impl Anchor {
    /// As it stands in the question.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is a number, which says little without a name beside it.
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.is_number
    }

    /// Whether a text with these words names it: each of its words in one form or another.
    #[must_use]
    pub fn is_among(&self, words: &BTreeSet<String>) -> bool {
        self.words
            .iter()
            .all(|forms| forms.iter().any(|form| words.contains(form)))
    }
}

/// The anchors of a question, in order, each once.
#[must_use]
pub fn anchors(tokenizer: &Tokenizer, question: &str) -> Vec<Anchor> {
    let quoted = quoted(question);
    let mut found: Vec<(Range<usize>, Anchor)> = Vec::new();
    for range in &quoted {
        let text = question.get(range.clone()).unwrap_or_default();
        let tokens = tokenizer.tokens(text);
        let words: Vec<Vec<String>> = tokens
            .iter()
            .filter(|token| token.part_of.is_none() && !StopWords::Common.contains(&token.text))
            .map(|token| {
                forms(
                    &token.text,
                    text.get(token.span.range()).unwrap_or_default(),
                )
            })
            .collect();
        if !words.is_empty() {
            let text = text.trim().to_owned();
            let is_number = false;
            found.push((
                range.clone(),
                Anchor {
                    text,
                    words,
                    is_number,
                },
            ));
        }
    }
    let tokens = tokenizer.tokens(question);
    let free = tokens.iter().filter(|token| {
        let at = token.span.start();
        token.part_of.is_none() && !quoted.iter().any(|range| range.contains(&at))
    });
    let mut last_name: Option<usize> = None;
    for token in free {
        let Some(kind) = kind(question, token) else {
            last_name = None;
            continue;
        };
        let range = token.span.range();
        let word = forms(&token.text, question.get(range.clone()).unwrap_or_default());
        let words = match quantity(&token.text) {
            Some(parts) => parts.map(|part| vec![part.to_owned()]).to_vec(),
            None => vec![word.clone()],
        };
        let joins = kind == Kind::Name
            && last_name.is_some_and(|end| question.get(end..range.start) == Some(" "));
        match found.last_mut() {
            Some((whole, anchor)) if joins => {
                whole.end = range.end;
                anchor.words.push(word);
                question
                    .get(whole.clone())
                    .unwrap_or_default()
                    .clone_into(&mut anchor.text);
            }
            _ => {
                let text = question.get(range.clone()).unwrap_or_default();
                let text = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s"));
                let whole = question.get(range.clone()).unwrap_or_default();
                let anchor = Anchor {
                    text: text.unwrap_or(whole).to_owned(),
                    words,
                    is_number: kind == Kind::Number,
                };
                found.push((range.clone(), anchor));
            }
        }
        last_name = (kind == Kind::Name).then_some(range.end);
    }
    found.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out: Vec<Anchor> = Vec::new();
    for (_, anchor) in found {
        if !out.contains(&anchor) {
            out.push(anchor);
        }
    }
    out
}

/// For each anchor, whether a text with these words names it. A number counts only where one of the
/// question's names stands beside it, if the question has any: 2022 stands in many texts, and in few
/// that are about Heron.
#[must_use]
pub fn named(anchors: &[Anchor], words: &BTreeSet<String>) -> Vec<bool> {
    let held: Vec<bool> = anchors
        .iter()
        .map(|anchor| anchor.is_among(words))
        .collect();
    let names = || {
        anchors
            .iter()
            .zip(&held)
            .filter(|(anchor, _)| !anchor.is_number)
    };
    let numbers_count = names().count() == 0 || names().any(|(_, held)| *held);
    anchors
        .iter()
        .zip(&held)
        .map(|(anchor, held)| *held && (numbers_count || !anchor.is_number))
        .collect()
}

/// The words of a chunk, of the titles above it and of its document's name.
#[must_use]
pub fn words_of(tokenizer: &Tokenizer, chunk: &Chunk) -> BTreeSet<String> {
    let titles = chunk.heading_path.iter().map(String::as_str);
    // The tags of a page are no words of it.
    let text = match is_html(&chunk.doc) {
        true => "",
        false => &chunk.text,
    };
    let texts = [text, &chunk.index_text, chunk.doc.as_str()];
    texts
        .into_iter()
        .chain(titles)
        .flat_map(|text| known_words(tokenizer, text))
        .collect()
}

/// The words of a text, each in its forms.
pub(crate) fn known_words(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
    let tokens = tokenizer.tokens(text).into_iter();
    let forms = tokens.flat_map(|token| {
        let written = token.span.slice(text).unwrap_or_default();
        forms(&token.text, written)
    });
    forms.collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A number.
    Number,
    /// An identifier, a code.
    Code,
    /// A word with a capital.
    Name,
}

fn kind(question: &str, token: &Token) -> Option<Kind> {
    let word = question.get(token.span.range())?;
    let folded = &token.text;
    let base = folded.strip_suffix("'s").unwrap_or(folded);
    if StopWords::Common.contains(base) || word.chars().any(is_cjk) {
        return None;
    }
    let digits = folded.chars().filter(char::is_ascii_digit).count();
    let letters = folded.chars().filter(|c| c.is_alphabetic()).count();
    if digits > 0 {
        return match letters {
            0 => (digits >= 2).then_some(Kind::Number),
            _ => Some(Kind::Code),
        };
    }
    if word.contains(['_', '.', '+', '#']) || word.contains("::") {
        return Some(Kind::Code);
    }
    let capital = |c: char| c.is_uppercase();
    if word.chars().skip(1).any(capital) {
        return Some(Kind::Name);
    }
    let named = word.starts_with(capital)
        && letters >= 2
        && (!begins_sentence(question, token.span.start())
            || before_han(question, token.span.end())
            || base.len() < folded.len());
    named.then_some(Kind::Name)
}

fn begins_sentence(question: &str, at: usize) -> bool {
    let before = question.get(..at).unwrap_or_default().trim_end();
    before.chars().next_back().is_none_or(|c| {
        matches!(
            c,
            '.' | '?' | '!' | ':' | ';' | '。' | '？' | '！' | '：' | '；'
        )
    })
}

fn before_han(question: &str, at: usize) -> bool {
    let after = question.get(at..).unwrap_or_default().trim_start();
    after.starts_with(is_cjk)
}

/// The forms under which a word may stand in the evidence: without a possessive, a plural of
/// capitals (`GPUs`), or the letter of a version (`v3.0`).
pub(crate) fn forms(folded: &str, written: &str) -> Vec<String> {
    let folded = search_fold(folded).into_owned();
    let mut out = vec![folded.clone()];
    if let Some(owner) = folded
        .strip_suffix("'s")
        .or_else(|| folded.strip_suffix("’s"))
    {
        out.push(owner.to_owned());
    }
    if let Some(version) = folded.strip_prefix('v')
        && version.starts_with(|c: char| c.is_ascii_digit())
    {
        out.push(version.to_owned());
    }
    if let Some(one) = written.strip_suffix('s')
        && one.len() >= 2
        && one.chars().all(char::is_uppercase)
        && let Some(one) = folded.strip_suffix('s')
    {
        out.push(one.to_owned());
    }
    out
}

/// The number and the unit of a folded word such as `24gb`, `3.5mpa`: "24 GB" says the same. One
/// letter is no unit: `3d`, `7b`.
pub(crate) fn quantity(folded: &str) -> Option<[&str; 2]> {
    let end = folded.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (number, unit) = folded.split_at_checked(end)?;
    let letters = unit.chars().all(char::is_alphabetic) && unit.chars().count() > 1;
    (letters && number.ends_with(|c: char| c.is_ascii_digit())).then_some([number, unit])
}

/// The ranges within quotation marks.
fn quoted(text: &str) -> Vec<Range<usize>> {
    const PAIRS: [(char, char); 6] = [
        ('“', '”'),
        ('"', '"'),
        ('「', '」'),
        ('『', '』'),
        ('《', '》'),
        ('`', '`'),
    ];
    let mut out = Vec::new();
    let mut from = 0;
    while let Some((start, open)) = text
        .get(from..)
        .and_then(|rest| rest.char_indices().find(|(_, c)| is_open(*c)))
        .map(|(at, open)| (from + at + open.len_utf8(), open))
    {
        let close = PAIRS
            .into_iter()
            .find(|(first, _)| *first == open)
            .map_or(open, |(_, close)| close);
        let rest = text.get(start..).unwrap_or_default();
        match rest.find(close) {
            Some(length) => {
                let inner = rest.get(..length).unwrap_or_default();
                if !inner.is_empty() && inner.chars().count() <= LONGEST_NAME {
                    out.push(start..start + length);
                }
                from = start + length + close.len_utf8();
            }
            None => from = start,
        }
    }
    return out;

    fn is_open(c: char) -> bool {
        PAIRS.iter().any(|(open, _)| *open == c)
    }
}
