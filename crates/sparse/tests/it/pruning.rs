//! Skipping changes nothing: the same rows with the same bits as scoring every row, and as the
//! formula written down.

use std::collections::BTreeMap;

use cornu_core::testing::proptest::prelude::*;
use cornu_sparse::{Bm25, Bm25Index, DocumentRows, Query, Row, TermCounts, Variant};

use crate::naive::{NaiveRow, naive};
use crate::view;

const VOCABULARY: u64 = 30;
const DOCUMENTS: u32 = 200;

/// Rows over several windows of the scan. Term i stands in about one row in 1 + i/2; counts and
/// lengths are few different values, so that scores tie across windows. In `drift` rows grow longer
/// from one end to the other, so that the bounds of blocks differ.
fn rows(seed: u64, count: u32, drift: bool) -> Vec<TermCounts> {
    let mut state = seed | 1;
    let mut draw = move |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    (0..count)
        .map(|row| {
            let terms: BTreeMap<String, u32> = (0..VOCABULARY)
                .filter_map(|term| {
                    let held = draw(2 + term * term) < 2;
                    held.then(|| (format!("t{term}"), 1 + draw(3) as u32))
                })
                .collect();
            let words: u32 = terms.values().sum();
            let more = if drift { row / 100 } else { 4 * draw(3) as u32 };
            TermCounts::from_pairs(words + more, terms).unwrap()
        })
        .collect()
}

/// Several rows a document; ids count down, so that the order of ids is not that of insertion.
fn documents(rows: &[TermCounts], which: impl Fn(u32) -> bool) -> Vec<DocumentRows<u32>> {
    let rows_of = |document: u32| {
        let places = (document as usize..rows.len()).step_by(DOCUMENTS as usize);
        let row = |at: usize| Row {
            id: (rows.len() - at) as u32,
            counts: rows[at].clone(),
        };
        places.map(row).collect()
    };
    let documents = (0..DOCUMENTS).filter(|&document| which(document));
    documents
        .map(|document| DocumentRows {
            document,
            rows: rows_of(document),
        })
        .collect()
}

fn build(documents: Vec<DocumentRows<u32>>) -> Bm25Index<u32> {
    Bm25Index::build(cornu_core::Fingerprint::new("test"), documents, 1).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 8, ..ProptestConfig::default() })]

    #[test]
    fn pruned_is_exhaustive_is_the_formula(
        seed in any::<u64>(),
        drift in any::<bool>(),
        share in prop::sample::select(vec![1_u32, 2, 10, 97]),
        terms in prop::collection::vec((0..VOCABULARY, prop::sample::select(vec![0.5, 1.0, 2.0])), 1..7),
        k in prop::sample::select(vec![1_usize, 2, 10, 100, 20_000]),
        b in prop::sample::select(vec![0.0, 0.75, 1.0]),
        variant in prop::sample::select(vec![
            Variant::Lucene, Variant::Robertson, Variant::Atire, Variant::Bm25L, Variant::Bm25Plus,
        ]),
    ) {
        let rows = rows(seed, 7000, drift);
        let index = build(documents(&rows, |_| true));
        let seen = |document: u32| document.is_multiple_of(share);
        let view = view(DOCUMENTS, seen);
        let query = Query::weighted(terms.iter().map(|(term, w)| (format!("t{term}"), *w))).unwrap();
        let bm25 = Bm25::new(variant, 1.2, b).unwrap();
        let found = {
            let searcher = index.searcher(&view).unwrap();
            let found = searcher.search(&query, &bm25, k).unwrap();
            prop_assert_eq!(&found, &searcher.search_exhaustively(&query, &bm25, k).unwrap());
            found
        };
        // A shorter list is the beginning of a longer one.
        {
            let searcher = index.searcher(&view).unwrap();
            prop_assert_eq!(searcher.search(&query, &bm25, k / 2).unwrap(), found.clone().top(k / 2));
            let usual = searcher.search(&query, &Bm25::default(), k).unwrap();
            let reference: Vec<NaiveRow<u32>> = rows
                .iter()
                .enumerate()
                .map(|(at, counts)| NaiveRow {
                    id: (rows.len() - at) as u32,
                    seen: seen(at as u32 % DOCUMENTS),
                    length: counts.length(),
                    terms: counts.iter().map(|(term, count)| (term.to_owned(), count)).collect(),
                })
                .collect();
            let weighted: Vec<_> = query.iter().map(|(t, w)| (t.to_owned(), w)).collect();
            let expected = naive(&reference, &weighted, k, None);
            let usual: Vec<_> = usual.into_iter().map(|hit| (hit.id, hit.score.to_bits())).collect();
            prop_assert_eq!(usual, expected);
        }
        // The same rows spread over base and changes, ids interleaved; then some written again, so
        // that the base holds rows that are dead.
        let mut index = build(documents(&rows, |document| document % 2 == 0));
        index.apply(documents(&rows, |document| document % 2 == 1), 1).unwrap();
        for again in 0..2 {
            let searcher = index.searcher(&view).unwrap();
            prop_assert_eq!(&searcher.search(&query, &bm25, k).unwrap(), &found);
            prop_assert_eq!(&searcher.search_exhaustively(&query, &bm25, k).unwrap(), &found);
            if again == 0 {
                index.apply(documents(&rows, |document| document % 9 == 0), 1).unwrap();
            }
        }
    }
}
