//! Phrases, facts and edges by the published rules.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::Triple;
use cornu_extract::paper_key;
use cornu_graph_ppr::{Dangling, GraphBuilder, Walk};

use crate::error::HopError;

/// A passage with its triples as published; see [`PaperHippoRag`].
#[derive(Clone, Copy, Debug)]
pub struct PaperPassage<'a> {
    /// The triples read from it; repeats within the passage count once.
    pub triples: &'a [Triple],
}

/// How the weights of the ordered pairs become those of an undirected walk.
///
/// ```
/// assert_ne!(cornu_hop::paper::WeightMode::Published, cornu_hop::paper::WeightMode::Accumulated);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WeightMode {
    /// As the published program: a synonym's score takes the place of the count of facts, and the
    /// two ordered entries of a pair are parallel edges, so they add up: 2 × count, 2 × score, and
    /// 1 for a passage and a phrase.
    Published,
    /// The count of facts and the score of synonymy add up, once a pair.
    Accumulated,
}

/// The sizes of a graph.
///
/// ```
/// assert_eq!(cornu_hop::paper::PaperCounts::default().facts, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaperCounts {
    /// Passages.
    pub passages: usize,
    /// Different facts after normalisation.
    pub facts: usize,
    /// Phrases; the empty string is one when some triple's end is bare of ASCII letters.
    pub phrases: usize,
    /// Ordered pairs of different phrases that share a fact.
    pub pairs: usize,
    /// Phrases that are both ends of a fact: pairs that are dropped.
    pub self_loops: usize,
    /// Pairs of a passage and a phrase.
    pub passage_edges: usize,
    /// Phrases with more than two ASCII letters or digits: those that may have synonyms.
    pub long_phrases: usize,
    /// Ordered pairs of synonyms.
    pub synonyms: usize,
}

/// HippoRAG 2's index.
///
/// ```
/// use cornu_core::Triple;
/// use cornu_hop::paper::{PaperHippoRag, PaperPassage, WeightMode};
///
/// let triple = |s: &str, p: &str, o: &str| Triple {
///     subject: s.into(),
///     predicate: p.into(),
///     object: o.into(),
/// };
/// let one = [triple("Rome", "is in", "Italy"), triple("Rome", "is in", "Italy")];
/// let two = [triple("Italy", "joined", "the EEC")];
/// let passages = [PaperPassage { triples: &one }, PaperPassage { triples: &two }];
/// let index = PaperHippoRag::build(&passages, WeightMode::Published)?;
/// assert_eq!(index.counts().facts, 2);
/// assert_eq!(index.phrases(), ["italy", "rome", "the eec"]);
/// assert_eq!(index.fact_texts().next().as_deref(), Some("('italy', 'joined', 'the eec')"));
/// # Ok::<(), cornu_hop::HopError>(())
/// ```
#[derive(Debug)]
pub struct PaperHippoRag {
    pub(super) mode: WeightMode,
    pub(super) passages: usize,
    /// Normalised phrases, ascending; phrase i is node `passages + i`.
    pub(super) phrases: Vec<String>,
    /// Facts in order: subject's number, normalised predicate, object's number.
    pub(super) facts: Vec<(u32, String, u32)>,
    /// For each phrase, how many passages have it.
    pub(super) holders: Vec<u32>,
    /// Counts of facts by ordered pair of phrases.
    pub(super) pairs: BTreeMap<(u32, u32), f64>,
    pub(super) self_loops: BTreeSet<u32>,
    pub(super) passage_edges: BTreeSet<(u32, u32)>,
    /// The ends of each passage's different facts.
    pub(super) passage_facts: Vec<Vec<(u32, u32)>>,
    /// Scores of synonymy by ordered pair of phrases.
    pub(super) synonyms: BTreeMap<(u32, u32), f64>,
    pub(super) walk: Walk<f64>,
}

impl PaperHippoRag {
    /// Builds the index of some passages, without synonyms. O(triples · log phrases).
    ///
    /// # Errors
    /// [`HopError::TooLarge`].
    pub fn build(passages: &[PaperPassage<'_>], mode: WeightMode) -> Result<Self, HopError> {
        let normal = |triple: &Triple| {
            let parts = [&triple.subject, &triple.predicate, &triple.object];
            parts.map(|part| paper_key(part))
        };
        let read: Vec<Vec<[String; 3]>> = passages
            .iter()
            .map(|passage| {
                let different: BTreeSet<&Triple> = passage.triples.iter().collect();
                different.into_iter().map(normal).collect()
            })
            .collect();
        let all: BTreeSet<&[String; 3]> = read.iter().flatten().collect();
        let phrases: BTreeSet<&String> = all.iter().flat_map(|[s, _, o]| [s, o]).collect();
        let phrases: Vec<String> = phrases.into_iter().cloned().collect();
        let number = |phrase: &String| -> u32 {
            let found = phrases.binary_search(phrase);
            found.map_or(u32::MAX, |at| u32::try_from(at).unwrap_or(u32::MAX))
        };
        let facts = all
            .iter()
            .map(|[s, p, o]| (number(s), p.clone(), number(o)));
        let facts: Vec<_> = facts.collect();

        let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let (mut self_loops, mut passage_edges) = (BTreeSet::new(), BTreeSet::new());
        for (at, facts) in (0_u32..).zip(&read) {
            for [subject, _, object] in facts {
                let (subject, object) = (number(subject), number(object));
                passage_edges.extend([(at, subject), (at, object)]);
                if subject == object {
                    self_loops.insert(subject);
                    continue;
                }
                *pairs.entry((subject, object)).or_default() += 1.0;
                *pairs.entry((object, subject)).or_default() += 1.0;
            }
        }
        let ends = |facts: &Vec<[String; 3]>| {
            let different: BTreeSet<&[String; 3]> = facts.iter().collect();
            let ends = different
                .into_iter()
                .map(|[s, _, o]| (number(s), number(o)));
            ends.collect::<Vec<_>>()
        };
        let passage_facts = read.iter().map(ends).collect();
        let mut holders = vec![0_u32; phrases.len()];
        for &(_, phrase) in &passage_edges {
            if let Some(count) = holders.get_mut(phrase as usize) {
                *count += 1;
            }
        }
        let nodes = passages.len() + phrases.len();
        let mut index = Self {
            mode,
            passages: passages.len(),
            phrases,
            facts,
            holders,
            pairs,
            self_loops,
            passage_edges,
            passage_facts,
            synonyms: BTreeMap::new(),
            walk: Walk::new(&GraphBuilder::undirected(nodes)?.build(), Dangling::Restart)?,
        };
        index.walk = index.make_walk()?;
        Ok(index)
    }

    /// The walk over passages and phrases by the weight mode.
    pub(super) fn make_walk(&self) -> Result<Walk<f64>, HopError> {
        let base = self.passages as u32;
        let mut builder = GraphBuilder::undirected(self.passages + self.phrases.len())?;
        for &(passage, phrase) in &self.passage_edges {
            builder.add(passage, base + phrase, 1.0)?;
        }
        for ((from, to), weight) in self.pair_weights() {
            // Each pair stands twice, once in either order; an undirected edge adds up.
            let weight = match self.mode {
                WeightMode::Published => weight,
                WeightMode::Accumulated => weight / 2.0,
            };
            builder.add(base + from, base + to, weight)?;
        }
        Ok(Walk::new(&builder.build(), Dangling::Restart)?)
    }

    /// Pairs of phrases with the number of their facts, in whose place a synonym's score stands or
    /// to which it is added.
    pub(super) fn pair_weights(&self) -> BTreeMap<(u32, u32), f64> {
        let mut weights = self.pairs.clone();
        for (&pair, &score) in &self.synonyms {
            match self.mode {
                WeightMode::Published => drop(weights.insert(pair, score)),
                WeightMode::Accumulated => *weights.entry(pair).or_default() += score,
            }
        }
        weights
    }

    /// The sizes.
    #[must_use]
    pub fn counts(&self) -> PaperCounts {
        PaperCounts {
            passages: self.passages,
            facts: self.facts.len(),
            phrases: self.phrases.len(),
            pairs: self.pairs.len(),
            self_loops: self.self_loops.len(),
            passage_edges: self.passage_edges.len(),
            long_phrases: self.phrases.iter().filter(|phrase| is_long(phrase)).count(),
            synonyms: self.synonyms.len(),
        }
    }

    /// The phrases, ascending: what to embed for [`with_synonyms`](Self::with_synonyms).
    #[must_use]
    pub fn phrases(&self) -> &[String] {
        &self.phrases
    }

    /// The facts as the published program embeds them: a Python tuple's text.
    pub fn fact_texts(&self) -> impl ExactSizeIterator<Item = String> + '_ {
        self.facts.iter().map(|(subject, predicate, object)| {
            let phrase = |at: &u32| self.phrases.get(*at as usize).map_or("", String::as_str);
            format!(
                "('{}', '{predicate}', '{}')",
                phrase(subject),
                phrase(object)
            )
        })
    }
}

/// Whether a phrase may have synonyms.
pub(super) fn is_long(phrase: &str) -> bool {
    phrase.bytes().filter(u8::is_ascii_alphanumeric).count() > 2
}
