//! A new file, which is either whole or not there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cornu_core::Fingerprint;
use rusqlite::{Connection, params};

use super::connection::file_path;
use super::schema::{APPLICATION_ID, FACTS, PAGE_SIZE, SCHEMA};
use crate::error::StoreError;

/// Creates the database under another name and links it into place when it is complete, so that
/// no moment leaves half of one. When another process was faster, its file stays.
pub(crate) fn create(
    path: &Path,
    fingerprint: &Fingerprint,
    dimension: usize,
) -> Result<(), StoreError> {
    let draft = draft_path(path);
    let result = reserve(&draft, path)
        .and_then(|()| write(&draft, fingerprint, dimension))
        .and_then(|()| check_no_log(path))
        .and_then(|()| publish(&draft, path));
    // The link keeps the contents; on failure there is nothing to keep.
    let _ = fs::remove_file(&draft);
    result
}

/// A name beside `path` that nobody else uses.
pub(crate) fn draft_path(path: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".draft-{}-{count}", std::process::id()));
    path.with_file_name(name)
}

/// Makes the empty file. Where that cannot be done the error names the database, which is what the
/// caller knows of.
fn reserve(draft: &Path, path: &Path) -> Result<(), StoreError> {
    let made = match fs::remove_file(draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fs::File::create_new(draft).map(drop),
    };
    made.map_err(|error| StoreError::CannotOpen {
        path: path.to_owned(),
        detail: error.to_string(),
    })
}

fn write(draft: &Path, fingerprint: &Fingerprint, dimension: usize) -> Result<(), StoreError> {
    let wrap = |source| StoreError::sql(draft, Duration::ZERO, "creating the database", source);
    let connection = Connection::open(file_path(draft)).map_err(wrap)?;
    let fingerprint = serde_json::to_string(fingerprint)
        .map_err(|error| StoreError::io(draft, std::io::Error::other(error)))?;
    connection
        .execute_batch(&format!(
            "PRAGMA page_size = {PAGE_SIZE};
             PRAGMA synchronous = FULL;
             BEGIN IMMEDIATE;
             PRAGMA application_id = {APPLICATION_ID};
             PRAGMA user_version = {SCHEMA};
             {FACTS}"
        ))
        .map_err(wrap)?;
    connection
        .execute(
            "INSERT INTO meta (one, store, state, epoch, dimension, fingerprint)
             VALUES (1, randomblob(16), randomblob(16), 0, ?1, ?2)",
            params![i64::try_from(dimension).unwrap_or(i64::MAX), fingerprint],
        )
        .map_err(wrap)?;
    // The mode is a property of the file; set after the commit, it is there from the first open.
    connection
        .execute_batch("COMMIT; PRAGMA journal_mode = WAL;")
        .map_err(wrap)?;
    connection.close().map_err(|(_, source)| wrap(source))
}

/// SQLite would read the log of a database that was deleted into a new one of its name. Nobody who
/// creates a database at the same time has a log before the file: one without it was left behind.
fn check_no_log(path: &Path) -> Result<(), StoreError> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let is_left = fs::metadata(&log).is_ok_and(|log| log.len() > 0) && !path.exists();
    match is_left {
        true => Err(StoreError::LogLeft {
            path: path.to_owned(),
            log: log.into(),
        }),
        false => Ok(()),
    }
}

fn publish(draft: &Path, path: &Path) -> Result<(), StoreError> {
    match fs::hard_link(draft, path) {
        Ok(()) => sync_folder(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // A file system without hard links.
        Err(_) if !path.exists() => fs::rename(draft, path)
            .map_err(|error| StoreError::io(path, error))
            .and_then(|()| sync_folder(path)),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

/// Where a file lies.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent();
    let named = folder.filter(|folder| !folder.as_os_str().is_empty());
    named.unwrap_or_else(|| Path::new("."))
}

/// Makes a new name survive a power loss, where the platform can.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        let folder = folder_of(path);
        fs::File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| StoreError::io(folder, error))?;
    }
    Ok(())
}
