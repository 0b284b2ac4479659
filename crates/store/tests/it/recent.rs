//! Chunks that are kept in memory: what is given from there is what would be read now.

use std::sync::Arc;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{Acl, Chunk, ChunkId, DocId, DocumentFacts, FactStore, LineSpan, Principal};
use cornu_store::{Options, Route, SqliteVecStore};
use rusqlite::Connection;

use crate::carried::{askers, restore};
use crate::sample::{Home, Numbers, few, folder, options, public, reader, worded};

/// A version whose chunks have the ids of the last one and stand on other lines.
fn moved(numbers: &mut Numbers) -> DocumentFacts {
    let name = format!("{}.md", numbers.below(4));
    let word = ["line", "row"][numbers.below(2)];
    let rows: Vec<Vec<f32>> = (0..3).map(|_| numbers.vector(2)).collect();
    let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
    let grants: [&[&str]; 4] = [&["public"], &["hr"], &["ops", "hr"], &[]];
    let mut facts = worded(&name, grants[numbers.below(4)], &rows, word);
    at_line(&mut facts, 1 + numbers.below(1000));
    facts
}

fn at_line(facts: &mut DocumentFacts, line: usize) {
    for chunk in &mut facts.chunks {
        chunk.lines = LineSpan::new(line, line).unwrap();
    }
}

type Got = Vec<Option<Arc<Chunk>>>;

fn got(store: &SqliteVecStore, asker: &Principal, ids: &[ChunkId]) -> Got {
    store.snapshot(asker).unwrap().chunks(ids).unwrap()
}

fn whose(store: &SqliteVecStore, asker: &Principal, ids: &[ChunkId]) -> Option<Vec<u32>> {
    store.snapshot(asker).unwrap().ordinals_of(ids).unwrap()
}

fn keeping(chunk_bytes: u64) -> Options {
    Options {
        chunk_bytes,
        readers: 4,
        ..options(Route::Auto)
    }
}

proptest! {
    #![proptest_config(few(64))]

    /// Whoever asked before for which chunk, each asker gets what a store gives that keeps nothing,
    /// and a snapshot of before goes on to give what it gave. With room for all, for a few, for none.
    #[test]
    fn chunks_from_memory_are_those_of_the_file(seed in any::<u64>(), room in 0..3_usize) {
        let home = Home::with(2, &keeping([32 << 20, 4000, 0][room]));
        let plain = home.again(&keeping(0));
        let mut numbers = Numbers(seed);
        let mut ids: Vec<ChunkId> = Vec::new();
        for _ in 0..20 {
            let asker = &askers()[numbers.below(5)];
            let before = home.snapshot(asker).unwrap();
            let seen = got(&plain, asker, &ids);
            for _ in 0..=numbers.below(3) {
                let facts = moved(&mut numbers);
                ids.extend(facts.chunks.iter().map(|chunk| chunk.id));
                home.upsert(&facts).unwrap();
                if numbers.below(4) == 0 {
                    home.remove(&facts.doc).unwrap();
                }
            }
            ids.sort_unstable();
            ids.dedup();
            for asker in askers() {
                if numbers.below(3) > 0 {
                    let seen = got(&home, &asker, &ids);
                    prop_assert_eq!(&seen, &got(&plain, &asker, &ids));
                    let seen: Vec<ChunkId> = seen.iter().flatten().map(|chunk| chunk.id).collect();
                    prop_assert_eq!(whose(&home, &asker, &seen), whose(&plain, &asker, &seen));
                    prop_assert_eq!(whose(&home, &asker, &ids), whose(&plain, &asker, &ids));
                }
            }
            let known: Vec<ChunkId> = seen.iter().flatten().map(|chunk| chunk.id).collect();
            let now: Got = before.chunks(&known).unwrap();
            prop_assert_eq!(now, seen.into_iter().flatten().map(Some).collect::<Got>());
        }
    }
}

/// What somebody else has read is not there for who does not see it.
#[test]
fn a_chunk_in_memory_is_hidden_as_one_in_the_file() {
    let home = Home::with(2, &keeping(1 << 20));
    let facts = worded("a.md", &["hr"], &[&[1.0, 0.0]], "line");
    home.upsert(&facts).unwrap();
    let ids = [facts.chunks[0].id];
    let of_hr = got(&home, &reader(&["hr"]), &ids);
    assert_eq!(of_hr[0].as_deref(), Some(&facts.chunks[0]));
    assert_eq!(got(&home, &public(), &ids), [None]);
    // The same content, opened to all: read anew, since it is another version.
    let opened = DocumentFacts {
        acl: Acl::public(),
        ..facts.clone()
    };
    home.upsert(&opened).unwrap();
    assert_eq!(got(&home, &public(), &ids), of_hr);
    home.upsert(&facts).unwrap();
    assert_eq!(got(&home, &public(), &ids), [None]);
    home.remove(&facts.doc).unwrap();
    assert_eq!(got(&home, &reader(&["hr"]), &ids), [None]);
}

/// A copy of the database gives the same ordinal to another version, and is put in its place.
#[test]
fn chunks_of_a_copy_that_went_another_way_are_its_own() {
    let home = Home::with(2, &keeping(1 << 20));
    let mut facts = worded("a.md", &["public"], &[&[1.0, 0.0]], "line");
    home.upsert(&facts).unwrap();
    let (folder, ids) = (folder(), [facts.chunks[0].id]);
    let copy = folder.path().join("copy.db");
    Connection::open(home.path())
        .unwrap()
        .execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
        .unwrap();
    let other = SqliteVecStore::open_existing(&copy, &keeping(0)).unwrap();
    let line = |store: &SqliteVecStore| {
        let chunk = got(store, &public(), &ids).pop().flatten().unwrap();
        chunk.lines.first()
    };
    at_line(&mut facts, 20);
    home.upsert(&facts).unwrap();
    assert_eq!(line(&home), 20);
    at_line(&mut facts, 30);
    other.upsert(&facts).unwrap();
    let ordinals = |store: &SqliteVecStore| -> Vec<u32> {
        store.view(&public()).unwrap().ordinals().collect()
    };
    assert_eq!(ordinals(&home), ordinals(&other), "so only the line tells");
    drop(other);
    restore(&home, &copy);
    assert_eq!(line(&home), 30);
}

/// The seal is compared when a chunk is read: one that was read goes on to be what was sealed, and
/// one that is read after somebody changed it is refused.
#[test]
fn a_changed_text_is_never_given() {
    let home = Home::with(2, &keeping(1 << 20));
    let facts = worded("a.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]], "line");
    home.upsert(&facts).unwrap();
    let first = got(&home, &public(), &[facts.chunks[0].id]);
    Connection::open(home.path())
        .unwrap()
        .execute("UPDATE chunk_texts SET text = 'forged'", [])
        .unwrap();
    assert_eq!(got(&home, &public(), &[facts.chunks[0].id]), first);
    // Nor does a commit that the asker does not see have it read again.
    home.upsert(&worded("b.md", &["hr"], &[&[1.0, 0.0]], "line"))
        .unwrap();
    assert_eq!(got(&home, &public(), &[facts.chunks[0].id]), first);
    let snapshot = home.snapshot(&public()).unwrap();
    let error = snapshot.chunk(&facts.chunks[1].id).unwrap_err();
    assert!(
        error.to_string().contains("not what was written"),
        "{error}"
    );
    assert!(
        home.again(&keeping(0))
            .snapshot(&public())
            .unwrap()
            .chunk(&facts.chunks[0].id)
            .is_err()
    );
    assert!(DocId::new("a.md").is_ok_and(|doc| snapshot.facts(&doc).is_err()));
}
