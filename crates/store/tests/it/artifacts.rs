//! Artifacts: brought up to date, deleted, rebuilt, and the same answers each time.

use std::fs;

use cornu_core::{Acl, DocId, FactStore};
use cornu_store::{Check, Route, StoreError};
use ndarray::aview1;
use rusqlite::Connection;

use crate::sample::{Home, Numbers, bits, document, public, reader, worded};

/// A history with many removals: vec0 and the `.vec` file follow it, and their size stays bounded.
#[test]
fn artifacts_follow_a_long_history_and_do_not_grow_without_bound() {
    let home = Home::new(6, Route::Auto);
    let mut numbers = Numbers(77);
    for round in 0..40 {
        home.batch(|batch| {
            for _ in 0..60 {
                let name = format!("{}.md", numbers.below(90));
                if numbers.below(4) == 0 {
                    batch.remove(&DocId::new(&name).unwrap())?;
                } else {
                    batch.upsert(&numbers.document(&name, 6))?;
                }
            }
            Ok::<_, StoreError>(())
        })
        .unwrap();
        if round == 0 {
            home.rebuild_index().unwrap();
        }
        home.prepare().unwrap();
        let query = numbers.vector(6);
        for asker in [public(), reader(&["hr"]), reader(&["ops", "public"])] {
            let snapshot = home.snapshot(&asker).unwrap();
            let by = |route| bits(&snapshot.knn_by(route, aview1(&query), 12).unwrap());
            let expected = by(Route::Facts);
            assert_eq!(by(Route::Sql), expected, "round {round}");
            assert_eq!(by(Route::Resident), expected, "round {round}");
        }
        if round % 10 == 9 {
            assert_eq!(home.doctor().unwrap(), []);
        }
    }
    let live = home.stats().unwrap().vectors as i64;
    let written: i64 = Connection::open(home.path())
        .unwrap()
        .query_row("SELECT written FROM vec_state", [], |row| row.get(0))
        .unwrap();
    assert!(
        written <= 1024.max(live * 10 / 7 + 60 * 5),
        "{written} rows written for {live}"
    );
    let rows = fs::metadata(home.path().with_extension("db.vec"))
        .unwrap()
        .len() as i64;
    assert!(
        rows < 8192 + live * (6 * 4 + 32 + 32 + 32),
        "{rows} bytes for {live} rows"
    );
}

/// Deleted at any time, each artifact comes back with the same answers.
#[test]
fn artifacts_may_be_deleted_at_any_time() {
    let home = Home::new(6, Route::Auto);
    let mut numbers = Numbers(5);
    home.batch(|batch| {
        (0..200).try_for_each(|at| {
            batch
                .upsert(&numbers.document(&format!("{at}.md"), 6))
                .map(drop)
        })
    })
    .unwrap();
    home.rebuild_index().unwrap();
    let query = numbers.vector(6);
    let ask = || {
        let view = home.view(&public()).unwrap();
        bits(&home.knn(&view, aview1(&query), 20).unwrap())
    };
    let expected = ask();
    let vec_path = home.path().with_extension("db.vec");
    let file = fs::read(&vec_path).unwrap();

    fs::remove_file(&vec_path).unwrap();
    assert_eq!(ask(), expected);
    home.prepare().unwrap();
    assert_eq!(
        fs::read(&vec_path).unwrap(),
        file,
        "a fresh build is the same file"
    );

    Connection::open(home.path())
        .unwrap()
        .execute_batch("DROP TABLE vec_chunks; DELETE FROM vec_state;")
        .unwrap();
    assert!(!home.stats().unwrap().vec0_is_current);
    let snapshot = home.snapshot(&public()).unwrap();
    assert!(matches!(
        snapshot.knn_by(Route::Sql, aview1(&query), 20),
        Err(StoreError::ArtifactBehind { .. })
    ));
    drop(snapshot);
    home.rebuild_index().unwrap();
    assert!(home.stats().unwrap().vec0_is_current);
    assert_eq!(home.doctor().unwrap(), []);
}

/// The file is written row by row, from rows of the old one and of the facts in turn: it is the
/// file that is written from the facts alone. There are more rows than ids are held.
#[test]
fn a_vec_file_from_old_rows_and_new_ones_is_that_of_the_facts() {
    let home = Home::new(2, Route::Resident);
    let rows = |at: usize, turn: f32| {
        let angle = |row: usize| at as f32 + row as f32 * 1e-3 + turn;
        let row = |row| [angle(row).cos(), angle(row).sin()];
        let rows: Vec<[f32; 2]> = (0..700).map(row).collect();
        let rows: Vec<&[f32]> = rows.iter().map(<[f32; 2]>::as_slice).collect();
        document(&format!("{at}.md"), &["public"], &rows)
    };
    let write = |which: &[usize], turn| {
        let written = home.batch(|batch| {
            which
                .iter()
                .try_for_each(|&at| batch.upsert(&rows(at, turn)).map(drop))
        });
        written.unwrap();
        home.prepare().unwrap();
    };
    write(&(0..50).collect::<Vec<_>>(), 0.0);
    write(&[3, 4, 11, 20, 21, 22, 40, 49], 0.5);
    let path = home.path().with_extension("db.vec");
    let copied = fs::read(&path).unwrap();
    assert_eq!(home.doctor().unwrap(), []);

    let folder = home.close();
    fs::remove_file(&path).unwrap();
    let store = cornu_store::SqliteVecStore::open_existing(
        folder.path().join("index.db"),
        &cornu_store::Options::default(),
    );
    let store = store.unwrap();
    store.prepare().unwrap();
    assert!(fs::read(&path).unwrap() == copied, "another file");
    let snapshot = store.snapshot(&public()).unwrap();
    let query = [0.3_f32.cos(), 0.3_f32.sin()];
    let ask = |route| bits(&snapshot.knn_by(route, aview1(&query), 50).unwrap());
    assert_eq!(ask(Route::Resident), ask(Route::Facts));
}

/// Rows of the old file that are damaged are not copied: they come from the facts.
#[test]
fn damaged_rows_are_not_copied() {
    let home = Home::new(2, Route::Resident);
    let row: &[f32] = &[0.6, 0.8];
    home.upsert(&document("a.md", &["public"], &[row])).unwrap();
    home.prepare().unwrap();
    let path = home.path().with_extension("db.vec");
    let folder = home.close();
    let mut bad = fs::read(&path).unwrap();
    *bad.last_mut().unwrap() ^= 0x10;
    fs::write(&path, &bad).unwrap();
    let store = cornu_store::SqliteVecStore::open_existing(
        folder.path().join("index.db"),
        &cornu_store::Options::default(),
    );
    let store = store.unwrap();
    store
        .upsert(&document("b.md", &["public"], &[row]))
        .unwrap();
    store.prepare().unwrap();
    assert_eq!(store.doctor().unwrap(), []);
    assert_ne!(fs::read(&path).unwrap(), bad);
}

/// Reading does not move the epoch, whatever artifacts it brings up to date.
#[test]
fn artifacts_do_not_move_the_epoch() {
    let home = Home::new(2, Route::Sql);
    home.upsert(&document("a.md", &["public"], &[&[1.0, 0.0]]))
        .unwrap();
    let view = home.view(&public()).unwrap();
    home.knn(&view, aview1(&[1.0, 0.0]), 1).unwrap();
    home.rebuild_index().unwrap();
    home.prepare().unwrap();
    home.vacuum().unwrap();
    assert_eq!(home.epoch().unwrap(), 1);
    assert_eq!(home.knn(&view, aview1(&[1.0, 0.0]), 1).unwrap().len(), 1);
}

#[test]
fn vacuum_gives_space_back_and_changes_no_answer() {
    let home = Home::new(64, Route::Auto);
    let mut numbers = Numbers(6);
    let documents: Vec<_> = (0..400)
        .map(|at| {
            let mut facts = numbers.document(&format!("{at}.md"), 64);
            facts.acl = Acl::public();
            facts
        })
        .collect();
    home.batch(|batch| {
        documents
            .iter()
            .try_for_each(|facts| batch.upsert(facts).map(drop))
    })
    .unwrap();
    home.rebuild_index().unwrap();
    home.batch(|batch| {
        documents
            .iter()
            .skip(1)
            .step_by(2)
            .try_for_each(|facts| batch.remove(&facts.doc).map(drop))
    })
    .unwrap();
    let query = numbers.vector(64);
    let ask = |route| {
        let snapshot = home.snapshot(&public()).unwrap();
        bits(&snapshot.knn_by(route, aview1(&query), 30).unwrap())
    };
    let expected = ask(Route::Facts);
    let connection = Connection::open(home.path()).unwrap();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    drop(connection);
    let before = home.stats().unwrap();
    home.vacuum().unwrap();
    let after = home.stats().unwrap();
    assert!(
        after.database_bytes < before.database_bytes * 7 / 10,
        "{before:?} {after:?}"
    );
    assert_eq!(after.log_bytes, 0);
    home.rebuild_index().unwrap();
    for route in [Route::Sql, Route::Resident, Route::Facts] {
        assert_eq!(ask(route), expected);
    }
    assert_eq!(home.doctor().unwrap(), []);
}

/// The doctor sees each kind of damage that is done behind the store's back.
#[test]
fn the_doctor_finds_what_is_wrong() {
    let damages: [(&str, Check); 13] = [
        (
            "UPDATE vectors SET vector = zeroblob(8) WHERE id = 1",
            Check::Digests,
        ),
        ("DELETE FROM vectors WHERE id = 1", Check::Counts),
        ("UPDATE chunks SET indexed = 0 WHERE id = 1", Check::Counts),
        ("DELETE FROM chunk_texts WHERE id = 1", Check::Counts),
        ("DELETE FROM new_chunk_ids WHERE id = 1", Check::Counts),
        (
            "INSERT INTO chunk_ids VALUES (zeroblob(32), 9)",
            Check::Counts,
        ),
        (
            "UPDATE chunk_texts SET text = 'forged' WHERE id = 1",
            Check::Digests,
        ),
        ("INSERT INTO grants VALUES ('public', 2)", Check::Digests),
        ("INSERT INTO grants VALUES ('public', 2)", Check::Seals),
        (
            "UPDATE documents SET name = 'c.md' WHERE ordinal = 1",
            Check::Seals,
        ),
        (
            "DELETE FROM documents WHERE ordinal = 1",
            Check::ForeignKeys,
        ),
        (
            "UPDATE chunks SET parent = zeroblob(32) WHERE id = 1",
            Check::Parents,
        ),
        ("DELETE FROM vec_chunks WHERE rowid = 1", Check::Vec0),
    ];
    for (damage, check) in damages {
        let home = Home::new(2, Route::Auto);
        home.upsert(&document("a.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]))
            .unwrap();
        home.upsert(&document("b.md", &["hr"], &[&[0.6, 0.8]]))
            .unwrap();
        home.rebuild_index().unwrap();
        assert_eq!(home.doctor().unwrap(), []);
        let connection = Connection::open(home.path()).unwrap();
        connection
            .execute_batch(&format!("PRAGMA foreign_keys = OFF; {damage}"))
            .unwrap();
        let findings = home.doctor().unwrap();
        assert!(
            findings.iter().any(|finding| finding.check == check),
            "{damage}: {findings:?}"
        );
    }
}

/// A `.vec` file with other rows, whole in itself, is found out by the facts.
#[test]
fn the_doctor_compares_the_vec_file_with_the_facts() {
    let home = Home::new(2, Route::Auto);
    home.upsert(&document("a.md", &["public"], &[&[1.0, 0.0]]))
        .unwrap();
    home.prepare().unwrap();
    let connection = Connection::open(home.path()).unwrap();
    let turned: Vec<u8> = [0.0_f32, 1.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    connection
        .execute("UPDATE vectors SET vector = ?1", [turned])
        .unwrap();
    let checks: Vec<_> = home
        .doctor()
        .unwrap()
        .into_iter()
        .map(|finding| finding.check)
        .collect();
    assert_eq!(checks, [Check::Digests, Check::VecFile]);
}

/// A grant that is added behind the store's back opens nothing.
#[test]
fn a_forged_grant_is_an_error_for_who_would_gain() {
    let home = Home::new(2, Route::Auto);
    home.upsert(&document("secret.md", &["hr"], &[&[1.0, 0.0]]))
        .unwrap();
    home.upsert(&document("open.md", &["public"], &[&[1.0, 0.0]]))
        .unwrap();
    Connection::open(home.path())
        .unwrap()
        .execute_batch("INSERT INTO grants VALUES ('public', 1)")
        .unwrap();
    assert!(matches!(
        home.view(&public()),
        Err(StoreError::Corrupted { .. })
    ));
    assert_eq!(home.view(&reader(&["hr"])).unwrap().len(), 1);
}

/// New ids of chunks are moved to the large table now and then, and mean the same there.
#[test]
fn ids_of_chunks_are_settled_and_found() {
    let home = Home::new(2, Route::Auto);
    let page = |at: usize, word: &str| {
        worded(
            &format!("{at}.md"),
            &["public"],
            &[&[1.0, 0.0], &[0.0, 1.0]],
            word,
        )
    };
    home.upsert(&page(0, "first")).unwrap();
    let connection = Connection::open(home.path()).unwrap();
    // As if so many had been written before.
    connection
        .execute(
            "UPDATE sqlite_sequence SET seq = 65533 WHERE name = 'chunks'",
            [],
        )
        .unwrap();
    let counts = || {
        let count = |sql| {
            connection
                .query_row(sql, [], |row| row.get::<_, i64>(0))
                .unwrap()
        };
        (
            count("SELECT count(*) FROM new_chunk_ids"),
            count("SELECT count(*) FROM chunk_ids"),
        )
    };
    home.upsert(&page(1, "first")).unwrap();
    assert_eq!(counts(), (4, 0));
    home.upsert(&page(2, "first")).unwrap();
    assert_eq!(counts(), (0, 6));
    home.upsert(&page(1, "second")).unwrap();
    assert_eq!(
        counts(),
        (2, 4),
        "what was replaced is gone from the large table"
    );
    assert!(home.remove(&DocId::new("2.md").unwrap()).unwrap());
    assert_eq!(counts(), (2, 2));
    let view = home.view(&public()).unwrap();
    for facts in [page(0, "first"), page(1, "second")] {
        for chunk in &facts.chunks {
            assert_eq!(home.chunk(&view, &chunk.id).unwrap().as_ref(), Some(chunk));
        }
    }
    for gone in &page(1, "first").chunks {
        assert_eq!(home.chunk(&view, &gone.id).unwrap(), None);
    }
    assert_eq!(home.doctor().unwrap(), []);
}
