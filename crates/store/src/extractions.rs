//! What was read from chunks, as names and statements: facts that an index may have or not.
//!
//! The store does not look into them, as it does not into [token vectors](crate::tokens).

use cornu_core::{Change, Chunk, ChunkId, DocumentFacts};
use rusqlite::params;

use crate::beside::{Beside, Cursor, Rows};
use crate::digest;
use crate::error::StoreError;
use crate::read::ordinals;
use crate::snapshot::{Reading, Snapshot};
use crate::sqlite::connection::integers;
use crate::store::SqliteVecStore;
use crate::terms::TermCounts;
use crate::tokens::TokenFacts;
use crate::write::Batch;

pub(crate) const EXTRACTIONS: Beside = Beside {
    table: "extractions",
    column: "extraction",
    what: "names and statements",
    domain: "cornu store extractions v1",
};

/// What was read from a document, as bytes.
///
/// ```
/// use cornu_store::ExtractionFacts;
/// let facts = ExtractionFacts { extractor: [7; 32], rows: vec![b"of the first chunk".to_vec()] };
/// assert_eq!(facts.rows.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractionFacts {
    /// The digest of what they depend on: the extractor, how they are written as bytes.
    pub extractor: [u8; 32],
    /// For each indexed chunk, in order.
    pub rows: Vec<Vec<u8>>,
}

impl ExtractionFacts {
    fn rows(&self) -> Rows<'_> {
        Rows {
            of: EXTRACTIONS,
            space: &self.extractor,
            rows: &self.rows,
        }
    }
}

/// How much of an index was read by an extractor. For its owner.
///
/// See [`SqliteVecStore::extraction_stats`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtractionStats {
    /// Chunks of which there is a row.
    pub chunks: u64,
    /// The bytes of the rows.
    pub bytes: u64,
}

/// One version of a document together with what an extractor read from it. What is derived from both
/// never goes stale.
///
/// See [`Snapshot::extraction_versions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtractionVersion {
    /// The document's ordinal, as in a [`View`](cornu_core::View).
    pub ordinal: u32,
    /// Half a hash of the document's facts and of what was read of each indexed chunk.
    pub version: [u8; 16],
    /// Its indexed chunks.
    pub chunks: usize,
    /// Those that the extractor has not read.
    pub unread: usize,
}

impl Snapshot<'_> {
    /// What is seen of which an extractor may have read something: each document by its ordinal, with
    /// a version that differs when its facts do, its grants, or what was read from it. No text and no
    /// row is read, but the seal of each: O(visible chunks), a few microseconds each.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    ///
    /// ```
    /// # use cornu_core::{Fingerprint, Principal};
    /// # use cornu_store::{Options, SqliteVecStore};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &Options::default())?;
    /// let snapshot = store.snapshot(&Principal::public())?;
    /// assert_eq!(snapshot.extraction_versions(&[7; 32])?, vec![]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn extraction_versions(
        &self,
        extractor: &[u8; 32],
    ) -> Result<Vec<ExtractionVersion>, StoreError> {
        self.reading().read(|reader| {
            let table = EXTRACTIONS.or_empty(reader)?;
            let sql = format!(
                "SELECT d.ordinal, d.digest, c.id IS NOT NULL, e.seal
                 FROM rarray(?1) AS r CROSS JOIN documents AS d ON d.ordinal = r.value
                 LEFT JOIN chunks AS c ON c.document = d.ordinal AND c.indexed = 1
                 LEFT JOIN {table} AS e ON e.id = c.id AND e.space = ?2"
            );
            let mut found: Vec<Sealed> = Vec::new();
            reader.each(&sql, params![ordinals(self.view()), extractor], |row| {
                let ordinal = row.get(0)?;
                if found.last().is_none_or(|last| last.ordinal != ordinal) {
                    found.push(Sealed {
                        ordinal,
                        facts: row.get(1)?,
                        seals: Vec::new(),
                    });
                }
                let (has_chunk, seal): (bool, _) = (row.get(2)?, row.get(3)?);
                if let Some(last) = found.last_mut().filter(|_| has_chunk) {
                    last.seals.push(seal);
                }
                Ok(())
            })?;
            Ok(found.iter().map(Sealed::version).collect())
        })
    }

    /// Hands over every indexed chunk of some documents, by document and then by place, with the
    /// document's ordinal and what an extractor read from it; `None` where that one has not read it.
    /// Documents that are not seen are passed over. O(their chunks).
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read, or holds another row than was written.
    pub fn read_extractions(
        &self,
        extractor: &[u8; 32],
        documents: impl IntoIterator<Item = u32>,
        mut take: impl FnMut(u32, Chunk, Option<Vec<u8>>),
    ) -> Result<(), StoreError> {
        let seen = documents.into_iter();
        let seen = seen.filter(|ordinal| self.view().contains(*ordinal));
        let seen = integers(seen.map(i64::from));
        self.reading().read(|reader| {
            let table = EXTRACTIONS.or_empty(reader)?;
            let from = format!(
                "rarray(?1) AS r CROSS JOIN chunks AS c ON c.document = r.value AND c.indexed = 1
                 CROSS JOIN documents AS d ON d.ordinal = c.document
                 CROSS JOIN chunk_texts AS t ON t.id = c.id
                 LEFT JOIN {table} AS e ON e.id = c.id AND e.space = ?2"
            );
            let values = params![seen, extractor];
            let columns = "d.ordinal, e.extraction, e.seal";
            reader.chunks(columns, &from, values, |chunk, row, first| {
                let held: Option<Vec<u8>> = row.get(first + 1)?;
                let held = match held {
                    Some(held) => {
                        let row = (held, row.get(first + 2)?);
                        Some(EXTRACTIONS.sealed(reader, &chunk.id, extractor, row)?)
                    }
                    None => None,
                };
                take(row.get(first)?, chunk, held);
                Ok(())
            })
        })
    }
}

/// A document, its digest, and the seal of what was read of each chunk.
struct Sealed {
    ordinal: u32,
    facts: [u8; 32],
    seals: Vec<Option<[u8; 16]>>,
}

impl Sealed {
    fn version(&self) -> ExtractionVersion {
        ExtractionVersion {
            ordinal: self.ordinal,
            version: digest::with_rows(EXTRACTIONS.domain, &self.facts, &self.seals),
            chunks: self.seals.len(),
            unread: self.seals.iter().filter(|seal| seal.is_none()).count(),
        }
    }
}

impl SqliteVecStore {
    /// How many chunks an extractor has read, whichever it was. Reads the table.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    ///
    /// ```
    /// # use cornu_core::Fingerprint;
    /// # use cornu_store::{ExtractionStats, Options, SqliteVecStore};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &Options::default())?;
    /// assert_eq!(store.extraction_stats()?, ExtractionStats::default());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn extraction_stats(&self) -> Result<ExtractionStats, StoreError> {
        let (chunks, bytes) = Reading::begin(self)?.read(|reader| EXTRACTIONS.stats(reader))?;
        Ok(ExtractionStats { chunks, bytes })
    }

    /// Indexed chunks that an extractor has not read, as
    /// [`chunks_without_tokens`](Self::chunks_without_tokens) gives those without token vectors.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn chunks_without_extractions(
        &self,
        extractor: &[u8; 32],
        cursor: &mut Cursor,
        limit: usize,
    ) -> Result<Vec<Chunk>, StoreError> {
        Reading::begin(self)?.read(|reader| EXTRACTIONS.lacking(reader, extractor, cursor, limit))
    }
}

impl Batch<'_> {
    /// Gives chunks that are there what an extractor read from them, in place of what they had;
    /// gives how many were there. A chunk's id tells its contents, so what was read for an id fits
    /// it whenever it is written.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn put_extractions(
        &mut self,
        extractor: &[u8; 32],
        rows: &[(ChunkId, Vec<u8>)],
    ) -> Result<usize, StoreError> {
        self.put_rows(EXTRACTIONS, extractor, rows)
    }

    /// As [`upsert_with_terms`](Self::upsert_with_terms), with the token vectors of each indexed
    /// chunk and what an extractor read from it, where there are any, all in one savepoint.
    ///
    /// A document that is there with the same facts and other rows beside them counts as
    /// [replaced](cornu_core::Change::Replaced).
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn upsert_with_rows(
        &mut self,
        facts: &DocumentFacts,
        terms: &[TermCounts],
        tokens: Option<&TokenFacts>,
        extractions: Option<&ExtractionFacts>,
    ) -> Result<Change, StoreError> {
        let rows = [
            tokens.map(TokenFacts::rows),
            extractions.map(ExtractionFacts::rows),
        ];
        let rows: Vec<Rows<'_>> = rows.into_iter().flatten().collect();
        self.write(facts, Some(terms), &rows)
    }
}
