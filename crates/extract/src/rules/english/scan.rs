//! A sentence in words and marks.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word with a capital letter.
    Capital,
    /// Any other word.
    Lower,
    /// Begins with a digit.
    Number,
    /// A mark that ends a clause: `,` `;` `:` a dash.
    Break,
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// A straight or curly double quotation mark.
    Quote,
    /// Any other mark.
    Mark,
}

/// One token, with its bytes in the sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    /// Its bytes, a possessive `'s` left out.
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
    /// Whether a possessive `'s` or `'` follows.
    pub(super) owns: bool,
}

/// Words whose dot belongs to them.
const DOTTED: [&str; 18] = [
    "St", "Dr", "Mr", "Mrs", "Ms", "Jr", "Sr", "Prof", "Gen", "Col", "Capt", "Lt", "Rev", "Hon",
    "Mt", "Ft", "No", "vs",
];

/// Cuts a sentence into tokens. O(bytes).
pub(super) fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = char_at(sentence, at) {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        if c.is_alphanumeric() {
            let token = word(sentence, at);
            at = token.end
                + if token.owns {
                    owned(sentence, token.end)
                } else {
                    0
                };
            out.push(token);
            continue;
        }
        let end = at + c.len_utf8();
        let kind = match c {
            ',' | ';' | ':' | '–' | '—' => Kind::Break,
            '-' if char_at(sentence, end).is_none_or(char::is_whitespace) => Kind::Break,
            '(' | '[' | '{' => Kind::Open,
            ')' | ']' | '}' => Kind::Close,
            '"' | '“' | '”' | '„' | '«' | '»' => Kind::Quote,
            _ => Kind::Mark,
        };
        let text = sentence.get(at..end).unwrap_or_default();
        out.push(Token {
            text,
            start: at,
            end,
            kind,
            owns: false,
        });
        at = end;
    }
    out
}

fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..).and_then(|rest| rest.chars().next())
}

/// The word that starts at `start`: letters and digits, and marks between two of them that hold a
/// word together (`O'Brien`, `Jean-Luc`, `J.R.R.`, `1,234.5`).
fn word(sentence: &str, start: usize) -> Token<'_> {
    let mut end = start;
    while let Some(c) = char_at(sentence, end) {
        let after = char_at(sentence, end + c.len_utf8());
        let joins = after.is_some_and(char::is_alphanumeric)
            && match c {
                '\'' | '’' => owned(sentence, end) == 0,
                '-' | '.' | '&' | '/' | '·' => true,
                ',' => {
                    let before = sentence.get(start..end).unwrap_or_default();
                    before.ends_with(|c: char| c.is_ascii_digit())
                        && after.is_some_and(|c| c.is_ascii_digit())
                }
                _ => false,
            };
        if !c.is_alphanumeric() && !joins {
            break;
        }
        end += c.len_utf8();
    }
    let mut text = sentence.get(start..end).unwrap_or_default();
    // A dot after an initial or a known short form is part of the word.
    let is_initial = text.chars().count() == 1 && text.chars().all(char::is_uppercase);
    let is_short = is_initial || text.contains('.') || DOTTED.contains(&text);
    let no_number = !text.starts_with(|c: char| c.is_ascii_digit());
    if is_short && no_number && char_at(sentence, end) == Some('.') && end + 1 < sentence.len() {
        end += 1;
        text = sentence.get(start..end).unwrap_or_default();
    }
    let kind = if text.starts_with(|c: char| c.is_numeric()) {
        Kind::Number
    } else if text.chars().any(char::is_uppercase) {
        Kind::Capital
    } else {
        Kind::Lower
    };
    Token {
        text,
        start,
        end,
        kind,
        owns: owned(sentence, end) > 0,
    }
}

/// The bytes of a possessive ending at `at`: `'s`, or `'` after an s and before a space.
fn owned(sentence: &str, at: usize) -> usize {
    let Some(mark @ ('\'' | '’')) = char_at(sentence, at) else {
        return 0;
    };
    let after = at + mark.len_utf8();
    match char_at(sentence, after) {
        Some('s' | 'S') if !char_at(sentence, after + 1).is_some_and(char::is_alphanumeric) => {
            mark.len_utf8() + 1
        }
        Some(' ')
            if sentence
                .get(..at)
                .is_some_and(|before| before.ends_with('s')) =>
        {
            mark.len_utf8()
        }
        _ => 0,
    }
}
