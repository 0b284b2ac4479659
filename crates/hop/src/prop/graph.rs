//! Entities, propositions and edges.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::Proposition;
use cornu_extract::entity_key;
use cornu_graph_ppr::{Dangling, Graph, GraphBuilder, Walk};

use crate::error::HopError;

/// Which of the two ways.
///
/// ```
/// assert_ne!(cornu_hop::prop::PropMode::Published, cornu_hop::prop::PropMode::Clean);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropMode {
    /// Entities by their exact spelling. Both ordered entries of a pair are edges. A synonym is
    /// told from a fact by a weight that is no whole number and at least 0.75.
    Published,
    /// Entities by [`entity_key`]. One edge a pair. A synonym is what was given as one.
    Clean,
}

/// A passage with its propositions; see [`PropRag`].
#[derive(Clone, Copy, Debug)]
pub struct PropPassage<'a> {
    /// What it says.
    pub propositions: &'a [Proposition],
}

/// A proposition with its entities and the passages that say it, by number, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    pub(super) text: String,
    pub(super) entities: Vec<u32>,
    pub(super) passages: Vec<u32>,
}

/// PropRAG's index. Nodes of its graph are passages, then entities; propositions join entities.
///
/// ```
/// use cornu_core::Proposition;
/// use cornu_hop::prop::{PropMode, PropPassage, PropRag};
///
/// let proposition = |text: &str, entities: [&str; 2]| Proposition {
///     text: text.into(),
///     entities: entities.map(String::from).to_vec(),
/// };
/// let one = [proposition("Rome is in Italy", ["Rome", "Italy"])];
/// let two = [proposition("Italy joined the EEC", ["ITALY", "EEC"])];
/// let passages = [PropPassage { propositions: &one }, PropPassage { propositions: &two }];
/// let clean = PropRag::build(&passages, PropMode::Clean)?;
/// assert_eq!(clean.entities(), ["eec", "italy", "rome"]);
/// let published = PropRag::build(&passages, PropMode::Published)?;
/// assert_eq!(published.entities().len(), 4); // "Italy" and "ITALY" are two
/// assert_eq!(clean.propositions().next(), Some("Italy joined the EEC"));
/// # Ok::<(), cornu_hop::HopError>(())
/// ```
#[derive(Debug)]
pub struct PropRag {
    pub(super) mode: PropMode,
    pub(super) passages: usize,
    pub(super) entities: Vec<String>,
    pub(super) nodes: Vec<Node>,
    /// For each entity, its propositions.
    pub(super) propositions_of: Vec<Vec<u32>>,
    pairs: BTreeMap<(u32, u32), f64>,
    passage_edges: BTreeSet<(u32, u32)>,
    synonyms: BTreeMap<(u32, u32), f64>,
    pub(super) graph: Graph,
    pub(super) walk: Walk<f64>,
}

impl PropRag {
    /// Builds the index of some passages, without synonyms. A text that two passages say is one
    /// proposition. O(propositions · entities of each² · log).
    ///
    /// # Errors
    /// [`HopError::Walk`] for more nodes than 32 bits count.
    pub fn build(passages: &[PropPassage<'_>], mode: PropMode) -> Result<Self, HopError> {
        let key = |name: &str| match mode {
            PropMode::Published => name.to_owned(),
            PropMode::Clean => entity_key(name),
        };
        let mut by_text: BTreeMap<&str, (BTreeSet<String>, BTreeSet<u32>)> = BTreeMap::new();
        for (at, passage) in (0_u32..).zip(passages) {
            for proposition in passage.propositions {
                let entry = by_text.entry(&proposition.text).or_default();
                let keys = proposition.entities.iter().map(|name| key(name));
                entry.0.extend(keys.filter(|key| !key.is_empty()));
                entry.1.insert(at);
            }
        }
        let entities: BTreeSet<&String> = by_text.values().flat_map(|(keys, _)| keys).collect();
        let entities: Vec<String> = entities.into_iter().cloned().collect();
        let number = |key: &String| entities.binary_search(key).map_or(u32::MAX, |at| at as u32);
        let nodes: Vec<Node> = by_text
            .into_iter()
            .map(|(text, (keys, passages))| Node {
                text: text.to_owned(),
                entities: keys.iter().map(number).collect(),
                passages: passages.into_iter().collect(),
            })
            .collect();

        let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let mut passage_edges = BTreeSet::new();
        let mut propositions_of = vec![Vec::new(); entities.len()];
        for (at, node) in (0_u32..).zip(&nodes) {
            for &entity in &node.entities {
                passage_edges.extend(node.passages.iter().map(|&passage| (passage, entity)));
                if let Some(list) = propositions_of.get_mut(entity as usize) {
                    list.push(at);
                }
                let others = node.entities.iter().filter(|&&other| other != entity);
                for &other in others {
                    *pairs.entry((entity, other)).or_default() += node.passages.len() as f64;
                }
            }
        }
        let empty = GraphBuilder::undirected(passages.len() + entities.len())?.build();
        let walk = Walk::new(&empty, Dangling::Restart)?;
        let mut index = Self {
            mode,
            passages: passages.len(),
            entities,
            nodes,
            propositions_of,
            pairs,
            passage_edges,
            synonyms: BTreeMap::new(),
            graph: empty,
            walk,
        };
        index.weigh()?;
        Ok(index)
    }

    /// Adds pairs of synonyms: positions in [`entities`](Self::entities) with their cosine, either
    /// way where it holds either way. A score is added to the count of facts.
    ///
    /// # Errors
    /// [`HopError::Walk`] for a position that is none, or a score that is no weight.
    pub fn with_synonyms(
        mut self,
        pairs: impl IntoIterator<Item = (u32, u32, f64)>,
    ) -> Result<Self, HopError> {
        let pairs = pairs.into_iter().filter(|(from, to, _)| from != to);
        self.synonyms = pairs.map(|(from, to, score)| ((from, to), score)).collect();
        self.weigh()?;
        Ok(self)
    }

    fn weigh(&mut self) -> Result<(), HopError> {
        let base = self.passages as u32;
        let mut builder = GraphBuilder::undirected(self.passages + self.entities.len())?;
        for &(passage, entity) in &self.passage_edges {
            builder.add(passage, base + entity, 1.0)?;
        }
        let mut weights = self.pairs.clone();
        for (&pair, score) in &self.synonyms {
            *weights.entry(pair).or_default() += score;
        }
        for ((from, to), weight) in weights {
            // Each pair stands twice, once in either order; an undirected edge adds up.
            let weight = match self.mode {
                PropMode::Published => weight,
                PropMode::Clean => weight / 2.0,
            };
            builder.add(base.saturating_add(from), base.saturating_add(to), weight)?;
        }
        self.graph = builder.build();
        self.walk = Walk::new(&self.graph, Dangling::Restart)?;
        Ok(())
    }

    /// The keys of the entities, ascending.
    #[must_use]
    pub fn entities(&self) -> &[String] {
        &self.entities
    }

    /// The texts of the propositions, ascending: what to embed.
    pub fn propositions(&self) -> impl ExactSizeIterator<Item = &str> {
        self.nodes.iter().map(|node| node.text.as_str())
    }

    /// The entities that a path may step to from this one as if it were the same.
    pub(super) fn synonyms_of(&self, entity: u32) -> impl Iterator<Item = u32> + '_ {
        let near = self.synonyms.range((entity, 0)..=(entity, u32::MAX));
        near.filter(|(pair, score)| match self.mode {
            PropMode::Clean => true,
            PropMode::Published => {
                let weight = **score + self.pairs.get(pair).copied().unwrap_or(0.0);
                weight.fract() != 0.0 && weight >= 0.75
            }
        })
        .map(|(pair, _)| pair.1)
    }
}
