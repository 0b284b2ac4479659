//! The baseline: windows of so many tokens, blind to structure.

use std::sync::Arc;

use cornu_core::{ByteSpan, Chunk, ChunkKind, ChunkRole, Document, TokenCounter};

use crate::chunker::{ChunkError, Chunker};
use crate::emit::{Namer, Place, cores};
use crate::html::outline_of;
use crate::pack::Draft;
use crate::sentence::counter_name;
use crate::window::Window;

/// Settings of [`FixedWindow`].
///
/// ```
/// assert_eq!(cornu_chunk::FixedWindowOptions::default().window.size(), 120);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedWindowOptions {
    /// Size and overlap; 120 tokens and none unless set.
    pub window: Window,
}

impl Default for FixedWindowOptions {
    fn default() -> Self {
        Self {
            window: Window::fixed(120, 0),
        }
    }
}

/// Windows of a fixed number of tokens over the whole source, cut wherever the count is full.
///
/// The baseline that others are measured against, so it does what it must not be used for: it cuts
/// sentences, words, tables and code, and it indexes front matter and **comments**. It says in
/// which section a window begins, and nothing more.
///
/// A window ends where the count is full or the text is; the next begins `size - overlap` tokens
/// after it began. White space alone makes no chunk. Time: O(bytes × log size) token counts' worth,
/// twice that with an overlap, unless the counter knows a better
/// [`fit`](cornu_core::TokenCounter::fit).
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, FixedWindow, FixedWindowOptions, Window};
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::CharCounter;
///
/// let doc = Document::new(DocId::new("a.md")?, "x".repeat(300), Acl::public());
/// let options = FixedWindowOptions { window: Window::new(100, 20)? };
/// let chunks = FixedWindow::new(Arc::new(CharCounter::new()), options).chunk(&doc)?;
/// let spans: Vec<_> = chunks.iter().map(|chunk| chunk.span.range()).collect();
/// assert_eq!(spans, [0..100, 80..180, 160..260, 240..300]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FixedWindow {
    counter: Arc<dyn TokenCounter>,
    options: FixedWindowOptions,
    fingerprint: String,
}

impl FixedWindow {
    /// A chunker that measures with `counter`.
    #[must_use]
    pub fn new(counter: Arc<dyn TokenCounter>, options: FixedWindowOptions) -> Self {
        let fingerprint = format!(
            "fixed-window/v1 size={} overlap={} counter={}",
            options.window.size(),
            options.window.overlap(),
            counter_name(&*counter),
        );
        Self {
            counter,
            options,
            fingerprint,
        }
    }

    fn drafts(&self, source: &str) -> Vec<Draft> {
        let (size, overlap) = (self.options.window.size(), self.options.window.overlap());
        let length = |at: usize, tokens: usize| {
            let rest = source.get(at..).unwrap_or_default();
            let first = rest.chars().next().map_or(0, char::len_utf8);
            self.counter.fit(rest, tokens).max(first)
        };
        let mut drafts: Vec<Draft> = Vec::new();
        let (mut start, mut reached) = (0, 0);
        while reached < source.len() {
            let mut end = start + length(start, size);
            if end <= reached {
                // A counter that merges may fit less here than it did a little earlier.
                start = reached;
                end = start + length(start, size);
            }
            let span = ByteSpan::from_range(start..end);
            let text = span.slice(source).unwrap_or_default();
            // Nothing but white space since the window before: no chunk of its own.
            let fresh = source.get(reached..end).unwrap_or_default();
            if !fresh.trim().is_empty() {
                drafts.push(Draft {
                    span,
                    own: ByteSpan::from_range(reached..end),
                    next: end,
                    kind: ChunkKind::Prose,
                    block: None,
                    repeated: None,
                    index_text: text.to_owned(),
                    tokens: self.counter.count(text),
                });
            }
            start = match overlap {
                0 => end,
                _ => (start + length(start, size - overlap)).min(end),
            };
            reached = end;
        }
        drafts
    }
}

impl std::fmt::Debug for FixedWindow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FixedWindow")
            .field(&self.fingerprint)
            .finish()
    }
}

impl Chunker for FixedWindow {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn chunk(&self, doc: &Document) -> Result<Vec<Chunk>, ChunkError> {
        let outline = outline_of(doc);
        let drafts = self.drafts(doc.source());
        let cores = cores(&drafts, ByteSpan::from_range(0..doc.source().len()));
        let mut namer = Namer::new(doc, &outline);
        let chunks = drafts.into_iter().zip(cores).map(|(draft, core)| {
            let section = outline.section_at(draft.span.start());
            let place = Place {
                fingerprint: &self.fingerprint,
                role: ChunkRole::Indexed,
                parent: None,
                path: section.map_or(&[], |section| &section.path),
                core,
            };
            let chunk = namer.chunk(draft, place);
            Chunk {
                prefix: Vec::new(),
                ..chunk
            }
        });
        Ok(chunks.collect())
    }
}
