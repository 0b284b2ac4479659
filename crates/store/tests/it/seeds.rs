//! The chapter's own tests, its shape contracts and its fault injections.

use cornu_core::{Acl, FactStore};
use cornu_store::{Route, SqliteVecStore, StoreError};
use ndarray::aview1;
use rusqlite::Connection;

use crate::sample::{
    Home, Numbers, ROUTES, bits, docs_of, document, fingerprint, folder, options, public, reader,
};

/// Two nearer vectors that the reader may not see stand before two that they may.
#[test]
fn sqlite_vec_acl_filter_precedes_knn() {
    for route in ROUTES {
        let store = Home::new(2, route);
        store
            .upsert(&document("ops.md", &["ops"], &[&[1.0, 0.0], &[0.99, 0.1]]))
            .unwrap();
        store
            .upsert(&document(
                "public-guide.md",
                &["public"],
                &[&[0.6, 0.8], &[0.0, 1.0]],
            ))
            .unwrap();
        let query = aview1(&[1.0, 0.0]);

        let view = store.view(&public()).unwrap();
        let hits = store.knn(&view, query, 2).unwrap();
        assert_eq!(
            docs_of(&store, &view, &hits),
            ["public-guide.md"; 2],
            "{route:?}"
        );

        let both = store.view(&reader(&["public", "ops"])).unwrap();
        let hits = store.knn(&both, query, 2).unwrap();
        assert_eq!(docs_of(&store, &both, &hits), ["ops.md"; 2], "{route:?}");
    }
}

/// The fault that the test above is for, planted: with the filter behind the cut at k = 2, the
/// reader gets nothing, though two rows are theirs.
#[test]
fn a_filter_behind_the_cut_starves_the_reader() {
    let store = Home::new(2, Route::Sql);
    store
        .upsert(&document("ops.md", &["ops"], &[&[1.0, 0.0], &[0.99, 0.1]]))
        .unwrap();
    store
        .upsert(&document(
            "guide.md",
            &["public"],
            &[&[0.6, 0.8], &[0.0, 1.0]],
        ))
        .unwrap();
    store.rebuild_index().unwrap();
    let connection = Connection::open(store.path()).unwrap();
    let planted = "WITH knn AS MATERIALIZED (
            SELECT rowid, distance FROM vec_chunks WHERE embedding MATCH ?1 AND k = 2)
        SELECT count(*) FROM knn JOIN chunks AS c ON c.id = knn.rowid
            JOIN grants AS g ON g.document = c.document WHERE g.name = 'public'";
    let query: Vec<u8> = [1.0_f32, 0.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let found: usize = connection
        .query_row(planted, [query], |row| row.get(0))
        .unwrap();
    assert_eq!(found, 0);
    let snapshot = store.snapshot(&public()).unwrap();
    assert_eq!(snapshot.knn(aview1(&[1.0, 0.0]), 2).unwrap().len(), 2);
}

#[test]
fn empty_acl_is_not_public_and_db_is_rebuildable() {
    let folder = folder();
    let path = folder.path().join("index.db");
    let sources = || {
        let mut numbers = Numbers(14);
        let mut documents: Vec<_> = (0..30)
            .map(|at| numbers.document(&format!("doc {at}.md"), 8))
            .collect();
        let mut nobody = document("nobody.md", &[], &[&[1.0; 8]]);
        nobody.acl = Acl::nobody();
        documents.push(nobody);
        documents
    };
    let queries: Vec<Vec<f32>> = (0..5).map(|seed| Numbers(seed).vector(8)).collect();
    let askers = [
        public(),
        reader(&["hr"]),
        reader(&["ops", "public", "nobody.md"]),
        reader(&[]),
    ];

    let answers = || {
        let store = SqliteVecStore::open(&path, &fingerprint(), 8, &options(Route::Auto)).unwrap();
        for facts in sources() {
            store.upsert(&facts).unwrap();
        }
        store.prepare().unwrap();
        let mut answers = Vec::new();
        for asker in &askers {
            let view = store.view(asker).unwrap();
            let documents = store.documents(&view).unwrap();
            assert!(documents.iter().all(|doc| doc.as_str() != "nobody.md"));
            for query in &queries {
                let hits = store.knn(&view, aview1(query), 20).unwrap();
                let chunks: Vec<_> = hits
                    .ids()
                    .map(|id| store.chunk(&view, id).unwrap().unwrap())
                    .collect();
                answers.push((*view.digest(), documents.clone(), bits(&hits), chunks));
            }
        }
        answers
    };
    let before = answers();
    for name in ["index.db", "index.db.vec", "index.db-wal", "index.db-shm"] {
        let _ = std::fs::remove_file(folder.path().join(name));
    }
    assert!(!path.exists());
    assert_eq!(answers(), before);
}

#[test]
fn shape_contract_vec0_embedding_is_float_d() {
    let store = Home::new(12, Route::Sql);
    for at in 0..5 {
        store
            .upsert(&Numbers(at).document(&format!("{at}.md"), 12))
            .unwrap();
    }
    store.rebuild_index().unwrap();
    let connection = Connection::open(store.path()).unwrap();
    let sql: String = connection
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = 'vec_chunks'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!(
        sql.contains("USING vec0(embedding float[12] distance_metric=L2)"),
        "{sql}"
    );
    assert!(
        !sql.to_lowercase().contains("indexed by"),
        "only a flat scan keeps the ACL"
    );
    let (rows, shortest, longest): (usize, usize, usize) = connection
        .query_row(
            "SELECT count(*), min(vec_length(embedding)), max(vec_length(embedding)) FROM vec_chunks",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap();
    assert!(rows > 0);
    assert_eq!((shortest, longest), (12, 12));
    assert_eq!(store.stats().unwrap().vectors, rows as u64);
}

#[test]
fn shape_contract_chunk_row_has_id_source_section_and_acl_as_json() {
    let store = Home::new(2, Route::Auto);
    let facts = document("a.md", &["public", "hr"], &[&[1.0, 0.0]]);
    store.upsert(&facts).unwrap();
    let connection = Connection::open(store.path()).unwrap();
    let row: (String, String, String, String) = connection
        .query_row(
            "SELECT chunk_id, source, section, acl FROM chunk_records",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .unwrap();
    let expected = (
        facts.chunks[0].id.to_string(),
        "a.md".to_owned(),
        r#"["Guide","Part"]"#.to_owned(),
        r#"["hr","public"]"#.to_owned(),
    );
    assert_eq!(row, expected);
    // The id is that of the chunk, in every build.
    let again = Home::new(2, Route::Auto);
    again
        .upsert(&document("z.md", &["hr"], &[&[0.0, 1.0]]))
        .unwrap();
    again.upsert(&facts).unwrap();
    let view = again.view(&public()).unwrap();
    assert!(again.chunk(&view, &facts.chunks[0].id).unwrap().is_some());
}

/// "Embeddings are not normalised before they are written": refused, so that `1 − d²/2` is a
/// similarity for every row that is there.
#[test]
fn vectors_that_are_not_normalised_are_refused() {
    let store = Home::new(2, Route::Auto);
    for length in [2.0, 0.5, 1.0 + 1e-5, 1.0 - 1e-5] {
        let mut facts = document("a.md", &["public"], &[&[0.6, 0.8]]);
        facts.vectors *= length;
        let error = store.upsert(&facts).unwrap_err();
        assert!(
            matches!(error, StoreError::NotUnit { .. }),
            "{length}: {error}"
        );
        assert!(error.to_string().contains("normalise before writing"));
    }
    assert_eq!(store.epoch().unwrap(), 0);
}
