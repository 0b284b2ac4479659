//! A graph that is brought up to date: what each passage brings is kept, and only that of passages
//! which a change touches is read again.

mod assembly;
mod interned;
mod principals;
mod reading;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use std::sync::Arc;

use rayon::prelude::*;

use crate::error::HopError;
use crate::graph::{GraphOptions, HopGraph};
use crate::passage::Passage;
use interned::Interned;
pub use principals::{Held, PrincipalGraphs};
use reading::{Reading, titles};

/// Passages that come and go, and the graph of those that are there.
///
/// After any history of updates [`graph`](Self::graph) is, bit for bit, what
/// [`HopGraph::build_with`] makes of the passages that are left. Nothing is summed up over time:
/// for each name it is known which passages have it, for each passage what was read from it, and
/// weights, numbers and frequencies are counted from there. Memory: the passages, each name, stem and
/// word that may open a title once, and some dozen bytes for each passage that has it.
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
    /// How many passages have a key in their title. Only looked up, for every run of words of a text
    /// that may be one.
    titles: HashMap<String, u32>,
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
            titles: HashMap::new(),
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
        let read = |passage: &Arc<Passage<I>>| Reading::of(passage, &|key| known.contains_key(key));
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
        self.assembled()
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
}
