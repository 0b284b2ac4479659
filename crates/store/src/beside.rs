//! Rows beside indexed chunks, in tables that an index may have or not: token vectors, extractions.
//!
//! The store does not look into a row. Each has the digest of the space that it belongs to (what
//! model, what precision, what rules), so that what one model made is never taken for another's,
//! and a seal, so that damage in the file is an error and not a result. A table is made when its
//! first row is written, and a row goes with its chunk.

use cornu_core::{Chunk, ChunkId, DocId, DocumentFacts};
use rusqlite::{Connection, params};

use crate::digest;
use crate::error::StoreError;
use crate::read::{OF_CHUNK, Reader};
use crate::write::Batch;

/// How far a pass over the chunks of an index has come; a default one begins.
///
/// It stands between two rows, in the order in which they were written, so each step goes on where
/// the last ended, and what is written meanwhile lies ahead.
///
/// See [`SqliteVecStore::chunks_without_tokens`](crate::SqliteVecStore::chunks_without_tokens).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor(i64);

/// One such table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    pub(crate) table: &'static str,
    /// The column of the row itself.
    pub(crate) column: &'static str,
    /// What its rows are, in words.
    pub(crate) what: &'static str,
    /// What its seals are made for.
    pub(crate) domain: &'static str,
}

/// The rows of a document: one for each indexed chunk, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) of: Beside,
    pub(crate) space: &'a [u8; 32],
    pub(crate) rows: &'a [Vec<u8>],
}

impl Rows<'_> {
    /// One row for each indexed chunk.
    pub(crate) fn check(&self, facts: &DocumentFacts) -> Result<(), StoreError> {
        let indexed = facts.indexed().count();
        match self.rows.len() == indexed {
            true => Ok(()),
            false => Err(StoreError::RowCount {
                doc: facts.doc.clone(),
                what: self.of.what,
                expected: indexed,
                found: self.rows.len(),
            }),
        }
    }
}

impl Beside {
    /// Whether the index has the table.
    pub(crate) fn is_in(self, connection: &Connection) -> rusqlite::Result<bool> {
        connection
            .prepare_cached(
                "SELECT count(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = ?1",
            )?
            .query_row([self.table], |row| row.get(0))
    }

    /// The table, or one without rows where the index has none: what a query may read from.
    pub(crate) fn or_empty(self, reader: &Reader<'_>) -> Result<String, StoreError> {
        let Self { table, column, .. } = self;
        let is_there = self.is_in(reader.connection);
        Ok(match is_there.map_err(|error| reader.wrap(error))? {
            true => table.to_owned(),
            false => {
                format!("(SELECT 0 AS id, x'' AS space, x'' AS {column}, x'' AS seal WHERE 0)")
            }
        })
    }

    pub(crate) fn seal(self, chunk: &ChunkId, space: &[u8; 32], row: &[u8]) -> [u8; 16] {
        digest::row_seal(self.domain, chunk, space, row)
    }

    /// The row, if it is what was written.
    pub(crate) fn sealed(
        self,
        reader: &Reader<'_>,
        chunk: &ChunkId,
        space: &[u8; 32],
        (row, seal): (Vec<u8>, [u8; 16]),
    ) -> Result<Vec<u8>, StoreError> {
        match self.seal(chunk, space, &row) == seal {
            true => Ok(row),
            false => Err(reader.damaged(self.damage(chunk))),
        }
    }

    /// The number of rows, and their bytes. Reads the table.
    pub(crate) fn stats(self, reader: &Reader<'_>) -> Result<(u64, u64), StoreError> {
        let (table, column) = (self.or_empty(reader)?, self.column);
        let sql = format!("SELECT count(*), coalesce(sum(length({column})), 0) FROM {table}");
        let mut stats = (0, 0);
        reader.each(&sql, [], |row| {
            stats = (row.get(0)?, row.get(1)?);
            Ok(())
        })?;
        Ok(stats)
    }

    /// Indexed chunks that have no row of this space: at most `limit`, from the cursor on, which
    /// moves behind them.
    pub(crate) fn lacking(
        self,
        reader: &Reader<'_>,
        space: &[u8; 32],
        cursor: &mut Cursor,
        limit: usize,
    ) -> Result<Vec<Chunk>, StoreError> {
        let from = lacking(&self.or_empty(reader)?);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (mut found, mut last) = (Vec::new(), *cursor);
        reader.chunks(
            "c.id",
            &from,
            params![space, cursor.0, limit],
            |chunk, row, id| {
                last = Cursor(row.get(id)?);
                found.push(chunk);
                Ok(())
            },
        )?;
        *cursor = last;
        Ok(found)
    }

    /// Adds what does not hold: seals, and rows of chunks that are not indexed.
    pub(crate) fn doctor(
        self,
        reader: &Reader<'_>,
        found: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let (table, column) = (self.or_empty(reader)?, self.column);
        let sql = format!(
            "SELECT c.chunk, c.indexed, t.space, t.{column}, t.seal
             FROM {table} AS t JOIN chunks AS c ON c.id = t.id ORDER BY t.id"
        );
        reader.each(&sql, [], |row| {
            let chunk = ChunkId::from_bytes(row.get(0)?);
            let held = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
            let seal: [u8; 16] = row.get(4)?;
            if !row.get::<_, bool>(1)? || self.seal(&chunk, &row.get(2)?, held) != seal {
                found.push(self.damage(&chunk));
            }
            Ok(())
        })
    }

    fn damage(self, chunk: &ChunkId) -> String {
        format!(
            "the {} of chunk {chunk} are not what was written",
            self.what
        )
    }

    fn create(self) -> String {
        let Self { table, column, .. } = self;
        format!(
            "CREATE TABLE IF NOT EXISTS {table} (
               id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
               space BLOB NOT NULL CHECK (length(space) = 32),
               {column} BLOB NOT NULL,
               seal BLOB NOT NULL CHECK (length(seal) = 16)
             ) STRICT"
        )
    }
}

/// The chunks behind row ?2 that `table` has no row of space ?1 for. `CROSS JOIN` keeps the order of
/// the loops, so that the rows come by id without being sorted and a limit ends the search.
fn lacking(table: &str) -> String {
    format!(
        "chunks AS c CROSS JOIN documents AS d ON d.ordinal = c.document
         CROSS JOIN chunk_texts AS t ON t.id = c.id
         WHERE c.id > ?2 AND c.indexed = 1
         AND NOT EXISTS (SELECT 1 FROM {table} AS v WHERE v.id = c.id AND v.space = ?1)
         ORDER BY c.id LIMIT ?3"
    )
}

impl Batch<'_> {
    /// Gives indexed chunks that are there their rows, in place of those they had; gives how many
    /// were there.
    pub(crate) fn put_rows(
        &mut self,
        of: Beside,
        space: &[u8; 32],
        rows: &[(ChunkId, Vec<u8>)],
    ) -> Result<usize, StoreError> {
        let Beside { table, column, .. } = of;
        let sql = format!(
            "INSERT INTO {table} (id, space, {column}, seal)
             SELECT id, ?2, ?3, ?4 FROM chunks AS c WHERE {OF_CHUNK} AND indexed = 1
             ON CONFLICT (id) DO UPDATE SET space = ?2, {column} = ?3, seal = ?4"
        );
        let written = self.in_savepoint(|batch| {
            batch.run(&of.create(), [])?;
            let mut written = 0;
            for (chunk, row) in rows {
                let seal = of.seal(chunk, space, row);
                written += batch.run(&sql, params![chunk.as_bytes(), space, row, seal])?;
            }
            Ok(written)
        })?;
        self.note_change(written > 0);
        Ok(written)
    }

    /// Whether exactly these are stored of a document.
    pub(crate) fn has_rows(&self, doc: &DocId, rows: Rows<'_>) -> Result<bool, StoreError> {
        let table = rows.of.table;
        let stored = || -> rusqlite::Result<Option<Vec<[u8; 16]>>> {
            if !rows.of.is_in(self.connection())? {
                return Ok(None);
            }
            let mut statement = self.connection().prepare_cached(&format!(
                "SELECT t.seal FROM documents AS d
                 JOIN chunks AS c ON c.document = d.ordinal AND c.indexed = 1
                 JOIN {table} AS t ON t.id = c.id WHERE d.name = ?1 ORDER BY c.place"
            ))?;
            let seals = statement.query_map([doc.as_str()], |row| row.get(0))?;
            seals.collect::<rusqlite::Result<_>>().map(Some)
        };
        let stored = stored()
            .map_err(|error| self.wrap(error))?
            .unwrap_or_default();
        if stored.len() != rows.rows.len() {
            return Ok(false);
        }
        let chunks = self.indexed_chunks(doc)?;
        let seals = chunks.iter().zip(rows.rows);
        Ok(seals
            .map(|((_, chunk), row)| rows.of.seal(chunk, rows.space, row))
            .eq(stored))
    }

    /// Writes the rows of a document that is there, in place of those it had.
    pub(crate) fn put_all(&self, doc: &DocId, rows: Rows<'_>) -> Result<(), StoreError> {
        let Rows { of, space, rows } = rows;
        let Beside { table, column, .. } = of;
        self.run(&of.create(), [])?;
        let sql = format!(
            "INSERT INTO {table} (id, space, {column}, seal) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO UPDATE SET space = ?2, {column} = ?3, seal = ?4"
        );
        for ((id, chunk), row) in self.indexed_chunks(doc)?.iter().zip(rows) {
            self.run(&sql, params![id, space, row, of.seal(chunk, space, row)])?;
        }
        Ok(())
    }

    fn indexed_chunks(&self, doc: &DocId) -> Result<Vec<(i64, ChunkId)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<_>> {
            let mut statement = self.connection().prepare_cached(
                "SELECT c.id, c.chunk FROM documents AS d JOIN chunks AS c
                 ON c.document = d.ordinal AND c.indexed = 1 WHERE d.name = ?1 ORDER BY c.place",
            )?;
            let rows = statement.query_map([doc.as_str()], |row| {
                Ok((row.get(0)?, ChunkId::from_bytes(row.get(1)?)))
            })?;
            rows.collect()
        };
        read().map_err(|error| self.wrap(error))
    }
}

#[cfg(test)]
mod tests {
    use super::lacking;
    use crate::sqlite::schema::FACTS;

    /// Each step of a pass goes on at its row: it neither reads what lies before nor sorts.
    #[test]
    fn a_pass_over_the_chunks_reads_each_row_once() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch(FACTS).unwrap();
        for table in [crate::tokens::TOKENS, crate::extractions::EXTRACTIONS] {
            connection.execute_batch(&table.create()).unwrap();
            let sql = format!(
                "EXPLAIN QUERY PLAN SELECT c.id FROM {}",
                lacking(table.table)
            );
            let mut plan = connection.prepare(&sql).unwrap();
            let steps: Vec<String> = plan
                .query_map(rusqlite::params![[0_u8; 32], 0, 64], |row| {
                    row.get("detail")
                })
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            assert_eq!(
                steps.first().map(String::as_str),
                Some("SEARCH c USING INTEGER PRIMARY KEY (rowid>?)")
            );
            assert!(
                !steps.iter().any(|step| step.contains("TEMP B-TREE")),
                "{steps:?}"
            );
        }
    }
}
