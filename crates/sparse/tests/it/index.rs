//! Changes step by step, the epoch, and the cache of statistics.

use std::collections::BTreeMap;

use cornu_core::testing::proptest::collection::{btree_map, vec};
use cornu_core::testing::proptest::prelude::*;
use cornu_core::{Acl, ContentHash, DocId, Fingerprint, Principal, View, ViewEntry};
use cornu_sparse::{Bm25, Bm25Index, DocumentRows, Query, Row, SparseError, TermCounts};

use crate::{index_of, view};

/// Few documents written again and again; row ids name their document, so that none come twice.
fn writes() -> impl Strategy<Value = Vec<Vec<DocumentRows<u32>>>> {
    let counts = btree_map("[a-e]{1,2}", 1_u32..4, 0..5).prop_map(|terms| {
        let length = terms.values().sum();
        TermCounts::from_pairs(length, terms).unwrap()
    });
    let document = (0_u32..8, vec(counts, 0..4)).prop_map(|(document, rows)| DocumentRows {
        document,
        rows: rows
            .into_iter()
            .zip(0..)
            .map(|(counts, at)| Row {
                id: 7 * at + 100 * (document % 3) + document,
                counts,
            })
            .collect(),
    });
    let step = vec(document, 0..4).prop_map(|documents| {
        let by_ordinal = documents.into_iter().map(|rows| (rows.document, rows));
        by_ordinal
            .collect::<BTreeMap<_, _>>()
            .into_values()
            .collect()
    });
    vec(step, 1..8)
}

fn fresh(documents: impl IntoIterator<Item = DocumentRows<u32>>, epoch: u64) -> Bm25Index<u32> {
    Bm25Index::build(Fingerprint::new("test"), documents, epoch).unwrap()
}

proptest! {
    /// Step by step is a fresh build: the same answers before the merge, the same bytes after it.
    #[test]
    fn changes_equal_a_fresh_build(steps in writes(), seen in any::<u8>()) {
        let unique = |documents: &BTreeMap<u32, DocumentRows<u32>>| {
            let ids: Vec<u32> = documents.values().flat_map(|d| d.rows.iter().map(|r| r.id)).collect();
            ids.len() == ids.iter().collect::<std::collections::BTreeSet<_>>().len()
        };
        let mut index = fresh([], 0);
        let mut state: BTreeMap<u32, DocumentRows<u32>> = BTreeMap::new();
        for step in steps {
            let mut next = state.clone();
            next.extend(step.iter().map(|rows| (rows.document, rows.clone())));
            if !unique(&next) {
                let before = format!("{index:?}");
                let refused = matches!(index.apply(step, 1), Err(SparseError::DuplicateRow { .. }));
                prop_assert!(refused);
                prop_assert_eq!(format!("{index:?}"), before, "nothing has changed");
                continue;
            }
            state = next;
            index.apply(step, 1).unwrap();
            let built = fresh(state.values().cloned(), 1);
            let view = view(8, |document| seen >> document & 1 == 1);
            let (ours, theirs) = (index.searcher(&view).unwrap(), built.searcher(&view).unwrap());
            for words in ["a", "b ab", "c cc e a"] {
                let terms = words.split(' ').map(|word| (word.to_owned(), 1.0));
                let query = Query::weighted(terms).unwrap();
                let bm25 = Bm25::default();
                prop_assert_eq!(ours.search(&query, &bm25, 3).unwrap(), theirs.search(&query, &bm25, 3).unwrap());
                for id in state.values().flat_map(|d| d.rows.iter().map(|row| row.id)) {
                    let why = ours.explain(&query, &bm25, &id).unwrap();
                    prop_assert_eq!(why, theirs.explain(&query, &bm25, &id).unwrap());
                }
            }
            let before = index.fingerprint().clone();
            let mut compact = fresh(state.values().cloned().rev(), 1);
            prop_assert_eq!(&compact, &built, "the order of documents does not matter");
            compact.apply([], 1).unwrap();
            prop_assert_eq!(&before, built.fingerprint());
        }
        index.compact().unwrap();
        prop_assert_eq!(index, fresh(state.into_values(), 1));
    }
}

fn one(term: &str) -> TermCounts {
    TermCounts::from_pairs(1, [(term, 1)]).unwrap()
}

#[test]
fn a_view_of_another_epoch_is_refused() {
    let mut index = index_of([one("a")]);
    let view = view(1, |_| true);
    assert!(index.searcher(&view).is_ok());
    index.apply([], 2).unwrap();
    let error = index.searcher(&view).unwrap_err();
    assert_eq!(error, SparseError::Epoch { view: 1, index: 2 });
}

/// Ordinals far apart (a store that never gives one twice) are no different.
#[test]
fn ordinals_may_be_sparse() {
    let ordinals = [7, 4_000_000_000, u32::MAX];
    let documents = ordinals.map(|document| DocumentRows {
        document,
        rows: vec![Row {
            id: document,
            counts: one("a"),
        }],
    });
    let index = Bm25Index::build(Fingerprint::new("test"), documents, 1).unwrap();
    let (public, nobody) = (Acl::public(), Acl::nobody());
    let content = ContentHash::of(b"");
    let ids = ordinals.map(|ordinal| DocId::new(&ordinal.to_string()).unwrap());
    let entries = ids.iter().zip(ordinals).map(|(id, ordinal)| ViewEntry {
        ordinal,
        id,
        content: &content,
        acl: if ordinal == 7 { &nobody } else { &public },
    });
    let view = View::resolve(&Principal::public(), 1, entries);
    let query = Query::weighted([("a".to_owned(), 1.0)]).unwrap();
    let searcher = index.searcher(&view).unwrap();
    let found = searcher.search(&query, &Bm25::default(), 5).unwrap();
    assert_eq!(found.ids().copied().collect::<Vec<_>>(), ordinals[1..]);
    assert_eq!(searcher.rows(), 2);
}

/// Kept or computed anew, within the bound or without any room: the same answers, and never more
/// bytes than the bound.
#[test]
fn statistics_stay_within_their_bound() {
    let rows: Vec<TermCounts> = (0..2000)
        .map(|row| TermCounts::from_pairs(3, [("a", 1), ("b", 1 + row % 2), ("c", 1)]).unwrap())
        .collect();
    let roomy = index_of(rows.clone());
    let none = index_of(rows.clone()).with_stats_bytes(0);
    let empty = roomy.heap_bytes();
    let query = Query::weighted([("a".to_owned(), 1.0), ("b".to_owned(), 1.0)]).unwrap();
    let mut answers = Vec::new();
    for round in 0..2 {
        for share in 1..20 {
            let view = view(2000, |document| document.is_multiple_of(share));
            let found = |index: &Bm25Index<u32>| {
                index
                    .searcher(&view)
                    .unwrap()
                    .search(&query, &Bm25::default(), 5)
                    .unwrap()
            };
            assert_eq!(found(&roomy), found(&none));
            match round {
                0 => answers.push(found(&roomy)),
                _ => assert_eq!(found(&roomy), answers[share as usize - 1]),
            }
        }
    }
    assert_eq!(none.heap_bytes(), empty);
    let of_one_view = (roomy.heap_bytes() - empty) / 19;
    let tight = index_of(rows).with_stats_bytes(3 * of_one_view + 1);
    for share in 1..20 {
        let view = view(2000, |document| document.is_multiple_of(share));
        assert!(tight.searcher(&view).is_ok());
        assert!(tight.heap_bytes() <= empty + 3 * of_one_view + 1);
    }
    assert!(
        tight.heap_bytes() >= empty + 2 * of_one_view,
        "it keeps what fits"
    );
}

/// Several threads, the first use of a view's statistics among what they share.
#[test]
fn threads_get_the_same_answers() {
    let rows = (0..3000_u32).map(|row| {
        let terms = [
            ("a", 1 + row % 3),
            ("b", row % 2),
            ("c", u32::from(row % 7 == 0)),
        ];
        TermCounts::from_pairs(3 + row % 5, terms).unwrap()
    });
    let index = index_of(rows);
    let terms = ["a", "b", "c"].map(|term| (term.to_owned(), 1.0));
    let query = Query::weighted(terms).unwrap();
    let search = || {
        let seen = view(3000, |document| document % 3 != 0);
        index
            .searcher(&seen)
            .unwrap()
            .search(&query, &Bm25::default(), 50)
            .unwrap()
    };
    let found = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(search)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert!(
        found
            .iter()
            .all(|each| *each == search() && each.len() == 50)
    );
}

/// What a view does not hold is not in the debug output of its searcher either.
#[test]
fn a_searcher_prints_nothing_hidden() {
    let index = index_of([one("open"), one("hidden")]);
    let alone = index_of([one("open")]);
    let (some, all) = (view(2, |document| document == 0), view(1, |_| true));
    let whole = format!("{:?}", index.searcher(&some).unwrap());
    assert_eq!(whole, format!("{:?}", alone.searcher(&all).unwrap()));
}

#[test]
fn the_fingerprint_names_the_tokenizer() {
    let tokenizer = cornu_text::Tokenizer::new();
    let ours = Bm25Index::<u32>::build(tokenizer.fingerprint().clone(), [], 0).unwrap();
    let other = Bm25Index::<u32>::build(Fingerprint::new("other"), [], 0).unwrap();
    assert_eq!(ours.tokenizer(), tokenizer.fingerprint());
    assert_ne!(ours.fingerprint(), other.fingerprint());
    assert_ne!(ours, other);
}

#[test]
fn facts_that_contradict_each_other_are_refused() {
    let row = |id| Row {
        id,
        counts: one("a"),
    };
    let twice = [0, 1].map(|document| DocumentRows {
        document,
        rows: vec![row(5)],
    });
    let error = Bm25Index::build(Fingerprint::new("test"), twice, 0).unwrap_err();
    assert_eq!(error, SparseError::DuplicateRow { document: 1 });
    let twice = [5, 6].map(|id| DocumentRows {
        document: 3,
        rows: vec![row(id)],
    });
    let error = Bm25Index::build(Fingerprint::new("test"), twice, 0).unwrap_err();
    assert_eq!(error, SparseError::DuplicateDocument { document: 3 });
    let error = TermCounts::from_pairs(0, [("a", 1)]).unwrap_err();
    assert_eq!(error, SparseError::Length { terms: 1 });
}
