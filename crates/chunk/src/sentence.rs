//! Structure-aware chunks: sections are never spanned, sentences never cut while they fit.

use std::sync::Arc;

use cornu_core::{ByteSpan, Chunk, ChunkRole, Document, TokenCounter};

use crate::chunker::{ChunkError, Chunker};
use crate::comments::Comments;
use crate::context::{Context, HeadingContext};
use crate::emit::{Namer, Place, cores};
use crate::html::outline_of;
use crate::markdown::Section;
use crate::pack::{Draft, Packer, is_long};
use crate::piece::{Measure, Piece};
use crate::window::Window;

/// Settings of [`SentencePacked`].
///
/// ```
/// use cornu_chunk::{SentencePackedOptions, Window};
/// let options = SentencePackedOptions { window: Window::with_ratio(512, 0.1)?, ..Default::default() };
/// assert_eq!(options.window.overlap(), 51);
/// # Ok::<(), cornu_chunk::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentencePackedOptions {
    /// Size and overlap; 256 tokens and 15 % (38) unless set.
    pub window: Window,
    /// What `index_text` begins with; the heading path unless set.
    pub heading_context: HeadingContext,
    /// Whether HTML comments are text; not, unless set.
    pub comments: Comments,
}

impl Default for SentencePackedOptions {
    fn default() -> Self {
        Self {
            window: Window::fixed(256, 38),
            heading_context: HeadingContext::default(),
            comments: Comments::default(),
        }
    }
}

/// Packs whole sentences, section by section, up to a size.
///
/// - A chunk lies in one section, the part of the document under one heading. It shows the heading
///   when it is the section's first; a heading larger than half of the size is packed like a
///   sentence. A section without a body of its own gives no chunk: its title stands in the heading
///   path of what is below it, its bytes in the core of the chunk that comes next.
/// - A code block or a table that fits is never cut; whether it stands alone depends on the room
///   beside it. `kind` is Code or Table where it does, Prose where it shares the chunk.
/// - A code block or a table that does not fit is cut between lines or rows, and its pieces share
///   no chunk with other text (but for a short text that leads to the first piece: a caption). From
///   the second piece on, opening fence or header and delimiter row stand in `prefix`; fence or
///   header row, where it is no larger than half of the size, also in `index_text`.
/// - A sentence, line or row that does not fit is cut, after white space or a comma where one is
///   near, else between two characters.
/// - The overlap is whole sentences, within a section; code and tables are not repeated.
/// - Definitions of links and footnotes that a chunk refers to and does not show stand in `prefix`.
/// - Comments and front matter are in no `text`, unless [`Comments::Keep`] is set for the former: a
///   comment between blocks also ends the chunk before it. A comment within a paragraph is left out
///   of `index_text` and stays in `text`, which is an exact slice.
///
/// Time is linear in the document: each unit is counted once and each chunk once or twice (up to
/// five times with a tokenizer that merges across units). Memory: a few words a unit, and the
/// chunks.
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, SentencePacked, SentencePackedOptions, Window};
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::WordCounter;
///
/// let source = "# 手册\n\n## 安装\n\n先停机。再断电。\n\n## 运行\n\n接通电源。\n";
/// let doc = Document::new(DocId::new("a.md")?, source, Acl::public());
/// let options = SentencePackedOptions { window: Window::new(20, 3)?, ..Default::default() };
/// let chunks = SentencePacked::new(Arc::new(WordCounter::new()), options).chunk(&doc)?;
/// assert_eq!(chunks[0].text, "## 安装\n\n先停机。再断电。");
/// assert_eq!(chunks[1].citation(), "a.md § 手册 › 运行, lines 7-9");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SentencePacked {
    counter: Arc<dyn TokenCounter>,
    options: SentencePackedOptions,
    fingerprint: String,
}

impl SentencePacked {
    /// A chunker that measures with `counter`.
    #[must_use]
    pub fn new(counter: Arc<dyn TokenCounter>, options: SentencePackedOptions) -> Self {
        let fingerprint = format!(
            "sentence-packed/v1 size={} overlap={} context={} comments={} counter={}",
            options.window.size(),
            options.window.overlap(),
            options.heading_context.as_str(),
            options.comments.as_str(),
            counter_name(&*counter),
        );
        Self {
            counter,
            options,
            fingerprint,
        }
    }
}

impl std::fmt::Debug for SentencePacked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SentencePacked")
            .field(&self.fingerprint)
            .finish()
    }
}

impl Chunker for SentencePacked {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn chunk(&self, doc: &Document) -> Result<Vec<Chunk>, ChunkError> {
        let source = doc.source();
        let outline = outline_of(doc);
        let hide_comments = self.options.comments == Comments::Hide;
        let measure = Measure::new(source, &outline, &*self.counter, hide_comments);
        let pieces = measure.pieces();
        let mut drafts: Vec<Draft> = Vec::new();
        let mut paths: Vec<&[String]> = Vec::new();
        for section in outline.sections() {
            let packing = Packing {
                measure: &measure,
                window: self.options.window,
                heading_context: self.options.heading_context,
            };
            drafts.extend(packing.section(section, pieces_of(&pieces, section)));
            paths.resize(drafts.len(), &section.path);
        }
        let cores = cores(&drafts, ByteSpan::from_range(0..source.len()));
        let mut namer = Namer::new(doc, &outline);
        let placed = drafts.into_iter().zip(cores).zip(paths);
        Ok(placed
            .map(|((draft, core), path)| {
                let place = Place {
                    fingerprint: &self.fingerprint,
                    role: ChunkRole::Indexed,
                    parent: None,
                    path,
                    core,
                };
                namer.chunk(draft, place)
            })
            .collect())
    }
}

/// How the sections of a document are packed.
#[derive(Clone, Copy)]
pub(crate) struct Packing<'a> {
    pub(crate) measure: &'a Measure<'a>,
    pub(crate) window: Window,
    pub(crate) heading_context: HeadingContext,
}

impl Packing<'_> {
    /// The drafts of the pieces, which lie in the section.
    pub(crate) fn section(&self, section: &Section, pieces: &[Piece]) -> Vec<Draft> {
        let limit = self.window.size();
        let long =
            |heading: &Piece| is_long(heading, pieces.get(1).map_or(0, |next| next.gap), limit);
        if !pieces.iter().any(Piece::is_body) && !pieces.first().is_some_and(long) {
            return Vec::new();
        }
        let counter = self.measure.counter;
        let context = Context::new(section, self.heading_context, counter, limit);
        Packer::new(self.measure, self.window, &context).pack(pieces, section.span.end())
    }
}

/// The pieces of the section's own blocks.
pub(crate) fn pieces_of<'a>(pieces: &'a [Piece], section: &Section) -> &'a [Piece] {
    let first = pieces.partition_point(|piece| piece.block < section.blocks.start);
    let end = pieces.partition_point(|piece| piece.block < section.blocks.end);
    pieces.get(first..end).unwrap_or_default()
}

/// A token counter's name and the digest of its settings, for a chunker's fingerprint.
pub(crate) fn counter_name(counter: &dyn TokenCounter) -> String {
    let fingerprint = counter.fingerprint();
    let digest = fingerprint.digest();
    let hex: String = digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{}#{hex}", fingerprint.model())
}
