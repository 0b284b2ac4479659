//! By `vec0`, with the visible chunks inside the statement.

use std::rc::Rc;

use cornu_core::{ChunkId, View};
use rusqlite::params;
use rusqlite::types::Value;

use crate::error::StoreError;
use crate::read::{Reader, ordinals};
use crate::score::{Query, from_distance, threshold};

/// The one form that sqlite-vec takes as a filter *before* the cut at k. With JOIN, EXISTS,
/// NOT IN, `+rowid IN` or a second IN the cut comes first and hidden rows push out visible ones.
/// A test reads the plan: it has to hold `0:3{` (a nearest-neighbour scan) and `[` (the filter).
const STATEMENT: &str = "
    SELECT rowid, distance FROM vec_chunks
    WHERE embedding MATCH ?1 AND k = ?2
      AND rowid IN (SELECT c.id FROM rarray(?3) AS r
                    CROSS JOIN chunks AS c ON c.document = r.value AND c.indexed = 1)
    ORDER BY distance";

/// The largest k that vec0 takes.
const MAX_K: usize = 4096;

/// How many rows beyond k are asked for at first: the first of them proves the cut.
const SPARE: usize = 2;

/// The rows that may be among the best k, with their exact scores: all that are, and a few more.
///
/// vec0 cuts at k by its own distance and knows nothing of our ids. So more than k rows are asked
/// for, until the last of them is so far that, whatever the rounding of the distances, neither it
/// nor anything beyond it can reach the k best: then no tie is cut. `None` when 4,096 rows do not
/// prove that.
pub(crate) fn candidates(
    reader: &Reader<'_>,
    view: &View,
    query: &Query,
    k: usize,
) -> Result<Option<Vec<(ChunkId, f64)>>, StoreError> {
    if k >= MAX_K {
        return Ok(None);
    }
    let visible = ordinals(view);
    let mut limit = (k + SPARE).min(MAX_K);
    loop {
        let found = nearest(reader, &visible, query, limit)?;
        if found.len() < limit {
            if found.len() as u64 != reader.rows_of(view)? {
                return Err(reader.damaged("the vec0 table lacks rows; run `rebuild-index`"));
            }
            return rescore(reader, query, &found).map(Some);
        }
        if proves_cut(&found, k, query.exact.len()) {
            return rescore(reader, query, &found).map(Some);
        }
        if limit == MAX_K {
            return Ok(None);
        }
        limit = limit.saturating_mul(2).min(MAX_K);
    }
}

fn nearest(
    reader: &Reader<'_>,
    visible: &Rc<Vec<Value>>,
    query: &Query,
    limit: usize,
) -> Result<Vec<(i64, f64)>, StoreError> {
    let mut found = Vec::with_capacity(limit);
    let vector: &[u8] = bytemuck::cast_slice(&query.rounded);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    reader.each(STATEMENT, params![vector, limit, visible], |row| {
        found.push((row.get(0)?, row.get(1)?));
        Ok(())
    })?;
    Ok(found)
}

/// Whether nothing beyond the last of these rows can be among the best k. They come by distance.
fn proves_cut(found: &[(i64, f64)], k: usize, dimension: usize) -> bool {
    let known = |at: usize| {
        found
            .get(at)
            .map(|&(_, distance)| from_distance(distance, dimension))
    };
    let (Some((kth, kth_error)), Some((last, last_error))) = (
        k.checked_sub(1).and_then(known),
        found.len().checked_sub(1).and_then(known),
    ) else {
        return k == 0;
    };
    // Similarity minus its error, and similarity plus its error, both fall with distance: so k
    // rows reach `kth − kth_error`, and no row beyond the last reaches `last + last_error`.
    last < threshold(kth, (kth_error + last_error) / 2.0)
}

fn rescore(
    reader: &Reader<'_>,
    query: &Query,
    found: &[(i64, f64)],
) -> Result<Vec<(ChunkId, f64)>, StoreError> {
    let sql = "SELECT c.chunk, v.vector FROM chunks AS c JOIN vectors AS v ON v.id = c.id WHERE c.id = ?1";
    let mut hits = Vec::with_capacity(found.len());
    let mut vector = Vec::new();
    for (id, _) in found {
        let before = hits.len();
        reader.each(sql, params![id], |row| {
            let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            reader.decode_vector(bytes, query.exact.len(), &mut vector)?;
            hits.push((ChunkId::from_bytes(row.get(0)?), query.similarity(&vector)));
            Ok(())
        })?;
        if hits.len() == before {
            return Err(reader.damaged("the vec0 table holds a row that the facts lack"));
        }
    }
    Ok(hits)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;

    use super::*;
    use crate::options::Options;
    use crate::sqlite::connection::{Connections, integers};
    use crate::sqlite::create::create;
    use cornu_pool::{Manager, Role};

    /// 100 documents of one row each, ever farther from [1, 0]; every tenth is visible.
    fn database(path: &Path) -> Connection {
        create(path, &cornu_core::Fingerprint::new("m"), 2).unwrap();
        let connection = Connections::new(path, &Options::default())
            .open(Role::Writer)
            .unwrap();
        let state = crate::sqlite::schema::read_state(&connection).unwrap();
        for at in 1..=100_i64 {
            let grant = if at % 10 == 0 { "public" } else { "ops" };
            let angle = at as f32 / 100.0;
            let vector: Vec<u8> = [angle.cos(), angle.sin()]
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect();
            let mut name = [0_u8; 32];
            name[0] = at as u8;
            for sql in [
                "INSERT INTO documents VALUES (?1, 'doc ' || ?1, zeroblob(32), zeroblob(32), 1, 0)",
                "INSERT INTO grants VALUES (?2, ?1)",
                "INSERT INTO chunks VALUES (?1, ?3, ?1, 1, 0, 'prose', NULL, 0, 0, 0, 0, 1, 1, 0)",
                "INSERT INTO vectors VALUES (?1, ?4)",
            ] {
                let mut statement = connection.prepare(sql).unwrap();
                let values: [&dyn rusqlite::ToSql; 4] = [&at, &grant, &name, &vector];
                for (place, value) in values.iter().enumerate() {
                    if sql.contains(&format!("?{}", place + 1)) {
                        statement.raw_bind_parameter(place + 1, value).unwrap();
                    }
                }
                statement.raw_execute().unwrap();
            }
        }
        crate::vec0::rebuild(&connection, state, 2).unwrap();
        connection
    }

    fn plan(connection: &Connection, sql: &str) -> String {
        let mut statement = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap();
        let mut rows = statement.raw_query();
        let mut plan = String::new();
        while let Some(row) = rows.next().unwrap() {
            plan.push_str(&row.get::<_, String>(3).unwrap());
            plan.push('\n');
        }
        plan
    }

    fn is_filter_before_cut(plan: &str) -> bool {
        plan.lines()
            .any(|line| line.contains("VIRTUAL TABLE INDEX 0:3{") && line.contains('['))
    }

    fn rows(connection: &Connection, sql: &str, k: i64) -> usize {
        let query: Vec<u8> = [1.0_f32, 0.0]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        let visible = integers((1..=10).map(|at| at * 10));
        let mut statement = connection.prepare(sql).unwrap();
        let found = statement
            .query_map(params![query, k, visible], |_| Ok(()))
            .unwrap();
        found.count()
    }

    /// The gate: a statement that is edited, or a library that plans otherwise, fails here.
    #[test]
    fn the_filter_comes_before_the_cut_by_plan_and_by_count() {
        let folder = tempfile::tempdir().unwrap();
        let connection = database(&folder.path().join("index.db"));
        let plan = plan(&connection, STATEMENT);
        assert!(is_filter_before_cut(&plan), "{plan}");
        for k in 1..=15 {
            assert_eq!(rows(&connection, STATEMENT, k), k.min(10) as usize);
        }
    }

    /// VS-21: vec0 sees the limit as `k = ?`, a constraint that every SQLite hands to a virtual
    /// table; a bound LIMIT reaches it from 3.41 on only. SQLite is compiled in, so the version is
    /// ours; one prepared statement serves every k.
    #[test]
    fn vs_21_k_is_a_constraint_and_no_limit() {
        let words: Vec<String> = STATEMENT
            .split_whitespace()
            .map(str::to_uppercase)
            .collect();
        assert!(words.windows(3).any(|three| three == ["K", "=", "?2"]));
        assert!(!words.contains(&"LIMIT".to_owned()));
        assert!(rusqlite::version_number() >= 3_041_000);

        let folder = tempfile::tempdir().unwrap();
        let connection = database(&folder.path().join("index.db"));
        let query: Vec<u8> = [1.0_f32, 0.0]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        let mut statement = connection.prepare(STATEMENT).unwrap();
        for k in [3_i64, 1, 10, 7] {
            let visible = integers((1..=10).map(|at| at * 10));
            let found = statement.query_map(params![query, k, visible], |row| row.get(0));
            let found: Vec<i64> = found.unwrap().collect::<Result<_, _>>().unwrap();
            let nearest: Vec<i64> = (1..=k).map(|at| at * 10).collect();
            assert_eq!(found, nearest);
        }
        // Neither form: vec0 says so, and nothing is scanned in silence.
        let bare = STATEMENT.replace("AND k = ?2", "AND ?2 = ?2");
        let error = connection.prepare(&bare).err().unwrap();
        assert!(error.to_string().contains("LIMIT or 'k = ?'"), "{error}");
    }

    /// Forms that look the same and starve: the gate tells them apart, and so does the count.
    #[test]
    fn forms_that_filter_behind_the_cut_are_caught() {
        let folder = tempfile::tempdir().unwrap();
        let connection = database(&folder.path().join("index.db"));
        let head = "SELECT v.rowid, v.distance FROM vec_chunks AS v";
        for sql in [
            format!("{head} JOIN chunks AS c ON c.id = v.rowid JOIN rarray(?3) AS r ON r.value = c.document
                     WHERE v.embedding MATCH ?1 AND k = ?2"),
            format!("{head} WHERE v.embedding MATCH ?1 AND k = ?2 AND EXISTS
                     (SELECT 1 FROM chunks AS c JOIN rarray(?3) AS r ON r.value = c.document WHERE c.id = v.rowid)"),
            format!("{head} WHERE v.embedding MATCH ?1 AND k = ?2 AND +v.rowid IN (SELECT value FROM rarray(?3))"),
            format!("{head} WHERE v.embedding MATCH ?1 AND k = ?2 AND v.rowid NOT IN
                     (SELECT id FROM chunks WHERE document NOT IN (SELECT value FROM rarray(?3)))"),
        ] {
            let plan = plan(&connection, &sql);
            assert!(!is_filter_before_cut(&plan), "{sql}\n{plan}");
            assert!(rows(&connection, &sql, 5) < 5, "{sql}");
        }
    }
}
