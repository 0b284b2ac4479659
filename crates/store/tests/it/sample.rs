//! Small facts made by hand, and stores in folders that go with the test.

use std::path::{Path, PathBuf};

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{
    Acl, ByteSpan, Change, Chunk, ChunkId, ChunkIdParts, ChunkKind, ChunkRole, ContentHash, DocId,
    DocumentFacts, FactStore, Fingerprint, LineSpan, Principal, Ranking, View,
};
use cornu_store::{Durability, Options, Route, SqliteVecStore, StoreError};
use ndarray::{Array2, ArrayView1};
use tempfile::TempDir;

/// A store with the folder that it lives in.
pub(crate) struct Home {
    store: SqliteVecStore,
    folder: TempDir,
    before_view: fn(&SqliteVecStore),
}

impl Home {
    pub(crate) fn new(dimension: usize, route: Route) -> Self {
        Self::with(dimension, &options(route))
    }

    pub(crate) fn with(dimension: usize, options: &Options) -> Self {
        let folder = folder();
        let path = folder.path().join("index.db");
        let store = SqliteVecStore::open(path, &fingerprint(), dimension, options).unwrap();
        Self {
            store,
            folder,
            before_view: |_| {},
        }
    }

    /// Does something before each view is taken.
    pub(crate) fn before_view(self, work: fn(&SqliteVecStore)) -> Self {
        Self {
            before_view: work,
            ..self
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("index.db")
    }

    /// The same file, opened once more.
    pub(crate) fn again(&self, options: &Options) -> SqliteVecStore {
        SqliteVecStore::open(self.path(), &fingerprint(), self.store.dimension(), options).unwrap()
    }

    /// Closes the store and keeps the folder.
    pub(crate) fn close(self) -> TempDir {
        drop(self.store);
        self.folder
    }
}

impl std::ops::Deref for Home {
    type Target = SqliteVecStore;
    fn deref(&self) -> &SqliteVecStore {
        &self.store
    }
}

impl FactStore for Home {
    type Error = StoreError;
    fn upsert(&self, facts: &DocumentFacts) -> Result<Change, StoreError> {
        self.store.upsert(facts)
    }
    fn remove(&self, doc: &DocId) -> Result<bool, StoreError> {
        self.store.remove(doc)
    }
    fn view(&self, principal: &Principal) -> Result<View, StoreError> {
        (self.before_view)(&self.store);
        self.store.view(principal)
    }
    fn documents(&self, view: &View) -> Result<Vec<DocId>, StoreError> {
        self.store.documents(view)
    }
    fn chunk(&self, view: &View, id: &ChunkId) -> Result<Option<Chunk>, StoreError> {
        self.store.chunk(view, id)
    }
    fn knn(
        &self,
        view: &View,
        query: ArrayView1<'_, f32>,
        k: usize,
    ) -> Result<Ranking<ChunkId>, StoreError> {
        self.store.knn(view, query, k)
    }
}

/// What a commit does now and then.
pub(crate) fn settle(store: &SqliteVecStore) {
    rusqlite::Connection::open(store.path())
        .unwrap()
        .execute_batch(
            "BEGIN IMMEDIATE;
             INSERT INTO chunk_ids SELECT chunk, id FROM new_chunk_ids;
             DELETE FROM new_chunk_ids;
             COMMIT;",
        )
        .unwrap();
}

/// A folder in memory where there is one: the tests make thousands of files.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(folder) = tempfile::tempdir_in(memory)
    {
        return folder;
    }
    tempfile::tempdir().unwrap()
}

pub(crate) fn fingerprint() -> Fingerprint {
    Fingerprint::new("test model").with("pooling", "mean")
}

pub(crate) fn options(route: Route) -> Options {
    Options {
        route,
        readers: 2,
        durability: Durability::ProcessKill,
        ..Options::default()
    }
}

/// A document of one line a vector; the vectors are made unit vectors.
pub(crate) fn document(name: &str, grants: &[&str], rows: &[&[f32]]) -> DocumentFacts {
    worded(name, grants, rows, "line")
}

pub(crate) fn worded(name: &str, grants: &[&str], rows: &[&[f32]], word: &str) -> DocumentFacts {
    let doc = DocId::new(name).unwrap();
    let texts: Vec<String> = (0..rows.len())
        .map(|at| format!("{word} {at} of {name}"))
        .collect();
    let chunks = texts
        .iter()
        .enumerate()
        .map(|(at, text)| chunk(&doc, text, at))
        .collect();
    let dimension = rows.first().map_or(2, |row| row.len());
    let mut vectors = Array2::zeros((rows.len(), dimension));
    for (mut to, from) in vectors.rows_mut().into_iter().zip(rows) {
        let norm = from
            .iter()
            .map(|x| f64::from(*x).powi(2))
            .sum::<f64>()
            .sqrt();
        for (to, from) in to.iter_mut().zip(*from) {
            *to = (f64::from(*from) / norm) as f32;
        }
    }
    DocumentFacts {
        content: ContentHash::of(texts.concat().as_bytes()),
        doc,
        acl: Acl::new(grants).unwrap(),
        chunks,
        vectors,
    }
}

pub(crate) fn chunk(doc: &DocId, text: &str, line: usize) -> Chunk {
    let heading_path = vec!["Guide".to_owned(), "Part".to_owned()];
    Chunk {
        id: ChunkId::derive(&ChunkIdParts {
            doc,
            chunker: "sample",
            kind: ChunkKind::Prose,
            heading_path: &heading_path,
            index_text: text,
            text,
            ordinal: line as u32,
        }),
        doc: doc.clone(),
        kind: ChunkKind::Prose,
        role: ChunkRole::Indexed,
        parent: None,
        heading_path,
        span: ByteSpan::new(0, text.len()).unwrap(),
        core: ByteSpan::new(0, text.len()).unwrap(),
        lines: LineSpan::new(line + 1, line + 1).unwrap(),
        prefix: vec![],
        language: None,
        text: text.to_owned(),
        index_text: text.to_owned(),
        tokens: text.len(),
    }
}

pub(crate) fn reader(grants: &[&str]) -> Principal {
    Principal::new(grants).unwrap()
}

pub(crate) fn public() -> Principal {
    Principal::public()
}

/// Ids and the bits of their scores.
pub(crate) fn bits(ranking: &Ranking<ChunkId>) -> Vec<(ChunkId, u64)> {
    ranking
        .iter()
        .map(|hit| (hit.id, hit.score.to_bits()))
        .collect()
}

/// The three routes that have a name.
pub(crate) const ROUTES: [Route; 3] = [Route::Sql, Route::Resident, Route::Facts];

/// The documents of the hits, by rank.
pub(crate) fn docs_of(store: &SqliteVecStore, view: &View, hits: &Ranking<ChunkId>) -> Vec<String> {
    let chunk = |id| store.chunk(view, id).unwrap().unwrap();
    hits.ids().map(|id| chunk(id).doc.to_string()).collect()
}

/// Fewer cases where each makes several files.
pub(crate) fn few(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Numbers from a seed (splitmix64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn vector(&mut self, dimension: usize) -> Vec<f32> {
        let value = |bits: u64| (bits >> 40) as f32 / (1u64 << 23) as f32 - 1.0 + 1e-6;
        (0..dimension).map(|_| value(self.next())).collect()
    }

    /// A document with up to five rows, some of which stand in other documents too.
    pub(crate) fn document(&mut self, name: &str, dimension: usize) -> DocumentFacts {
        let grants: &[&[&str]] = &[
            &["public"],
            &["hr"],
            &["ops", "hr"],
            &["public", "ops"],
            &[],
        ];
        let rows: Vec<Vec<f32>> = (0..self.below(6))
            .map(|_| match self.below(3) {
                0 => (0..dimension)
                    .map(|at| if at == 0 { 1.0 } else { 0.0 })
                    .collect(),
                _ => self.vector(dimension),
            })
            .collect();
        let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        let word = format!("word {}", self.below(1000));
        let mut facts = worded(name, grants[self.below(grants.len())], &rows, &word);
        if rows.is_empty() {
            facts.vectors = Array2::zeros((0, dimension));
        }
        facts
    }
}
