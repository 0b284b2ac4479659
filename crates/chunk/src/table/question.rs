//! What a question asks of a table, or that it cannot be told.

use std::collections::BTreeSet;

use cornu_text::{StopWords, Tokenizer, is_han, search_fold};

use super::grid::Grid;
use super::phrases::{ASKED, Asked, BOUNDS, Bound, PLAIN, TURNING, asks};
use super::quantity::{ColumnUnit, Quantity, narrow, number};

/// A question, understood to the last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) columns: BTreeSet<usize>,
    /// For each name in the question the rows that have it.
    pub(super) rows: Vec<BTreeSet<usize>>,
    /// Whether all of these names stand in the first column.
    pub(super) by_keys: bool,
    pub(super) asked: Option<Asked>,
    /// The words that ask for it.
    pub(super) words: Vec<&'static str>,
    /// Whether one of them is said of the rows and not of a column: "the price of the largest model".
    pub(super) of_rows: bool,
    /// Whether each of them stands beside a column's name: "heaviest rainfall", 负荷最重.
    pub(super) beside: bool,
    pub(super) bound: Option<(Bound, Quantity)>,
    /// Whether two of these names are the ends of a range: "2021 to 2023", 2021 至 2023 之间.
    pub(super) spans: bool,
    /// Of two rows beside each other the one that is held against the other: A in "A than B".
    pub(super) than: Option<usize>,
}

impl Question {
    /// `None` when a word is left that is neither of the table nor of a question: then the question
    /// may ask for something else.
    pub(super) fn read(grid: &Grid<'_>, question: &str, tokenizer: &Tokenizer) -> Option<Self> {
        let mut text = Text::of(question);
        let (mut columns, mut named) = (BTreeSet::new(), Vec::new());
        let (mut by_keys, mut headers) = (true, Vec::new());
        for (name, meaning) in grid.names() {
            match &meaning {
                Name::Column(_) if is_function_word(name) => continue,
                Name::Rows(rows)
                    if is_function_word(name) || asks(name) || PLAIN.contains(&name) =>
                {
                    let small = rows.iter().any(|row| grid.writes_small(*row, name));
                    if !names_a_row(question, name, small)? {
                        continue;
                    }
                }
                _ => {}
            }
            // "总" in a header is its name, so names go first.
            let plural = name.strip_suffix('y').map(|stem| format!("{stem}ies"));
            let plural = plural.filter(|_| name.is_ascii());
            let end = text.take(name);
            let end = end.or_else(|| text.take(plural.as_deref()?));
            match (end, meaning) {
                // Which of two columns of one name is meant, nothing says.
                (Some(_), Name::Column(column)) if grid.has_namesake(column, name) => return None,
                (Some(end), Name::Column(column)) => {
                    columns.insert(column);
                    headers.push((end, column, name));
                }
                (Some(end), Name::Rows(found)) => {
                    by_keys &= found.iter().all(|row| grid.key(*row) == name);
                    named.push((end, found));
                }
                (None, _) => {}
            }
        }
        named.sort_by_key(|(end, _)| *end);
        let spans = named.len() > 1 && text.has_range();
        let column = grid.only_number(&columns).map(|at| &grid.columns[at]);
        let bound = text.take_bound(column);
        let (asked, words) = text.take_asked()?;
        // Not of "difference between models" nor "total pump weight".
        let extreme = matches!(asked, Some(Asked::Maximum | Asked::Minimum));
        let mut said = words.iter();
        let of_rows = extreme && said.any(|(word, end)| text.is_of_rows((*word, *end), &headers));
        let beside = words
            .iter()
            .all(|(word, end)| text.is_beside((*word, *end), &headers));
        let words = words.into_iter().map(|(word, _)| word).collect();
        let counted = asked == Some(Asked::Count);
        let than = match ["than", "比"].iter().find_map(|word| text.take(word)) {
            Some(at) => Some(held_against(&named, at)?),
            None => None,
        };
        text.only_plain(&grid.context(counted), tokenizer)
            .then(|| Self {
                columns,
                rows: named.into_iter().map(|(_, rows)| rows).collect(),
                by_keys,
                spans,
                asked,
                words,
                of_rows,
                beside,
                bound,
                than,
            })
    }
}

/// The row that a comparison is about, of two that are named: the one before "than" or 比, the
/// second when both stand behind it.
fn held_against(named: &[(usize, BTreeSet<usize>)], than: usize) -> Option<usize> {
    let [(first, a), (_, b)] = named else {
        return None;
    };
    let subject = if *first < than { a } else { b };
    subject.first().copied()
}

/// A word that stands in questions to any table.
fn is_function_word(word: &str) -> bool {
    TURNING.contains(&word) || StopWords::Common.contains(word)
}

/// Whether a word such as "A", "IT" or "Max" means the row of that name where it stands; `None`
/// where that cannot be told. Capitals tell, except at the beginning and where the row is written
/// `small`; among Chinese words English ones mean a row.
fn names_a_row(question: &str, name: &str, small: bool) -> Option<bool> {
    let question = narrow(question);
    let words = question.split(|c: char| !c.is_alphanumeric() || is_han(c));
    let words = words.filter(|word| !word.is_empty()).enumerate();
    let found: Vec<(usize, &str)> = words
        .filter(|(_, word)| search_fold(word) == name)
        .collect();
    if found.is_empty() {
        // Chinese such as 没有, or of several words, stands in others.
        let whole = name.chars().all(|c| c.is_ascii_alphanumeric());
        return (whole || !folded(&question).contains(name)).then_some(false);
    }
    let chinese = question.contains(is_han) && !asks(name);
    let capital = |(at, word): &(usize, &str)| {
        word.contains(char::is_uppercase) && (*at > 0 || question.contains(is_han))
    };
    if chinese || found.iter().all(capital) {
        return Some(true);
    }
    let plain = found
        .iter()
        .all(|(_, word)| !word.contains(char::is_uppercase));
    (plain && !small).then_some(false)
}

/// What a name of the table stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Column(usize),
    Rows(BTreeSet<usize>),
}

/// A folded question, with what has been understood of it.
struct Text {
    folded: String,
    /// For each byte whether it is understood.
    known: Vec<bool>,
}

/// As questions and names are compared.
pub(super) fn folded(text: &str) -> String {
    let narrow = narrow(text);
    let words: Vec<&str> = narrow.split_whitespace().collect();
    search_fold(&words.join(" ")).into_owned()
}

impl Text {
    fn of(question: &str) -> Self {
        let folded = folded(question);
        Self {
            known: vec![false; folded.len()],
            folded,
        }
    }

    /// Finds a phrase that stands by itself in what is not understood yet; takes all its places.
    /// Gives the end of the first.
    fn take(&mut self, phrase: &str) -> Option<usize> {
        let mut first = None;
        let mut from = 0;
        while let Some(at) = self.folded.get(from..).and_then(|rest| rest.find(phrase)) {
            let (start, mut end) = (from + at, from + at + phrase.len());
            from = end.max(start + 1);
            while !self.folded.is_char_boundary(from) {
                from += 1;
            }
            // A plural's s belongs to the word.
            let rest = self.folded.get(end..).unwrap_or_default();
            let plural = rest.starts_with('s') && phrase.len() > 2 && !word_at(rest.chars().nth(1));
            end += usize::from(plural && word_at(phrase.chars().next_back()));
            if phrase.is_empty() || !self.stands_alone(start, end) {
                continue;
            }
            if let Some(known) = self.known.get_mut(start..end) {
                known.fill(true);
                first.get_or_insert(end);
            }
        }
        first
    }

    /// Whether what stands between two parts that are understood makes a range of them.
    fn has_range(&self) -> bool {
        const BETWEEN: [&str; 10] = [
            "to", "through", "till", "until", "到", "至", "-", "–", "—", "~",
        ];
        let words = ["between", "之间"];
        let gaps: String = self.rest('|');
        gaps.split('|').any(|gap| BETWEEN.contains(&gap.trim()))
            || words.iter().any(|word| gaps.contains(word))
    }

    /// What is not understood yet, with a mark in the place of each byte that is.
    fn rest(&self, mark: char) -> String {
        let known = |(at, c)| match self.known.get(at) {
            Some(true) => mark,
            _ => c,
        };
        self.folded.char_indices().map(known).collect()
    }

    /// Not understood yet, and not the part of a longer word or number.
    fn stands_alone(&self, start: usize, end: usize) -> bool {
        let before = self
            .folded
            .get(..start)
            .and_then(|text| text.chars().next_back());
        let after = self.folded.get(end..).and_then(|text| text.chars().next());
        let inner = self.folded.get(start..end).unwrap_or_default();
        let cut = |a: Option<char>, b: Option<char>| word_at(a) && word_at(b);
        let free = self
            .known
            .get(start..end)
            .is_some_and(|known| !known.contains(&true));
        free && !cut(before, inner.chars().next()) && !cut(inner.chars().next_back(), after)
    }

    /// A bound with its number: "超过 5 MPa", "5 MPa 以上".
    fn take_bound(&mut self, column: Option<&ColumnUnit>) -> Option<(Bound, Quantity)> {
        let none = ColumnUnit::default();
        let column = column.unwrap_or(&none);
        for (bound, phrases) in BOUNDS {
            for phrase in *phrases {
                let mut from = 0;
                while let Some(at) = self.folded.get(from..).and_then(|rest| rest.find(phrase)) {
                    let (start, end) = (from + at, from + at + phrase.len());
                    from = end;
                    if !self.stands_alone(start, end) {
                        continue;
                    }
                    if let Some((quantity, stop)) = self.number_at(end, column, "") {
                        self.known.get_mut(start..stop)?.fill(true);
                        return Some((*bound, quantity));
                    }
                }
            }
        }
        let suffixes = [
            ("以上", Bound::AtLeast),
            ("以下", Bound::AtMost),
            ("or more", Bound::AtLeast),
            ("or less", Bound::AtMost),
        ];
        for (suffix, bound) in suffixes {
            let Some(end) = self.folded.find(suffix) else {
                continue;
            };
            let starts = self.folded.get(..end)?.char_indices().rev();
            let digit = starts
                .filter(|(at, c)| c.is_ascii_digit() && !self.known.get(*at).is_some_and(|k| *k))
                .map(|(at, _)| at)
                .find(|&at| {
                    let before = self.folded.get(..at).and_then(|t| t.chars().next_back());
                    !before.is_some_and(|c| c.is_ascii_digit() || c == ',' || c == '.')
                });
            // A sign belongs to the number; in P-5 and 3-5 it is none.
            let start = digit.and_then(|at| {
                let mut before = self.folded.get(..at)?.char_indices().rev();
                match before.next() {
                    Some((sign, '¥' | '$' | '€' | '£')) => Some(sign),
                    Some((sign, '-')) => (!word_at(before.next().map(|(_, c)| c))).then_some(sign),
                    Some((_, '−')) => None,
                    _ => Some(at),
                }
            });
            if let Some(start) = start
                && let Some((quantity, stop)) = self.number_at(start, column, suffix)
                && self
                    .folded
                    .get(stop..end)
                    .is_some_and(|gap| gap.trim().is_empty())
            {
                self.known.get_mut(start..end + suffix.len())?.fill(true);
                return Some((bound, quantity));
            }
        }
        None
    }

    /// The longest number with a unit that begins here, after white space.
    /// A number without a unit may stand before `suffix`.
    fn number_at(&self, at: usize, column: &ColumnUnit, suffix: &str) -> Option<(Quantity, usize)> {
        let rest = self.folded.get(at..)?;
        let start = at + (rest.len() - rest.trim_start().len());
        let text = self.folded.get(start..)?;
        let signed = text.trim_start_matches(['-', '¥', '$', '€', '£']);
        if !signed.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let digits = text.len() - signed.len()
            + signed
                .find(|c: char| !(c.is_ascii_digit() || ",.".contains(c)))
                .unwrap_or(signed.len());
        let plain = text.get(..digits)?.trim_end_matches([',', '.']);
        // A number that is a name of the table is none; nor is 2022 of "above 2022" where a row is.
        let end = start + plain.len();
        if self.known.get(start..end)?.contains(&true) {
            return None;
        }
        // Without a unit, a number beside a column in millions may mean either; and what follows it
        // may be one that the column does not have.
        let bare = column.power == 0 && !column.scaled && self.ends_a_number(end, suffix);
        let mut found = bare
            .then(|| number(plain, column))
            .flatten()
            .map(|quantity| (quantity, end));
        // Folding has made units small letters; they are compared so, too.
        let units = [
            column.shown.as_str(),
            column.unit.as_str(),
            "%",
            "万亿",
            "亿",
            "万",
            "million",
            "billion",
            "thousand",
        ];
        for unit in units.into_iter().filter(|unit| !unit.is_empty()) {
            let tail = text.get(plain.len()..)?;
            let gap = tail.len() - tail.trim_start().len();
            let unit_folded = search_fold(unit);
            let Some(after) = tail.trim_start().strip_prefix(unit_folded.as_ref()) else {
                continue;
            };
            let next = after.chars().next();
            if word_at(unit_folded.chars().next_back()) && word_at(next) {
                continue;
            }
            // A multiplier may stand before the column's own unit: 3 亿元.
            let more = search_fold(&column.unit);
            let more = after.strip_prefix(more.as_ref()).map_or(0, |_| more.len());
            let full = format!("{plain}{unit}");
            if let Some(quantity) = number(&full, column) {
                found = Some((
                    quantity,
                    start + plain.len() + gap + unit_folded.len() + more,
                ));
                break;
            }
        }
        found
    }

    /// Whether no unit follows here: nothing, what is understood, a word of any question, or `suffix`.
    fn ends_a_number(&self, at: usize, suffix: &str) -> bool {
        let Some(rest) = self.folded.get(at..) else {
            return false;
        };
        let next = rest.trim_start();
        let at = at + (rest.len() - next.len());
        let word = next.find(|c: char| !c.is_alphanumeric() || is_han(c));
        let word = next.get(..word.unwrap_or(next.len())).unwrap_or_default();
        match next.chars().next() {
            None => true,
            Some(_) if self.known.get(at) == Some(&true) => true,
            Some(_) if !suffix.is_empty() && next.starts_with(suffix) => true,
            Some(c) if is_han(c) => PLAIN_HAN.contains(c),
            Some(c) if c.is_alphanumeric() => {
                word.len() > 1 && (StopWords::Common.contains(word) || PLAIN.contains(&word))
            }
            Some(c) => !"%‰°℃℉".contains(c),
        }
    }

    /// The one thing that is asked, with its words and where each ends; `None` when it is several.
    #[allow(clippy::type_complexity)]
    fn take_asked(&mut self) -> Option<(Option<Asked>, Vec<(&'static str, usize)>)> {
        let mut phrases: Vec<(&'static str, Asked)> = ASKED
            .iter()
            .flat_map(|(asked, phrases)| phrases.iter().map(|phrase| (*phrase, *asked)))
            .collect();
        phrases.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len()));
        let (mut found, mut words) = (BTreeSet::new(), Vec::new());
        for (phrase, meaning) in phrases {
            if let Some(end) = self.take(phrase) {
                found.insert(meaning);
                words.push((phrase, end));
            }
        }
        // "How many in total" asks for a number of rows.
        if found.contains(&Asked::Count) {
            found.remove(&Asked::Sum);
        }
        (found.len() <= 1).then(|| (found.first().copied(), words))
    }

    /// Whether a word that ends here stands beside the name of a column of numbers.
    fn is_beside(&self, (word, end): (&str, usize), headers: &[(usize, usize, &str)]) -> bool {
        let rest = self.folded.get(end..).unwrap_or_default().trim_start();
        let rest = rest.strip_prefix('的').unwrap_or(rest).trim_start();
        let start = end.saturating_sub(word.len());
        let gap = |at: usize| self.folded.get(at..start).map(str::trim);
        let mut others = headers.iter().filter(|(_, column, _)| *column > 0);
        others.any(|(at, _, name)| {
            rest.starts_with(*name) || matches!(gap(*at), Some("" | "是" | "为" | "is" | "was"))
        })
    }

    /// Whether a word that ends here is said of the rows, though a column is asked for: 最高的型号的价格,
    /// "price of the largest pump", "the largest pump's price"; but not 价格最高的型号.
    fn is_of_rows(&self, (word, end): (&str, usize), headers: &[(usize, usize, &str)]) -> bool {
        let rest = self.folded.get(end..).unwrap_or_default().trim_start();
        let rest = rest.strip_prefix('的').unwrap_or(rest).trim_start();
        let others: Vec<_> = headers
            .iter()
            .filter(|(_, column, _)| *column > 0)
            .collect();
        let before = others.iter().any(|(at, ..)| at + word.len() <= end);
        let follows = |(_, _, name): &(usize, usize, &str)| rest.starts_with(*name);
        if others.is_empty() || others.iter().any(|header| follows(header)) {
            return false;
        }
        if word.contains(is_han) {
            return !before;
        }
        let start = self.folded.get(..end - word.len()).unwrap_or_default();
        let start = start.trim_end();
        let start = start.strip_suffix(" the").unwrap_or(start);
        let key = headers
            .iter()
            .any(|header| header.1 == 0 && follows(header));
        let owns = !before && rest.contains(['\'', '’']);
        key || owns || (before && start.ends_with(" of"))
    }

    /// Whether all that is left are words that any question has, or that tell which table is meant.
    fn only_plain(&self, context: &str, tokenizer: &Tokenizer) -> bool {
        let rest = self.rest('，');
        let context: BTreeSet<String> = tokenizer
            .tokens(&folded(context))
            .into_iter()
            .map(|token| token.text)
            .collect();
        let plain = |word: &str| {
            if TURNING.contains(&word) {
                return false;
            }
            PLAIN.contains(&word)
                || StopWords::Common.contains(word)
                || context.contains(word)
                || word.strip_suffix('s').is_some_and(|one| context.contains(one))
                || (word.is_ascii() && context.contains(&format!("{word}s")))
                // 的有 and the like, where words were torn apart.
                || word.chars().all(|c| PLAIN_HAN.contains(c))
        };
        tokenizer
            .tokens(&rest)
            .iter()
            .filter(|token| token.part_of.is_none())
            .all(|token| plain(&token.text))
    }
}

/// Characters of which words are made that say nothing of what is asked.
const PLAIN_HAN: &str = "的有是在和与中里为个台家种项款哪多少几各每其表请问";

/// A character of which a neighbour would make a longer word or number.
fn word_at(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() && (c.is_ascii() || !is_han(c)))
}
