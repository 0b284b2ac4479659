//! Rows beside chunks, in each of the tables of them: written with their document, read under a
//! view, gone with it.

use std::collections::BTreeMap;
use std::fs;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{Change, Chunk, ChunkId, DocumentFacts, FactStore, Principal};
use cornu_store::{
    Cursor, ExtractionFacts, Route, SqliteVecStore, StoreError, TermCounts, TokenFacts,
};

use crate::sample::{Home, Numbers, document, few, options, public, reader};

type Row = Vec<u8>;

/// A table, by the calls that reach it.
trait Table {
    /// What its rows are, as errors name it.
    const WHAT: &'static str;

    fn upsert(
        store: &SqliteVecStore,
        facts: &DocumentFacts,
        space: [u8; 32],
        rows: Vec<Row>,
    ) -> Result<Change, StoreError>;

    fn put(
        store: &SqliteVecStore,
        space: &[u8; 32],
        rows: &[(ChunkId, Row)],
    ) -> Result<usize, StoreError>;

    fn lacking(
        store: &SqliteVecStore,
        space: &[u8; 32],
        cursor: &mut Cursor,
        limit: usize,
    ) -> Vec<Chunk>;

    /// Chunks and bytes.
    fn stats(store: &SqliteVecStore) -> (u64, u64);

    /// The rows that a principal gets of some chunks.
    fn read(
        store: &SqliteVecStore,
        who: &Principal,
        space: &[u8; 32],
        chunks: &[ChunkId],
    ) -> Result<Vec<Option<Row>>, StoreError>;
}

struct Tokens;

impl Table for Tokens {
    const WHAT: &'static str = "token vectors";

    fn upsert(
        store: &SqliteVecStore,
        facts: &DocumentFacts,
        space: [u8; 32],
        rows: Vec<Row>,
    ) -> Result<Change, StoreError> {
        let tokens = TokenFacts { space, rows };
        store.batch(|batch| batch.upsert_with_tokens(facts, &no_terms(facts), &tokens))
    }

    fn put(
        store: &SqliteVecStore,
        space: &[u8; 32],
        rows: &[(ChunkId, Row)],
    ) -> Result<usize, StoreError> {
        store.batch(|batch| batch.put_token_vectors(space, rows))
    }

    fn lacking(
        store: &SqliteVecStore,
        space: &[u8; 32],
        cursor: &mut Cursor,
        limit: usize,
    ) -> Vec<Chunk> {
        store.chunks_without_tokens(space, cursor, limit).unwrap()
    }

    fn stats(store: &SqliteVecStore) -> (u64, u64) {
        let stats = store.token_stats().unwrap();
        (stats.chunks, stats.bytes)
    }

    fn read(
        store: &SqliteVecStore,
        who: &Principal,
        space: &[u8; 32],
        chunks: &[ChunkId],
    ) -> Result<Vec<Option<Row>>, StoreError> {
        store.snapshot(who)?.token_vectors(space, chunks)
    }
}

struct Extractions;

impl Table for Extractions {
    const WHAT: &'static str = "names and statements";

    fn upsert(
        store: &SqliteVecStore,
        facts: &DocumentFacts,
        extractor: [u8; 32],
        rows: Vec<Row>,
    ) -> Result<Change, StoreError> {
        let read = ExtractionFacts { extractor, rows };
        store.batch(|batch| batch.upsert_with_rows(facts, &no_terms(facts), None, Some(&read)))
    }

    fn put(
        store: &SqliteVecStore,
        space: &[u8; 32],
        rows: &[(ChunkId, Row)],
    ) -> Result<usize, StoreError> {
        store.batch(|batch| batch.put_extractions(space, rows))
    }

    fn lacking(
        store: &SqliteVecStore,
        space: &[u8; 32],
        cursor: &mut Cursor,
        limit: usize,
    ) -> Vec<Chunk> {
        store
            .chunks_without_extractions(space, cursor, limit)
            .unwrap()
    }

    fn stats(store: &SqliteVecStore) -> (u64, u64) {
        let stats = store.extraction_stats().unwrap();
        (stats.chunks, stats.bytes)
    }

    fn read(
        store: &SqliteVecStore,
        who: &Principal,
        space: &[u8; 32],
        chunks: &[ChunkId],
    ) -> Result<Vec<Option<Row>>, StoreError> {
        let mut rows = BTreeMap::new();
        let snapshot = store.snapshot(who)?;
        // More than is seen, and none that is.
        snapshot.read_extractions(space, 0..100, |_, chunk, row| {
            rows.insert(chunk.id, row);
        })?;
        Ok(chunks.iter().map(|id| rows.remove(id).flatten()).collect())
    }
}

macro_rules! of_each_table {
    ($($test:ident),* $(,)?) => {
        mod tokens {
            $(#[test] fn $test() { super::$test::<super::Tokens>(); })*
        }
        mod extractions {
            $(#[test] fn $test() { super::$test::<super::Extractions>(); })*
        }
    };
}

of_each_table! {
    they_are_written_with_the_document_and_read_by_those_who_see_it,
    they_can_come_later,
    what_an_index_lacks_is_listed_and_can_be_added,
    a_pass_meets_what_is_written_while_it_goes_on,
    a_document_takes_its_own_along_and_no_other,
    a_row_too_few_is_refused_and_nothing_is_written,
    a_batch_that_fails_leaves_none,
    damage_is_an_error,
    what_is_hidden_has_no_part_in_what_is_read,
}

const SPACE: [u8; 32] = [7; 32];
const OTHER: [u8; 32] = [8; 32];

fn no_terms(facts: &DocumentFacts) -> Vec<TermCounts> {
    vec![TermCounts::new(); facts.indexed().count()]
}

/// A row for each indexed chunk, no two alike.
fn rows(facts: &DocumentFacts, word: &str) -> Vec<Row> {
    let rows = facts.indexed().enumerate();
    rows.map(|(at, chunk)| format!("{word} {at} {}", chunk.text).into_bytes())
        .collect()
}

fn write<T: Table>(store: &SqliteVecStore, facts: &DocumentFacts, word: &str) -> Change {
    T::upsert(store, facts, SPACE, rows(facts, word)).unwrap()
}

fn read<T: Table>(store: &SqliteVecStore, who: &Principal, chunks: &[ChunkId]) -> Vec<Option<Row>> {
    T::read(store, who, &SPACE, chunks).unwrap()
}

fn ids(facts: &DocumentFacts) -> Vec<ChunkId> {
    facts.chunks.iter().map(|chunk| chunk.id).collect()
}

fn some(rows: Vec<Row>) -> Vec<Option<Row>> {
    rows.into_iter().map(Some).collect()
}

fn they_are_written_with_the_document_and_read_by_those_who_see_it<T: Table>() {
    let home = Home::new(2, Route::Facts);
    let open = document("open.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    let closed = document("closed.md", &["hr"], &[&[1.0, 0.0]]);
    for facts in [&open, &closed] {
        assert_eq!(write::<T>(&home, facts, "r"), Change::Inserted);
        assert_eq!(write::<T>(&home, facts, "r"), Change::Unchanged);
    }
    let asked = [ids(&closed), ids(&open)].concat();
    assert_eq!(
        read::<T>(&home, &public(), &asked),
        [vec![None], some(rows(&open, "r"))].concat()
    );
    assert_eq!(
        read::<T>(&home, &reader(&["hr"]), &asked),
        [some(rows(&closed, "r")), vec![None; 2]].concat()
    );
    // Of another space there are none.
    let other = T::read(&home, &public(), &OTHER, &asked).unwrap();
    assert_eq!(other, [None, None, None]);
    let written = [rows(&open, "r"), rows(&closed, "r")].concat();
    let bytes: usize = written.iter().map(Vec::len).sum();
    assert_eq!(T::stats(&home), (3, bytes as u64));
    assert_eq!(home.doctor().unwrap(), []);
}

fn they_can_come_later<T: Table>() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    home.upsert(&facts).unwrap();
    assert_eq!(read::<T>(&home, &public(), &ids(&facts)), [None]);
    assert_eq!(T::stats(&home), (0, 0));
    assert_eq!(home.doctor().unwrap(), []);
    // The document is as it was but for them.
    home.upsert_with_terms(&facts, &no_terms(&facts)).unwrap();
    let epoch = home.epoch().unwrap();
    assert_eq!(write::<T>(&home, &facts, "r"), Change::Replaced);
    assert_eq!(home.epoch().unwrap(), epoch + 1);
    assert_eq!(
        read::<T>(&home, &public(), &ids(&facts)),
        some(rows(&facts, "r"))
    );
    let snapshot = home.snapshot(&public()).unwrap();
    assert_eq!(snapshot.facts(&facts.doc).unwrap(), Some(facts));
}

fn what_an_index_lacks_is_listed_and_can_be_added<T: Table>() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["hr"], &[&[1.0, 0.0], &[0.0, 1.0], &[0.6, 0.8]]);
    home.upsert(&facts).unwrap();
    let all = facts.chunks.clone();
    let from = |cursor: &mut Cursor, limit| T::lacking(&home, &SPACE, cursor, limit);
    let lacking = || from(&mut Cursor::default(), 9);
    assert_eq!(lacking(), all);
    let mut cursor = Cursor::default();
    assert_eq!(from(&mut cursor, 1), all[..1]);
    assert_eq!(from(&mut cursor, 9), all[1..]);
    assert_eq!(from(&mut cursor, 9), []);

    let epoch = home.epoch().unwrap();
    let gone = ChunkId::from_bytes([9; 32]);
    let given = [(all[1].id, b"one".to_vec()), (gone, b"of nothing".to_vec())];
    let put = |rows: &[(ChunkId, Row)]| T::put(&home, &SPACE, rows).unwrap();
    assert_eq!(put(&given), 1, "a chunk that has gone is passed over");
    assert_eq!(home.epoch().unwrap(), epoch + 1);
    assert_eq!(put(&given[1..]), 0);
    assert_eq!(home.epoch().unwrap(), epoch + 1, "nothing was written");
    assert_eq!(lacking(), [all[0].clone(), all[2].clone()]);
    // Of another space all of them lack theirs.
    let other = T::lacking(&home, &OTHER, &mut Cursor::default(), 9);
    assert_eq!(other, all);
    assert_eq!(home.doctor().unwrap(), []);
}

/// A document that is written, or written anew, between two steps of a pass lies ahead of it.
fn a_pass_meets_what_is_written_while_it_goes_on<T: Table>() {
    let home = Home::new(2, Route::Facts);
    let docs: Vec<_> = (0..4)
        .map(|at| document(&format!("{at}.md"), &["public"], &[&[1.0, 0.0]]))
        .collect();
    for facts in &docs {
        home.upsert(facts).unwrap();
    }
    let mut cursor = Cursor::default();
    let mut step = |limit| {
        let found = T::lacking(&home, &SPACE, &mut cursor, limit);
        found
            .iter()
            .map(|chunk| chunk.doc.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(step(2), ["0.md", "1.md"]);
    let anew = document("0.md", &["hr"], &[&[0.0, 1.0]]);
    let new = document("new.md", &["hr"], &[&[0.0, 1.0]]);
    home.upsert(&anew).unwrap();
    home.upsert(&new).unwrap();
    home.remove(&docs[1].doc).unwrap();
    assert_eq!(step(9), ["2.md", "3.md", "0.md", "new.md"]);
}

fn a_document_takes_its_own_along_and_no_other<T: Table>() {
    let home = Home::new(2, Route::Facts);
    let kept = document("kept.md", &["public"], &[&[1.0, 0.0]]);
    let gone = document("gone.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    for facts in [&kept, &gone] {
        write::<T>(&home, facts, "r");
    }
    assert!(home.remove(&gone.doc).unwrap());
    assert_eq!(T::stats(&home).0, 1);
    // Written anew without any, a document has none; with others, it has those.
    let changed = document("kept.md", &["public", "ops"], &[&[1.0, 0.0]]);
    home.upsert(&changed).unwrap();
    assert_eq!(T::stats(&home), (0, 0));
    write::<T>(&home, &changed, "r");
    assert_eq!(write::<T>(&home, &changed, "s"), Change::Replaced);
    assert_eq!(
        read::<T>(&home, &public(), &ids(&changed)),
        some(rows(&changed, "s"))
    );
    assert_eq!(home.doctor().unwrap(), []);
}

fn a_row_too_few_is_refused_and_nothing_is_written<T: Table>() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    let mut short = rows(&facts, "r");
    short.pop();
    match T::upsert(&home, &facts, SPACE, short).unwrap_err() {
        StoreError::RowCount {
            what,
            expected: 2,
            found: 1,
            ..
        } => assert_eq!(what, T::WHAT),
        other => panic!("{other}"),
    }
    let snapshot = home.snapshot(&public()).unwrap();
    assert_eq!(snapshot.documents().unwrap(), []);
    assert_eq!(T::stats(&home), (0, 0));
}

fn a_batch_that_fails_leaves_none<T: Table>() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    home.upsert(&facts).unwrap();
    let row = (facts.chunks[0].id, b"row".to_vec());
    let failed = home.batch(|batch| {
        batch.put_token_vectors(&SPACE, std::slice::from_ref(&row))?;
        batch.put_extractions(&SPACE, std::slice::from_ref(&row))?;
        Err::<(), _>(StoreError::ReadOnly { path: home.path() })
    });
    assert!(failed.is_err());
    assert_eq!(T::stats(&home), (0, 0));
}

/// A flipped byte of a stored row is an error of whoever reads it, and the doctor finds it.
fn damage_is_an_error<T: Table>() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    let row = b"0123456789abcdef".repeat(8);
    T::upsert(&home, &facts, SPACE, vec![row.clone()]).unwrap();
    home.vacuum().unwrap();
    let folder = home.close();
    let path = folder.path().join("index.db");
    let mut bytes = fs::read(&path).unwrap();
    let found = bytes.windows(row.len()).position(|window| window == row);
    bytes[found.unwrap() + 5] ^= 1;
    fs::write(&path, bytes).unwrap();
    let store = SqliteVecStore::open_existing(&path, &options(Route::Facts)).unwrap();
    let read = T::read(&store, &public(), &SPACE, &ids(&facts));
    let error = read.unwrap_err().to_string();
    assert!(error.contains(T::WHAT), "{error}");
    assert!(!store.doctor().unwrap().is_empty());
}

/// Hidden documents, with rows or without, change nothing of what is read.
fn what_is_hidden_has_no_part_in_what_is_read<T: Table>() {
    proptest!(few(24), |(seed in any::<u64>())| {
        let mut numbers = Numbers(seed);
        let (whole, visible) = (Home::new(4, Route::Facts), Home::new(4, Route::Facts));
        let (mut asked, mut expected) = (Vec::new(), Vec::new());
        for at in 0..6 {
            let facts = numbers.document(&format!("{at}.md"), 4);
            let given = numbers.below(3) > 0;
            let sees = facts.acl.admits(&public());
            for home in [&whole, &visible] {
                match (sees || std::ptr::eq(home, &raw const whole), given) {
                    (false, _) => {}
                    (true, true) => { write::<T>(home, &facts, "r"); }
                    (true, false) => { home.upsert(&facts).unwrap(); }
                }
            }
            asked.extend(ids(&facts));
            expected.extend(rows(&facts, "r").into_iter().map(|row| (sees && given).then_some(row)));
        }
        let found = read::<T>(&whole, &public(), &asked);
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(found, read::<T>(&visible, &public(), &asked));
    });
}
