//! Connections with all the settings that belong to a connection rather than to the file.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cornu_pool::{Manager, Role};
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use super::checkpoint::Checkpointer;
use super::extension;
use crate::error::StoreError;
use crate::options::{Access, Durability, Options};

/// The longest that SQLite waits for a lock: it counts milliseconds in 31 bits.
const LONGEST_WAIT: Duration = Duration::from_millis(i32::MAX as u64);

/// Prepared statements kept by each connection; the store has about forty.
const STATEMENTS: usize = 64;

/// Pages that the writer keeps in memory: ids of chunks are hashes, so a batch touches its index
/// all over, and each page that does not fit is written to the log once more.
const WRITER_CACHE_KIB: i64 = 64 * 1024;

/// Opens the connections of one store.
pub(crate) struct Connections {
    path: PathBuf,
    options: Options,
    checkpointer: Arc<Checkpointer>,
}

impl Connections {
    pub(crate) fn new(path: &Path, options: &Options) -> Self {
        Self {
            path: path.to_owned(),
            options: options.clone(),
            checkpointer: Checkpointer::new(&file_path(path)),
        }
    }

    fn connect(&self, role: Role) -> Result<Connection, rusqlite::Error> {
        extension::load()?;
        let options = &self.options;
        let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
        flags |= match role {
            // Never CREATE: a missing file is an error, not an empty store.
            Role::Writer => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Role::Reader => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        let mut connection = if options.access == Access::Immutable {
            flags |= OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(immutable_uri(&file_path(&self.path)), flags)?
        } else {
            Connection::open_with_flags(file_path(&self.path), flags)?
        };
        connection.busy_timeout(options.busy_timeout.min(LONGEST_WAIT))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // A statement's plan does not depend on what is bound to it. Without this promise SQLite
        // looks at bound values while it plans, and a kept statement is parsed and planned anew
        // whenever another value is bound: four fifths of the time of a short search.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        rusqlite::vtab::array::load_module(&connection)?;
        let mmap = options.mmap_bytes.min(i64::MAX.cast_unsigned());
        connection.pragma_update(None, "mmap_size", mmap.cast_signed())?;
        connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;")?;
        if role == Role::Writer {
            let synchronous = match options.durability {
                Durability::PowerLoss => "FULL",
                Durability::ProcessKill => "NORMAL",
            };
            connection.pragma_update(None, "synchronous", synchronous)?;
            self.checkpointer.watch(&mut connection)?;
            connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
            if let Some(pages) = options.max_pages {
                connection.pragma_update(None, "max_page_count", pages)?;
            }
        }
        Ok(connection)
    }
}

impl Manager for Connections {
    type Connection = Connection;
    type Error = StoreError;

    fn open(&self, role: Role) -> Result<Connection, StoreError> {
        self.connect(role).map_err(|source| {
            StoreError::sql(&self.path, self.options.busy_timeout, "opening", source)
        })
    }

    fn recycle(&self, connection: &mut Connection) -> bool {
        connection.is_autocommit() || run(connection, "ROLLBACK").is_ok()
    }
}

/// Runs a statement without parameters or rows, which the connection keeps.
pub(crate) fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// A set of integers as one parameter, for `rarray(?)`.
pub(crate) fn integers(values: impl IntoIterator<Item = i64>) -> Rc<Vec<Value>> {
    Rc::new(values.into_iter().map(Value::Integer).collect())
}

/// The path as SQLite is to be given it: `:memory:` and what begins with `file:` would be more than
/// names to it, with a folder before them they are not.
pub(crate) fn file_path(path: &Path) -> PathBuf {
    match path.is_absolute() || path.as_os_str().is_empty() {
        true => path.to_owned(),
        false => Path::new(".").join(path),
    }
}

/// The path as a `file:` URI. Everything that is not plainly a name is escaped.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::read::CHUNK;
    use crate::sqlite::create::create;

    /// How often a kept statement was planned anew while three values were bound to it in turn.
    fn plans(connection: &Connection) -> i32 {
        for name in 0..3_u8 {
            let mut statement = connection.prepare_cached(&CHUNK).unwrap();
            let mut rows = statement.query([[name; 32]]).unwrap();
            assert!(rows.next().unwrap().is_none());
        }
        let statement = connection.prepare_cached(&CHUNK).unwrap();
        statement.get_status(StatementStatus::RePrepare)
    }

    #[test]
    fn a_kept_statement_is_planned_once_whatever_is_bound_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        create(&path, &cornu_core::Fingerprint::new("m"), 2).unwrap();
        for role in [Role::Reader, Role::Writer] {
            let connections = Connections::new(&path, &Options::default());
            assert_eq!(plans(&connections.open(role).unwrap()), 0);
            // What the promise is for: without it, one plan for each further value.
            let connection = connections.open(role).unwrap();
            let off = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, false);
            assert!(!off.unwrap());
            assert_eq!(plans(&connection), 2);
        }
    }
}
