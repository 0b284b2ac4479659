//! What a question asks of a table, or that it cannot be told.

use std::collections::BTreeSet;

use cornu_text::{StopWords, Tokenizer, is_han, search_fold};

use super::grid::Grid;
use super::phrases::{ASKED, Asked, BOUNDS, Bound, PLAIN, TURNING};
use super::quantity::{ColumnUnit, Quantity, narrow, number};

/// A question, understood to the last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) columns: BTreeSet<usize>,
    /// For each name in the question the rows that have it.
    pub(super) rows: Vec<BTreeSet<usize>>,
    pub(super) asked: Option<Asked>,
    pub(super) bound: Option<(Bound, Quantity)>,
}

impl Question {
    /// `None` when a word is left that is neither of the table nor of a question: then the question
    /// may ask for something else.
    pub(super) fn read(grid: &Grid<'_>, question: &str, tokenizer: &Tokenizer) -> Option<Self> {
        let mut text = Text::of(question);
        let (mut columns, mut rows) = (BTreeSet::new(), Vec::new());
        for (name, meaning) in grid.names() {
            // "总" in a header is its name, so names go first.
            let plural = name.strip_suffix('y').map(|stem| format!("{stem}ies"));
            let plural = plural.filter(|_| name.is_ascii());
            if text.take(name).is_some() || plural.is_some_and(|name| text.take(&name).is_some()) {
                match meaning {
                    Name::Column(column) => {
                        columns.insert(column);
                    }
                    Name::Rows(found) => rows.push(found),
                }
            }
        }
        let column = grid.only_number(&columns).map(|at| &grid.columns[at]);
        let bound = text.take_bound(column);
        let asked = text.take_asked()?;
        let counted = asked == Some(Asked::Count);
        text.only_plain(&grid.context(counted), tokenizer)
            .then_some(Self {
                columns,
                rows,
                asked,
                bound,
            })
    }
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
                    if let Some((quantity, stop)) = self.number_at(end, column) {
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
            if let Some(start) = digit
                && let Some((quantity, stop)) = self.number_at(start, column)
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
    fn number_at(&self, at: usize, column: &ColumnUnit) -> Option<(Quantity, usize)> {
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
        // Without a word, a number and a column in millions may mean either; and a single letter is
        // a unit that would pass for no word at all.
        let next = text.get(plain.len()..)?.trim_start();
        let letter =
            next.starts_with(|c: char| c.is_ascii_alphabetic()) && !word_at(next.chars().nth(1));
        let bare = (column.power == 0 && !letter).then(|| number(plain, column));
        let mut found = bare
            .flatten()
            .map(|quantity| (quantity, start + plain.len()));
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

    /// The one thing that is asked; `Some(None)` when nothing special is, `None` when several.
    #[allow(clippy::option_option)]
    fn take_asked(&mut self) -> Option<Option<Asked>> {
        let mut phrases: Vec<(&str, Asked)> = ASKED
            .iter()
            .flat_map(|(asked, phrases)| phrases.iter().map(|phrase| (*phrase, *asked)))
            .collect();
        phrases.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len()));
        let mut found = BTreeSet::new();
        for (phrase, meaning) in phrases {
            if self.take(phrase).is_some() {
                found.insert(meaning);
            }
        }
        // "How many in total" asks for a number of rows.
        if found.contains(&Asked::Count) {
            found.remove(&Asked::Sum);
        }
        (found.len() <= 1).then(|| found.first().copied())
    }

    /// Whether all that is left are words that any question has, or that tell which table is meant.
    fn only_plain(&self, context: &str, tokenizer: &Tokenizer) -> bool {
        let rest: String = self
            .folded
            .char_indices()
            .map(|(at, c)| {
                if self.known.get(at) == Some(&true) {
                    '，'
                } else {
                    c
                }
            })
            .collect();
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
                // 的有 and the like, where words were torn apart.
                || word.chars().all(|c| is_han(c) && "的有是在和与中里为个台家种项款哪多少几各每其表请问".contains(c))
        };
        tokenizer
            .tokens(&rest)
            .iter()
            .filter(|token| token.part_of.is_none())
            .all(|token| plain(&token.text))
    }
}

/// A character of which a neighbour would make a longer word or number.
fn word_at(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() && (c.is_ascii() || !is_han(c)))
}
