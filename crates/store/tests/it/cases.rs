//! Known ways to fail, by the number of their case.

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{Acl, Change, DocId, FactStore, Fingerprint, Grant};
use cornu_store::{Options, Route, SqliteVecStore, StoreError};
use ndarray::aview1;

use crate::sample::{
    Home, Numbers, ROUTES, bits, docs_of, document, few, fingerprint, public, reader,
};

#[test]
fn vs_01_k_beyond_4096_is_no_error() {
    let rows: Vec<Vec<f32>> = (0..4100).map(|seed| Numbers(seed).vector(3)).collect();
    let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
    for route in ROUTES {
        let home = Home::new(3, route);
        home.upsert(&document("a.md", &["public"], &rows)).unwrap();
        let view = home.view(&public()).unwrap();
        for k in [4096, 4097, 5000] {
            assert_eq!(
                home.knn(&view, aview1(&[1.0, 0.0, 0.0]), k).unwrap().len(),
                k.min(4100)
            );
        }
    }
}

#[test]
fn vs_04_a_single_visible_row_behind_4097_hidden_ones_is_found() {
    let rows: Vec<Vec<f32>> = (0..4097).map(|at| vec![1.0, at as f32 * 1e-5]).collect();
    let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
    for route in ROUTES {
        let home = Home::new(2, route);
        home.upsert(&document("crowd.md", &["hr"], &rows)).unwrap();
        home.upsert(&document("mine.md", &["public"], &[&[-1.0, 0.1]]))
            .unwrap();
        let view = home.view(&public()).unwrap();
        let hits = home.knn(&view, aview1(&[1.0, 0.0]), 5).unwrap();
        assert_eq!(docs_of(&home, &view, &hits), ["mine.md"]);
    }
}

#[test]
fn vs_06_nan_and_infinity_are_refused_stored_or_asked() {
    let home = Home::new(3, Route::Auto);
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut facts = document("a.md", &["public"], &[&[1.0, 0.0, 0.0]]);
        facts.vectors[[0, 1]] = value;
        let error = home.upsert(&facts).unwrap_err();
        assert!(
            matches!(error, StoreError::NotFinite { component: 1, .. }),
            "{error}"
        );
        let view = home.view(&public()).unwrap();
        let error = home.knn(&view, aview1(&[value, 0.0, 0.0]), 1).unwrap_err();
        assert!(
            matches!(error, StoreError::NotFinite { component: 0, .. }),
            "{error}"
        );
    }
    let view = home.view(&public()).unwrap();
    let error = home.knn(&view, aview1(&[0.0; 3]), 1).unwrap_err();
    assert!(matches!(error, StoreError::ZeroVector { .. }));
    let mut zero = document("a.md", &["public"], &[&[1.0, 0.0, 0.0]]);
    zero.vectors.fill(0.0);
    assert!(matches!(
        home.upsert(&zero).unwrap_err(),
        StoreError::ZeroVector { .. }
    ));
}

/// A negative limit cannot be written down: k is a `usize`.
#[test]
fn vs_07_k_zero_is_an_empty_result() {
    for route in ROUTES {
        let home = Home::new(2, route);
        home.upsert(&document("a.md", &["public"], &[&[1.0, 0.0]]))
            .unwrap();
        let view = home.view(&public()).unwrap();
        assert!(home.knn(&view, aview1(&[1.0, 0.0]), 0).unwrap().is_empty());
    }
}

#[test]
fn vs_09_writing_a_known_chunk_again_replaces_it() {
    let home = Home::new(2, Route::Sql);
    let first = document("a.md", &["public"], &[&[1.0, 0.0]]);
    let second = document("a.md", &["public"], &[&[0.0, 1.0]]);
    assert_eq!(first.chunks[0].id, second.chunks[0].id);
    assert_eq!(home.upsert(&first).unwrap(), Change::Inserted);
    home.rebuild_index().unwrap();
    assert_eq!(home.upsert(&second).unwrap(), Change::Replaced);
    let view = home.view(&public()).unwrap();
    let hits = home.knn(&view, aview1(&[0.0, 1.0]), 5).unwrap();
    assert_eq!((hits.len(), hits.as_slice()[0].score), (1, 1.0));
}

#[test]
fn vs_11_of_two_equal_vectors_one_stays_when_the_other_goes() {
    for route in ROUTES {
        let home = Home::new(2, route);
        for name in ["1.md", "2.md"] {
            home.upsert(&document(name, &["public"], &[&[1.0, 0.0]]))
                .unwrap();
        }
        home.rebuild_index().unwrap();
        assert!(home.remove(&DocId::new("1.md").unwrap()).unwrap());
        let view = home.view(&public()).unwrap();
        let hits = home.knn(&view, aview1(&[1.0, 0.0]), 5).unwrap();
        assert_eq!(docs_of(&home, &view, &hits), ["2.md"]);
    }
}

#[test]
fn vs_12_ties_come_by_id_and_a_smaller_k_is_a_prefix() {
    for route in ROUTES {
        let home = Home::new(2, route);
        for name in ["7", "3", "5", "1", "9"] {
            home.upsert(&document(name, &["public"], &[&[1.0, 0.0]]))
                .unwrap();
        }
        let view = home.view(&public()).unwrap();
        let all = home.knn(&view, aview1(&[1.0, 0.0]), 5).unwrap();
        let ids: Vec<_> = all.ids().copied().collect();
        assert!(ids.is_sorted());
        for k in 1..5 {
            let hits = home.knn(&view, aview1(&[1.0, 0.0]), k).unwrap();
            assert_eq!(bits(&hits), bits(&all)[..k]);
        }
    }
}

#[test]
fn vs_13_another_dimension_or_model_is_refused_at_opening() {
    let home = Home::new(384, Route::Auto);
    let path = home.path();
    let folder = home.close();
    let before = std::fs::read(&path).unwrap();
    let open = |fingerprint: &Fingerprint, dimension| {
        SqliteVecStore::open(&path, fingerprint, dimension, &Options::default()).unwrap_err()
    };
    let error = open(&fingerprint(), 768);
    assert!(matches!(
        error,
        StoreError::WrongDimension {
            expected: 384,
            found: 768,
            ..
        }
    ));
    assert!(error.to_string().contains("384") && error.to_string().contains("768"));
    let error = open(&fingerprint().with("pooling", "cls"), 384);
    let StoreError::ForeignFingerprint { differences, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*differences, [r#"pooling: "mean" there, "cls" here"#]);
    // Where both differ the model is named, too: that is what tells the user which one to take.
    let error = open(&fingerprint().with("pooling", "cls"), 768).to_string();
    assert!(error.contains(r#"pooling: "mean" there"#), "{error}");
    assert!(error.contains("384 there, 768 here"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    drop(folder);
}

#[test]
fn vs_17_nobody_sees_nothing() {
    for route in ROUTES {
        let home = Home::new(2, route);
        home.upsert(&document("a.md", &["public"], &[&[1.0, 0.0]]))
            .unwrap();
        home.upsert(&document("b.md", &[], &[&[1.0, 0.0]])).unwrap();
        for asker in [reader(&[]), reader(&["hr"])] {
            let view = home.view(&asker).unwrap();
            assert!(view.is_empty() && home.documents(&view).unwrap().is_empty());
            assert!(home.knn(&view, aview1(&[1.0, 0.0]), 5).unwrap().is_empty());
        }
        // An empty view does not even reach the table: none was made for it.
        assert!(!home.stats().unwrap().vec0_is_current);
    }
}

#[test]
fn vs_18_grants_are_compared_whole() {
    let names = [
        "研发部",
        "caf\u{e9}",
        "研发\u{3000}部",
        "a,b",
        "a",
        "b",
        "-ops",
        "ops",
        "🔒组",
        "研发",
    ];
    let home = Home::new(2, Route::Sql);
    for (at, grant) in names.iter().enumerate() {
        home.upsert(&document(&format!("{at}.md"), &[grant], &[&[1.0, 0.0]]))
            .unwrap();
    }
    for (at, grant) in names.iter().enumerate() {
        let decomposed = grant.replace('\u{e9}', "e\u{301}");
        let view = home.view(&reader(&[&decomposed])).unwrap();
        let hits = home.knn(&view, aview1(&[1.0, 0.0]), 20).unwrap();
        assert_eq!(
            docs_of(&home, &view, &hits),
            [format!("{at}.md")],
            "{grant}"
        );
    }
}

/// Numbers of documents and rows are never used again, so nothing of a removed document can be
/// taken for a new one's.
#[test]
fn vs_19_a_new_document_has_nothing_of_a_removed_one() {
    let home = Home::new(2, Route::Sql);
    let terms = |word: &str| vec![vec![(word.to_owned(), 1)]];
    let old = document("old.md", &["public"], &[&[1.0, 0.0]]);
    home.upsert_with_terms(&old, &terms("quokka")).unwrap();
    home.rebuild_index().unwrap();
    let before: Vec<u32> = home.view(&public()).unwrap().ordinals().collect();
    home.remove(&old.doc).unwrap();
    let new = document("new.md", &["public"], &[&[0.0, 1.0]]);
    home.upsert_with_terms(&new, &terms("text")).unwrap();
    let snapshot = home.snapshot(&public()).unwrap();
    let after: Vec<u32> = snapshot.view().ordinals().collect();
    assert_ne!(before, after);
    let mut seen = Vec::new();
    snapshot
        .read_terms(before.into_iter().chain(after), |terms| {
            seen.push(terms.counts);
        })
        .unwrap();
    assert_eq!(seen, terms("text"));
    let hits = snapshot.knn(aview1(&[1.0, 0.0]), 5).unwrap();
    assert_eq!(hits.ids().copied().collect::<Vec<_>>(), [new.chunks[0].id]);
}

#[test]
fn vs_23_a_document_without_grants_is_written_and_seen_by_nobody() {
    let home = Home::new(2, Route::Sql);
    home.upsert(&document("a.md", &[], &[&[0.5, 0.5]])).unwrap();
    home.rebuild_index().unwrap();
    assert_eq!(home.stats().unwrap().without_grants, 1);
    let snapshot = home
        .snapshot(&reader(
            &["", "public"].map(|name| if name.is_empty() { "NULL" } else { name }),
        ))
        .unwrap();
    assert!(snapshot.knn(aview1(&[1.0, 0.0]), 5).unwrap().is_empty());
}

/// The ACL is part of what a document is: a change of it alone is a change.
#[test]
fn a_change_of_grants_alone_replaces_the_document() {
    let home = Home::new(2, Route::Auto);
    let facts = document("a.md", &["public"], &[&[1.0, 0.0]]);
    assert_eq!(home.upsert(&facts).unwrap(), Change::Inserted);
    assert_eq!(home.upsert(&facts).unwrap(), Change::Unchanged);
    assert_eq!(home.epoch().unwrap(), 1);
    let secret = document("a.md", &["hr"], &[&[1.0, 0.0]]);
    assert_eq!(home.upsert(&secret).unwrap(), Change::Replaced);
    assert!(home.view(&public()).unwrap().is_empty());
    assert_eq!(home.epoch().unwrap(), 2);
    let counted = home
        .upsert_with_terms(&secret, &[vec![("a".to_owned(), 1)]])
        .unwrap();
    assert_eq!(counted, Change::Replaced, "terms are facts too");
}

/// A chunk id that another document has is refused, and neither document is harmed.
#[test]
fn a_chunk_of_another_document_is_refused() {
    let home = Home::new(2, Route::Auto);
    let first = document("a.md", &["public"], &[&[1.0, 0.0]]);
    home.upsert(&first).unwrap();
    let mut thief = document("b.md", &["public"], &[&[0.0, 1.0]]);
    thief.chunks[0].id = first.chunks[0].id;
    let error = home.upsert(&thief).unwrap_err();
    assert!(matches!(error, StoreError::ForeignChunk { .. }), "{error}");
    let snapshot = home.snapshot(&public()).unwrap();
    assert_eq!(snapshot.facts(&first.doc).unwrap(), Some(first.clone()));
    assert_eq!(snapshot.documents().unwrap(), [first.doc]);
}

/// A document that is refused does not take the rest of a batch with it; an error that is handed
/// on takes all.
#[test]
fn a_batch_keeps_what_was_good_or_nothing() {
    let home = Home::new(2, Route::Auto);
    let good = |name: &str| document(name, &["public"], &[&[1.0, 0.0]]);
    let mut bad = good("bad.md");
    bad.vectors *= 2.0;
    home.batch(|batch| {
        batch.upsert(&good("a.md"))?;
        assert!(batch.upsert(&bad).is_err());
        let mut thief = good("thief.md");
        thief.chunks[0].id = good("a.md").chunks[0].id;
        assert!(batch.upsert(&thief).is_err());
        batch.upsert(&good("b.md"))?;
        Ok::<_, StoreError>(())
    })
    .unwrap();
    let names = |home: &Home| {
        let documents = home.snapshot(&public()).unwrap().documents().unwrap();
        documents
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&home), ["a.md", "b.md"]);
    let failed = home.batch(|batch| {
        batch.upsert(&good("c.md"))?;
        batch.remove(&good("a.md").doc)?;
        batch.upsert(&bad)
    });
    assert!(failed.is_err());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        home.batch(|batch| -> Result<(), StoreError> {
            batch.upsert(&good("d.md"))?;
            panic!("in the middle");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(names(&home), ["a.md", "b.md"]);
    assert_eq!(home.epoch().unwrap(), 1);
    home.upsert(&good("e.md")).unwrap();
    assert_eq!(home.doctor().unwrap(), []);
}

/// Names that are code in some language are names here.
#[test]
fn injection_through_names_texts_and_grants() {
    let names = [
        "'; DROP TABLE documents; --",
        "\"; DELETE FROM grants; --",
        "') OR 1=1 --",
        "%",
        "_",
        "a%' ESCAPE '\\",
        "\\",
        "`chunks`",
        "rarray(?1)",
        "${HOME}",
        "[0]",
        "SELECT * FROM documents",
    ];
    let home = Home::new(2, Route::Sql);
    for name in names {
        let mut facts = document(name, &[name], &[&[1.0, 0.0]]);
        facts.chunks[0].heading_path = vec![name.to_owned()];
        facts.chunks[0].text = format!("{name}\0{name}");
        facts.chunks[0].language = Some(name.to_owned());
        home.upsert_with_terms(&facts, &[vec![(name.to_owned(), 1)]])
            .unwrap();
        let snapshot = home.snapshot(&reader(&[name])).unwrap();
        assert_eq!(snapshot.facts(&facts.doc).unwrap().as_ref(), Some(&facts));
        assert_eq!(snapshot.documents().unwrap(), [facts.doc]);
        assert_eq!(snapshot.knn(aview1(&[1.0, 0.0]), 20).unwrap().len(), 1);
    }
    assert_eq!(home.stats().unwrap().documents, names.len() as u64);
    assert_eq!(home.doctor().unwrap(), []);
    assert!(DocId::new("a\0b").is_err() && Grant::new("a\0b").is_err());
}

proptest! {
    #![proptest_config(few(24))]

    /// Any name that is a name comes back as it was.
    #[test]
    fn any_name_and_text_survive(name in "\\PC{1,40}", grant in "\\PC{1,20}", text in any::<String>()) {
        prop_assume!(DocId::new(&name).is_ok() && Grant::new(&grant).is_ok());
        let home = Home::new(2, Route::Auto);
        let mut facts = document(&name, &[&grant], &[&[1.0, 0.0]]);
        facts.chunks[0].text.clone_from(&text);
        facts.chunks[0].index_text = format!("{name} {text}");
        facts.acl = Acl::new([&grant]).unwrap();
        home.upsert(&facts).unwrap();
        let snapshot = home.snapshot(&reader(&[&grant])).unwrap();
        prop_assert_eq!(snapshot.facts(&facts.doc).unwrap(), Some(facts));
    }
}
