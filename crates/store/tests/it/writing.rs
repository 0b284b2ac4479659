//! Documents that fail half way, and the log of a long ingest.

use std::path::Path;
use std::time::{Duration, Instant};

use cornu_core::{DocumentFacts, FactStore, Principal};
use cornu_store::{Route, StoreError};
use rusqlite::Connection;

use crate::sample::{Home, document, options, public};

/// Makes SQLite refuse one row of a document, after some of its rows are written.
fn refuse(home: &Home, trigger: &str) {
    let connection = Connection::open(home.path()).unwrap();
    connection.execute_batch(trigger).unwrap();
}

const MIB: u64 = 1 << 20;

/// 4 MiB of vectors.
fn wide_rows() -> Vec<Vec<f32>> {
    let mut row = vec![0.0; 8192];
    row[0] = 1.0;
    vec![row; 128]
}

fn of_wide_rows(name: usize, rows: &[Vec<f32>]) -> DocumentFacts {
    let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
    document(&format!("{name}.md"), &["public"], &rows)
}

const SECOND_TEXT: &str = "CREATE TRIGGER refuse BEFORE INSERT ON chunk_texts
    WHEN (SELECT place FROM chunks WHERE id = new.id) = 1
    BEGIN SELECT RAISE(ABORT, 'refused'); END;";

/// What a new document has left when it fails is gone, for the batch that goes on.
#[test]
fn a_new_document_that_fails_half_way_leaves_nothing() {
    let home = Home::new(2, Route::Auto);
    let one = |name: &str| document(name, &["public", "hr"], &[&[1.0, 0.0]]);
    let two = document("two.md", &["public", "hr"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    refuse(&home, SECOND_TEXT);
    home.batch(|batch| {
        batch.upsert(&one("a.md"))?;
        assert!(batch.upsert(&two).is_err());
        batch.upsert(&one("b.md"))?;
        Ok::<_, StoreError>(())
    })
    .unwrap();
    for asker in [public(), Principal::new(["hr"]).unwrap()] {
        let names = home.snapshot(&asker).unwrap().documents().unwrap();
        assert_eq!(names, [one("a.md").doc, one("b.md").doc]);
    }
    refuse(&home, "DROP TRIGGER refuse");
    assert_eq!(home.doctor().unwrap(), []);
    home.upsert(&two).unwrap();
    assert_eq!(home.doctor().unwrap(), []);
}

/// A document that can be neither written nor taken back takes the batch with it.
#[test]
fn a_batch_that_cannot_be_mended_is_not_committed() {
    let home = Home::new(2, Route::Auto);
    let one = |name: &str| document(name, &["public"], &[&[1.0, 0.0]]);
    let two = document("two.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    home.upsert(&one("before.md")).unwrap();
    refuse(
        &home,
        &format!(
            "{SECOND_TEXT} CREATE TRIGGER keep BEFORE DELETE ON documents
             BEGIN SELECT RAISE(ABORT, 'kept'); END;"
        ),
    );
    let result = home.batch(|batch| {
        batch.upsert(&one("a.md"))?;
        assert!(batch.upsert(&two).is_err());
        let later = batch.upsert(&one("b.md")).unwrap_err();
        assert!(later.to_string().contains("taken back"), "{later}");
        Ok::<_, StoreError>(())
    });
    assert!(matches!(result, Err(StoreError::Corrupted { .. })));
    refuse(&home, "DROP TRIGGER refuse; DROP TRIGGER keep");
    let names = home.snapshot(&public()).unwrap().documents().unwrap();
    assert_eq!(names, [one("before.md").doc]);
    assert_eq!(home.epoch().unwrap(), 1);
    assert_eq!(home.doctor().unwrap(), []);
}

/// Below the length at which the writer would do it, and with nothing more written.
#[test]
fn the_log_is_copied_beside_the_writer() {
    let home = Home::new(8192, Route::Auto);
    let rows = wide_rows();
    for name in 0..6 {
        home.upsert(&of_wide_rows(name, &rows)).unwrap();
    }
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    assert!(size(&home.path().with_extension("db-wal")) < 64 * MIB);
    let begun = Instant::now();
    while size(&home.path()) < 8 * MIB {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The log is copied while the ingest goes on, so it does not grow with it, and a reader that
/// comes later finds everything.
#[test]
fn the_log_of_a_long_ingest_is_bounded() {
    let home = Home::new(8192, Route::Auto);
    let rows = wide_rows();
    let log = home.path().with_extension("db-wal");
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    let mut longest = 0;
    for name in 0..48 {
        home.upsert(&of_wide_rows(name, &rows)).unwrap();
        longest = longest.max(size(&log));
    }
    assert!(longest > 16 * MIB, "{longest}: nothing was left to copy");
    assert!(longest < 160 * MIB, "{longest}");
    assert!(size(&home.path()) > 64 * MIB);
    let again = home.again(&options(Route::Auto));
    assert_eq!(
        again
            .snapshot(&public())
            .unwrap()
            .documents()
            .unwrap()
            .len(),
        48
    );
    drop(again);
    let folder = home.close();
    assert!(size(&folder.path().join("index.db")) > 192 * MIB);
    assert!(!log.exists(), "the last one to close copies the rest");
}
