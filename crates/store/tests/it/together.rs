//! Threads and processes at one file.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use cornu_core::{FactStore, Principal};
use cornu_store::{Route, SqliteVecStore, StoreError};
use ndarray::aview1;

use crate::sample::{Home, document, fingerprint, options, public, worded};

/// Each commit rewrites all documents. A reader sees all of one commit or all of another.
#[test]
fn readers_see_one_commit_and_never_a_mixture() {
    for route in [Route::Auto, Route::Sql, Route::Resident] {
        let home = Home::new(2, route);
        let write = |version: usize| {
            let word = format!("version {version}");
            let row: &[f32] = if version.is_multiple_of(2) {
                &[1.0, 0.1]
            } else {
                &[0.1, 1.0]
            };
            home.batch(|batch| {
                for at in 0..12 {
                    batch.upsert(&worded(&format!("{at}.md"), &["public"], &[row], &word))?;
                }
                Ok::<_, StoreError>(())
            })
            .unwrap();
        };
        write(0);
        let done = AtomicBool::new(false);
        let (seen, stale) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        one_commit(&home, &seen);
                        any_or_stale(&home, &stale);
                    }
                });
            }
            for version in 1..60 {
                write(version);
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(seen.into_inner() > 0);
        assert_eq!(home.doctor().unwrap(), []);
    }
}

fn one_commit(home: &Home, seen: &AtomicUsize) {
    let snapshot = match home.snapshot(&public()) {
        Ok(snapshot) => snapshot,
        // The writer was faster sixteen times in a row: an answer, and no mixture.
        Err(StoreError::Busy { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    let first = snapshot.documents().unwrap();
    let hits = snapshot.knn(aview1(&[1.0, 0.0]), 20).unwrap();
    assert_eq!((first.len(), hits.len()), (12, 12));
    let texts: Vec<String> = hits
        .ids()
        .map(|id| snapshot.chunk(id).unwrap().unwrap().text.clone())
        .map(|text| text.split(" 0 of").next().unwrap().to_owned())
        .collect();
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{texts:?}");
    let scores: Vec<u64> = hits.iter().map(|hit| hit.score.to_bits()).collect();
    assert!(scores.windows(2).all(|pair| pair[0] == pair[1]));
    seen.fetch_add(1, Ordering::Relaxed);
}

/// Without a snapshot a view may go stale between two calls, and is told so.
fn any_or_stale(home: &Home, stale: &AtomicUsize) {
    let view = home.view(&public()).unwrap();
    match home.knn(&view, aview1(&[1.0, 0.0]), 20) {
        Ok(hits) => assert_eq!(hits.len(), 12),
        Err(StoreError::StaleView { view, store }) => {
            assert!(view < store);
            stale.fetch_add(1, Ordering::Relaxed);
        }
        Err(StoreError::Busy { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

/// A snapshot that was taken before a document went still has it, and one taken after has not.
#[test]
fn a_snapshot_is_of_its_time() {
    for route in [Route::Auto, Route::Sql, Route::Resident] {
        let home = Home::new(2, route);
        let old = document("a.md", &["public"], &[&[1.0, 0.0]]);
        home.upsert(&old).unwrap();
        home.rebuild_index().unwrap();
        let before = home.snapshot(&public()).unwrap();
        home.remove(&old.doc).unwrap();
        home.upsert(&document("secret.md", &["hr"], &[&[1.0, 0.0]]))
            .unwrap();
        let after = home.snapshot(&public()).unwrap();
        assert!(after.knn(aview1(&[1.0, 0.0]), 5).unwrap().is_empty());
        // Also when newer vectors are in memory by now.
        let hits = before.knn(aview1(&[1.0, 0.0]), 5).unwrap();
        assert_eq!(hits.ids().copied().collect::<Vec<_>>(), [old.chunks[0].id]);
        assert_eq!(before.facts(&old.doc).unwrap(), Some(old));
    }
}

/// Dense and other routes may share one snapshot between threads.
#[test]
fn threads_share_a_snapshot() {
    let home = Home::new(2, Route::Resident);
    home.upsert(&document("a.md", &["public"], &[&[1.0, 0.0]]))
        .unwrap();
    let snapshot = home.snapshot(&public()).unwrap();
    let (hits, documents) = rayon::join(
        || snapshot.knn(aview1(&[1.0, 0.0]), 5).unwrap().len(),
        || snapshot.documents().unwrap().len(),
    );
    assert_eq!((hits, documents), (1, 1));
}

/// PC-04: eight writers, through two stores at one file; nobody meets a lock.
#[test]
fn pc_04_parallel_writers_take_turns() {
    let home = Home::new(2, Route::Auto);
    let other =
        SqliteVecStore::open(home.path(), &fingerprint(), 2, &options(Route::Auto)).unwrap();
    thread::scope(|scope| {
        for thread in 0..8 {
            let store = if thread % 2 == 0 { &*home } else { &other };
            scope.spawn(move || {
                for at in 0..50 {
                    let name = format!("{thread}-{at}.md");
                    store
                        .upsert(&document(&name, &["public"], &[&[1.0, 0.0]]))
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(home.stats().unwrap().documents, 400);
    assert_eq!((home.epoch().unwrap(), other.epoch().unwrap()), (400, 400));
    // What the other store wrote is in the views and the vectors of this one.
    let view = home.view(&public()).unwrap();
    assert_eq!(view.len(), 400);
    assert_eq!(
        home.knn(&view, aview1(&[1.0, 0.0]), 500).unwrap().len(),
        400
    );
}

/// PC-01: a panic within a batch leaves no transaction behind for the next writer.
#[test]
fn pc_01_a_panic_in_a_batch_is_rolled_back() {
    let home = Home::new(2, Route::Auto);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        home.batch(|batch| -> Result<(), StoreError> {
            batch.upsert(&facts)?;
            panic!("half way");
        })
    }));
    assert!(panicked.is_err());
    home.upsert(&document("b.md", &["public"], &[&[1.0, 0.0]]))
        .unwrap();
    assert_eq!(home.stats().unwrap().documents, 1);
    assert_eq!(home.metrics().writer.discarded, 1);
}

/// PC-06: every connection knows vec0 and refuses orphans, not only the first.
#[test]
fn pc_06_all_connections_have_all_settings() {
    let home = Home::new(2, Route::Sql);
    home.upsert(&document("a.md", &["public"], &[&[1.0, 0.0]]))
        .unwrap();
    home.rebuild_index().unwrap();
    let first = home.snapshot(&public()).unwrap();
    let second = home.snapshot(&Principal::public()).unwrap();
    for snapshot in [&first, &second] {
        assert_eq!(
            snapshot
                .knn_by(Route::Sql, aview1(&[1.0, 0.0]), 1)
                .unwrap()
                .len(),
            1
        );
    }
    assert_eq!(home.metrics().readers.opened, 2);
    // Both readers are held; a third call waits no longer than it was told to.
    drop((first, second));
}
