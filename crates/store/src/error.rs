//! What can go wrong with a store.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cornu_core::{ChunkId, DocId};
use cornu_pool::PoolError;
use rusqlite::ErrorCode;

/// Why a store refused or failed. Whatever was being written is not there, not even in part.
///
/// ```
/// use cornu_store::{SqliteVecStore, StoreError, Options};
/// use cornu_core::Fingerprint;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("notes.txt");
/// std::fs::write(&path, "not a database")?;
/// let error = SqliteVecStore::open(&path, &Fingerprint::new("m"), 3, &Options::default()).unwrap_err();
/// assert!(matches!(error, StoreError::Corrupted { .. }));
/// assert!(error.to_string().contains("notes.txt"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Vectors of another length.
    #[error(
        "{what}: dimension {found}, but the store holds {expected}; use the embedder that the index was built with"
    )]
    WrongDimension {
        /// What has the wrong dimension.
        what: String,
        /// The store's dimension.
        expected: usize,
        /// The dimension given.
        found: usize,
    },
    /// NaN or an infinity.
    #[error("{what}: component {component} is {value}; check the embedder")]
    NotFinite {
        /// What holds it.
        what: String,
        /// The component, from 0.
        component: usize,
        /// Its value.
        value: f32,
    },
    /// A vector without direction.
    #[error("{what} is a zero vector, which has no direction; check the embedder")]
    ZeroVector {
        /// What is zero.
        what: String,
    },
    /// A vector whose norm is not 1.
    #[error("{what} has norm {norm}, not 1 within {tolerance:e}; normalise before writing")]
    NotUnit {
        /// Which vector.
        what: String,
        /// Its L2 norm.
        norm: f64,
        /// By how much it may differ.
        tolerance: f64,
    },
    /// Not one vector, list of terms or row beside it for each indexed chunk.
    #[error("{doc} has {found} {what} for {expected} indexed chunks; give one for each")]
    RowCount {
        /// The document.
        doc: DocId,
        /// Vectors, lists of terms, token vectors, names and statements.
        what: &'static str,
        /// Indexed chunks.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// A chunk that names another document, or whose id is taken.
    #[error("{doc}: the chunk {chunk} {problem}; chunk the document again")]
    ForeignChunk {
        /// The document.
        doc: DocId,
        /// The chunk.
        chunk: ChunkId,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Built by another provider.
    #[error("{} was built by another provider ({}); open it with that provider, or index into a new file", path.display(), differences.join("; "))]
    ForeignFingerprint {
        /// The database.
        path: PathBuf,
        /// In words, setting by setting.
        differences: Vec<String>,
    },
    /// Written by a newer version of this software.
    #[error("{} has schema {found}, newer than {supported}, the newest that this version reads; update the software", path.display())]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest that is known here.
        supported: i64,
    },
    /// Written by a version so old that it is not read any more.
    #[error("{} has schema {found}, older than {oldest}, the oldest that this version reads; index the sources into a new file", path.display())]
    OlderSchema {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The oldest that is known here.
        oldest: i64,
    },
    /// A write to a store that may only be read.
    #[error("{} is read-only; open it for writing, and check the permissions of the file and its folder", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// Not a database of this store, or a damaged one. The file was not changed.
    #[error("{} is damaged or no store: {detail}; run `doctor`, restore a copy, or index the sources into a new file", path.display())]
    Corrupted {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// No space left.
    #[error("no space left to write {}; free some, then write again (what was committed is intact)", path.display())]
    DiskFull {
        /// The database.
        path: PathBuf,
    },
    /// Another process holds the file.
    #[error("{} was locked by another process for {waited:?}; try again when it has finished", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// The busy timeout.
        waited: Duration,
    },
    /// The file cannot be opened.
    #[error("{} cannot be opened: {detail}; check the path, its folder and their permissions (on read-only media, open it as immutable)", path.display())]
    CannotOpen {
        /// The database.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// The file was deleted, or another put in its place, while it was open: what is written now would be lost
    /// with it, or go to a file that is not the one that was opened.
    #[error("{} was deleted or replaced while it was open, so nothing is written; open it again, and index again what is missing there", path.display())]
    Moved {
        /// The database.
        path: PathBuf,
    },
    /// A database was deleted, but not its log, which SQLite would read into a new one.
    #[error("{} is not there, but {} is, the log of a database of that name that was deleted; delete the log, too, or restore the database", path.display(), log.display())]
    LogLeft {
        /// The database.
        path: PathBuf,
        /// Its log.
        log: PathBuf,
    },
    /// The operating system failed to read or write.
    #[error("{}: {source}; check the disk", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The store has moved on from the view's state.
    #[error(
        "the view is of epoch {view}, but the store is at {store}; ask for a new view, or hold a snapshot for the whole query"
    )]
    StaleView {
        /// The view's epoch.
        view: u64,
        /// The store's epoch.
        store: u64,
    },
    /// The view was taken of another database, or not of one at all.
    #[error("the view is not what its principal sees in {}: another database was put in its place; ask for a new view", path.display())]
    ForeignView {
        /// The database that is open now.
        path: PathBuf,
    },
    /// `vec0` is asked for by name, lags behind, and cannot be written.
    #[error("the vec0 table of {} is not up to date and the store is read-only; use another route, or run `rebuild-index` where the file is writable", path.display())]
    ArtifactBehind {
        /// The database.
        path: PathBuf,
    },
    /// More document versions than there are ordinals.
    #[error("{} has used up its 4,294,967,295 document versions; index the sources into a new file", path.display())]
    TooManyDocuments {
        /// The database.
        path: PathBuf,
    },
    /// Options that contradict each other.
    #[error("the options of the store: {problem}")]
    Options {
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// All connections of the pool stayed in use.
    #[error("{0}")]
    Pool(String),
    /// A statement failed in a way that has no name above.
    #[error("{}: {action} failed: {source}; please report this", path.display())]
    Sql {
        /// The database.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Whether the connection that met this error should not be used again.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupted { .. } | Self::Io { .. })
    }

    pub(crate) fn corrupted(path: &Path, detail: impl Into<String>) -> Self {
        Self::Corrupted {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }

    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn pool(error: PoolError<Self>) -> Self {
        match error {
            PoolError::Open(error) => error,
            timeout => Self::Pool(timeout.to_string()),
        }
    }

    /// Gives SQLite's error its name.
    pub(crate) fn sql(
        path: &Path,
        waited: Duration,
        action: &'static str,
        source: rusqlite::Error,
    ) -> Self {
        let path = path.to_owned();
        let detail = source.to_string();
        match &source {
            // A value that is not of its column's type was not written by this store.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => return Self::Corrupted { path, detail },
            // What SQLite cannot compile is a file without what the store wrote there.
            rusqlite::Error::SqliteFailure(_, Some(text))
            | rusqlite::Error::SqlInputError { msg: text, .. }
                if text.starts_with("no such table") || text.starts_with("no such column") =>
            {
                return Self::Corrupted { path, detail };
            }
            rusqlite::Error::QueryReturnedNoRows => {
                let detail = "a row is missing that every store has".to_owned();
                return Self::Corrupted { path, detail };
            }
            _ => {}
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy { path, waited }
            }
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupted { path, detail }
            }
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::CannotOpen { path, detail }
            }
            Some(ErrorCode::SystemIoFailure) => Self::Io {
                path,
                source: std::io::Error::other(source),
            },
            _ => Self::Sql {
                path,
                action,
                source,
            },
        }
    }
}
