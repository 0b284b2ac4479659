//! The store.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cornu_core::{
    Change, Chunk, ChunkId, DocId, DocumentFacts, FactStore, Fingerprint, Principal, Ranking, View,
};
use cornu_pool::{Guard, Metrics, Size, ThreadSafeVecPool};
use ndarray::ArrayView1;
use parking_lot::Mutex;

use crate::approximate::Graphs;
use crate::error::StoreError;
use crate::line::Line;
use crate::options::{Access, Options};
use crate::recent::Recent;
use crate::resident::Resident;
use crate::snapshot::{Reading, Snapshot};
use crate::sqlite::connection::Connections;
use crate::sqlite::create::create;
use crate::sqlite::place::Place;
use crate::sqlite::schema::{Meta, read_meta, read_state};
use crate::terms::TermCounts;
use crate::views::{Held, Views};
use crate::write::{Batch, stored_digest};
use crate::{digest, validate};

/// Facts in one SQLite file.
///
/// The file is the record. Beside it may stand a `.vec` file with the vectors in scan order, and
/// inside it a `vec0` table: both are derived from the facts, brought up to date before they are
/// read, and may be deleted at any time.
///
/// Any number of threads and processes may share a file: readers see the last committed state and
/// are never blocked, writers take turns.
///
/// Cost: an unchanged document costs its hash and one look-up; a changed one a transaction, or a
/// savepoint within a [`batch`](Self::batch). `knn` reads each visible vector once.
///
/// See the [`crate`] for an example.
pub struct SqliteVecStore {
    path: PathBuf,
    place: Place,
    options: Options,
    meta: Meta,
    pool: ThreadSafeVecPool<Connections>,
    views: Mutex<Views>,
    pub(crate) line: Mutex<Line>,
    /// Held while a state is read that is not in the line; who reads one that is does not wait for it.
    pub(crate) going_on: Mutex<()>,
    /// The newest resident vectors, whose ever they are.
    pub(crate) resident: Mutex<Option<Arc<Resident>>>,
    /// Held while they are brought up to date, so that it happens once; who needs nothing new does
    /// not wait for it.
    pub(crate) bringing_up: Mutex<()>,
    pub(crate) graphs: Graphs,
    pub(crate) recent: Recent,
}

impl SqliteVecStore {
    /// Opens the database at `path`, and creates it when it is not there and may be written.
    /// `fingerprint` is that of the provider whose vectors, of shape (`dimension`), it holds.
    ///
    /// # Errors
    /// [`StoreError`]: another provider's index, another dimension, a damaged file or one that is
    /// no store, a newer schema, a path that cannot be opened. The file is not changed by any of
    /// these.
    pub fn open(
        path: impl AsRef<Path>,
        fingerprint: &Fingerprint,
        dimension: usize,
        options: &Options,
    ) -> Result<Self, StoreError> {
        let path = path.as_ref();
        if dimension == 0 {
            return Err(StoreError::WrongDimension {
                what: format!("vectors for {}", path.display()),
                expected: 1,
                found: 0,
            });
        }
        options.check()?;
        if options.access.may_write() && !path.exists() {
            create(path, fingerprint, dimension)?;
        }
        let store = Self::opened(path, options)?;
        let mut differences = store.meta.fingerprint.differences(fingerprint);
        if !differences.is_empty() {
            // The model that it was built with says more than how long its vectors are.
            if store.meta.dimension != dimension {
                let (there, here) = (store.meta.dimension, dimension);
                differences.push(format!("dimension: {there} there, {here} here"));
            }
            return Err(StoreError::ForeignFingerprint {
                path: path.to_owned(),
                differences,
            });
        }
        if store.meta.dimension != dimension {
            return Err(StoreError::WrongDimension {
                what: format!("the index {}", path.display()),
                expected: store.meta.dimension,
                found: dimension,
            });
        }
        store.use_log();
        Ok(store)
    }

    /// Opens a database that is there, whichever provider it was built with: to look at it, to
    /// check it, to rebuild its artifacts.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for the provider.
    pub fn open_existing(path: impl AsRef<Path>, options: &Options) -> Result<Self, StoreError> {
        let store = Self::opened(path.as_ref(), options)?;
        store.use_log();
        Ok(store)
    }

    fn opened(path: &Path, options: &Options) -> Result<Self, StoreError> {
        options.check()?;
        check_file(path, options.access)?;
        let size = Size::readers(options.readers).map_err(|error| StoreError::Options {
            problem: error.to_string(),
        })?;
        let name = path.display().to_string();
        let pool = ThreadSafeVecPool::new(name, Connections::new(path, options), size);
        let meta = {
            let connection = pool
                .reader(options.pool_timeout)
                .map_err(StoreError::pool)?;
            read_meta(&connection, path, |error| {
                StoreError::sql(path, options.busy_timeout, "opening", error)
            })?
        };
        if let Some(centre) = &options.centre {
            check_centre(centre, meta.dimension)?;
        }
        // The pool has it open.
        let place = Place::of(path).map_err(|error| StoreError::io(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            place,
            options: options.clone(),
            meta,
            pool,
            views: Mutex::new(Views::default()),
            line: Mutex::new(Line::default()),
            going_on: Mutex::new(()),
            resident: Mutex::new(None),
            bringing_up: Mutex::new(()),
            graphs: Graphs::default(),
            recent: Recent::new(options.chunk_bytes),
        })
    }

    /// The database.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The provider that the index was built with.
    #[must_use]
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.meta.fingerprint
    }

    /// The dimension of its vectors.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.meta.dimension
    }

    /// The present state's number: it moves by one with every commit that changes facts.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn epoch(&self) -> Result<u64, StoreError> {
        let connection = self.reader()?;
        let state = read_state(&connection).map_err(|error| self.wrap("reading", error))?;
        Ok(state.epoch)
    }

    /// Who holds a connection and who waits for one.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.pool.metrics()
    }

    /// As [`FactStore::upsert`], with the terms of each indexed chunk, in their order, for a
    /// sparse route to read.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing is written.
    pub fn upsert_with_terms(
        &self,
        facts: &DocumentFacts,
        terms: &[TermCounts],
    ) -> Result<Change, StoreError> {
        self.write(facts, Some(terms))
    }

    /// Many writes in one commit. The work gets a [`Batch`]; when it returns an error, or panics,
    /// nothing of it is written. Other writers wait until it ends, readers do not.
    ///
    /// # Errors
    /// The work's own, and [`StoreError`] when the transaction cannot begin or end.
    ///
    /// ```
    /// use cornu_core::{Acl, ContentHash, DocId, DocumentFacts, Fingerprint};
    /// use cornu_store::{Options, SqliteVecStore, StoreError};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &Options::default())?;
    /// let written = store.batch(|batch| {
    ///     for name in ["a.md", "b.md"] {
    ///         batch.upsert(&DocumentFacts {
    ///             doc: DocId::new(name).unwrap(),
    ///             content: ContentHash::of(b""),
    ///             acl: Acl::public(),
    ///             chunks: vec![],
    ///             vectors: ndarray::Array2::zeros((0, 3)),
    ///         })?;
    ///     }
    ///     Ok::<_, StoreError>(2)
    /// })?;
    /// assert_eq!((written, store.epoch()?), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn batch<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.writer()?;
        let result = (|| {
            let waited = self.options.busy_timeout;
            let mut batch = Batch::begin(&connection, &self.path, waited, self.meta.dimension)?;
            let value = work(&mut batch)?;
            self.check_in_place()?;
            batch.finish()?;
            Ok(value)
        })();
        // An error leaves the transaction open; the pool rolls it back, or drops the connection.
        if result.is_err()
            && !connection.is_autocommit()
            && connection.execute_batch("ROLLBACK").is_err()
        {
            connection.mark_broken();
        }
        result
    }

    /// The present state, as the principal sees it, for as long as a query takes.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    ///
    /// ```
    /// use cornu_core::{FactStore, Fingerprint, Principal};
    /// use cornu_store::{Options, SqliteVecStore};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &Options::default())?;
    /// let snapshot = store.snapshot(&Principal::public())?;
    /// assert!(snapshot.documents()?.is_empty());
    /// assert!(snapshot.knn(ndarray::aview1(&[1.0, 0.0, 0.0]), 5)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self, principal: &Principal) -> Result<Snapshot<'_>, StoreError> {
        Snapshot::new(self, principal)
    }

    fn write(
        &self,
        facts: &DocumentFacts,
        terms: Option<&[TermCounts]>,
    ) -> Result<Change, StoreError> {
        self.check_writable()?;
        validate::facts(facts, terms, self.meta.dimension)?;
        let digest = digest::facts(facts, terms);
        let known = {
            let connection = self.reader()?;
            stored_digest(&connection, &facts.doc).map_err(|error| self.wrap("reading", error))?
        };
        if known == Some(digest) {
            return Ok(Change::Unchanged);
        }
        self.batch(|batch| match terms {
            None => batch.upsert(facts),
            Some(terms) => batch.upsert_with_terms(facts, terms),
        })
    }

    /// A copy that SQLite makes with `VACUUM INTO` has no write-ahead log, and without one a reader
    /// and the writer lock each other out. Where this cannot be changed now, the next to open the
    /// file tries again.
    fn use_log(&self) {
        if !self.options.access.may_write() {
            return;
        }
        let mode = self.reader().ok().and_then(|connection| {
            let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0));
            mode.ok()
        });
        let has_log = mode.is_none_or(|mode: String| mode == "wal");
        if !has_log && let Ok(connection) = self.writer() {
            let changed = connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
            drop(changed);
        }
    }

    fn check_writable(&self) -> Result<(), StoreError> {
        if self.options.access.may_write() {
            return Ok(());
        }
        Err(StoreError::ReadOnly {
            path: self.path.clone(),
        })
    }
}

/// What the other modules of this crate need.
impl SqliteVecStore {
    pub(crate) fn meta(&self) -> &Meta {
        &self.meta
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn reader(&self) -> Result<Guard<'_, Connections>, StoreError> {
        let reader = self.pool.reader(self.options.pool_timeout);
        reader.map_err(StoreError::pool)
    }

    pub(crate) fn writer(&self) -> Result<Guard<'_, Connections>, StoreError> {
        self.check_writable()?;
        self.check_in_place()?;
        let writer = self.pool.writer(self.options.pool_timeout);
        writer.map_err(StoreError::pool)
    }

    /// Whether the path still names the file that was opened. SQLite goes on writing to a file without a
    /// name as if nothing had happened.
    fn check_in_place(&self) -> Result<(), StoreError> {
        match Place::of(&self.path) {
            Ok(place) if place == self.place => Ok(()),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io(&self.path, error))
            }
            _ => Err(StoreError::Moved {
                path: self.path.clone(),
            }),
        }
    }

    pub(crate) fn wrap(&self, action: &'static str, error: rusqlite::Error) -> StoreError {
        StoreError::sql(&self.path, self.options.busy_timeout, action, error)
    }

    pub(crate) fn view_in(
        &self,
        reading: &Reading<'_>,
        principal: &Principal,
    ) -> Result<View, StoreError> {
        let state = reading.state;
        let held = self.views.lock().get(principal);
        let held = match held {
            Some(held) if held.state == state => return Ok(held.view.clone()),
            Some(held) if held.state.epoch < state.epoch && reading.shares_line(held.state)? => {
                let still = reading.read(|reader| reader.still_sees(&held))?;
                still.then_some(held)
            }
            _ => None,
        };
        let found = match held {
            Some(held) => Held {
                state,
                view: held.view.carried_to(state.epoch),
                marks: held.marks.clone(),
            },
            None => reading.read(|reader| reader.view(principal, state))?,
        };
        let view = found.view.clone();
        let line = self.line.lock();
        self.views.lock().put(found, |held| line.contains(held));
        Ok(view)
    }
}

impl FactStore for SqliteVecStore {
    type Error = StoreError;

    fn upsert(&self, facts: &DocumentFacts) -> Result<Change, StoreError> {
        self.write(facts, None)
    }

    fn remove(&self, doc: &DocId) -> Result<bool, StoreError> {
        self.batch(|batch| batch.remove(doc))
    }

    fn view(&self, principal: &Principal) -> Result<View, StoreError> {
        self.view_in(&Reading::begin(self)?, principal)
    }

    fn documents(&self, view: &View) -> Result<Vec<DocId>, StoreError> {
        Reading::of(self, view)?.read(|reader| reader.documents(view))
    }

    fn chunk(&self, view: &View, id: &ChunkId) -> Result<Option<Chunk>, StoreError> {
        let found = Reading::of(self, view)?.chunks(view, [id])?.pop().flatten();
        Ok(found.map(Arc::unwrap_or_clone))
    }

    fn knn(
        &self,
        view: &View,
        query: ArrayView1<'_, f32>,
        k: usize,
    ) -> Result<Ranking<ChunkId>, StoreError> {
        let route = self.options.route;
        Reading::of_for(self, view, route)?.knn(view, &query, k, route)
    }
}

impl fmt::Debug for SqliteVecStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteVecStore")
            .field("path", &self.path)
            .field("fingerprint", &self.meta.fingerprint)
            .field("dimension", &self.meta.dimension)
            .finish_non_exhaustive()
    }
}

fn check_centre(centre: &[f32], dimension: usize) -> Result<(), StoreError> {
    /// Far beyond any mean of unit vectors, and far below where differences overflow.
    const LARGEST: f32 = 1e3;
    if centre.len() != dimension {
        return Err(StoreError::WrongDimension {
            what: "the centre of a scan by bits".to_owned(),
            expected: dimension,
            found: centre.len(),
        });
    }
    if centre.iter().any(|x| x.is_finite() && x.abs() > LARGEST) {
        return Err(StoreError::Options {
            problem: format!(
                "the centre of a scan by bits has components beyond {LARGEST}; give the mean of \
                 unit vectors"
            ),
        });
    }
    let wrong = centre.iter().enumerate().find(|(_, x)| !x.is_finite());
    wrong.map_or(Ok(()), |(component, value)| {
        Err(StoreError::NotFinite {
            what: "the centre of a scan by bits".to_owned(),
            component,
            value: *value,
        })
    })
}

/// What SQLite would take for an empty database, create, or read without its log.
fn check_file(path: &Path, access: Access) -> Result<(), StoreError> {
    let metadata = fs::metadata(path).map_err(|error| StoreError::CannotOpen {
        path: path.to_owned(),
        detail: error.to_string(),
    })?;
    if metadata.is_dir() {
        return Err(StoreError::CannotOpen {
            path: path.to_owned(),
            detail: "it is a folder".to_owned(),
        });
    }
    if metadata.len() == 0 {
        return Err(StoreError::corrupted(path, "the file is empty"));
    }
    // SQLite's log lies beside the file, wherever a link to it lies.
    let file = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut log = file.into_os_string();
    log.push("-wal");
    if access == Access::Immutable && fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        return Err(StoreError::CannotOpen {
            path: path.to_owned(),
            detail: "its -wal file holds changes, which an immutable database does not read; open it for writing once, or read-only".to_owned(),
        });
    }
    Ok(())
}
