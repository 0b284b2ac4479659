//! The approximate graph beside usearch and hnsw_rs: the same vectors, M = 16 and efConstruction =
//! 128, all of them asked the same questions in turn by one thread.
//!
//! `cargo run --release --bin hnsw -- [ROWS [ROUNDS]] [clustered] [unstructured] [VECTORS QUESTIONS] [alone]`,
//! by default 100000 rows, 3 rounds, and vectors of both structures. VECTORS and QUESTIONS are two
//! files of f32 rows of 384, asked besides; their names end in `.f32`. With `alone` there are no
//! peers. Graphs are built by as many threads as there are cores, or as `RAYON_NUM_THREADS` says.
//!
//! *usearch* and *hnsw_rs* keep and compare f32 rows. *usearch i8* keeps 8 bits a component, as
//! ours does; it is asked for ef rows, which are then scored again with the f32 rows, as ours does.

#[path = "../../../../crates/store/benches/rows/mod.rs"]
#[expect(dead_code, reason = "the vectors are others")]
mod rows;
#[path = "../../../src/vectors/source.rs"]
mod source;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use cornu_core::{Acl, ChunkId, DocumentFacts, Fingerprint, Principal};
use cornu_peers::{overlap, timed};
use cornu_store::{Approximate, Durability, Hnsw, Options, Route, SqliteVecStore, StoreError};
use hnsw_rs::prelude::{DistDot, Hnsw as HnswRs};
use ndarray::{Array2, aview1};
use rayon::prelude::*;
use source::{DIMENSION, Source, Structure};
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

const K: usize = 10;
const LINKS: usize = 16;
const BUILD_EF: usize = 128;
const EFS: [usize; 7] = [8, 16, 32, 64, 128, 256, 512];
/// Rows of a document.
const CHUNKS: usize = 10;
/// One document in so many, the grant that opens it, and one question in so many that is asked: a
/// walk takes the longer the fewer rows are wanted.
const VIEWS: [(usize, &str, usize); 4] = [
    (1, "all", 1),
    (2, "half", 1),
    (10, "tenth", 2),
    (100, "hundredth", 10),
];
const QUESTIONS: usize = 100;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let (rows, rounds) = (
        numbers.first().copied().unwrap_or(100_000),
        numbers.get(1).copied().unwrap_or(3),
    );
    println!(
        "best {K}, M = {LINKS}, efConstruction = {BUILD_EF}, {rounds} rounds; built by {} threads, \
         asked by one; usearch {} with {}",
        rayon::current_num_threads(),
        usearch::version(),
        usearch::hardware_acceleration_available()
    );
    let alone = arguments.iter().any(|a| a == "alone");
    let files: Vec<&String> = arguments.iter().filter(|a| a.ends_with(".f32")).collect();
    ensure!(
        matches!(files.len(), 0 | 2),
        "vectors and questions are two files, {} given",
        files.len()
    );
    if let [vectors, questions] = *files.as_slice() {
        let name = Path::new(vectors).file_name().unwrap_or_default();
        let mut questions = read(questions)?;
        questions.truncate(QUESTIONS * DIMENSION);
        compare(
            &name.to_string_lossy(),
            &read(vectors)?,
            &questions,
            rounds,
            alone,
        )?;
    }
    let structures = [Structure::Clustered, Structure::None];
    let named = |one: &Structure| arguments.iter().any(|a| a == one.name());
    let any = structures.iter().any(named);
    for structure in structures.into_iter().filter(|one| !any || named(one)) {
        let mut source = Source::new(structure, rows, 42);
        let all: Vec<f32> = (0..rows).flat_map(|_| source.next()).collect();
        let questions: Vec<f32> = (0..QUESTIONS).flat_map(|_| source.next()).collect();
        compare(structure.name(), &all, &questions, rounds, alone)?;
    }
    Ok(())
}

fn read(path: &str) -> Result<Vec<f32>> {
    let bytes = std::fs::read(path).with_context(|| path.to_owned())?;
    ensure!(
        bytes.len().is_multiple_of(4 * DIMENSION),
        "{path} does not hold rows of {DIMENSION} numbers in f32"
    );
    let (numbers, _) = bytes.as_chunks::<4>();
    Ok(numbers
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect())
}

/// A graph that finds the best rows that are wanted, nearest first.
trait Peer {
    fn name(&self) -> &'static str;
    /// Tells it about the view, in time that is not counted.
    fn see(&mut self, view: &View) -> Result<()>;
    fn search(&self, query: &[f32], ef: usize, view: &View) -> Result<Vec<u32>>;
}

struct View {
    grant: &'static str,
    share: usize,
}

impl View {
    fn holds(&self, row: usize) -> bool {
        (row / CHUNKS).is_multiple_of(self.share)
    }
}

fn compare(name: &str, all: &[f32], questions: &[f32], rounds: usize, alone: bool) -> Result<()> {
    let rows = all.len() / DIMENSION;
    println!("\n{name}: {rows} rows x {DIMENSION}\nbuilding       seconds  bytes a vector");
    let (ours, exact) = Ours::build(all)?;
    let mut peers: Vec<Box<dyn Peer + '_>> = vec![Box::new(ours)];
    if !alone {
        peers.push(Box::new(Usearch::build("usearch", ScalarKind::F32, all)?));
        peers.push(Box::new(Usearch::build("usearch i8", ScalarKind::I8, all)?));
        peers.push(Box::new(HnswRsPeer::build(all)));
    }
    for (share, grant, one_in) in VIEWS {
        let view = View { grant, share };
        let asked: Vec<&[f32]> = questions.chunks_exact(DIMENSION).step_by(one_in).collect();
        let truth = asked
            .iter()
            .map(|query| exact.exactly(query, &view))
            .collect::<Result<Vec<_>>>()?;
        peers.iter_mut().try_for_each(|peer| peer.see(&view))?;
        println!(
            "\nview of {grant}, {} questions      recall@10      QPS [least, most]        p99",
            asked.len()
        );
        for ef in EFS {
            let mut lines = vec![Line::default(); peers.len()];
            // The first round warms up, and counts for recall alone.
            for round in 0..=rounds {
                for step in 0..peers.len() {
                    let at = (step + round) % peers.len();
                    let (peer, line) = (&peers[at], &mut lines[at]);
                    let mut spent = 0.0;
                    for (query, truth) in asked.iter().zip(&truth) {
                        let (found, seconds) = timed(|| peer.search(query, ef, &view));
                        spent += seconds;
                        if round == 0 {
                            line.recall += overlap(truth, &found?) / asked.len() as f64;
                        } else {
                            line.seconds.push(seconds);
                        }
                    }
                    if round > 0 {
                        line.qps.push(asked.len() as f64 / spent);
                    }
                }
            }
            for (peer, line) in peers.iter().zip(&mut lines) {
                line.print(&format!("ef {ef:3}  {}", peer.name()));
            }
        }
    }
    Ok(())
}

#[derive(Clone, Default)]
struct Line {
    recall: f64,
    /// Of each round.
    qps: Vec<f64>,
    /// Of each question and round.
    seconds: Vec<f64>,
}

impl Line {
    fn print(&mut self, what: &str) {
        self.qps.sort_unstable_by(f64::total_cmp);
        self.seconds.sort_unstable_by(f64::total_cmp);
        let at = |all: &[f64], part: f64| {
            let place = (all.len() as f64 * part) as usize;
            let place = place.min(all.len().saturating_sub(1));
            all.get(place).copied().unwrap_or(f64::NAN)
        };
        println!(
            "{what:20} {:10.1} % {:10.0} [{:.0}, {:.0}] {:12.3} ms",
            100.0 * self.recall,
            at(&self.qps, 0.5),
            at(&self.qps, 0.0),
            at(&self.qps, 1.0),
            1e3 * at(&self.seconds, 0.99)
        );
    }
}

fn built(name: &str, seconds: f64, bytes: usize, rows: usize) {
    println!(
        "{name:12} {seconds:9.1} {:12.0}",
        bytes as f64 / rows as f64
    );
}

/// A store for each breadth over one file.
struct Ours {
    by_ef: BTreeMap<usize, SqliteVecStore>,
    rows: BTreeMap<ChunkId, u32>,
    _folder: tempfile::TempDir,
}

/// The exact scan, which says what is true.
struct Exact {
    store: SqliteVecStore,
    rows: BTreeMap<ChunkId, u32>,
}

impl Ours {
    fn build(all: &[f32]) -> Result<(Self, Exact)> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("index.db");
        let options = Options {
            durability: Durability::ProcessKill,
            route: Route::Resident,
            ..Options::default()
        };
        let store = SqliteVecStore::open(&path, &Fingerprint::new("peers"), DIMENSION, &options)?;
        let rows = write(&store, all)?;
        store.prepare()?;
        let walked = |ef| Options {
            approximate: Approximate::Hnsw(Hnsw {
                links: LINKS,
                build_ef: BUILD_EF,
                ef: Some(ef),
                narrow_per_mille: 0,
                ..Hnsw::default()
            }),
            ..options.clone()
        };
        let builder = SqliteVecStore::open_existing(&path, &walked(K))?;
        let (done, seconds) = timed(|| builder.build_graph());
        done?;
        let bytes =
            |ending: &str| Ok::<_, std::io::Error>(path.with_extension(ending).metadata()?.len());
        let held = bytes("db.hnsw")? + bytes("db.vec")?;
        built("cornu", seconds, held as usize, rows.len());
        let open = |ef| Ok((ef, SqliteVecStore::open_existing(&path, &walked(ef))?));
        let ours = Self {
            by_ef: EFS.into_iter().map(open).collect::<Result<_>>()?,
            rows: rows.clone(),
            _folder: folder,
        };
        Ok((ours, Exact { store, rows }))
    }
}

impl Peer for Ours {
    fn name(&self) -> &'static str {
        "cornu"
    }

    fn see(&mut self, view: &View) -> Result<()> {
        let query = vec![1.0; DIMENSION];
        let mut stores = self.by_ef.values();
        stores.try_for_each(|store| ask(store, &self.rows, &query, view).map(drop))
    }

    fn search(&self, query: &[f32], ef: usize, view: &View) -> Result<Vec<u32>> {
        ask(
            self.by_ef.get(&ef).context("no such ef")?,
            &self.rows,
            query,
            view,
        )
    }
}

impl Exact {
    fn exactly(&self, query: &[f32], view: &View) -> Result<Vec<u32>> {
        ask(&self.store, &self.rows, query, view)
    }
}

fn ask(
    store: &SqliteVecStore,
    rows: &BTreeMap<ChunkId, u32>,
    query: &[f32],
    view: &View,
) -> Result<Vec<u32>> {
    let snapshot = store.snapshot(&Principal::new([view.grant])?)?;
    let found = snapshot.knn(aview1(query), K)?;
    Ok(found.ids().filter_map(|id| rows.get(id).copied()).collect())
}

fn write(store: &SqliteVecStore, all: &[f32]) -> Result<BTreeMap<ChunkId, u32>> {
    let mut rows = BTreeMap::new();
    for (group, part) in all.chunks(200 * CHUNKS * DIMENSION).enumerate() {
        let documents = part.chunks(CHUNKS * DIMENSION).enumerate();
        let facts = documents
            .map(|(at, values)| document(group * 200 + at, values))
            .collect::<Result<Vec<_>>>()?;
        for chunk in facts.iter().flat_map(|facts| &facts.chunks) {
            rows.insert(chunk.id, u32::try_from(rows.len())?);
        }
        store.batch(|batch| {
            for facts in &facts {
                batch.upsert(facts)?;
            }
            Ok::<_, StoreError>(())
        })?;
    }
    Ok(rows)
}

fn document(at: usize, values: &[f32]) -> Result<DocumentFacts> {
    let rows = values.len() / DIMENSION;
    let grants = VIEWS
        .iter()
        .filter(|(share, ..)| at.is_multiple_of(*share))
        .map(|(_, grant, _)| *grant);
    let document = rows::Document {
        name: format!("{at:07}.md"),
        version: at,
        heading: &[],
        texts: (0..rows).map(|place| format!("{at} {place}")).collect(),
        acl: Acl::new(grants)?,
        vectors: Array2::from_shape_vec((rows, DIMENSION), values.to_vec())?,
    };
    Ok(document.facts())
}

struct Usearch<'v> {
    name: &'static str,
    index: Index,
    /// The rows by which what was found is scored again.
    again: Option<&'v [f32]>,
}

impl<'v> Usearch<'v> {
    fn build(name: &'static str, quantization: ScalarKind, all: &'v [f32]) -> Result<Self> {
        let index = Index::new(&IndexOptions {
            dimensions: DIMENSION,
            metric: MetricKind::IP,
            quantization,
            connectivity: LINKS,
            expansion_add: BUILD_EF,
            expansion_search: K,
            multi: false,
        })?;
        let rows = all.len() / DIMENSION;
        index.reserve_capacity_and_threads(rows, rayon::current_num_threads())?;
        let (done, seconds) = timed(|| {
            let rows = all.par_chunks_exact(DIMENSION).enumerate();
            rows.try_for_each(|(at, row)| index.add(at as u64, row))
        });
        done?;
        built(name, seconds, index.memory_usage(), rows);
        let again = (quantization != ScalarKind::F32).then_some(all);
        Ok(Self { name, index, again })
    }
}

impl Peer for Usearch<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn see(&mut self, _: &View) -> Result<()> {
        Ok(())
    }

    fn search(&self, query: &[f32], ef: usize, view: &View) -> Result<Vec<u32>> {
        let count = if self.again.is_some() { ef.max(K) } else { K };
        self.index.change_expansion_search(ef.max(K));
        let found = if view.share == 1 {
            self.index.search(query, count)?
        } else {
            let wanted = |row| view.holds(row as usize);
            self.index.filtered_search(query, count, wanted)?
        };
        let mut found: Vec<u32> = found.keys.iter().map(|key| *key as u32).collect();
        if let Some(rows) = self.again {
            let score = |row: &u32| {
                let start = *row as usize * DIMENSION;
                let row = rows.get(start..start + DIMENSION).unwrap_or_default();
                let pairs = row.iter().zip(query);
                pairs
                    .map(|(x, q)| f64::from(*x) * f64::from(*q))
                    .sum::<f64>()
            };
            let mut scored: Vec<(f64, u32)> = found.iter().map(|row| (score(row), *row)).collect();
            scored.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
            found = scored.into_iter().take(K).map(|(_, row)| row).collect();
        }
        Ok(found)
    }
}

struct HnswRsPeer<'v> {
    graph: HnswRs<'v, f32, DistDot>,
}

impl<'v> HnswRsPeer<'v> {
    fn build(all: &'v [f32]) -> Self {
        let rows = all.len() / DIMENSION;
        let before = resident_bytes();
        let mut graph = HnswRs::new(LINKS, rows, 16, BUILD_EF, DistDot);
        let with_numbers: Vec<(&[f32], usize)> = all.chunks_exact(DIMENSION).zip(0..).collect();
        let ((), seconds) = timed(|| graph.parallel_insert_slice(&with_numbers));
        graph.set_searching_mode(true);
        built(
            "hnsw_rs",
            seconds,
            resident_bytes().saturating_sub(before),
            rows,
        );
        Self { graph }
    }
}

impl Peer for HnswRsPeer<'_> {
    fn name(&self) -> &'static str {
        "hnsw_rs"
    }

    fn see(&mut self, _: &View) -> Result<()> {
        Ok(())
    }

    fn search(&self, query: &[f32], ef: usize, view: &View) -> Result<Vec<u32>> {
        let found = if view.share == 1 {
            self.graph.search(query, K, ef)
        } else {
            let wanted = |row: &usize| view.holds(*row);
            self.graph.search_filter(query, K, ef, Some(&wanted))
        };
        Ok(found.iter().map(|near| near.d_id as u32).collect())
    }
}

/// What this process holds in memory: hnsw_rs does not tell.
fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split_whitespace().nth(1).and_then(|n| n.parse().ok());
    pages.unwrap_or(0_usize) * 4096
}
