//! What a document is made of.

use cornu_core::ByteSpan;

/// A heading, at the document's own level or inside a container.
///
/// ```
/// use cornu_chunk::markdown::Outline;
/// let outline = Outline::parse("# Use *`f`* [now](x)\n> # quoted\n");
/// let [own, quoted] = outline.headings() else { unreachable!() };
/// assert_eq!((own.title.as_str(), own.level, own.in_container), ("Use f now", 1, false));
/// assert!(quoted.in_container);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The lines of the heading, the underline of a Setext heading among them.
    pub span: ByteSpan,
    /// 1 to 6.
    pub level: u8,
    /// The title as plain text, lines joined by a space, cut after [`MAX_TITLE_CHARS`] characters
    /// (then it ends in `…`).
    pub title: String,
    /// Inside a block quote, a list item or a footnote: it opens no section of the document.
    pub in_container: bool,
}

/// The longest title in a heading path, in characters. Every chunk of a section carries its path,
/// so without a bound one huge heading would make the output quadratic.
pub const MAX_TITLE_CHARS: usize = 256;

/// A block without blocks inside, as whole lines. Containers' markers (`> `, `- `) belong to the
/// lines that they stand on.
///
/// ```
/// use cornu_chunk::markdown::{BlockKind, Outline};
/// let outline = Outline::parse("- one\n\n  ```rust\n  let x = 1;\n  ```\n");
/// let [one, code] = outline.blocks() else { unreachable!() };
/// assert_eq!((&one.kind, one.depth), (&BlockKind::Paragraph, 2));
/// assert!(matches!(&code.kind, BlockKind::Code(code) if code.language.as_deref() == Some("rust")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The lines of the block.
    pub span: ByteSpan,
    /// What it is.
    pub kind: BlockKind,
    /// In how many containers it stands, a list and its item counted each; 0 at the document's own
    /// level.
    pub depth: usize,
}

/// The kinds of [`Block`].
///
/// See [`Block`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockKind {
    /// Running text, also that of a list item.
    Paragraph,
    /// The heading with this index in [`Outline::headings`](super::Outline::headings).
    Heading(usize),
    /// Fenced or indented code.
    Code(CodeBlock),
    /// A GFM table.
    Table(Table),
    /// Raw HTML.
    Html,
    /// An HTML comment and nothing else.
    Comment,
    /// Link reference definitions.
    LinkDefinitions,
    /// A thematic break.
    Rule,
    /// Lines of nothing but container markers, such as an empty list item.
    Markers,
}

/// What is special about a code block.
///
/// ```
/// use cornu_chunk::markdown::{BlockKind, Outline};
/// let outline = Outline::parse("~~~ python title=x\npass\n");
/// let BlockKind::Code(code) = &outline.blocks()[0].kind else { unreachable!() };
/// assert_eq!(code.language.as_deref(), Some("python"));
/// let fence = code.fence.as_ref().unwrap();
/// assert!(!fence.closed && fence.close_with() == "~~~");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock {
    /// The first word of the info string.
    pub language: Option<String>,
    /// The fence; `None` for indented code.
    pub fence: Option<Fence>,
}

/// The fence of a code block. See [`CodeBlock`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The opening line, from the first fence character to the line end, line end included.
    pub opening: ByteSpan,
    /// `` ` `` or `~`.
    pub marker: char,
    /// How many markers open the block.
    pub length: usize,
    /// Whether a closing line was found; an unclosed fence runs to the end of its container.
    pub closed: bool,
}

impl Fence {
    /// A line, without line end, that closes the block.
    #[must_use]
    pub fn close_with(&self) -> String {
        std::iter::repeat_n(self.marker, self.length).collect()
    }
}

/// A GFM table: one header row, one delimiter row, data rows.
///
/// Rows are split as GFM says, before anything inline is read: a bare `|` ends a cell even within
/// a code span. Short rows are padded, cells beyond the header's are left out here, and stay in the
/// row's bytes.
///
/// ```
/// use cornu_chunk::markdown::{BlockKind, Outline};
/// let outline = Outline::parse("|  | 2023 |\n|---|---|\n| 收入 | 10 | 9 |\n");
/// let BlockKind::Table(table) = &outline.blocks()[0].kind else { unreachable!() };
/// assert_eq!(table.header.texts(), ["", "2023"]);
/// assert_eq!(table.rows[0].texts(), ["收入", "10"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The header row.
    pub header: Row,
    /// The line of dashes below it.
    pub delimiter: ByteSpan,
    /// The data rows, each with as many cells as the header.
    pub rows: Vec<Row>,
}

/// A row of a [`Table`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The row's line, line end included, markers of containers apart.
    pub span: ByteSpan,
    /// Its cells.
    pub cells: Vec<Cell>,
}

impl Row {
    /// The cells' plain texts.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        self.cells.iter().map(|cell| cell.text.as_str()).collect()
    }
}

/// A cell of a [`Table`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The bytes between the pipes; empty at the row's end where the row is too short.
    pub span: ByteSpan,
    /// The plain text: mark-up removed, `\|` read as `|`, `<br>` as a space.
    pub text: String,
}

/// A block that holds blocks.
///
/// ```
/// use cornu_chunk::markdown::{ContainerKind, Outline};
/// let outline = Outline::parse("> - a\n");
/// let kinds: Vec<_> = outline.containers().iter().map(|c| c.kind).collect();
/// assert_eq!(kinds, [ContainerKind::Quote, ContainerKind::List, ContainerKind::Item]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// From the first marker to the end.
    pub span: ByteSpan,
    /// What it is.
    pub kind: ContainerKind,
}

/// The kinds of [`Container`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContainerKind {
    /// A block quote.
    Quote,
    /// A list.
    List,
    /// An item of a list.
    Item,
    /// The definition of a footnote.
    Footnote,
}

/// What a reference such as `[s]` or `[^1]` stands for.
///
/// ```
/// use cornu_chunk::markdown::Outline;
/// let source = "see [s].[^n]\n\n[s]: https://example.org\n\n[^n]: a note\n";
/// let outline = Outline::parse(source);
/// let shown: Vec<_> = outline.references().iter()
///     .map(|reference| outline.definitions()[reference.definition].span.slice(source).unwrap())
///     .collect();
/// assert_eq!(shown, ["[s]: https://example.org", "[^n]: a note"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The definition, without its line end.
    pub span: ByteSpan,
    /// Of a footnote, not of a link.
    pub footnote: bool,
}

/// A place that uses a [`Definition`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The reference in the text.
    pub span: ByteSpan,
    /// Index in [`Outline::definitions`](super::Outline::definitions).
    pub definition: usize,
}
