//! Names in texts: which runs of words are names that a graph knows.

use std::ops::Range;
use std::sync::Arc;

use cornu_extract::{KeyWord, key_words, push_key_word};

/// The most words of a name that is looked for.
const MOST_WORDS: usize = 12;

/// Words that are no name by themselves, though a question may begin with them.
const NO_NAMES: [&str; 40] = [
    "a", "an", "and", "are", "at", "by", "can", "did", "do", "does", "for", "from", "had", "has",
    "have", "he", "her", "his", "how", "in", "is", "it", "its", "of", "on", "or", "she", "the",
    "they", "to", "was", "were", "what", "when", "where", "which", "who", "whom", "whose", "why",
];

/// What a graph knows of a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Name {
    /// How it is written: in a title where there is one, else in the first passage that has it.
    pub(crate) display: Arc<str>,
    /// Its node; a name of one passage only has none unless it is a title.
    pub(crate) node: Option<u32>,
    /// The passages that have it, ascending.
    pub(crate) passages: Vec<u32>,
    /// The passages that are about it, by their titles, ascending.
    pub(crate) titled: Vec<u32>,
}

/// The names of a graph by their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Names(Vec<(Arc<str>, Name)>);

impl Names {
    /// Of names in the order of their keys.
    pub(crate) fn of_sorted(names: Vec<(Arc<str>, Name)>) -> Self {
        Self(names)
    }

    /// O(log names).
    pub(crate) fn get(&self, key: &str) -> Option<&Name> {
        let at = self.0.binary_search_by(|(other, _)| (**other).cmp(key));
        at.ok().and_then(|at| self.0.get(at)).map(|(_, name)| name)
    }

    /// In the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Name)> {
        self.0.iter().map(|(key, name)| (&**key, name))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&Arc<str>, &mut Name)> {
        self.0.iter_mut().map(|(key, name)| (&*key, name))
    }
}

/// A name found in a text, by its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) key: String,
    pub(crate) words: Range<usize>,
}

/// Finds the longest names from left to right, none overlapping another. A name begins with a word
/// that can open one. O(words · 12) look-ups.
pub(crate) fn find(words: &[KeyWord], known: impl Fn(&str) -> bool) -> Vec<Found> {
    let mut out = Vec::new();
    let mut at = 0;
    let mut key = String::new();
    while let Some(first) = words.get(at) {
        let mut longest = None;
        if first.opens_name && first.key != "the" {
            key.clear();
            let run = words.get(at..).unwrap_or_default();
            for (length, word) in (1..).zip(run.iter().take(MOST_WORDS)) {
                push_key_word(&mut key, &word.key);
                let alone = length == 1 && NO_NAMES.contains(&word.key.as_str());
                if !alone && known(&key) {
                    longest = Some((length, key.clone()));
                }
            }
        }
        match longest {
            Some((length, key)) => {
                let words = at..at + length;
                at += length;
                out.push(Found { key, words });
            }
            None => at += 1,
        }
    }
    out
}

/// A title without what stands in brackets at its end: `The Terminal (film)`.
pub(crate) fn without_brackets(title: &str) -> Option<&str> {
    let title = title.trim_end();
    let inner = title.strip_suffix([')', '）'])?;
    let open = inner.rfind(['(', '（'])?;
    let bare = title.get(..open)?.trim();
    (!bare.is_empty()).then_some(bare)
}

/// Whether a name is a date or an amount: nothing but numbers, months and units. Years would join
/// passages that share nothing else.
pub(crate) fn is_number(name: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    const UNITS: [&str; 24] = [
        "million", "billion", "thousand", "percent", "km", "miles", "members", "people", "years",
        "square", "年", "月", "日", "号", "元", "亿", "万", "人", "吨", "美", "公", "里", "港",
        "欧",
    ];
    let words = key_words(name);
    let is_numeric = |key: &str| key.starts_with(|c: char| c.is_numeric());
    let first_is = words.iter().any(|word| is_numeric(&word.key));
    let all_are = words.iter().all(|word| {
        is_numeric(&word.key)
            || MONTHS.contains(&word.key.as_str())
            || UNITS.contains(&word.key.as_str())
    });
    words.is_empty() || (first_is && all_are)
}
