//! How SQLite is often given to many threads, and what comes of it: for tables and tests to show
//! beside this crate's store, and for nothing else (feature `naive`).

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode, params};

use crate::error::StoreError;

/// A habit that meets locks.
///
/// ```
/// assert_eq!(cornu_store::naive::Habit::ALL.len(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// All threads share one connection and lock it for a statement, not for a transaction.
    OneConnection,
    /// A connection for each thread, and nobody waits for a lock.
    NoBusyTimeout,
    /// A connection for each thread and five seconds of waiting, but a transaction that begins as a
    /// reader and writes later: waiting does not help it, for its snapshot is old by then.
    LateWrite,
}

impl Habit {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OneConnection, Self::NoBusyTimeout, Self::LateWrite];

    /// As tables name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OneConnection => "naive-one-connection",
            Self::NoBusyTimeout => "naive-no-busy-timeout",
            Self::LateWrite => "naive-deferred-begin",
        }
    }
}

/// What became of the transactions.
///
/// ```
/// let outcome = cornu_store::naive::Outcome { committed: 3, locked: 1, confused: 0, rows: 3 };
/// assert_eq!(outcome.error_rate(), 0.25);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Those that ended with a successful COMMIT.
    pub committed: u64,
    /// Those that ended with `database is locked`.
    pub locked: u64,
    /// Those that ended with another error, such as a transaction within a transaction.
    pub confused: u64,
    /// Rows that are there afterwards: as many as were committed, unless halves were mixed.
    pub rows: u64,
}

impl Outcome {
    /// Failed transactions, as a part of all.
    #[must_use]
    pub fn error_rate(&self) -> f64 {
        let failed = self.locked + self.confused;
        failed as f64 / (self.committed + failed).max(1) as f64
    }
}

/// Has `threads` run `rounds` transactions each over a new database at `path`: read a row, write a
/// row.
///
/// # Errors
/// [`StoreError`] when the database cannot be made. What the transactions meet is no error here: it
/// is what is counted.
pub fn hammer(
    path: &Path,
    habit: Habit,
    threads: usize,
    rounds: usize,
) -> Result<Outcome, StoreError> {
    let wrap = |error| StoreError::sql(path, Duration::ZERO, "opening", error);
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(path)?;
        let patience = match habit {
            Habit::OneConnection | Habit::NoBusyTimeout => Duration::ZERO,
            Habit::LateWrite => Duration::from_secs(5),
        };
        connection.busy_timeout(patience)?;
        connection.execute_batch("PRAGMA synchronous = NORMAL;")?;
        Ok(connection)
    };
    let first = open().map_err(wrap)?;
    first
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE rows (id INTEGER PRIMARY KEY, v);")
        .map_err(wrap)?;
    let own = (0..threads)
        .map(|_| open().map(Mutex::new))
        .collect::<Result<Vec<_>, _>>()
        .map_err(wrap)?;
    let shared = Mutex::new(first);
    let counts = [const { AtomicU64::new(0) }; 3];
    thread::scope(|scope| {
        for own in &own {
            let connection = match habit {
                Habit::OneConnection => &shared,
                Habit::NoBusyTimeout | Habit::LateWrite => own,
            };
            let counts = &counts;
            scope.spawn(move || {
                for _ in 0..rounds {
                    let place = match transaction(connection, habit) {
                        Ok(()) => 0,
                        Err(error) => {
                            // Whether it helps is not asked either.
                            let _ = connection.lock().execute_batch("ROLLBACK");
                            1 + usize::from(!is_locked(&error))
                        }
                    };
                    if let Some(count) = counts.get(place) {
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let rows = shared
        .lock()
        .query_row("SELECT count(*) FROM rows", [], |row| row.get(0))
        .map_err(wrap)?;
    let [committed, locked, confused] = counts.map(AtomicU64::into_inner);
    Ok(Outcome {
        committed,
        locked,
        confused,
        rows,
    })
}

fn transaction(connection: &Mutex<Connection>, habit: Habit) -> rusqlite::Result<()> {
    let begin = match habit {
        Habit::NoBusyTimeout => "BEGIN IMMEDIATE",
        Habit::OneConnection | Habit::LateWrite => "BEGIN",
    };
    connection.lock().execute_batch(begin)?;
    let next: i64 =
        connection
            .lock()
            .query_row("SELECT coalesce(max(id), 0) FROM rows", [], |row| {
                row.get(0)
            })?;
    // What a program does between reading and writing.
    thread::yield_now();
    connection
        .lock()
        .execute("INSERT INTO rows (v) VALUES (?1)", params![next])?;
    connection.lock().execute_batch("COMMIT")
}

fn is_locked(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}
