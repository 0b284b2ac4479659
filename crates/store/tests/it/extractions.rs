//! What was read from chunks, beside what [`beside`](crate::beside) says of all rows: handed over
//! with its chunk, and written together with token vectors.

use cornu_core::{Change, Chunk, FactStore};
use cornu_store::{Batch, ExtractionFacts, Route, TermCounts, TokenFacts};

use crate::sample::{Home, document, public};

const RULES: [u8; 32] = [7; 32];

fn handed_over(home: &Home) -> Vec<(Chunk, Option<Vec<u8>>)> {
    let mut out = Vec::new();
    let snapshot = home.snapshot(&public()).unwrap();
    snapshot
        .read_extractions(&RULES, |chunk, row| out.push((chunk, row)))
        .unwrap();
    out
}

/// By document and by place, those that are seen and no others, read or not.
#[test]
fn each_indexed_chunk_is_handed_over_with_what_was_read_from_it() {
    let home = Home::new(2, Route::Facts);
    let mut read = document("read.md", &["public"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    let unread = document("unread.md", &["public"], &[&[1.0, 0.0]]);
    let hidden = document("hidden.md", &["hr"], &[&[1.0, 0.0]]);
    let mut parent = crate::sample::chunk(&read.doc, "all of it", 9);
    parent.role = cornu_core::ChunkRole::Parent;
    read.chunks.push(parent);
    let facts = ExtractionFacts {
        extractor: RULES,
        rows: vec![b"of the first".to_vec(), b"of the second".to_vec()],
    };
    home.upsert(&hidden).unwrap();
    let terms = [TermCounts::new(), TermCounts::new()];
    home.batch(|batch| batch.upsert_with_rows(&read, &terms, None, Some(&facts)))
        .unwrap();
    home.upsert(&unread).unwrap();
    let [first, second] = facts.rows.try_into().unwrap();
    assert_eq!(
        handed_over(&home),
        [
            (read.chunks[0].clone(), Some(first)),
            (read.chunks[1].clone(), Some(second)),
            (unread.chunks[0].clone(), None),
        ]
    );
}

#[test]
fn token_vectors_stand_beside_them() {
    let home = Home::new(2, Route::Facts);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    let read = ExtractionFacts {
        extractor: RULES,
        rows: vec![b"read".to_vec()],
    };
    let tokens = TokenFacts {
        space: [1; 32],
        rows: vec![b"tokens".to_vec()],
    };
    let terms = [TermCounts::new()];
    let alone = |batch: &mut Batch<'_>| batch.upsert_with_rows(&facts, &terms, None, Some(&read));
    let both =
        |batch: &mut Batch<'_>| batch.upsert_with_rows(&facts, &terms, Some(&tokens), Some(&read));
    assert_eq!(home.batch(alone).unwrap(), Change::Inserted);
    assert_eq!(home.batch(both).unwrap(), Change::Replaced);
    assert_eq!(home.batch(both).unwrap(), Change::Unchanged);
    assert_eq!(home.token_stats().unwrap().chunks, 1);
    let row = Some(read.rows[0].clone());
    assert_eq!(handed_over(&home), [(facts.chunks[0].clone(), row)]);
    assert_eq!(home.doctor().unwrap(), []);
}
