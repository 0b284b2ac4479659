//! What one passage brings to a graph: names, facts, and the words by which a title may be found in
//! it.

use std::collections::{BTreeMap, BTreeSet};

use cornu_extract::{entity_key, key_words};

use crate::names::{is_number, titles_in, without_brackets};
use crate::passage::Passage;
use crate::relation::stems;

/// It depends on the passage, and on which keys are titles of some passage; on nothing else.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The keys of its title, with and without what stands in brackets, as they are written.
    pub(crate) titles: BTreeMap<String, String>,
    /// The keys of the names that stand in it, as they are written.
    pub(crate) mentions: BTreeMap<String, String>,
    pub(crate) facts: Vec<FactReading>,
    /// See [`openers`].
    pub(crate) openers: BTreeSet<String>,
}

/// A statement.
#[derive(Debug)]
pub(crate) struct FactReading {
    pub(crate) text: String,
    /// The key of its subject; empty where there is none.
    pub(crate) subject: String,
    /// The keys of its names.
    pub(crate) names: BTreeSet<String>,
    pub(crate) stems: BTreeSet<String>,
}

impl Reading {
    pub(crate) fn of<I>(passage: &Passage<I>, is_title: impl Fn(&str) -> bool) -> Self {
        Self {
            titles: titles(passage),
            mentions: mentions(passage, &is_title),
            facts: facts(passage, &is_title),
            openers: openers(passage),
        }
    }
}

/// The keys of a passage's title, with and without what stands in brackets, as they are written.
pub(crate) fn titles<I>(passage: &Passage<I>) -> BTreeMap<String, String> {
    let title = passage.title.as_deref();
    let mut keys = BTreeMap::new();
    for form in title.into_iter().chain(title.and_then(without_brackets)) {
        let written = || form.trim().to_owned();
        keys.entry(entity_key(form)).or_insert_with(written);
    }
    keys.remove("");
    keys
}

/// The beginnings of keys by which a title can be found in a passage or in the names of its facts:
/// the key of a title that is found begins with one of these.
fn openers<I>(passage: &Passage<I>) -> BTreeSet<String> {
    let facts = entities_of_facts(passage).flat_map(|(_, entities)| entities);
    let texts = std::iter::once(passage.text.as_str()).chain(facts);
    let mut out = BTreeSet::new();
    for text in texts {
        let words = key_words(text).into_iter();
        out.extend(words.filter(|word| word.opens_name).map(|word| word.key));
    }
    // An article in front of a name is cut off its key. A name is not looked for from "the", but it
    // is from "th", and "th e" is cut off as well.
    let is_cut = |word: &String| word != "the" && "the".starts_with(word.as_str());
    if out.iter().any(is_cut) {
        out.insert(String::new());
    }
    out
}

fn mentions<I>(passage: &Passage<I>, is_title: impl Fn(&str) -> bool) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entity in &passage.extraction.entities {
        if !is_number(entity) {
            let key = entity_key(entity);
            found.entry(key).or_insert_with(|| entity.clone());
        }
    }
    for title in titles_in(&passage.text, is_title) {
        // It is written as in the title.
        found.entry(title.key).or_default();
    }
    found.remove("");
    found
}

/// A passage's triples and propositions as facts, none of them twice.
fn facts<I>(passage: &Passage<I>, is_title: impl Fn(&str) -> bool) -> Vec<FactReading> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for (text, entities) in entities_of_facts(passage) {
        if !seen.insert(text.clone()) {
            continue;
        }
        let mut names = BTreeSet::new();
        for entity in &entities {
            names.insert(entity_key(entity));
            let titles = titles_in(entity, &is_title).into_iter();
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
