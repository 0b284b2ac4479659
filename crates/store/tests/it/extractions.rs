//! What was read from chunks: written with their document, read under a view, gone with it.

use std::fs;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{Change, Chunk, ChunkId, DocumentFacts, FactStore, Principal};
use cornu_store::{
    ExtractionFacts, ExtractionStats, Route, SqliteVecStore, StoreError, TermCounts, TokenFacts,
};

use crate::sample::{Home, Numbers, document, few, options, public, reader};

const RULES: [u8; 32] = [7; 32];

fn read(facts: &DocumentFacts, word: &str) -> ExtractionFacts {
    let rows = facts.indexed().enumerate();
    let rows = rows.map(|(at, chunk)| format!("{word} {at} {}", chunk.text).into_bytes());
    ExtractionFacts {
        extractor: RULES,
        rows: rows.collect(),
    }
}

fn write(
    store: &SqliteVecStore,
    facts: &DocumentFacts,
    read: &ExtractionFacts,
) -> Result<Change, StoreError> {
    let terms = vec![TermCounts::new(); facts.indexed().count()];
    store.batch(|batch| batch.upsert_with_rows(facts, &terms, None, Some(read)))
}

/// What a principal gets, by id.
fn seen(store: &SqliteVecStore, who: &Principal) -> Vec<(Chunk, Option<Vec<u8>>)> {
    let mut out = Vec::new();
    let snapshot = store.snapshot(who).unwrap();
    snapshot
        .read_extractions(&RULES, |chunk, row| out.push((chunk, row)))
        .unwrap();
    out.sort_by_key(|(chunk, _)| chunk.id);
    out
}

fn expected(of: &[(&DocumentFacts, Option<ExtractionFacts>)]) -> Vec<(Chunk, Option<Vec<u8>>)> {
    let mut out = Vec::new();
    for (facts, read) in of {
        for (at, chunk) in facts.indexed().enumerate() {
            let row = read.as_ref().map(|read| read.rows[at].clone());
            out.push((chunk.clone(), row));
        }
    }
    out.sort_by_key(|(chunk, _)| chunk.id);
    out
}

#[test]
fn they_are_written_with_the_document_and_read_by_those_who_see_it() {
    let home = Home::new(2, Route::Facts);
    let open = document("open.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    let closed = document("closed.md", &["hr"], &[&[1.0, 0.0]]);
    for facts in [&open, &closed] {
        let facts_read = read(facts, "r");
        assert_eq!(write(&home, facts, &facts_read).unwrap(), Change::Inserted);
        assert_eq!(write(&home, facts, &facts_read).unwrap(), Change::Unchanged);
    }
    assert_eq!(
        seen(&home, &public()),
        expected(&[(&open, Some(read(&open, "r")))])
    );
    assert_eq!(
        seen(&home, &reader(&["hr"])),
        expected(&[(&closed, Some(read(&closed, "r")))])
    );
    // Another extractor has read nothing.
    let snapshot = home.snapshot(&public()).unwrap();
    let mut rows = Vec::new();
    snapshot
        .read_extractions(&[8; 32], |_, row| rows.push(row))
        .unwrap();
    assert_eq!(rows, [None, None]);
    assert_eq!(home.extraction_stats().unwrap().chunks, 3);
    assert_eq!(home.doctor().unwrap(), []);
}

#[test]
fn an_index_without_them_has_chunks_without_rows() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    home.upsert(&facts).unwrap();
    assert_eq!(seen(&home, &public()), expected(&[(&facts, None)]));
    assert_eq!(home.extraction_stats().unwrap(), ExtractionStats::default());
    assert_eq!(home.doctor().unwrap(), []);
    // They can come later, beside token vectors or without.
    let terms = vec![TermCounts::new()];
    home.upsert_with_terms(&facts, &terms).unwrap();
    let epoch = home.epoch().unwrap();
    assert_eq!(
        write(&home, &facts, &read(&facts, "r")).unwrap(),
        Change::Replaced
    );
    assert_eq!(home.epoch().unwrap(), epoch + 1);
    let tokens = TokenFacts {
        space: [1; 32],
        rows: vec![b"tokens".to_vec()],
    };
    let both = |batch: &mut cornu_store::Batch<'_>| {
        batch.upsert_with_rows(&facts, &terms, Some(&tokens), Some(&read(&facts, "r")))
    };
    assert_eq!(home.batch(both).unwrap(), Change::Replaced);
    assert_eq!(home.batch(both).unwrap(), Change::Unchanged);
    assert_eq!(home.token_stats().unwrap().chunks, 1);
    assert_eq!(
        seen(&home, &public()),
        expected(&[(&facts, Some(read(&facts, "r")))])
    );
    assert_eq!(home.doctor().unwrap(), []);
}

#[test]
fn what_an_extractor_has_not_read_is_listed_and_can_be_added() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["hr"], &[&[1.0, 0.0], &[0.0, 1.0], &[0.6, 0.8]]);
    home.upsert(&facts).unwrap();
    let mut chunks: Vec<Chunk> = facts.indexed().cloned().collect();
    chunks.sort_by_key(|chunk| chunk.id);
    let missing = |after: Option<&ChunkId>, limit| {
        home.chunks_without_extractions(&RULES, after, limit)
            .unwrap()
    };
    assert_eq!(missing(None, 9), chunks);
    assert_eq!(missing(Some(&chunks[0].id), 1), chunks[1..2]);

    let epoch = home.epoch().unwrap();
    let gone = ChunkId::from_bytes([9; 32]);
    let rows = [(chunks[1].id, b"one".to_vec()), (gone, b"none".to_vec())];
    let put = |rows: &[(ChunkId, Vec<u8>)]| home.batch(|batch| batch.put_extractions(&RULES, rows));
    assert_eq!(
        put(&rows).unwrap(),
        1,
        "a chunk that has gone is passed over"
    );
    assert_eq!(home.epoch().unwrap(), epoch + 1);
    assert_eq!(put(&rows[1..]).unwrap(), 0);
    assert_eq!(home.epoch().unwrap(), epoch + 1, "nothing was written");
    assert_eq!(missing(None, 9), [chunks[0].clone(), chunks[2].clone()]);
    // Another extractor has read none of them.
    let other = home.chunks_without_extractions(&[8; 32], None, 9);
    assert_eq!(other.unwrap().len(), 3);
    assert_eq!(home.doctor().unwrap(), []);
}

#[test]
fn a_document_takes_its_own_along_and_no_other() {
    let home = Home::new(2, Route::Facts);
    let kept = document("kept.md", &["public"], &[&[1.0, 0.0]]);
    let gone = document("gone.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    for facts in [&kept, &gone] {
        write(&home, facts, &read(facts, "r")).unwrap();
    }
    assert!(home.remove(&gone.doc).unwrap());
    assert_eq!(home.extraction_stats().unwrap().chunks, 1);
    // Written anew without any, a document has none; with others, it has those.
    let changed = document("kept.md", &["public", "ops"], &[&[1.0, 0.0]]);
    home.upsert(&changed).unwrap();
    assert_eq!(home.extraction_stats().unwrap().chunks, 0);
    write(&home, &changed, &read(&changed, "r")).unwrap();
    let other = read(&changed, "s");
    assert_eq!(write(&home, &changed, &other).unwrap(), Change::Replaced);
    assert_eq!(seen(&home, &public()), expected(&[(&changed, Some(other))]));
    assert_eq!(home.doctor().unwrap(), []);
}

#[test]
fn a_row_too_few_is_refused_and_nothing_is_written() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    let mut short = read(&facts, "r");
    short.rows.pop();
    let error = write(&home, &facts, &short).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::RowCount {
                expected: 2,
                found: 1,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(seen(&home, &public()), []);
    assert_eq!(home.extraction_stats().unwrap(), ExtractionStats::default());
}

/// A flipped byte of a stored row is an error of the query that reads it, and the doctor finds it.
#[test]
fn damage_does_not_become_a_fact() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    let row = b"0123456789abcdef".repeat(8);
    let written = ExtractionFacts {
        extractor: RULES,
        rows: vec![row.clone()],
    };
    write(&home, &facts, &written).unwrap();
    home.vacuum().unwrap();
    let folder = home.close();
    let path = folder.path().join("index.db");
    let mut bytes = fs::read(&path).unwrap();
    let found = bytes.windows(row.len()).position(|window| window == row);
    bytes[found.unwrap() + 5] ^= 1;
    fs::write(&path, bytes).unwrap();
    let store = SqliteVecStore::open_existing(&path, &options(Route::Facts)).unwrap();
    let snapshot = store.snapshot(&public()).unwrap();
    let error = snapshot.read_extractions(&RULES, |_, _| {}).unwrap_err();
    assert!(
        error.to_string().contains("names and statements"),
        "{error}"
    );
    assert!(!store.doctor().unwrap().is_empty());
}

proptest! {
    #![proptest_config(few(24))]

    /// Hidden documents, read or unread, change nothing of what is handed over.
    #[test]
    fn what_is_hidden_has_no_part_in_what_is_read(seed in any::<u64>()) {
        let mut numbers = Numbers(seed);
        let (whole, visible) = (Home::new(4, Route::Facts), Home::new(4, Route::Facts));
        let mut held = Vec::new();
        for at in 0..6 {
            let facts = numbers.document(&format!("{at}.md"), 4);
            let is_read = numbers.below(2) == 0;
            let rows = read(&facts, "r");
            for home in [&whole, &visible] {
                let seen = facts.acl.admits(&public());
                match (is_read, std::ptr::eq(home, &raw const whole) || seen) {
                    (_, false) => {}
                    (true, true) => { write(home, &facts, &rows).unwrap(); }
                    (false, true) => { home.upsert(&facts).unwrap(); }
                }
            }
            if facts.acl.admits(&public()) {
                held.push((facts, is_read.then_some(rows)));
            }
        }
        let held: Vec<_> = held.iter().map(|(facts, rows)| (facts, rows.clone())).collect();
        let read = seen(&whole, &public());
        prop_assert_eq!(&read, &expected(&held));
        prop_assert_eq!(read, seen(&visible, &public()));
    }
}
