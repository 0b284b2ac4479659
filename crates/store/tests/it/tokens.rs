//! Token vectors: written with their document, read under a view, gone with it.

use std::fs;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{Change, ChunkId, DocumentFacts, FactStore};
use cornu_store::{Route, SqliteVecStore, StoreError, TermCounts, TokenFacts, TokenStats};

use crate::sample::{Home, Numbers, document, few, options, public, reader};

const SPACE: [u8; 32] = [7; 32];

fn tokens(facts: &DocumentFacts, word: &str) -> TokenFacts {
    let rows = facts.indexed().enumerate();
    let rows = rows.map(|(at, chunk)| format!("{word} {at} {}", chunk.text).into_bytes());
    TokenFacts {
        space: SPACE,
        rows: rows.collect(),
    }
}

fn write(
    store: &SqliteVecStore,
    facts: &DocumentFacts,
    tokens: &TokenFacts,
) -> Result<Change, StoreError> {
    let terms = vec![TermCounts::new(); facts.indexed().count()];
    store.batch(|batch| batch.upsert_with_tokens(facts, &terms, tokens))
}

fn ids(facts: &DocumentFacts) -> Vec<ChunkId> {
    facts.chunks.iter().map(|chunk| chunk.id).collect()
}

#[test]
fn they_are_written_with_the_document_and_read_by_those_who_see_it() {
    let home = Home::new(2, Route::Facts);
    let open = document("open.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    let closed = document("closed.md", &["hr"], &[&[1.0, 0.0]]);
    for facts in [&open, &closed] {
        assert_eq!(
            write(&home, facts, &tokens(facts, "t")).unwrap(),
            Change::Inserted
        );
        assert_eq!(
            write(&home, facts, &tokens(facts, "t")).unwrap(),
            Change::Unchanged
        );
    }
    let asked: Vec<ChunkId> = [ids(&closed), ids(&open)].concat();
    let rows = |facts: &DocumentFacts| tokens(facts, "t").rows.into_iter().map(Some);
    let seen = home
        .snapshot(&public())
        .unwrap()
        .token_vectors(&SPACE, &asked)
        .unwrap();
    assert_eq!(
        seen,
        [None].into_iter().chain(rows(&open)).collect::<Vec<_>>()
    );
    let hr = home
        .snapshot(&reader(&["hr"]))
        .unwrap()
        .token_vectors(&SPACE, &asked)
        .unwrap();
    assert_eq!(hr, rows(&closed).chain([None, None]).collect::<Vec<_>>());
    // Of another space there are none.
    let other = home
        .snapshot(&public())
        .unwrap()
        .token_vectors(&[8; 32], &asked)
        .unwrap();
    assert_eq!(other, [None, None, None]);
    assert_eq!(home.token_stats().unwrap().chunks, 3);
    assert_eq!(home.doctor().unwrap(), []);
}

#[test]
fn an_index_without_them_has_no_table_of_them() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    home.upsert(&facts).unwrap();
    let snapshot = home.snapshot(&public()).unwrap();
    assert_eq!(
        snapshot.token_vectors(&SPACE, &ids(&facts)).unwrap(),
        [None]
    );
    assert_eq!(home.token_stats().unwrap(), TokenStats::default());
    drop(snapshot);
    // They can come later; the document is as it was but for them.
    let epoch = home.epoch().unwrap();
    let terms = vec![TermCounts::new()];
    home.upsert_with_terms(&facts, &terms).unwrap();
    assert_eq!(
        write(&home, &facts, &tokens(&facts, "t")).unwrap(),
        Change::Replaced
    );
    assert_eq!(home.epoch().unwrap(), epoch + 2);
    let snapshot = home.snapshot(&public()).unwrap();
    assert!(snapshot.token_vectors(&SPACE, &ids(&facts)).unwrap()[0].is_some());
    assert_eq!(snapshot.facts(&facts.doc).unwrap(), Some(facts));
}

#[test]
fn what_an_index_lacks_is_listed_and_can_be_added() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["hr"], &[&[1.0, 0.0], &[0.0, 1.0], &[0.6, 0.8]]);
    home.upsert(&facts).unwrap();
    let mut expected = ids(&facts);
    expected.sort_unstable();
    let missing = |after: Option<&ChunkId>, limit| {
        let found = home.chunks_without_tokens(&SPACE, after, limit).unwrap();
        found.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(missing(None, 9), expected);
    assert_eq!(missing(Some(&expected[0]), 1), expected[1..2]);
    let text = &home.chunks_without_tokens(&SPACE, None, 1).unwrap()[0].1;
    let first = facts
        .chunks
        .iter()
        .find(|chunk| chunk.id == expected[0])
        .unwrap();
    assert_eq!(*text, first.index_text);

    let epoch = home.epoch().unwrap();
    let gone = ChunkId::from_bytes([9; 32]);
    let rows = [
        (expected[1], b"one".to_vec()),
        (gone, b"of nothing".to_vec()),
    ];
    let put =
        |rows: &[(ChunkId, Vec<u8>)]| home.batch(|batch| batch.put_token_vectors(&SPACE, rows));
    assert_eq!(
        put(&rows).unwrap(),
        1,
        "a chunk that has gone is passed over"
    );
    assert_eq!(home.epoch().unwrap(), epoch + 1);
    assert_eq!(put(&rows[1..]).unwrap(), 0);
    assert_eq!(home.epoch().unwrap(), epoch + 1, "nothing was written");
    assert_eq!(missing(None, 9), [expected[0], expected[2]]);
    // Of another space all of them lack theirs.
    assert_eq!(
        home.chunks_without_tokens(&[8; 32], None, 9).unwrap().len(),
        3
    );
    assert_eq!(home.doctor().unwrap(), []);
}

#[test]
fn a_document_takes_its_own_along_and_no_other() {
    let home = Home::new(2, Route::Facts);
    let kept = document("kept.md", &["public"], &[&[1.0, 0.0]]);
    let gone = document("gone.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    for facts in [&kept, &gone] {
        write(&home, facts, &tokens(facts, "t")).unwrap();
    }
    assert!(home.remove(&gone.doc).unwrap());
    assert_eq!(home.token_stats().unwrap().chunks, 1);
    // Written anew without any, a document has none; with others, it has those.
    let changed = document("kept.md", &["public", "ops"], &[&[1.0, 0.0]]);
    home.upsert(&changed).unwrap();
    assert_eq!(home.token_stats().unwrap(), TokenStats::default());
    write(&home, &changed, &tokens(&changed, "t")).unwrap();
    assert_eq!(
        write(&home, &changed, &tokens(&changed, "u")).unwrap(),
        Change::Replaced
    );
    let snapshot = home.snapshot(&public()).unwrap();
    let rows = snapshot.token_vectors(&SPACE, &ids(&changed)).unwrap();
    assert_eq!(rows, [Some(tokens(&changed, "u").rows[0].clone())]);
    assert_eq!(home.doctor().unwrap(), []);
}

#[test]
fn a_row_too_few_is_refused_and_nothing_is_written() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    let mut short = tokens(&facts, "t");
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
    assert!(
        home.snapshot(&public())
            .unwrap()
            .documents()
            .unwrap()
            .is_empty()
    );
    assert_eq!(home.token_stats().unwrap(), TokenStats::default());
}

#[test]
fn a_batch_that_fails_leaves_none() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    let failed = home.batch(|batch| {
        batch.upsert_with_tokens(&facts, &[TermCounts::new()], &tokens(&facts, "t"))?;
        Err::<(), _>(StoreError::ReadOnly { path: home.path() })
    });
    assert!(failed.is_err());
    assert_eq!(home.token_stats().unwrap(), TokenStats::default());
}

/// Any flipped byte of a stored row is an error of the query that reads it, and the doctor finds it.
#[test]
fn damage_does_not_become_a_score() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    let row = b"0123456789abcdef".repeat(8);
    write(
        &home,
        &facts,
        &TokenFacts {
            space: SPACE,
            rows: vec![row.clone()],
        },
    )
    .unwrap();
    home.vacuum().unwrap();
    let folder = home.close();
    let path = folder.path().join("index.db");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes
        .windows(row.len())
        .position(|window| window == row)
        .unwrap();
    bytes[at + 5] ^= 1;
    fs::write(&path, bytes).unwrap();
    let store = SqliteVecStore::open_existing(&path, &options(Route::Facts)).unwrap();
    let read = store
        .snapshot(&public())
        .unwrap()
        .token_vectors(&SPACE, &ids(&facts));
    let error = read.unwrap_err().to_string();
    assert!(error.contains("token vectors"), "{error}");
    assert!(!store.doctor().unwrap().is_empty());
}

proptest! {
    #![proptest_config(few(24))]

    /// Hidden documents, with token vectors or without, change nothing of what is read.
    #[test]
    fn what_is_hidden_has_no_part_in_what_is_read(seed in any::<u64>()) {
        let mut numbers = Numbers(seed);
        let (whole, visible) = (Home::new(4, Route::Facts), Home::new(4, Route::Facts));
        let mut asked = Vec::new();
        for at in 0..6 {
            let facts = numbers.document(&format!("{at}.md"), 4);
            asked.extend(ids(&facts));
            let given = numbers.below(3) > 0;
            let sees = facts.acl.admits(&public());
            for home in [&whole, &visible] {
                if sees || std::ptr::eq(home, &raw const whole) {
                    if given {
                        write(home, &facts, &tokens(&facts, "t")).unwrap();
                    } else {
                        home.upsert(&facts).unwrap();
                    }
                }
            }
        }
        let read = |home: &Home| home.snapshot(&public()).unwrap().token_vectors(&SPACE, &asked).unwrap();
        prop_assert_eq!(read(&whole), read(&visible));
    }
}
