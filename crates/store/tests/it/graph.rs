//! The approximate index: what it may never do, how it follows the facts, and what it finds.

use std::collections::BTreeSet;
use std::fs;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{Acl, ChunkId, DocId, FactStore, Principal};
use cornu_store::{Approximate, Check, Hnsw, Options, Route, SqliteVecStore, StoreError};
use ndarray::{Array2, aview1};

use crate::sample::{Home, Numbers, bits, document, few, options, public, reader};

const GRAPH: Hnsw = Hnsw {
    links: 6,
    build_ef: 20,
    recall_per_mille: 900,
    ef: None,
    narrow_per_mille: 0,
};

/// One with so few links that it misses much.
const POOR: Hnsw = Hnsw {
    links: 2,
    build_ef: 2,
    ..GRAPH
};

fn walking(hnsw: Hnsw) -> Options {
    Options {
        approximate: Approximate::Hnsw(hnsw),
        ..options(Route::Resident)
    }
}

/// Documents of 40 rows around some directions, as far from each other as their own rows are. Two of
/// three are public.
fn crowd(home: &Home, numbers: &mut Numbers, documents: std::ops::Range<usize>) {
    let dimension = home.dimension();
    let facts: Vec<_> = documents
        .map(|at| {
            let centre = Numbers(at as u64 % 9).vector(dimension);
            let rows: Vec<Vec<f32>> = (0..40)
                .map(|_| {
                    let noise = numbers.vector(dimension);
                    centre.iter().zip(noise).map(|(c, n)| c + n).collect()
                })
                .collect();
            let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
            let grants: &[&str] = if at % 3 == 0 {
                &["ops"]
            } else {
                &["public", "ops"]
            };
            document(&format!("{at}.md"), grants, &rows)
        })
        .collect();
    home.batch(|batch| {
        facts
            .iter()
            .try_for_each(|facts| batch.upsert(facts).map(drop))?;
        Ok::<_, StoreError>(())
    })
    .unwrap();
}

fn found(
    store: &SqliteVecStore,
    asker: &Principal,
    query: &[f32],
    k: usize,
) -> Vec<(ChunkId, u64)> {
    bits(
        &store
            .snapshot(asker)
            .unwrap()
            .knn(aview1(query), k)
            .unwrap(),
    )
}

/// The share of the best ten that is found, and whether any answer differed from the exact one.
fn recall(store: &SqliteVecStore, exact: &SqliteVecStore, asker: &Principal) -> (f64, bool) {
    let mut numbers = Numbers(99);
    let (mut hits, mut all, mut differed) = (0, 0, false);
    for at in 0..40 {
        let centre = Numbers(at % 9).vector(store.dimension());
        let noise = numbers.vector(store.dimension());
        let query: Vec<f32> = centre.iter().zip(noise).map(|(c, n)| c + n).collect();
        let (here, truth) = (
            found(store, asker, &query, 10),
            found(exact, asker, &query, 10),
        );
        differed |= here != truth;
        hits += here.iter().filter(|hit| truth.contains(hit)).count();
        all += truth.len();
    }
    (hits as f64 / all as f64, differed)
}

proptest! {
    #![proptest_config(few(2))]

    /// Whatever is asked: as many hits as an exact search gives, all of them visible and present,
    /// with exact scores; after removals, changes and additions, too.
    #[test]
    fn nothing_hidden_or_gone_is_found(seed in any::<u64>()) {
        let mut numbers = Numbers(seed);
        let home = Home::with(12, &walking(POOR));
        crowd(&home, &mut numbers, 0..20);
        home.prepare().unwrap();
        let exact = home.again(&options(Route::Facts));
        for round in 0..3 {
            for asker in [public(), reader(&["ops"])] {
                for k in [1, 10, 70] {
                    let query = numbers.vector(12);
                    let all: BTreeSet<_> = found(&exact, &asker, &query, usize::MAX).into_iter().collect();
                    let here = found(&home, &asker, &query, k);
                    prop_assert_eq!(here.len(), k);
                    prop_assert!(here.iter().all(|hit| all.contains(hit)), "round {}", round);
                    // As numbers: the bits of a negative score are above those of a positive one.
                    let ordered = |(id, score): &(ChunkId, f64), (next, below): &(ChunkId, f64)| {
                        below.total_cmp(score).then(id.cmp(next)).is_le()
                    };
                    let here: Vec<_> =
                        here.into_iter().map(|(id, score)| (id, f64::from_bits(score))).collect();
                    prop_assert!(here.is_sorted_by(ordered), "{:?}", here);
                }
            }
            for _ in 0..3 {
                let name = DocId::new(&format!("{}.md", numbers.below(20))).unwrap();
                home.remove(&name).unwrap();
            }
            crowd(&home, &mut numbers, 200 + round..201 + round);
        }
    }
}

/// What the ladder asks for is not in the graph yet. Rows of the graph are easier to find, most of
/// all where nothing has a structure: with them for questions this one promised 0.76 where new
/// questions got 0.55.
#[test]
fn the_ladder_promises_no_more_than_new_questions_get() {
    const DIMENSION: usize = 32;
    let home = Home::with(DIMENSION, &walking(GRAPH));
    let mut numbers = Numbers(5);
    let facts: Vec<_> = (0..50)
        .map(|at| {
            let rows: Vec<Vec<f32>> = (0..40).map(|_| numbers.vector(DIMENSION)).collect();
            let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
            document(&format!("{at}.md"), &["ops"], &rows)
        })
        .collect();
    let written = home.batch(|batch| {
        facts
            .iter()
            .try_for_each(|facts| batch.upsert(facts).map(drop))
    });
    written.unwrap();
    home.prepare().unwrap();
    let exact = home.again(&options(Route::Facts));
    let asker = reader(&["ops"]);
    let questions: Vec<Vec<f32>> = (0..200).map(|_| numbers.vector(DIMENSION)).collect();
    let truth: Vec<_> = questions
        .iter()
        .map(|query| found(&exact, &asker, query, 10))
        .collect();
    for rung in &home.graph_ladder().unwrap()[1..4] {
        let ef = Some(rung.ef);
        let walk = home.again(&walking(Hnsw { ef, ..GRAPH }));
        let hits = questions.iter().zip(&truth).map(|(query, truth)| {
            let here = found(&walk, &asker, query, 10);
            here.iter().filter(|hit| truth.contains(hit)).count()
        });
        let here = hits.sum::<usize>() as f64 / 2000.0;
        assert!((rung.recall - here).abs() < 0.06, "{here} for {rung:?}");
    }
}

/// The graph is walked (answers differ from the exact ones), and finds what its ladder says.
#[test]
fn it_finds_what_was_measured() {
    let hasty = Hnsw {
        ef: Some(1),
        ..POOR
    };
    let home = Home::with(12, &walking(hasty));
    crowd(&home, &mut Numbers(1), 0..20);
    let exact = home.again(&options(Route::Facts));
    assert_eq!(home.graph_ladder().unwrap(), []);
    assert!(
        !recall(&home, &exact, &public()).1,
        "without a graph answers are exact"
    );
    home.prepare().unwrap();
    let ladder = home.graph_ladder().unwrap();
    assert!(ladder.is_sorted_by(|a, b| a.ef < b.ef && a.recall <= b.recall + 0.01));
    assert!(ladder.is_sorted_by(|a, b| a.compared <= b.compared));
    for target in [500, 800, 950] {
        let store = home.again(&walking(Hnsw {
            recall_per_mille: target,
            ..POOR
        }));
        let target = f64::from(target) / 1000.0;
        let Some(rung) = ladder.iter().find(|rung| rung.recall >= target) else {
            assert!(!recall(&store, &exact, &public()).1);
            continue;
        };
        let (here, differed) = recall(&store, &exact, &reader(&["ops"]));
        assert!(here >= rung.recall - 0.08, "{here} for {rung:?}");
        assert_eq!(differed, here < 1.0);
    }
    assert!(
        recall(&home, &exact, &public()).1,
        "nothing approximate was tried"
    );
    // A target that no rung reaches, and as few rows as are always scanned.
    let sure = Hnsw {
        recall_per_mille: 1000,
        ..POOR
    };
    if ladder.iter().all(|rung| rung.recall < 1.0) {
        assert!(!recall(&home.again(&walking(sure)), &exact, &public()).1);
    }
    let few = Hnsw {
        narrow_per_mille: 1,
        ..hasty
    };
    assert!(!recall(&home.again(&walking(few)), &exact, &public()).1);
}

/// Two thirds of the rows are public: a graph for views of that breadth is walked, one for broader
/// ones is not.
#[test]
fn narrow_views_are_scanned() {
    let at_least = |narrow_per_mille| Hnsw {
        links: 3,
        build_ef: 4,
        ef: Some(1),
        narrow_per_mille,
        ..GRAPH
    };
    let home = Home::with(4, &walking(at_least(600)));
    crowd(&home, &mut Numbers(11), 0..80);
    home.prepare().unwrap();
    let exact = home.again(&options(Route::Resident));
    assert!(recall(&home, &exact, &public()).1);
    let broad = home.again(&walking(at_least(700)));
    assert!(!recall(&broad, &exact, &public()).1);
    assert!(recall(&broad, &exact, &reader(&["ops"])).1);
}

/// The caller's questions take the place of rows, in the file.
#[test]
fn a_ladder_of_the_callers_questions() {
    let home = Home::with(12, &walking(GRAPH));
    crowd(&home, &mut Numbers(2), 0..15);
    let mut numbers = Numbers(3);
    let questions = Array2::from_shape_fn((30, 12), |_| numbers.vector(1)[0]);
    let error = home.calibrate_graph(questions.view()).unwrap_err();
    assert!(error.to_string().contains("build it first"), "{error}");
    home.build_graph().unwrap();
    let of_rows = home.graph_ladder().unwrap();
    let of_questions = home.calibrate_graph(questions.view()).unwrap();
    assert_ne!(of_rows, of_questions);
    assert_eq!(home.graph_ladder().unwrap(), of_questions);
    assert!(home.calibrate_graph(Array2::zeros((0, 12)).view()).is_err());
    assert!(matches!(
        home.calibrate_graph(Array2::ones((3, 5)).view()),
        Err(StoreError::WrongDimension { .. })
    ));
}

/// The same facts, the same bytes, on any number of threads; but for the name of the state.
#[test]
fn a_graph_is_the_same_on_any_number_of_threads() {
    let home = Home::with(12, &walking(GRAPH));
    crowd(&home, &mut Numbers(4), 0..15);
    let built = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| home.build_graph().unwrap());
        fs::read(home.path().with_extension("db.hnsw")).unwrap()
    };
    let one = built(1);
    assert!(one.len() > 15 * 40 * (12 + 4 + 48));
    for threads in [2, 5] {
        assert!(built(threads) == one, "{threads} threads");
    }
}

/// Cut short, changed or of another index, a graph is not believed, and built again when it is next
/// time.
#[test]
fn a_damaged_or_foreign_graph_is_built_again() {
    let walked = Hnsw {
        ef: Some(1),
        ..POOR
    };
    let home = Home::with(12, &walking(walked));
    crowd(&home, &mut Numbers(5), 0..20);
    home.prepare().unwrap();
    let path = home.path().with_extension("db.hnsw");
    let whole = fs::read(&path).unwrap();
    let other = Home::with(12, &walking(walked));
    crowd(&other, &mut Numbers(5), 0..20);
    other.prepare().unwrap();
    let foreign = fs::read(other.path().with_extension("db.hnsw")).unwrap();
    let exact = home.again(&options(Route::Facts));
    let mut damages = vec![Vec::new(), vec![7; 300], foreign];
    for end in [100, 256, whole.len() / 2, whole.len() - 1] {
        damages.push(whole[..end].to_vec());
    }
    for at in [3, 20, 70, 130, 250, 300, 5000, whole.len() - 9] {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        damages.push(changed);
    }
    assert!(recall(&home.again(&walking(walked)), &exact, &public()).1);
    for (at, damaged) in damages.into_iter().enumerate() {
        // Another name: whoever has mapped the old file keeps it whole.
        fs::remove_file(&path).unwrap();
        fs::write(&path, &damaged).unwrap();
        let store = home.again(&walking(walked));
        assert_eq!(store.graph_ladder().unwrap(), []);
        let findings = store.doctor().unwrap();
        assert!(findings.iter().all(|one| one.check == Check::Graph) && findings.len() == 1);
        let query = Numbers(6).vector(12);
        assert_eq!(
            found(&store, &public(), &query, 10),
            found(&exact, &public(), &query, 10)
        );
        if at % 4 == 2 {
            store.prepare().unwrap();
            assert!(fs::read(&path).unwrap() == whole);
        }
    }
}

/// A graph of an older state serves with what was written since beside it, until an eighth has
/// changed; then `prepare` builds another.
#[test]
fn a_graph_follows_the_facts() {
    let home = Home::with(12, &walking(GRAPH));
    crowd(&home, &mut Numbers(7), 0..20);
    home.prepare().unwrap();
    let path = home.path().with_extension("db.hnsw");
    let old = fs::read(&path).unwrap();
    let query = Numbers(8).vector(12);
    let rows: [&[f32]; 1] = [&query];
    home.upsert(&document("nearest.md", &["public"], &rows))
        .unwrap();
    let nearest = document("nearest.md", &["public"], &rows).chunks[0].id;
    home.prepare().unwrap();
    assert!(
        fs::read(&path).unwrap() == old,
        "one row in 800 is no reason"
    );
    // It is in no graph, and found.
    assert_eq!(found(&home, &public(), &query, 10)[0].0, nearest);
    assert_eq!(
        found(&home.again(&walking(GRAPH)), &public(), &query, 10)[0].0,
        nearest
    );
    assert_eq!(home.doctor().unwrap(), []);
    // Hidden, changed and removed, it is not.
    let mut hidden = document("nearest.md", &["ops"], &rows);
    hidden.acl = Acl::new(["ops"]).unwrap();
    home.upsert(&hidden).unwrap();
    assert_ne!(found(&home, &public(), &query, 10)[0].0, nearest);
    assert_eq!(found(&home, &reader(&["ops"]), &query, 10)[0].0, nearest);
    home.remove(&DocId::new("nearest.md").unwrap()).unwrap();
    assert_ne!(found(&home, &reader(&["ops"]), &query, 10)[0].0, nearest);
    // A row of the graph, too.
    let best = found(&home, &reader(&["ops"]), &query, 1)[0].0;
    let view = home.view(&reader(&["ops"])).unwrap();
    home.remove(&home.chunk(&view, &best).unwrap().unwrap().doc)
        .unwrap();
    assert_ne!(found(&home, &reader(&["ops"]), &query, 1)[0].0, best);

    crowd(&home, &mut Numbers(9), 300..305);
    home.prepare().unwrap();
    let new = fs::read(&path).unwrap();
    assert!(new != old, "a fifth is new");
    home.rebuild_index().unwrap();
    assert!(
        fs::read(&path).unwrap() == new,
        "a fresh build is the same file"
    );
}

#[test]
fn it_is_refused_where_it_was_not_asked_for() {
    let home = Home::new(4, Route::Auto);
    let error = home.build_graph().unwrap_err();
    assert!(error.to_string().contains("Approximate::Hnsw"), "{error}");
    for wrong in [
        Hnsw { links: 1, ..GRAPH },
        Hnsw {
            build_ef: 5,
            ..GRAPH
        },
        Hnsw {
            ef: Some(0),
            ..GRAPH
        },
        Hnsw {
            recall_per_mille: 1001,
            ..GRAPH
        },
    ] {
        let opened = SqliteVecStore::open_existing(home.path(), &walking(wrong));
        assert!(
            matches!(opened, Err(StoreError::Options { .. })),
            "{wrong:?}"
        );
    }
    // No vectors, no file.
    let none = home.again(&walking(GRAPH));
    none.prepare().unwrap();
    assert!(!home.path().with_extension("db.hnsw").exists());
}

/// A graph whole in itself over other rows is found out by the facts.
#[test]
fn the_doctor_compares_the_graph_with_the_facts() {
    let home = Home::with(2, &walking(GRAPH));
    home.upsert(&document("a.md", &["public"], &[&[1.0, 0.0], &[0.6, 0.8]]))
        .unwrap();
    home.prepare().unwrap();
    assert_eq!(home.doctor().unwrap(), []);
    let turned: Vec<u8> = [0.0_f32, 1.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    rusqlite::Connection::open(home.path())
        .unwrap()
        .execute("UPDATE vectors SET vector = ?1 WHERE id = 1", [turned])
        .unwrap();
    let findings = home.doctor().unwrap();
    let checks: Vec<_> = findings.iter().map(|finding| finding.check).collect();
    assert_eq!(checks, [Check::Digests, Check::VecFile, Check::Graph]);
}

/// Of fewer than ten rows none is held back: the graph is kept, and promises nothing.
#[test]
fn a_graph_that_was_asked_nothing_promises_nothing() {
    let home = Home::with(4, &walking(GRAPH));
    let rows: Vec<Vec<f32>> = (0..9).map(|at| Numbers(at).vector(4)).collect();
    let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
    let facts = document("few.md", &["ops"], &rows);
    let written = home.batch(|batch| batch.upsert(&facts).map(drop));
    written.unwrap();
    home.build_graph().unwrap();
    assert_eq!(home.graph_ladder().unwrap(), []);
    // It is there, and can be asked.
    let questions = Array2::from_shape_fn((3, 4), |(row, at)| rows[row][at]);
    let ladder = home.calibrate_graph(questions.view()).unwrap();
    assert_eq!(home.graph_ladder().unwrap(), ladder);
    // The first is of eight rows, and there are nine to be found.
    assert!(
        ladder.iter().skip(1).all(|rung| rung.recall > 0.99),
        "{ladder:?}"
    );
}
