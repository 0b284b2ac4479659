//! What an owner asks about all documents: which there are, who may see them, where they are from.
//!
//! None of it takes a view, so none of it may reach an asker.

use cornu_core::{Acl, ContentHash, DocId, Grant};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::StoreError;
use crate::read::Reader;
use crate::snapshot::Reading;
use crate::store::SqliteVecStore;

/// Where documents are from. It is no fact that an answer could depend on, so it is in no digest
/// and writing it moves no epoch. It goes with the version of the document that it was noted for.
/// The table is made when it is first needed: a file without one holds documents of no known
/// origin, and an older version of the program passes it over.
const ORIGINS: &str = "
CREATE TABLE IF NOT EXISTS origins (
  document INTEGER PRIMARY KEY REFERENCES documents (ordinal) ON DELETE CASCADE,
  origin TEXT NOT NULL
) STRICT";

/// What a store holds of one document, without its chunks.
///
/// ```
/// use cornu_core::{Acl, ContentHash, DocId, DocumentFacts, FactStore, Fingerprint};
/// use cornu_store::{Options, SqliteVecStore};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("index.db");
/// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &Options::default())?;
/// let draft = DocId::new("draft.md")?;
/// store.upsert(&DocumentFacts {
///     doc: draft.clone(),
///     content: ContentHash::of(b"text"),
///     acl: Acl::nobody(),
///     chunks: vec![],
///     vectors: ndarray::Array2::zeros((0, 3)),
/// })?;
/// store.note_origin("/srv/notes", &[&draft])?;
///
/// // Nobody sees it; its owner does.
/// let known = store.known(&draft)?.unwrap();
/// assert_eq!((known.content, known.acl), (ContentHash::of(b"text"), Acl::nobody()));
/// assert_eq!(known.origin.as_deref(), Some("/srv/notes"));
/// assert_eq!(store.all_documents()?, [draft.clone()]);
/// assert_eq!(store.documents_from("/srv/notes")?, [draft]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Of its source.
    pub content: ContentHash,
    /// Who may see it.
    pub acl: Acl,
    /// Its chunks, parents among them.
    pub chunks: usize,
    /// Where it is from, if that was [noted](SqliteVecStore::note_origin).
    pub origin: Option<String>,
}

impl SqliteVecStore {
    /// What is held of a document, whoever may see it; `None` when it is not there. A few look-ups.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn known(&self, doc: &DocId) -> Result<Option<Known>, StoreError> {
        Reading::begin(self)?.read(|reader| known(reader, doc))
    }

    /// All documents, whoever may see them, in order of name. O(documents).
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn all_documents(&self) -> Result<Vec<DocId>, StoreError> {
        let sql = "SELECT name FROM documents ORDER BY name";
        Reading::begin(self)?.read(|reader| names(reader, sql, []))
    }

    /// The documents of one origin, whoever may see them, in order of name. O(documents).
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn documents_from(&self, origin: &str) -> Result<Vec<DocId>, StoreError> {
        let sql = "SELECT d.name FROM origins AS o JOIN documents AS d ON d.ordinal = o.document
            WHERE o.origin = ?1 ORDER BY d.name";
        Reading::begin(self)?.read(|reader| {
            let noted = has_origins(reader.connection).map_err(|error| reader.wrap(error))?;
            if noted {
                names(reader, sql, [origin])
            } else {
                Ok(Vec::new())
            }
        })
    }

    /// Notes where documents are from, in one transaction; documents that are not there are passed
    /// over. A document that is written anew has no origin until it is noted again. Nothing is
    /// written when all of it is known.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing is noted.
    pub fn note_origin(&self, origin: &str, docs: &[&DocId]) -> Result<(), StoreError> {
        let mut connection = self.writer()?;
        let result = (|| {
            let behavior = rusqlite::TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(behavior)?;
            if !has_origins(&transaction)? {
                transaction.execute_batch(ORIGINS)?;
            }
            let mut changed = 0;
            {
                let mut note = transaction.prepare_cached(
                    "INSERT INTO origins (document, origin)
                     SELECT ordinal, ?2 FROM documents WHERE name = ?1
                     ON CONFLICT DO UPDATE SET origin = ?2 WHERE origin <> ?2",
                )?;
                for doc in docs {
                    changed += note.execute(params![doc.as_str(), origin])?;
                }
            }
            match changed {
                0 => transaction.rollback(),
                _ => transaction.commit(),
            }
        })();
        result.map_err(|error| self.wrap("noting where documents are from", error))
    }
}

fn known(reader: &Reader<'_>, doc: &DocId) -> Result<Option<Known>, StoreError> {
    let wrap = |error| reader.wrap(error);
    let sql = "SELECT ordinal, content,
        (SELECT count(*) FROM chunks WHERE document = ordinal) FROM documents WHERE name = ?1";
    let row = reader.connection.prepare_cached(sql).and_then(|mut row| {
        row.query_row([doc.as_str()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()
    });
    let Some((ordinal, content, chunks)) = row.map_err(wrap)? else {
        return Ok(None);
    };
    let mut grants = Vec::new();
    let sql = "SELECT name FROM grants WHERE document = ?1";
    reader.each(sql, params![ordinal], |row| {
        let name: String = row.get(0)?;
        grants.push(Grant::new(&name).map_err(|error| reader.damaged(error.to_string()))?);
        Ok(())
    })?;
    let mut origin = None;
    if has_origins(reader.connection).map_err(wrap)? {
        let sql = "SELECT origin FROM origins WHERE document = ?1";
        reader.each(sql, params![ordinal], |row| {
            origin = Some(row.get(0)?);
            Ok(())
        })?;
    }
    Ok(Some(Known {
        content: ContentHash::from_bytes(content),
        acl: grants.into_iter().collect(),
        chunks,
        origin,
    }))
}

fn names(
    reader: &Reader<'_>,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<DocId>, StoreError> {
    let mut names = Vec::new();
    reader.each(sql, values, |row| {
        let name: String = row.get(0)?;
        names.push(DocId::new(&name).map_err(|error| reader.damaged(error.to_string()))?);
        Ok(())
    })?;
    Ok(names)
}

fn has_origins(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'origins'")?
        .exists([])
}
