//! One state of the store, for as long as a query takes.

use std::sync::{Arc, OnceLock};

use cornu_core::{Chunk, ChunkId, DocId, DocumentFacts, Principal, Ranking, View};
use cornu_pool::Guard;
use ndarray::{Array1, ArrayView1};
use parking_lot::Mutex;
use rusqlite::Connection;

use crate::artifact::DocumentVersion;
use crate::error::StoreError;
use crate::options::{Approximate, Route};
use crate::read::{Reader, Version};
use crate::resident::{Resident, UnderWay, Waiting, half};
use crate::score::Query;
use crate::sqlite::connection::{Connections, run};
use crate::sqlite::schema::{State, has_passed, read_state};
use crate::store::SqliteVecStore;
use crate::terms::ChunkTerms;
use crate::{knn, select, vec0};

/// Rows that are read from the facts rather than bringing an artifact up to date for them.
const FEW_ROWS: u64 = crate::resident::FEW_ROWS as u64;

/// A read transaction: what is asked of it is answered from one state, whatever is written
/// meanwhile.
pub(crate) struct Reading<'s> {
    store: &'s SqliteVecStore,
    connection: Mutex<Guard<'s, Connections>>,
    pub(crate) state: State,
    /// The number of the line that it belongs to.
    line: u64,
    resident: OnceLock<Arc<Resident>>,
    _under_way: UnderWay,
}

impl<'s> Reading<'s> {
    pub(crate) fn begin(store: &'s SqliteVecStore) -> Result<Self, StoreError> {
        let mut connection = store.reader()?;
        let begun = begin(store, &connection).map_err(|error| store.wrap("reading", error));
        let (state, line) = begun.inspect_err(|error| note_damage(&mut connection, error))?;
        Ok(Self {
            store,
            connection: Mutex::new(connection),
            state,
            line,
            resident: OnceLock::new(),
            _under_way: UnderWay::begin(),
        })
    }

    /// A transaction in which `vec0` is up to date: others may write between the two steps, so it
    /// may take several tries.
    pub(crate) fn begin_with_vec0(store: &'s SqliteVecStore) -> Result<Self, StoreError> {
        for _ in 0..16 {
            let reading = Self::begin(store)?;
            if reading.has_vec0()? {
                return Ok(reading);
            }
            drop(reading);
            store.update_vec0()?;
        }
        Err(StoreError::Busy {
            path: store.path().to_owned(),
            waited: store.options().busy_timeout,
        })
    }

    /// A transaction in the view's state. An epoch is no name: another database may have the same one
    /// and give the view's ordinals to documents that its principal does not see.
    pub(crate) fn of(store: &'s SqliteVecStore, view: &View) -> Result<Self, StoreError> {
        let reading = Self::begin(store)?;
        if reading.state.epoch != view.epoch() {
            return Err(StoreError::StaleView {
                view: view.epoch(),
                store: reading.state.epoch,
            });
        }
        if store.view_in(&reading, view.principal())? != *view {
            return Err(StoreError::ForeignView {
                path: store.path().to_owned(),
            });
        }
        Ok(reading)
    }

    /// As [`of`](Self::of), in which a search by `route` is possible.
    pub(crate) fn of_for(
        store: &'s SqliteVecStore,
        view: &View,
        route: Route,
    ) -> Result<Self, StoreError> {
        if route == Route::Sql && !view.is_empty() {
            // Brings vec0 up to date; if facts were written meanwhile, the view is stale anyhow.
            drop(Self::begin_with_vec0(store)?);
        }
        Self::of(store, view)
    }

    /// Whether an ordinal that this state and the other have names one version of one document, since
    /// one of them came to be by commits upon the other. A `false` says nothing: what is not
    /// remembered is on record for some time only.
    pub(crate) fn shares_line(&self, other: State) -> Result<bool, StoreError> {
        if other == self.state {
            return Ok(true);
        }
        {
            let line = self.store.line.lock();
            if line.contains(other) && line.contains(self.state) {
                return Ok(true);
            }
        }
        if other.epoch > self.state.epoch {
            return Ok(false);
        }
        self.read(|reader| has_passed(reader.connection, other).map_err(|error| reader.wrap(error)))
    }

    /// Reads over the connection; one caller at a time.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection.lock();
        let result = work(&Reader {
            connection: &connection,
            path: self.store.path(),
        });
        result.inspect_err(|error| note_damage(&mut connection, error))
    }

    /// Chunks in the order of their ids here; `None` where the view does not hold the document.
    pub(crate) fn chunks<'a>(
        &self,
        view: &View,
        ids: impl IntoIterator<Item = &'a ChunkId>,
    ) -> Result<Vec<Option<Arc<Chunk>>>, StoreError> {
        let (recent, mut missing) = (&self.store.recent, Vec::new());
        let at_hand = ids.into_iter().enumerate().map(|(at, id)| {
            let found = recent.get(self.line, view, id);
            if found.is_none() {
                missing.push((at, id));
            }
            found
        });
        let mut chunks: Vec<_> = at_hand.collect();
        if missing.is_empty() {
            return Ok(chunks);
        }
        self.read(|reader| {
            reader.chunks_by_id(view, missing, |at, ordinal, chunk| {
                let chunk = Arc::new(chunk);
                recent.put(self.line, ordinal, &chunk);
                if let Some(place) = chunks.get_mut(at) {
                    *place = Some(chunk);
                }
            })
        })?;
        Ok(chunks)
    }

    /// The ordinal of a chunk's document, where the chunk is in memory and the view holds it.
    pub(crate) fn ordinal_at_hand(&self, view: &View, id: &ChunkId) -> Option<u32> {
        self.store.recent.ordinal(self.line, view, id)
    }

    /// All documents, by ordinal.
    pub(crate) fn versions(&self) -> Result<Vec<DocumentVersion>, StoreError> {
        let version = |version: Version| DocumentVersion {
            ordinal: version.ordinal,
            version: half(&version.digest),
            rows: version.vectors,
        };
        self.read(|reader| Ok(reader.versions()?.into_iter().map(version).collect()))
    }

    /// The terms of the indexed chunks of some documents, by ordinal and then by place.
    pub(crate) fn terms(
        &self,
        mut ordinals: Vec<u32>,
        mut take: impl FnMut(ChunkTerms),
    ) -> Result<(), StoreError> {
        ordinals.sort_unstable();
        ordinals.dedup();
        self.read(|reader| {
            reader.terms(ordinals, |ordinal, chunk, counts| {
                take(ChunkTerms {
                    ordinal,
                    chunk,
                    counts,
                });
            })
        })
    }

    pub(crate) fn knn(
        &self,
        view: &View,
        query: &ArrayView1<'_, f32>,
        k: usize,
        route: Route,
    ) -> Result<Ranking<ChunkId>, StoreError> {
        let query = Query::new(query, self.store.dimension())?;
        if view.is_empty() || k == 0 {
            return Ok(Ranking::empty());
        }
        let route = match route {
            Route::Auto => self.choose(view)?,
            named => named,
        };
        let hits = match route {
            Route::Sql => self.by_sql(view, &query, k)?,
            Route::Facts => self.read(|reader| knn::facts(reader, view, &query))?,
            Route::Auto | Route::Resident => self.by_resident(view, &query, k)?,
        };
        select::ranking(hits, k)
            .map_err(|error| StoreError::corrupted(self.store.path(), error.to_string()))
    }

    /// The resident vectors when they are there. For few rows it is not worth bringing them up to
    /// date, and where no file can be kept SQL's own table comes first.
    fn choose(&self, view: &View) -> Result<Route, StoreError> {
        if self.at_hand(view)?.is_some() {
            return Ok(Route::Resident);
        }
        if view.len() <= FEW_ROWS && self.read(|reader| reader.rows_of(view))? <= FEW_ROWS {
            return Ok(Route::Facts);
        }
        let options = self.store.options();
        // An approximate answer must not depend on which files happen to be there.
        if options.is_exact()
            && !options.access.may_write()
            && !self.store.has_vec_file()
            && self.has_vec0()?
        {
            return Ok(Route::Sql);
        }
        Ok(Route::Resident)
    }

    fn has_vec0(&self) -> Result<bool, StoreError> {
        let state =
            self.read(|reader| vec0::state(reader.connection).map_err(|error| reader.wrap(error)))?;
        Ok(state == Some(self.state.id))
    }

    fn by_sql(&self, view: &View, query: &Query, k: usize) -> Result<Hits, StoreError> {
        if !self.has_vec0()? {
            return Err(StoreError::ArtifactBehind {
                path: self.store.path().to_owned(),
            });
        }
        self.read(|reader| match knn::sql(reader, view, query, k)? {
            Some(hits) => Ok(hits),
            None => knn::facts(reader, view, query),
        })
    }

    /// Vectors that need not be brought up to date for this view, which is of this state: those of
    /// this state, and those of one that it came from and that had all documents of the view.
    /// Commits that the asker does not see leave nothing to do.
    fn at_hand(&self, view: &View) -> Result<Option<Arc<Resident>>, StoreError> {
        if let Some(resident) = self.resident.get() {
            return Ok(Some(Arc::clone(resident)));
        }
        let Some(found) = self.store.resident_at_hand() else {
            return Ok(None);
        };
        let came_from =
            |earlier: State| Ok(earlier.epoch < self.state.epoch && self.shares_line(earlier)?);
        if found.state == self.state || found.has_room_for(view) && came_from(found.state)? {
            return Ok(Some(Arc::clone(self.resident.get_or_init(|| found))));
        }
        Ok(None)
    }

    fn brought_up_to_date(&self, view: &View) -> Result<Arc<Resident>, StoreError> {
        if let Some(resident) = self.at_hand(view)? {
            return Ok(resident);
        }
        let resident = self.read(|reader| self.store.resident(reader, self.state))?;
        Ok(Arc::clone(self.resident.get_or_init(|| resident)))
    }

    fn breadth(&self, view: &View, k: usize) -> Result<Option<usize>, StoreError> {
        let options = self.store.options();
        let Approximate::Hnsw(hnsw) = options.approximate else {
            return Ok(None);
        };
        let route = match options.route {
            Route::Auto => self.choose(view)?,
            named => named,
        };
        if view.is_empty() || k == 0 || matches!(route, Route::Sql | Route::Facts) {
            return Ok(None);
        }
        let graph = self.store.attached(&self.brought_up_to_date(view)?);
        Ok(graph.and_then(|graph| graph.breadth(view, k, &hnsw)))
    }

    fn by_resident(&self, view: &View, query: &Query, k: usize) -> Result<Hits, StoreError> {
        let resident = self.brought_up_to_date(view)?;
        let scanning = self.store.options().scanning();
        let walked = match self.store.options().approximate {
            Approximate::Never => Ok(None),
            Approximate::Hnsw(hnsw) => self.store.attached(&resident).map_or(Ok(None), |graph| {
                graph.candidates(view, query, k, &hnsw, scanning)
            }),
        };
        let found = match walked {
            Ok(None) => resident.candidates(view, query, k, scanning),
            Ok(Some(hits)) => Ok(hits),
            Err(damaged) => Err(damaged),
        };
        match found {
            Ok(hits) => Ok(hits),
            // The file is damaged, which the facts are not.
            Err(_) => {
                self.store.discard_resident();
                self.read(|reader| knn::facts(reader, view, query))
            }
        }
    }
}

type Hits = Vec<(ChunkId, f64)>;

/// Begins a read transaction, and sees to it that its state is in the store's line.
fn begin(store: &SqliteVecStore, connection: &Connection) -> rusqlite::Result<(State, u64)> {
    let begin = || run(connection, "BEGIN").and_then(|()| read_state(connection));
    let line_of = |state| store.line.lock().number_for(state);
    let state = begin()?;
    if let Some(line) = line_of(state) {
        return Ok((state, line));
    }
    let _turn = store.going_on.lock();
    if let Some(line) = line_of(state) {
        return Ok((state, line));
    }
    // Begun anew while nobody else goes on with the line: so what is read now is not older than the
    // newest of it, unless it is of another line.
    run(connection, "ROLLBACK")?;
    let state = begin()?;
    if let Some(line) = line_of(state) {
        return Ok((state, line));
    }
    let newest = store.line.lock().newest();
    let came = newest.map_or(Ok(false), |newest| has_passed(connection, newest))?;
    Ok((state, store.line.lock().go_on(state, came)))
}

fn note_damage(connection: &mut Guard<'_, Connections>, error: &StoreError) {
    if error.is_damage() {
        connection.mark_broken();
    }
}

/// One state of the store as one principal sees it, held for a whole query.
///
/// While it lives, writes go on and it sees none of them. It keeps one of the pool's connections
/// and keeps SQLite's log from being reset, so hold it for a query, not for a session. Threads may
/// share it; resident searches run side by side, all else in turn.
///
/// See [`SqliteVecStore::snapshot`].
pub struct Snapshot<'s> {
    reading: Reading<'s>,
    view: View,
}

impl<'s> Snapshot<'s> {
    pub(crate) fn new(
        store: &'s SqliteVecStore,
        principal: &Principal,
    ) -> Result<Self, StoreError> {
        let reading = match store.options().route {
            Route::Sql => Reading::begin_with_vec0(store)?,
            _ => Reading::begin(store)?,
        };
        let view = store.view_in(&reading, principal)?;
        Ok(Self { reading, view })
    }

    pub(crate) fn reading(&self) -> &Reading<'s> {
        &self.reading
    }

    /// What the principal sees.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The documents that are seen, in order of name.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn documents(&self) -> Result<Vec<DocId>, StoreError> {
        self.reading.read(|reader| reader.documents(&self.view))
    }

    /// A chunk; `None` alike when it does not exist and when it is not seen.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn chunk(&self, id: &ChunkId) -> Result<Option<Arc<Chunk>>, StoreError> {
        Ok(self.chunks([id])?.pop().flatten())
    }

    /// Chunks in the order of their ids here; `None` alike for one that does not exist and one that
    /// is not seen. O(1) for each that is kept in memory
    /// ([`chunk_bytes`](crate::Options::chunk_bytes)), O(log) for the others, over one statement.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn chunks<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a ChunkId>,
    ) -> Result<Vec<Option<Arc<Chunk>>>, StoreError> {
        self.reading.chunks(&self.view, ids)
    }

    /// All facts of a document; `None` alike when it does not exist and when it is not seen.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn facts(&self, doc: &DocId) -> Result<Option<DocumentFacts>, StoreError> {
        self.reading.read(|reader| {
            let mut ordinal = None;
            let sql = "SELECT ordinal FROM documents WHERE name = ?1";
            reader.each(sql, [doc.as_str()], |row| {
                ordinal =
                    Some(row.get::<_, u32>(0)?).filter(|&ordinal| self.view.contains(ordinal));
                Ok(())
            })?;
            let dimension = self.reading.store.dimension();
            match ordinal {
                None => Ok(None),
                Some(ordinal) => Ok(reader.facts(ordinal, dimension)?.map(|(facts, _)| facts)),
            }
        })
    }

    /// As [`FactStore::knn`](cornu_core::FactStore::knn), by the store's route.
    ///
    /// # Errors
    /// [`StoreError`] for a query of another dimension or no direction, and when the file cannot
    /// be read.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a view is a reference, as in `FactStore`"
    )]
    pub fn knn(
        &self,
        query: ArrayView1<'_, f32>,
        k: usize,
    ) -> Result<Ranking<ChunkId>, StoreError> {
        let route = self.reading.store.options().route;
        self.reading.knn(&self.view, &query, k, route)
    }

    /// How broad the walk through the graph is by which [`knn`](Self::knn) looks for `k` here, for
    /// an explanation; `None` where it scans: no [`Approximate::Hnsw`] was asked for, no graph is
    /// there or none that reaches the recall, or the view is narrow. A walk that comes to fewer than
    /// `k` rows is followed by a scan. Costs what `knn` costs before it looks at any row.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn walk_breadth(&self, k: usize) -> Result<Option<usize>, StoreError> {
        self.reading.breadth(&self.view, k)
    }

    /// The mean of the vectors that are seen, of shape (D); `None` where there are none. It may serve
    /// as the [`centre`](crate::Options::centre) of a scan by bits.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn mean(&self) -> Result<Option<Array1<f32>>, StoreError> {
        let dimension = self.reading.store.dimension();
        let (mut sum, mut rows) = (vec![0.0_f64; dimension], 0.0);
        self.reading.read(|reader| {
            reader.vectors(self.view.ordinals(), dimension, |_, _, vector| {
                for (sum, x) in sum.iter_mut().zip(vector) {
                    *sum += f64::from(*x);
                }
                rows += 1.0;
                Ok(())
            })
        })?;
        let mean = sum.into_iter().map(|sum| (sum / rows) as f32);
        Ok((rows > 0.0).then(|| mean.collect()))
    }

    /// As [`knn`](Self::knn), by a route of the caller's choice. [`Route::Sql`] needs a `vec0` that
    /// was up to date when the snapshot began; [`SqliteVecStore::prepare`] or a store that was
    /// opened with that route sees to it.
    ///
    /// # Errors
    /// As [`knn`](Self::knn), and [`StoreError::ArtifactBehind`].
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a view is a reference, as in `FactStore`"
    )]
    pub fn knn_by(
        &self,
        route: Route,
        query: ArrayView1<'_, f32>,
        k: usize,
    ) -> Result<Ranking<ChunkId>, StoreError> {
        self.reading.knn(&self.view, &query, k, route)
    }

    /// Hands over the terms of the indexed chunks of some documents, by ordinal and then by place
    /// in the document. Ordinals that the view does not hold are passed over, and so are documents
    /// that were written without terms.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn read_terms(
        &self,
        ordinals: impl IntoIterator<Item = u32>,
        take: impl FnMut(ChunkTerms),
    ) -> Result<(), StoreError> {
        let seen: Vec<u32> = ordinals
            .into_iter()
            .filter(|&ordinal| self.view.contains(ordinal))
            .collect();
        self.reading.terms(seen, take)
    }

    /// Names the state: equal names, equal facts. It moves with every commit, also with one that
    /// the principal does not see, so it must not reach what the principal gets.
    #[must_use]
    pub fn state(&self) -> [u8; 16] {
        self.reading.state.id
    }

    /// Whether this state and the one of that epoch and [name](Self::state) are of one line: one of
    /// them came to be by commits upon the other. Then an ordinal that both have names one version
    /// of one document, though what is kept beside it (token vectors, what an extractor read) may be
    /// another. A `false` says nothing, since of old states no record is kept. It must not reach what
    /// the principal gets.
    ///
    /// Reads nothing where the store has seen both, and the record otherwise.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn shares_line(&self, epoch: u64, state: [u8; 16]) -> Result<bool, StoreError> {
        self.reading.shares_line(State { epoch, id: state })
    }

    /// The snapshot waits for something else (a server's reply) for as long as what is given lives. A
    /// scan of vectors is shared out to all cores unless other searches keep them busy, and each
    /// snapshot counts as one.
    #[must_use]
    pub fn waiting(&self) -> impl Sized + use<> {
        Waiting::begin()
    }

    /// All documents by ordinal, hidden ones too: what an artifact is compared with before it is
    /// read. It must not reach what the principal gets.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn all_versions(&self) -> Result<Vec<DocumentVersion>, StoreError> {
        self.reading.versions()
    }
}

/// What the other modules of this crate need.
impl<'s> Snapshot<'s> {
    pub(crate) fn store(&self) -> &'s SqliteVecStore {
        self.reading.store
    }

    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.reading.read(work)
    }
}

impl std::fmt::Debug for Snapshot<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("view", &self.view)
            .finish_non_exhaustive()
    }
}
