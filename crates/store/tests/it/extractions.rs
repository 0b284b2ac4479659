//! What was read from chunks, beside what [`beside`](crate::beside) says of all rows: handed over
//! with its chunk, and written together with token vectors.

use cornu_core::{Change, Chunk, FactStore};
use cornu_store::{Batch, ExtractionFacts, ExtractionVersion, Route, TermCounts, TokenFacts};

use crate::sample::{Home, document, public};

const RULES: [u8; 32] = [7; 32];

fn handed_over(home: &Home) -> Vec<(Chunk, Option<Vec<u8>>)> {
    let mut out = Vec::new();
    let snapshot = home.snapshot(&public()).unwrap();
    let seen = snapshot.view().ordinals();
    snapshot
        .read_extractions(&RULES, seen, |_, chunk, row| out.push((chunk, row)))
        .unwrap();
    out
}

fn versions(home: &Home) -> Vec<ExtractionVersion> {
    let snapshot = home.snapshot(&public()).unwrap();
    snapshot.extraction_versions(&RULES).unwrap()
}

/// Whatever changes what is handed over changes a version, and nothing else does.
#[test]
fn a_version_tells_what_would_be_handed_over() {
    let home = Home::new(2, Route::Facts);
    assert_eq!(versions(&home), []);
    let vectors: [&[f32]; 2] = [&[1.0, 0.0], &[0.0, 1.0]];
    let facts = document("a.md", &["public"], &vectors);
    let other = document("b.md", &["public"], &[&[1.0, 0.0]]);
    let empty = document("empty.md", &["public"], &[]);
    for facts in [&facts, &other, &empty] {
        home.upsert(facts).unwrap();
    }
    let first = versions(&home);
    let counts = first.iter().map(|one| (one.chunks, one.unread));
    assert_eq!(counts.collect::<Vec<_>>(), [(2, 2), (1, 1), (0, 0)]);
    let ordinals =
        |all: &[ExtractionVersion]| -> Vec<u32> { all.iter().map(|one| one.ordinal).collect() };
    let snapshot = home.snapshot(&public()).unwrap();
    assert_eq!(
        ordinals(&first),
        snapshot.view().ordinals().collect::<Vec<_>>()
    );
    drop(snapshot);

    // Each chunk's row counts, in its own place, and so does which extractor read it.
    let put = |extractor: [u8; 32], at: usize, row: &[u8]| {
        let rows = [(facts.chunks[at].id, row.to_vec())];
        home.batch(|batch| batch.put_extractions(&extractor, &rows))
            .unwrap();
        versions(&home)
    };
    let mut states = vec![first];
    for (extractor, at, row, unread) in [
        (RULES, 0, &b"x"[..], 1),
        (RULES, 1, b"x", 0),
        (RULES, 1, b"y", 0),
        ([8; 32], 0, b"x", 1),
        ([8; 32], 1, b"x", 2),
        (RULES, 1, b"x", 1),
    ] {
        let now = put(extractor, at, row);
        assert_eq!(ordinals(&now), ordinals(&states[0]));
        assert_eq!(now[0].unread, unread);
        assert_eq!(now[1..], states[0][1..], "those of others stay");
        // All that were read so differ but two: nothing was read of either by these rules.
        let same = states.iter().filter(|before| before[0] == now[0]).count();
        assert_eq!(same, usize::from(unread == 2));
        states.push(now);
    }

    // A document that is written again is another one, or the same if nothing of it changed; who
    // may see it counts, and what is hidden does not.
    let before = versions(&home);
    assert_eq!(home.upsert(&facts).unwrap(), Change::Unchanged);
    home.upsert(&document("c.md", &["hr"], &[&[1.0, 0.0]]))
        .unwrap();
    assert_eq!(versions(&home), before);
    let opened = document("a.md", &["public", "hr"], &vectors);
    home.upsert(&opened).unwrap();
    let after = versions(&home);
    assert_eq!(after.len(), 3);
    assert!(after.iter().all(|one| one.version != before[0].version));
    home.upsert(&document("b.md", &["hr"], &[&[1.0, 0.0]]))
        .unwrap();
    assert_eq!(versions(&home).len(), 2);
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
