//! Names: capitalised phrases, quoted titles, dates and amounts.

use super::lexicon::{INSIDE, MONTHS, OPENERS, UNITS};
use super::scan::{Kind, Token};

/// A name, by its tokens.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    /// Its first token.
    pub(super) from: usize,
    /// The token after its last.
    pub(super) to: usize,
    /// Whether it is a date or an amount.
    pub(super) is_number: bool,
}

/// The names of a sentence, in order, none overlapping another.
pub(super) fn names(sentence: &str, tokens: &[Token<'_>]) -> Vec<Name> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let found = quoted(tokens, at)
            .map(|to| (at + 1, to - 1, to, false))
            .or_else(|| dated(tokens, at).map(|to| (at, to, to, false)))
            .or_else(|| date(tokens, at).map(|to| (at, to, to, true)))
            .or_else(|| amount(tokens, at).map(|to| (at, to, to, true)))
            .or_else(|| capitals(tokens, at).map(|to| (at, to, to, false)));
        let Some((from, to, next, is_number)) = found else {
            at += 1;
            continue;
        };
        if let Some(text) = text_of(sentence, tokens, from, to) {
            out.push(Name {
                text,
                from,
                to,
                is_number,
            });
        }
        at = next.max(at + 1);
    }
    out
}

/// The sentence's bytes from one token to another, white space folded.
pub(super) fn text_of(
    sentence: &str,
    tokens: &[Token<'_>],
    from: usize,
    to: usize,
) -> Option<String> {
    let (first, last) = (tokens.get(from)?, tokens.get(to.checked_sub(1)?)?);
    let bytes = sentence.get(first.start..last.end)?;
    let words: Vec<&str> = bytes.split_whitespace().collect();
    let text = words.join(" ");
    text.chars().any(char::is_alphanumeric).then_some(text)
}

/// A title in quotation marks: at most ten words, the first with a capital or a digit.
fn quoted(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    if tokens.get(at)?.kind != Kind::Quote {
        return None;
    }
    let first = tokens.get(at + 1)?;
    if !matches!(first.kind, Kind::Capital | Kind::Number) {
        return None;
    }
    let inside = tokens.get(at + 1..)?.iter().take(14);
    let length = inside.take_while(|token| token.kind != Kind::Quote).count();
    let end = at + 1 + length;
    (tokens.get(end)?.kind == Kind::Quote && (1..=10).contains(&length)).then_some(end + 1)
}

/// `11 November 875`, `November 11, 1963`, `January 1960`, `1963`, `1940s`.
fn date(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let is_month = |at: usize| {
        tokens
            .get(at)
            .is_some_and(|token| MONTHS.contains(&token.text))
    };
    let is_day = |at: usize| {
        let digits = tokens.get(at).filter(|token| token.kind == Kind::Number);
        digits.is_some_and(|token| {
            let day = token
                .text
                .trim_end_matches(|c: char| c.is_ascii_alphabetic());
            day.len() <= 2 && day.chars().all(|c| c.is_ascii_digit())
        })
    };
    let is_year = |at: usize| tokens.get(at).is_some_and(|token| is_year(token.text));
    let is_comma = |at: usize| tokens.get(at).is_some_and(|token| token.text == ",");
    if is_day(at) && is_month(at + 1) {
        return Some(if is_short_year(tokens, at + 2) {
            at + 3
        } else {
            at + 2
        });
    }
    if is_month(at) {
        if is_day(at + 1) {
            let year = if is_comma(at + 2) { at + 3 } else { at + 2 };
            return Some(if is_year(year) { year + 1 } else { at + 2 });
        }
        return is_year(at + 1).then_some(at + 2);
    }
    is_year(at).then_some(at + 1)
}

/// A year that begins a name: `1920 Summer Olympics`.
fn dated(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let (year, next) = (tokens.get(at)?, tokens.get(at + 1)?);
    let begins = year.text.len() == 4 && is_year(year.text) && !year.owns;
    let is_apart = MONTHS.contains(&next.text) || OPENERS.contains(&next.text);
    if !begins || is_apart || at == 0 {
        return None;
    }
    let end = capitals(tokens, at + 1)?;
    (end > at + 2).then_some(end)
}

/// Four digits of a year, or a decade, or a span of years.
fn is_year(text: &str) -> bool {
    let digits = text.trim_end_matches('s');
    let span = digits.split(['-', '/', '–']);
    let is_four = |part: &str| part.len() == 4 && part.bytes().all(|b| b.is_ascii_digit());
    let mut parts = span.map(|part| (is_four(part), part));
    parts
        .next()
        .is_some_and(|(four, part)| four && part.starts_with(['1', '2']))
        && parts.all(|(four, part)| {
            four || (part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()))
        })
}

/// Beside a day and a month three digits are a year too.
fn is_short_year(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| {
        (3..=4).contains(&token.text.len()) && token.text.bytes().all(|b| b.is_ascii_digit())
    })
}

/// `$3.5 million`, `1,200 members`, `40 %`.
fn amount(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let first = tokens.get(at)?;
    let number = at + usize::from(first.kind == Kind::Mark && "$€£¥".contains(first.text));
    if tokens.get(number)?.kind != Kind::Number {
        return None;
    }
    let units = tokens.get(number + 1..)?.iter();
    let units = units
        .take_while(|token| UNITS.contains(&token.text))
        .take(2)
        .count();
    (number > at || units > 0).then_some(number + 1 + units)
}

/// The longest phrase of capitalised words from `at`, with small words only between capitals.
fn capitals(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let first = tokens.get(at)?;
    if first.kind != Kind::Capital || opens_without_naming(tokens, at) {
        return None;
    }
    let mut end = at + 1; // after the last capital taken
    let mut next = end;
    while let Some(token) = tokens.get(next) {
        let before = tokens.get(next - 1)?;
        match token.kind {
            Kind::Capital if before.kind == Kind::Mark && before.text != "&" => break,
            Kind::Capital if before.text.ends_with('.') && OPENERS.contains(&token.text) => break,
            Kind::Capital => end = next + 1,
            // "Apollo 11", but not "March 1960" nor a year.
            Kind::Number if next == end && !is_year(token.text) && token.text.len() <= 3 => {
                end = next + 1;
            }
            Kind::Lower if INSIDE.contains(&token.text) && next < end + 2 => {}
            Kind::Mark if token.text == "&" && next == end => {}
            // "Brown, Jr."
            Kind::Break if token.text == "," && is_suffix(tokens, next + 1) => {}
            _ => break,
        }
        next += 1;
    }
    let letter_alone = end == at + 1 && first.text.chars().count() == 1;
    (!letter_alone).then_some(end)
}

/// What follows a comma within a name.
fn is_suffix(tokens: &[Token<'_>], at: usize) -> bool {
    const SUFFIXES: [&str; 8] = ["Jr.", "Sr.", "Jr", "Sr", "Inc", "Ltd", "LLC", "D.C."];
    tokens
        .get(at)
        .is_some_and(|token| SUFFIXES.contains(&token.text))
}

/// Whether the capital is there because a sentence or a quotation begins.
fn opens_without_naming(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(token) = tokens.get(at) else {
        return false;
    };
    if OPENERS.contains(&token.text) {
        return true;
    }
    let opens = at == 0;
    let next_is_small = tokens
        .get(at + 1)
        .is_none_or(|next| next.kind != Kind::Capital);
    let is_participle = token.text.ends_with("ed") || token.text.ends_with("ing");
    opens && next_is_small && is_participle && !token.owns
}
