//! Scans by codes: exact where they say so, and within the view always.

use std::collections::BTreeSet;

use cornu_core::testing::conformance::{StoreOptions, check_store};
use cornu_core::testing::proptest::prelude::*;
use cornu_core::testing::strategies::{Operation, history, principal, unit_vector};
use cornu_core::{Acl, ChunkId, DocId, FactStore, Principal, Ranking};
use cornu_store::{Options, Route, Scan, SqliteVecStore, StoreError};
use ndarray::aview1;

use crate::sample::{Home, Numbers, bits, document, few, options, public, reader};

fn scanned(scan: Scan) -> Options {
    Options {
        scan,
        ..options(Route::Resident)
    }
}

/// Documents of 50 rows around a few directions, every second of them hidden from the public; rows
/// that are equal, and rows that differ in their last bits.
fn crowd(home: &Home, numbers: &mut Numbers, documents: usize) {
    let dimension = home.dimension();
    let centres: Vec<Vec<f32>> = (0..8).map(|_| numbers.vector(dimension)).collect();
    let mut facts = Vec::new();
    for at in 0..documents {
        let rows: Vec<Vec<f32>> = (0..50)
            .map(|row| {
                let centre = &centres[numbers.below(centres.len())];
                let spread = [0.0, 1e-7, 1e-3, 0.5][row % 4];
                let noise = numbers.vector(dimension);
                centre
                    .iter()
                    .zip(noise)
                    .map(|(c, n)| c + spread * n)
                    .collect()
            })
            .collect();
        let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        let grants: &[&str] = if at % 2 == 0 {
            &["public", "ops"]
        } else {
            &["ops"]
        };
        facts.push(document(&format!("{at}.md"), grants, &rows));
    }
    home.batch(|batch| {
        facts
            .iter()
            .try_for_each(|facts| batch.upsert(facts).map(drop))?;
        Ok::<_, StoreError>(())
    })
    .unwrap();
}

fn found(store: &SqliteVecStore, asker: &Principal, query: &[f32], k: usize) -> Ranking<ChunkId> {
    store
        .snapshot(asker)
        .unwrap()
        .knn(aview1(query), k)
        .unwrap()
}

#[test]
fn eight_bits_conform() {
    let options = StoreOptions {
        cases: 24,
        seed: 7,
        ..StoreOptions::new(6)
    };
    let home = || Home::with(6, &scanned(Scan::Int8));
    check_store(home, &options).unwrap_or_else(|violation| panic!("{violation}"));
}

proptest! {
    #![proptest_config(few(24))]

    /// Any history, asker and k: the bits of the vectors of record, from memory and from the file.
    #[test]
    fn eight_bits_give_the_same_bits(
        first in history(5), second in history(5), asker in principal(), query in unit_vector(5),
    ) {
        let home = Home::with(5, &scanned(Scan::Int8));
        for (at, history) in [first, second].into_iter().enumerate() {
            for operation in history.operations() {
                match operation {
                    Operation::Upsert(facts) => drop(home.upsert(facts).unwrap()),
                    Operation::Remove(doc) => drop(home.remove(doc).unwrap()),
                }
            }
            if at == 0 {
                home.prepare().unwrap();
            }
            let snapshot = home.snapshot(&asker).unwrap();
            for k in [1, 2, 3, 7, 50] {
                let by = |route| bits(&snapshot.knn_by(route, query.view(), k).unwrap());
                prop_assert_eq!(by(Route::Resident), by(Route::Facts), "k = {}", k);
            }
        }
    }
}

proptest! {
    #![proptest_config(few(3))]

    /// Thousands of rows, many of them equal or nearly so: 8 bits are exact for every asker and k;
    /// bits are so where every row is scored again, and otherwise within the view and with exact
    /// scores.
    #[test]
    fn a_crowd_by_codes(seed in any::<u64>(), dimension in 1usize..80) {
        let mut numbers = Numbers(seed);
        let home = Home::new(dimension, Route::Facts);
        crowd(&home, &mut numbers, 100);
        home.prepare().unwrap();
        let int8 = home.again(&scanned(Scan::Int8));
        let all = home.again(&scanned(Scan::Bits { per_hit: 5000 }));
        let some = home.again(&scanned(Scan::Bits { per_hit: 3 }));
        for _ in 0..2 {
            let query = numbers.vector(dimension);
            for asker in [public(), reader(&["ops"])] {
                let seen = found(&home, &asker, &query, usize::MAX);
                let all_seen: BTreeSet<_> = bits(&seen).into_iter().collect();
                for k in [1, 300, 2600] {
                    let exact = &bits(&seen)[..k.min(seen.len())];
                    prop_assert_eq!(&bits(&found(&int8, &asker, &query, k)), exact);
                    prop_assert_eq!(&bits(&found(&all, &asker, &query, k)), exact);
                    let near = bits(&found(&some, &asker, &query, k));
                    prop_assert_eq!(near.len(), exact.len());
                    prop_assert!(near.iter().all(|hit| all_seen.contains(hit)));
                }
            }
        }
    }
}

/// By bits the answer is that of a store which never held the hidden documents, and a removed
/// document is in none.
#[test]
fn what_is_hidden_has_no_part_in_a_scan_by_bits() {
    let approximate = scanned(Scan::Bits { per_hit: 2 });
    let home = Home::with(48, &approximate);
    crowd(&home, &mut Numbers(3), 110);
    let alone = Home::with(48, &approximate);
    let snapshot = home.snapshot(&public()).unwrap();
    alone
        .batch(|batch| {
            for doc in snapshot.documents().unwrap() {
                batch.upsert(&snapshot.facts(&doc).unwrap().unwrap())?;
            }
            Ok::<_, StoreError>(())
        })
        .unwrap();
    drop(snapshot);
    let exact = home.again(&options(Route::Resident));
    let mut numbers = Numbers(4);
    let mut missed = 0;
    for round in 0..20 {
        let query = numbers.vector(48);
        if round == 10 {
            for home in [&home, &alone] {
                assert!(home.remove(&DocId::new("0.md").unwrap()).unwrap());
            }
        }
        let here = bits(&found(&home, &public(), &query, 10));
        assert_eq!(here, bits(&found(&alone, &public(), &query, 10)));
        missed += usize::from(here != bits(&found(&exact, &public(), &query, 10)));
    }
    assert!(missed > 0, "the scan was exact, so nothing was tried");
}

/// Up to 2,048 visible rows are scanned in full, whatever else there is.
#[test]
fn few_rows_are_scanned_in_full() {
    let home = Home::with(16, &scanned(Scan::Bits { per_hit: 1 }));
    crowd(&home, &mut Numbers(5), 100);
    let mut few = document("few.md", &["few"], &[&[1.0; 16]]);
    few.acl = Acl::new(["few"]).unwrap();
    home.upsert(&few).unwrap();
    for at in 0..40 {
        let doc = DocId::new(&format!("{at}.md")).unwrap();
        let mut facts = home
            .snapshot(&reader(&["ops"]))
            .unwrap()
            .facts(&doc)
            .unwrap()
            .unwrap();
        facts.acl = Acl::new(["few"]).unwrap();
        home.upsert(&facts).unwrap();
    }
    let mut numbers = Numbers(6);
    let exact = home.again(&options(Route::Facts));
    for _ in 0..5 {
        let query = numbers.vector(16);
        let asker = reader(&["few"]);
        assert_eq!(
            bits(&found(&home, &asker, &query, 10)),
            bits(&found(&exact, &asker, &query, 10))
        );
    }
}

#[test]
fn no_row_scored_again_is_refused() {
    let folder = crate::sample::folder();
    let path = folder.path().join("index.db");
    let fingerprint = crate::sample::fingerprint();
    let none = scanned(Scan::Bits { per_hit: 0 });
    let error = SqliteVecStore::open(path, &fingerprint, 2, &none).unwrap_err();
    assert!(matches!(error, StoreError::Options { .. }), "{error}");
}
