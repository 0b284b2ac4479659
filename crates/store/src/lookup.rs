//! Chunks by id: whose they are, and how near.

use cornu_core::{ChunkId, Ranking};
use ndarray::ArrayView1;
use rusqlite::params;

use crate::error::StoreError;
use crate::read::OF_CHUNK;
use crate::score::Query;
use crate::snapshot::Snapshot;

impl Snapshot<'_> {
    /// The ordinals of the documents that some chunks belong to, ascending, each once; `None` when
    /// one of the chunks does not exist or is not seen. An ordinal names one version of one document
    /// for ever, so that [`View::contains`](cornu_core::View::contains) says later, without a look
    /// at the file, whether all of them are still seen. O(chunks · log).
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read.
    pub fn ordinals_of<'a>(
        &self,
        chunks: impl IntoIterator<Item = &'a ChunkId>,
    ) -> Result<Option<Vec<u32>>, StoreError> {
        let view = self.view();
        let sql = format!("SELECT c.document FROM chunks AS c WHERE {OF_CHUNK}");
        self.read(|reader| {
            let mut ordinals = Vec::new();
            for id in chunks {
                let mut found = self.reading().ordinal_at_hand(view, id);
                if found.is_none() {
                    reader.each(&sql, params![id.as_bytes()], |row| {
                        let ordinal = row.get(0)?;
                        found = found.or(view.contains(ordinal).then_some(ordinal));
                        Ok(())
                    })?;
                }
                match found {
                    Some(ordinal) => ordinals.push(ordinal),
                    None => return Ok(None),
                }
            }
            ordinals.sort_unstable();
            ordinals.dedup();
            Ok(Some(ordinals))
        })
    }

    /// The order in which [`knn`](Self::knn) would give some chunks, with the same scores to the
    /// bit. Chunks that do not exist, are not seen or have no vector are left out, as are
    /// repetitions. O(chunks · (log + D)).
    ///
    /// # Errors
    /// [`StoreError`] for a query of another dimension or no direction, and when the file cannot
    /// be read.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a view is a reference, as in `FactStore`"
    )]
    pub fn score<'a>(
        &self,
        query: ArrayView1<'_, f32>,
        chunks: impl IntoIterator<Item = &'a ChunkId>,
    ) -> Result<Ranking<ChunkId>, StoreError> {
        let dimension = self.store().dimension();
        let query = Query::new(&query, dimension)?;
        let mut ids: Vec<&ChunkId> = chunks.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        let (mut hits, mut vector) = (Vec::with_capacity(ids.len()), Vec::new());
        let sql = format!(
            "SELECT c.document, v.vector FROM chunks AS c
             CROSS JOIN vectors AS v ON v.id = c.id WHERE {OF_CHUNK}"
        );
        self.read(|reader| {
            for id in ids {
                reader.each(&sql, params![id.as_bytes()], |row| {
                    if self.view().contains(row.get(0)?) {
                        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
                        reader.decode_vector(bytes, dimension, &mut vector)?;
                        hits.push((*id, query.similarity(&vector)));
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        Ranking::new(hits)
            .map_err(|error| StoreError::corrupted(self.store().path(), error.to_string()))
    }
}
