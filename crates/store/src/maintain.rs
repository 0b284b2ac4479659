//! What an owner does now and then.

use std::fs;

use crate::artifact::POSTINGS_SUFFIX;
use crate::error::StoreError;
use crate::graph;
use crate::resident;
use crate::snapshot::Reading;
use crate::store::SqliteVecStore;
use crate::vec0;

/// Counts and sizes of a whole index. For its owner: they tell about hidden documents too.
///
/// See [`SqliteVecStore::stats`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// The present epoch.
    pub epoch: u64,
    /// Documents.
    pub documents: u64,
    /// Documents that nobody may see.
    pub without_grants: u64,
    /// Chunks, parents among them.
    pub chunks: u64,
    /// Chunks that are searched.
    pub vectors: u64,
    /// Bytes of the database.
    pub database_bytes: u64,
    /// Bytes of SQLite's log beside it.
    pub log_bytes: u64,
    /// Bytes of the `.vec` file.
    pub vec_bytes: u64,
    /// Bytes of the graph, if there is one.
    pub graph_bytes: u64,
    /// Bytes of the file of postings, if a sparse route has written one.
    pub postings_bytes: u64,
    /// Whether the `vec0` table is there and up to date.
    pub vec0_is_current: bool,
}

impl SqliteVecStore {
    /// Brings the `.vec` file up to date, as a writer should when it has finished: then the next
    /// process to open the index starts without delay. The `vec0` table is brought up to date if
    /// it is there. The graph, if one was asked for ([`Approximate::Hnsw`](crate::Approximate::Hnsw)),
    /// is built when there is none or an eighth of its rows are gone or missing.
    ///
    /// O(vectors) when much has changed, O(documents) when little has. Vectors go from the facts to
    /// the file one by one: some 150 bytes a document and a few megabytes of memory.
    ///
    /// # Errors
    /// [`StoreError`] when the store is read-only or cannot be written.
    pub fn prepare(&self) -> Result<(), StoreError> {
        self.writer().map(drop)?;
        let reading = Reading::begin(self)?;
        reading.read(|reader| self.save_resident(reader, reading.state))?;
        let has_vec0 = reading
            .read(|reader| vec0::state(reader.connection).map_err(|error| reader.wrap(error)))?;
        drop(reading);
        if has_vec0.is_some() {
            self.update_vec0()?;
        }
        self.update_graph()
    }

    /// Throws all artifacts away and derives them from the facts again, the `vec0` table included,
    /// and the graph where the store was opened with one.
    /// O(vectors).
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn rebuild_index(&self) -> Result<(), StoreError> {
        self.writer().map(drop)?;
        self.discard_resident();
        self.discard_graph();
        let reading = Reading::begin(self)?;
        reading.read(|reader| self.save_resident(reader, reading.state))?;
        drop(reading);
        if self.dimension() <= vec0::MOST_DIMENSIONS {
            self.rebuild_vec0()?;
        }
        self.update_graph()
    }

    /// Gives the space of deleted rows back to the file system. Writes the whole file anew, and
    /// needs as much free space as it has; readers may go on, writers wait. The `vec0` table goes,
    /// and comes back when it is next needed.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn vacuum(&self) -> Result<(), StoreError> {
        let connection = self.writer()?;
        // vec0 finds its rows by row numbers that VACUUM may change.
        vec0::drop_table(&connection)
            .and_then(|()| connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);"))
            .map_err(|error| self.wrap("compacting", error))
    }

    /// Counts and sizes.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    ///
    /// ```
    /// # use cornu_core::Fingerprint;
    /// # use cornu_store::{Options, SqliteVecStore};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &Options::default())?;
    /// let stats = store.stats()?;
    /// assert_eq!((stats.documents, stats.vectors, stats.epoch), (0, 0, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> Result<Stats, StoreError> {
        let reading = Reading::begin(self)?;
        let size = |suffix: &str| {
            let mut path = self.path().as_os_str().to_owned();
            path.push(suffix);
            fs::metadata(path).map_or(0, |file| file.len())
        };
        reading.read(|reader| {
            let count = |sql: &str| {
                let number = reader.connection.query_row(sql, [], |row| row.get(0));
                number.map_err(|error| reader.wrap(error))
            };
            let vec0 = vec0::state(reader.connection).map_err(|error| reader.wrap(error))?;
            Ok(Stats {
                epoch: reading.state.epoch,
                documents: count("SELECT count(*) FROM documents")?,
                without_grants: count(
                    "SELECT count(*) FROM documents WHERE ordinal NOT IN (SELECT document FROM grants)",
                )?,
                chunks: count("SELECT count(*) FROM chunks")?,
                vectors: count("SELECT count(*) FROM vectors")?,
                database_bytes: size(""),
                log_bytes: size("-wal"),
                vec_bytes: size(resident::SUFFIX),
                graph_bytes: size(graph::SUFFIX),
                postings_bytes: size(POSTINGS_SUFFIX),
                vec0_is_current: vec0 == Some(reading.state.id),
            })
        })
    }
}
