//! Rows back into the nouns of `core`. Whatever is not as it was written is an error.

use std::path::Path;
use std::rc::Rc;
use std::sync::LazyLock;

use cornu_core::{
    Acl, ByteSpan, Chunk, ChunkId, ChunkRole, ContentHash, DocId, DocumentFacts, Grant, LineSpan,
    Principal, View, ViewEntry,
};
use ndarray::Array2;
use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, Row, Statement, params};

use crate::digest::{self, Seal, Texts};
use crate::error::StoreError;
use crate::sqlite::connection::integers;
use crate::sqlite::schema::State;
use crate::terms::{self, TermCounts};
use crate::views::{Held, Mark};

/// Reads facts over one connection, within one transaction.
pub(crate) struct Reader<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) path: &'c Path,
}

/// One version of a document, without its chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) ordinal: u32,
    pub(crate) digest: [u8; 32],
    pub(crate) vectors: usize,
}

const CHUNK_COLUMNS: &str = "c.chunk, d.name, c.indexed, c.kind, c.parent,
    c.span_start, c.span_end, c.core_start, c.core_end, c.line_first, c.line_last, c.tokens,
    t.headings, t.prefix, t.language, t.text, t.index_text, t.seal";

/// How many these are.
const CHUNK_COLUMN_COUNT: usize = 18;

/// Finds the row `c` of `chunks` whose id is the first parameter.
pub(crate) const OF_CHUNK: &str = "c.chunk = ?1 AND c.id =
    (SELECT id FROM new_chunk_ids WHERE chunk = ?1
     UNION ALL SELECT id FROM chunk_ids WHERE chunk = ?1)";

/// One chunk by id, with its document's ordinal.
pub(crate) static CHUNK: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {CHUNK_COLUMNS}, c.document FROM chunks AS c
         JOIN documents AS d ON d.ordinal = c.document JOIN chunk_texts AS t ON t.id = c.id
         WHERE {OF_CHUNK}"
    )
});

impl Reader<'_> {
    /// What the principal sees. O(visible documents · log). The grants that are read are those
    /// that the principal holds, so hidden documents are not even looked at.
    pub(crate) fn view(&self, principal: &Principal, state: State) -> Result<Held, StoreError> {
        let mut seen = Vec::new();
        let mut acls = Vec::new();
        let mut marks = Vec::new();
        for grant in principal.grants() {
            marks.push(self.read_grant(grant, acls.len(), &mut seen)?);
            acls.push(Acl::from_iter([grant.clone()]));
        }
        let entries = seen.iter().filter_map(|document| {
            Some(ViewEntry {
                ordinal: document.ordinal,
                id: &document.doc,
                content: &document.content,
                acl: acls.get(document.by)?,
            })
        });
        Ok(Held {
            state,
            view: View::resolve(principal, state.epoch, entries),
            marks,
        })
    }

    /// Whether a view of a state that this one came from still is what the principal sees.
    /// O(grants · log), however many documents there are.
    pub(crate) fn still_sees(&self, held: &Held) -> Result<bool, StoreError> {
        let mut marks = held.marks.iter();
        for grant in held.view.principal().grants() {
            if marks.next() != Some(&self.mark(grant)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn mark(&self, grant: &Grant) -> Result<Mark, StoreError> {
        let mut mark = Mark {
            documents: 0,
            newest: None,
            seal: Seal::default(),
        };
        let sql = "SELECT documents, seal, (SELECT max(document) FROM grants WHERE name = ?1)
            FROM grant_seals WHERE name = ?1";
        self.each(sql, params![grant.as_str()], |row| {
            mark = Mark {
                documents: row.get(0)?,
                seal: Seal(row.get(1)?),
                newest: row.get(2)?,
            };
            Ok(())
        })?;
        Ok(mark)
    }

    /// Adds the documents that a grant opens, and compares them with the grant's seal. Those that
    /// are seen stand by ordinal.
    fn read_grant(
        &self,
        grant: &Grant,
        by: usize,
        seen: &mut Vec<Seen>,
    ) -> Result<Mark, StoreError> {
        let mut new = Vec::new();
        let mut read = Mark {
            documents: 0,
            newest: None,
            seal: Seal::default(),
        };
        let sql = "SELECT d.ordinal, d.name, d.content, d.digest, d.vectors
            FROM grants AS g JOIN documents AS d ON d.ordinal = g.document WHERE g.name = ?1";
        self.each(sql, params![grant.as_str()], |row| {
            let ordinal = row.get(0)?;
            read.documents += 1;
            read.newest = read.newest.max(Some(ordinal));
            let known = seen.binary_search_by_key(&ordinal, |document| document.ordinal);
            if let Some(document) = known.ok().and_then(|at| seen.get(at)) {
                read.seal ^= document.seal;
                return Ok(());
            }
            let name = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            let (content, digest) = (row.get(2)?, row.get(3)?);
            let seal = digest::document_seal(ordinal, name, &content, &digest, row.get(4)?);
            read.seal ^= seal;
            new.push(Seen {
                ordinal,
                doc: self.doc(name)?,
                content: ContentHash::from_bytes(content),
                by,
                seal,
            });
            Ok(())
        })?;
        seen.append(&mut new);
        seen.sort_unstable_by_key(|document| document.ordinal);
        if read != self.mark(grant)? {
            return Err(self.damaged("documents of a grant are missing or changed"));
        }
        Ok(read)
    }

    /// The view's documents, in order of name.
    pub(crate) fn documents(&self, view: &View) -> Result<Vec<DocId>, StoreError> {
        let mut names = Vec::new();
        let sql = "SELECT name FROM documents WHERE ordinal IN rarray(?1) ORDER BY name";
        self.each(sql, params![ordinals(view)], |row| {
            names.push(self.doc(&row.get::<_, String>(0)?)?);
            Ok(())
        })?;
        if names.len() as u64 != view.len() {
            return Err(self.damaged("documents are missing"));
        }
        Ok(names)
    }

    /// Hands over chunks, each with a number that came with its id and with its document's ordinal,
    /// where the view holds the document.
    pub(crate) fn chunks_by_id<'a>(
        &self,
        view: &View,
        ids: impl IntoIterator<Item = (usize, &'a ChunkId)>,
        mut take: impl FnMut(usize, u32, Chunk),
    ) -> Result<(), StoreError> {
        let mut statement = self.statement(&CHUNK)?;
        for (at, id) in ids {
            self.each_of(&mut statement, params![id.as_bytes()], |row| {
                let ordinal = row.get(CHUNK_COLUMN_COUNT)?;
                if view.contains(ordinal) {
                    take(at, ordinal, self.chunk_of(row)?);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// How many vectors the view's documents have.
    pub(crate) fn rows_of(&self, view: &View) -> Result<u64, StoreError> {
        let mut rows = 0;
        let sql = "SELECT coalesce(sum(vectors), 0) FROM documents WHERE ordinal IN rarray(?1)";
        self.each(sql, params![ordinals(view)], |row| {
            rows = row.get(0)?;
            Ok(())
        })?;
        Ok(rows)
    }

    /// All versions, by ordinal.
    pub(crate) fn versions(&self) -> Result<Vec<Version>, StoreError> {
        let mut versions = Vec::new();
        let sql = "SELECT ordinal, digest, vectors FROM documents ORDER BY ordinal";
        self.each(sql, [], |row| {
            versions.push(Version {
                ordinal: row.get(0)?,
                digest: row.get(1)?,
                vectors: row.get(2)?,
            });
            Ok(())
        })?;
        Ok(versions)
    }

    /// The vectors of some documents, by ordinal and then by place; each is checked.
    pub(crate) fn vectors(
        &self,
        ordinals: impl IntoIterator<Item = u32>,
        dimension: usize,
        mut take: impl FnMut(u32, ChunkId, &[f32]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let sql = "SELECT c.document, c.place, c.chunk, v.vector
            FROM rarray(?1) AS r CROSS JOIN chunks AS c ON c.document = r.value AND c.indexed = 1
            CROSS JOIN vectors AS v ON v.id = c.id";
        let mut vector = Vec::with_capacity(dimension);
        let mut order = Order::default();
        self.each(
            sql,
            params![integers(ordinals.into_iter().map(i64::from))],
            |row| {
                let ordinal = order.next(self, row)?;
                let bytes = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
                self.decode_vector(bytes, dimension, &mut vector)?;
                Ok(take(ordinal, ChunkId::from_bytes(row.get(2)?), &vector)?)
            },
        )
    }

    /// The bytes of a stored vector as a unit vector.
    pub(crate) fn decode_vector(
        &self,
        bytes: &[u8],
        dimension: usize,
        out: &mut Vec<f32>,
    ) -> Result<(), StoreError> {
        let (values, rest) = bytes.as_chunks::<4>();
        if values.len() != dimension || !rest.is_empty() {
            return Err(self.damaged(format!("a vector of {} bytes", bytes.len())));
        }
        out.clear();
        out.extend(values.iter().map(|value| f32::from_le_bytes(*value)));
        crate::validate::unit(&ndarray::aview1(out), || "a stored vector".to_owned())
            .map_err(|error| self.damaged(error.to_string()))
    }

    /// The terms of some documents, by ordinal and then by place.
    pub(crate) fn terms(
        &self,
        ordinals: impl IntoIterator<Item = u32>,
        mut take: impl FnMut(u32, ChunkId, TermCounts),
    ) -> Result<(), StoreError> {
        let sql = "SELECT c.document, c.place, c.chunk, t.counts
            FROM rarray(?1) AS r CROSS JOIN chunks AS c ON c.document = r.value AND c.indexed = 1
            CROSS JOIN terms AS t ON t.id = c.id";
        let mut order = Order::default();
        self.each(
            sql,
            params![integers(ordinals.into_iter().map(i64::from))],
            |row| {
                let ordinal = order.next(self, row)?;
                let bytes = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
                let counts = terms::decode(bytes)
                    .ok_or_else(|| self.damaged("a list of terms is not readable"))?;
                take(ordinal, ChunkId::from_bytes(row.get(2)?), counts);
                Ok(())
            },
        )
    }

    /// All facts of one version, its terms included; they hash to the digest beside them.
    pub(crate) fn facts(
        &self,
        ordinal: u32,
        dimension: usize,
    ) -> Result<Option<FactsAndTerms>, StoreError> {
        let mut head = None;
        let sql = "SELECT name, content, terms, digest FROM documents WHERE ordinal = ?1";
        self.each(sql, params![ordinal], |row| {
            let doc = self.doc(&row.get::<_, String>(0)?)?;
            head = Some((
                doc,
                ContentHash::from_bytes(row.get(1)?),
                row.get::<_, bool>(2)?,
                row.get::<_, [u8; 32]>(3)?,
            ));
            Ok(())
        })?;
        let Some((doc, content, with_terms, digest)) = head else {
            return Ok(None);
        };
        let mut grants = Vec::new();
        self.each(
            "SELECT name FROM grants WHERE document = ?1",
            params![ordinal],
            |row| {
                grants.push(self.grant(&row.get::<_, String>(0)?)?);
                Ok(())
            },
        )?;
        let mut chunks = Vec::new();
        let sql = format!(
            "SELECT {CHUNK_COLUMNS} FROM chunks AS c
             JOIN documents AS d ON d.ordinal = c.document JOIN chunk_texts AS t ON t.id = c.id
             WHERE c.document = ?1 ORDER BY c.place"
        );
        self.each(&sql, params![ordinal], |row| {
            chunks.push(self.chunk_of(row)?);
            Ok(())
        })?;
        let mut values = Vec::new();
        self.vectors([ordinal], dimension, |_, _, vector| {
            values.extend_from_slice(vector);
            Ok(())
        })?;
        let rows = values.len() / dimension.max(1);
        let vectors = Array2::from_shape_vec((rows, dimension), values)
            .map_err(|error| self.damaged(error.to_string()))?;
        let mut counts = Vec::new();
        self.terms([ordinal], |_, _, terms| counts.push(terms))?;
        let facts = DocumentFacts {
            doc,
            content,
            acl: grants.into_iter().collect(),
            chunks,
            vectors,
        };
        let terms = with_terms.then_some(counts);
        if digest::facts(&facts, terms.as_deref()) != digest {
            return Err(self.damaged(format!(
                "the facts of {} are not what was written",
                facts.doc
            )));
        }
        Ok(Some((facts, terms)))
    }

    /// Runs a query and hands over each row.
    pub(crate) fn each(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        take: impl FnMut(&Row<'_>) -> Result<(), RowError>,
    ) -> Result<(), StoreError> {
        self.each_of(&mut *self.statement(sql)?, values, take)
    }

    fn statement(&self, sql: &str) -> Result<CachedStatement<'_>, StoreError> {
        let statement = self.connection.prepare_cached(sql);
        statement.map_err(|error| self.wrap(error))
    }

    fn each_of(
        &self,
        statement: &mut Statement<'_>,
        values: impl rusqlite::Params,
        mut take: impl FnMut(&Row<'_>) -> Result<(), RowError>,
    ) -> Result<(), StoreError> {
        let mut rows = statement.query(values).map_err(|error| self.wrap(error))?;
        while let Some(row) = rows.next().map_err(|error| self.wrap(error))? {
            take(row).map_err(|error| match error {
                RowError::Sql(error) => self.wrap(error),
                RowError::Store(error) => error,
            })?;
        }
        Ok(())
    }

    /// Chunks, each with its row and where in it the `more` columns begin. `from` names the tables
    /// `c` (chunks), `d` (documents) and `t` (texts).
    pub(crate) fn chunks(
        &self,
        more: &str,
        from: &str,
        values: impl rusqlite::Params,
        mut take: impl FnMut(Chunk, &Row<'_>, usize) -> Result<(), RowError>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {CHUNK_COLUMNS}, {more} FROM {from}");
        self.each(&sql, values, |row| {
            take(self.chunk_of(row)?, row, CHUNK_COLUMN_COUNT)
        })
    }

    pub(crate) fn wrap(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sql(self.path, std::time::Duration::ZERO, "reading", error)
    }

    pub(crate) fn damaged(&self, detail: impl Into<String>) -> StoreError {
        StoreError::corrupted(self.path, detail)
    }

    fn chunk_of(&self, row: &Row<'_>) -> Result<Chunk, RowError> {
        let id: [u8; 32] = row.get(0)?;
        let (headings, prefix): (String, String) = (row.get(12)?, row.get(13)?);
        let language: Option<String> = row.get(14)?;
        let text: String = row.get(15)?;
        let index_text: Option<String> = row.get(16)?;
        let seal = digest::seal(&Texts {
            chunk: &id,
            headings: &headings,
            prefix: &prefix,
            language: language.as_deref(),
            text: &text,
            index_text: index_text.as_deref(),
        });
        if row.get::<_, [u8; 16]>(17)? != seal {
            return Err(self
                .damaged("the text of a chunk is not what was written")
                .into());
        }
        let span = |start: usize, end: usize| {
            ByteSpan::new(start, end).map_err(|error| self.damaged(error.to_string()))
        };
        let kind: String = row.get(3)?;
        let parent: Option<[u8; 32]> = row.get(4)?;
        Ok(Chunk {
            id: ChunkId::from_bytes(id),
            doc: self.doc(&row.get::<_, String>(1)?)?,
            kind: kind.parse().map_err(|error: String| self.damaged(error))?,
            role: if row.get(2)? {
                ChunkRole::Indexed
            } else {
                ChunkRole::Parent
            },
            parent: parent.map(ChunkId::from_bytes),
            heading_path: self.json(&headings)?,
            span: span(row.get(5)?, row.get(6)?)?,
            core: span(row.get(7)?, row.get(8)?)?,
            lines: LineSpan::new(row.get(9)?, row.get(10)?)
                .map_err(|error| self.damaged(error.to_string()))?,
            prefix: self.json(&prefix)?,
            language,
            index_text: index_text.unwrap_or_else(|| text.clone()),
            text,
            tokens: row.get(11)?,
        })
    }

    fn json<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| self.damaged(error.to_string()))
    }

    fn doc(&self, name: &str) -> Result<DocId, StoreError> {
        DocId::new(name).map_err(|error| self.damaged(error.to_string()))
    }

    fn grant(&self, name: &str) -> Result<Grant, StoreError> {
        Grant::new(name).map_err(|error| self.damaged(error.to_string()))
    }
}

/// Checks that rows come by document and then by place.
///
/// The nested loops over ascending ordinals and the index of `chunks` give this order by
/// themselves; an `ORDER BY` would copy all vectors into a sorter first.
#[derive(Default)]
struct Order {
    last: Option<(u32, i64)>,
}

impl Order {
    /// The ordinal of a row that begins with document and place.
    fn next(&mut self, reader: &Reader<'_>, row: &Row<'_>) -> Result<u32, RowError> {
        let here = (row.get(0)?, row.get(1)?);
        if self.last.is_some_and(|last| last >= here) {
            return Err(reader.damaged("chunks came out of order").into());
        }
        self.last = Some(here);
        Ok(here.0)
    }
}

/// The view's documents as one parameter.
pub(crate) fn ordinals(view: &View) -> Rc<Vec<Value>> {
    integers(view.ordinals().map(i64::from))
}

/// All that is stored of a document; the terms of each indexed chunk, if it has any.
pub(crate) type FactsAndTerms = (DocumentFacts, Option<Vec<TermCounts>>);

/// A document of a view while it is read.
struct Seen {
    ordinal: u32,
    doc: DocId,
    content: ContentHash,
    /// The first grant that opened it, by its place among those that the principal holds.
    by: usize,
    seal: Seal,
}

/// Why a row could not be taken.
pub(crate) enum RowError {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<rusqlite::types::FromSqlError> for RowError {
    fn from(error: rusqlite::types::FromSqlError) -> Self {
        Self::Sql(error.into())
    }
}

impl From<StoreError> for RowError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
