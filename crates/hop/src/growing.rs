//! A graph that is brought up to date: what each passage brings is kept, and only that of passages
//! which a change touches is read again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

use cornu_graph_ppr::{Dangling, GraphBuilder, Walk};
use rayon::prelude::*;

use crate::error::HopError;
use crate::graph::{Fact, GraphOptions, HopGraph, PassageNode};
use crate::interned::Interned;
use crate::names::{Name, Names};
use crate::passage::Passage;
use crate::reading::{Reading, titles};
use crate::relation::Vocabulary;
use crate::synonyms::{Synonym, synonyms};

/// The weight of the edge between a passage and the name in its title; that of any other name is 1.
/// Chosen on the development questions of three sets (see METHODS.md).
const TITLE_WEIGHT: f64 = 8.0;

/// Passages that come and go, and the graph of those that are there.
///
/// After any history of updates [`graph`](Self::graph) is, bit for bit, what
/// [`HopGraph::build_with`] makes of the passages that are left. Nothing is summed up over time:
/// for each name it is known which passages have it, for each passage what was read from it, and
/// weights, numbers and frequencies are counted from there.
///
/// ```
/// use std::sync::Arc;
/// use cornu_extract::RuleExtractor;
/// use cornu_hop::{GraphOptions, GrowingGraph, HopGraph, Passage};
///
/// let rules = RuleExtractor::new();
/// let read = |id, text: &str| Arc::new(Passage::new(id, text, rules.read(text)));
/// let mut growing = GrowingGraph::new(GraphOptions::default())?;
/// growing.update([], [read(1, "Rome\nRome is old."), read(2, "Pope\nThe Pope lives in Rome.")]);
/// growing.update([1], [read(3, "Nero\nNero burned Rome.")]);
///
/// let left = [read(2, "Pope\nThe Pope lives in Rome."), read(3, "Nero\nNero burned Rome.")];
/// let fresh = HopGraph::build(left.iter().map(Arc::as_ref))?;
/// assert!(growing.graph()?.same_bits(&fresh));
/// # Ok::<(), cornu_hop::HopError>(())
/// ```
#[derive(Debug)]
pub struct GrowingGraph<I> {
    options: GraphOptions,
    /// Where each passage lies in `entries`.
    slots: BTreeMap<I, u32>,
    entries: Vec<Option<Entry<I>>>,
    free: Vec<u32>,
    names: Interned<Known>,
    stems: Interned<()>,
    /// The passages that a title may be found in, by how its key begins.
    openers: Interned<BTreeSet<u32>>,
    /// How many passages have a key in their title.
    titles: BTreeMap<String, u32>,
}

/// A passage, and what it brings.
#[derive(Debug)]
struct Entry<I> {
    passage: Arc<Passage<I>>,
    brought: Brought,
}

/// A [`Reading`] in numbers.
#[derive(Debug)]
struct Brought {
    titles: Vec<u32>,
    mentions: Vec<u32>,
    facts: Vec<BroughtFact>,
    openers: Vec<u32>,
}

#[derive(Debug)]
struct BroughtFact {
    text: Arc<str>,
    subject: u32,
    names: Vec<u32>,
    /// In the order of the stems' letters.
    stems: Vec<u32>,
}

/// Which passages have a name, by slot, and how they write it.
#[derive(Debug, Default)]
struct Known {
    titled: BTreeMap<u32, Arc<str>>,
    mentioned: BTreeMap<u32, Arc<str>>,
}

impl<I: Ord + Clone + Debug + Send + Sync> GrowingGraph<I> {
    /// Without passages.
    ///
    /// # Errors
    /// [`HopError::Option`].
    pub fn new(options: GraphOptions) -> Result<Self, HopError> {
        options.check()?;
        Ok(Self {
            options,
            slots: BTreeMap::new(),
            entries: Vec::new(),
            free: Vec::new(),
            names: Interned::default(),
            stems: Interned::default(),
            openers: Interned::default(),
            titles: BTreeMap::new(),
        })
    }

    /// Takes passages away, then puts others in, or in their predecessors' places; ids that are not
    /// there are passed over, and of two passages with one id the later stays.
    ///
    /// Read anew are the passages that are put in, and those in which a title may be found that is
    /// new or gone. O(their text · log) time, on all cores.
    pub fn update(
        &mut self,
        removed: impl IntoIterator<Item = I>,
        put: impl IntoIterator<Item = Arc<Passage<I>>>,
    ) {
        let put: BTreeMap<I, Arc<Passage<I>>> = put
            .into_iter()
            .map(|passage| (passage.id.clone(), passage))
            .collect();
        let removed: BTreeSet<I> = removed.into_iter().collect();
        let going = removed.iter().chain(put.keys());
        let going: BTreeSet<u32> = going.filter_map(|id| self.slots.get(id)).copied().collect();
        let turned = self.count_titles(&going, &put);
        let again = self.touched(&turned);

        let mut passages: Vec<Arc<Passage<I>>> = Vec::new();
        for &slot in going.union(&again) {
            let Some(entry) = self.take(slot) else {
                continue;
            };
            if !going.contains(&slot) {
                passages.push(entry.passage);
            }
        }
        passages.extend(put.into_values());
        let known = &self.titles;
        let read = |passage: &Arc<Passage<I>>| Reading::of(passage, |key| known.contains_key(key));
        let readings: Vec<Reading> = passages.par_iter().map(read).collect();
        for (passage, reading) in passages.into_iter().zip(readings) {
            self.put(passage, reading);
        }
    }

    /// The number of passages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The graph of the passages that are there. No text is read: O(names, facts and the times that
    /// names stand in passages). Where [`GraphOptions::synonyms`] joins spellings, all names are
    /// compared anew, since what a spelling weighs depends on all of them.
    ///
    /// # Errors
    /// [`HopError::TooLarge`] beyond 2³² nodes.
    pub fn graph(&self) -> Result<HopGraph<I>, HopError> {
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

    /// Counts the titles of what goes and comes; the keys that become titles or cease to be.
    fn count_titles(
        &mut self,
        going: &BTreeSet<u32>,
        coming: &BTreeMap<I, Arc<Passage<I>>>,
    ) -> BTreeSet<String> {
        let mut before: BTreeMap<String, bool> = BTreeMap::new();
        for entry in going
            .iter()
            .filter_map(|&slot| self.entries.get(slot as usize))
        {
            for (key, _) in entry.iter().flat_map(|entry| titles(&entry.passage)) {
                let count = self.titles.get(&key).copied().unwrap_or(0);
                before.entry(key.clone()).or_insert(count > 0);
                match count {
                    0 | 1 => self.titles.remove(&key),
                    more => self.titles.insert(key, more - 1),
                };
            }
        }
        for (key, _) in coming.values().flat_map(|passage| titles(passage)) {
            let count = self.titles.get(&key).copied().unwrap_or(0);
            before.entry(key.clone()).or_insert(count > 0);
            self.titles.insert(key, count + 1);
        }
        let turned = before.into_iter();
        turned
            .filter(|(key, was)| self.titles.contains_key(key) != *was)
            .map(|(key, _)| key)
            .collect()
    }

    /// The passages in which some of these titles may be found.
    fn touched(&self, titles: &BTreeSet<String>) -> BTreeSet<u32> {
        let mut out = BTreeSet::new();
        for title in titles {
            let ends = title.char_indices().map(|(at, _)| at).chain([title.len()]);
            for beginning in ends.filter_map(|end| title.get(..end)) {
                let holders = self.openers.find(beginning);
                let holders = holders.and_then(|number| self.openers.kept(number));
                out.extend(holders.into_iter().flatten());
            }
        }
        out
    }

    fn put(&mut self, passage: Arc<Passage<I>>, reading: Reading) {
        let slot = self.free.pop().unwrap_or(self.entries.len() as u32);
        let mut own = |written: BTreeMap<String, String>, titles: bool| {
            let written = written.into_iter().map(|(key, written)| {
                let number = self.names.take(&key);
                if let Some(known) = self.names.kept_mut(number) {
                    let places = match titles {
                        true => &mut known.titled,
                        false => &mut known.mentioned,
                    };
                    places.insert(slot, written.into());
                }
                number
            });
            written.collect::<Vec<u32>>()
        };
        let (titles, mentions) = (own(reading.titles, true), own(reading.mentions, false));
        let facts = reading.facts.into_iter().map(|fact| BroughtFact {
            text: fact.text.into(),
            subject: self.names.take(&fact.subject),
            names: fact.names.iter().map(|key| self.names.take(key)).collect(),
            stems: fact
                .stems
                .iter()
                .map(|stem| self.stems.take(stem))
                .collect(),
        });
        let facts = facts.collect();
        let openers = reading.openers.into_iter().map(|opener| {
            let number = self.openers.take(&opener);
            if let Some(holders) = self.openers.kept_mut(number) {
                holders.insert(slot);
            }
            number
        });
        let brought = Brought {
            titles,
            mentions,
            facts,
            openers: openers.collect(),
        };
        self.slots.insert(passage.id.clone(), slot);
        let entry = Some(Entry { passage, brought });
        match self.entries.get_mut(slot as usize) {
            Some(place) => *place = entry,
            None => self.entries.push(entry),
        }
    }

    fn take(&mut self, slot: u32) -> Option<Entry<I>> {
        let entry = self.entries.get_mut(slot as usize)?.take()?;
        self.slots.remove(&entry.passage.id);
        self.free.push(slot);
        let brought = &entry.brought;
        for &number in brought.titles.iter().chain(&brought.mentions) {
            if let Some(known) = self.names.kept_mut(number) {
                // A name that is both is released twice, each time without what is gone already.
                known.titled.remove(&slot);
                known.mentioned.remove(&slot);
            }
            self.names.release(number);
        }
        for fact in &brought.facts {
            for &number in fact.names.iter().chain([&fact.subject]) {
                self.names.release(number);
            }
            for &number in &fact.stems {
                self.stems.release(number);
            }
        }
        for &number in &brought.openers {
            if let Some(holders) = self.openers.kept_mut(number) {
                holders.remove(&slot);
            }
            self.openers.release(number);
        }
        Some(entry)
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
