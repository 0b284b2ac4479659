//! Whether a question needs hops: told from what a first search found.

use std::collections::BTreeSet;

use cornu_extract::{KeyWord, RuleExtractor, entity_key, key_words};

use crate::names::{find, is_number};
use crate::relation::stems;

/// So many of the best passages are looked at.
const PASSAGES: usize = 5;
/// So many scores of the dense route are looked at.
const SCORES: usize = 100;
/// So many names and relations count; more say no more.
const MOST: usize = 3;

/// Words that lead from one thing to another, where they do not open the question. `s` is what an
/// apostrophe leaves.
const RELATIONS: [&str; 10] = [
    "of", "s", "who", "whom", "whose", "that", "which", "where", "的", "其",
];

/// What a first search found for a question: all that [`HopGate::decide`] looks at.
///
/// ```
/// let first = cornu_hop::FirstStage { question: "Who?", dense: &[0.9, 0.8], passages: &["Nobody."] };
/// assert!(first.dense[0] > first.dense[1]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FirstStage<'a> {
    /// The question.
    pub question: &'a str,
    /// Scores of the dense route, the best first.
    pub dense: &'a [f64],
    /// The best passages with their titles, the best first.
    pub passages: &'a [&'a str],
}

/// Decides whether a question needs hops: a weighed sum of [signs](HopSigns) against a threshold.
///
/// A question without names is never walked from: there would be nothing to start at.
///
/// The default is fitted to what the walk gained over the hybrid search in recall, on development
/// questions of five sets and with the vectors of one model (METHODS.md says which). What a score's
/// spread is depends on both, so another corpus may be better served by another threshold: a lower
/// one walks more often.
///
/// ```
/// use cornu_hop::{FirstStage, HopGate};
/// let passages = ["Changed It\nChanged It is a song by Nicki Minaj and Lil Wayne."];
/// let mut dense = vec![0.8; 100];
/// dense[0] = 0.9;
/// let first = FirstStage {
///     question: "What is the place of birth of the performer of song Changed It?",
///     dense: &dense,
///     passages: &passages,
/// };
/// let decision = HopGate::default().decide(&first);
/// assert!(decision.hops && decision.need >= decision.threshold);
/// assert!(decision.reasons()[0].starts_with("spread = "));
/// let nothing = FirstStage { question: "what is this?", ..first };
/// assert!(!HopGate::default().decide(&nothing).hops);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopGate {
    /// What each of the first three names adds that no passage mentions.
    pub unlinked: f64,
    /// What the share of words adds that the best passage lacks.
    pub uncovered: f64,
    /// What each standard deviation adds by which the best score stands out.
    pub spread: f64,
    /// What each of the first three relations adds.
    pub relations: f64,
    /// The least sum at which to walk.
    pub threshold: f64,
}

impl Default for HopGate {
    fn default() -> Self {
        Self {
            unlinked: 0.35,
            uncovered: 3.75,
            spread: 0.97,
            relations: 0.38,
            threshold: 6.05,
        }
    }
}

impl HopGate {
    /// Decides. Costs the reading of the signs.
    #[must_use]
    pub fn decide(&self, first: &FirstStage<'_>) -> HopDecision {
        let signs = HopSigns::read(first);
        let parts = self.parts(&signs);
        let need = parts.iter().map(|part| part.adds).sum();
        HopDecision {
            hops: !signs.names.is_empty() && need >= self.threshold,
            need,
            threshold: self.threshold,
            parts,
            signs,
        }
    }

    fn parts(&self, signs: &HopSigns) -> Vec<Part> {
        let few = |count: usize| count.min(MOST) as f64;
        let part = |(sign, value, weight): (&'static str, f64, f64)| Part {
            sign,
            value,
            adds: weight * value,
        };
        [
            ("unlinked", few(signs.unlinked.len()), self.unlinked),
            ("uncovered", signs.uncovered, self.uncovered),
            ("spread", signs.spread, self.spread),
            ("relations", few(signs.relations), self.relations),
        ]
        .map(part)
        .into()
    }
}

/// Whether to walk, and why.
///
/// See [`HopGate`] for an example.
#[derive(Clone, Debug, PartialEq)]
pub struct HopDecision {
    /// Whether the question needs hops.
    pub hops: bool,
    /// The weighed sum of the signs.
    pub need: f64,
    /// What it was held against.
    pub threshold: f64,
    /// What the first stage showed.
    pub signs: HopSigns,
    parts: Vec<Part>,
}

/// What one sign adds to the need.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    sign: &'static str,
    value: f64,
    adds: f64,
}

impl HopDecision {
    /// What each sign adds to the need, what adds or takes most first: `uncovered = 0.8 (+3.00)`.
    /// That the question names nothing stands in front, since it decides alone.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let mut parts: Vec<&Part> = self.parts.iter().filter(|part| part.adds != 0.0).collect();
        parts.sort_by(|a, b| b.adds.abs().total_cmp(&a.adds.abs()));
        let nothing = self.signs.names.is_empty();
        let nothing = nothing.then(|| "the question names nothing to walk from".to_owned());
        let said = |part: &Part| {
            let value = (part.value * 100.0).round() / 100.0;
            format!("{} = {value} ({:+.2})", part.sign, part.adds)
        };
        nothing
            .into_iter()
            .chain(parts.into_iter().map(said))
            .collect()
    }
}

/// What speaks for hops, and against.
///
/// ```
/// use cornu_hop::{FirstStage, HopSigns};
/// let passages = ["Changed It\nChanged It is a song by Nicki Minaj and Lil Wayne."];
/// let first = FirstStage {
///     question: "What is the place of birth of the performer of song Changed It?",
///     dense: &[0.9, 0.7],
///     passages: &passages,
/// };
/// let signs = HopSigns::read(&first);
/// assert_eq!((signs.names.as_slice(), signs.unlinked.len()), (&["Changed It".to_owned()][..], 0));
/// assert_eq!(signs.relations, 3); // place of birth of the performer of
/// assert!(signs.uncovered > 0.5); // no passage speaks of a birth, a place, or a performer
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HopSigns {
    /// The names in the question.
    pub names: Vec<String>,
    /// Those of them that none of the best five passages mentions.
    pub unlinked: Vec<String>,
    /// The share of the question's other words that is missing from the passage that has most of
    /// them; among passages that mention a name, where some do.
    pub uncovered: f64,
    /// How far the best dense score lies above the mean of the first 100, in standard deviations. A
    /// shorter list is taken as if its last score went on, so that few passages are no sign; 0
    /// where all are equal.
    pub spread: f64,
    /// Words such as "of" and "whose", behind the first word that is no name.
    pub relations: usize,
}

impl HopSigns {
    /// Reads the signs. O(bytes of the question and of five passages · log names).
    #[must_use]
    pub fn read(first: &FirstStage<'_>) -> Self {
        let mut keys = BTreeSet::new();
        let read = RuleExtractor::new().read(first.question).entities;
        let names: Vec<String> = read
            .into_iter()
            .filter(|name| !is_number(name) && keys.insert(entity_key(name)))
            .collect();
        let keys: Vec<String> = names.iter().map(|name| entity_key(name)).collect();
        let words = key_words(first.question);
        let rest = outside(first.question, &words, &keys);
        let asked = stems(&rest);

        let passages = first.passages.iter().take(PASSAGES);
        let seen: Vec<(Vec<bool>, f64)> = passages
            .map(|text| {
                let mentioned = mentions(text, &keys);
                let held = stems(text);
                let missing = asked.iter().filter(|stem| !held.contains(*stem)).count();
                (mentioned, missing as f64 / asked.len().max(1) as f64)
            })
            .collect();
        let is_linked = |at: usize| {
            let mut all = seen.iter().filter_map(|(mentioned, _)| mentioned.get(at));
            all.any(|mentioned| *mentioned)
        };
        let unlinked = names.iter().enumerate().filter(|(at, _)| !is_linked(*at));
        let some = seen.iter().any(|(all, _)| all.contains(&true));
        let covering = seen.iter().filter(|(all, _)| !some || all.contains(&true));
        Self {
            unlinked: unlinked.map(|(_, name)| name.clone()).collect(),
            uncovered: covering.map(|(_, missing)| *missing).fold(1.0, f64::min),
            spread: spread(first.dense),
            relations: relations(&key_words(&rest)),
            names,
        }
    }
}

/// The question without its names.
fn outside(question: &str, words: &[KeyWord], keys: &[String]) -> String {
    let mut rest = String::new();
    let mut from = 0;
    for found in find(words, |key| keys.iter().any(|known| known == key)) {
        let first = words.get(found.words.start).map(|word| word.span.start);
        let last = words.get(found.words.end - 1).map(|word| word.span.end);
        let (Some(first), Some(last)) = (first, last) else {
            continue;
        };
        rest.push_str(question.get(from..first).unwrap_or_default());
        rest.push(' ');
        from = last;
    }
    rest.push_str(question.get(from..).unwrap_or_default());
    rest
}

/// For each key, whether a text has a name with it.
fn mentions(text: &str, keys: &[String]) -> Vec<bool> {
    let words = key_words(text);
    let found = |key: &String| !find(&words, |other| other == key).is_empty();
    keys.iter().map(found).collect()
}

fn relations(words: &[KeyWord]) -> usize {
    let behind = words.iter().skip(1);
    behind
        .filter(|word| RELATIONS.contains(&word.key.as_str()))
        .count()
}

fn spread(scores: &[f64]) -> f64 {
    let scores = scores.get(..SCORES).unwrap_or(scores);
    let Some((best, last)) = scores.first().zip(scores.last()) else {
        return 0.0;
    };
    let all = scores.iter().chain(std::iter::repeat(last)).take(SCORES);
    let n = SCORES as f64;
    let mean = all.clone().sum::<f64>() / n;
    let squares: f64 = all.map(|score| (score - mean).powi(2)).sum();
    let deviation = (squares / n).sqrt();
    if best > last {
        (best - mean) / deviation
    } else {
        0.0
    }
}
