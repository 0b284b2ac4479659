//! The graph that a view sees.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::Range;

use cornu_extract::entity_key;
use cornu_graph_ppr::{Dangling, Graph, GraphBuilder, Walk};

use crate::error::HopError;
use crate::names::{Name, Titles, is_number, without_brackets};
use crate::passage::Passage;
use crate::relation::{Vocabulary, stems};
use crate::synonyms::{Synonym, synonyms};

/// The weight of the edge between a passage and the name in its title; that of any other name is 1.
/// Chosen on the development questions of three sets (see METHODS.md).
const TITLE_WEIGHT: f64 = 8.0;

/// How a graph is made.
///
/// The defaults were chosen on development questions only (METHODS.md says which).
///
/// ```
/// let spellings = cornu_hop::GraphOptions { synonyms: Some(0.9), ..Default::default() };
/// assert_eq!(cornu_hop::GraphOptions::default().synonyms, None);
/// assert_eq!(spellings.synonym_weight, 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphOptions {
    /// How alike two names have to be, above 0 and up to 1, to be spellings of one; `None`: names
    /// that are written differently are different names. That is the default: at 0.9 spellings gained
    /// nothing on the public sets, and on the audit they joined names that are not one (table
    /// `multihop`, row `walk-synonyms`).
    pub synonyms: Option<f64>,
    /// The weight of an edge between two spellings, times their likeness.
    pub synonym_weight: f64,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self {
            synonyms: None,
            synonym_weight: 1.0,
        }
    }
}

impl GraphOptions {
    fn check(&self) -> Result<(), HopError> {
        let threshold = self.synonyms.unwrap_or(1.0);
        let range = "(0, 1]";
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(HopError::Option {
                name: "synonyms",
                value: threshold,
                range,
            });
        }
        if !(self.synonym_weight.is_finite() && self.synonym_weight > 0.0) {
            return Err(HopError::Option {
                name: "synonym_weight",
                value: self.synonym_weight,
                range: "(0, ∞)",
            });
        }
        Ok(())
    }
}

/// Passages, names and facts that a view sees, and the walk over them.
///
/// Nodes are passages and names, numbered by id and by key, so that equal content gives equal
/// bits. A passage is joined to the names that stand in it, and more strongly to the name in its
/// title. A name joins passages when at least two have it; a name of one passage has a node only
/// when it is a title or, where [`GraphOptions::synonyms`] joins spellings, is spelled otherwise
/// elsewhere. Titles of visible passages are looked for in the text of the others, so a passage whose
/// extractor missed one is joined nevertheless.
///
/// [`HopMemory`](crate::HopMemory) makes it; see there for an example.
#[derive(Debug)]
pub struct HopGraph<I> {
    passages: Vec<PassageNode<I>>,
    names: BTreeMap<String, Name>,
    keys: Vec<String>,
    synonyms: Vec<Synonym>,
    facts: Vec<Fact>,
    vocabulary: Vocabulary,
    graph: Graph,
    walk: Walk<f64>,
}

/// A passage and its facts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PassageNode<I> {
    pub(crate) id: I,
    pub(crate) title: Option<String>,
    pub(crate) facts: Range<usize>,
}

/// A statement of a passage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    pub(crate) passage: u32,
    pub(crate) text: String,
    /// The key of its subject.
    pub(crate) subject: String,
    /// The nodes of the names in it, ascending.
    pub(crate) nodes: Vec<u32>,
    /// The numbers of its stems, ascending.
    pub(crate) stems: Vec<u32>,
}

impl<I: Ord + Clone + Debug> HopGraph<I> {
    /// Builds the graph of some passages, in whatever order they come, with the default options.
    ///
    /// O(text · log names) time, and what comparing the names takes: each with those that share
    /// one of its rarest runs of three letters. Memory: the names and facts, and about 40 bytes for
    /// each time that a name stands in a passage.
    ///
    /// # Errors
    /// [`HopError::TooLarge`] beyond 2³² nodes.
    pub fn build<'a>(passages: impl IntoIterator<Item = &'a Passage<I>>) -> Result<Self, HopError>
    where
        I: 'a,
    {
        Self::build_with(passages, &GraphOptions::default())
    }

    /// As [`build`](Self::build), with other options.
    ///
    /// # Errors
    /// As there, and [`HopError::Option`].
    pub fn build_with<'a>(
        passages: impl IntoIterator<Item = &'a Passage<I>>,
        options: &GraphOptions,
    ) -> Result<Self, HopError>
    where
        I: 'a,
    {
        options.check()?;
        let mut passages: Vec<&Passage<I>> = passages.into_iter().collect();
        passages.sort_by(|a, b| a.id.cmp(&b.id));
        let mut names = titled_names(&passages);
        let mentions = mentions(&passages, &names);
        add_mentions(&passages, &mentions, &mut names);
        let synonyms = match options.synonyms {
            Some(threshold) => synonyms(&names, threshold),
            None => Vec::new(),
        };
        let keys = number(passages.len(), &synonyms, &mut names)?;

        let mut builder = GraphBuilder::undirected(passages.len() + keys.len())?;
        for name in names.values() {
            let Some(node) = name.node else {
                continue;
            };
            for &passage in &name.passages {
                let about = name.titled.binary_search(&passage).is_ok();
                builder.add(passage, node, if about { TITLE_WEIGHT } else { 1.0 })?;
            }
        }
        for pair in &synonyms {
            let node = |key: &str| names.get(key).and_then(|name| name.node);
            if let (Some(one), Some(two)) = (node(&pair.keys.0), node(&pair.keys.1)) {
                builder.add(one, two, options.synonym_weight * pair.similarity)?;
            }
        }
        let graph = builder.build();
        let walk = Walk::new(&graph, Dangling::Restart)?;

        let mut vocabulary = Vocabulary::default();
        let mut facts = Vec::new();
        let titles = Titles::new(&names);
        let mut nodes = Vec::new();
        for (at, passage) in (0_u32..).zip(&passages) {
            let from = facts.len();
            read_facts(at, passage, &names, &titles, &mut vocabulary, &mut facts);
            nodes.push(PassageNode {
                id: passage.id.clone(),
                title: passage.title.clone(),
                facts: from..facts.len(),
            });
        }
        Ok(Self {
            passages: nodes,
            names,
            keys,
            synonyms,
            facts,
            vocabulary,
            graph,
            walk,
        })
    }

    /// The ids of the passages, ascending.
    pub fn passages(&self) -> impl ExactSizeIterator<Item = &I> {
        self.passages.iter().map(|passage| &passage.id)
    }

    /// The names that have a node, as they are written, in the order of their keys.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| self.display(key))
    }

    /// The statements of the visible passages.
    pub fn facts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.facts.iter().map(|fact| fact.text.as_str())
    }

    /// The pairs of names that are taken for spellings of one, by their keys.
    pub fn synonyms(&self) -> impl ExactSizeIterator<Item = &Synonym> {
        self.synonyms.iter()
    }

    /// The two names of a pair, as they are written.
    #[must_use]
    pub fn spelled<'a>(&'a self, pair: &'a Synonym) -> (&'a str, &'a str) {
        (self.display(&pair.keys.0), self.display(&pair.keys.1))
    }

    /// The adjacency matrix: passages in the order of [`passages`](Self::passages), then names in
    /// the order of [`names`](Self::names).
    #[must_use]
    pub fn adjacency(&self) -> &Graph {
        &self.graph
    }

    /// Whether two graphs hold the same, bit for bit.
    #[must_use]
    pub fn same_bits(&self, other: &Self) -> bool {
        self.passages == other.passages
            && self.names == other.names
            && self.keys == other.keys
            && self.synonyms == other.synonyms
            && self.facts == other.facts
            && self.vocabulary == other.vocabulary
            && self.graph == other.graph
    }

    pub(crate) fn passage(&self, node: u32) -> Option<&PassageNode<I>> {
        self.passages.get(node as usize)
    }

    pub(crate) fn position(&self, id: &I) -> Option<u32> {
        let found = self.passages.binary_search_by(|passage| passage.id.cmp(id));
        found.ok().and_then(|at| u32::try_from(at).ok())
    }

    pub(crate) fn known(&self, key: &str) -> Option<&Name> {
        self.names.get(key)
    }

    /// The key of a name's node.
    pub(crate) fn key(&self, node: u32) -> Option<&str> {
        let at = (node as usize).checked_sub(self.passages.len())?;
        self.keys.get(at).map(String::as_str)
    }

    pub(crate) fn display<'a>(&'a self, key: &'a str) -> &'a str {
        self.names.get(key).map_or(key, |name| &name.display)
    }

    pub(crate) fn fact(&self, at: usize) -> Option<&Fact> {
        self.facts.get(at)
    }

    pub(crate) fn all_facts(&self) -> &[Fact] {
        &self.facts
    }

    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub(crate) fn walk(&self) -> &Walk<f64> {
        &self.walk
    }

    pub(crate) fn nodes(&self) -> usize {
        self.graph.nodes()
    }
}

/// The names in titles, with and without what stands in brackets.
fn titled_names<I>(passages: &[&Passage<I>]) -> BTreeMap<String, Name> {
    let mut names: BTreeMap<String, Name> = BTreeMap::new();
    for (at, passage) in (0_u32..).zip(passages) {
        let title = passage.title.as_deref();
        for form in [title, title.and_then(without_brackets)]
            .into_iter()
            .flatten()
        {
            let key = entity_key(form);
            if key.is_empty() {
                continue;
            }
            let name = names.entry(key).or_default();
            if name.display.is_empty() {
                form.trim().clone_into(&mut name.display);
            }
            if name.titled.last() != Some(&at) {
                name.titled.push(at);
            }
        }
    }
    names
}

/// The keys of the names in each passage, with how they are written.
fn mentions<I>(
    passages: &[&Passage<I>],
    names: &BTreeMap<String, Name>,
) -> Vec<BTreeMap<String, String>> {
    let titles = Titles::new(names);
    let read = |passage: &&Passage<I>| {
        let mut found = BTreeMap::new();
        for entity in &passage.extraction.entities {
            if !is_number(entity) {
                found
                    .entry(entity_key(entity))
                    .or_insert_with(|| entity.clone());
            }
        }
        for title in titles.in_text(&passage.text) {
            let display = names.get(&title.key).map(|name| name.display.clone());
            found
                .entry(title.key)
                .or_insert(display.unwrap_or_default());
        }
        found.remove("");
        found
    };
    passages.iter().map(read).collect()
}

fn add_mentions<I>(
    passages: &[&Passage<I>],
    mentions: &[BTreeMap<String, String>],
    names: &mut BTreeMap<String, Name>,
) {
    for (at, found) in (0_u32..passages.len() as u32).zip(mentions) {
        for (key, display) in found {
            let name = names.entry(key.clone()).or_default();
            if name.display.is_empty() {
                name.display.clone_from(display);
            }
            name.passages.push(at);
        }
    }
    for name in names.values_mut() {
        let all: BTreeSet<u32> = name.passages.iter().chain(&name.titled).copied().collect();
        name.passages = all.into_iter().collect();
    }
}

/// Gives nodes to titles, to names of at least two passages and to those with another spelling;
/// their keys, in order.
fn number(
    passages: usize,
    synonyms: &[Synonym],
    names: &mut BTreeMap<String, Name>,
) -> Result<Vec<String>, HopError> {
    let spelled: BTreeSet<&str> = synonyms
        .iter()
        .flat_map(|pair| [pair.keys.0.as_str(), pair.keys.1.as_str()])
        .collect();
    let too_large = || HopError::TooLarge { limit: u32::MAX };
    let mut next = u32::try_from(passages).map_err(|_| too_large())?;
    let mut keys = Vec::new();
    for (key, name) in names.iter_mut() {
        let joins = name.passages.len() >= 2 || spelled.contains(key.as_str());
        if joins || !name.titled.is_empty() {
            name.node = Some(next);
            keys.push(key.clone());
            next = next.checked_add(1).ok_or_else(too_large)?;
        }
    }
    Ok(keys)
}

/// A passage's triples and propositions as facts, none of them twice.
fn read_facts<I>(
    at: u32,
    passage: &Passage<I>,
    names: &BTreeMap<String, Name>,
    titles: &Titles<'_>,
    vocabulary: &mut Vocabulary,
    facts: &mut Vec<Fact>,
) {
    let from_triples = passage.extraction.triples.iter().map(|triple| {
        let text = format!("{} {} {}", triple.subject, triple.predicate, triple.object);
        (text, vec![triple.subject.as_str(), triple.object.as_str()])
    });
    let from_propositions = passage.extraction.propositions.iter().map(|proposition| {
        let entities = proposition.entities.iter().map(String::as_str).collect();
        (proposition.text.clone(), entities)
    });
    let mut seen = BTreeSet::new();
    for (text, entities) in from_triples.chain(from_propositions) {
        if !seen.insert(text.clone()) {
            continue;
        }
        let mut nodes = BTreeSet::new();
        for entity in &entities {
            let key = entity_key(entity);
            nodes.extend(names.get(&key).and_then(|name| name.node));
            for title in titles.in_text(entity) {
                nodes.extend(names.get(&title.key).and_then(|name| name.node));
            }
        }
        let stems = vocabulary.count(stems(&text));
        facts.push(Fact {
            passage: at,
            text,
            subject: entities
                .first()
                .map(|name| entity_key(name))
                .unwrap_or_default(),
            nodes: nodes.into_iter().collect(),
            stems,
        });
    }
}
