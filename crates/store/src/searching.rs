//! How an index is searched, kept in its file.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::error::StoreError;
use crate::options::{Approximate, Hnsw, Options, Scan};
use crate::read::Reader;
use crate::snapshot::Reading;
use crate::store::SqliteVecStore;

/// It is no fact that an exact answer depends on, so it is in no digest and writing it moves no
/// epoch. The table is made when it is first needed; an older version of the program passes it over.
const TABLE: &str = "
CREATE TABLE IF NOT EXISTS searching (
  id INTEGER PRIMARY KEY CHECK (id = 0),
  scan TEXT NOT NULL,
  approximate TEXT NOT NULL,
  centre BLOB
) STRICT";

/// How the vectors of an index are searched: three of the [`Options`], which may be kept in the index
/// so that whoever opens it next can ask for the same.
///
/// A store is searched as its options say; what is kept is for the caller to read and to hand over.
///
/// ```
/// use cornu_core::Fingerprint;
/// use cornu_store::{Options, Scan, Searching, SqliteVecStore};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("index.db");
/// let store = SqliteVecStore::open(&path, &Fingerprint::new("m"), 3, &Options::default())?;
/// assert_eq!(store.kept_searching()?, None);
/// let searching = Searching { scan: Scan::Int8, ..Searching::default() };
/// store.keep_searching(&searching)?;
/// drop(store);
///
/// let store = SqliteVecStore::open_existing(&path, &Options::default())?;
/// let kept = store.kept_searching()?.unwrap_or_default();
/// let store = SqliteVecStore::open_existing(&path, &kept.applied_to(&Options::default()))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Searching {
    /// As [`Options::scan`].
    pub scan: Scan,
    /// As [`Options::centre`].
    pub centre: Option<Vec<f32>>,
    /// As [`Options::approximate`].
    pub approximate: Approximate,
}

impl Searching {
    /// The options, with these three in the place of theirs.
    #[must_use]
    pub fn applied_to(self, options: &Options) -> Options {
        Options {
            scan: self.scan,
            centre: self.centre,
            approximate: self.approximate,
            ..options.clone()
        }
    }
}

impl SqliteVecStore {
    /// What was [kept](Self::keep_searching); `None` where nothing was.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read, or what was kept is of a newer version.
    pub fn kept_searching(&self) -> Result<Option<Searching>, StoreError> {
        Reading::begin(self)?.read(|reader| kept(reader, self.dimension()))
    }

    /// Keeps how the index is searched. A graph that is no longer asked for is deleted; one that is
    /// asked for is built by [`prepare`](Self::prepare) of a store that was opened with it.
    ///
    /// # Errors
    /// [`StoreError`] when the store is read-only or cannot be written, and [`StoreError::Options`]
    /// for what no store can be opened with.
    pub fn keep_searching(&self, searching: &Searching) -> Result<(), StoreError> {
        let options = searching.clone().applied_to(&Options::default());
        options.check()?;
        let centre = searching.centre.as_deref();
        if centre.is_some_and(|centre| centre.len() != self.dimension()) {
            return Err(StoreError::Options {
                problem: "the centre has another dimension than the index".to_owned(),
            });
        }
        let centre = centre.map(|values| values.iter().flat_map(|x| x.to_le_bytes()).collect());
        let centre: Option<Vec<u8>> = centre;
        let mut connection = self.writer()?;
        let result = (|| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute_batch(TABLE)?;
            transaction.execute(
                "INSERT INTO searching (id, scan, approximate, centre) VALUES (0, ?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET scan = ?1, approximate = ?2, centre = ?3",
                params![
                    scan_text(searching.scan),
                    approximate_text(searching.approximate),
                    centre
                ],
            )?;
            transaction.commit()
        })();
        result.map_err(|error| self.wrap("keeping how the index is searched", error))?;
        drop(connection);
        if searching.approximate == Approximate::Never {
            self.discard_graph();
        }
        Ok(())
    }
}

fn kept(reader: &Reader<'_>, dimension: usize) -> Result<Option<Searching>, StoreError> {
    let row = read(reader.connection).map_err(|error| reader.wrap(error))?;
    let Some((scan, approximate, centre)) = row else {
        return Ok(None);
    };
    let centre: Option<Vec<f32>> = centre.map(|bytes| {
        let numbers = bytes.as_chunks::<4>().0.iter();
        numbers.map(|bytes| f32::from_le_bytes(*bytes)).collect()
    });
    let searching = Searching {
        scan: scan_of(&scan).ok_or_else(|| unknown(reader, &scan))?,
        approximate: approximate_of(&approximate).ok_or_else(|| unknown(reader, &approximate))?,
        centre,
    };
    let whole =
        |centre: &Vec<f32>| centre.len() == dimension && centre.iter().all(|x| x.is_finite());
    if !searching.centre.as_ref().is_none_or(whole) {
        return Err(reader.damaged("the centre of its scan by bits is not one".to_owned()));
    }
    searching.clone().applied_to(&Options::default()).check()?;
    Ok(Some(searching))
}

type Row = (String, String, Option<Vec<u8>>);

fn read(connection: &Connection) -> rusqlite::Result<Option<Row>> {
    let there = connection
        .prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'searching'")?
        .exists([])?;
    if !there {
        return Ok(None);
    }
    connection
        .prepare_cached("SELECT scan, approximate, centre FROM searching")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()
}

fn unknown(reader: &Reader<'_>, kept: &str) -> StoreError {
    reader.damaged(format!(
        "it is kept there that it be searched by {kept:?}, which this version does not know"
    ))
}

fn scan_text(scan: Scan) -> String {
    match scan {
        Scan::Full => "f32".to_owned(),
        Scan::Int8 => "int8".to_owned(),
        Scan::Bits { per_hit } => format!("bits {per_hit}"),
    }
}

fn scan_of(text: &str) -> Option<Scan> {
    match text {
        "f32" => Some(Scan::Full),
        "int8" => Some(Scan::Int8),
        _ => {
            let per_hit = text.strip_prefix("bits ")?.parse().ok()?;
            Some(Scan::Bits { per_hit })
        }
    }
}

/// `never`, or `hnsw` with its fields in order; a breadth that is not fixed is 0.
fn approximate_text(approximate: Approximate) -> String {
    match approximate {
        Approximate::Never => "never".to_owned(),
        Approximate::Hnsw(hnsw) => format!(
            "hnsw {} {} {} {} {}",
            hnsw.links,
            hnsw.build_ef,
            hnsw.recall_per_mille,
            hnsw.ef.unwrap_or(0),
            hnsw.narrow_per_mille
        ),
    }
}

fn approximate_of(text: &str) -> Option<Approximate> {
    if text == "never" {
        return Some(Approximate::Never);
    }
    let fields = text.strip_prefix("hnsw ")?.split(' ');
    let fields: Vec<usize> = fields
        .map(|field| field.parse().ok())
        .collect::<Option<_>>()?;
    let [links, build_ef, recall, ef, narrow] = *fields.as_slice() else {
        return None;
    };
    Some(Approximate::Hnsw(Hnsw {
        links,
        build_ef,
        recall_per_mille: recall.try_into().ok()?,
        ef: (ef > 0).then_some(ef),
        narrow_per_mille: narrow.try_into().ok()?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_is_read() {
        for scan in [Scan::Full, Scan::Int8, Scan::Bits { per_hit: 7 }] {
            assert_eq!(scan_of(&scan_text(scan)), Some(scan));
        }
        let named = Hnsw {
            ef: Some(30),
            narrow_per_mille: 0,
            ..Hnsw::default()
        };
        for hnsw in [Hnsw::default(), named] {
            let approximate = Approximate::Hnsw(hnsw);
            assert_eq!(
                approximate_of(&approximate_text(approximate)),
                Some(approximate)
            );
        }
        assert_eq!(approximate_of("never"), Some(Approximate::Never));
        for newer in [
            "",
            "hnsw",
            "hnsw 16 128 950 0",
            "hnsw 16 128 950 0 200 1",
            "hnsw 16 128 99999 0 1",
        ] {
            assert_eq!(approximate_of(newer), None, "{newer}");
        }
        for newer in ["", "f16", "bits", "bits x"] {
            assert_eq!(scan_of(newer), None, "{newer}");
        }
    }
}
