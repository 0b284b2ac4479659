//! What turns a question round and is easily lost: signs, which no tokenizer keeps, small words,
//! which are stop words, and moments that are named from today.

use std::collections::BTreeSet;

use cornu_text::is_han;

use crate::opposites::SMALL_OPPOSITES;

/// Marks that are no punctuation, in order: currencies, comparisons, operators; a minus, a point or
/// an exclamation mark where it stands before a word or number and behind none; and a dash with
/// blanks around it, since that may be a minus, too.
pub(crate) fn signs(folded: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    let mut characters = folded.chars().peekable();
    while let Some(c) = characters.next() {
        let after = characters.peek().copied().unwrap_or(' ');
        if is_sign(before, c, after) {
            out.push(if is_hyphen(c) { '-' } else { c });
        }
        before = c;
    }
    out
}

fn is_sign(before: char, c: char, after: char) -> bool {
    const PUNCTUATION: &str = ",;:?\"'`´()[]{}«»‹›“”‘’„‚「」『』《》〈〉【】〔〕〖〗。、·•—―…‥";
    if is_hyphen(c) {
        // Han characters stand before a number without a blank.
        let is_free = !before.is_alphanumeric() || (is_han(before) && after.is_numeric());
        let is_prefix = is_free && after.is_alphanumeric();
        return is_prefix || (before.is_whitespace() && after.is_whitespace());
    }
    match c {
        '.' | '!' => !before.is_alphanumeric() && (after.is_alphanumeric() || after == '='),
        // These have no shape of their own.
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{feff}' | '\u{fe00}'..='\u{fe0f}' => false,
        _ => {
            !(c.is_alphanumeric() || c.is_whitespace() || c.is_control() || PUNCTUATION.contains(c))
        }
    }
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2013}' | '\u{2212}')
}

/// The words in Latin or other letters, stop words among them.
pub(crate) fn all_words(folded: &str) -> BTreeSet<&str> {
    let words = folded.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).collect()
}

/// One has only the one of two small opposites, the other only the other; or has a word that the
/// other has with `un-`, `in-` or the like before it.
pub(crate) fn opposed(one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> bool {
    let turned = |(left, right): &(&str, &str)| {
        let has = |words: &BTreeSet<&str>| (words.contains(left), words.contains(right));
        matches!(
            (has(one), has(other)),
            ((true, false), (false, true)) | ((false, true), (true, false))
        )
    };
    SMALL_OPPOSITES.iter().any(turned)
        || one.difference(other).any(|word| {
            let others = other.difference(one);
            others
                .into_iter()
                .any(|its| is_undone(word, its) || is_undone(its, word))
        })
}

/// Whether the longer word is the other with a prefix that turns it round: `able` and `unable`,
/// `install` and `uninstalled`.
fn is_undone(word: &str, longer: &str) -> bool {
    const PREFIXES: [&str; 9] = ["un", "in", "im", "il", "ir", "dis", "non", "de", "mis"];
    const SHORTEST: usize = 4;
    PREFIXES
        .iter()
        .filter_map(|prefix| longer.strip_prefix(prefix))
        .any(|rest| {
            rest.len().min(word.len()) >= SHORTEST
                && (rest.starts_with(word) || word.starts_with(rest))
        })
}

/// How often the question is about nothing else: `only`, 只.
pub(crate) fn limits(folded: &str) -> usize {
    const WORDS: [&str; 5] = ["only", "solely", "merely", "exclusively", "alone"];
    let words = folded.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| WORDS.contains(word)).count() + folded.matches(['只', '仅']).count()
}

/// Times that are named from today: *yesterday*, *last year*, 上个月.
pub(crate) fn moments(folded: &str) -> BTreeSet<String> {
    const DAYS: [&str; 4] = ["yesterday", "today", "tonight", "tomorrow"];
    const WHICH: [(&str, &str); 8] = [
        ("last", "last"),
        ("previous", "last"),
        ("past", "last"),
        ("this", "this"),
        ("current", "this"),
        ("next", "next"),
        ("following", "next"),
        ("coming", "next"),
    ];
    const UNITS: [&str; 12] = [
        "day", "night", "morning", "week", "weekend", "month", "quarter", "semester", "term",
        "season", "year", "decade",
    ];
    const HAN: [&str; 16] = [
        "昨天",
        "今天",
        "明天",
        "前天",
        "后天",
        "昨日",
        "今日",
        "明日",
        "去年",
        "今年",
        "明年",
        "前年",
        "后年",
        "上半年",
        "下半年",
        "当年",
    ];
    const HAN_WHICH: [(char, &str); 5] = [
        ('上', "last"),
        ('本', "this"),
        ('这', "this"),
        ('当', "this"),
        ('下', "next"),
    ];
    const HAN_UNITS: [(&str, &str); 9] = [
        ("周", "week"),
        ("星期", "week"),
        ("礼拜", "week"),
        ("月", "month"),
        ("季度", "quarter"),
        ("季", "quarter"),
        ("学期", "semester"),
        ("年度", "year"),
        ("年", "year"),
    ];
    let words: Vec<&str> = folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut found: BTreeSet<String> = words
        .iter()
        .filter(|word| DAYS.contains(word))
        .map(|word| (*word).to_owned())
        .collect();
    for pair in words.windows(2) {
        let &[which, unit] = pair else { continue };
        let which = WHICH.iter().find(|(word, _)| *word == which);
        let unit = UNITS
            .iter()
            .find(|own| unit.strip_suffix('s').unwrap_or(unit) == **own);
        if let (Some((_, which)), Some(unit)) = (which, unit) {
            found.insert(format!("{which} {unit}"));
        }
    }
    found.extend(
        HAN.iter()
            .filter(|word| folded.contains(**word))
            .map(|word| (*word).to_owned()),
    );
    for (at, c) in folded.char_indices() {
        let Some((_, which)) = HAN_WHICH.iter().find(|(own, _)| *own == c) else {
            continue;
        };
        let rest = folded.get(at + c.len_utf8()..).unwrap_or_default();
        let rest = rest.strip_prefix(['个', '一']).unwrap_or(rest);
        if let Some((_, unit)) = HAN_UNITS.iter().find(|(unit, _)| rest.starts_with(unit)) {
            found.insert(format!("{which} {unit}"));
        }
    }
    found
}
