//! From text to pieces: runs of Chinese characters, words and identifiers, lone symbols.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::identifier::ascii_of;
use crate::chars::is_han;

/// A word longer than this many bytes is cut: it is data, and no query holds it.
const LONGEST: usize = 256;

/// A piece of the text, by its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Chinese characters that stand together.
    Han(Range<usize>),
    /// A word, a number or an identifier.
    Word(Range<usize>),
    /// A symbol that stands for letters or digits but must not merge with those beside it: `²`,
    /// `①`, `㎏`, `½`.
    Symbol(Range<usize>),
}

/// Cuts the bytes `span` of `text` into pieces, in order.
pub(super) fn pieces(text: &str, span: Range<usize>, emit: &mut impl FnMut(Piece)) {
    let Some(part) = text.get(span.clone()) else {
        return;
    };
    let mut start = span.start;
    let mut kind = Stretch::Gap;
    for (offset, c) in part.char_indices() {
        let next = if is_han(c) {
            Stretch::Han
        } else if c.is_whitespace() {
            Stretch::Gap
        } else {
            Stretch::Other
        };
        if next != kind {
            let at = span.start + offset;
            stretch(text, start..at, kind, emit);
            (start, kind) = (at, next);
        }
    }
    stretch(text, start..span.end, kind, emit);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stretch {
    Gap,
    Han,
    Other,
}

fn stretch(text: &str, range: Range<usize>, kind: Stretch, emit: &mut impl FnMut(Piece)) {
    match kind {
        Stretch::Gap => {}
        Stretch::Han => emit(Piece::Han(range)),
        Stretch::Other => {
            if let Some(word) = plain_word(text, range.clone()) {
                return emit(Piece::Word(word));
            }
            let segments = segments(text.get(range.clone()).unwrap_or_default(), range.start);
            Join {
                text,
                segments: &segments,
            }
            .run(emit);
        }
    }
}

/// The short way for most English: one run of ASCII letters and digits between marks that never
/// belong to a word at its edges.
fn plain_word(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let whole = text.get(range.clone())?;
    let tail = whole.trim_start_matches(['(', '"', '[']);
    let word = tail.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', ']']);
    let start = range.start + whole.len() - tail.len();
    let plain =
        (1..=LONGEST).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_alphanumeric());
    plain.then_some(start..start + word.len())
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Class {
    Word,
    /// Superscripts, which join each other.
    Raised,
    /// Subscript digits, which join a letter.
    Lowered,
    Symbol,
    /// Anything else, as its first character.
    Mark(char),
}

#[derive(Clone, Debug)]
struct Segment {
    range: Range<usize>,
    class: Class,
}

/// Unicode's words, parted where they join what is no word: `key:value`, `1,2;3`, `约3，4个`.
fn segments(text: &str, base: usize) -> Vec<Segment> {
    let mut out = Vec::new();
    for (at, word) in text.split_word_bound_indices() {
        let class = classify(word);
        let start = base + at;
        if class == Class::Word && word.contains(parts_words) && !is_grouped(word) {
            let mut from = 0;
            for (comma, mark) in word.match_indices(parts_words) {
                push(&mut out, start + from..start + comma, Class::Word);
                let c = mark.chars().next().unwrap_or(' ');
                push(
                    &mut out,
                    start + comma..start + comma + mark.len(),
                    Class::Mark(c),
                );
                from = comma + mark.len();
            }
            push(&mut out, start + from..start + word.len(), Class::Word);
        } else {
            push(&mut out, start..start + word.len(), class);
        }
    }
    out
}

/// Marks that UAX 29 allows inside a word or a number and that here stand between two.
fn parts_words(c: char) -> bool {
    matches!(ascii_of(c), ',' | ':' | ';')
        || matches!(
            c,
            '\u{B7}'
                | '\u{37E}'
                | '\u{387}'
                | '\u{55F}'
                | '\u{589}'
                | '\u{60C}'
                | '\u{60D}'
                | '\u{66C}'
                | '\u{7F8}'
                | '\u{2027}'
                | '\u{2044}'
                | '\u{FE10}'
                | '\u{FE13}'
                | '\u{FE14}'
                | '\u{FE50}'
                | '\u{FE54}'
                | '\u{FE55}'
        )
}

fn push(out: &mut Vec<Segment>, range: Range<usize>, class: Class) {
    if !range.is_empty() {
        out.push(Segment { range, class });
    }
}

fn classify(word: &str) -> Class {
    let Some(first) = word.chars().next() else {
        return Class::Mark(' ');
    };
    match first {
        '\u{B2}' | '\u{B3}' | '\u{B9}' | '\u{2070}'..='\u{207E}' => Class::Raised,
        '\u{2080}'..='\u{2089}' => Class::Lowered,
        _ if is_compatibility_symbol(first) => Class::Symbol,
        _ if word.chars().any(char::is_alphanumeric) => Class::Word,
        _ => Class::Mark(ascii_of(first)),
    }
}

/// Symbols that NFKC would turn into letters or digits: enclosed, squared and letter-like ones,
/// number forms.
fn is_compatibility_symbol(c: char) -> bool {
    matches!(c,
        '\u{BC}'..='\u{BE}'
        | '\u{2100}'..='\u{2125}'
        | '\u{2150}'..='\u{218B}'
        | '\u{2460}'..='\u{24FF}'
        | '\u{2776}'..='\u{2793}'
        | '\u{3200}'..='\u{33FF}'
        | '\u{1F100}'..='\u{1F1AD}'
        | '\u{1F200}'..='\u{1F251}')
}

/// Whether the word is a number with thousands separators, such as `1,234,567.89`.
pub(super) fn is_grouped(word: &str) -> bool {
    let (whole, fraction) = word.split_once('.').unwrap_or((word, "0"));
    let mut groups = whole.split(',');
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().unwrap_or_default();
    whole.contains(',')
        && (1..=3).contains(&first.len())
        && digits(first)
        && digits(fraction)
        && groups.all(|group| group.len() == 3 && digits(group))
}

/// Joins segments to identifiers.
struct Join<'a> {
    text: &'a str,
    segments: &'a [Segment],
}

impl Join<'_> {
    fn run(&self, emit: &mut impl FnMut(Piece)) {
        let mut index = 0;
        while let Some(segment) = self.segments.get(index) {
            let start = segment.range.start;
            match segment.class {
                Class::Word => {
                    let (end, next) = self.identifier(index);
                    self.word(start..end, emit);
                    index = next;
                }
                Class::Mark('.') if self.opens_name(index) => {
                    let (end, next) = self.identifier(index + 1);
                    self.word(start..end, emit);
                    index = next;
                }
                Class::Raised => {
                    let mut end = segment.range.end;
                    while let Some(Class::Raised) = self.class(index + 1) {
                        index += 1;
                        end = self.end(index);
                    }
                    emit(Piece::Symbol(start..end));
                    index += 1;
                }
                Class::Lowered | Class::Symbol => {
                    emit(Piece::Symbol(segment.range.clone()));
                    index += 1;
                }
                Class::Mark(_) => index += 1,
            }
        }
    }

    fn class(&self, index: usize) -> Option<&Class> {
        self.segments.get(index).map(|segment| &segment.class)
    }

    fn is_word(&self, index: usize) -> bool {
        self.class(index) == Some(&Class::Word)
    }

    fn is_mark(&self, index: usize, c: char) -> bool {
        self.class(index) == Some(&Class::Mark(c))
    }

    fn end(&self, index: usize) -> usize {
        self.segments
            .get(index)
            .map_or(self.text.len(), |segment| segment.range.end)
    }

    fn slice(&self, index: usize) -> &str {
        self.segments
            .get(index)
            .and_then(|segment| self.text.get(segment.range.clone()))
            .unwrap_or_default()
    }

    /// The end of the identifier whose first word is segment `index`, and the segment after it.
    fn identifier(&self, index: usize) -> (usize, usize) {
        let mut last = index;
        loop {
            let next = last + 1;
            let joint =
                (self.is_mark(next, '-') || self.is_mark(next, '.')) && self.is_word(next + 1);
            let path =
                self.is_mark(next, ':') && self.is_mark(next + 1, ':') && self.is_word(next + 2);
            let letter = |c: char| c.is_alphabetic() || matches!(c, '\u{2080}'..='\u{2089}');
            let lowered = self.class(next) == Some(&Class::Lowered)
                && self.slice(last).chars().next_back().is_some_and(letter);
            let after_lowered = self.class(last) == Some(&Class::Lowered) && self.is_word(next);
            if joint {
                last += 2;
            } else if path {
                last += 3;
            } else if lowered || after_lowered {
                last += 1;
            } else {
                break;
            }
        }
        if self.is_mark(last + 1, '+') && self.is_mark(last + 2, '+') && self.ends_in_letter(last) {
            // C++, g++; C++17 goes on with its number, `a++b` is arithmetic.
            if !self.is_word(last + 3) {
                last += 2;
            } else if self
                .slice(last + 3)
                .chars()
                .next()
                .is_some_and(char::is_numeric)
            {
                last += 3;
            }
        } else if self.is_mark(last + 1, '#')
            && self.slice(last).chars().count() == 1
            && self.ends_in_letter(last)
            && !self.is_word(last + 2)
        {
            last += 1; // C#, F#
        }
        (self.end(last), last + 1)
    }

    fn ends_in_letter(&self, index: usize) -> bool {
        self.slice(index)
            .chars()
            .next_back()
            .is_some_and(|c| ascii_of(c).is_ascii_alphabetic())
    }

    /// Whether the full stop at segment `index` belongs to a name such as `.NET` or `.gitignore`.
    fn opens_name(&self, index: usize) -> bool {
        let letter = self
            .slice(index + 1)
            .chars()
            .next()
            .is_some_and(|c| ascii_of(c).is_ascii_alphabetic());
        let before = match index.checked_sub(1).and_then(|before| self.class(before)) {
            None | Some(Class::Mark('(' | '[' | '{' | '"' | '\'' | '`' | '/' | ',' | '=')) => true,
            Some(Class::Mark(c)) => !c.is_ascii(),
            _ => false,
        };
        letter && before && self.is_word(index + 1)
    }

    /// Emits a word, cut where it is longer than any word.
    fn word(&self, range: Range<usize>, emit: &mut impl FnMut(Piece)) {
        let mut start = range.start;
        while range.end - start > LONGEST {
            let limit = start + LONGEST;
            let cut = (start + 1..=limit)
                .rev()
                .find(|&at| self.text.is_char_boundary(at))
                .unwrap_or(range.end);
            emit(Piece::Word(start..cut));
            start = cut;
        }
        emit(Piece::Word(start..range.end));
    }
}
