//! What happens to the file, and to other processes, while the store is open.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use cornu_core::{DocumentFacts, FactStore};
use cornu_store::{Options, Route, SqliteVecStore, StoreError};
use ndarray::aview1;
use rusqlite::Connection;

use crate::sample::{bits, document, fingerprint, folder, options, public};

const FOLDER: &str = "CORNU_STORE_TEST_READER";
const ROWS: usize = 200;

/// Nothing is mapped: what is read is read from the file, so that a change of it shows.
fn unmapped() -> Options {
    Options {
        mmap_bytes: 0,
        readers: 2,
        ..options(Route::Facts)
    }
}

fn documents() -> Vec<DocumentFacts> {
    let row = |at: usize| [(at as f32).cos(), (at as f32).sin()];
    (0..ROWS)
        .map(|at| document(&format!("{at:03}.md"), &["public"], &[&row(at)]))
        .collect()
}

fn filled(folder: &Path) -> SqliteVecStore {
    let path = folder.join("index.db");
    let store = SqliteVecStore::open(path, &fingerprint(), 2, &unmapped()).unwrap();
    for facts in documents() {
        store.upsert(&facts).unwrap();
    }
    store
}

/// All that is there, or an error; never a part of it.
fn all_or_an_error(store: &SqliteVecStore) -> Result<(), StoreError> {
    let snapshot = store.snapshot(&public())?;
    let hits = snapshot.knn(aview1(&[1.0, 0.0]), ROWS * 2)?;
    assert_eq!(hits.len(), ROWS);
    for id in hits.ids() {
        assert!(snapshot.chunk(id)?.is_some());
    }
    Ok(())
}

/// A file that is removed is still there for those who have it open; who opens it from now on is
/// told. Nobody creates an empty one in its place.
#[cfg(unix)]
#[test]
fn a_file_that_is_removed_is_an_error_or_all_of_it() {
    let folder = folder();
    let store = filled(folder.path());
    all_or_an_error(&store).unwrap();
    for name in ["index.db", "index.db-wal", "index.db-shm"] {
        let _ = fs::remove_file(folder.path().join(name));
    }
    // The connection that was open, and one that has to be opened for the second.
    let held = store.snapshot(&public()).unwrap();
    assert_eq!(held.knn(aview1(&[1.0, 0.0]), ROWS * 2).unwrap().len(), ROWS);
    let error = store.snapshot(&public()).unwrap_err();
    assert!(matches!(error, StoreError::CannotOpen { .. }), "{error}");
    drop(held);
    all_or_an_error(&store).unwrap();
    assert!(!folder.path().join("index.db").exists());
}

/// What is written to a file that has lost its name is lost: no write may end as if it had been kept, and
/// none goes to what another has put there.
#[cfg(unix)]
#[test]
fn nothing_is_written_where_the_file_was_deleted_or_replaced() {
    let more = || document("more.md", &["public"], &[&[0.6, 0.8]]);
    for replaced in [false, true] {
        let folder = folder();
        let (path, aside) = (folder.path().join("index.db"), folder.path().join("a.db"));
        let other = SqliteVecStore::open(&aside, &fingerprint(), 2, &unmapped()).unwrap();
        drop(other);
        let store = filled(folder.path());
        let put = |ending: &str| folder.path().join(format!("index.db{ending}"));
        let take_away = || {
            for ending in ["-wal", "-shm"] {
                let _ = fs::remove_file(put(ending));
            }
            match replaced {
                true => fs::rename(&aside, &path).unwrap(),
                false => fs::remove_file(&path).unwrap(),
            }
        };
        // In the midst of a batch, and then before one.
        let error = store.batch(|batch| {
            batch.upsert(&more())?;
            take_away();
            Ok::<_, StoreError>(())
        });
        let error = error.unwrap_err();
        assert!(matches!(error, StoreError::Moved { .. }), "{error}");
        assert!(error.to_string().contains("index.db"), "{error}");
        for error in [
            store.upsert(&more()).unwrap_err(),
            store.remove(&documents()[0].doc).unwrap_err(),
            store.prepare().unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::Moved { .. }), "{error}");
        }
        assert_eq!(path.exists(), replaced);
        if replaced {
            let there = SqliteVecStore::open(&path, &fingerprint(), 2, &unmapped()).unwrap();
            assert_eq!(there.snapshot(&public()).unwrap().documents().unwrap(), []);
        }
    }
}

/// A file that is cut while it is open: an error that names it, or all of it.
#[test]
fn a_file_that_is_truncated_is_an_error_or_all_of_it() {
    let mut errors = 0;
    for share in [1, 4, 7, 9] {
        let folder = folder();
        let path = folder.path().join("index.db");
        drop(filled(folder.path()));
        let store = SqliteVecStore::open(&path, &fingerprint(), 2, &unmapped()).unwrap();
        let length = fs::metadata(&path).unwrap().len();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(length * share / 10).unwrap();
        if let Err(error) = all_or_an_error(&store) {
            assert!(error.to_string().contains("index.db"), "{error}");
            errors += 1;
        }
    }
    assert!(errors > 0, "nothing was read from the file");
}

/// Not a test of its own: what the child process does. Without its variable it does nothing.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let path = Path::new(&folder).join("index.db");
    let store = SqliteVecStore::open(path, &fingerprint(), 2, &unmapped()).unwrap();
    let snapshot = store.snapshot(&public()).unwrap();
    assert_eq!(snapshot.documents().unwrap().len(), ROWS);
    eprintln!("reading");
    std::thread::sleep(Duration::from_secs(60));
}

fn reader_in(folder: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["under_process::child", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "reading"));
    child
}

/// Whether the log could be copied into the file and cut, which a reader of an old state prevents.
fn log_is_free(folder: &Path) -> bool {
    let connection = Connection::open(folder.join("index.db")).unwrap();
    let busy: i64 = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .unwrap();
    busy == 0
}

/// A reader holds nobody up, and one that is killed leaves nothing behind: not even its hold on the
/// log.
#[test]
fn a_reader_that_is_killed_leaves_nothing_behind() {
    let folder = folder();
    let store = filled(folder.path());
    let mut child = reader_in(folder.path());
    let more = document("more.md", &["public"], &[&[1.0, 0.0]]);
    store.upsert(&more).unwrap();
    assert!(!log_is_free(folder.path()), "the child does not read");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(log_is_free(folder.path()));
    store.remove(&more.doc).unwrap();
    all_or_an_error(&store).unwrap();
    assert_eq!(store.doctor().unwrap(), []);
}

/// Times of files say nothing: a clock that was wrong when they were written changes no answer.
#[test]
fn file_times_of_another_day_change_nothing() {
    let folder = folder();
    let store = filled(folder.path());
    store.rebuild_index().unwrap();
    let ask = |store: &SqliteVecStore| {
        let snapshot = store.snapshot(&public()).unwrap();
        let found = snapshot.knn_by(Route::Resident, aview1(&[0.6, 0.8]), 9);
        bits(&found.unwrap())
    };
    let before = ask(&store);
    drop(store);
    for days in [-4000_i64, 4000] {
        let day = Duration::from_secs(24 * 3600 * days.unsigned_abs());
        let time = match days {
            ..0 => SystemTime::now() - day,
            _ => SystemTime::now() + day,
        };
        for entry in fs::read_dir(folder.path()).unwrap() {
            let file = fs::File::options().append(true).open(entry.unwrap().path());
            file.unwrap().set_modified(time).unwrap();
        }
        let path = folder.path().join("index.db");
        let store = SqliteVecStore::open(path, &fingerprint(), 2, &unmapped()).unwrap();
        assert_eq!(ask(&store), before);
        store.upsert(&documents()[0]).unwrap();
        assert_eq!(ask(&store), before);
    }
}
