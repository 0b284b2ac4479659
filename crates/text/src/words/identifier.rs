//! The parts of words and identifiers.

/// A part of a word: bytes of the word, and the part that holds it, if that is not the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Index of the enclosing part among the parts of the same word.
    pub(super) parent: Option<usize>,
}

/// Words longer than this, in bytes, have no parts: they are data, not names.
const LONGEST: usize = 128;

/// The parts of a word in order of their start, longer ones first.
///
/// First at `.` `::` `-` (a `.` between digits holds a number together), each component then at
/// `_`, at case changes and between letters and digits.
pub(super) fn parts(word: &str) -> Vec<Part> {
    let mut out = Vec::new();
    let mut bytes = word.bytes();
    let plain = bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_lowercase());
    if plain || word.len() > LONGEST {
        return out; // a plain word such as `gradient` or `Then`, or data
    }
    let chars: Vec<Char> = word.char_indices().map(Char::new).collect();
    let components = components(&chars);
    for &(from, to) in &components {
        let mut parent = None;
        if (from, to) != (0, chars.len()) {
            parent = Some(out.len());
            push(&mut out, &chars, word, (from, to), None);
        }
        if let Some(component) = chars.get(from..to) {
            for (start, end) in pieces(component) {
                if (start, end) != (0, component.len()) {
                    push(&mut out, &chars, word, (from + start, from + end), parent);
                }
            }
        }
    }
    out
}

fn push(
    out: &mut Vec<Part>,
    chars: &[Char],
    word: &str,
    (from, to): (usize, usize),
    parent: Option<usize>,
) {
    let byte = |index: usize| chars.get(index).map_or(word.len(), |c| c.at);
    out.push(Part {
        start: byte(from),
        end: byte(to),
        parent,
    });
}

/// A character as the rules see it: full-width forms count as the ASCII they stand for.
#[derive(Clone, Copy)]
struct Char {
    at: usize,
    c: char,
}

impl Char {
    fn new((at, c): (usize, char)) -> Self {
        Self { at, c: ascii_of(c) }
    }

    fn kind(self) -> Kind {
        if self.c.is_numeric() {
            Kind::Digit
        } else if self.c.is_uppercase() {
            Kind::Upper
        } else if self.c.is_alphabetic() {
            Kind::Lower
        } else if matches!(self.c, '\'' | '’' | '+' | '#' | ',') || !self.c.is_ascii() {
            Kind::Other
        } else {
            Kind::Separator
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Digit,
    Upper,
    Lower,
    /// Belongs to what it follows.
    Other,
    Separator,
}

/// The ASCII character that a full-width form or another hyphen stands for.
pub(super) fn ascii_of(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        '\u{2010}' | '\u{2011}' => '-',
        _ => c,
    }
}

/// Index ranges between hard separators, without empty ones.
fn components(chars: &[Char]) -> Vec<(usize, usize)> {
    let digit = |index: Option<usize>| {
        index
            .and_then(|index| chars.get(index))
            .is_some_and(|c| c.kind() == Kind::Digit)
    };
    let mut out = Vec::new();
    let mut start = 0;
    for (index, c) in chars.iter().enumerate() {
        let hard = match c.c {
            '.' => !(digit(index.checked_sub(1)) && digit(Some(index + 1))),
            '-' | ':' | '/' => true,
            _ => false,
        };
        if hard {
            if start < index {
                out.push((start, index));
            }
            start = index + 1;
        }
    }
    if start < chars.len() {
        out.push((start, chars.len()));
    }
    out
}

/// Index ranges within one component.
fn pieces(component: &[Char]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut start = 0;
    for (index, c) in component.iter().enumerate() {
        if c.c == '_' {
            words(component, start, index, &mut out);
            start = index + 1;
        }
    }
    words(component, start, component.len(), &mut out);
    out
}

/// Splits what lies between underscores; pushes it whole where it does not split, and before its
/// parts where it lies between underscores and does.
fn words(component: &[Char], from: usize, to: usize, out: &mut Vec<(usize, usize)>) {
    let Some(word) = component.get(from..to).filter(|word| !word.is_empty()) else {
        return;
    };
    out.push((from, to));
    let found = case_and_digits(word);
    if found != [(0, word.len())] {
        out.extend(found.iter().map(|&(start, end)| (from + start, from + end)));
    }
}

fn case_and_digits(word: &[Char]) -> Vec<(usize, usize)> {
    if let Some(base) = possessive(word) {
        return vec![(0, base)];
    }
    let mut runs: Vec<(usize, usize, bool)> = Vec::new(); // start, end, of digits
    for (index, c) in word.iter().enumerate() {
        let kind = c.kind();
        let before = index
            .checked_sub(1)
            .and_then(|index| word.get(index))
            .map(|c| c.kind());
        let after = word.get(index + 1).map(|c| c.kind());
        let starts = match (before, kind) {
            (None, _) => true,
            (Some(Kind::Digit), Kind::Separator) => false, // the point of a number
            (_, Kind::Other | Kind::Separator) => false,
            (Some(Kind::Separator), _) => false,
            (Some(Kind::Digit), Kind::Upper | Kind::Lower) => true,
            (Some(Kind::Upper | Kind::Lower), Kind::Digit) => true,
            (Some(Kind::Other), Kind::Digit) => runs.last().is_some_and(|run| !run.2),
            (Some(Kind::Lower), Kind::Upper) => true,
            (Some(Kind::Upper), Kind::Upper) => after == Some(Kind::Lower),
            _ => false,
        };
        match runs.last_mut() {
            Some(run) if !starts => run.1 = index + 1,
            _ => runs.push((index, index + 1, kind == Kind::Digit)),
        }
    }
    // `v1.5` gives 1.5; another single letter beside digits (`h200`, `e5`) makes a name.
    let version = matches!(runs.as_slice(), [letter, number] if letter.1 == 1 && number.2
        && word.first().is_some_and(|c| matches!(c.c, 'v' | 'V')));
    let single = |run: &(usize, usize, bool)| !run.2 && run.1 - run.0 == 1;
    let has_digits = runs.iter().any(|run| run.2);
    if has_digits && !version && runs.iter().any(single) {
        return vec![(0, word.len())];
    }
    runs.iter()
        .filter(|run| runs.len() == 1 || !single(run))
        .map(|&(start, end, _)| (start, end))
        .collect()
}

/// For `Wu's`, the length of `Wu`.
fn possessive(word: &[Char]) -> Option<usize> {
    match word {
        [base @ .., mark, s]
            if matches!(mark.c, '\'' | '’') && matches!(s.c, 's' | 'S') && !base.is_empty() =>
        {
            Some(base.len())
        }
        _ => None,
    }
}
