//! The trait behind which every strategy stands.

use cornu_core::{Chunk, Document, ProviderError};

/// A document to chunks.
///
/// For every implementation in this crate holds, and properties check:
/// - `source[span] == text`, on character boundaries; spans of one role begin strictly later one
///   after the other, and none contains another, but for the [columns](Chunk::is_column) of tables,
///   which show what rows own.
/// - The cores of the indexed chunks partition the document's bytes, and so do those of parents
///   where every indexed chunk has one; a document without anything to retrieve has no chunks.
/// - `tokens`, the size of `index_text`, is at most the limit (a single character that is larger by
///   the counter stands alone), and so is the size of `text`; that of a column is at most its
///   parent's.
/// - The same bytes give the same chunks, on any machine; an edit in one section leaves the ids of
///   the others.
/// - No text makes it fail or panic; time is linear in the text.
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, FixedWindow, FixedWindowOptions, SentencePacked, SentencePackedOptions};
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::WordCounter;
///
/// let counter = Arc::new(WordCounter::new());
/// let strategies: [Box<dyn Chunker>; 2] = [
///     Box::new(FixedWindow::new(counter.clone(), FixedWindowOptions::default())),
///     Box::new(SentencePacked::new(counter, SentencePackedOptions::default())),
/// ];
/// let doc = Document::new(DocId::new("a.md")?, "# A\nOne. Two.\n", Acl::public());
/// for strategy in &strategies {
///     assert_eq!(strategy.chunk(&doc)?.len(), 1);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Chunker: Send + Sync {
    /// Everything the chunks depend on: strategy, version, sizes, token counter. Part of every
    /// [`ChunkId`](cornu_core::ChunkId).
    fn fingerprint(&self) -> &str;

    /// The document's chunks in the order of their spans; a parent stands before its children.
    ///
    /// # Errors
    /// [`ChunkError`]: the strategies of this crate never fail; one that asks a model may.
    fn chunk(&self, doc: &Document) -> Result<Vec<Chunk>, ChunkError>;
}

/// Why a document gave no chunks.
///
/// ```
/// fn is_error<E: std::error::Error + Send + Sync>() {}
/// is_error::<cornu_chunk::ChunkError>();
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// A model that the strategy asks gave no answer.
    #[error(transparent)]
    Provider(#[from] ProviderError),
}
