//! The routes against each other and against an oracle in f64.

use cornu_core::testing::proptest::prelude::*;
use cornu_core::testing::strategies::{History, Operation, history, principal, unit_vector};
use cornu_core::{Acl, ChunkId, FactStore, Ranking};
use cornu_store::{Route, SqliteVecStore};
use ndarray::aview1;
use rusqlite::Connection;

use crate::sample::{Home, Numbers, ROUTES, bits, few, fingerprint, options, public, reader};

fn write(store: &SqliteVecStore, history: &History) {
    for operation in history.operations() {
        match operation {
            Operation::Upsert(facts) => {
                store.upsert(facts).unwrap();
            }
            Operation::Remove(doc) => {
                store.remove(doc).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(few(24))]

    /// All routes give the same bits, for every k, on a store whose artifacts were brought up to
    /// date in the middle of a history, and again from a file that was just opened.
    #[test]
    fn all_routes_give_the_same_bits(
        first in history(5), second in history(5), asker in principal(), query in unit_vector(5),
    ) {
        let home = Home::new(5, Route::Auto);
        write(&home, &first);
        home.rebuild_index().unwrap();
        write(&home, &second);
        let reopened;
        let stores: [&SqliteVecStore; 2] = {
            home.prepare().unwrap();
            reopened = SqliteVecStore::open(home.path(), &fingerprint(), 5, &options(Route::Auto)).unwrap();
            [&home, &reopened]
        };
        for asker in [&asker, &public(), &reader(&["hr", "public"])] {
            for k in [1, 2, 3, 7, 50, 4096, 5000, usize::MAX] {
                let expected = stores[0].snapshot(asker).unwrap().knn_by(Route::Facts, query.view(), k).unwrap();
                for store in stores {
                    let snapshot = store.snapshot(asker).unwrap();
                    for route in ROUTES {
                        let found = snapshot.knn_by(route, query.view(), k).unwrap();
                        prop_assert_eq!(bits(&found), bits(&expected), "{:?}, k = {}", route, k);
                    }
                }
            }
        }
        prop_assert_eq!(home.doctor().unwrap(), []);
    }

    /// The bitmap of a view is what the grants table says and what the documents' own ACLs say.
    #[test]
    fn a_view_is_the_grants_table(history in history(2), asker in principal()) {
        let home = Home::new(2, Route::Auto);
        write(&home, &history);
        let view = home.view(&asker).unwrap();
        let connection = Connection::open(home.path()).unwrap();
        let mut statement = connection
            .prepare("SELECT d.ordinal, d.name, g.name FROM documents AS d LEFT JOIN grants AS g ON g.document = d.ordinal ORDER BY 1")
            .unwrap();
        let held: Vec<&str> = asker.grants().map(cornu_core::Grant::as_str).collect();
        let mut by_grants = std::collections::BTreeSet::new();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let grant: Option<String> = row.get(2).unwrap();
            if grant.is_some_and(|grant| held.contains(&grant.as_str())) {
                by_grants.insert(row.get::<_, u32>(0).unwrap());
            }
        }
        prop_assert_eq!(view.ordinals().collect::<Vec<_>>(), by_grants.into_iter().collect::<Vec<_>>());
        let present = history.finally();
        let admitted: Vec<_> = present.values().filter(|facts| facts.acl.admits(&asker)).map(|facts| facts.doc.clone()).collect();
        prop_assert_eq!(home.documents(&view).unwrap(), admitted);
        // Asked again, it comes from memory.
        prop_assert_eq!(home.view(&asker).unwrap(), view);
    }

    /// On stored rows, 1 − d²/2 is the inner product to 1e-6, norms are 1 ± 1e-6, and no
    /// similarity leaves [−1, 1]. d is the distance in f64.
    #[test]
    fn similarity_is_one_minus_half_the_squared_distance(seed in any::<u64>(), dimension in 2usize..400) {
        let mut numbers = Numbers(seed);
        let facts = numbers.document("a.md", dimension);
        let home = Home::new(dimension, Route::Sql);
        let mut facts = facts;
        facts.acl = Acl::public();
        home.upsert(&facts).unwrap();
        let query = numbers.vector(dimension);
        let norm = query.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        let connection = Connection::open(home.path()).unwrap();
        let mut statement = connection.prepare("SELECT c.chunk, v.vector FROM vectors AS v JOIN chunks AS c USING (id)").unwrap();
        let rows: Vec<(ChunkId, Vec<f64>)> = statement
            .query_map([], |row| Ok((ChunkId::from_bytes(row.get(0)?), row.get::<_, Vec<u8>>(1)?)))
            .unwrap()
            .map(|row| {
                let (id, bytes) = row.unwrap();
                let floats = bytes.as_chunks::<4>().0.iter().map(|x| f64::from(f32::from_le_bytes(*x)));
                (id, floats.collect())
            })
            .collect();
        let snapshot = home.snapshot(&public()).unwrap();
        let hits = snapshot.knn(aview1(&query), 10).unwrap();
        prop_assert_eq!(hits.len(), rows.len());
        for (id, row) in rows {
            let norm_of_row = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            prop_assert!((norm_of_row - 1.0).abs() <= 1e-6);
            let unit = query.iter().map(|x| f64::from(*x) / norm);
            let (mut dot, mut square) = (0.0, 0.0);
            for (x, q) in row.iter().zip(unit) {
                dot += x * q;
                square += (x - q).powi(2);
            }
            prop_assert!((dot - (1.0 - square / 2.0)).abs() <= 1e-6);
            let hit = hits.iter().find(|hit| hit.id == id).unwrap();
            prop_assert!((-1.0..=1.0).contains(&hit.score));
            prop_assert!((hit.score - dot).abs() <= 1e-12 || hit.score.abs() == 1.0);
        }
    }
}

/// Hundreds of rows that are equal or differ in the last bit, and k through the middle of them.
#[test]
fn ties_at_the_cut_are_broken_by_id_on_every_route() {
    let home = Home::new(3, Route::Auto);
    let nudged = f32::from_bits(0.6_f32.to_bits() + 1);
    home.batch(|batch| {
        for at in 0..300 {
            let x = if at % 3 == 0 { nudged } else { 0.6 };
            let facts =
                crate::sample::document(&format!("{at}.md"), &["public"], &[&[x, 0.8, 0.0]]);
            batch.upsert(&facts)?;
        }
        Ok::<_, cornu_store::StoreError>(())
    })
    .unwrap();
    home.rebuild_index().unwrap();
    let snapshot = home.snapshot(&public()).unwrap();
    let all = snapshot
        .knn_by(Route::Facts, aview1(&[1.0, 0.1, 0.2]), 300)
        .unwrap();
    for k in [1, 5, 99, 100, 101, 200, 299, 300] {
        for route in ROUTES {
            let found = snapshot.knn_by(route, aview1(&[1.0, 0.1, 0.2]), k).unwrap();
            assert_eq!(bits(&found), bits(&all)[..k], "{route:?}, k = {k}");
        }
    }
}

/// More equal rows than vec0 can return: SQL cannot prove its cut and the facts are scanned.
#[test]
fn more_ties_than_vec0_returns_are_still_exact() {
    let home = Home::new(2, Route::Sql);
    let rows: Vec<&[f32]> = vec![&[0.6, 0.8]; 4200];
    home.upsert(&crate::sample::document("many.md", &["public"], &rows))
        .unwrap();
    home.upsert(&crate::sample::document(
        "far.md",
        &["public"],
        &[&[-1.0, 0.0]],
    ))
    .unwrap();
    let snapshot = home.snapshot(&public()).unwrap();
    let by =
        |route, k| -> Ranking<ChunkId> { snapshot.knn_by(route, aview1(&[1.0, 0.0]), k).unwrap() };
    let all = by(Route::Resident, usize::MAX);
    assert_eq!(all.len(), 4201);
    for k in [10, 4096, 4097, 4200, 4201, 9999] {
        let expected = &bits(&all)[..k.min(4201)];
        for route in ROUTES {
            assert_eq!(bits(&by(route, k)), expected, "{route:?}, k = {k}");
        }
    }
}

/// The number of threads changes nothing.
#[test]
fn the_same_bits_on_any_number_of_threads() {
    let home = Home::new(16, Route::Resident);
    let mut numbers = Numbers(9);
    home.batch(|batch| {
        for at in 0..4000 {
            let mut facts = numbers.document(&format!("{at}.md"), 16);
            facts.acl = Acl::public();
            batch.upsert(&facts)?;
        }
        Ok::<_, cornu_store::StoreError>(())
    })
    .unwrap();
    home.prepare().unwrap();
    assert!(
        home.stats().unwrap().vectors > 8192,
        "fewer rows than two tasks have"
    );
    let snapshot = home.snapshot(&public()).unwrap();
    let query = numbers.vector(16);
    let found = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            bits(
                &snapshot
                    .knn_by(Route::Resident, aview1(&query), 25)
                    .unwrap(),
            )
        })
    };
    let expected = bits(
        &snapshot
            .knn_by(Route::Sql, aview1(&query), 25)
            .unwrap_or_else(|_| snapshot.knn_by(Route::Facts, aview1(&query), 25).unwrap()),
    );
    for threads in [1, 2, 3, 7] {
        assert_eq!(found(threads), expected);
    }
    // Many at once: some find threads free, others scan by themselves.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let found = snapshot.knn_by(Route::Resident, aview1(&query), 25);
                    assert_eq!(bits(&found.unwrap()), expected);
                }
            });
        }
    });
}

proptest! {
    #![proptest_config(few(24))]

    /// Chunks by id: scored as a search scores them, and with the ordinals of what the asker sees;
    /// nothing of what he does not see.
    #[test]
    fn chunks_by_id_are_scored_as_a_search_scores_them(
        history in history(4), asker in principal(), query in unit_vector(4),
    ) {
        let home = Home::new(4, Route::Auto);
        write(&home, &history);
        let snapshot = home.snapshot(&asker).unwrap();
        let seen = snapshot.knn(query.view(), usize::MAX).unwrap();
        let scored = snapshot.score(query.view(), seen.ids().chain(seen.ids())).unwrap();
        prop_assert_eq!(bits(&scored), bits(&seen));
        let ordinals = snapshot.ordinals_of(seen.ids()).unwrap().unwrap();
        prop_assert!(ordinals.iter().all(|&one| snapshot.view().contains(one)));
        prop_assert!(ordinals.is_sorted_by(|a, b| a < b));
        let present = history.finally();
        let hidden: Vec<&ChunkId> = present
            .values()
            .filter(|facts| !facts.acl.admits(&asker))
            .flat_map(|facts| &facts.chunks)
            .map(|chunk| &chunk.id)
            .collect();
        prop_assert!(snapshot.score(query.view(), hidden.iter().copied()).unwrap().is_empty());
        for id in hidden {
            prop_assert_eq!(snapshot.ordinals_of([id]).unwrap(), None);
        }
    }
}
