//! Files that are not as they should be.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use cornu_core::{Acl, DocumentFacts, FactStore};
use cornu_store::{Access, Options, Route, SqliteVecStore, StoreError};
use ndarray::aview1;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::sample::{Home, Numbers, bits, document, fingerprint, folder, options, public};

fn open(path: &Path, options: &Options) -> Result<SqliteVecStore, StoreError> {
    SqliteVecStore::open(path, &fingerprint(), 8, options)
}

/// A closed store of `count` documents, its log copied into the file.
fn closed(count: usize) -> (TempDir, Vec<DocumentFacts>) {
    let home = Home::new(8, Route::Auto);
    let mut numbers = Numbers(3);
    let mut documents: Vec<_> = (0..count)
        .map(|at| numbers.document(&format!("{at}.md"), 8))
        .collect();
    for facts in &mut documents {
        facts.acl = Acl::public();
    }
    home.batch(|batch| {
        documents
            .iter()
            .try_for_each(|facts| batch.upsert(facts).map(drop))
    })
    .unwrap();
    let path = home.path();
    let folder = home.close();
    let connection = Connection::open(path).unwrap();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    drop(connection);
    (folder, documents)
}

/// All that a reader can ask, compared with what was written; an error is an honest answer.
fn answers_honestly(path: &Path, documents: &[DocumentFacts]) -> Result<(), StoreError> {
    let store = open(path, &options(Route::Auto))?;
    let snapshot = store.snapshot(&public())?;
    let mut names: Vec<_> = documents.iter().map(|facts| facts.doc.clone()).collect();
    names.sort();
    let listed = snapshot.documents()?;
    assert_eq!(listed, names, "documents were lost without an error");
    // A look-up by name or by id trusts SQLite's index; what is amiss there, the doctor knows.
    let known = || store.doctor().map(|findings| !findings.is_empty());
    for facts in documents {
        match snapshot.facts(&facts.doc)? {
            Some(found) => assert_eq!(found, *facts, "facts changed without an error"),
            None => assert!(known()?, "a document was lost"),
        }
        for chunk in &facts.chunks {
            match snapshot.chunk(&chunk.id)? {
                Some(found) => assert_eq!(*found, *chunk),
                None => assert!(known()?, "a chunk was lost"),
            }
        }
    }
    let rows: usize = documents.iter().map(|facts| facts.vectors.nrows()).sum();
    for route in [Route::Facts, Route::Resident] {
        let hits = snapshot.knn_by(route, aview1(&[1.0; 8]), usize::MAX)?;
        assert_eq!(hits.len(), rows, "hits were lost without an error");
    }
    Ok(())
}

#[test]
fn vs_24_files_that_are_no_store_are_named_and_left_alone() {
    let folder = folder();
    let path = folder.path().join("index.db");
    let other = folder.path().join("other.db");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE t (x)")
        .unwrap();
    for bytes in [
        Vec::new(),
        b"just some notes\n".to_vec(),
        b"SQLite format 3\0".to_vec(),
        vec![0; 8192],
        fs::read(&other).unwrap(),
    ] {
        fs::write(&path, &bytes).unwrap();
        for access in [Access::ReadWrite, Access::ReadOnly, Access::Immutable] {
            let options = Options {
                access,
                ..options(Route::Auto)
            };
            let error = open(&path, &options).unwrap_err();
            assert!(
                matches!(error, StoreError::Corrupted { .. }),
                "{access:?}: {error}"
            );
            assert!(error.to_string().contains("index.db"));
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }
}

/// 4 KiB of the file overwritten, wherever they are: an error that names the file, or the right
/// answers because nothing of them was in there; never less than was written. And the file is not
/// repaired behind the owner's back.
#[test]
fn vs_24_a_damaged_page_is_an_error_or_harmless_never_a_wrong_answer() {
    let (folder, documents) = closed(60);
    let path = folder.path().join("index.db");
    let good = fs::read(&path).unwrap();
    let mut honest = 0;
    for (fill, start) in [(0xff_u8, 0), (0, 0), (0x5a, 0), (0x11, 2048)] {
        for at in (start..good.len()).step_by(4096) {
            let mut bad = good.clone();
            let end = bad.len().min(at + 4096);
            bad[at..end].fill(fill);
            if bad == good {
                continue;
            }
            fs::write(&path, &bad).unwrap();
            for suffix in ["-wal", "-shm", ".vec"] {
                let _ = fs::remove_file(folder.path().join(format!("index.db{suffix}")));
            }
            match answers_honestly(&path, &documents) {
                Ok(()) => {}
                Err(error) => {
                    honest += 1;
                    assert!(error.to_string().contains("index.db"), "{error}");
                }
            }
            assert_eq!(fs::read(&path).unwrap(), bad, "the file was changed");
        }
    }
    assert!(honest > 20, "{honest} errors: the pages are not read");
}

#[test]
fn a_truncated_file_is_an_error() {
    let (folder, documents) = closed(60);
    let path = folder.path().join("index.db");
    let good = fs::read(&path).unwrap();
    for share in [1, 3, 5, 7, 9] {
        fs::write(&path, &good[..good.len() * share / 10]).unwrap();
        let error = answers_honestly(&path, &documents).unwrap_err();
        assert!(matches!(error, StoreError::Corrupted { .. }), "{error}");
    }
}

/// A damaged `.vec` file costs time, not answers.
#[test]
fn a_damaged_vec_file_is_built_anew() {
    let (folder, _) = closed(60);
    let path = folder.path().join("index.db");
    let vec_path = folder.path().join("index.db.vec");
    let query = aview1(&[1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
    let ask = || {
        let store = open(&path, &options(Route::Resident)).unwrap();
        let hits = store.snapshot(&public()).unwrap().knn(query, 10).unwrap();
        // A second time: what was thrown away comes back.
        assert_eq!(
            bits(&store.snapshot(&public()).unwrap().knn(query, 10).unwrap()),
            bits(&hits)
        );
        bits(&hits)
    };
    let expected = ask();
    open(&path, &options(Route::Auto))
        .unwrap()
        .prepare()
        .unwrap();
    let good = fs::read(&vec_path).unwrap();
    assert_eq!(ask(), expected);
    for at in (0..good.len()).step_by(61) {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        fs::write(&vec_path, &bad).unwrap();
        assert_eq!(ask(), expected, "byte {at}");
    }
    for length in [0, 10, 256, 4095, good.len() - 1] {
        fs::write(&vec_path, &good[..length]).unwrap();
        assert_eq!(ask(), expected, "{length} bytes");
        let findings = open(&path, &options(Route::Auto))
            .unwrap()
            .doctor()
            .unwrap();
        assert!(!findings.is_empty(), "{length} bytes");
        let _ = fs::remove_file(&vec_path);
    }
}

/// The `.vec` file of an index that went another way from the same beginning is not believed.
#[test]
fn a_vec_file_of_another_copy_is_not_believed() {
    let (folder, _) = closed(10);
    let path = folder.path().join("index.db");
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    let extra = |path: &Path, row: &[f32]| {
        let store = open(path, &options(Route::Resident)).unwrap();
        store
            .upsert(&document("extra.md", &["public"], &[row]))
            .unwrap();
        store.prepare().unwrap();
        let snapshot = store.snapshot(&public()).unwrap();
        bits(
            &snapshot
                .knn(aview1(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]), 3)
                .unwrap(),
        )
    };
    let ours = extra(&path, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let theirs = extra(&copy, &[0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_ne!(ours, theirs);
    fs::copy(
        folder.path().join("copy.db.vec"),
        folder.path().join("index.db.vec"),
    )
    .unwrap();
    let store = open(&path, &options(Route::Resident)).unwrap();
    let snapshot = store.snapshot(&public()).unwrap();
    let found = snapshot
        .knn(aview1(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]), 3)
        .unwrap();
    assert_eq!(bits(&found), ours);
}

#[test]
fn vs_25_a_full_disk_leaves_what_was_committed() {
    let (folder, documents) = closed(10);
    let path = folder.path().join("index.db");
    let pages = fs::metadata(&path).unwrap().len() / 8192 + 2;
    let tight = Options {
        max_pages: Some(pages as u32),
        ..options(Route::Auto)
    };
    let store = open(&path, &tight).unwrap();
    let before = store.stats().unwrap();
    let rows: Vec<Vec<f32>> = (0..2000).map(|seed| Numbers(seed).vector(8)).collect();
    let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
    let large = document("large.md", &["public"], &rows);
    let error = store.upsert(&large).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    let mut errors = Vec::new();
    let error = store.batch(|batch| {
        batch.upsert(&document("small.md", &["public"], &[&[1.0; 8]]))?;
        errors.push(batch.upsert(&large).is_err());
        errors.push(
            batch
                .upsert(&document("next.md", &["public"], &[&[1.0; 8]]))
                .is_err(),
        );
        Ok::<_, StoreError>(())
    });
    assert!(errors[0]);
    if errors[1] {
        // SQLite gave the transaction up; so does the batch.
        assert!(error.is_err());
        assert_eq!(store.stats().unwrap().documents, before.documents);
    }
    drop(store);
    let store = open(&path, &options(Route::Auto)).unwrap();
    assert_eq!(store.doctor().unwrap(), []);
    let snapshot = store.snapshot(&public()).unwrap();
    for facts in &documents {
        assert_eq!(snapshot.facts(&facts.doc).unwrap().as_ref(), Some(facts));
    }
    assert!(snapshot.facts(&large.doc).unwrap().is_none());
}

#[test]
fn vs_25_a_read_only_store_is_searched_and_not_written() {
    let (folder, documents) = closed(40);
    let path = folder.path().join("index.db");
    let query = aview1(&[1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
    let expected = {
        let store = open(&path, &options(Route::Auto)).unwrap();
        let snapshot = store.snapshot(&public()).unwrap();
        bits(&snapshot.knn(query, 10).unwrap())
    };
    let before = fs::read(&path).unwrap();
    for access in [Access::ReadOnly, Access::Immutable] {
        for route in [Route::Auto, Route::Resident, Route::Facts] {
            let options = Options {
                access,
                ..options(route)
            };
            let store = open(&path, &options).unwrap();
            let snapshot = store.snapshot(&public()).unwrap();
            assert_eq!(bits(&snapshot.knn(query, 10).unwrap()), expected);
            drop(snapshot);
            for error in [
                store.upsert(&documents[0]).unwrap_err(),
                store.remove(&documents[0].doc).unwrap_err(),
                store.prepare().unwrap_err(),
                store.rebuild_index().unwrap_err(),
                store.vacuum().unwrap_err(),
            ] {
                assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
            }
            assert_eq!(store.doctor().unwrap(), []);
        }
        let options = Options {
            access,
            ..options(Route::Sql)
        };
        let store = open(&path, &options).unwrap();
        let view = store.view(&public()).unwrap();
        let error = store.knn(&view, query, 10).unwrap_err();
        assert!(
            matches!(error, StoreError::ArtifactBehind { .. }),
            "{error}"
        );
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(!folder.path().join("index.db.vec").exists());
    // With vec0 in the file, SQL answers too.
    open(&path, &options(Route::Auto))
        .unwrap()
        .rebuild_index()
        .unwrap();
    Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let options = Options {
        access: Access::Immutable,
        ..options(Route::Sql)
    };
    let store = open(&path, &options).unwrap();
    let view = store.view(&public()).unwrap();
    assert_eq!(bits(&store.knn(&view, query, 10).unwrap()), expected);
}

#[test]
fn an_immutable_store_with_a_log_is_refused() {
    let home = Home::new(8, Route::Auto);
    home.upsert(&document("a.md", &["public"], &[&[1.0; 8]]))
        .unwrap();
    let options = Options {
        access: Access::Immutable,
        ..options(Route::Auto)
    };
    let error = open(&home.path(), &options).unwrap_err();
    assert!(matches!(error, StoreError::CannotOpen { .. }), "{error}");
}

#[test]
fn other_schemas_are_refused() {
    let (folder, _) = closed(1);
    let path = folder.path().join("index.db");
    let set = |version: i64| {
        Connection::open(&path)
            .unwrap()
            .pragma_update(None, "user_version", version)
            .unwrap();
    };
    set(3);
    let error = open(&path, &options(Route::Auto)).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::NewerSchema {
                found: 3,
                supported: 2,
                ..
            }
        ),
        "{error}"
    );
    set(1);
    let error = open(&path, &options(Route::Auto)).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::OlderSchema {
                found: 1,
                oldest: 2,
                ..
            }
        ),
        "{error}"
    );
    set(2);
    open(&path, &options(Route::Auto)).unwrap();
}

#[test]
fn paths_that_cannot_be_opened_are_named() {
    let folder = folder();
    let missing = folder.path().join("no such folder").join("index.db");
    let error = open(&missing, &options(Route::Auto)).unwrap_err();
    assert!(error.to_string().contains("no such folder"), "{error}");
    let error = open(folder.path(), &options(Route::Auto)).unwrap_err();
    assert!(matches!(error, StoreError::CannotOpen { .. }), "{error}");
    let absent = folder.path().join("absent.db");
    let options = Options {
        access: Access::ReadOnly,
        ..options(Route::Auto)
    };
    let error = open(&absent, &options).unwrap_err();
    assert!(matches!(error, StoreError::CannotOpen { .. }), "{error}");
    assert!(!absent.exists());
}

#[test]
fn a_path_with_odd_characters_is_a_path() {
    let folder = folder();
    for name in [
        "a b.db",
        "index?mode=memory",
        "100%.db",
        "索引#1.db",
        "'quoted'.db",
    ] {
        let path = folder.path().join(name);
        let store = open(&path, &options(Route::Auto)).unwrap();
        store
            .upsert(&document("a.md", &["public"], &[&[1.0; 8]]))
            .unwrap();
        drop(store);
        assert!(path.exists(), "{name}");
        Connection::open(&path)
            .unwrap()
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap();
        let options = Options {
            access: Access::Immutable,
            ..options(Route::Auto)
        };
        let store = open(&path, &options).unwrap();
        assert_eq!(store.view(&public()).unwrap().len(), 1, "{name}");
    }
}

/// Another process that writes for longer than the busy timeout.
#[test]
fn a_lock_that_is_held_too_long_is_named() {
    let home = Home::new(8, Route::Auto);
    let path = home.path();
    let folder = home.close();
    let options = Options {
        busy_timeout: Duration::from_millis(50),
        ..options(Route::Auto)
    };
    let store = open(&path, &options).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let facts = document("a.md", &["public"], &[&[1.0; 8]]);
    let error = store.upsert(&facts).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    assert!(
        store.view(&public()).unwrap().is_empty(),
        "readers are not blocked"
    );
    other.execute_batch("ROLLBACK").unwrap();
    store.upsert(&facts).unwrap();
    drop(folder);
}

#[test]
fn pc_08_timeouts_in_the_wrong_order_are_refused() {
    let folder = folder();
    let options = Options {
        pool_timeout: Duration::from_secs(5),
        busy_timeout: Duration::from_secs(10),
        ..options(Route::Auto)
    };
    let error = open(&folder.path().join("index.db"), &options).unwrap_err();
    assert!(matches!(error, StoreError::Options { .. }), "{error}");
    assert!(!folder.path().join("index.db").exists());
}

/// Drafts are complete files or nothing: a folder holds only the index after it was created.
#[test]
fn creating_leaves_no_drafts() {
    let (folder, _) = closed(3);
    open(&folder.path().join("index.db"), &options(Route::Auto))
        .unwrap()
        .prepare()
        .unwrap();
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm"))
        .collect();
    names.sort();
    assert_eq!(names, ["index.db", "index.db.vec"]);
}

#[test]
fn the_log_of_a_deleted_database_is_not_read_into_a_new_one() {
    let folder = folder();
    let path = folder.path().join("index.db");
    let [log, kept] = ["index.db-wal", "kept"].map(|name| folder.path().join(name));
    let store = open(&path, &options(Route::Auto)).unwrap();
    store.upsert(&Numbers(3).document("gone.md", 8)).unwrap();
    // As a process leaves it that is killed.
    fs::copy(&log, &kept).unwrap();
    drop(store);
    fs::remove_file(&path).unwrap();
    fs::rename(&kept, &log).unwrap();

    let error = open(&path, &options(Route::Auto)).unwrap_err();
    assert!(matches!(error, StoreError::LogLeft { .. }), "{error}");
    assert!(!path.exists() && log.exists());
    fs::remove_file(&log).unwrap();
    let store = open(&path, &options(Route::Auto)).unwrap();
    assert_eq!(store.stats().unwrap().documents, 0);
}

/// A row that is changed by a foreign hand, one byte of its text or of its vector, is no answer.
#[test]
fn a_changed_byte_in_a_text_or_a_vector_is_an_error() {
    let (folder, documents) = closed(20);
    let path = folder.path().join("index.db");
    let mut file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    let needle = documents
        .iter()
        .find(|facts| !facts.chunks.is_empty())
        .unwrap();
    let text = needle.chunks[0].text.as_bytes();
    let bytes = fs::read(&path).unwrap();
    let at = bytes
        .windows(text.len())
        .position(|window| window == text)
        .unwrap();
    file.seek(SeekFrom::Start(at as u64)).unwrap();
    file.write_all(b"W").unwrap();
    drop(file);
    let store = open(&path, &options(Route::Auto)).unwrap();
    let snapshot = store.snapshot(&public()).unwrap();
    let error = snapshot.chunk(&needle.chunks[0].id).unwrap_err();
    assert!(matches!(error, StoreError::Corrupted { .. }), "{error}");
    drop(snapshot);
    assert!(!store.doctor().unwrap().is_empty());
}
