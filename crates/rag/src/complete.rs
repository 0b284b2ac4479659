//! Token vectors for what was indexed without them.

use cornu_store::Cursor;

use crate::error::RagError;
use crate::index::LiveRagIndex;

/// Chunks of a commit.
const STEP: usize = 64;

impl LiveRagIndex {
    /// Gives every indexed chunk the token vectors of [`RagOptions::tokens`](crate::RagOptions), if
    /// it has none of that model and precision: for an index that was built without, or with
    /// others. Gives how many were written; `progress` gets the number so far after each commit.
    ///
    /// For the owner. Some dozen chunks a commit; stopped and called again, it goes on where it
    /// was. Costs a pass of the model for each chunk. [`ingest`](Self::ingest) does the same for
    /// each document that it writes, so an index that was built with the option lacks none.
    ///
    /// # Errors
    /// [`RagError::Options`] when the index was opened without that option, [`RagError::Rerank`],
    /// [`RagError::Store`]; what was committed before stays.
    pub fn complete_tokens(&self, mut progress: impl FnMut(usize)) -> Result<usize, RagError> {
        let Some(space) = &self.options.tokens else {
            return Err(RagError::Options {
                problem: "`tokens` names no model, so there are no token vectors to compute"
                    .to_owned(),
            });
        };
        let digest = space.fingerprint().digest();
        let mut cursor = Cursor::default();
        let mut written = 0;
        loop {
            let missing = self
                .store
                .chunks_without_tokens(&digest, &mut cursor, STEP)?;
            if missing.is_empty() {
                return Ok(written);
            }
            let texts = missing.iter().map(|chunk| chunk.index_text.as_str());
            let tokens = space.documents(&texts.collect::<Vec<_>>())?;
            let ids = missing.iter().map(|chunk| chunk.id);
            let rows: Vec<_> = ids
                .zip(tokens.iter().map(cornu_rerank::TokenMatrix::to_bytes))
                .collect();
            written += self
                .store
                .batch(|batch| Ok::<_, RagError>(batch.put_token_vectors(&digest, &rows)?))?;
            progress(written);
        }
    }
}
