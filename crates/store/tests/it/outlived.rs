//! More of what outlives commits: several states asked at once, threads, processes, damage.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{ChunkId, DocId, FactStore};
use cornu_store::{Approximate, Hnsw, Options, Route, Scan, Snapshot, SqliteVecStore, StoreError};
use ndarray::aview1;
use rusqlite::Connection;

use crate::carried::askers;
use crate::sample::{Home, Numbers, bits, document, few, options, public, reader};

fn step(store: &SqliteVecStore, numbers: &mut Numbers) {
    let name = |numbers: &mut Numbers| format!("{}.md", numbers.below(6));
    match numbers.below(6) {
        0 => {
            let name = DocId::new(&name(numbers)).unwrap();
            store.remove(&name).unwrap();
        }
        // A batch that is given up.
        1 => {
            let result = store.batch(|batch| {
                let name = name(numbers);
                batch.upsert(&numbers.document(&name, 4))?;
                batch.upsert(&numbers.document("never.md", 4))?;
                Err::<(), _>(StoreError::Options {
                    problem: "no".to_owned(),
                })
            });
            assert!(result.is_err());
        }
        // The same content again under another ordinal.
        2 => {
            let name = name(numbers);
            let facts = numbers.document(&name, 4);
            store.upsert(&facts).unwrap();
            store.remove(&facts.doc).unwrap();
            store.upsert(&facts).unwrap();
        }
        _ => {
            let name = name(numbers);
            store.upsert(&numbers.document(&name, 4)).unwrap();
        }
    }
}

type Said = (Vec<u32>, [u8; 32], u64, Vec<DocId>, Vec<(ChunkId, u64)>);

fn said(snapshot: &Snapshot<'_>, route: Option<Route>) -> Said {
    let view = snapshot.view();
    let query = aview1(&[0.1, 0.9, 0.2, 0.3]);
    let hits = match route {
        None => snapshot.knn(query, 7).unwrap(),
        Some(route) => snapshot.knn_by(route, query, 7).unwrap(),
    };
    (
        view.ordinals().collect(),
        *view.digest(),
        view.epoch(),
        snapshot.documents().unwrap(),
        bits(&hits),
    )
}

proptest! {
    #![proptest_config(few(48))]

    /// Snapshots of several states are asked in any order, while two stores write in turns.
    #[test]
    fn states_of_any_age_are_asked_side_by_side(seed in any::<u64>(), which in 0..5_usize) {
        let base = Options { readers: 12, ..options(Route::Auto) };
        let options = match which {
            0 => base,
            1 => Options { route: Route::Resident, ..base },
            2 => Options { route: Route::Resident, scan: Scan::Int8, ..base },
            3 => Options { route: Route::Facts, ..base },
            _ => Options {
                route: Route::Resident,
                approximate: Approximate::Hnsw(Hnsw { narrow_per_mille: 0, ef: Some(500), ..Hnsw::default() }),
                ..base
            },
        };
        let home = Home::with(4, &options);
        let other = home.again(&options);
        let mut numbers = Numbers(seed);
        let mut open: Vec<(Snapshot<'_>, Said)> = Vec::new();
        for round in 0..40 {
            for _ in 0..numbers.below(3) {
                step(if numbers.below(2) == 0 { &home } else { &other }, &mut numbers);
            }
            if which == 4 && round % 7 == 3 {
                home.prepare().unwrap();
            }
            if round % 9 == 8 && numbers.below(2) == 0 {
                home.prepare().unwrap();
            }
            if open.len() > 4 {
                let at = numbers.below(open.len());
                drop(open.swap_remove(at));
            }
            let asker = &askers()[numbers.below(5)];
            let fresh = home.again(&Options { route: Route::Facts, ..options.clone() });
            let expected = said(&fresh.snapshot(asker).unwrap(), Some(Route::Facts));
            let snapshot = home.snapshot(asker).unwrap();
            prop_assert_eq!(&said(&snapshot, None), &expected);
            for (earlier, _) in &open {
                let (a, b) = (earlier.view().epoch(), snapshot.view().epoch());
                prop_assert!(snapshot.shares_line(a, earlier.state()).unwrap());
                prop_assert!(earlier.shares_line(b, snapshot.state()).unwrap());
            }
            open.push((snapshot, expected));
            for _ in 0..3 {
                let at = numbers.below(open.len());
                let (snapshot, expected) = &open[at];
                let route = [None, Some(Route::Resident), Some(Route::Facts)][numbers.below(3)];
                prop_assert_eq!(&said(snapshot, route), expected);
            }
            let asker = &askers()[numbers.below(5)];
            let view = home.view(asker).unwrap();
            let hits = home.knn(&view, aview1(&[0.1, 0.9, 0.2, 0.3]), 7).unwrap();
            let fresh = fresh.snapshot(asker).unwrap();
            prop_assert_eq!(bits(&hits), said(&fresh, Some(Route::Facts)).4);
        }
        drop(open);
        prop_assert_eq!(home.doctor().unwrap(), []);
    }
}

/// Readers beside a writer, who tells what is to be seen in which state.
#[test]
fn readers_beside_a_writer_see_what_the_state_says() {
    let base = Options {
        readers: 6,
        ..options(Route::Auto)
    };
    let home = Home::with(
        4,
        &Options {
            route: Route::Resident,
            ..base
        },
    );
    let model = Mutex::new(BTreeMap::<u64, BTreeMap<String, String>>::new());
    let (done, asked) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for seed in 0..4_u64 {
            let (home, model, done, asked) = (&home, &model, &done, &asked);
            scope.spawn(move || {
                let mut numbers = Numbers(seed);
                while !done.load(Ordering::Relaxed) {
                    let at = numbers.below(3);
                    let grant = ["public", "hr", "ops"][at];
                    let snapshot = home.snapshot(&reader(&[grant])).unwrap();
                    for _ in 0..numbers.below(3) {
                        let expected = model
                            .lock()
                            .unwrap()
                            .get(&snapshot.view().epoch())
                            .cloned()
                            .unwrap_or_default();
                        let names: Vec<String> = snapshot
                            .documents()
                            .unwrap()
                            .iter()
                            .map(ToString::to_string)
                            .collect();
                        let seen: Vec<String> = expected
                            .iter()
                            .filter(|(_, granted)| granted.as_str() == grant)
                            .map(|(name, _)| name.clone())
                            .collect();
                        assert_eq!(names, seen);
                        let query = aview1(&[0.1, 0.9, 0.2, 0.3]);
                        let a = bits(&snapshot.knn(query, 5).unwrap());
                        let b = bits(&snapshot.knn_by(Route::Facts, query, 5).unwrap());
                        assert_eq!(a, b);
                    }
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut numbers = Numbers(77);
        let mut now: BTreeMap<String, String> = BTreeMap::new();
        for epoch in 1..600_u64 {
            let name = format!("{}.md", numbers.below(12));
            let grant = ["public", "hr", "ops", "hr"][numbers.below(4)];
            let remove = numbers.below(4) == 0 && now.contains_key(&name);
            let facts = document(&name, &[grant], &[&numbers.vector(4), &numbers.vector(4)]);
            match remove {
                true => drop(now.remove(&name)),
                false => drop(now.insert(name.clone(), grant.to_owned())),
            }
            model.lock().unwrap().insert(epoch, now.clone());
            if remove {
                assert!(home.remove(&facts.doc).unwrap());
            } else {
                home.upsert(&facts).unwrap();
            }
            assert_eq!(home.epoch().unwrap(), epoch);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(asked.into_inner() > 50);
}

/// What a foreign hand takes away behind the store's back: the doctor finds it, and so does whoever
/// opens the file. Who has read their view before goes on with it, until a commit that they see.
#[test]
fn what_is_taken_away_is_found_by_who_reads_it_anew() {
    for damage in [
        "DELETE FROM grants WHERE name = 'public' AND document = 1",
        "PRAGMA foreign_keys = ON; DELETE FROM documents WHERE name = 'a.md'",
    ] {
        let home = Home::new(2, Route::Resident);
        for name in ["a.md", "b.md"] {
            home.upsert(&document(name, &["public"], &[&[1.0, 0.2]]))
                .unwrap();
        }
        assert_eq!(home.view(&public()).unwrap().len(), 2);
        let connection = Connection::open(home.path()).unwrap();
        connection.execute_batch(damage).unwrap();
        home.upsert(&document("c.md", &["hr"], &[&[1.0, 0.2]]))
            .unwrap();
        assert_eq!(home.view(&public()).unwrap().since(), 2);
        assert!(!home.doctor().unwrap().is_empty());
        let is_found = |store: &SqliteVecStore| {
            let error = store.view(&public()).unwrap_err();
            assert!(matches!(error, StoreError::Corrupted { .. }), "{error}");
        };
        is_found(&home.again(&options(Route::Auto)));
        home.upsert(&document("d.md", &["public"], &[&[1.0, 0.2]]))
            .unwrap();
        is_found(&home);
    }
}

/// A file of an older version that may not grow: what is removed from it needs no page more.
#[test]
fn a_document_is_removed_from_a_full_file_without_a_record_of_states() {
    let folder = {
        let home = Home::new(2, Route::Facts);
        let empty = || {
            let mut facts = document("empty.md", &["public"], &[]);
            facts.vectors = ndarray::Array2::zeros((0, 2));
            facts
        };
        home.upsert(&empty()).unwrap();
        home.close()
    };
    let path = folder.path().join("index.db");
    let pages: u32 = {
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("DROP TABLE IF EXISTS passed_states; VACUUM;")
            .unwrap();
        connection
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .unwrap()
    };
    let full = Options {
        max_pages: Some(pages),
        ..options(Route::Facts)
    };
    let store = SqliteVecStore::open_existing(&path, &full).unwrap();
    assert!(store.remove(&DocId::new("empty.md").unwrap()).unwrap());
}

/// Since when a view is known to stand is the store's own business, as its epoch is: who compares
/// two views of one state learns from it whether one was asked for before.
#[test]
fn a_view_that_was_carried_equals_one_just_read() {
    let home = Home::new(2, Route::Auto);
    home.upsert(&document("a.md", &["public"], &[&[1.0, 0.2]]))
        .unwrap();
    home.view(&public()).unwrap();
    home.upsert(&document("b.md", &["hr"], &[&[1.0, 0.2]]))
        .unwrap();
    let fresh = home.again(&options(Route::Auto));
    let (carried, read) = (
        home.view(&public()).unwrap(),
        fresh.view(&public()).unwrap(),
    );
    assert_eq!(carried.epoch(), read.epoch());
    assert_eq!(carried, read);
}
