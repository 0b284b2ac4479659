//! The `vec0` table: an artifact inside the database, from which SQL finds neighbours.
//!
//! Only a flat index will do. sqlite-vec's other indexes tell SQLite that they enforce
//! `rowid IN (…)` and then do not look at it, so a search would return what the asker may not see.

use rusqlite::{Connection, OptionalExtension};

use crate::sqlite::schema::State;

/// Rows below which holes do not matter: vec0 holds this many in one of its chunks.
const CHUNK_ROWS: i64 = 1024;

/// The most components of a vector that vec0 takes.
pub(crate) const MOST_DIMENSIONS: usize = 8192;

/// The state whose vectors the table holds; `None` when there is no table.
pub(crate) fn state(connection: &Connection) -> rusqlite::Result<Option<[u8; 16]>> {
    connection
        .prepare_cached("SELECT state FROM vec_state")?
        .query_row([], |row| row.get(0))
        .optional()
}

/// Brings the table to the present state of the facts, within the caller's write transaction.
///
/// Ids of chunks are never used twice and their vectors never change, so what is missing is what
/// has a greater id than the last one written, and what is gone is what the facts lack. O(rows) to
/// compare. Deleted rows leave holes that vec0 does not fill; when less than 0.7 of what was
/// written is live, the table is written anew.
pub(crate) fn update(
    connection: &Connection,
    state: State,
    dimension: usize,
) -> rusqlite::Result<()> {
    let known = connection
        .query_row("SELECT state, last, written FROM vec_state", [], |row| {
            Ok((
                row.get::<_, [u8; 16]>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, i64>(2)?,
            ))
        })
        .optional()?;
    let Some((known, last, written)) = known else {
        return rebuild(connection, state, dimension);
    };
    if known == state.id {
        return Ok(());
    }
    let count = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let live = count("SELECT count(*) FROM vectors")?;
    let new = connection.query_row(
        "SELECT count(*) FROM vectors WHERE id > ?1",
        [last],
        |row| row.get::<_, i64>(0),
    )?;
    let written = written + new;
    if written > CHUNK_ROWS && live * 10 < written * 7 {
        return rebuild(connection, state, dimension);
    }
    connection.execute(
        "DELETE FROM vec_chunks WHERE rowid IN
           (SELECT rowid FROM vec_chunks_rowids EXCEPT SELECT id FROM vectors)",
        [],
    )?;
    insert(connection, state, last, written)
}

/// Writes the table anew from the vectors of record.
pub(crate) fn rebuild(
    connection: &Connection,
    state: State,
    dimension: usize,
) -> rusqlite::Result<()> {
    drop_table(connection)?;
    connection.execute_batch(&format!(
        "CREATE VIRTUAL TABLE vec_chunks USING vec0(embedding float[{dimension}] distance_metric=L2)"
    ))?;
    let live = connection.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0))?;
    insert(connection, state, 0, live)
}

/// Removes the table; the facts do not need it.
pub(crate) fn drop_table(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DROP TABLE IF EXISTS vec_chunks; DELETE FROM vec_state;")
}

fn insert(connection: &Connection, state: State, last: i64, written: i64) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO vec_chunks (rowid, embedding) SELECT id, vector FROM vectors WHERE id > ?1 ORDER BY id",
        [last],
    )?;
    // Deleting and inserting: `INSERT OR REPLACE` is for ordinary tables only, and this is one,
    // but the rule of this file is to use it nowhere.
    connection.execute("DELETE FROM vec_state", [])?;
    connection.execute(
        "INSERT INTO vec_state (one, state, last, written)
         VALUES (1, ?1, coalesce((SELECT max(id) FROM vectors), ?2), ?3)",
        rusqlite::params![state.id, last, written],
    )?;
    Ok(())
}
