//! Token vectors of chunks, for late interaction: facts that an index may have or not.
//!
//! The store does not look into them. Each row has the digest of the space that it belongs to, so
//! that vectors of another model or precision are never taken for those that are asked for, and a
//! seal, so that damage in the file does not become a score. They stand in a table of their own,
//! which is made when the first of them is written.

use cornu_core::{ChunkId, DocId, DocumentFacts};
use rusqlite::{OptionalExtension, params};

use crate::digest;
use crate::error::StoreError;
use crate::read::Reader;
use crate::snapshot::{Reading, Snapshot};
use crate::store::SqliteVecStore;
use crate::write::Batch;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS token_vectors (
  id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  space BLOB NOT NULL CHECK (length(space) = 32),
  tokens BLOB NOT NULL,
  seal BLOB NOT NULL CHECK (length(seal) = 16)
) STRICT";

const HAS_TABLE: &str =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'token_vectors'";

/// The token vectors of a document, as bytes.
///
/// ```
/// use cornu_store::TokenFacts;
/// let tokens = TokenFacts { space: [7; 32], rows: vec![b"of the first indexed chunk".to_vec()] };
/// assert_eq!(tokens.rows.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenFacts {
    /// The digest of what the vectors depend on: model, precision.
    pub space: [u8; 32],
    /// For each indexed chunk, in order.
    pub rows: Vec<Vec<u8>>,
}

/// How much of an index are token vectors. For its owner.
///
/// See [`SqliteVecStore::token_stats`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenStats {
    /// Chunks that have them.
    pub chunks: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Snapshot<'_> {
    /// The token vectors of chunks, in order; `None` alike where a chunk does not exist, is not
    /// seen, or has none of this space. O(chunks · log).
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read, or holds another row than was written.
    pub fn token_vectors(
        &self,
        space: &[u8; 32],
        chunks: &[ChunkId],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.reading().read(|reader| {
            let mut found = vec![None; chunks.len()];
            if !has_table(reader)? {
                return Ok(found);
            }
            let sql = "SELECT c.document, t.tokens, t.seal FROM chunks AS c
                JOIN token_vectors AS t ON t.id = c.id WHERE c.chunk = ?1 AND t.space = ?2";
            for (chunk, found) in chunks.iter().zip(&mut found) {
                let mut row = None;
                reader.each(sql, params![chunk.as_bytes(), space], |values| {
                    if self.view().contains(values.get(0)?) {
                        row = Some((values.get::<_, Vec<u8>>(1)?, values.get::<_, [u8; 16]>(2)?));
                    }
                    Ok(())
                })?;
                if let Some((tokens, seal)) = row {
                    if digest::token_seal(chunk, space, &tokens) != seal {
                        let detail = format!("the token vectors of chunk {chunk}");
                        return Err(reader.damaged(format!("{detail} are not what was written")));
                    }
                    *found = Some(tokens);
                }
            }
            Ok(found)
        })
    }
}

impl SqliteVecStore {
    /// How many chunks have token vectors, and how large they are. Reads the table.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    ///
    /// ```
    /// # use cornu_core::Fingerprint;
    /// # use cornu_store::{Options, SqliteVecStore, TokenStats};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &Options::default())?;
    /// assert_eq!(store.token_stats()?, TokenStats::default());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn token_stats(&self) -> Result<TokenStats, StoreError> {
        Reading::begin(self)?.read(|reader| {
            let mut stats = TokenStats::default();
            if has_table(reader)? {
                let sql = "SELECT count(*), coalesce(sum(length(tokens)), 0) FROM token_vectors";
                reader.each(sql, [], |row| {
                    stats = TokenStats {
                        chunks: row.get(0)?,
                        bytes: row.get(1)?,
                    };
                    Ok(())
                })?;
            }
            Ok(stats)
        })
    }
}

impl SqliteVecStore {
    /// Indexed chunks that have no token vectors of a space, with what is embedded of them: at most
    /// `limit`, behind chunk `after`, in order of id. For the owner: it tells about all documents.
    /// Reads the table's index.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn chunks_without_tokens(
        &self,
        space: &[u8; 32],
        after: Option<&ChunkId>,
        limit: usize,
    ) -> Result<Vec<(ChunkId, String)>, StoreError> {
        Reading::begin(self)?.read(|reader| {
            // Without the table no chunk has any.
            let held = match has_table(reader)? {
                true => "NOT EXISTS (SELECT 1 FROM token_vectors AS v WHERE v.id = c.id AND v.space = ?1)",
                false => "?1 IS NOT NULL",
            };
            let sql = format!(
                "SELECT c.chunk, coalesce(t.index_text, t.text) FROM chunks AS c
                 JOIN chunk_texts AS t ON t.id = c.id
                 WHERE c.indexed = 1 AND c.chunk > ?2 AND {held} ORDER BY c.chunk LIMIT ?3"
            );
            let after: &[u8] = after.map_or(&[], |id| id.as_bytes());
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut found = Vec::new();
            reader.each(&sql, params![space, after, limit], |row| {
                found.push((ChunkId::from_bytes(row.get(0)?), row.get(1)?));
                Ok(())
            })?;
            Ok(found)
        })
    }
}

impl Batch<'_> {
    /// Gives chunks that are there their token vectors, in place of those they had; gives how many
    /// were there. A chunk's id tells its contents, so what was computed for an id fits it whenever
    /// it is written.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn put_token_vectors(
        &mut self,
        space: &[u8; 32],
        rows: &[(ChunkId, Vec<u8>)],
    ) -> Result<usize, StoreError> {
        let written = self.in_savepoint(|batch| {
            batch.run(TABLE, [])?;
            let mut written = 0;
            for (chunk, row) in rows {
                written += batch.run(
                    "INSERT INTO token_vectors (id, space, tokens, seal)
                     SELECT id, ?2, ?3, ?4 FROM chunks WHERE chunk = ?1 AND indexed = 1
                     ON CONFLICT (id) DO UPDATE SET space = ?2, tokens = ?3, seal = ?4",
                    params![
                        chunk.as_bytes(),
                        space,
                        row,
                        digest::token_seal(chunk, space, row)
                    ],
                )?;
            }
            Ok(written)
        })?;
        self.note_change(written > 0);
        Ok(written)
    }

    /// As [`upsert_with_terms`](Self::upsert_with_terms), with the token vectors of each indexed
    /// chunk, all in one savepoint.
    ///
    /// A document that is there with the same facts and other token vectors counts as
    /// [replaced](cornu_core::Change::Replaced).
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn upsert_with_tokens(
        &mut self,
        facts: &DocumentFacts,
        terms: &[crate::TermCounts],
        tokens: &TokenFacts,
    ) -> Result<cornu_core::Change, StoreError> {
        self.write(facts, Some(terms), Some(tokens))
    }

    /// Whether exactly these are stored.
    pub(crate) fn has_tokens(&self, doc: &DocId, tokens: &TokenFacts) -> Result<bool, StoreError> {
        let stored = || -> rusqlite::Result<Option<Vec<[u8; 16]>>> {
            let held: u64 = self
                .connection()
                .prepare_cached(HAS_TABLE)?
                .query_row([], |row| row.get(0))?;
            if held == 0 {
                return Ok(None);
            }
            let mut statement = self.connection().prepare_cached(
                "SELECT t.seal FROM documents AS d
                 JOIN chunks AS c ON c.document = d.ordinal AND c.indexed = 1
                 JOIN token_vectors AS t ON t.id = c.id WHERE d.name = ?1 ORDER BY c.place",
            )?;
            let seals = statement.query_map([doc.as_str()], |row| row.get(0))?;
            seals.collect::<rusqlite::Result<_>>().map(Some)
        };
        let stored = stored()
            .map_err(|error| self.wrap(error))?
            .unwrap_or_default();
        if stored.len() != tokens.rows.len() {
            return Ok(false);
        }
        let chunks = self.indexed_chunks(doc)?;
        let seals = chunks.iter().zip(&tokens.rows);
        let seals = seals.map(|((_, chunk), row)| digest::token_seal(chunk, &tokens.space, row));
        Ok(seals.eq(stored))
    }

    /// Writes the rows of a document that is there, in place of those it had.
    pub(crate) fn put_tokens(&self, doc: &DocId, tokens: &TokenFacts) -> Result<(), StoreError> {
        self.run(TABLE, [])?;
        for ((id, chunk), row) in self.indexed_chunks(doc)?.iter().zip(&tokens.rows) {
            self.run(
                "INSERT INTO token_vectors (id, space, tokens, seal) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (id) DO UPDATE SET space = ?2, tokens = ?3, seal = ?4",
                params![
                    id,
                    tokens.space,
                    row,
                    digest::token_seal(chunk, &tokens.space, row)
                ],
            )?;
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

/// Adds what does not hold of token vectors: seals, and rows of chunks that are not indexed.
pub(crate) fn check(reader: &Reader<'_>, found: &mut Vec<String>) -> Result<(), StoreError> {
    if !has_table(reader)? {
        return Ok(());
    }
    let sql = "SELECT c.chunk, c.indexed, t.space, t.tokens, t.seal
        FROM token_vectors AS t JOIN chunks AS c ON c.id = t.id ORDER BY t.id";
    reader.each(sql, [], |row| {
        let chunk = ChunkId::from_bytes(row.get(0)?);
        let tokens = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
        let seal: [u8; 16] = row.get(4)?;
        if !row.get::<_, bool>(1)? || digest::token_seal(&chunk, &row.get(2)?, tokens) != seal {
            found.push(format!(
                "the token vectors of chunk {chunk} are not what was written"
            ));
        }
        Ok(())
    })
}

fn has_table(reader: &Reader<'_>) -> Result<bool, StoreError> {
    let count = reader.connection.prepare_cached(HAS_TABLE);
    let count = count.and_then(|mut statement| {
        statement
            .query_row([], |row| row.get::<_, u64>(0))
            .optional()
    });
    count
        .map(|count| count.unwrap_or(0) > 0)
        .map_err(|error| reader.wrap(error))
}
