//! The graph that a view sees.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use cornu_graph_ppr::{Graph, Walk};

use crate::error::HopError;
use crate::growing::GrowingGraph;
use crate::names::{Name, Names};
use crate::passage::Passage;
use crate::relation::Vocabulary;
use crate::synonyms::Synonym;

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
    pub(crate) fn check(&self) -> Result<(), HopError> {
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
    pub(crate) passages: Vec<PassageNode<I>>,
    pub(crate) names: Names,
    /// Of the names that have a node.
    pub(crate) keys: Vec<Arc<str>>,
    pub(crate) synonyms: Vec<Synonym>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) graph: Graph,
    pub(crate) walk: Walk<f64>,
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
    pub(crate) text: Arc<str>,
    /// The key of its subject.
    pub(crate) subject: Arc<str>,
    /// The nodes of the names in it, ascending.
    pub(crate) nodes: Vec<u32>,
    /// The numbers of its stems, ascending.
    pub(crate) stems: Vec<u32>,
}

impl<I: Ord + Clone + Debug + Send + Sync> HopGraph<I> {
    /// Builds the graph of some passages, in whatever order they come, with the default options. Of
    /// two passages with one id the later counts. [`GrowingGraph`] brings a graph up to date.
    ///
    /// O(text · log names) time, the texts on all cores. Memory: the names and facts, and about 40
    /// bytes for each time that a name stands in a passage; until it is built, a [`GrowingGraph`] of
    /// copies of the passages, too.
    ///
    /// # Errors
    /// [`HopError::TooLarge`] beyond 2³² nodes.
    pub fn build<'a>(passages: impl IntoIterator<Item = &'a Passage<I>>) -> Result<Self, HopError>
    where
        I: 'a,
    {
        Self::build_with(passages, &GraphOptions::default())
    }

    /// As [`build`](Self::build), with other options. Where spellings are joined, each name is
    /// compared with those that share one of its rarest runs of three letters.
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
        let mut growing = GrowingGraph::new(*options)?;
        let passages = passages.into_iter();
        growing.update([], passages.map(|passage| Arc::new(passage.clone())));
        growing.graph()
    }
}

impl<I: Ord + Clone + Debug> HopGraph<I> {
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
        self.facts.iter().map(|fact| &*fact.text)
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
        self.keys.get(at).map(|key| &**key)
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
