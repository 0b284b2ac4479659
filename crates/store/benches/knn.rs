//! Nearest neighbours and ingest, each beside the least that the same work can cost, interleaved
//! in one run: medians, and the median of the ratios of neighbouring rounds.
//!
//! `cargo bench -p cornu-store --bench knn [-- ROWS DIMENSION ROUNDS]`, by default 100000 384 15.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod rows;

use std::hint::black_box;
use std::time::{Duration, Instant};

use cornu_core::{Acl, DocumentFacts, Fingerprint, Principal};
use cornu_store::{Approximate, Hnsw, Options, Route, Scan, Snapshot, SqliteVecStore};
use ndarray::{Array2, aview1};
use rayon::prelude::*;
use rusqlite::{Connection, params};

use rows::vector;

/// Chunks of a document.
const CHUNKS: usize = 10;

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let get = |at: usize, default| numbers.get(at).copied().unwrap_or(default);
    let (rows, dimension, rounds) = (get(0, 100_000), get(1, 384), get(2, 15));
    let threads = rayon::current_num_threads();
    println!("{rows} rows x {dimension}, {rounds} rounds, {threads} threads");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let store = SqliteVecStore::open(
        &path,
        &Fingerprint::new("bench"),
        dimension,
        &Options::default(),
    );
    let store = store.unwrap();
    write(store, &folder.path().join("vec0.db"), rows, dimension);
    if std::env::args().any(|arg| arg == "--write-only") {
        return;
    }
    let store = SqliteVecStore::open_existing(&path, &Options::default()).unwrap();
    let start = Instant::now();
    store.prepare().unwrap();
    println!(
        "prepare: the .vec file                      {:8.1} ms",
        ms(start.elapsed())
    );
    let start = Instant::now();
    store.rebuild_index().unwrap();
    println!(
        "rebuild-index: .vec and vec0                {:8.1} ms",
        ms(start.elapsed())
    );
    println!("{:?}", store.stats().unwrap());
    drop(store);

    cold(&path, dimension);
    let store = SqliteVecStore::open_existing(&path, &Options::default()).unwrap();
    let query = vector(12_345_678, dimension);
    // The same memory: the rows stand at the end of the file, in the order of writing.
    let file = std::fs::File::open(path.with_extension("db.vec")).unwrap();
    let map = map(&file);
    let copy: &[f32] = bytemuck::cast_slice(map.get(map.len() - rows * dimension * 4..).unwrap());
    println!("\nview        visible   resident  sum of rows  ratio   facts");
    for grant in ["all", "half", "tenth", "hundredth", "thousand"] {
        resident(&store, grant, &query, copy, rounds);
    }
    println!("\nview        visible   by SQL    by hand      ratio");
    for grant in ["all", "half", "tenth", "hundredth"] {
        sql(&store, &path, grant, &query, rounds);
    }
    drop(store);
    graph(&path);
    println!("\nview        scan       resident      f32  ratio");
    for grant in ["all", "tenth"] {
        codes(&path, grant, &query, rounds);
    }
}

/// The time of building, and what a walk of each breadth finds.
fn graph(path: &std::path::Path) {
    let options = Options {
        approximate: Approximate::Hnsw(Hnsw::default()),
        ..Options::default()
    };
    let store = SqliteVecStore::open_existing(path, &options).unwrap();
    let start = Instant::now();
    store.build_graph().unwrap();
    println!("\ngraph: built in {:.1} s", start.elapsed().as_secs_f64());
    for rung in store.graph_ladder().unwrap() {
        println!(
            "ef {:4}: recall {:.4}, {:6.0} rows compared",
            rung.ef, rung.recall, rung.compared
        );
    }
}

/// Scans by codes, and a walk of breadth 64, beside the scan in f32.
fn codes(path: &std::path::Path, grant: &str, query: &[f32], rounds: usize) {
    let asker = Principal::new([grant]).unwrap();
    let full = SqliteVecStore::open_existing(path, &Options::default()).unwrap();
    let full = full.snapshot(&asker).unwrap();
    let walk = Hnsw {
        ef: Some(64),
        narrow_per_mille: 0,
        ..Hnsw::default()
    };
    for (name, scan, approximate) in [
        ("int8", Scan::Int8, Approximate::Never),
        ("bits", Scan::Bits { per_hit: 16 }, Approximate::Never),
        ("ef 64", Scan::Full, Approximate::Hnsw(walk)),
    ] {
        let options = Options {
            scan,
            approximate,
            ..Options::default()
        };
        let store = SqliteVecStore::open_existing(path, &options).unwrap();
        let snapshot = store.snapshot(&asker).unwrap();
        let ask = |snapshot: &Snapshot<'_>| {
            let hits = snapshot.knn_by(Route::Resident, aview1(query), 10);
            black_box(hits.unwrap().len());
        };
        ask(&snapshot);
        ask(&full);
        let (ours, theirs, ratio) = interleave(rounds, || ask(&snapshot), || ask(&full));
        println!(
            "{grant:10} {name:10} {:8.2} ms {:8.2} ms {ratio:5.2}",
            ms(ours),
            ms(theirs)
        );
    }
}

#[expect(unsafe_code, reason = "a map can be made in no other way")]
fn map(file: &std::fs::File) -> memmap2::Mmap {
    // SAFETY: the file lies in a folder of this process, and nothing writes to it any more.
    unsafe { memmap2::Mmap::map(file) }.unwrap()
}

/// The grants of a document: each names a share of all documents.
fn grants(document: usize, documents: usize) -> Vec<&'static str> {
    let scattered = document.wrapping_mul(2_654_435_761) >> 7;
    let mut grants = vec!["all"];
    for (grant, one_in) in [("half", 2), ("tenth", 10), ("hundredth", 100)] {
        if scattered.is_multiple_of(one_in) {
            grants.push(grant);
        }
    }
    if document.is_multiple_of((documents / 100).max(1)) {
        grants.push("thousand");
    }
    grants
}

/// Rows, vectors and texts of 1 KB into the store, and the vectors alone into `vec0`: in turns, in
/// transactions of the same size. Closing belongs to both, since it copies what is left of the log.
fn write(store: SqliteVecStore, vec0: &std::path::Path, rows: usize, dimension: usize) {
    let vec0 = vec0_alone(vec0, dimension);
    let documents = rows / CHUNKS;
    let (mut ours, mut theirs) = (Duration::ZERO, Duration::ZERO);
    println!("\nwriting           store    vec0 alone  ratio");
    let all: Vec<usize> = (0..documents).collect();
    for part in all.chunks(documents.div_ceil(5).next_multiple_of(200)) {
        let facts: Vec<_> = part
            .iter()
            .map(|&at| document(at, documents, dimension))
            .collect();
        let start = Instant::now();
        for facts in facts.chunks(200) {
            let mut facts = facts.iter();
            let written =
                store.batch(|batch| facts.try_for_each(|facts| batch.upsert(facts).map(drop)));
            written.unwrap();
        }
        let ours_here = start.elapsed();
        let start = Instant::now();
        for (group, facts) in part.chunks(200).zip(facts.chunks(200)) {
            write_vec0(&vec0, group, facts);
        }
        let theirs_here = start.elapsed();
        let done = part.last().map_or(0, |last| (last + 1) * CHUNKS);
        line(done, part.len() * CHUNKS, ours_here, theirs_here);
        (ours, theirs) = (ours + ours_here, theirs + theirs_here);
    }
    let start = Instant::now();
    drop(store);
    ours += start.elapsed();
    let start = Instant::now();
    drop(vec0);
    theirs += start.elapsed();
    line(0, rows, ours, theirs);
}

fn line(done: usize, rows: usize, ours: Duration, theirs: Duration) {
    let until = if done == 0 {
        "all".to_owned()
    } else {
        format!("to {done}")
    };
    println!(
        "{until:11} {:8.0} rows/s {:8.0} rows/s {:6.2}",
        rate(rows, ours),
        rate(rows, theirs),
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
}

/// vec0 with nothing around it.
fn vec0_alone(path: &std::path::Path, dimension: usize) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE VIRTUAL TABLE v USING vec0(embedding float[{dimension}] distance_metric=L2)"
        ))
        .unwrap();
    connection
}

fn write_vec0(connection: &Connection, group: &[usize], facts: &[DocumentFacts]) {
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut statement = connection
        .prepare_cached("INSERT INTO v (rowid, embedding) VALUES (?1, ?2)")
        .unwrap();
    for (document, facts) in group.iter().zip(facts) {
        for (place, vector) in facts.vectors.rows().into_iter().enumerate() {
            let bytes: &[u8] = bytemuck::cast_slice(vector.to_slice().unwrap());
            let row = document * CHUNKS + place + 1;
            statement.execute(params![row as i64, bytes]).unwrap();
        }
    }
    connection.execute_batch("COMMIT").unwrap();
}

fn document(at: usize, documents: usize, dimension: usize) -> DocumentFacts {
    let texts =
        (0..CHUNKS).map(|place| format!("{at} {place} {}", "some words of evidence ".repeat(43)));
    let first = at * CHUNKS;
    let values = (first..first + CHUNKS)
        .flat_map(|row| vector(row as u64, dimension))
        .collect();
    rows::Document {
        name: format!("folder {}/{at}.md", at % 97),
        version: at,
        heading: &["Title"],
        texts: texts.collect(),
        acl: Acl::new(grants(at, documents)).unwrap(),
        vectors: Array2::from_shape_vec((CHUNKS, dimension), values).unwrap(),
    }
    .facts()
}

/// What a process that has just started waits for its first answer.
fn cold(path: &std::path::Path, dimension: usize) {
    let query = vector(77, dimension);
    for grant in ["all", "hundredth"] {
        let asker = Principal::new([grant]).unwrap();
        let start = Instant::now();
        let store = SqliteVecStore::open_existing(path, &Options::default()).unwrap();
        let opened = start.elapsed();
        let snapshot = store.snapshot(&asker).unwrap();
        let seen = start.elapsed();
        black_box(snapshot.knn(aview1(&query), 10).unwrap());
        println!(
            "cold, view of {grant:9}: open {:6.1} ms, view {:6.1} ms, first search {:6.1} ms",
            ms(opened),
            ms(seen.saturating_sub(opened)),
            ms(start.elapsed().saturating_sub(seen))
        );
    }
}

fn resident(store: &SqliteVecStore, grant: &str, query: &[f32], copy: &[f32], rounds: usize) {
    let snapshot = store.snapshot(&Principal::new([grant]).unwrap()).unwrap();
    // The same rows in the same order, as runs of a plain array.
    let width = CHUNKS * query.len();
    let visible: Vec<&[f32]> = snapshot
        .view()
        .ordinals()
        .filter_map(|ordinal| copy.chunks_exact(width).nth(ordinal as usize - 1))
        .collect();
    let route = |route| black_box(snapshot.knn_by(route, aview1(query), 10).unwrap().len());
    route(Route::Resident);
    let (ours, sums, ratio) = interleave(
        rounds,
        || {
            route(Route::Resident);
        },
        || {
            black_box(sum(&visible, query.len()));
        },
    );
    let start = Instant::now();
    route(Route::Facts);
    println!(
        "{grant:10} {:8} {:8.2} ms {:8.2} ms {ratio:8.2} {:8.1} ms",
        visible.len() * CHUNKS,
        ms(ours),
        ms(sums),
        ms(start.elapsed())
    );
}

/// The least that any scan does: read every value once, on as many threads.
fn sum(visible: &[&[f32]], dimension: usize) -> f32 {
    let add = |rows: &&[f32]| -> f32 {
        rows.chunks_exact(dimension)
            .map(|row| {
                let mut lanes = [0.0; 16];
                for values in row.as_chunks::<16>().0 {
                    for (lane, value) in lanes.iter_mut().zip(values) {
                        *lane += value;
                    }
                }
                lanes.iter().sum::<f32>()
            })
            .sum()
    };
    if visible.len() * CHUNKS <= 4096 {
        return visible.iter().map(add).sum();
    }
    visible
        .par_chunks(400)
        .map(|part| part.iter().map(add).sum::<f32>())
        .sum()
}

fn sql(store: &SqliteVecStore, path: &std::path::Path, grant: &str, query: &[f32], rounds: usize) {
    let snapshot = store.snapshot(&Principal::new([grant]).unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch("PRAGMA mmap_size = 4294967296")
        .unwrap();
    rusqlite::vtab::array::load_module(&connection).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT rowid, distance FROM vec_chunks WHERE embedding MATCH ?1 AND k = ?2
               AND rowid IN (SELECT c.id FROM rarray(?3) AS r
                             CROSS JOIN chunks AS c ON c.document = r.value AND c.indexed = 1)
             ORDER BY distance",
        )
        .unwrap();
    let bytes: &[u8] = bytemuck::cast_slice(query);
    let (ours, hand, ratio) = interleave(
        rounds,
        || {
            black_box(snapshot.knn_by(Route::Sql, aview1(query), 10).unwrap());
        },
        || {
            let visible = snapshot
                .view()
                .ordinals()
                .map(|at| rusqlite::types::Value::Integer(at.into()));
            let visible = std::rc::Rc::new(visible.collect::<Vec<_>>());
            let rows = statement.query_map(params![bytes, 10, visible], |row| row.get::<_, i64>(0));
            black_box(rows.unwrap().count());
        },
    );
    println!(
        "{grant:10} {:8} {:8.2} ms {:8.2} ms {ratio:8.3}",
        snapshot.view().len() as usize * CHUNKS,
        ms(ours),
        ms(hand)
    );
}

/// Both in turns: their medians, and the median of their ratios.
fn interleave(
    rounds: usize,
    mut a: impl FnMut(),
    mut b: impl FnMut(),
) -> (Duration, Duration, f64) {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let (mut of_a, mut of_b, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        // Whoever comes second finds the caches warmer.
        let (first, second) = if round % 2 == 0 {
            (time(&mut a), time(&mut b))
        } else {
            let second = time(&mut b);
            (time(&mut a), second)
        };
        ratios.push(first.as_secs_f64() / second.as_secs_f64());
        of_a.push(first);
        of_b.push(second);
    }
    of_a.sort();
    of_b.sort();
    ratios.sort_by(f64::total_cmp);
    (of_a[rounds / 2], of_b[rounds / 2], ratios[rounds / 2])
}

fn rate(rows: usize, spent: Duration) -> f64 {
    rows as f64 / spent.as_secs_f64()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
