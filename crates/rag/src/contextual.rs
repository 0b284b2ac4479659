//! Any chunker, with headers of title and summary.

use std::fmt;
use std::sync::Arc;

use cornu_chunk::markdown::Outline;
use cornu_chunk::{ChunkError, Chunker};
use cornu_core::{Chunk, Document};
use cornu_segment::AutoContext;

/// A chunker whose chunks are indexed behind a header of their document's title and summary.
///
/// The title is the front matter's `title`, else the heading that all chunks stand under, else the
/// file's name. What is shown stays as it is. Give the chunker inside a limit that leaves room: a
/// header that does not fit within [`limit`](cornu_segment::AutoContextOptions::limit) is shortened.
///
/// A summariser that asks a remote model is given whole documents: set
/// [`RagOptions::disclosure`](crate::RagOptions::disclosure), which is asked before a document is
/// chunked.
///
/// ```
/// use std::sync::Arc;
/// use cornu::chunk::{Chunker, SentencePacked, SentencePackedOptions, Window};
/// use cornu::segment::{AutoContext, AutoContextOptions, ExtractiveSummariser};
/// use cornu::{Acl, ContextualChunker, DocId, Document};
/// use cornu::text::WordCounter;
///
/// let counter = Arc::new(WordCounter::new());
/// let small = SentencePackedOptions { window: Window::new(8, 0)?, ..Default::default() };
/// let inner = Arc::new(SentencePacked::new(counter.clone(), small));
/// let summariser = Arc::new(ExtractiveSummariser::default());
/// let context = AutoContext::new(summariser, counter, AutoContextOptions::default());
/// let chunker = ContextualChunker::new(inner, context);
///
/// let text = "---\ntitle: Gearbox\n---\nThe gearbox drives the main mill. Oil is changed yearly.\n";
/// let chunks = chunker.chunk(&Document::new(DocId::new("g.md")?, text, Acl::public()))?;
/// assert_eq!(chunks[1].index_text, "Gearbox: The gearbox drives the main mill.\nOil is changed yearly.");
/// assert_eq!(chunks[1].text, "Oil is changed yearly.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContextualChunker {
    inner: Arc<dyn Chunker>,
    context: AutoContext,
    fingerprint: String,
}

impl ContextualChunker {
    /// The chunks of `inner` with the headers of `context`.
    #[must_use]
    pub fn new(inner: Arc<dyn Chunker>, context: AutoContext) -> Self {
        let fingerprint = format!("{} behind {}", inner.fingerprint(), context.fingerprint());
        Self {
            inner,
            context,
            fingerprint,
        }
    }
}

impl Chunker for ContextualChunker {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn chunk(&self, doc: &Document) -> Result<Vec<Chunk>, ChunkError> {
        let chunks = self.inner.chunk(doc)?;
        let outline = Outline::parse(doc.source());
        let title = outline.front_matter().and_then(|front| front.get("title"));
        let chunker = self.inner.fingerprint();
        Ok(self.context.apply(doc.id(), title, chunker, chunks)?.chunks)
    }
}

impl fmt::Debug for ContextualChunker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ContextualChunker")
            .field(&self.fingerprint)
            .finish()
    }
}
