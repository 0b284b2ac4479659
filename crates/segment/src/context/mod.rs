//! AutoContext: what an excerpt does not say of the document around it, in front of what is
//! indexed.

mod cache;
mod extractive;
mod header;
mod outline;

pub use cache::{CachedSummariser, FolderStore, MemoryStore, SummaryStore};
pub use extractive::{ExtractiveOptions, ExtractiveSummariser};
pub use header::HeaderStyle;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cornu_core::{
    Chunk, ChunkId, ChunkIdParts, DocId, Fingerprint, ProviderError, Summariser, TokenCounter,
};

use self::header::Header;
use self::outline::Outline;

/// The version of the rules in this module: another number, another fingerprint.
const RULES: u32 = 1;

/// Everything about the headers that has a default.
///
/// ```
/// use cornu_segment::{AutoContextOptions, HeaderStyle};
/// let paper = AutoContextOptions { style: HeaderStyle::Paper, ..AutoContextOptions::default() };
/// assert_eq!(paper.max_sections, 32);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoContextOptions {
    /// How a header reads. Default: [`HeaderStyle::Plain`].
    pub style: HeaderStyle,
    /// Tokens of the document's summary, at most; 0 asks for none. Default 48.
    pub document_tokens: usize,
    /// Tokens of a section's summary, at most; 0 asks for none. Default 0, as in dsRAG.
    pub section_tokens: usize,
    /// How many tokens of a text the summariser is given, from its beginning. Default 8000.
    pub input_tokens: usize,
    /// How many sections of a document are summarised, the first ones. Default 32.
    pub max_sections: usize,
    /// The size of `index_text`, header and all, that no chunk passes. Default 512. A chunker whose
    /// own limit is as large leaves no room for headers.
    pub limit: usize,
}

impl Default for AutoContextOptions {
    fn default() -> Self {
        Self {
            style: HeaderStyle::Plain,
            document_tokens: 48,
            section_tokens: 0,
            input_tokens: 8000,
            max_sections: 32,
            limit: 512,
        }
    }
}

/// Puts a header of document title and summary (and the section's) in front of `index_text`. The
/// evidence, `text`, stays as it is.
///
/// - A document of one chunk is not summarised: the chunk says what it says. Nor is a section of
///   one chunk, or the only section.
/// - In [`HeaderStyle::Plain`] a sentence of a summary that stands in the chunk itself is left out
///   of its header, and so is a title that the chunk's heading path already gives.
/// - Where the header does not fit, it loses the section's summary, the document's, then the title.
/// - Chunks get new ids, because what is indexed is part of an id. An edit that changes the
///   document's summary therefore gives all chunks of the document new ids.
///
/// Cost: at most 1 + `max_sections` calls of the summariser for a document, each with at most
/// `input_tokens` of input; O(bytes) else. Wrap the summariser in a [`CachedSummariser`] so that a
/// text is summarised once.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::{ByteSpan, Chunk, ChunkId, ChunkKind, ChunkRole, DocId, LineSpan};
/// use cornu_segment::{AutoContext, ExtractiveSummariser};
/// use cornu_text::WordCounter;
///
/// let texts = ["The gearbox GX-5 drives the mill. It has two stages.", "Oil is changed each year."];
/// let doc = DocId::new("gx5.md")?;
/// let chunks = texts.iter().enumerate().map(|(at, text)| Ok(Chunk {
///     id: ChunkId::from_bytes([at as u8; 32]), doc: doc.clone(), kind: ChunkKind::Prose,
///     role: ChunkRole::Indexed, parent: None, heading_path: vec![],
///     span: ByteSpan::new(at * 60, at * 60 + text.len())?, core: ByteSpan::new(at * 60, at * 60 + 60)?,
///     lines: LineSpan::new(at + 1, at + 1)?, prefix: vec![], language: None,
///     text: (*text).to_owned(), index_text: (*text).to_owned(), tokens: 9,
/// })).collect::<Result<Vec<_>, cornu_core::SpanError>>()?;
///
/// let context = AutoContext::new(
///     Arc::new(ExtractiveSummariser::default()), Arc::new(WordCounter::new()), Default::default());
/// let done = context.apply(&doc, None, "example", chunks)?;
/// assert_eq!(done.chunks[1].index_text,
///     "gx5: The gearbox GX-5 drives the mill.\nOil is changed each year.");
/// assert_eq!(done.chunks[1].text, "Oil is changed each year.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AutoContext {
    summariser: Arc<dyn Summariser>,
    counter: Arc<dyn TokenCounter>,
    options: AutoContextOptions,
    fingerprint: Fingerprint,
}

/// Chunks with headers, and what they cost.
///
/// ```
/// assert_eq!(cornu_segment::Contextual::default().calls, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contextual {
    /// The chunks in the order in which they came.
    pub chunks: Vec<Chunk>,
    /// How often the summariser was asked.
    pub calls: usize,
    /// Tokens that it was given, by the counter.
    pub input_tokens: usize,
    /// Indexed chunks whose header lost something, or all, because it did not fit.
    pub shortened: usize,
}

impl AutoContext {
    /// Headers by this summariser; sizes by this counter, which should be the chunker's.
    #[must_use]
    pub fn new(
        summariser: Arc<dyn Summariser>,
        counter: Arc<dyn TokenCounter>,
        options: AutoContextOptions,
    ) -> Self {
        let fingerprint = Fingerprint::new("cornu autocontext")
            .with("rules", RULES)
            .with("style", options.style.as_str())
            .with("document_tokens", options.document_tokens)
            .with("section_tokens", options.section_tokens)
            .with("input_tokens", options.input_tokens)
            .with("max_sections", options.max_sections)
            .with("limit", options.limit)
            .with("counter", counter.fingerprint())
            .with("summariser", summariser.fingerprint());
        Self {
            summariser,
            counter,
            options,
            fingerprint,
        }
    }

    /// Everything that the headers depend on besides the document.
    #[must_use]
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Gives the indexed chunks of one document their headers. `chunker` is the fingerprint of the
    /// chunker that made them, `title` the document's title where the caller knows one; without it
    /// the heading that all chunks stand under, or the name of the file.
    ///
    /// # Errors
    /// [`ProviderError`] of the summariser; then no chunk is given.
    pub fn apply(
        &self,
        doc: &DocId,
        title: Option<&str>,
        chunker: &str,
        chunks: Vec<Chunk>,
    ) -> Result<Contextual, ProviderError> {
        let outline = Outline::read(doc, title, &chunks);
        let mut done = Contextual::default();
        let paper = self.options.style == HeaderStyle::Paper;
        let document = if paper || outline.indexed > 1 {
            self.summary(&outline.text(), self.options.document_tokens, &mut done)?
        } else {
            String::new()
        };
        let mut sections: Vec<String> = Vec::new();
        let mut asked = 0;
        for section in &outline.sections {
            let worth = outline.sections.len() > 1 && section.chunks > 1;
            let summary = if worth && asked < self.options.max_sections {
                asked += 1;
                self.summary(section.text(), self.options.section_tokens, &mut done)?
            } else {
                String::new()
            };
            sections.push(summary);
        }
        let chunker = format!("{chunker}+{}", self.fingerprint);
        let mut namer = Namer::new(&chunker);
        let mut places = outline.places.iter();
        for mut chunk in chunks {
            if chunk.role.is_indexed() {
                let section = places.next().and_then(|&place| sections.get(place));
                let header = Header {
                    title: &outline.title,
                    document: &document,
                    section: section.map_or("", String::as_str),
                };
                if self.head(&mut chunk, header) {
                    done.shortened += 1;
                }
                namer.name(&mut chunk);
            }
            done.chunks.push(chunk);
        }
        Ok(done)
    }

    /// A summary in one line, cut to size whatever the summariser gives.
    fn summary(
        &self,
        text: &str,
        tokens: usize,
        done: &mut Contextual,
    ) -> Result<String, ProviderError> {
        if tokens == 0 || text.trim().is_empty() {
            return Ok(String::new());
        }
        let end = self.counter.fit(text, self.options.input_tokens);
        let input = text.get(..end).unwrap_or_default();
        if input.trim().is_empty() {
            return Ok(String::new());
        }
        done.calls += 1;
        done.input_tokens += self.counter.count(input);
        let summary = self.summariser.summarise(input, tokens)?;
        let line = summary.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = self.counter.fit(&line, tokens);
        Ok(line.get(..end).unwrap_or_default().trim_end().to_owned())
    }

    /// Puts the largest header that fits in front of the index text; whether it had to be cut.
    fn head(&self, chunk: &mut Chunk, header: Header<'_>) -> bool {
        let style = self.options.style;
        let (title, document, section) = match style {
            HeaderStyle::Plain => header.beside(chunk),
            HeaderStyle::Paper => (
                header.title,
                header.document.to_owned(),
                header.section.to_owned(),
            ),
        };
        let header = Header {
            title,
            document: &document,
            section: &section,
        };
        let mut cut = false;
        for header in header.fitting() {
            let Some(lines) = header.render(chunk, style) else {
                return cut; // nothing to say
            };
            let index_text = lines + &chunk.index_text;
            let tokens = self.counter.count(&index_text);
            if tokens <= self.options.limit {
                chunk.index_text = index_text;
                chunk.tokens = tokens;
                return cut;
            }
            cut = true;
        }
        cut
    }
}

impl fmt::Debug for AutoContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AutoContext")
            .field("summariser", self.summariser.fingerprint())
            .field("counter", self.counter.fingerprint())
            .field("options", &self.options)
            .finish()
    }
}

/// Names for chunks whose index text has changed.
struct Namer<'a> {
    chunker: &'a str,
    ordinals: BTreeMap<ChunkId, u32>,
}

impl<'a> Namer<'a> {
    fn new(chunker: &'a str) -> Self {
        Self {
            chunker,
            ordinals: BTreeMap::new(),
        }
    }

    fn name(&mut self, chunk: &mut Chunk) {
        let parts = |ordinal| ChunkIdParts {
            doc: &chunk.doc,
            chunker: self.chunker,
            kind: chunk.kind,
            heading_path: &chunk.heading_path,
            index_text: &chunk.index_text,
            text: &chunk.text,
            ordinal,
        };
        let id = ChunkId::derive(&parts(0));
        let seen = self.ordinals.entry(id).or_insert(0);
        let id = if *seen > 0 {
            ChunkId::derive(&parts(*seen))
        } else {
            id
        };
        *seen += 1;
        chunk.id = id;
    }
}
