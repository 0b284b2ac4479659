//! Checks of everything that has to hold between the tables and in the artifacts.

use std::fmt;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::read::Reader;
use crate::resident;
use crate::snapshot::Reading;
use crate::sqlite::schema::read_state;
use crate::store::SqliteVecStore;
use crate::vec0;

/// Something that does not hold.
///
/// See [`SqliteVecStore::doctor`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was checked.
    pub check: Check,
    /// What was found.
    pub detail: String,
}

/// What [`SqliteVecStore::doctor`] looks at.
///
/// ```
/// assert_eq!(cornu_store::Check::VecFile.remedy(), "run `rebuild-index`");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Check {
    /// SQLite's own: pages, indexes, constraints.
    Integrity,
    /// Every row refers to one that is there.
    ForeignKeys,
    /// Every indexed chunk has a vector, parents have none, every chunk has its text and is found
    /// by its id, and the numbers beside a document are those of its rows.
    Counts,
    /// The facts of every document hash to its digest: ids, texts, spans, grants, vectors, terms.
    /// Norms, dimensions and text seals are checked on the way.
    Digests,
    /// The documents of every grant are those that were sealed, and so are token vectors, names and
    /// statements, each beside an indexed chunk.
    Seals,
    /// A parent that a chunk names is a chunk of the same document.
    Parents,
    /// The `vec0` table, if up to date, holds the vectors of record, each bit.
    Vec0,
    /// The `.vec` file, if any, is whole, and finds what the vectors of record say.
    VecFile,
    /// The graph, if any, is whole, and its codes are those of the vectors of record.
    Graph,
    /// The file of postings, if any, holds what the stored terms say. Checked by the sparse route
    /// that has written it, not by the store.
    Postings,
}

impl Check {
    /// What to do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Integrity | Self::ForeignKeys => {
                "restore a copy, or index the sources into a new file"
            }
            Self::Counts | Self::Digests | Self::Seals | Self::Parents => {
                "remove the document and index it again"
            }
            Self::Vec0 | Self::VecFile | Self::Graph | Self::Postings => "run `rebuild-index`",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}: {}; {}",
            self.check,
            self.detail,
            self.check.remedy()
        )
    }
}

impl SqliteVecStore {
    /// Checks everything, and says what does not hold; an empty list is a clean bill.
    ///
    /// Reads the whole file, and takes a time like that of writing it. Damage that keeps a table
    /// from being read is a finding, not an error.
    ///
    /// # Errors
    /// [`StoreError`] when no connection is to be had.
    ///
    /// ```
    /// # use cornu_core::Fingerprint;
    /// # use cornu_store::{Options, SqliteVecStore};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 3, &Options::default())?;
    /// assert_eq!(store.doctor()?, []);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn doctor(&self) -> Result<Vec<Finding>, StoreError> {
        let reading = Reading::begin(self)?;
        let mut findings = Vec::new();
        reading.read(|reader| {
            let checks: [(Check, CheckFn); 7] = [
                (Check::Integrity, integrity),
                (Check::ForeignKeys, foreign_keys),
                (Check::Counts, counts),
                (Check::Digests, digests),
                (Check::Seals, seals),
                (Check::Parents, parents),
                (Check::Vec0, vec0_table),
            ];
            for (check, run) in checks {
                let mut found = Vec::new();
                if let Err(error) = run(self, reader, &mut found) {
                    found.push(error.to_string());
                }
                findings.extend(found.into_iter().map(|detail| Finding { check, detail }));
            }
            if let Err(error) = self.check_vec_file(reader, &mut findings) {
                findings.push(Finding {
                    check: Check::VecFile,
                    detail: error.to_string(),
                });
            }
            let graph = self.check_graph(reader);
            let graph = graph.unwrap_or_else(|error| Some(error.to_string()));
            findings.extend(graph.map(|detail| Finding {
                check: Check::Graph,
                detail,
            }));
            Ok(())
        })?;
        Ok(findings)
    }

    fn check_vec_file(
        &self,
        reader: &Reader<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<(), StoreError> {
        let path = self.vec_path();
        if !path.exists() {
            return Ok(());
        }
        let mut found = |detail: &str| {
            findings.push(Finding {
                check: Check::VecFile,
                detail: format!("{}: {detail}", path.display()),
            });
        };
        let Some(file) = resident::load(&path, self.identity()) else {
            found("it is damaged or belongs to another index");
            return Ok(());
        };
        if file.verify().is_err() {
            found("its rows are not what was written");
            return Ok(());
        }
        // What is still valid in it has to be what the facts say.
        let state = read_state(reader.connection).map_err(|error| reader.wrap(error))?;
        let plan = resident::Plan::new(Some(&file), reader, state, self.dimension())?;
        if !plan.read(reader)?.agrees_with(reader)? {
            found("its rows are not those of the facts");
        }
        Ok(())
    }
}

type CheckFn = fn(&SqliteVecStore, &Reader<'_>, &mut Vec<String>) -> Result<(), StoreError>;

fn integrity(
    _: &SqliteVecStore,
    reader: &Reader<'_>,
    found: &mut Vec<String>,
) -> Result<(), StoreError> {
    reader.each("PRAGMA integrity_check(20)", [], |row| {
        let line: String = row.get(0)?;
        if line != "ok" {
            found.push(line);
        }
        Ok(())
    })
}

fn foreign_keys(
    _: &SqliteVecStore,
    reader: &Reader<'_>,
    found: &mut Vec<String>,
) -> Result<(), StoreError> {
    let sql = "SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1";
    reader.each(sql, [], |row| {
        let (table, rows): (String, i64) = (row.get(0)?, row.get(1)?);
        found.push(format!("{rows} rows of {table} refer to nothing"));
        Ok(())
    })
}

fn counts(
    _: &SqliteVecStore,
    reader: &Reader<'_>,
    found: &mut Vec<String>,
) -> Result<(), StoreError> {
    for (what, sql) in [
        (
            "indexed chunks without a vector",
            "SELECT count(*) FROM chunks WHERE indexed = 1 AND id NOT IN (SELECT id FROM vectors)",
        ),
        (
            "vectors of chunks that are not indexed",
            "SELECT count(*) FROM vectors WHERE id NOT IN (SELECT id FROM chunks WHERE indexed = 1)",
        ),
        (
            "chunks without a text",
            "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT id FROM chunk_texts)",
        ),
        (
            "chunks that are not found by their id",
            "SELECT count(*) FROM chunks AS c
             WHERE NOT EXISTS (SELECT 1 FROM new_chunk_ids AS n WHERE n.chunk = c.chunk AND n.id = c.id)
               AND NOT EXISTS (SELECT 1 FROM chunk_ids AS n WHERE n.chunk = c.chunk AND n.id = c.id)",
        ),
        (
            "ids of chunks that are not there",
            "SELECT abs((SELECT count(*) FROM new_chunk_ids) + (SELECT count(*) FROM chunk_ids)
               - (SELECT count(*) FROM chunks))",
        ),
        (
            "documents with another number of vectors than is written beside them",
            "SELECT count(*) FROM documents AS d WHERE vectors <>
               (SELECT count(*) FROM chunks WHERE document = d.ordinal AND indexed = 1)",
        ),
        (
            "documents with terms for some of their chunks only",
            "SELECT count(*) FROM documents AS d WHERE d.terms * d.vectors <>
               (SELECT count(*) FROM terms AS t JOIN chunks AS c ON c.id = t.id WHERE c.document = d.ordinal)",
        ),
        (
            "meta rows more or less than one",
            "SELECT abs(count(*) - 1) FROM meta",
        ),
    ] {
        let rows = count(reader.connection, sql).map_err(|error| reader.wrap(error))?;
        if rows > 0 {
            found.push(format!("{rows} {what}"));
        }
    }
    Ok(())
}

fn digests(
    store: &SqliteVecStore,
    reader: &Reader<'_>,
    found: &mut Vec<String>,
) -> Result<(), StoreError> {
    for version in reader.versions()? {
        let detail = match reader.facts(version.ordinal, store.dimension()) {
            Ok(Some(_)) => continue,
            Ok(None) => format!("document {} is gone", version.ordinal),
            Err(error) => format!("document {}: {error}", version.ordinal),
        };
        found.push(detail);
    }
    Ok(())
}

fn seals(
    _: &SqliteVecStore,
    reader: &Reader<'_>,
    found: &mut Vec<String>,
) -> Result<(), StoreError> {
    let mut grants = Vec::new();
    let sql = "SELECT name FROM grants UNION SELECT name FROM grant_seals";
    reader.each(sql, [], |row| {
        grants.push(row.get::<_, String>(0)?);
        Ok(())
    })?;
    let state = read_state(reader.connection).map_err(|error| reader.wrap(error))?;
    for grant in grants {
        let view = match cornu_core::Principal::new([&grant]) {
            Ok(holder) => reader
                .view(&holder, state)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = view {
            found.push(format!("the grant {grant:?}: {error}"));
        }
    }
    crate::tokens::TOKENS.doctor(reader, found)?;
    crate::extractions::EXTRACTIONS.doctor(reader, found)
}

fn parents(
    _: &SqliteVecStore,
    reader: &Reader<'_>,
    found: &mut Vec<String>,
) -> Result<(), StoreError> {
    let sql = "SELECT count(*) FROM chunks AS c WHERE c.parent IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM chunks AS p WHERE p.chunk = c.parent AND p.document = c.document)";
    let rows = count(reader.connection, sql).map_err(|error| reader.wrap(error))?;
    if rows > 0 {
        found.push(format!(
            "{rows} chunks name a parent that is not in their document"
        ));
    }
    Ok(())
}

fn vec0_table(
    _: &SqliteVecStore,
    reader: &Reader<'_>,
    found: &mut Vec<String>,
) -> Result<(), StoreError> {
    let wrap = |error| reader.wrap(error);
    let state = read_state(reader.connection).map_err(wrap)?;
    if vec0::state(reader.connection).map_err(wrap)? != Some(state.id) {
        return Ok(()); // Not there, or brought up to date before it is next read.
    }
    for (what, sql) in [
        (
            "vectors are missing from vec0 or differ there",
            "SELECT count(*) FROM vectors AS v WHERE NOT EXISTS
               (SELECT 1 FROM vec_chunks AS t WHERE t.rowid = v.id AND t.embedding = v.vector)",
        ),
        (
            "rows of vec0 have no vector of record",
            "SELECT count(*) FROM vec_chunks WHERE rowid NOT IN (SELECT id FROM vectors)",
        ),
    ] {
        let rows = count(reader.connection, sql).map_err(wrap)?;
        if rows > 0 {
            found.push(format!("{rows} {what}"));
        }
    }
    Ok(())
}

fn count(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}
