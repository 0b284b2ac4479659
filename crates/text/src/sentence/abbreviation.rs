//! Words that are written with a full stop, and when such a full stop ends a sentence after all.

/// What a full stop after a word says about the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abbreviation {
    /// Something always follows (`Dr. Wu`, `e.g. this`): never an end.
    Leading,
    /// Short for a word that stands before a number or a label (`Fig. 3`, `No. 7`, `Nov. 29`);
    /// before anything else it is an ordinary word with an ordinary full stop.
    Numeric,
    /// Closes a list (`etc.`): an end when a capital or a CJK character follows.
    Trailing,
    /// May stand in the middle before a capital (`Apple Inc. CEO`, `U.S. Navy`): an end only when
    /// a word follows that typically opens a sentence.
    Either,
}

/// Written with a capital, before a name.
const TITLES: [&str; 20] = [
    "Dr", "Mr", "Mrs", "Ms", "Prof", "St", "Gen", "Sen", "Gov", "Capt", "Lt", "Col", "Sgt", "Rev",
    "Hon", "Mt", "Messrs", "Mme", "Mlle", "Pres",
];

const LEADING: [&str; 14] = [
    "e.g", "i.e", "eg", "ie", "cf", "vs", "viz", "approx", "resp", "incl", "aka", "a.k.a", "w.r.t",
    "s.t",
];

const NUMERIC: [&str; 37] = [
    "fig", "figs", "eq", "eqs", "no", "nos", "nr", "sec", "sect", "ch", "chap", "vol", "vols", "p",
    "pp", "art", "tab", "ref", "refs", "ver", "v", "app", "thm", "lem", "def", "jan", "feb", "mar",
    "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];

const EITHER: [&str; 20] = [
    "al", "inc", "ltd", "co", "corp", "llc", "jr", "sr", "bros", "dept", "univ", "est", "ed",
    "eds", "a.m", "p.m", "ph.d", "u.s", "u.k", "u.n",
];

/// Words that open an English sentence far more often than they stand, with a capital, within
/// one.
const STARTERS: [&str; 51] = [
    "The", "A", "An", "This", "That", "These", "Those", "It", "They", "He", "She", "We", "I",
    "You", "There", "Here", "In", "On", "At", "As", "If", "When", "While", "After", "Before",
    "But", "And", "Or", "So", "However", "Then", "Thus", "For", "From", "To", "With", "Its",
    "Their", "His", "Her", "Our", "My", "What", "How", "Why", "Who", "Where", "Although", "Since",
    "Because", "Now",
];

/// The kind of the word that stands directly before a full stop; `None` when it is none.
pub(super) fn classify(word: &str) -> Option<Abbreviation> {
    let listed = |list: &[&str]| list.iter().any(|entry| entry.eq_ignore_ascii_case(word));
    if word.is_empty() {
        None
    } else if TITLES.contains(&word) || listed(&LEADING) {
        Some(Abbreviation::Leading)
    } else if listed(&NUMERIC) {
        Some(Abbreviation::Numeric)
    } else if word.eq_ignore_ascii_case("etc") {
        Some(Abbreviation::Trailing)
    } else if listed(&EITHER) || is_dotted(word) {
        Some(Abbreviation::Either)
    } else {
        None
    }
}

/// Single letters with full stops between them, such as `U.S` or `i.i.d`.
fn is_dotted(word: &str) -> bool {
    word.len() > 1
        && word.bytes().enumerate().all(|(at, byte)| {
            if at % 2 == 0 {
                byte.is_ascii_alphabetic()
            } else {
                byte == b'.'
            }
        })
}

/// Whether `rest` begins with a word that typically opens a sentence.
pub(super) fn opens_sentence(rest: &str) -> bool {
    let word = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .map_or(rest, |end| rest.get(..end).unwrap_or(rest));
    STARTERS.contains(&word)
}

/// Whether `rest` begins like what a numeric abbreviation stands before: a digit, a bracket, or a
/// label of capitals and digits such as `A`, `IV` or `B2`.
pub(super) fn opens_number(rest: &str) -> bool {
    let mut chars = rest.chars();
    match chars.next() {
        Some(c) if c.is_numeric() => true,
        Some('(' | '[' | '#' | '（' | '~' | '−' | '-') => true,
        Some('I') => matches!(chars.next(), Some('I' | 'V' | 'X' | '.' | ',' | ')')),
        Some(c) if c.is_ascii_uppercase() => rest
            .chars()
            .take(5)
            .skip(1)
            .find(|c| !c.is_ascii_uppercase() && !c.is_ascii_digit())
            .is_none_or(|c| !c.is_alphabetic()),
        _ => false,
    }
}
