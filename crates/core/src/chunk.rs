//! A chunk: a span of a document, with what is indexed and what is shown.

use std::fmt;

use crate::id::{ChunkId, DocId};
use crate::span::{ByteSpan, LineSpan};

/// What a chunk is made of.
///
/// ```
/// use cornu_core::ChunkKind;
/// assert_eq!(ChunkKind::Table.to_string(), "table");
/// assert_eq!("code".parse(), Ok(ChunkKind::Code));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum ChunkKind {
    /// Paragraphs, lists, quotes, and mixtures of blocks.
    Prose,
    /// One code block, or a piece of one.
    Code,
    /// One table, or a piece of one.
    Table,
}

impl ChunkKind {
    /// The stable name, part of every [`ChunkId`].
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::Code => "code",
            Self::Table => "table",
        }
    }
}

impl fmt::Display for ChunkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for ChunkKind {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        [Self::Prose, Self::Code, Self::Table]
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| format!("{name:?} is no kind of chunk; one of prose, code, table"))
    }
}

/// Whether a chunk is searched, or only shown in place of those it holds.
///
/// ```
/// use cornu_core::ChunkRole;
/// assert!(ChunkRole::Indexed.is_indexed() && !ChunkRole::Parent.is_indexed());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum ChunkRole {
    /// Embedded and matched.
    Indexed,
    /// Never matched; its children are, and expand to it.
    Parent,
}

impl ChunkRole {
    /// Whether the chunk is embedded and matched.
    #[must_use]
    pub fn is_indexed(self) -> bool {
        matches!(self, Self::Indexed)
    }
}

/// A span of a document with its two payloads: [`index_text`](Self::index_text) is embedded and
/// matched, [`text`](Self::text) is shown as evidence.
///
/// What holds for every chunk that a chunker makes:
/// - `text` is exactly the source bytes of `span`.
/// - `core` is the part of the document that this chunk *owns*: the cores of the indexed chunks, in
///   order, partition the document, and so do those of parents where every chunk has one; where
///   only tables have parents, these own their tables. A [column](Self::is_column) of a table owns
///   nothing. `span` may reach further back (overlap); `core` may
///   reach further at both ends, over bytes that are no evidence (blank lines, front matter).
/// - `prefix` names source bytes that belong in front of `text` to make sense of it: the header of
///   a table, the opening fence of a code block. They are not part of `text`.
///
/// ```
/// use cornu_core::{ByteSpan, Chunk, ChunkId, ChunkIdParts, ChunkKind, ChunkRole, DocId, LineSpan};
///
/// let source = "# A\nOne. Two.\n";
/// let doc = DocId::new("a.md")?;
/// let heading_path = vec!["A".to_owned()];
/// let span = ByteSpan::new(4, 13)?;
/// let text = span.slice(source).unwrap();
/// let chunk = Chunk {
///     id: ChunkId::derive(&ChunkIdParts {
///         doc: &doc, chunker: "example", kind: ChunkKind::Prose,
///         heading_path: &heading_path, index_text: text, text, ordinal: 0,
///     }),
///     doc,
///     kind: ChunkKind::Prose,
///     role: ChunkRole::Indexed,
///     parent: None,
///     heading_path,
///     span,
///     core: ByteSpan::new(0, source.len())?,
///     lines: LineSpan::new(2, 2)?,
///     prefix: vec![],
///     language: None,
///     text: text.to_owned(),
///     index_text: text.to_owned(),
///     tokens: 4,
/// };
/// assert_eq!(chunk.citation(), "a.md § A, line 2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Chunk {
    /// The chunk's name.
    pub id: ChunkId,
    /// The document it comes from.
    pub doc: DocId,
    /// Prose, code or table.
    pub kind: ChunkKind,
    /// Searched, or only shown.
    pub role: ChunkRole,
    /// The chunk that is shown in this one's place, if any.
    pub parent: Option<ChunkId>,
    /// Titles of the sections around the chunk, outermost first.
    pub heading_path: Vec<String>,
    /// The bytes of the source that `text` holds.
    pub span: ByteSpan,
    /// The bytes of the source that this chunk owns.
    pub core: ByteSpan,
    /// The lines that `span` touches.
    pub lines: LineSpan,
    /// Source bytes to show before `text`: a table's header, a fence's opening line.
    pub prefix: Vec<ByteSpan>,
    /// The language of a code block's info string.
    pub language: Option<String>,
    /// The evidence: exactly the source bytes of `span`.
    pub text: String,
    /// What is embedded and matched.
    pub index_text: String,
    /// Size of `index_text` by the chunker's token counter.
    pub tokens: usize,
}

impl Chunk {
    /// Whether the chunk owns no bytes: a column of a table, whose `text` is rows that other chunks
    /// own, and whose `index_text` is what the column says.
    #[must_use]
    pub fn is_column(&self) -> bool {
        self.role.is_indexed() && self.parent.is_some() && self.core.is_empty()
    }

    /// Where the evidence stands, for a reader: document, heading path, lines.
    #[must_use]
    pub fn citation(&self) -> String {
        let mut out = self.doc.to_string();
        for (depth, title) in self.heading_path.iter().enumerate() {
            out.push_str(if depth == 0 { " § " } else { " › " });
            out.push_str(title);
        }
        let noun = if self.lines.first() == self.lines.last() {
            "line"
        } else {
            "lines"
        };
        out.push_str(&format!(", {noun} {}", self.lines));
        out
    }
}
