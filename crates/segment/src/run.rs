//! A segment as evidence: its place in the source, its text, and why it was chosen.

use cornu_core::{ByteSpan, Chunk, ChunkId, DocId, LineSpan};

use crate::value::ChunkValue;

/// A chunk of a run, with what it adds to it.
///
/// See [`Run`] for an example.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RunChunk {
    /// The chunk.
    pub id: ChunkId,
    /// Its lines.
    pub lines: LineSpan,
    /// Its value for the run's query.
    pub value: ChunkValue,
}

/// Neighbouring chunks of one document that belong together.
///
/// ```
/// use cornu_core::{ByteSpan, Chunk, ChunkId, ChunkKind, ChunkRole, DocId, LineSpan, Scored};
/// use cornu_segment::{DocumentChunks, SegmentOptions, extract};
///
/// let doc = DocId::new("a.md")?;
/// let chunk = |at: usize| -> Result<Chunk, cornu_core::SpanError> {
///     let span = ByteSpan::new(at * 6, at * 6 + 5)?;
///     let text = format!("Text{at}");
///     Ok(Chunk {
///         id: ChunkId::from_bytes([at as u8; 32]), doc: doc.clone(), kind: ChunkKind::Prose,
///         role: ChunkRole::Indexed, parent: None, heading_path: vec!["A".to_owned()],
///         span, core: span, lines: LineSpan::new(at + 1, at + 1)?, prefix: vec![],
///         language: None, index_text: text.clone(), text, tokens: 1,
///     })
/// };
/// let chunks = [chunk(0)?, chunk(1)?, chunk(2)?, chunk(3)?];
/// // The first and the third chunk are found: the one between them comes along.
/// let results = [Scored { id: chunks[2].id, score: 0.9 }, Scored { id: chunks[0].id, score: 0.8 }];
/// let documents = [DocumentChunks { doc: &doc, chunks: &chunks }];
/// let segments = extract(&[&results], &documents, &SegmentOptions::default())?;
///
/// let [run] = segments.runs.as_slice() else { unreachable!() };
/// assert_eq!(run.citation(), "a.md § A, lines 1-3");
/// assert_eq!(run.text, "Text0\nText1\nText2");
/// assert_eq!(run.chunks[1].value.rank, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Run {
    /// The document.
    pub doc: DocId,
    /// The titles that all its chunks stand under, outermost first.
    pub heading_path: Vec<String>,
    /// From the first byte of the first chunk to the last of the last.
    pub span: ByteSpan,
    /// The lines of `span`.
    pub lines: LineSpan,
    /// Source bytes to show before `text`: those of the first chunk.
    pub prefix: Vec<ByteSpan>,
    /// The query that it was chosen for, from 0.
    pub query: usize,
    /// The sum of its chunks' values.
    pub value: f64,
    /// Its chunks in order.
    pub chunks: Vec<RunChunk>,
    /// The chunks' texts in order, what overlaps once. Where the source has something between two
    /// chunks that belongs to neither (white space, a comment) stands a space, a line end or a blank
    /// line, by their lines: so it is not the bytes of `span`. A heading that belongs to no chunk,
    /// as one over nothing but a table, stands there by its title. Line ends are those of the
    /// document.
    pub text: String,
}

impl Run {
    /// Where it stands, for a reader: document, common heading path, lines.
    #[must_use]
    pub fn citation(&self) -> String {
        let mut out = self.doc.to_string();
        for (depth, title) in self.heading_path.iter().enumerate() {
            out.push_str(if depth == 0 { " § " } else { " › " });
            out.push_str(title);
        }
        let one = self.lines.first() == self.lines.last();
        out.push_str(if one { ", line " } else { ", lines " });
        out.push_str(&self.lines.to_string());
        out
    }

    /// The run of some chunks of a document with these line ends; `None` when there are no chunks.
    pub(crate) fn of(
        query: usize,
        value: f64,
        chunks: &[&Chunk],
        why: Vec<RunChunk>,
        line_end: LineEnd,
    ) -> Option<Self> {
        let (first, rest) = chunks.split_first()?;
        let mut path = first.heading_path.clone();
        let mut joined = Joined::new(first, line_end);
        for chunk in rest {
            let same = path.iter().zip(&chunk.heading_path);
            path.truncate(same.take_while(|(a, b)| a == b).count());
            joined.add(chunk);
        }
        let Joined {
            text, end, line, ..
        } = joined;
        Some(Self {
            doc: first.doc.clone(),
            heading_path: path,
            span: ByteSpan::from_range(first.span.start()..end),
            lines: LineSpan::new(first.lines.first(), line).ok()?,
            prefix: first.prefix.clone(),
            query,
            value,
            chunks: why,
            text,
        })
    }
}

/// How the lines of a document end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LineEnd {
    #[default]
    Lf,
    CrLf,
}

impl LineEnd {
    /// That of the first line that ends within one of the chunks; `\n` where none does. Parents
    /// among them tell of tables whose rows are single lines. O(bytes to the first line end) time.
    pub(crate) fn of(chunks: &[Chunk]) -> Self {
        let first = |chunk: &Chunk| {
            let at = chunk.text.find('\n')?;
            let before = chunk.text.get(..at)?;
            Some(if before.ends_with('\r') {
                Self::CrLf
            } else {
                Self::Lf
            })
        };
        chunks.iter().find_map(first).unwrap_or_default()
    }

    /// What stands for white space between two texts, by the lines on which they end and begin.
    fn between(self, last: usize, next: usize) -> &'static str {
        match (next.saturating_sub(last), self) {
            (0, _) => " ",
            (1, Self::Lf) => "\n",
            (1, Self::CrLf) => "\r\n",
            (_, Self::Lf) => "\n\n",
            (_, Self::CrLf) => "\r\n\r\n",
        }
    }
}

/// The texts of chunks in order, what overlaps once; see [`Run::text`].
pub(crate) struct Joined {
    pub(crate) text: String,
    /// Where it ends in the source, and on which line.
    end: usize,
    line: usize,
    /// The titles that the last chunk stands under.
    path: Vec<String>,
    line_end: LineEnd,
}

impl Joined {
    pub(crate) fn new(first: &Chunk, line_end: LineEnd) -> Self {
        Self {
            text: first.text.clone(),
            end: first.span.end(),
            line: first.lines.last(),
            path: first.heading_path.clone(),
            line_end,
        }
    }

    /// Adds what the chunk has beyond those before it.
    pub(crate) fn add(&mut self, chunk: &Chunk) {
        // A chunk may reach back over the one before it, and with nested spans end earlier.
        let shown = self.end.saturating_sub(chunk.span.start());
        if chunk.span.start() > self.end {
            let blank = self.line_end.between(0, 2);
            let lost = self.lost(chunk);
            if lost.is_empty() {
                let white = self.line_end.between(self.line, chunk.lines.first());
                self.text.push_str(white);
            }
            for title in &lost {
                self.text.push_str(blank);
                self.text.push_str(title);
            }
            if !lost.is_empty() {
                self.text.push_str(blank);
            }
        }
        self.text
            .push_str(chunk.text.get(shown..).unwrap_or_default());
        self.end = self.end.max(chunk.span.end());
        self.line = self.line.max(chunk.lines.last());
        self.path.clone_from(&chunk.heading_path);
    }

    /// The titles of headings that stand between the last chunk and this one and in neither: new in
    /// this one's path, not in its first line, and with room for them between the two. In a page of
    /// HTML a title is words and not mark-up, so there is none.
    fn lost<'a>(&self, chunk: &'a Chunk) -> Vec<&'a str> {
        let same = self.path.iter().zip(&chunk.heading_path);
        let same = same.take_while(|(a, b)| a == b).count();
        let new: Vec<&str> = chunk
            .heading_path
            .iter()
            .skip(same)
            .map(String::as_str)
            .collect();
        let first = chunk.text.lines().next().unwrap_or_default();
        let own = new.last().is_none_or(|title| first.contains(title));
        // A mark, a space and a line end belong to each.
        let needed: usize = new.iter().map(|title| title.len() + 3).sum();
        let room = chunk.span.start().saturating_sub(self.end);
        let page = [".html", ".htm"].iter().any(|ending| {
            let name = chunk.doc.as_str();
            let end = name.len().checked_sub(ending.len());
            end.and_then(|at| name.get(at..))
                .is_some_and(|own| own.eq_ignore_ascii_case(ending))
        });
        if own || page || needed > room {
            Vec::new()
        } else {
            new
        }
    }
}
