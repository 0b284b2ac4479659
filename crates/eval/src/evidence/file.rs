//! Records as files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Invalid, Record};

/// Why a record could not be read or written.
///
/// ```
/// use cornu_eval::evidence::{Record, RecordError};
///
/// assert!(matches!(Record::from_json("{}"), Err(RecordError::Json { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file could not be read or written.
    #[error("{file}: {source}; check that the folder is there and may be written")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The text is no record.
    #[error("{file}: {source}; measure the table again, a record is not edited by hand")]
    Json {
        /// The file, or `record` for a text.
        file: String,
        /// What is wrong, and where.
        source: serde_json::Error,
    },
    /// The record says what it may not.
    #[error("{file}: {source}")]
    Invalid {
        /// The file, or `record` for a text.
        file: String,
        /// What is wrong.
        source: Invalid,
    },
}

impl Record {
    /// The record as its file holds it: indented JSON in a fixed field order, floats with the
    /// fewest digits that read back the same, a line feed at the end. Validates first.
    ///
    /// # Errors
    /// [`RecordError::Invalid`].
    pub fn to_json(&self) -> Result<String, RecordError> {
        self.to_json_of("record")
    }

    /// Reads a record from its text and validates it.
    ///
    /// # Errors
    /// [`RecordError::Json`], [`RecordError::Invalid`].
    pub fn from_json(text: &str) -> Result<Self, RecordError> {
        Self::from_json_of(text, "record")
    }

    /// Reads and validates a record.
    ///
    /// # Errors
    /// [`RecordError::Io`], [`RecordError::Json`], [`RecordError::Invalid`].
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let file = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Self::from_json_of(&text, &file),
            Err(source) => Err(RecordError::Io { file, source }),
        }
    }

    /// Validates the record and puts it in place of what `path` holds, at once: whatever happens,
    /// the file is the old one or the new one, whole.
    ///
    /// # Errors
    /// [`RecordError::Invalid`] before anything is written; [`RecordError::Io`].
    pub fn write(&self, path: &Path) -> Result<(), RecordError> {
        let file = path.display().to_string();
        let text = self.to_json_of(&file)?;
        replace(path, text.as_bytes()).map_err(|source| RecordError::Io { file, source })
    }

    fn to_json_of(&self, file: &str) -> Result<String, RecordError> {
        let file = || file.to_owned();
        self.validate().map_err(|source| RecordError::Invalid {
            file: file(),
            source,
        })?;
        let text = serde_json::to_string_pretty(self);
        let mut text = text.map_err(|source| RecordError::Json {
            file: file(),
            source,
        })?;
        text.push('\n');
        Ok(text)
    }

    fn from_json_of(text: &str, file: &str) -> Result<Self, RecordError> {
        let file = || file.to_owned();
        let record: Self = serde_json::from_str(text).map_err(|source| RecordError::Json {
            file: file(),
            source,
        })?;
        record.validate().map_err(|source| RecordError::Invalid {
            file: file(),
            source,
        })?;
        Ok(record)
    }
}

/// Writes beside the file, then renames over it: a rename within a folder is atomic.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = beside(path)?;
    let written = write_new(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to report; a leftover is harmless and is overwritten later.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "the path does not name a file")
    })?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    Ok(path.with_file_name(hidden))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file: File = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
