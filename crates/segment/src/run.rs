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
    /// chunks that belongs to neither (white space, a comment, a heading over nothing but a table)
    /// stands a space, a line end or a blank line, by their lines: so it is not the bytes of `span`.
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

    /// The run of some chunks; `None` when there are none.
    pub(crate) fn of(
        query: usize,
        value: f64,
        chunks: &[&Chunk],
        why: Vec<RunChunk>,
    ) -> Option<Self> {
        let (first, rest) = chunks.split_first()?;
        let mut path = first.heading_path.clone();
        let mut joined = Joined::new(first);
        for chunk in rest {
            let same = path.iter().zip(&chunk.heading_path);
            path.truncate(same.take_while(|(a, b)| a == b).count());
            joined.add(chunk);
        }
        let Joined { text, end, line } = joined;
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

/// The texts of chunks in order, what overlaps once; see [`Run::text`].
pub(crate) struct Joined {
    pub(crate) text: String,
    /// Where it ends in the source, and on which line.
    end: usize,
    line: usize,
}

impl Joined {
    pub(crate) fn new(first: &Chunk) -> Self {
        Self {
            text: first.text.clone(),
            end: first.span.end(),
            line: first.lines.last(),
        }
    }

    /// Adds what the chunk has beyond those before it.
    pub(crate) fn add(&mut self, chunk: &Chunk) {
        // A chunk may reach back over the one before it, and with nested spans end earlier.
        let shown = self.end.saturating_sub(chunk.span.start());
        if chunk.span.start() > self.end {
            self.text.push_str(white(self.line, chunk.lines.first()));
        }
        self.text
            .push_str(chunk.text.get(shown..).unwrap_or_default());
        self.end = self.end.max(chunk.span.end());
        self.line = self.line.max(chunk.lines.last());
    }
}

/// What stands for white space between two texts, by the lines on which they end and begin.
fn white(last: usize, next: usize) -> &'static str {
    match next.saturating_sub(last) {
        0 => " ",
        1 => "\n",
        _ => "\n\n",
    }
}
