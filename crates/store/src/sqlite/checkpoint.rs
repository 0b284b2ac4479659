//! Copying the log into the file beside the writer.
//!
//! SQLite lets the writer do it, at the end of the commit that makes the log long enough: at a
//! million rows that was more than half of the time of writing them. Another connection can copy
//! while the writer goes on. What it cannot do is end the log: a log begins anew only when all of
//! it has been copied and nobody reads in it. So the writer copies what is left once the log has
//! become [eight times](LOG_PAGES) as long.

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, OpenFlags};

/// Pages of the log that are left to grow before they are copied: 16 MiB.
const COPY_PAGES: c_int = 2048;

/// Pages after which the writer itself copies the rest: 128 MiB.
const LOG_PAGES: c_int = 8 * COPY_PAGES;

/// At most one copy at a time, on a thread of its own, which ends before this does.
pub(crate) struct Checkpointer {
    path: PathBuf,
    /// The length of the log at the last start.
    copied: AtomicI32,
    running: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Checkpointer {
    pub(crate) fn new(path: &Path) -> Arc<Self> {
        Arc::new(Self {
            path: path.to_owned(),
            copied: AtomicI32::new(0),
            running: Arc::default(),
            thread: Mutex::new(None),
        })
    }

    /// Has it called with the length of the log after each commit.
    pub(crate) fn watch(self: &Arc<Self>, connection: &mut Connection) -> rusqlite::Result<()> {
        let checkpointer = Arc::clone(self);
        connection.wal_hook(Some(move |log: &mut Wal, pages| {
            checkpointer.committed(log, pages);
            Ok(())
        }))
    }

    /// No error: a log that was not copied stays, and is read like the file.
    fn committed(&self, log: &mut Wal, pages: c_int) {
        if pages >= LOG_PAGES {
            // Nothing happens while the other connection copies; the next commit asks again.
            let _ = log.checkpoint();
            return;
        }
        let copied = self.copied.load(Ordering::Relaxed);
        // A shorter log is a new one.
        let since = if pages < copied {
            pages
        } else {
            pages - copied
        };
        if since >= COPY_PAGES && !self.running.swap(true, Ordering::Acquire) {
            self.copied.store(pages, Ordering::Relaxed);
            self.start();
        }
    }

    fn start(&self) {
        let mut thread = self.thread.lock();
        join(thread.take());
        let (path, running) = (self.path.clone(), Arc::clone(&self.running));
        let started = thread::Builder::new()
            .name("cornu-checkpoint".to_owned())
            .spawn(move || {
                let _ = copy(&path);
                running.store(false, Ordering::Release);
            });
        match started {
            Ok(started) => *thread = Some(started),
            Err(_) => self.running.store(false, Ordering::Release),
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        join(self.thread.get_mut().take());
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread {
        // Only a panic could be told here, and there is nothing that it left half done.
        let _ = thread.join();
    }
}

/// Copies what nobody reads in its older form, waiting for nobody.
fn copy(path: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // Of file and log, each has to be on the disk before the other may rely on it.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However busy the other connection is, the writer ends a log that has become too long.
    #[test]
    fn the_writer_alone_bounds_the_log() {
        const PAGE: u64 = 8192;
        const ROW: u64 = 1 << 20;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("any.db");
        let mut connection = Connection::open(&path).unwrap();
        let begin = format!(
            "PRAGMA page_size = {PAGE}; PRAGMA journal_mode = WAL; CREATE TABLE t (row BLOB);"
        );
        connection.execute_batch(&begin).unwrap();
        let checkpointer = Checkpointer::new(&path);
        checkpointer.running.store(true, Ordering::Relaxed);
        checkpointer.watch(&mut connection).unwrap();
        let bound = PAGE * u64::from(LOG_PAGES.unsigned_abs());
        let mut longest = 0;
        for _ in 0..2 * bound / ROW {
            let row = format!("INSERT INTO t VALUES (zeroblob({ROW}))");
            connection.execute_batch(&row).unwrap();
            let log = std::fs::metadata(path.with_extension("db-wal")).unwrap();
            longest = longest.max(log.len());
        }
        assert!(longest > bound, "{longest}: it never became too long");
        // The last row, and what a page of the log has in front.
        assert!(longest < bound + bound / 100 + 2 * ROW, "{longest}");
    }
}
