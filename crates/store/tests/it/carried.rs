//! Views, vectors and statistics that outlive commits: what was read once is used again only where
//! it is what would be read now.

use std::path::Path;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{ChunkId, DocId, FactStore, Principal, View};
use cornu_store::{Options, Route, SqliteVecStore, StoreError};
use ndarray::aview1;
use rusqlite::Connection;

use crate::sample::{Home, Numbers, bits, document, few, options, public, reader};

const DIMENSION: usize = 4;

/// Ids and the bits of their scores.
type Bits = Vec<(ChunkId, u64)>;

pub(crate) fn askers() -> [Principal; 5] {
    [
        public(),
        reader(&["hr"]),
        reader(&["ops", "hr"]),
        reader(&["public", "ops"]),
        reader(&["nobody"]),
    ]
}

/// All that a view says, but since when.
type Said = (Vec<u32>, [u8; 32], u64);

fn said(view: &View) -> Said {
    (view.ordinals().collect(), *view.digest(), view.epoch())
}

/// What one asker gets of a store: the view, its names, and the nearest by the store's own route.
fn got(store: &SqliteVecStore, asker: &Principal) -> (Said, Vec<DocId>, Bits) {
    let snapshot = store.snapshot(asker).unwrap();
    let hits = snapshot.knn(aview1(&[0.1, 0.9, 0.2, 0.3]), 7).unwrap();
    (
        said(snapshot.view()),
        snapshot.documents().unwrap(),
        bits(&hits),
    )
}

/// One step of a history; names come again, so there are changes, and grants that move.
fn step(home: &Home, numbers: &mut Numbers) {
    let name = |numbers: &mut Numbers| format!("{}.md", numbers.below(6));
    match numbers.below(5) {
        0 => {
            let name = DocId::new(&name(numbers)).unwrap();
            home.remove(&name).unwrap();
        }
        1 => home
            .batch(|batch| {
                for _ in 0..=numbers.below(3) {
                    let name = name(numbers);
                    batch.upsert(&numbers.document(&name, DIMENSION))?;
                    batch.remove(&DocId::new(&name).unwrap())?;
                    batch.upsert(&numbers.document(&name, DIMENSION))?;
                }
                Ok::<_, StoreError>(())
            })
            .unwrap(),
        _ => {
            let name = name(numbers);
            home.upsert(&numbers.document(&name, DIMENSION)).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(few(48))]

    /// A store that has served all along, asked by some now and by others later, gives each asker
    /// the bits that a store gives that has just been opened, whoever wrote what meanwhile; and a
    /// snapshot that was taken before goes on to give what it gave.
    #[test]
    fn a_store_that_has_served_answers_as_one_just_opened(seed in any::<u64>(), resident in any::<bool>()) {
        let route = if resident { Route::Resident } else { Route::Auto };
        let home = Home::new(DIMENSION, route);
        let mut numbers = Numbers(seed);
        for _ in 0..14 {
            let asker = &askers()[numbers.below(5)];
            let before = home.snapshot(asker).unwrap();
            let seen = (said(before.view()), before.documents().unwrap());
            for _ in 0..=numbers.below(3) {
                step(&home, &mut numbers);
            }
            let fresh = home.again(&options(Route::Facts));
            for asker in askers() {
                if numbers.below(3) > 0 {
                    prop_assert_eq!(got(&home, &asker), got(&fresh, &asker));
                }
            }
            prop_assert_eq!((said(before.view()), before.documents().unwrap()), seen);
            let hits = before.knn(aview1(&[1.0, 0.0, 0.0, 0.0]), 9).unwrap();
            let by_facts = before.knn_by(Route::Facts, aview1(&[1.0, 0.0, 0.0, 0.0]), 9).unwrap();
            prop_assert_eq!(bits(&hits), bits(&by_facts));
        }
    }
}

fn home_of_two() -> Home {
    let home = Home::new(2, Route::Auto);
    for (name, grants) in [("a.md", ["public"]), ("b.md", ["hr"])] {
        home.upsert(&document(name, &grants, &[&[1.0, 0.2]]))
            .unwrap();
    }
    home
}

/// So that the property is of what it says: a commit that the asker does not see leaves the view,
/// and any that the asker sees makes it anew, whichever way it is seen.
#[test]
fn only_what_is_not_seen_leaves_a_view_as_it_is() {
    let home = home_of_two();
    let since = || {
        let view = home.view(&public()).unwrap();
        (view.since(), view.epoch())
    };
    assert_eq!(since(), (2, 2));
    home.upsert(&document("b.md", &["hr"], &[&[0.5, 0.2]]))
        .unwrap();
    home.remove(&DocId::new("b.md").unwrap()).unwrap();
    home.upsert(&document("c.md", &["hr"], &[&[0.5, 0.2]]))
        .unwrap();
    assert_eq!(since(), (2, 5));
    // One more.
    home.upsert(&document("d.md", &["hr", "public"], &[&[0.3, 0.2]]))
        .unwrap();
    assert_eq!(since(), (6, 6));
    // One less.
    home.remove(&DocId::new("d.md").unwrap()).unwrap();
    assert_eq!(since(), (7, 7));
    // As many, and another.
    home.upsert(&document("a.md", &["public"], &[&[0.1, 0.2]]))
        .unwrap();
    assert_eq!(since(), (8, 8));
    // One for one.
    home.batch(|batch| {
        batch.upsert(&document("a.md", &["hr"], &[&[0.1, 0.2]]))?;
        batch.upsert(&document("c.md", &["public"], &[&[0.5, 0.2]]))
    })
    .unwrap();
    assert_eq!(since(), (9, 9));
    home.upsert(&document("b.md", &["hr"], &[&[0.5, 0.7]]))
        .unwrap();
    assert_eq!(since(), (9, 10));
}

/// More commits than are kept: nothing is known of the old state, so all is read anew.
#[test]
fn a_state_long_passed_carries_nothing() {
    let home = home_of_two();
    let first = home.view(&public()).unwrap();
    let asked_now_and_then = home.again(&options(Route::Auto));
    asked_now_and_then.view(&public()).unwrap();
    for at in 0..1100 {
        let grants: &[&str] = if at % 2 == 0 { &["hr"] } else { &["ops"] };
        home.upsert(&document("b.md", grants, &[&[0.5, 0.2]]))
            .unwrap();
        if at % 400 == 0 {
            let view = asked_now_and_then.view(&public()).unwrap();
            assert_eq!(view.since(), 2);
        }
    }
    let last = home.view(&public()).unwrap();
    assert_eq!((last.since(), last.epoch()), (1102, 1102));
    assert_eq!(last.digest(), first.digest());
    let last = asked_now_and_then.view(&public()).unwrap();
    assert_eq!((last.since(), last.epoch()), (2, 1102));
    let kept: i64 = Connection::open(home.path())
        .unwrap()
        .query_row("SELECT count(*) FROM passed_states", [], |row| row.get(0))
        .unwrap();
    assert!((512..=1024).contains(&kept), "{kept}");
}

/// Seals are joined by exclusive or, so somebody who may write can find documents whose seals give
/// any sum. Here such a sum stands beside other documents: they are not taken for the ones before.
#[test]
fn an_equal_seal_carries_no_view_where_a_document_is_newer() {
    let home = home_of_two();
    home.view(&public()).unwrap();
    let connection = Connection::open(home.path()).unwrap();
    let seal = || -> Vec<u8> {
        let sql = "SELECT seal FROM grant_seals WHERE name = 'public'";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let before = seal();
    home.upsert(&document("a.md", &["public"], &[&[0.1, 0.2]]))
        .unwrap();
    assert_ne!(seal(), before);
    let sql = "UPDATE grant_seals SET seal = ?1 WHERE name = 'public'";
    connection.execute(sql, [&before]).unwrap();
    let error = home.view(&public()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupted { .. }), "{error}");
}

/// Puts another database in the place of the one that a store has open, as `.restore` does.
pub(crate) fn restore(home: &Home, from: &Path) {
    let connection = Connection::open(home.path()).unwrap();
    let sql = "ATTACH ?1 AS other";
    connection.execute(sql, [from.to_str().unwrap()]).unwrap();
    let mut tables = connection
        .prepare(
            "SELECT name FROM other.sqlite_schema WHERE type = 'table'
             AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'vec_chunks%'",
        )
        .unwrap();
    let tables: Vec<String> = tables
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let mut script = "PRAGMA foreign_keys = OFF; DROP TRIGGER chunk_is_gone; BEGIN;".to_owned();
    for table in tables {
        script += &format!(
            "DELETE FROM main.{table}; INSERT INTO main.{table} SELECT * FROM other.{table};"
        );
    }
    connection.execute_batch(&(script + "COMMIT;")).unwrap();
}

/// A copy of `home`, which then gets a document that the copy has not.
fn parted(home: &Home, copy: &Path) -> SqliteVecStore {
    Connection::open(home.path())
        .unwrap()
        .execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
        .unwrap();
    let other = SqliteVecStore::open_existing(copy, &options(Route::Auto)).unwrap();
    home.upsert(&document("c.md", &["public"], &[&[1.0, 0.0]]))
        .unwrap();
    other
}

/// Two copies of a database go different ways and give the same ordinals to different documents.
/// One is put in the place of the other under an open store: its views and vectors are those of the
/// copy, of an equal epoch and of later ones.
#[test]
fn a_copy_that_went_another_way_is_not_taken_for_the_same() {
    for more in [0, 1, 2] {
        let home = home_of_two();
        let folder = crate::sample::folder();
        let copy = folder.path().join("copy.db");
        let other = parted(&home, &copy);
        got_of_two(&home);
        // The same names, contents and grants, and other vectors; or hidden ones.
        other
            .upsert(&document("c.md", &["public"], &[&[0.0, 1.0]]))
            .unwrap();
        for _ in 0..more {
            other
                .upsert(&document("d.md", &["hr"], &[&[0.5, more as f32]]))
                .unwrap();
        }
        let expected = got_of_two(&other);
        drop(other);
        restore(&home, &copy);
        assert_eq!(got_of_two(&home), expected, "{more} more commits");
    }
}

/// A view that was taken before another database of the same epoch was put in the place of the open
/// one: an ordinal of it names a hidden document there.
#[test]
fn a_view_of_another_database_is_refused() {
    let home = home_of_two();
    let folder = crate::sample::folder();
    let copy = folder.path().join("copy.db");
    let other = parted(&home, &copy);
    let hidden = document("d.md", &["hr"], &[&[0.0, 1.0]]);
    other.upsert(&hidden).unwrap();
    drop(other);
    let view = home.view(&public()).unwrap();
    assert_eq!(home.documents(&view).unwrap().len(), 2);
    restore(&home, &copy);
    let foreign = |error: StoreError| matches!(error, StoreError::ForeignView { .. });
    let query = aview1(&[0.0, 1.0]);
    assert!(foreign(
        home.chunk(&view, &hidden.chunks[0].id).unwrap_err()
    ));
    assert!(foreign(home.knn(&view, query, 5).unwrap_err()));
    assert!(foreign(home.documents(&view).unwrap_err()));
    let view = home.view(&public()).unwrap();
    assert_eq!(home.chunk(&view, &hidden.chunks[0].id).unwrap(), None);
    assert_eq!(home.knn(&view, query, 5).unwrap().len(), 1);
}

fn got_of_two(store: &SqliteVecStore) -> Bits {
    let snapshot = store.snapshot(&public()).unwrap();
    let by_resident = snapshot.knn_by(Route::Resident, aview1(&[1.0, 0.0]), 5);
    let by_facts = snapshot.knn_by(Route::Facts, aview1(&[1.0, 0.0]), 5);
    let [by_resident, by_facts] = [by_resident, by_facts].map(|hits| bits(&hits.unwrap()));
    assert_eq!(by_resident, by_facts);
    by_facts
}

/// A file that an older version wrote has no record of states; its first commit makes one.
#[test]
fn a_file_without_a_record_of_states_gets_one() {
    let folder = home_of_two().close();
    let path = folder.path().join("index.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("DROP TABLE passed_states")
        .unwrap();
    let home = SqliteVecStore::open_existing(&path, &options(Route::Auto)).unwrap();
    let read_only = Options {
        access: cornu_store::Access::ReadOnly,
        ..options(Route::Auto)
    };
    let watching = SqliteVecStore::open_existing(&path, &read_only).unwrap();
    let since = |store: &SqliteVecStore| store.view(&public()).unwrap().since();
    assert_eq!((since(&home), since(&watching)), (2, 2));
    home.upsert(&document("b.md", &["hr"], &[&[0.5, 0.2]]))
        .unwrap();
    assert_eq!((since(&home), since(&watching)), (2, 2));
    assert_eq!(home.doctor().unwrap(), []);
}
