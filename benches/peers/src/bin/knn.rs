//! The nearest ten under a view beside faiss (flat) and sqlite-vec's Python package, in turns.
//!
//! `CORNU_PYTHON=PYTHON cargo run --release --bin knn -- [ROWS [DIMENSION [ROUNDS]]]`, by default 100000 384 7.
//! Views hold all rows, 50, 10 and 1 %. All use as many threads as there are cores, but for
//! sqlite-vec, which has one.

#[path = "../../../../crates/store/benches/rows/mod.rs"]
mod rows;

use anyhow::{Context, Result};
use cornu_core::{Acl, DocumentFacts, Fingerprint, Principal};
use cornu_peers::{Python, median_us, timed};
use cornu_store::{Options, Route, SqliteVecStore, StoreError};
use ndarray::{Array2, aview1};
use serde_json::json;

use rows::vector;

const K: usize = 10;
/// Rows of a document.
const CHUNKS: usize = 10;
const VIEWS: [(&str, usize); 4] = [("all", 1), ("half", 2), ("tenth", 10), ("hundredth", 100)];

fn main() -> Result<()> {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let get = |at: usize, default| numbers.get(at).copied().unwrap_or(default);
    let (rows, dimension, rounds) = (get(0, 100_000), get(1, 384), get(2, 7));
    println!("{rows} rows x {dimension}, best {K}, {rounds} rounds");

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("vectors.f32");
    let mut raw = Vec::with_capacity(rows * dimension);
    for row in 0..rows {
        raw.extend(vector(row as u64, dimension));
    }
    std::fs::write(&file, bytemuck::cast_slice(&raw))?;
    let mut python = Python::start(&[
        "knn",
        file.to_str().context("a path")?,
        &dimension.to_string(),
    ])?;
    for peer in ["faiss", "sqlite-vec"] {
        let built = python.ask(&json!({ "run": "build", "peer": peer }))?;
        println!(
            "built: {peer} {:.2} s",
            built["seconds"].as_f64().unwrap_or(f64::NAN)
        );
    }
    let path = folder.path().join("index.db");
    let store = SqliteVecStore::open(
        &path,
        &Fingerprint::new("peers"),
        dimension,
        &Options::default(),
    )?;
    let (written, seconds) = timed(|| write(&store, &raw, dimension));
    written?;
    println!("built: cornu-store {seconds:.2} s (rows, texts, vectors, one commit in 2,000)");
    store.prepare()?;
    store.rebuild_index()?;

    let queries: Vec<Vec<f32>> = (0..20)
        .map(|at| vector(12_345_678 + at, dimension))
        .collect();
    println!(
        "view          rows    cornu     by SQL     faiss   ratio   sqlite-vec   ratio   equal"
    );
    for (grant, share) in VIEWS {
        let snapshot = store.snapshot(&Principal::new([grant])?)?;
        let visible: Vec<usize> = (0..rows)
            .filter(|row| (row / CHUNKS).is_multiple_of(share))
            .collect();
        python.ask(&json!({ "run": "view", "chunks": CHUNKS, "share": share }))?;
        let (mut of, mut equal) = ([const { Vec::new() }; 4], 0);
        for round in 0..=rounds {
            let mut times = [const { Vec::new() }; 4];
            for query in &queries {
                for (at, route) in [Route::Resident, Route::Sql].into_iter().enumerate() {
                    let (found, seconds) = timed(|| snapshot.knn_by(route, aview1(query), K));
                    found?;
                    times[at].push(seconds);
                }
                for (at, peer) in ["faiss", "sqlite-vec"].into_iter().enumerate() {
                    let found = python
                        .ask(&json!({ "run": "search", "peer": peer, "query": query, "k": K }))?;
                    times[2 + at].push(found["seconds"].as_f64().context("seconds")?);
                    if round == 0 {
                        let theirs: Vec<f64> =
                            serde_json::from_value(found["similarities"].clone())?;
                        let ours = snapshot.knn(aview1(query), K)?;
                        let near = |(hit, theirs): (f64, &f64)| (hit - theirs).abs() < 1e-5;
                        equal += usize::from(
                            ours.len() == theirs.len()
                                && ours.iter().map(|hit| hit.score).zip(&theirs).all(near),
                        );
                    }
                }
            }
            if round > 0 {
                for (all, one) in of.iter_mut().zip(&mut times) {
                    all.push(median_us(one) / 1e3);
                }
            }
        }
        let middle =
            |times: &[f64]| median_us(&mut times.iter().map(|ms| ms / 1e6).collect::<Vec<_>>());
        let ratio = |theirs: &[f64], ours: &[f64]| {
            let mut ratios: Vec<f64> = theirs.iter().zip(ours).map(|(a, b)| a / b).collect();
            ratios.sort_unstable_by(f64::total_cmp);
            ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
        };
        println!(
            "{grant:10} {:8} {:7.2} ms {:7.2} ms {:7.2} ms {:6.2} {:9.2} ms {:6.2} {:4} of {}",
            visible.len(),
            middle(&of[0]),
            middle(&of[1]),
            middle(&of[2]),
            ratio(&of[2], &of[0]),
            middle(&of[3]),
            ratio(&of[3], &of[1]),
            equal,
            2 * queries.len(),
        );
    }
    println!(
        "ratios: faiss / cornu's resident scan, sqlite-vec / cornu by SQL; above 1, cornu is faster"
    );
    Ok(())
}

fn write(store: &SqliteVecStore, raw: &[f32], dimension: usize) -> Result<()> {
    for (group, part) in raw.chunks(200 * CHUNKS * dimension).enumerate() {
        let documents = part.chunks(CHUNKS * dimension).enumerate();
        let facts = documents
            .map(|(at, values)| document(group * 200 + at, values, dimension))
            .collect::<Result<Vec<_>>>()?;
        store.batch(|batch| {
            for facts in &facts {
                batch.upsert(facts)?;
            }
            Ok::<_, StoreError>(())
        })?;
    }
    Ok(())
}

fn document(at: usize, values: &[f32], dimension: usize) -> Result<DocumentFacts> {
    let rows = values.len() / dimension;
    let grants = VIEWS
        .iter()
        .filter(|(_, share)| at.is_multiple_of(*share))
        .map(|(grant, _)| *grant);
    let document = rows::Document {
        name: format!("{at}.md"),
        version: at,
        heading: &[],
        texts: (0..rows).map(|place| format!("{at} {place}")).collect(),
        acl: Acl::new(grants)?,
        vectors: Array2::from_shape_vec((rows, dimension), values.to_vec())?,
    };
    Ok(document.facts())
}
