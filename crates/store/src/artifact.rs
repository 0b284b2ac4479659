//! What others derive from the facts: a state of all facts to build from, a file to keep it in.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::map;
use crate::snapshot::Reading;
use crate::sqlite::create::{draft_path, folder_of, sync_folder};
use crate::store::SqliteVecStore;
use crate::terms::ChunkTerms;

/// Stands after the database's name in that of the file in which a sparse route keeps its postings.
/// The store knows the name alone: it counts the bytes, and never reads them.
pub const POSTINGS_SUFFIX: &str = ".postings";

/// One version of a document: an ordinal and what tells it from the same ordinal in a copy of the
/// database that went another way. What is derived from a version never goes stale.
///
/// ```
/// let version = cornu_store::DocumentVersion { ordinal: 1, version: [0; 16], rows: 3 };
/// assert!(version < cornu_store::DocumentVersion { ordinal: 2, ..version });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentVersion {
    /// The document's ordinal, as in a [`View`](cornu_core::View).
    pub ordinal: u32,
    /// Half of the hash of its facts.
    pub version: [u8; 16],
    /// Its chunks that are searched.
    pub rows: usize,
}

/// One state of all facts, hidden documents among them: what an artifact is built from. It keeps a
/// connection, as a [`Snapshot`](crate::Snapshot) does.
///
/// For the index's owner: whatever an asker gets has to go through a snapshot's view.
///
/// See [`SqliteVecStore::facts`].
pub struct Facts<'s> {
    reading: Reading<'s>,
}

impl Facts<'_> {
    /// Names the state: equal names, equal facts.
    #[must_use]
    pub fn state(&self) -> [u8; 16] {
        self.reading.state.id
    }

    /// The state's number.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.reading.state.epoch
    }

    /// All documents, by ordinal.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn versions(&self) -> Result<Vec<DocumentVersion>, StoreError> {
        self.reading.versions()
    }

    /// As [`Snapshot::read_terms`](crate::Snapshot::read_terms), of any documents.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn read_terms(
        &self,
        ordinals: impl IntoIterator<Item = u32>,
        take: impl FnMut(ChunkTerms),
    ) -> Result<(), StoreError> {
        self.reading.terms(ordinals.into_iter().collect(), take)
    }
}

/// A file beside the database that is derived from its facts: it may be deleted at any time, and is
/// either whole or not there.
///
/// See [`SqliteVecStore::artifact`].
#[derive(Clone, Debug)]
pub struct ArtifactFile {
    path: PathBuf,
    writable: bool,
}

impl ArtifactFile {
    pub(crate) fn beside(database: &Path, suffix: &str, writable: bool) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push(suffix);
        Self {
            path: path.into(),
            writable,
        }
    }

    /// Where it is, if it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this store may write it.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Its bytes, mapped; `None` when there is no file, or none that can be read.
    #[must_use]
    pub fn map(&self) -> Option<impl AsRef<[u8]> + Send + Sync + use<>> {
        map::map(&File::open(&self.path).ok()?).ok()
    }

    /// Puts another file in its place. It is on the disk before the name is: a crash, or another
    /// process that does the same, leaves one of the files whole. Maps of the old one stay.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], [`StoreError::DiskFull`], [`StoreError::Io`].
    pub fn replace(
        &self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        self.replace_with(|out| write(out).map_err(|error| self.failed(error)))
    }

    /// As [`replace`](Self::replace), of what may fail for other reasons.
    pub(crate) fn replace_with(
        &self,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if !self.writable {
            let path = self.path.clone();
            return Err(StoreError::ReadOnly { path });
        }
        let draft = draft_path(&self.path);
        let result = self
            .write_to(&draft, write)
            .and_then(|()| fs::rename(&draft, &self.path).map_err(|error| self.failed(error)))
            .and_then(|()| sync_folder(&self.path));
        if result.is_err() {
            let _ = fs::remove_file(&draft);
        }
        result
    }

    fn write_to(
        &self,
        draft: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let file = File::create(draft).map_err(|error| self.failed(error))?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        write(&mut out)?;
        let sync = |out: BufWriter<File>| {
            let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.flush()?;
            file.rewind()?;
            file.sync_all()
        };
        sync(out).map_err(|error| self.failed(error))
    }

    /// Writes bytes that have no name: they are gone when the map is, or the process, and nobody else
    /// can open them. For what is too large for memory while a file is built or checked. They lie
    /// beside the database; where this store may not write, in the system's folder for temporary
    /// files.
    ///
    /// # Errors
    /// [`Error`](io::Error) of the system, and of `write`.
    pub fn scratch(
        &self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<Box<dyn AsRef<[u8]> + Send + Sync>> {
        let file = match self.writable {
            true => tempfile::tempfile_in(folder_of(&self.path)),
            false => tempfile::tempfile(),
        }?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        write(&mut out)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Box::new(map::map(&file)?))
    }

    /// What it means that the file could not be written.
    #[must_use]
    pub fn failed(&self, error: io::Error) -> StoreError {
        match error.kind() {
            io::ErrorKind::StorageFull => StoreError::DiskFull {
                path: self.path.clone(),
            },
            io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly {
                path: self.path.clone(),
            },
            _ => StoreError::io(&self.path, error),
        }
    }

    /// Deletes it, where this store may write. What cannot be deleted is found out again by its
    /// hashes.
    pub fn discard(&self) {
        if self.writable {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl SqliteVecStore {
    /// The present state of all facts, for building an artifact.
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
    /// let facts = store.facts()?;
    /// assert_eq!((facts.epoch(), facts.versions()?), (0, vec![]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn facts(&self) -> Result<Facts<'_>, StoreError> {
        let reading = Reading::begin(self)?;
        Ok(Facts { reading })
    }

    /// The artifact that stands beside the database, with `suffix` after its name.
    ///
    /// ```
    /// # use cornu_core::Fingerprint;
    /// # use cornu_store::{Options, SqliteVecStore};
    /// # use std::io::Write;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &Options::default())?;
    /// let file = store.artifact(".example");
    /// assert!(file.map().is_none());
    /// file.replace(|out| out.write_all(b"derived"))?;
    /// assert_eq!(file.map().ok_or("there")?.as_ref(), b"derived");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn artifact(&self, suffix: &str) -> ArtifactFile {
        ArtifactFile::beside(self.path(), suffix, self.options().access.may_write())
    }

    /// Names the facts of this database and of its copies, and the provider that they come from:
    /// what an artifact is marked with, so that none of another index is taken for one of this.
    #[must_use]
    pub fn owner(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("cornu store owner v1");
        hash.update(&self.meta().store);
        hash.update(&self.meta().fingerprint.digest());
        *hash.finalize().as_bytes()
    }
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Facts")
            .field("epoch", &self.epoch())
            .finish_non_exhaustive()
    }
}
