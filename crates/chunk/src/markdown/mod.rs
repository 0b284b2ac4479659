//! The structure of a Markdown document, with byte ranges.
//!
//! CommonMark and GitHub's extensions (tables, footnotes, task lists, strike-through, math), read
//! by pulldown-cmark; front matter is taken off first. Everything within a fence or an HTML block
//! is text. `#标题` without a space, `#　全角空格` and `####### seven` are no headings, as CommonMark
//! 4.2 says. Lines end with LF, CRLF or CR alone, also side by side.
//!
//! Two differences from CommonMark. Containers nest no deeper than [`MAX_MARKER_COLUMN`] columns of
//! markers: further ones are read as white space, which bounds the work for lines such as `>>>>…`.
//! And an HTML block that begins with `<pre`, `<script`, `<style` or `<textarea` ends at the end tag
//! of its own name only, where CommonMark takes that of any of the four (pulldown-cmark's reading:
//! `<pre>`, then `</script>`, leaves the block open).
//!
//! An [`Outline`] holds the document's *leaf* blocks in order, each as whole lines; between two of
//! them stand only blank lines. Headings at the document's own level open sections; those within
//! quotes, lists and footnotes are recorded and open none.
//!
//! ```
//! use cornu_chunk::markdown::Outline;
//!
//! let source = "# 目录\n### 甲\na\n### 乙\nb\n## 丙\nc\n";
//! let outline = Outline::parse(source);
//! let paths: Vec<_> = outline.sections().iter().map(|s| s.path.join("/")).collect();
//! assert_eq!(paths, ["目录", "目录/甲", "目录/乙", "目录/丙"]);
//! ```

mod block;
mod front_matter;
mod leaf;
pub(crate) mod lines;
pub(crate) mod markers;
mod parsed;
mod read;
mod statements;

pub use block::{
    Block, BlockKind, Cell, CodeBlock, Container, ContainerKind, Definition, Fence, Heading,
    MAX_TITLE_CHARS, Reference, Row, Table,
};
pub use front_matter::{FrontMatter, FrontMatterFormat};
pub(crate) use leaf::title as title_of;
pub use parsed::MAX_MARKER_COLUMN;
pub use statements::statements;

use cornu_core::ByteSpan;

use crate::html::Markup;

/// A part of a document under one heading, up to the next heading of the document. The sections
/// partition the document, front matter apart.
///
/// ```
/// use cornu_chunk::markdown::Outline;
/// let outline = Outline::parse("intro\n# A\n## B\nx\n");
/// let [intro, a, b] = outline.sections() else { unreachable!() };
/// assert_eq!((intro.level, a.level, b.level), (0, 1, 2));
/// assert_eq!(b.parent, Some(1));
/// assert_eq!(b.path, ["A", "B"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// From the heading to the next heading of the document, or to the end.
    pub span: ByteSpan,
    /// Index of the heading in [`Outline::headings`]; `None` before the first heading.
    pub heading: Option<usize>,
    /// The heading's level; 0 before the first heading.
    pub level: u8,
    /// The section that this one is a part of.
    pub parent: Option<usize>,
    /// Titles from the outermost section to this one; empty titles are left out.
    pub path: Vec<String>,
    /// Indices of the section's blocks, its heading among them, in [`Outline::blocks`].
    pub blocks: std::ops::Range<usize>,
}

/// The structure of one document. See [the module](self) for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    front_matter: Option<FrontMatter>,
    headings: Vec<Heading>,
    sections: Vec<Section>,
    blocks: Vec<Block>,
    containers: Vec<Container>,
    definitions: Vec<Definition>,
    references: Vec<Reference>,
    comments: Vec<ByteSpan>,
    /// Of an HTML document: its words.
    markup: Option<Markup>,
}

impl Outline {
    /// Reads a document. Any text will do. Linear in its bytes; holds a few words a block, and
    /// copies of titles and of table cells.
    #[must_use]
    pub fn parse(source: &str) -> Self {
        let bom = if source.starts_with('\u{feff}') { 3 } else { 0 };
        let front_matter = FrontMatter::read(source, bom);
        let start = front_matter.as_ref().map_or(bom, |front| front.span.end());
        let mut outline = read::read(source, start);
        outline.front_matter = front_matter;
        outline.sections = sections(&outline.blocks, &outline.headings, start, source.len());
        outline
    }

    /// The outline of an HTML document.
    pub(crate) fn of_markup(
        blocks: Vec<Block>,
        headings: Vec<Heading>,
        sections: Vec<Section>,
        comments: Vec<ByteSpan>,
        markup: Markup,
    ) -> Self {
        Self {
            headings,
            sections,
            blocks,
            comments,
            markup: Some(markup),
            ..Self::default()
        }
    }

    pub(crate) fn markup(&self) -> Option<&Markup> {
        self.markup.as_ref()
    }

    /// Reads a part of a document: no front matter, no sections.
    pub(crate) fn of_body(text: &str) -> Self {
        read::read(text, 0)
    }

    /// The metadata at the head of the document.
    #[must_use]
    pub fn front_matter(&self) -> Option<&FrontMatter> {
        self.front_matter.as_ref()
    }

    /// All headings in order, those in containers among them.
    #[must_use]
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// The sections in order. A document of nothing but front matter and white space has none.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The leaf blocks in order.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The containers, ordered by where they begin, outer ones first.
    #[must_use]
    pub fn containers(&self) -> &[Container] {
        &self.containers
    }

    /// Link reference definitions and footnotes that can be referred to, in order. Where a label
    /// is defined twice, the first counts.
    #[must_use]
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The places that use a definition, in order.
    #[must_use]
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// HTML comments, whole blocks and within lines, in order.
    #[must_use]
    pub fn comments(&self) -> &[ByteSpan] {
        &self.comments
    }

    /// The innermost section that holds the byte `at`. O(log sections).
    #[must_use]
    pub fn section_at(&self, at: usize) -> Option<&Section> {
        let after = self
            .sections
            .partition_point(|section| section.span.start() <= at);
        let section = self.sections.get(after.checked_sub(1)?)?;
        (at < section.span.end()).then_some(section)
    }
}

/// The sections of these blocks, which partition the bytes from `start` to `end`.
pub(crate) fn sections(
    blocks: &[Block],
    headings: &[Heading],
    start: usize,
    end: usize,
) -> Vec<Section> {
    let mut out: Vec<Section> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let heading = match block.kind {
            BlockKind::Heading(heading) if block.depth == 0 => Some(heading),
            _ if out.is_empty() => None,
            _ => continue,
        };
        // The first section begins where the body begins, so that sections partition it.
        let from = if out.is_empty() && heading.is_none() {
            start
        } else {
            block.span.start()
        };
        if let Some(last) = out.last_mut() {
            last.span = ByteSpan::from_range(last.span.start()..from);
            last.blocks.end = index;
        }
        let (level, title) = heading
            .and_then(|heading| headings.get(heading))
            .map_or((0, ""), |heading| (heading.level, heading.title.as_str()));
        while open.last().is_some_and(|&outer| out[outer].level >= level) {
            open.pop();
        }
        let parent = open.last().copied().filter(|&outer| out[outer].level > 0);
        let mut path = parent.map_or_else(Vec::new, |outer| out[outer].path.clone());
        if !title.is_empty() {
            path.push(title.to_owned());
        }
        open.push(out.len());
        out.push(Section {
            span: ByteSpan::from_range(from..end),
            heading,
            level,
            parent,
            path,
            blocks: index..blocks.len(),
        });
    }
    out
}
