//! Token vectors of chunks, for late interaction: facts that an index may have or not.
//!
//! The store does not look into them; see [`Snapshot::token_vectors`] for how they are read.

use cornu_core::{Change, Chunk, ChunkId, DocumentFacts};
use rusqlite::params;

use crate::beside::{Beside, Cursor, Rows};
use crate::error::StoreError;
use crate::read::OF_CHUNK;
use crate::snapshot::{Reading, Snapshot};
use crate::store::SqliteVecStore;
use crate::write::Batch;

pub(crate) const TOKENS: Beside = Beside {
    table: "token_vectors",
    column: "tokens",
    what: "token vectors",
    domain: "cornu store tokens v1",
};

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

impl TokenFacts {
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows {
            of: TOKENS,
            space: &self.space,
            rows: &self.rows,
        }
    }
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
            let table = TOKENS.or_empty(reader)?;
            let sql = format!(
                "SELECT c.document, t.tokens, t.seal FROM chunks AS c
                 JOIN {table} AS t ON t.id = c.id WHERE {OF_CHUNK} AND t.space = ?2"
            );
            for (chunk, found) in chunks.iter().zip(&mut found) {
                let mut row = None;
                reader.each(&sql, params![chunk.as_bytes(), space], |values| {
                    if self.view().contains(values.get(0)?) {
                        row = Some((values.get(1)?, values.get(2)?));
                    }
                    Ok(())
                })?;
                *found = row
                    .map(|row| TOKENS.sealed(reader, chunk, space, row))
                    .transpose()?;
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
        let (chunks, bytes) = Reading::begin(self)?.read(|reader| TOKENS.stats(reader))?;
        Ok(TokenStats { chunks, bytes })
    }

    /// Indexed chunks that have no token vectors of a space, in the order in which they were written:
    /// at most `limit`, from the cursor on, which moves behind them. For the owner: it tells about
    /// all documents. A pass from beginning to end reads each chunk's row once.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    ///
    /// ```
    /// # use cornu_core::Fingerprint;
    /// # use cornu_store::{Cursor, Options, SqliteVecStore};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &Options::default())?;
    /// let mut cursor = Cursor::default();
    /// assert!(store.chunks_without_tokens(&[7; 32], &mut cursor, 64)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chunks_without_tokens(
        &self,
        space: &[u8; 32],
        cursor: &mut Cursor,
        limit: usize,
    ) -> Result<Vec<Chunk>, StoreError> {
        Reading::begin(self)?.read(|reader| TOKENS.lacking(reader, space, cursor, limit))
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
        self.put_rows(TOKENS, space, rows)
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
    ) -> Result<Change, StoreError> {
        self.write(facts, Some(terms), &[tokens.rows()])
    }
}
