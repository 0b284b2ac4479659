//! The tables, and the one row that says what the file is.

use std::path::Path;

use cornu_core::Fingerprint;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::StoreError;

/// Written by this version.
///
/// 2: ids of chunks are found in two tables instead of one index.
pub(crate) const SCHEMA: i64 = 2;

/// The oldest that this version reads.
pub(crate) const OLDEST_SCHEMA: i64 = 2;

/// `PRAGMA application_id`: "Crnu".
pub(crate) const APPLICATION_ID: i64 = 0x4372_6e75;

/// Bytes of a page: five rows of dimension 384 fit, with 6 % to spare.
pub(crate) const PAGE_SIZE: u32 = 8192;

/// The fact tables.
///
/// A document's `ordinal` is the number of one version of it: a changed document gets a new one,
/// and none is ever used again. So an ordinal means the same facts for ever, and what is derived
/// from them can be brought up to date by comparing ordinals.
///
/// Ids of chunks are hashes, so each new one belongs to another page of whatever finds them. New
/// ones go to a small table, and from there in order to the large one, [some 65,000](SETTLED_IDS)
/// at a time: then a commit does not write pages all over the large one.
pub(crate) const FACTS: &str = "
CREATE TABLE meta (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  store BLOB NOT NULL CHECK (length(store) = 16),
  state BLOB NOT NULL CHECK (length(state) = 16),
  epoch INTEGER NOT NULL,
  dimension INTEGER NOT NULL CHECK (dimension > 0),
  fingerprint TEXT NOT NULL
) STRICT;
CREATE TABLE documents (
  ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  content BLOB NOT NULL CHECK (length(content) = 32),
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  vectors INTEGER NOT NULL,
  terms INTEGER NOT NULL CHECK (terms IN (0, 1))
) STRICT;
CREATE TABLE grants (
  name TEXT NOT NULL,
  document INTEGER NOT NULL REFERENCES documents (ordinal) ON DELETE CASCADE,
  PRIMARY KEY (name, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_of_document ON grants (document);
CREATE TABLE grant_seals (
  name TEXT PRIMARY KEY,
  documents INTEGER NOT NULL,
  seal BLOB NOT NULL CHECK (length(seal) = 16)
) STRICT, WITHOUT ROWID;
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  chunk BLOB NOT NULL CHECK (length(chunk) = 32),
  document INTEGER NOT NULL REFERENCES documents (ordinal) ON DELETE CASCADE,
  indexed INTEGER NOT NULL CHECK (indexed IN (0, 1)),
  place INTEGER NOT NULL,
  kind TEXT NOT NULL,
  parent BLOB CHECK (parent IS NULL OR length(parent) = 32),
  span_start INTEGER NOT NULL, span_end INTEGER NOT NULL,
  core_start INTEGER NOT NULL, core_end INTEGER NOT NULL,
  line_first INTEGER NOT NULL, line_last INTEGER NOT NULL,
  tokens INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunks_of_document ON chunks (document, indexed, place);
CREATE TABLE chunk_ids (
  chunk BLOB PRIMARY KEY,
  id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE new_chunk_ids (
  chunk BLOB PRIMARY KEY,
  id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER chunk_is_gone AFTER DELETE ON chunks BEGIN
  DELETE FROM new_chunk_ids WHERE chunk = old.chunk;
  DELETE FROM chunk_ids WHERE chunk = old.chunk;
END;
CREATE TABLE chunk_texts (
  id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  headings TEXT NOT NULL,
  prefix TEXT NOT NULL,
  language TEXT,
  text TEXT NOT NULL,
  index_text TEXT,
  seal BLOB NOT NULL CHECK (length(seal) = 16)
) STRICT;
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;
CREATE TABLE terms (
  id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  counts BLOB NOT NULL
) STRICT;
CREATE TABLE vec_state (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  state BLOB NOT NULL,
  last INTEGER NOT NULL,
  written INTEGER NOT NULL
) STRICT;
CREATE VIEW chunk_records AS
  SELECT lower(hex(c.chunk)) AS chunk_id, d.name AS source, t.headings AS section,
    (SELECT json_group_array(g.name) FROM
      (SELECT name FROM grants WHERE document = c.document ORDER BY name) AS g) AS acl,
    t.text AS text
  FROM chunks AS c JOIN documents AS d ON d.ordinal = c.document
    JOIN chunk_texts AS t ON t.id = c.id
  ORDER BY c.id;
";

/// New ids of chunks are moved to the large table whenever the last id is past a multiple of this.
pub(crate) const SETTLED_IDS: i64 = 1 << 16;

/// Moves the new ids of chunks to the large table.
pub(crate) fn settle_ids(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "INSERT INTO chunk_ids (chunk, id) SELECT chunk, id FROM new_chunk_ids ORDER BY chunk;
         DELETE FROM new_chunk_ids;",
    )
}

/// One state of the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// Moves by one with every commit that changes facts.
    pub(crate) epoch: u64,
    /// Random, and new with every such commit: equal states hold equal facts, even across copies
    /// of a file that went different ways.
    pub(crate) id: [u8; 16],
}

/// What a file is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meta {
    /// Random, given at creation.
    pub(crate) store: [u8; 16],
    pub(crate) state: State,
    pub(crate) dimension: usize,
    pub(crate) fingerprint: Fingerprint,
}

/// Reads the present state; the first statement of a transaction fixes its snapshot.
pub(crate) fn read_state(connection: &Connection) -> rusqlite::Result<State> {
    let mut statement = connection.prepare_cached("SELECT epoch, state FROM meta")?;
    statement.query_row([], |row| {
        Ok(State {
            epoch: row.get::<_, i64>(0)?.cast_unsigned(),
            id: row.get(1)?,
        })
    })
}

/// The states that the facts went through before the present one, the latest of them.
///
/// No fact, so it is in no digest. A file of an older version of the program gets the table with its
/// next commit, and an older version passes it over: then a state is missing in it, and what asks
/// for that one is told that nothing is known of it.
const PASSED: &str = "
CREATE TABLE IF NOT EXISTS passed_states (
  epoch INTEGER PRIMARY KEY,
  state BLOB NOT NULL CHECK (length(state) = 16)
) STRICT";

/// How many of them are kept at least: two pages.
const KEPT_STATES: u64 = 512;

/// Moves to the next state.
pub(crate) fn advance(connection: &Connection) -> rusqlite::Result<()> {
    if let Err(error) = record(connection)
        && connection.is_autocommit()
    {
        // It took the transaction with it. Otherwise the record is no more than speed: where a full
        // file has no room for it, what is removed from the file is removed all the same.
        return Err(error);
    }
    connection
        .prepare_cached("UPDATE meta SET epoch = epoch + 1, state = randomblob(16)")?
        .execute([])?;
    Ok(())
}

/// Puts the present state on record, as one that is to be passed.
fn record(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO passed_states (epoch, state) SELECT epoch, state FROM meta";
    let mut statement = match connection.prepare_cached(sql) {
        Ok(statement) => statement,
        Err(_) => {
            connection.execute_batch(PASSED)?;
            connection.prepare_cached(sql)?
        }
    };
    statement.execute([])?;
    let epoch = read_state(connection)?.epoch;
    if epoch % KEPT_STATES == 0 {
        connection
            .prepare_cached("DELETE FROM passed_states WHERE epoch + ?1 < ?2")?
            .execute([KEPT_STATES.cast_signed(), epoch.cast_signed()])?;
    }
    Ok(())
}

/// Whether the facts that the connection reads came to be by commits upon those of this earlier
/// state. A `false` says nothing: the state may have been passed too long ago.
pub(crate) fn has_passed(connection: &Connection, state: State) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM passed_states WHERE epoch = ?1 AND state = ?2";
    let Ok(mut statement) = connection.prepare_cached(sql) else {
        // A file that no commit of this version has reached.
        return Ok(false);
    };
    statement.exists(params![state.epoch.cast_signed(), state.id])
}

/// Reads what the file is; `wrap` gives an SQLite error its name.
pub(crate) fn read_meta(
    connection: &Connection,
    path: &Path,
    wrap: impl Fn(rusqlite::Error) -> StoreError,
) -> Result<Meta, StoreError> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = pragma("application_id").map_err(&wrap)?;
    if application != APPLICATION_ID {
        return Err(StoreError::corrupted(
            path,
            "it is an SQLite database, but not one of this store",
        ));
    }
    let found = pragma("user_version").map_err(&wrap)?;
    let path_owned = || path.to_owned();
    if found > SCHEMA {
        return Err(StoreError::NewerSchema {
            path: path_owned(),
            found,
            supported: SCHEMA,
        });
    }
    if found < OLDEST_SCHEMA {
        return Err(StoreError::OlderSchema {
            path: path_owned(),
            found,
            oldest: OLDEST_SCHEMA,
        });
    }
    let state = read_state(connection).map_err(&wrap)?;
    let row = connection
        .query_row(
            "SELECT store, dimension, fingerprint FROM meta",
            [],
            |row| Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?)),
        )
        .optional()
        .map_err(&wrap)?;
    let damaged = |detail: &str| StoreError::corrupted(path, detail);
    let (store, dimension, fingerprint) = row.ok_or_else(|| damaged("its meta row is missing"))?;
    Ok(Meta {
        store,
        state,
        dimension: usize::try_from(dimension).map_err(|_| damaged("its dimension is negative"))?,
        fingerprint: serde_json::from_str(&fingerprint)
            .map_err(|error| damaged(&format!("its fingerprint: {error}")))?,
    })
}
