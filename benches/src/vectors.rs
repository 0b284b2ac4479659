//! Made-up vectors in a store, under views of several breadths.

mod source;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use cornu_core::{
    Acl, ByteSpan, Chunk, ChunkId, ChunkIdParts, ChunkKind, ChunkRole, ContentHash, DocId,
    DocumentFacts, Fingerprint, LineSpan, Principal,
};
use cornu_eval::evidence::Row;
use cornu_eval::report::TableSpec;
use cornu_store::{Durability, Options, Snapshot, SqliteVecStore, StoreError};
use ndarray::{Array2, ArrayView1};

use crate::run::say;
use crate::table::{Bench, Part, Section};

use source::Source;
pub(crate) use source::{DIMENSION, Structure};

/// Hits that are asked for.
const K: usize = 10;
/// Rows of a document.
const ROWS: usize = 10;
/// Views of so many in a thousand of all documents, and the grant that opens them.
pub(crate) const VIEWS: [(usize, &str); 4] = [
    (1000, "all"),
    (500, "half"),
    (100, "tenth"),
    (10, "hundredth"),
];

/// Vectors of the full part, and questions on them.
const FULL: (usize, usize) = (100_000, 100);
const QUICK: (usize, usize) = (3000, 20);
/// Those of a large space.
const MILLION: (usize, usize) = (1_000_000, 40);

/// A section for each structure, a data set for each view.
pub(crate) fn sections_of_views(spec: impl Fn() -> TableSpec) -> [Section; 2] {
    [
        Section {
            title: "Clustered",
            about: "",
            datasets: &[
                "clustered-1000",
                "clustered-500",
                "clustered-100",
                "clustered-10",
            ],
            spec: spec(),
        },
        Section {
            title: "Without structure",
            about: "",
            datasets: &[
                "unstructured-1000",
                "unstructured-500",
                "unstructured-100",
                "unstructured-10",
            ],
            spec: spec(),
        },
    ]
}

/// Measures in a space of each structure, as large as the part of the table asks for; `measure` is
/// told how many vectors that is.
pub(crate) fn in_both_structures(
    bench: &Bench<'_>,
    measure: impl Fn(Structure, &Space, usize) -> Result<Vec<Row>>,
) -> Result<Vec<Row>> {
    let (count, questions) = match bench.part {
        Part::Full => FULL,
        Part::Quick => QUICK,
    };
    let mut rows = Vec::new();
    for structure in [Structure::Clustered, Structure::None] {
        let space = Space::build(structure, count, questions, bench.seed)?;
        rows.extend(measure(structure, &space, count)?);
        say(&format!("  {}: measured", structure.name()));
    }
    Ok(rows)
}

/// Measures in a space of a million vectors, which the full part alone has.
pub(crate) fn in_a_million(
    bench: &Bench<'_>,
    measure: impl Fn(&Space, usize) -> Result<Vec<Row>>,
) -> Result<Vec<Row>> {
    if bench.part == Part::Quick {
        return Ok(Vec::new());
    }
    let (count, questions) = MILLION;
    let space = Space::build(Structure::Clustered, count, questions, bench.seed)?;
    say("  a million: written");
    measure(&space, count)
}

/// What each system finds for each question, in each view: the view's data set, and the answers in
/// the order of the systems.
pub(crate) fn ask_in_views(
    name: &str,
    space: &Space,
    stores: &[SqliteVecStore],
) -> Result<Vec<(usize, String, Vec<Answers>)>> {
    let ask_in = |(share, grant): (usize, &str)| {
        let who = asker(grant)?;
        let snapshots = stores
            .iter()
            .map(|store| store.snapshot(&who))
            .collect::<Result<Vec<_>, _>>()?;
        let answers = ask(&snapshots, &space.questions)?;
        Ok((share, format!("{name}-{share}"), answers))
    };
    VIEWS.into_iter().map(ask_in).collect()
}

/// A store of such vectors, and questions that lie as they do.
pub(crate) struct Space {
    pub(crate) questions: Vec<Vec<f32>>,
    /// The mean of vectors of the same kind that are in no store.
    pub(crate) centre: Vec<f32>,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Space {
    pub(crate) fn build(
        structure: Structure,
        rows: usize,
        questions: usize,
        seed: u64,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("index.db");
        let options = Options {
            durability: Durability::ProcessKill,
            ..Options::default()
        };
        let store = SqliteVecStore::open(&path, &Fingerprint::new("made up"), DIMENSION, &options)?;
        let mut source = Source::new(structure, rows, seed);
        let documents = rows.div_ceil(ROWS);
        store.batch(|batch| {
            for at in 0..documents {
                let vectors = Array2::from_shape_fn((ROWS, DIMENSION), |_| 0.0);
                batch.upsert(&document(at, documents, vectors, &mut source)?)?;
            }
            Ok::<_, anyhow::Error>(())
        })?;
        store.prepare()?;
        let mut centre = vec![0.0; DIMENSION];
        for _ in 0..1000 {
            for (sum, x) in centre.iter_mut().zip(source.next()) {
                *sum += x / 1000.0;
            }
        }
        Ok(Self {
            questions: (0..questions).map(|_| source.next()).collect(),
            centre,
            path,
            _folder: folder,
        })
    }

    pub(crate) fn open(&self, options: &Options) -> Result<SqliteVecStore, StoreError> {
        SqliteVecStore::open_existing(&self.path, options)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The asker of a view.
fn asker(grant: &str) -> Result<Principal> {
    Ok(Principal::new([grant])?)
}

/// What each question finds, and the seconds that it took.
pub(crate) struct Answers {
    found: Vec<Vec<ChunkId>>,
    pub(crate) seconds: Vec<f64>,
}

/// Asks each question of all systems, in turn, after one that warms up.
fn ask(systems: &[Snapshot<'_>], questions: &[Vec<f32>]) -> Result<Vec<Answers>> {
    let none = || Answers {
        found: Vec::new(),
        seconds: Vec::new(),
    };
    let mut all: Vec<Answers> = systems.iter().map(|_| none()).collect();
    let first = questions.first().context("there are no questions")?;
    for system in systems {
        system.knn(ArrayView1::from(first), K)?;
    }
    for question in questions {
        for (system, answers) in systems.iter().zip(&mut all) {
            let start = Instant::now();
            let found = system.knn(ArrayView1::from(question), K)?;
            answers.seconds.push(start.elapsed().as_secs_f64());
            answers.found.push(found.ids().copied().collect());
        }
    }
    Ok(all)
}

/// The share of the true hits that was found, by question.
pub(crate) fn recall(found: &Answers, truth: &Answers) -> Vec<f64> {
    let pairs = found.found.iter().zip(&truth.found);
    pairs
        .map(|(found, truth)| {
            let hits = truth.iter().filter(|id| found.contains(id)).count();
            hits as f64 / truth.len().max(1) as f64
        })
        .collect()
}

/// Documents are opened by their place in a scattered order, so that exactly the share that a
/// view's name says is seen.
fn document(
    at: usize,
    documents: usize,
    mut vectors: Array2<f32>,
    source: &mut Source,
) -> Result<DocumentFacts> {
    let scattered = at * 7919 % documents.max(1);
    let grants = VIEWS
        .iter()
        .filter(|(share, _)| scattered * 1000 < share * documents);
    let acl = Acl::new(grants.map(|(_, grant)| *grant))?;
    let doc = DocId::new(&format!("{at:06}.md"))?;
    let mut chunks = Vec::with_capacity(ROWS);
    for (row, mut vector) in vectors.rows_mut().into_iter().enumerate() {
        vector.assign(&ArrayView1::from(&source.next()));
        let text = format!("row {row} of {at}");
        let span = ByteSpan::new(0, text.len())?;
        chunks.push(Chunk {
            id: ChunkId::derive(&ChunkIdParts {
                doc: &doc,
                chunker: "made up",
                kind: ChunkKind::Prose,
                heading_path: &[],
                index_text: &text,
                text: &text,
                ordinal: 0,
            }),
            doc: doc.clone(),
            kind: ChunkKind::Prose,
            role: ChunkRole::Indexed,
            parent: None,
            heading_path: Vec::new(),
            span,
            core: span,
            lines: LineSpan::new(1, 1)?,
            prefix: Vec::new(),
            language: None,
            index_text: text.clone(),
            tokens: 4,
            text,
        });
    }
    Ok(DocumentFacts {
        content: ContentHash::of(doc.as_str().as_bytes()),
        doc,
        acl,
        chunks,
        vectors,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_space_is_a_function_of_its_seed_and_views_are_as_broad_as_they_say() {
        let build = |seed| Space::build(Structure::Clustered, 1000, 3, seed).unwrap();
        let (one, other) = (build(1), build(1));
        assert_eq!(one.questions, other.questions);
        assert_ne!(one.questions, build(2).questions);
        let store = one.open(&Options::default()).unwrap();
        for (share, grant) in VIEWS {
            let snapshot = store.snapshot(&asker(grant).unwrap()).unwrap();
            assert_eq!(snapshot.view().len() as usize, share / 10);
        }
    }

    #[test]
    fn each_view_is_asked_by_somebody_who_sees_no_more() {
        let structure = Structure::Clustered;
        let space = Space::build(structure, 1000, 3, 1).unwrap();
        let stores = [(); 2].map(|()| space.open(&Options::default()).unwrap());
        let asked = ask_in_views(structure.name(), &space, &stores).unwrap();
        let names: Vec<&str> = asked.iter().map(|(_, name, _)| name.as_str()).collect();
        let spec = || TableSpec::new([]);
        assert_eq!(names, sections_of_views(spec)[0].datasets);
        for (share, name, answers) in &asked {
            assert_eq!(answers.len(), stores.len());
            let mut found: Vec<_> = answers.iter().flat_map(|one| &one.found).collect();
            assert!(found.iter().all(|hits| hits.len() == K), "{name}");
            found.dedup_by_key(|hits| hits.iter().collect::<BTreeSet<_>>());
            // Ten rows in a thousand are all that there is to find.
            assert_eq!(found.len() == 1, *share == 10, "{name}");
        }
    }
}
