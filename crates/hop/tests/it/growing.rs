//! A graph that is brought up to date is that of a fresh build, bit for bit, at every step.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{Extraction, Principal, Triple};
use cornu_hop::{
    GraphOptions, GrowingGraph, Held, HopError, HopGraph, HopMemory, Passage, PrincipalGraphs,
    RecallOptions,
};

use crate::world::{Id, finally, put, question, view, writes};

/// Words that make names which begin alike, join otherwise, lose their article, or are numbers.
const WORDS: [&str; 16] = [
    "the", "The", "Th", "E", "T", "He", "Elm", "elm", "House", "ElmHouse", "19", "31", "of", "北",
    "海", "(film)",
];

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(&WORDS[..]);
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

fn passage() -> impl Strategy<Value = Passage<u8>> {
    let title = prop::option::weighted(0.7, text());
    let names = prop::collection::vec(text(), 0..3);
    let triples = prop::collection::vec((text(), text(), text()), 0..3);
    (0..10_u8, title, text(), names, triples).prop_map(|(id, title, text, entities, triples)| {
        let triple = |(subject, predicate, object)| Triple {
            subject,
            predicate,
            object,
        };
        let triples = triples.into_iter().map(triple).collect();
        let extraction = Extraction {
            entities,
            triples,
            ..Extraction::default()
        };
        Passage {
            id,
            title,
            text,
            extraction,
        }
    })
}

/// Ids to take away, passages to put in.
fn updates() -> impl Strategy<Value = Vec<(Vec<u8>, Vec<Passage<u8>>)>> {
    let removed = prop::collection::vec(0..10_u8, 0..3);
    let put = prop::collection::vec(passage(), 0..4);
    prop::collection::vec((removed, put), 1..8)
}

fn options() -> impl Strategy<Value = GraphOptions> {
    let synonyms = prop::option::weighted(0.3, Just(0.5));
    synonyms.prop_map(|synonyms| GraphOptions {
        synonyms,
        ..GraphOptions::default()
    })
}

/// What a principal sees: passages with their documents. No passage is in two of them.
type Seen = BTreeMap<u8, (u8, Passage<u8>)>;

fn seen() -> impl Strategy<Value = Seen> {
    let held = (0..4_u8, passage());
    prop::collection::vec(held, 0..6)
        .prop_map(|all| all.into_iter().map(|held| (held.1.id, held)).collect())
}

/// What a document holds: its version, for a test.
fn held_by(seen: &Seen, document: u8) -> Vec<&Passage<u8>> {
    let own = seen.values().filter(|(of, _)| *of == document);
    own.map(|(_, passage)| passage).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever a principal sees one time after another: documents that come, go or change, and
    /// passages that change, or move from one document to another.
    #[test]
    fn documents_are_looked_into_where_their_version_is_another(
        states in prop::collection::vec((any::<bool>(), seen()), 1..8),
    ) {
        let graphs = PrincipalGraphs::new(2, GraphOptions::default());
        let askers = [Principal::public(), Principal::new(["hr"]).unwrap()];
        let mut before: BTreeMap<bool, Seen> = BTreeMap::new();
        for (who, now) in states {
            let documents: BTreeSet<u8> = now.values().map(|(document, _)| *document).collect();
            let version = |document: &u8| format!("{:?}", held_by(&now, *document));
            let versions = documents.iter().map(|document| (*document, version(document)));
            let (looked, read) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
            let look = |changed: &[u8]| {
                looked.borrow_mut().extend_from_slice(changed);
                let held = now.values().filter(|(document, _)| changed.contains(document));
                let held = held.map(|(document, passage)| Held {
                    document: *document,
                    id: passage.id,
                    stamp: format!("{passage:?}"),
                    source: passage,
                });
                Ok::<_, HopError>(held.collect())
            };
            let read_one = |passage: &Passage<u8>| {
                read.borrow_mut().push(passage.id);
                Ok(Arc::new(passage.clone()))
            };
            let asker = &askers[usize::from(who)];
            let graph = graphs.graph(asker, versions, look, read_one).unwrap();
            let fresh = HopGraph::build(now.values().map(|(_, passage)| passage)).unwrap();
            prop_assert!(graph.same_bits(&fresh), "{graph:?}\n{fresh:?}");

            // Nothing is looked at that is as this principal saw it last.
            let last = before.remove(&who).unwrap_or_default();
            let other = |document: &&u8| held_by(&last, **document) != held_by(&now, **document);
            let changed: Vec<u8> = documents.iter().filter(other).copied().collect();
            prop_assert_eq!(looked.into_inner(), changed);
            let new = now.values().map(|(_, passage)| passage).filter(|passage| {
                last.get(&passage.id).is_none_or(|(_, before)| before != *passage)
            });
            let new: Vec<u8> = new.map(|passage| passage.id).collect();
            prop_assert_eq!(read.into_inner(), new);
            before.insert(who, now);
        }
    }

    #[test]
    fn at_every_step_the_graph_of_a_fresh_build(updates in updates(), options in options()) {
        let mut growing = GrowingGraph::new(options).unwrap();
        let mut left: BTreeMap<u8, Passage<u8>> = BTreeMap::new();
        for (removed, put) in updates {
            for id in &removed {
                left.remove(id);
            }
            left.extend(put.iter().map(|passage| (passage.id, passage.clone())));
            growing.update(removed, put.into_iter().map(Arc::new));
            // In another order than they came.
            let fresh = HopGraph::build_with(left.values().rev(), &options).unwrap();
            let graph = growing.graph().unwrap();
            prop_assert!(graph.same_bits(&fresh), "{graph:?}\n{fresh:?}");
            prop_assert_eq!(growing.len(), left.len());
            prop_assert_eq!(growing.is_empty(), left.is_empty());
        }
    }

    /// The memory, asked by two principals after any of its writes.
    #[test]
    fn a_memory_that_is_asked_between_writes(
        writes in writes(),
        asked in prop::collection::vec(any::<[bool; 2]>(), 16),
        question in question(),
    ) {
        let mut memory: HopMemory<Id> = HopMemory::new(2);
        for (at, (document, source)) in writes.iter().enumerate() {
            match source {
                Some(source) => put(&mut memory, u32::from(*document), *document, source),
                None => drop(memory.remove(u32::from(*document))),
            }
            let documents = finally(&writes[..=at]);
            for (grant, _) in ["public", "hr"].iter().zip(asked[at]).filter(|(_, asked)| *asked) {
                // Without what is hidden, and without a history.
                let mut fresh: HopMemory<Id> = HopMemory::new(1);
                let mut seen = BTreeMap::new();
                for (document, source) in &documents {
                    if source.grant == *grant {
                        put(&mut fresh, u32::from(*document), *document, source);
                    }
                    seen.insert(*document, (u32::from(*document), source.clone()));
                }
                let view = view(&seen, grant);
                let (one, other) = (memory.graph(&view).unwrap(), fresh.graph(&view).unwrap());
                prop_assert!(one.same_bits(&other));
                let recall = |graph: &HopGraph<Id>| {
                    let found = graph.recall(&question, None, &RecallOptions::default()).unwrap();
                    format!("{found:?}")
                };
                prop_assert_eq!(recall(&one), recall(&other));
            }
        }
    }
}

/// A title that comes joins what was read before it came, and parts it when it goes.
#[test]
fn a_title_reaches_back() {
    let named = |id, title: Option<&str>, text: &str| {
        Arc::new(Passage {
            id,
            title: title.map(str::to_owned),
            text: text.to_owned(),
            extraction: Extraction::default(),
        })
    };
    let mut growing = GrowingGraph::new(GraphOptions::default()).unwrap();
    growing.update(
        [],
        [
            named(1, None, "They met in Elm House."),
            // Nothing opens a name here but what is cut off this one as an article.
            named(2, None, "It is by Th e elm house."),
        ],
    );
    assert_eq!(growing.graph().unwrap().names().count(), 0);
    growing.update([], [named(3, Some("Elm House (Leeds)"), "It is old.")]);
    let graph = growing.graph().unwrap();
    assert_eq!(
        graph.names().collect::<Vec<_>>(),
        ["Elm House", "Elm House (Leeds)"]
    );
    assert_eq!(graph.adjacency().row(3).0, [0, 1, 2]);
    growing.update([3], []);
    assert_eq!(growing.graph().unwrap().names().count(), 0);
}
