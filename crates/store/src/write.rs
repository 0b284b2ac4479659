//! Writing: one transaction, a savepoint for each document.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use cornu_core::{Change, Chunk, DocId, DocumentFacts};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use crate::beside::Rows;
use crate::digest::{self, Seal, Texts};
use crate::error::StoreError;
use crate::sqlite::schema::{self, SETTLED_IDS};
use crate::terms::{self, TermCounts};
use crate::validate;

/// Many documents in one commit; see [`SqliteVecStore::batch`](crate::SqliteVecStore::batch).
pub struct Batch<'c> {
    connection: &'c Connection,
    path: &'c Path,
    waited: Duration,
    dimension: usize,
    changed: bool,
    /// Whether enough ids of chunks are new to be moved to the large table.
    settle: Cell<bool>,
    /// Whether a document was left half written, so that the transaction had to be ended.
    lost: Cell<bool>,
}

impl<'c> Batch<'c> {
    /// Takes the write lock. A transaction that begins as a reader could not wait for it.
    pub(crate) fn begin(
        connection: &'c Connection,
        path: &'c Path,
        waited: Duration,
        dimension: usize,
    ) -> Result<Self, StoreError> {
        let batch = Self {
            connection,
            path,
            waited,
            dimension,
            changed: false,
            settle: Cell::new(false),
            lost: Cell::new(false),
        };
        batch.execute("BEGIN IMMEDIATE")?;
        Ok(batch)
    }

    /// Commits; without a change it ends the transaction and the epoch stays.
    pub(crate) fn finish(self) -> Result<(), StoreError> {
        self.check_open()?;
        if !self.changed {
            return self.execute("ROLLBACK");
        }
        if self.settle.get() {
            schema::settle_ids(self.connection).map_err(|error| self.wrap(error))?;
        }
        schema::advance(self.connection).map_err(|error| self.wrap(error))?;
        self.execute("COMMIT")
    }

    /// As [`FactStore::upsert`](cornu_core::FactStore::upsert). After an error the document is as
    /// before, and the batch may go on, unless the error was of the file itself (full, damaged):
    /// then all later calls fail and nothing of the batch is committed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn upsert(&mut self, facts: &DocumentFacts) -> Result<Change, StoreError> {
        self.write(facts, None, &[])
    }

    /// As [`upsert`](Self::upsert), with the terms of each indexed chunk, in their order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn upsert_with_terms(
        &mut self,
        facts: &DocumentFacts,
        terms: &[TermCounts],
    ) -> Result<Change, StoreError> {
        self.write(facts, Some(terms), &[])
    }

    /// As [`FactStore::remove`](cornu_core::FactStore::remove).
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn remove(&mut self, doc: &DocId) -> Result<bool, StoreError> {
        let removed = self.in_savepoint(|batch| batch.delete(doc))?;
        self.changed |= removed;
        Ok(removed)
    }

    pub(crate) fn write(
        &mut self,
        facts: &DocumentFacts,
        terms: Option<&[TermCounts]>,
        beside: &[Rows<'_>],
    ) -> Result<Change, StoreError> {
        validate::facts(facts, terms, self.dimension)?;
        for rows in beside {
            rows.check(facts)?;
        }
        let digest = digest::facts(facts, terms);
        let known = stored_digest(self.connection, &facts.doc).map_err(|error| self.wrap(error))?;
        let same = known == Some(digest);
        let mut others = Vec::new();
        for &rows in beside {
            if !same || !self.has_rows(&facts.doc, rows)? {
                others.push(rows);
            }
        }
        if same && others.is_empty() {
            return Ok(Change::Unchanged);
        }
        let beside = |batch: &Self| {
            let mut others = others.iter();
            others.try_for_each(|&rows| batch.put_all(&facts.doc, rows))
        };
        match known {
            None => self.create(facts, terms, &digest, beside)?,
            Some(_) => self.in_savepoint(|batch| {
                if !same {
                    batch.delete(&facts.doc)?;
                    let ordinal = batch.insert(facts, terms, &digest)?;
                    batch.seal(facts, ordinal, &digest)?;
                }
                beside(batch)
            })?,
        }
        self.changed = true;
        Ok(match known {
            None => Change::Inserted,
            Some(_) => Change::Replaced,
        })
    }

    pub(crate) fn note_change(&mut self, changed: bool) {
        self.changed |= changed;
    }

    pub(crate) fn in_savepoint<T>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.check_open()?;
        self.execute("SAVEPOINT document")?;
        match work(self) {
            Ok(value) => {
                self.execute("RELEASE document")?;
                Ok(value)
            }
            Err(error) => {
                if !self.connection.is_autocommit() {
                    self.execute("ROLLBACK TO document")?;
                    self.execute("RELEASE document")?;
                }
                Err(error)
            }
        }
    }

    /// Writes a document that is not there. For a savepoint SQLite would copy each page that is
    /// touched, an eighth of the time; what is left of a document that fails is deleted instead.
    fn create(
        &self,
        facts: &DocumentFacts,
        terms: Option<&[TermCounts]>,
        digest: &[u8; 32],
        beside: impl FnOnce(&Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.check_open()?;
        let written = self.insert(facts, terms, digest);
        let written = written.and_then(|ordinal| beside(self).map(|()| ordinal));
        let left = match &written {
            // Until it is sealed, the rows are all there is of it.
            Err(_) => self.run(
                "DELETE FROM documents WHERE name = ?1",
                [facts.doc.as_str()],
            ),
            Ok(ordinal) => self.seal(facts, *ordinal, digest).map(|()| 0),
        };
        if left.is_err() && !self.connection.is_autocommit() {
            self.lost.set(true);
            self.execute("ROLLBACK")?;
        }
        written.and(left).map(drop)
    }

    /// Whether the transaction still stands.
    fn check_open(&self) -> Result<(), StoreError> {
        if !self.connection.is_autocommit() {
            return Ok(());
        }
        if self.lost.get() {
            let problem = "a document could be neither written nor taken back";
            return Err(StoreError::corrupted(self.path, problem));
        }
        // SQLite ended the transaction by itself, as it does when the disk is full.
        Err(StoreError::DiskFull {
            path: self.path.to_owned(),
        })
    }

    fn delete(&self, doc: &DocId) -> Result<bool, StoreError> {
        let sql = "SELECT ordinal, content, digest, vectors FROM documents WHERE name = ?1";
        let read = |mut statement: CachedStatement<'_>| {
            let row = statement.query_row([doc.as_str()], |row| {
                Ok((row.get::<_, u32>(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            });
            row.optional()
        };
        let row = self.connection.prepare_cached(sql).and_then(read);
        let Some((ordinal, content, digest, vectors)) = row.map_err(|error| self.wrap(error))?
        else {
            return Ok(false);
        };
        let seal = digest::document_seal(ordinal, doc.as_str(), &content, &digest, vectors);
        self.toggle_seals(ordinal, seal, -1)?;
        // Everything else refers to the document and goes with it.
        self.run("DELETE FROM documents WHERE ordinal = ?1", params![ordinal])?;
        Ok(true)
    }

    /// Adds a document to the seals of its grants, or takes it out of them: with exclusive or,
    /// both are one thing.
    fn toggle_seals(&self, ordinal: u32, seal: Seal, change: i64) -> Result<(), StoreError> {
        let read = |mut statement: CachedStatement<'_>| {
            let rows = statement.query_map([ordinal], |row| {
                let held: Option<[u8; 16]> = row.get(1)?;
                Ok((row.get::<_, String>(0)?, Seal(held.unwrap_or_default())))
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        let sql = "SELECT g.name, s.seal FROM grants AS g LEFT JOIN grant_seals AS s USING (name)
            WHERE g.document = ?1";
        let seals = self.connection.prepare_cached(sql).and_then(read);
        for (name, mut held) in seals.map_err(|error| self.wrap(error))? {
            held ^= seal;
            self.run(
                "INSERT INTO grant_seals (name, documents, seal) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET documents = documents + ?2, seal = ?3",
                params![name, change, held.0],
            )?;
        }
        Ok(())
    }

    /// Writes the rows of a document that is not there; its ordinal.
    fn insert(
        &self,
        facts: &DocumentFacts,
        terms: Option<&[TermCounts]>,
        digest: &[u8; 32],
    ) -> Result<u32, StoreError> {
        self.check_ids(facts)?;
        self.run(
            "INSERT INTO documents (name, content, digest, vectors, terms) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                facts.doc.as_str(),
                facts.content.as_bytes(),
                digest,
                facts.vectors.nrows() as i64,
                terms.is_some(),
            ],
        )?;
        let document = self.connection.last_insert_rowid();
        let Ok(ordinal) = u32::try_from(document) else {
            return Err(StoreError::TooManyDocuments {
                path: self.path.to_owned(),
            });
        };
        for grant in facts.acl.grants() {
            self.run(
                "INSERT INTO grants (name, document) VALUES (?1, ?2)",
                params![grant.as_str(), document],
            )?;
        }
        let mut vectors = facts.vectors.rows().into_iter();
        let mut terms = terms.unwrap_or_default().iter();
        for (place, chunk) in facts.chunks.iter().enumerate() {
            let id = self.insert_chunk(document, place, chunk)?;
            self.insert_texts(id, chunk)?;
            if !chunk.role.is_indexed() {
                continue;
            }
            if let Some(vector) = vectors.next() {
                self.run(
                    "INSERT INTO vectors (id, vector) VALUES (?1, ?2)",
                    params![id, digest::vector_bytes(&vector)],
                )?;
            }
            if let Some(counts) = terms.next() {
                self.run(
                    "INSERT INTO terms (id, counts) VALUES (?1, ?2)",
                    params![id, terms::encode(counts)],
                )?;
            }
        }
        Ok(ordinal)
    }

    /// Adds a document to the seals of its grants.
    fn seal(
        &self,
        facts: &DocumentFacts,
        ordinal: u32,
        digest: &[u8; 32],
    ) -> Result<(), StoreError> {
        let (name, content) = (facts.doc.as_str(), facts.content.as_bytes());
        let seal = digest::document_seal(ordinal, name, content, digest, facts.vectors.nrows());
        self.toggle_seals(ordinal, seal, 1)
    }

    /// Within the document ids were checked, so one that is there is another document's.
    fn check_ids(&self, facts: &DocumentFacts) -> Result<(), StoreError> {
        let find = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM new_chunk_ids WHERE chunk = ?1)
                     OR EXISTS (SELECT 1 FROM chunk_ids WHERE chunk = ?1)",
            )?;
            for chunk in &facts.chunks {
                if statement.query_row([chunk.id.as_bytes()], |row| row.get(0))? {
                    return Ok(Some(chunk));
                }
            }
            Ok(None)
        };
        match find().map_err(|error| self.wrap(error))? {
            None => Ok(()),
            Some(chunk) => Err(StoreError::ForeignChunk {
                doc: chunk.doc.clone(),
                chunk: chunk.id,
                problem: "has the id of a chunk of another document",
            }),
        }
    }

    /// The chunk's number in the tables.
    fn insert_chunk(&self, document: i64, place: usize, chunk: &Chunk) -> Result<i64, StoreError> {
        self.run(
            "INSERT INTO chunks (chunk, document, indexed, place, kind, parent,
               span_start, span_end, core_start, core_end, line_first, line_last, tokens)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                chunk.id.as_bytes(),
                document,
                chunk.role.is_indexed(),
                place as i64,
                chunk.kind.as_str(),
                chunk.parent.as_ref().map(cornu_core::ChunkId::as_bytes),
                chunk.span.start() as i64,
                chunk.span.end() as i64,
                chunk.core.start() as i64,
                chunk.core.end() as i64,
                chunk.lines.first() as i64,
                chunk.lines.last() as i64,
                chunk.tokens as i64,
            ],
        )?;
        let id = self.connection.last_insert_rowid();
        if id % SETTLED_IDS == 0 {
            self.settle.set(true);
        }
        self.run(
            "INSERT INTO new_chunk_ids (chunk, id) VALUES (?1, ?2)",
            params![chunk.id.as_bytes(), id],
        )?;
        Ok(id)
    }

    fn insert_texts(&self, id: i64, chunk: &Chunk) -> Result<(), StoreError> {
        let headings = json(self.path, &chunk.heading_path)?;
        let prefix = json(self.path, &chunk.prefix)?;
        let texts = Texts {
            chunk: chunk.id.as_bytes(),
            headings: &headings,
            prefix: &prefix,
            language: chunk.language.as_deref(),
            text: &chunk.text,
            index_text: (chunk.index_text != chunk.text).then_some(chunk.index_text.as_str()),
        };
        self.run(
            "INSERT INTO chunk_texts (id, headings, prefix, language, text, index_text, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                id,
                texts.headings,
                texts.prefix,
                texts.language,
                texts.text,
                texts.index_text,
                digest::seal(&texts),
            ],
        )
        .map(drop)
    }

    pub(crate) fn run(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<usize, StoreError> {
        let ran = self.connection.prepare_cached(sql);
        ran.and_then(|mut statement| statement.execute(values))
            .map_err(|error| self.wrap(error))
    }

    fn execute(&self, sql: &str) -> Result<(), StoreError> {
        self.run(sql, []).map(drop)
    }

    pub(crate) fn connection(&self) -> &Connection {
        self.connection
    }

    pub(crate) fn wrap(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sql(self.path, self.waited, "writing", error)
    }
}

/// The digest of the facts that are stored of a document.
pub(crate) fn stored_digest(
    connection: &Connection,
    doc: &DocId,
) -> rusqlite::Result<Option<[u8; 32]>> {
    connection
        .prepare_cached("SELECT digest FROM documents WHERE name = ?1")?
        .query_row([doc.as_str()], |row| row.get(0))
        .optional()
}

fn json(path: &Path, value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::io(path, error.into()))
}
