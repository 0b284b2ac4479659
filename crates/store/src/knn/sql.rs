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
const SPARE: usize = 4;

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
        if found.len() < limit || proves_cut(&found, k, query.exact.len()) {
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
