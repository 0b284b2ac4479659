//! What one passage brings to a graph: names, facts, and the words by which a title may be found in
//! it.

use std::collections::{BTreeMap, BTreeSet};

use cornu_extract::{entity_key, key_words};

use crate::names::{Found, find, is_number, without_brackets};
use crate::passage::Passage;
use crate::relation::stems;

/// It depends on the passage, and on which keys are titles of some passage; on nothing else.
#[derive(Debug)]
pub(super) struct Reading {
    /// The keys of its title, with and without what stands in brackets, as they are written.
    pub(super) titles: BTreeMap<String, String>,
    /// The keys of the names that stand in it, as they are written.
    pub(super) mentions: BTreeMap<String, String>,
    pub(super) facts: Vec<FactReading>,
    /// See [`Search`].
    pub(super) openers: BTreeSet<String>,
}

/// A statement.
#[derive(Debug)]
pub(super) struct FactReading {
    pub(super) text: String,
    /// The key of its subject; empty where there is none.
    pub(super) subject: String,
    /// The keys of its names.
    pub(super) names: BTreeSet<String>,
    pub(super) stems: BTreeSet<String>,
}

impl Reading {
    pub(super) fn of<I>(passage: &Passage<I>, is_title: &dyn Fn(&str) -> bool) -> Self {
        let mut search = Search {
            is_title,
            openers: BTreeSet::new(),
        };
        Self {
            titles: titles(passage),
            mentions: mentions(passage, &mut search),
            facts: facts(passage, &mut search),
            openers: search.openers(),
        }
    }
}

/// The keys of a passage's title, with and without what stands in brackets, as they are written.
pub(super) fn titles<I>(passage: &Passage<I>) -> BTreeMap<String, String> {
    let title = passage.title.as_deref();
    let mut keys = BTreeMap::new();
    for form in title.into_iter().chain(title.and_then(without_brackets)) {
        let written = || form.trim().to_owned();
        keys.entry(entity_key(form)).or_insert_with(written);
    }
    keys.remove("");
    keys
}

/// The search for titles in texts. It notes the words from which it looked: the key of a title that
/// is found in these texts, now or later, begins with one of them.
struct Search<'a> {
    is_title: &'a dyn Fn(&str) -> bool,
    openers: BTreeSet<String>,
}

impl Search<'_> {
    fn titles_in(&mut self, text: &str) -> Vec<Found> {
        let words = key_words(text);
        let openers = words.iter().filter(|word| word.opens_name);
        self.openers.extend(openers.map(|word| word.key.clone()));
        // One or two Latin letters are too common to be a title's mention.
        find(&words, |key| key.len() > 2 && (self.is_title)(key))
    }

    fn openers(mut self) -> BTreeSet<String> {
        // An article in front of a name is cut off its key. A name is not looked for from "the", but
        // it is from "th", and "th e" is cut off as well.
        let is_cut = |word: &String| word != "the" && "the".starts_with(word.as_str());
        if self.openers.iter().any(is_cut) {
            self.openers.insert(String::new());
        }
        self.openers
    }
}

fn mentions<I>(passage: &Passage<I>, search: &mut Search<'_>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entity in &passage.extraction.entities {
        if !is_number(entity) {
            let key = entity_key(entity);
            found.entry(key).or_insert_with(|| entity.clone());
        }
    }
    for title in search.titles_in(&passage.text) {
        // It is written as in the title.
        found.entry(title.key).or_default();
    }
    found.remove("");
    found
}

/// A passage's triples and propositions as facts, none of them twice.
fn facts<I>(passage: &Passage<I>, search: &mut Search<'_>) -> Vec<FactReading> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for (text, entities) in entities_of_facts(passage) {
        if !seen.insert(text.clone()) {
            continue;
        }
        let mut names = BTreeSet::new();
        for entity in &entities {
            names.insert(entity_key(entity));
            let titles = search.titles_in(entity).into_iter();
            names.extend(titles.map(|title| title.key));
        }
        names.remove("");
        let subject = entities.first().map(|name| entity_key(name));
        out.push(FactReading {
            subject: subject.unwrap_or_default(),
            names,
            stems: stems(&text),
            text,
        });
    }
    out
}

/// The texts of the triples and propositions, with their names; a triple's subject comes first.
fn entities_of_facts<I>(passage: &Passage<I>) -> impl Iterator<Item = (String, Vec<&str>)> {
    let from_triples = passage.extraction.triples.iter().map(|triple| {
        let text = format!("{} {} {}", triple.subject, triple.predicate, triple.object);
        (text, vec![triple.subject.as_str(), triple.object.as_str()])
    });
    let from_propositions = passage.extraction.propositions.iter().map(|proposition| {
        let entities = proposition.entities.iter().map(String::as_str).collect();
        (proposition.text.clone(), entities)
    });
    from_triples.chain(from_propositions)
}
