//! Statistics that outlive changes: an index that has served through any history says, bit for bit,
//! what one says that was built just now, of what the asker sees and nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cornu_core::testing::proptest::collection::vec;
use cornu_core::testing::proptest::prelude::*;
use cornu_core::testing::proptest::sample::Index;
use cornu_core::{Acl, ContentHash, DocId, Fingerprint, Principal, View, ViewEntry};
use cornu_sparse::{Bm25, Bm25Index, DocumentRows, Query, Row, TermCounts};

const ASKERS: usize = 3;
/// Documents in the base from the start: a few changes do not make it worth a merge.
const FIRST: u32 = 16;

#[derive(Clone, Debug)]
enum Step {
    /// A new version of a document, under an ordinal of its own.
    Write {
        name: u32,
        content: u32,
        acl: u8,
    },
    Remove {
        name: u32,
    },
    /// Somebody asks, with the view they had if it still stands, with one that is read anew, or
    /// with one of an earlier state.
    Ask {
        who: usize,
        when: When,
    },
    /// The index drops versions, whoever sees them; they are written again when they are missed.
    Drop {
        every: u32,
        at: u32,
    },
    /// The index moves on to the present state, and nothing changes in it.
    Move,
    Compact,
}

#[derive(Clone, Copy, Debug)]
enum When {
    Carried,
    Anew,
    Before(Index),
}

/// Ordinal, content and grants by name.
type Documents = BTreeMap<u32, (u32, u32, u8)>;

/// The facts, state by state, and who sees what.
struct World {
    epoch: u64,
    documents: Documents,
    ordinals: u32,
    views: Vec<View>,
    /// Views of all states so far, and these states.
    past: Vec<(View, Documents)>,
}

/// An index that is filled as views ask for it, keeps versions that are no longer the last ones,
/// and stays in the state it is in as long as who asks has seen the same in it.
struct Served {
    index: Bm25Index<u32>,
    /// The first id of each document by ordinal.
    held: BTreeMap<u32, u32>,
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..FIRST + 2;
    let when = prop_oneof![
        4 => Just(When::Carried),
        4 => Just(When::Anew),
        1 => any::<Index>().prop_map(When::Before),
    ];
    prop_oneof![
        4 => (name.clone(), 0_u32..3, 0_u8..8)
            .prop_map(|(name, content, acl)| Step::Write { name, content, acl }),
        1 => name.prop_map(|name| Step::Remove { name }),
        8 => (0..ASKERS, when).prop_map(|(who, when)| Step::Ask { who, when }),
        1 => (2_u32..12, 0_u32..12).prop_map(|(every, at)| Step::Drop { every, at }),
        1 => Just(Step::Move),
        1 => Just(Step::Compact),
    ]
}

/// Versions of one content differ in their ids, so that answers tell them apart.
fn rows(ordinal: u32, name: u32, content: u32) -> DocumentRows<u32> {
    let texts: &[&[(&str, u32)]] = match content {
        0 => &[&[("a", 1), ("b", 2)]],
        1 => &[&[("a", 2), ("c", 1)], &[("b", 1)], &[]],
        _ => &[&[("c", 3), ("d", 1), ("a", 1)]],
    };
    let rows = texts.iter().zip(0..).map(|(terms, at)| {
        let words = terms.iter().map(|(_, count)| count).sum::<u32>();
        let length = if words == 0 { 0 } else { words + name % 3 };
        let terms = terms.iter().map(|(term, count)| (*term, *count));
        Row {
            id: (name % 5) * 100_000 + ordinal * 4 + at,
            counts: TermCounts::from_pairs(length, terms).unwrap(),
        }
    });
    DocumentRows {
        document: ordinal,
        rows: rows.collect(),
    }
}

fn asker(who: usize) -> Principal {
    Principal::new([format!("g{who}")]).unwrap()
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            epoch: 0,
            documents: BTreeMap::new(),
            ordinals: 0,
            views: Vec::new(),
            past: Vec::new(),
        };
        world.views = (0..ASKERS).map(|who| world.read(who)).collect();
        world.commit(|world| {
            for name in 0..FIRST {
                world.write(name, name % 3, [7, 7, 6, 5][name as usize % 4]);
            }
        });
        world
    }

    fn write(&mut self, name: u32, content: u32, acl: u8) {
        self.documents.insert(name, (self.ordinals, content, acl));
        self.ordinals += 1;
    }

    /// A commit; views that see what they saw are carried over it.
    fn commit(&mut self, change: impl FnOnce(&mut Self)) {
        change(self);
        self.epoch += 1;
        for who in 0..ASKERS {
            let (old, new) = (&self.views[who], self.read(who));
            let same = old.digest() == new.digest() && old.ordinals().eq(new.ordinals());
            self.views[who] = match same {
                true => old.carried_to(self.epoch),
                false => new,
            };
            let view = self.views[who].clone();
            self.past.push((view, self.documents.clone()));
        }
    }

    fn read(&self, who: usize) -> View {
        let documents = self.documents.iter();
        let facts: Vec<_> = documents
            .map(|(name, &(ordinal, content, acl))| {
                let groups = (0..ASKERS).filter(|who| acl >> who & 1 == 1);
                let acl = match acl {
                    0 => Acl::nobody(),
                    _ => Acl::new(groups.map(|who| format!("g{who}"))).unwrap(),
                };
                let id = DocId::new(&format!("d{name}")).unwrap();
                let content = ContentHash::of(&content.to_le_bytes());
                (ordinal, id, content, acl)
            })
            .collect();
        let entries = facts.iter().map(|(ordinal, id, content, acl)| ViewEntry {
            ordinal: *ordinal,
            id,
            content,
            acl,
        });
        View::resolve(&asker(who), self.epoch, entries)
    }

    fn asked(&self, who: usize, when: When) -> (View, Vec<DocumentRows<u32>>) {
        let view = match when {
            When::Carried => self.views[who].clone(),
            When::Anew => self.read(who),
            When::Before(at) => {
                let (view, documents) = &self.past[at.index(self.past.len())];
                return (view.clone(), seen(documents, view));
            }
        };
        let seen = seen(&self.documents, &view);
        (view, seen)
    }
}

/// What a view of a state holds.
fn seen(documents: &Documents, view: &View) -> Vec<DocumentRows<u32>> {
    let seen = documents
        .iter()
        .filter(|(_, (ordinal, ..))| view.contains(*ordinal));
    seen.map(|(&name, &(ordinal, content, _))| rows(ordinal, name, content))
        .collect()
}

impl Served {
    fn new(bytes: usize) -> Self {
        let index = Bm25Index::build(Fingerprint::new("test"), [], 0).unwrap();
        Self {
            index: index.with_stats_bytes(bytes),
            held: BTreeMap::new(),
        }
    }

    /// Brings the index to a state in which the view stands, and to hold what it sees.
    fn prepare(&mut self, view: &View, seen: &[DocumentRows<u32>]) {
        let missing = seen.iter();
        let missing: Vec<_> = missing
            .filter(|rows| !self.held.contains_key(&rows.document))
            .cloned()
            .collect();
        let ids = missing.iter().map(|rows| (rows.document, rows.rows[0].id));
        self.held.extend(ids);
        match view.stood_at(self.index.epoch()) {
            true if missing.is_empty() => {}
            true => self.index.apply(missing, self.index.epoch()).unwrap(),
            false => self.index.apply(missing, view.epoch()).unwrap(),
        }
    }

    fn drop_some(&mut self, every: u32, at: u32) {
        let is_gone = |ordinal: &u32| ordinal % every == at % every;
        let gone = self.held.keys().copied().filter(is_gone);
        let removed = gone.map(|document| DocumentRows {
            document,
            rows: vec![],
        });
        self.index.apply(removed, self.index.epoch()).unwrap();
        self.held.retain(|ordinal, _| !is_gone(ordinal));
    }
}

/// All that an asker can get, as text, twice: made, and kept.
fn answers(index: &Bm25Index<u32>, view: &View, ids: &[u32]) -> String {
    let mut out = String::new();
    let bm25 = Bm25::default();
    for _ in 0..2 {
        let searcher = index.searcher(view).unwrap();
        writeln!(out, "{:?}", (searcher.rows(), searcher.average_length())).unwrap();
        for words in ["a", "b d", "c a b"] {
            let terms = words.split(' ').map(|word| (word.to_owned(), 1.0));
            let query = Query::weighted(terms).unwrap();
            for k in [3, usize::MAX] {
                writeln!(out, "{:?}", searcher.search(&query, &bm25, k).unwrap()).unwrap();
            }
        }
        let query = Query::weighted(["d", "b"].map(|word| (word.to_owned(), 1.0))).unwrap();
        for id in ids {
            let why = searcher.explain(&query, &bm25, id).unwrap();
            let why = why.map(|why| (why.score, why.length, why.terms[1].frequency));
            writeln!(out, "{why:?}").unwrap();
        }
    }
    out
}

proptest! {
    #[test]
    fn an_index_that_has_served_says_what_a_fresh_one_says(
        steps in vec(step(), 1..40),
        bytes in prop::sample::select(vec![1 << 20, 1 << 20, 1500, 0]),
    ) {
        let mut world = World::new();
        let (mut served, mut without) = (Served::new(bytes), Served::new(0));
        for step in steps {
            match step {
                Step::Write { name, content, acl } => {
                    world.commit(|world| world.write(name, content, acl));
                }
                Step::Remove { name } => world.commit(|world| {
                    world.documents.remove(&name);
                }),
                Step::Ask { who, when } => {
                    let (view, seen) = world.asked(who, when);
                    served.prepare(&view, &seen);
                    without.prepare(&view, &seen);
                    let fresh = Bm25Index::build(Fingerprint::new("test"), seen, view.epoch());
                    let ids: Vec<u32> = served.held.values().copied().collect();
                    prop_assert_eq!(
                        answers(&served.index, &view, &ids),
                        answers(&fresh.unwrap(), &view, &ids)
                    );
                }
                Step::Drop { every, at } => {
                    served.drop_some(every, at);
                    without.drop_some(every, at);
                }
                Step::Move => {
                    served.index.apply([], world.epoch).unwrap();
                    without.index.apply([], world.epoch).unwrap();
                }
                Step::Compact => {
                    served.index.compact().unwrap();
                    without.index.compact().unwrap();
                }
            }
            prop_assert_eq!(&served.index, &without.index);
            let kept = served.index.heap_bytes() - without.index.heap_bytes();
            prop_assert!(kept <= bytes, "{} of {} bytes", kept, bytes);
        }
    }
}
