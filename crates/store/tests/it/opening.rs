//! Options at the ends of their ranges, links, names, and files of other kinds.

use std::fs;
use std::time::Duration;

use cornu_core::FactStore;
use cornu_store::{Access, Options, Route, Scan, SqliteVecStore, StoreError};
use ndarray::aview1;
use rusqlite::Connection;

use crate::sample::{Home, ROUTES, document, fingerprint, folder, options, public};

/// SQLite counts milliseconds in 31 bits.
#[test]
fn any_busy_timeout_will_do() {
    for seconds in [0, 60 * 86_400, u64::MAX / 2] {
        let options = Options {
            busy_timeout: Duration::from_secs(seconds),
            pool_timeout: Duration::MAX,
            ..options(Route::Auto)
        };
        let home = Home::with(2, &options);
        let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
        home.upsert(&facts).unwrap();
        assert_eq!(home.view(&public()).unwrap().len(), 1);
    }
}

/// SQLite takes 0 for no limit at all.
#[test]
fn a_file_of_no_pages_is_refused() {
    let folder = folder();
    let path = folder.path().join("index.db");
    let none = Options {
        max_pages: Some(0),
        ..options(Route::Auto)
    };
    let error = SqliteVecStore::open(&path, &fingerprint(), 2, &none).unwrap_err();
    assert!(matches!(error, StoreError::Options { .. }), "{error}");
    assert!(!path.exists());
}

/// Each reader has a place, so that there cannot be any number of them.
#[test]
fn readers_without_end_are_refused() {
    let folder = folder();
    let many = Options {
        readers: usize::MAX,
        ..options(Route::Auto)
    };
    let path = folder.path().join("index.db");
    let error = SqliteVecStore::open(&path, &fingerprint(), 2, &many).unwrap_err();
    assert!(matches!(error, StoreError::Options { .. }), "{error}");
}

/// Differences from it would overflow, and nothing would be found.
#[test]
fn a_centre_that_no_vectors_have_is_refused() {
    for centre in [vec![f32::MAX, f32::MIN], vec![0.0, 1e4]] {
        let folder = folder();
        let bits = Options {
            scan: Scan::Bits { per_hit: 1 },
            centre: Some(centre),
            ..options(Route::Auto)
        };
        let path = folder.path().join("index.db");
        let error = SqliteVecStore::open(&path, &fingerprint(), 2, &bits).unwrap_err();
        assert!(matches!(error, StoreError::Options { .. }), "{error}");
    }
}

/// `VACUUM INTO` is how SQLite copies a database that is in use; the copy has no log.
#[test]
fn a_copy_without_a_log_is_given_one() {
    let home = Home::new(2, Route::Auto);
    home.upsert(&document("a.md", &["public"], &[&[1.0, 0.0]]))
        .unwrap();
    let copy = home.path().with_file_name("copy.db");
    let mode = |path: &std::path::Path| -> String {
        let connection = Connection::open(path).unwrap();
        let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0));
        mode.unwrap()
    };
    let name = copy.to_str().unwrap();
    Connection::open(home.path())
        .unwrap()
        .execute("VACUUM INTO ?1", [name])
        .unwrap();
    assert_eq!(mode(&copy), "delete");
    // Who is refused changes nothing, nor does who only reads.
    let hasty = Options {
        busy_timeout: Duration::from_millis(200),
        ..options(Route::Auto)
    };
    SqliteVecStore::open(&copy, &fingerprint(), 3, &hasty).unwrap_err();
    let reading = Options {
        access: Access::ReadOnly,
        ..hasty.clone()
    };
    let store = SqliteVecStore::open(&copy, &fingerprint(), 2, &reading).unwrap();
    assert_eq!(store.view(&public()).unwrap().len(), 1);
    drop(store);
    assert_eq!(mode(&copy), "delete");

    let store = SqliteVecStore::open(&copy, &fingerprint(), 2, &hasty).unwrap();
    let snapshot = store.snapshot(&public()).unwrap();
    store
        .upsert(&document("b.md", &["public"], &[&[0.0, 1.0]]))
        .unwrap();
    assert_eq!(snapshot.documents().unwrap().len(), 1);
    assert_eq!(store.view(&public()).unwrap().len(), 2);
    assert_eq!(mode(&copy), "wal");
}

/// The log lies beside the file, not beside a link to it.
#[cfg(unix)]
#[test]
fn an_immutable_database_with_a_log_is_refused_through_a_link_too() {
    let folder = folder();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let [path, log] = ["index.db", "index.db-wal"].map(|name| inside.join(name));
    let [kept, kept_log, link] =
        ["kept", "kept-wal", "link.db"].map(|name| folder.path().join(name));
    let open = |path, access| {
        let options = Options {
            access,
            ..options(Route::Auto)
        };
        SqliteVecStore::open(path, &fingerprint(), 2, &options)
    };
    let store = open(&path, Access::ReadWrite).unwrap();
    store
        .upsert(&document("a.md", &["public"], &[&[1.0, 0.0]]))
        .unwrap();
    // As a process leaves them that is killed.
    fs::copy(&path, &kept).unwrap();
    fs::copy(&log, &kept_log).unwrap();
    drop(store);
    fs::rename(&kept, &path).unwrap();
    fs::rename(&kept_log, &log).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();

    for name in [&path, &link] {
        let error = open(name, Access::Immutable).unwrap_err();
        assert!(matches!(error, StoreError::CannotOpen { .. }), "{error}");
    }
    let store = open(&link, Access::ReadWrite).unwrap();
    assert_eq!(store.view(&public()).unwrap().len(), 1);
    drop(store);
    Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let store = open(&link, Access::Immutable).unwrap();
    assert_eq!(store.view(&public()).unwrap().len(), 1);
}

/// The header of a store, and not its tables: a copy that broke off, or a foreign hand.
#[test]
fn a_store_without_a_table_or_its_row_is_damaged() {
    let folder = folder();
    let path = folder.path().join("index.db");
    let header = "PRAGMA application_id = 0x43726e75; PRAGMA user_version = 2;";
    let meta = "CREATE TABLE meta (one, store, state, epoch, dimension, fingerprint);";
    for tables in ["CREATE TABLE t (x);", "CREATE TABLE meta (one);", meta] {
        let _ = fs::remove_file(&path);
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(&format!("{header}{tables}"))
            .unwrap();
        drop(connection);
        let error = SqliteVecStore::open_existing(&path, &options(Route::Auto)).unwrap_err();
        assert!(matches!(error, StoreError::Corrupted { .. }), "{error}");
    }
    for table in [
        "documents",
        "grants",
        "grant_seals",
        "vectors",
        "chunk_texts",
    ] {
        let home = Home::new(2, Route::Facts);
        home.upsert(&document("a.md", &["public"], &[&[1.0, 0.0]]))
            .unwrap();
        Connection::open(home.path())
            .unwrap()
            .execute_batch(&format!("PRAGMA foreign_keys = OFF; DROP TABLE {table};"))
            .unwrap();
        let store = home.again(&options(Route::Facts));
        let error = store.snapshot(&public()).and_then(|snapshot| {
            let hits = snapshot.knn(aview1(&[1.0, 0.0]), 1)?;
            hits.ids().try_for_each(|id| snapshot.chunk(id).map(drop))
        });
        let error = error.unwrap_err();
        assert!(
            matches!(error, StoreError::Corrupted { .. }),
            "{table}: {error}"
        );
    }
}

/// vec0 takes 8,192 dimensions; everything else takes any number.
#[test]
fn more_dimensions_than_vec0_takes() {
    for dimension in [1, 8192, 8193] {
        let home = Home::new(dimension, Route::Auto);
        let axis = |at: usize, length: f32| {
            let mut axis = vec![0.0; dimension];
            axis[at] = length;
            axis
        };
        let (first, last) = (axis(0, 1.0), axis(dimension - 1, -1.0));
        home.upsert(&document("a.md", &["public"], &[&first, &last]))
            .unwrap();
        home.rebuild_index().unwrap();
        assert_eq!(home.doctor().unwrap(), []);
        for route in ROUTES {
            let store = home.again(&options(route));
            let view = store.view(&public()).unwrap();
            let hits = store.knn(&view, aview1(&first), 2);
            if route == Route::Sql && dimension > 8192 {
                let error = hits.unwrap_err();
                assert!(matches!(error, StoreError::Options { .. }), "{error}");
                continue;
            }
            let hits = hits.unwrap();
            assert_eq!(
                (hits.len(), hits.as_slice()[0].score),
                (2, 1.0),
                "{route:?}"
            );
        }
    }
}
