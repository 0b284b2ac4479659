//! From the vectors of record: no artifact, every visible row scored exactly.

use cornu_core::{ChunkId, View};

use crate::error::StoreError;
use crate::read::Reader;
use crate::score::Query;

/// All visible rows with their exact scores. O(visible rows · D) time, 40 bytes a row.
pub(crate) fn candidates(
    reader: &Reader<'_>,
    view: &View,
    query: &Query,
) -> Result<Vec<(ChunkId, f64)>, StoreError> {
    let mut hits = Vec::new();
    reader.vectors(view.ordinals(), query.exact.len(), |_, id, row| {
        hits.push((id, query.similarity(row)));
        Ok(())
    })?;
    if hits.len() as u64 != reader.rows_of(view)? {
        return Err(reader.damaged("vectors are missing"));
    }
    Ok(hits)
}
