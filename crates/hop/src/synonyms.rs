//! Names that are written differently: which pairs of a view's names are spellings of one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cornu_extract::key_words;

use crate::names::{Name, Names};

/// The shortest key that has spellings: below, too much hangs on one letter.
const LEAST_LETTERS: usize = 5;
/// The same in a script without capitals, where a character says more.
const LEAST_CHARACTERS: usize = 3;
/// Letters of an abbreviation.
const INITIALS: std::ops::RangeInclusive<usize> = 2..=6;

/// Two names that a view takes for spellings of one.
///
/// ```
/// use cornu_core::Extraction;
/// use cornu_hop::{GraphOptions, HopGraph, Passage};
///
/// let named = |id, name: &str| Passage::new(id, "...", Extraction {
///     entities: vec![name.to_owned()],
///     ..Extraction::default()
/// });
/// let passages = [named(1, "Adolf, Duke of Holstein"), named(2, "Duke Adolf of Holstein"), named(3, "Delta Freight")];
/// let options = GraphOptions { synonyms: Some(0.9), ..GraphOptions::default() };
/// let graph = HopGraph::build_with(&passages, &options)?;
/// let pair = graph.synonyms().next().ok_or("a pair")?;
/// assert_eq!(graph.spelled(pair), ("Adolf, Duke of Holstein", "Duke Adolf of Holstein"));
/// assert!(pair.similarity > 0.9 && graph.synonyms().count() == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Synonym {
    /// The keys of the names, ascending.
    pub keys: (String, String),
    /// How alike they are, up to 1.
    pub similarity: f64,
}

/// All pairs of names that are alike by at least `threshold`, or an abbreviation and what it stands
/// for, ordered by their keys.
///
/// Likeness is the cosine of the names' runs of three letters (two characters in a script without
/// spaces), each weighed by ln(1 + names / names with it): what many names of the view share says
/// little. Exact: a pair that is alike enough shares one of the rarest runs of its first name, and
/// all that share one are compared. Names whose numbers differ are never spellings of one.
/// O(names · names with a rare run · log) time; memory: the runs, 4 bytes for each name that has
/// one.
pub(crate) fn synonyms(names: &Names, threshold: f64) -> Vec<Synonym> {
    let mut pairs = alike(names, threshold);
    for (key, pair) in abbreviated(names) {
        pairs.insert((key, pair), 1.0);
    }
    let pairs = pairs.into_iter();
    pairs
        .map(|(keys, similarity)| Synonym { keys, similarity })
        .collect()
}

fn alike(names: &Names, threshold: f64) -> BTreeMap<(String, String), f64> {
    let mut index = Index::default();
    let mut spellings: Vec<Spelling<'_>> = Vec::new();
    for (key, name) in names.iter() {
        let least = match key.chars().all(is_uncased) {
            true => LEAST_CHARACTERS,
            false => LEAST_LETTERS,
        };
        if key.chars().count() >= least {
            spellings.push(index.add(spellings.len() as u32, key, &name.display));
        }
    }
    let weights = index.weights(spellings.len());
    for spelling in &mut spellings {
        spelling.weigh(&weights);
    }
    let mut out = BTreeMap::new();
    let mut own = vec![false; weights.len()];
    let mut near: Vec<u32> = Vec::new();
    for (at, one) in (0_u32..).zip(&spellings) {
        near.clear();
        for &gram in one.prefix(&weights, threshold) {
            near.extend(index.after(gram, at));
        }
        near.sort_unstable();
        near.dedup();
        one.mark(true, &mut own);
        for two in near.iter().filter_map(|&at| spellings.get(at as usize)) {
            let similarity = two.shared(&own, &weights) / (one.norm * two.norm);
            if similarity >= threshold && one.numbers == two.numbers {
                let keys = (one.key.to_owned(), two.key.to_owned());
                out.insert(keys, similarity.min(1.0));
            }
        }
        one.mark(false, &mut own);
    }
    out
}

/// Three letters, or a blank and two characters of a script without spaces.
type Run = [char; 3];

/// Which names have a run.
#[derive(Default)]
struct Index {
    /// Only looked up in.
    numbers: HashMap<Run, u32>,
    /// By run: the names that have it, ascending.
    holders: Vec<Vec<u32>>,
}

impl Index {
    fn add<'a>(&mut self, at: u32, key: &'a str, name: &str) -> Spelling<'a> {
        let (runs, numbers) = runs(name);
        let mut number = |run: Run| {
            let next = self.holders.len() as u32;
            let gram = *self.numbers.entry(run).or_insert(next);
            match self.holders.get_mut(gram as usize) {
                Some(holders) => holders.push(at),
                None => self.holders.push(vec![at]),
            }
            gram
        };
        Spelling {
            key,
            grams: runs.into_iter().map(&mut number).collect(),
            numbers,
            norm: 0.0,
        }
    }

    /// The square of what each run weighs.
    fn weights(&self, names: usize) -> Vec<f64> {
        let holders = self.holders.iter().map(Vec::len);
        let weights = holders.map(|holders| (1.0 + names as f64 / holders as f64).ln());
        weights.map(|weight| weight * weight).collect()
    }

    /// The names behind one that have a run.
    fn after(&self, gram: u32, at: u32) -> impl Iterator<Item = u32> + '_ {
        let holders = self.holders.get(gram as usize).map(Vec::as_slice);
        let holders = holders.unwrap_or_default();
        let from = holders.partition_point(|&other| other <= at);
        holders.get(from..).unwrap_or_default().iter().copied()
    }
}

/// A name's runs and numbers.
struct Spelling<'a> {
    key: &'a str,
    /// The heaviest first, then by number.
    grams: Vec<u32>,
    numbers: Vec<String>,
    /// √Σ weight².
    norm: f64,
}

impl Spelling<'_> {
    fn weigh(&mut self, weights: &[f64]) {
        let weight = |gram: &u32| weights.get(*gram as usize).copied().unwrap_or(0.0);
        self.grams
            .sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.cmp(b)));
        self.norm = self.grams.iter().map(weight).sum::<f64>().sqrt();
    }

    /// The runs of which one at least is in every name that is alike enough: those behind them
    /// together weigh less than `threshold` of the whole, and a cosine is at most that share.
    fn prefix(&self, weights: &[f64], threshold: f64) -> &[u32] {
        // So that rounding errs on the side of one run too many.
        let most = (threshold * self.norm).powi(2) * (1.0 - 1e-9);
        let mut behind = 0.0;
        let mut length = self.grams.len();
        while let Some(&gram) = length.checked_sub(1).and_then(|at| self.grams.get(at)) {
            behind += weights.get(gram as usize).copied().unwrap_or(0.0);
            if behind >= most {
                break;
            }
            length -= 1;
        }
        self.grams.get(..length).unwrap_or_default()
    }

    fn mark(&self, whether: bool, marks: &mut [bool]) {
        for &gram in &self.grams {
            if let Some(mark) = marks.get_mut(gram as usize) {
                *mark = whether;
            }
        }
    }

    /// What the runs that are marked weigh, squared.
    fn shared(&self, marks: &[bool], weights: &[f64]) -> f64 {
        let grams = self.grams.iter().map(|&gram| gram as usize);
        let shared = grams.filter(|&gram| marks.get(gram).copied().unwrap_or(false));
        shared.filter_map(|gram| weights.get(gram)).sum()
    }
}

/// The runs of a name's words, ascending, and its numbers in order.
fn runs(name: &str) -> (Vec<Run>, Vec<String>) {
    let (mut runs, mut numbers) = (Vec::new(), Vec::new());
    let mut before = ' ';
    for word in key_words(name) {
        let mut letters = word.key.chars();
        if let (Some(letter), None) = (letters.next().filter(|&c| is_uncased(c)), letters.next()) {
            runs.push([' ', before, letter]);
            before = letter;
            continue;
        }
        before = ' ';
        if word.key.chars().any(char::is_numeric) || is_roman(&word.key) {
            numbers.push(word.key.clone());
        }
        let (mut one, mut two) = (' ', ' ');
        for three in word.key.chars().chain([' ']) {
            if two != ' ' {
                runs.push([one, two, three]);
            }
            (one, two) = (two, three);
        }
    }
    runs.sort_unstable();
    runs.dedup();
    (runs, numbers)
}

/// Whether a word may count, as in `Henry IV`.
fn is_roman(word: &str) -> bool {
    word.len() <= 5 && word.chars().all(|c| matches!(c, 'i' | 'v' | 'x'))
}

/// Whether the letter is of a script without capitals, such as the Chinese one.
fn is_uncased(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()
}

/// Abbreviations with the only name of a passage that they may stand for: `EIB` where a passage
/// also has `European Investment Bank`.
fn abbreviated(names: &Names) -> BTreeSet<(String, String)> {
    let mut by_initials: BTreeMap<String, Vec<(&str, &Name)>> = BTreeMap::new();
    for (key, name) in names.iter() {
        let words: Vec<&str> = name.display.split_whitespace().collect();
        let initials: String = words
            .iter()
            .filter_map(|word| word.chars().next().filter(|first| first.is_uppercase()))
            .collect();
        if words.len() > 1 && INITIALS.contains(&initials.chars().count()) {
            by_initials.entry(initials).or_default().push((key, name));
        }
    }
    let mut out = BTreeSet::new();
    for (key, name) in names.iter() {
        let letters: String = name.display.chars().filter(|&c| c != '.').collect();
        let is_short =
            letters.chars().all(char::is_uppercase) && INITIALS.contains(&letters.chars().count());
        let long = by_initials.get(&letters).filter(|_| is_short);
        let together = |other: &Name| {
            let passages = &name.passages;
            other
                .passages
                .iter()
                .any(|passage| passages.binary_search(passage).is_ok())
        };
        let long = long.into_iter().flatten();
        let mut long = long.filter(|(other, of)| *other != key && together(of));
        if let (Some((other, _)), None) = (long.next(), long.next()) {
            let (a, b) = (key.min(other), key.max(other));
            out.insert((a.to_owned(), b.to_owned()));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<'a>(written: impl IntoIterator<Item = &'a str>) -> Names {
        let written = written.into_iter();
        let name = |(at, name): (usize, &str)| {
            let known = Name {
                display: name.into(),
                passages: vec![at as u32 / 2],
                ..Name::default()
            };
            (cornu_extract::entity_key(name).into(), known)
        };
        let names: BTreeMap<_, _> = written.enumerate().map(name).collect();
        Names::of_sorted(names.into_iter().collect())
    }

    fn pairs<'a>(
        written: impl IntoIterator<Item = &'a str>,
        threshold: f64,
    ) -> Vec<(String, String)> {
        let found = synonyms(&names(written), threshold).into_iter();
        found.map(|pair| pair.keys).collect()
    }

    #[test]
    fn a_spelling_is_found_and_a_number_parts() {
        let filler = ["Delta Freight", "Amber Glass", "Onyx Paper", "Willow Tools"];
        let with = |one: [&'static str; 2]| pairs(one.into_iter().chain(filler), 0.6).len();
        assert_eq!(with(["Privy Councillor", "Privy Councilor"]), 1);
        assert_eq!(
            with(["Selim of Ottoman Empire", "Selim of the Ottoman Empire"]),
            1
        );
        assert_eq!(with(["云杉半导体公司", "云杉半导体分公司"]), 1);
        assert_eq!(with(["Henry II of Navarre", "Henry III of Navarre"]), 0);
        assert_eq!(with(["Apollo 11 Mission", "Apollo 12 Mission"]), 0);
        assert_eq!(with(["Amber Freight", "Delta Glass"]), 0);
    }

    #[test]
    fn an_abbreviation_stands_for_the_one_name_beside_it() {
        // Two a passage.
        let one = [
            "EIB",
            "European Investment Bank",
            "Onyx Paper",
            "Willow Tools",
        ];
        let found = pairs(one, 1.0);
        assert_eq!(
            found,
            [("eib".to_owned(), "europeaninvestmentbank".to_owned())]
        );
        let elsewhere = [
            "EIB",
            "Onyx Paper",
            "European Investment Bank",
            "Willow Tools",
        ];
        assert_eq!(pairs(elsewhere, 1.0), []);
    }

    /// The shortcut leaves nothing out: with a threshold of next to nothing there is no shortcut.
    #[test]
    fn exactly_the_pairs_above_the_threshold() {
        let parts = [
            "amber", "ember", "timber", "glass", "glasse", "grass", "ltd", "of", "vi", "12", "北",
            "北海",
        ];
        let mut state = 7_u64;
        let mut next = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let written: Vec<String> = (0..120)
            .map(|_| {
                let words: Vec<&str> = (0..=next(3)).map(|_| parts[next(parts.len())]).collect();
                words.join(" ")
            })
            .collect();
        let names = names(written.iter().map(String::as_str));
        let all = alike(&names, 1e-9);
        let mut found = 0;
        for threshold in [0.3, 0.5, 0.7, 0.8, 0.9, 0.99, 1.0] {
            let above = all
                .iter()
                .filter(|(_, similarity)| **similarity >= threshold);
            let above: BTreeMap<_, _> = above.map(|(keys, value)| (keys.clone(), *value)).collect();
            assert_eq!(alike(&names, threshold), above, "{threshold}");
            found += above.len();
        }
        assert!(found > 50, "{found}");
    }
}
