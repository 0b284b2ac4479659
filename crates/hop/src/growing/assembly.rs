//! The graph of what is known of passages: numbers, weights and frequencies, counted anew.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use cornu_graph_ppr::{Dangling, GraphBuilder, Walk};

use super::interned::Interned;
use super::{Entry, GrowingGraph};
use crate::error::HopError;
use crate::graph::{Fact, HopGraph, PassageNode};
use crate::names::{Name, Names};
use crate::relation::Vocabulary;
use crate::synonyms::{Synonym, synonyms};

/// The weight of the edge between a passage and the name in its title; that of any other name is 1.
/// Chosen on the development questions of three sets (see METHODS.md).
const TITLE_WEIGHT: f64 = 8.0;

impl<I: Ord + Clone + Debug> GrowingGraph<I> {
    /// See [`graph`](Self::graph).
    pub(super) fn assembled(&self) -> Result<HopGraph<I>, HopError> {
        let (places, entries) = self.places();
        let (mut names, numbers) = self.names(&places);
        let synonyms = match self.options.synonyms {
            Some(threshold) => synonyms(&names, threshold),
            None => Vec::new(),
        };
        let keys = number(entries.len(), &synonyms, &mut names)?;

        let mut builder = GraphBuilder::undirected(entries.len() + keys.len())?;
        let mut nodes = vec![None; self.names.bound()];
        for ((_, name), number) in names.iter().zip(&numbers) {
            let Some(node) = name.node else {
                continue;
            };
            if let Some(place) = nodes.get_mut(*number as usize) {
                *place = Some(node);
            }
            for &passage in &name.passages {
                let about = name.titled.binary_search(&passage).is_ok();
                builder.add(passage, node, if about { TITLE_WEIGHT } else { 1.0 })?;
            }
        }
        for pair in &synonyms {
            let node = |key: &str| names.get(key).and_then(|name| name.node);
            if let (Some(one), Some(two)) = (node(&pair.keys.0), node(&pair.keys.1)) {
                builder.add(one, two, self.options.synonym_weight * pair.similarity)?;
            }
        }
        let graph = builder.build();
        let walk = Walk::new(&graph, Dangling::Restart)?;

        let mut counted = Counted::new(self.stems.bound());
        let (mut facts, mut passages) = (Vec::new(), Vec::with_capacity(entries.len()));
        for (at, entry) in (0_u32..).zip(entries) {
            let from = facts.len();
            facts.extend(entry.brought.facts.iter().map(|fact| {
                let own = fact.names.iter();
                let own = own.filter_map(|&name| nodes.get(name as usize).copied().flatten());
                let mut own: Vec<u32> = own.collect();
                own.sort_unstable();
                Fact {
                    passage: at,
                    text: Arc::clone(&fact.text),
                    subject: self.names.text(fact.subject),
                    nodes: own,
                    stems: counted.count(&fact.stems),
                }
            }));
            passages.push(PassageNode {
                id: entry.passage.id.clone(),
                title: entry.passage.title.clone(),
                facts: from..facts.len(),
            });
        }
        let vocabulary = counted.vocabulary(&self.stems, facts.len());
        Ok(HopGraph {
            passages,
            names,
            keys,
            synonyms,
            facts,
            vocabulary,
            graph,
            walk,
        })
    }

    /// By slot the place of its passage in the order of ids, and the passages in that order.
    fn places(&self) -> (Vec<u32>, Vec<&Entry<I>>) {
        let mut places = vec![0; self.entries.len()];
        let mut entries = Vec::with_capacity(self.slots.len());
        for &slot in self.slots.values() {
            let entry = self.entries.get(slot as usize).and_then(Option::as_ref);
            if let (Some(place), Some(entry)) = (places.get_mut(slot as usize), entry) {
                *place = entries.len() as u32;
                entries.push(entry);
            }
        }
        (places, entries)
    }

    /// The names that some passage has, with their numbers.
    fn names(&self, places: &[u32]) -> (Names, Vec<u32>) {
        let place = |slot: &u32| places.get(*slot as usize).copied();
        let all = self.names.iter().filter_map(|(key, number)| {
            let known = self.names.kept(number)?;
            let mut titled: Vec<u32> = known.titled.keys().filter_map(place).collect();
            titled.sort_unstable();
            let mut passages: Vec<u32> = known.mentioned.keys().filter_map(place).collect();
            passages.extend(&titled);
            passages.sort_unstable();
            passages.dedup();
            let written = match titled.is_empty() {
                true => &known.mentioned,
                false => &known.titled,
            };
            let (_, display) = written.iter().min_by_key(|(slot, _)| place(slot))?;
            let name = Name {
                display: Arc::clone(display),
                node: None,
                passages,
                titled,
            };
            Some(((Arc::clone(key), name), number))
        });
        let (names, numbers) = all.unzip();
        (Names::of_sorted(names), numbers)
    }
}

/// Gives nodes to titles, to names of at least two passages and to those with another spelling;
/// their keys, in order.
fn number(
    passages: usize,
    synonyms: &[Synonym],
    names: &mut Names,
) -> Result<Vec<Arc<str>>, HopError> {
    let spelled: BTreeSet<&str> = synonyms
        .iter()
        .flat_map(|pair| [pair.keys.0.as_str(), pair.keys.1.as_str()])
        .collect();
    let too_large = || HopError::TooLarge { limit: u32::MAX };
    let mut next = u32::try_from(passages).map_err(|_| too_large())?;
    let mut keys = Vec::new();
    for (key, name) in names.iter_mut() {
        let joins = name.passages.len() >= 2 || spelled.contains(&**key);
        if joins || !name.titled.is_empty() {
            name.node = Some(next);
            keys.push(Arc::clone(key));
            next = next.checked_add(1).ok_or_else(too_large)?;
        }
    }
    Ok(keys)
}

/// Stems numbered in the order in which they first stand in a fact, and counted.
struct Counted {
    /// By the number of the stem among those that are interned.
    numbers: Vec<Option<u32>>,
    counts: Vec<u32>,
}

impl Counted {
    fn new(bound: usize) -> Self {
        Self {
            numbers: vec![None; bound],
            counts: Vec::new(),
        }
    }

    /// The numbers of a fact's stems, ascending.
    fn count(&mut self, stems: &[u32]) -> Vec<u32> {
        let mut out = Vec::with_capacity(stems.len());
        for &stem in stems {
            let Some(number) = self.numbers.get_mut(stem as usize) else {
                continue;
            };
            let number = *number.get_or_insert(self.counts.len() as u32);
            match self.counts.get_mut(number as usize) {
                Some(count) => *count += 1,
                None => self.counts.push(1),
            }
            out.push(number);
        }
        out.sort_unstable();
        out
    }

    fn vocabulary(self, stems: &Interned<()>, facts: usize) -> Vocabulary {
        let numbers = stems.iter().filter_map(|(stem, interned)| {
            let number = self.numbers.get(interned as usize).copied().flatten()?;
            Some((Arc::clone(stem), number))
        });
        Vocabulary::new(numbers.collect(), self.counts, facts)
    }
}
