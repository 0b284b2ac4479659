//! Small documents about few names, so that everything touches everything.

use std::collections::BTreeMap;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{Acl, ContentHash, DocId, Principal, View, ViewEntry};
use cornu_extract::RuleExtractor;
use cornu_hop::{HopMemory, Passage};

/// A passage with what the rules read from it.
pub(crate) fn passage<I>(id: I, text: &str) -> Passage<I> {
    Passage::new(id, text, RuleExtractor::new().read(text))
}

/// A document: its grant and the texts of its passages.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) grant: &'static str,
    pub(crate) texts: Vec<String>,
}

/// A write: the document's number, and what it becomes; `None` removes it.
pub(crate) type Write = (u8, Option<Source>);

const NAMES: [&str; 9] = [
    "Ada Stone",
    "Bell Works",
    "Corin Bay",
    "Dara Lund",
    "Elm House",
    "House Elm", // a spelling of the one before
    "Fen Trust",
    "Gale Pier",
    "Holt",
];

fn text() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(&NAMES[..]);
    let verb = prop::sample::select(&["was founded by", "directed", "is the owner of", "met"][..]);
    (name(), name(), verb, name(), any::<bool>()).prop_map(
        |(title, subject, verb, object, titled)| {
            let body = format!("{subject} {verb} {object} in 1931.");
            if titled {
                format!("{title}\n{body}")
            } else {
                body
            }
        },
    )
}

pub(crate) fn source() -> impl Strategy<Value = Source> {
    let grant = prop::sample::select(&["public", "hr"][..]);
    (grant, prop::collection::vec(text(), 1..4)).prop_map(|(grant, texts)| Source { grant, texts })
}

pub(crate) fn writes() -> impl Strategy<Value = Vec<Write>> {
    prop::collection::vec((0..8_u8, prop::option::weighted(0.8, source())), 1..16)
}

pub(crate) fn question() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(&NAMES[..]);
    (name(), name()).prop_map(|(a, b)| format!("Who is the director of {a}, the founder of {b}?"))
}

/// What the documents are after the writes.
pub(crate) fn finally(writes: &[Write]) -> BTreeMap<u8, Source> {
    let mut out = BTreeMap::new();
    for (document, source) in writes {
        match source {
            Some(source) => out.insert(*document, source.clone()),
            None => out.remove(document),
        };
    }
    out
}

/// The ids of passages are names of documents and positions, as chunk ids are.
pub(crate) type Id = (u8, usize);

pub(crate) fn put(memory: &mut HopMemory<Id>, ordinal: u32, document: u8, source: &Source) {
    let passages = source.texts.iter().enumerate();
    let passages = passages.map(|(at, text)| passage((document, at), text));
    memory.insert(ordinal, passages.collect()).unwrap();
}

/// What a principal sees of the documents, each with the ordinal given.
pub(crate) fn view(documents: &BTreeMap<u8, (u32, Source)>, grant: &str) -> View {
    let entries: Vec<(u32, DocId, ContentHash, Acl)> = documents
        .iter()
        .map(|(document, (ordinal, source))| {
            let id = DocId::new(&format!("{document}.md")).unwrap();
            let hash = ContentHash::of(source.texts.join("\n\n").as_bytes());
            (*ordinal, id, hash, Acl::new([source.grant]).unwrap())
        })
        .collect();
    let entries = entries.iter().map(|(ordinal, id, content, acl)| ViewEntry {
        ordinal: *ordinal,
        id,
        content,
        acl,
    });
    View::resolve(&Principal::new([grant]).unwrap(), 1, entries)
}
