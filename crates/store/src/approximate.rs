//! The approximate index: when it is built, measured, read and thrown away.

use std::sync::Arc;

use ndarray::ArrayView2;
use parking_lot::Mutex;

use crate::artifact::ArtifactFile;
use crate::codes::encode;
use crate::error::StoreError;
use crate::graph::{
    self, Attached, Document, Graph, Net, Probe, Rung, Shape, climb, documents_of, held_back,
};
use crate::options::{Approximate, Hnsw};
use crate::read::Reader;
use crate::resident::{Damaged, Resident, half};
use crate::score::Query;
use crate::snapshot::Reading;
use crate::sqlite::schema::State;
use crate::store::SqliteVecStore;

/// What a store holds of its graph.
#[derive(Default)]
pub(crate) struct Graphs {
    /// The state that the file was last looked at for, and the graph beside its vectors if there is
    /// one.
    attached: Mutex<Option<(State, Option<Arc<Attached>>)>>,
    /// Held by who builds.
    building: Mutex<()>,
}

impl SqliteVecStore {
    /// Builds the graph of the present state anew, measures it with some of its rows for questions,
    /// and puts its file beside the database. [`prepare`](Self::prepare) does so when it is needed.
    ///
    /// O(vectors · log vectors) comparisons, on all cores; table `hnsw` has the time for 100,000
    /// vectors. D + 8 · links + 12 bytes a vector while it is built, and in the file. No file where
    /// the store holds no vectors.
    ///
    /// # Errors
    /// [`StoreError::Options`] where the store was opened without
    /// [`Approximate::Hnsw`], and as [`prepare`](Self::prepare).
    ///
    /// ```
    /// # use cornu_core::*;
    /// # use cornu_store::{Approximate, Hnsw, Options, SqliteVecStore};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let options = Options {
    ///     approximate: Approximate::Hnsw(Hnsw::default()),
    ///     ..Options::default()
    /// };
    /// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &options)?;
    /// store.build_graph()?;
    /// assert!(store.graph_ladder()?.is_empty()); // nothing was written, so there is no graph
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_graph(&self) -> Result<(), StoreError> {
        let options = self.hnsw()?;
        let _turn = self.graphs.building.lock();
        self.with_vectors(|state, resident| {
            let shape = Shape {
                dimension: self.dimension(),
                links: options.links,
                build_ef: options.build_ef,
            };
            let rows = resident.rows()?;
            let held = held_back(rows.len());
            let (built, ladder) = graph::build(shape, &rows, held, |net, out| {
                climb(net, &rows, &Probe::of_rows(&rows, out)?, out)
            })?;
            Ok(self.keep_graph(state, resident, built.net(), &ladder))
        })?
    }

    /// Measures the graph with questions of the caller's, of shape (questions, D), in place of rows
    /// that its build held back: real questions lie elsewhere than what answers them. What is measured is kept
    /// in the file, and decides from then on how broad a search has to be.
    ///
    /// O(questions · vectors · D), on all cores.
    ///
    /// # Errors
    /// [`StoreError::Options`] where there is no graph of the present state or no question;
    /// [`StoreError`] for questions of another dimension or no direction.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a view is a reference, as in `knn`"
    )]
    pub fn calibrate_graph(&self, questions: ArrayView2<'_, f32>) -> Result<Vec<Rung>, StoreError> {
        self.hnsw()?;
        let problem = |problem: &str| StoreError::Options {
            problem: problem.to_owned(),
        };
        if questions.is_empty() {
            return Err(problem("no question to measure the graph with; give some"));
        }
        let query = |row| Query::new(&row, self.dimension()).map(Probe::of_query);
        let probes: Vec<Probe> = questions
            .rows()
            .into_iter()
            .map(query)
            .collect::<Result<_, _>>()?;
        let _turn = self.graphs.building.lock();
        self.with_vectors(|state, resident| {
            let graph = graph::load(self.graph_file().path(), self.identity());
            let Some(graph) = graph.filter(|graph| graph.state == state) else {
                return Ok(Err(problem(
                    "there is no graph of the present state; build it first",
                )));
            };
            let ladder = climb(graph.net(), &resident.rows()?, &probes, &[])?;
            let kept = self.keep_graph(state, resident, graph.net(), &ladder);
            Ok(kept.map(|()| ladder))
        })?
    }

    /// What was measured on the graph: for each breadth of a search its recall@10 against the exact
    /// search. Empty where there is no graph, and where it has fewer than ten rows, of which none is
    /// held back. Reads the whole file.
    ///
    /// # Errors
    /// None at present.
    pub fn graph_ladder(&self) -> Result<Vec<Rung>, StoreError> {
        let graph = graph::load(self.graph_file().path(), self.identity());
        Ok(graph.map_or_else(Vec::new, |graph| graph.ladder))
    }

    fn hnsw(&self) -> Result<Hnsw, StoreError> {
        match self.options().approximate {
            Approximate::Hnsw(options) => Ok(options),
            Approximate::Never => Err(StoreError::Options {
                problem: "the store was opened without an approximate index; open it with \
                          `Approximate::Hnsw`"
                    .to_owned(),
            }),
        }
    }

    /// Work over the vectors of the present state, without a transaction: it may take minutes.
    fn with_vectors<T>(
        &self,
        work: impl Fn(State, &Resident) -> Result<T, Damaged>,
    ) -> Result<T, StoreError> {
        self.writer().map(drop)?;
        for _ in 0..2 {
            let reading = Reading::begin(self)?;
            let state = reading.state;
            let resident = reading.read(|reader| self.resident(reader, state))?;
            drop(reading);
            match work(state, &resident) {
                Ok(done) => return Ok(done),
                // The file is damaged, which the facts are not.
                Err(Damaged) => self.discard_resident(),
            }
        }
        Err(StoreError::corrupted(
            self.path(),
            "its vectors cannot be read",
        ))
    }

    fn keep_graph(
        &self,
        state: State,
        resident: &Resident,
        net: Net<'_>,
        ladder: &[Rung],
    ) -> Result<(), StoreError> {
        let file = self.graph_file();
        *self.graphs.attached.lock() = None;
        let documents = documents_of(resident).filter(|documents| !documents.is_empty());
        let Some(documents) = documents else {
            file.discard();
            return Ok(());
        };
        graph::save(&file, self.identity(), state, &documents, net, ladder)
    }

    fn graph_file(&self) -> ArtifactFile {
        self.artifact(graph::SUFFIX)
    }

    pub(crate) fn discard_graph(&self) {
        *self.graphs.attached.lock() = None;
        self.graph_file().discard();
    }

    /// What is wrong with the graph, if anything is. Where it still stands its codes have to be those
    /// of the facts.
    pub(crate) fn check_graph(&self, reader: &Reader<'_>) -> Result<Option<String>, StoreError> {
        let file = self.graph_file();
        let found = |what: &str| Ok(Some(format!("{}: {what}", file.path().display())));
        if !file.path().exists() {
            return Ok(None);
        }
        let Some(graph) = graph::load(file.path(), self.identity()) else {
            return found("it is damaged or belongs to another index");
        };
        let versions = reader.versions()?;
        let stands = |document: &&Document| {
            let at = versions.binary_search_by_key(&document.ordinal, |version| version.ordinal);
            let version = at.ok().and_then(|at| versions.get(at));
            version.is_some_and(|version| half(&version.digest) == document.digest)
        };
        let standing: Vec<&Document> = graph.documents().iter().filter(stands).collect();
        let mut nodes = standing
            .iter()
            .flat_map(|document| document.start..document.start + document.rows);
        let (net, mut code) = (graph.net(), vec![0; self.dimension()]);
        let mut agree = true;
        let ordinals = standing.iter().map(|document| document.ordinal);
        reader.vectors(ordinals, self.dimension(), |_, _, row| {
            let (scale, _) = encode(row, &mut code);
            let same = nodes.next().and_then(|node| net.row(node));
            agree = agree && same == Some((scale, &code));
            Ok(())
        })?;
        if agree && nodes.next().is_none() {
            return Ok(None);
        }
        found("its rows are not those of the facts")
    }

    /// Builds the graph unless the one that is there will do.
    pub(crate) fn update_graph(&self) -> Result<(), StoreError> {
        let Approximate::Hnsw(options) = self.options().approximate else {
            return Ok(());
        };
        let reading = Reading::begin(self)?;
        let resident = reading.read(|reader| self.resident(reader, reading.state))?;
        drop(reading);
        let fits = |graph: &Graph| {
            let shape = graph.shape;
            (shape.links, shape.build_ef) == (options.links, options.build_ef)
        };
        let graph = graph::load(self.graph_file().path(), self.identity()).filter(fits);
        let stands = graph.is_some_and(|graph| !Attached::new(Arc::new(graph), resident).is_worn());
        if stands {
            return Ok(());
        }
        self.build_graph()
    }

    /// The graph beside these vectors, if there is one.
    pub(crate) fn attached(&self, resident: &Arc<Resident>) -> Option<Arc<Attached>> {
        let mut held = self.graphs.attached.lock();
        let graph = match held.take() {
            Some((state, attached)) if state == resident.state => {
                *held = Some((state, attached.clone()));
                return attached;
            }
            Some((_, Some(attached))) if !attached.is_worn() => Some(Arc::clone(attached.graph())),
            _ => graph::load(self.graph_file().path(), self.identity()).map(Arc::new),
        };
        let attached = graph.map(|graph| Arc::new(Attached::new(graph, Arc::clone(resident))));
        *held = Some((resident.state, attached.clone()));
        attached
    }
}
