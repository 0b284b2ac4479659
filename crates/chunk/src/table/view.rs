//! A table as cells again, out of the chunks that it became.

use std::collections::BTreeMap;

use cornu_core::{ByteSpan, Chunk, ChunkId, ChunkKind, ChunkRole, DocId, LineIndex};

use crate::html::{self, is_html};
use crate::markdown::{BlockKind, Outline, Table};

/// A table out of its parents' texts, with its cells and their places in the source.
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, TableRows, TableRowsOptions, TableView};
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::WordCounter;
///
/// let source = "| 型号 | 压力 |\n|---|---|\n| P-1 | 3 MPa |\n| P-2 | 5 MPa |\n";
/// let doc = Document::new(DocId::new("a.md")?, source, Acl::public());
/// let chunks = TableRows::new(Arc::new(WordCounter::new()), TableRowsOptions::default()).chunk(&doc)?;
/// let tables = TableView::all(&chunks);
///
/// let place = tables[0].row_of(&chunks[2]).ok_or("a row")?;
/// assert_eq!((place.row, place.line), (2, 4));
/// let cell = &place.cells[1];
/// assert_eq!((cell.column, &*cell.header, &*cell.text), (2, "压力", "5 MPa"));
/// assert_eq!(&source[cell.span.range()], " 5 MPa ");
/// assert_eq!(cell.to_string(), "row 2, column 2 (压力), line 4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TableView {
    /// The document.
    pub doc: DocId,
    /// The titles around the table, outermost first.
    pub heading_path: Vec<String>,
    /// What its rows are indexed behind, besides their heading path: the words above the table.
    pub caption: String,
    /// Its parents, in order.
    pub parents: Vec<ChunkId>,
    /// The cells; spans are those of the source.
    pub table: Table,
    /// The source line, from 1, of each data row.
    pub lines: Vec<usize>,
    /// The last line above the table, caption or not: it may tell what the numbers are counted in.
    pub(super) above: String,
    /// The bytes of the table, and where they begin in the source.
    text: String,
    start: usize,
}

/// Where a row stands.
///
/// See [`TableView`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlace {
    /// From 1, among the data rows.
    pub row: usize,
    /// The source line, from 1.
    pub line: usize,
    /// The cells that the chunk shows.
    pub cells: Vec<CellPlace>,
}

/// Where a column stands, or a part of it.
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, TableRows, TableRowsOptions, TableView};
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::WordCounter;
///
/// let source = "| 型号 | 压力 |\n|---|---|\n| P-1 | 3 MPa |\n| P-2 | 5 MPa |\n";
/// let doc = Document::new(DocId::new("a.md")?, source, Acl::public());
/// let options = TableRowsOptions { wide: Some(2), ..TableRowsOptions::default() };
/// let chunks = TableRows::new(Arc::new(WordCounter::new()), options).chunk(&doc)?;
/// assert_eq!(chunks[2].index_text, "[Column 2 压力: P-1: 3 MPa, P-2: 5 MPa]");
/// let place = TableView::all(&chunks)[0].column_of(&chunks[2]).ok_or("a column")?;
/// assert_eq!(place.to_string(), "column 2 (压力), lines 3-4");
/// assert_eq!(place.cells[1].text, "5 MPa");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnPlace {
    /// From 1.
    pub column: usize,
    /// What it is called; may be empty.
    pub header: String,
    /// Its cells in the rows that the chunk shows.
    pub cells: Vec<CellPlace>,
}

impl std::fmt::Display for ColumnPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "column {}", self.column)?;
        if !self.header.is_empty() {
            write!(f, " ({})", self.header)?;
        }
        let lines = self.cells.first().zip(self.cells.last());
        match lines.map(|(first, last)| (first.line, last.line)) {
            Some((first, last)) if first < last => write!(f, ", lines {first}-{last}"),
            Some((line, _)) => write!(f, ", line {line}"),
            None => Ok(()),
        }
    }
}

/// Where a cell stands, and what it says.
///
/// See [`TableView`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellPlace {
    /// From 1, among the data rows.
    pub row: usize,
    /// From 1.
    pub column: usize,
    /// What the column is called; may be empty.
    pub header: String,
    /// What the cell says, without mark-up.
    pub text: String,
    /// Its bytes in the source, between the pipes.
    pub span: ByteSpan,
    /// Its source line, from 1.
    pub line: usize,
}

impl std::fmt::Display for CellPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "row {}, column {}", self.row, self.column)?;
        if !self.header.is_empty() {
            write!(f, " ({})", self.header)?;
        }
        write!(f, ", line {}", self.line)
    }
}

impl TableView {
    /// The tables among the chunks of one document, in order.
    ///
    /// A table whose lines are indented by a list so deeply that by themselves they are no table is
    /// left out, and so is one of which a row was too large for a parent. O(bytes) time.
    #[must_use]
    pub fn all(chunks: &[Chunk]) -> Vec<Self> {
        let tables = chunks
            .iter()
            .filter(|chunk| chunk.role == ChunkRole::Parent && chunk.kind == ChunkKind::Table);
        let mut groups: Vec<Vec<&Chunk>> = Vec::new();
        for chunk in tables {
            // From the second piece of a table on, the prefix names the header in the first.
            let goes_on = |group: &Vec<&Chunk>| {
                let (Some(first), Some(header)) = (group.first(), chunk.prefix.last()) else {
                    return false;
                };
                first.span.start() <= header.start() && header.start() < first.span.end()
            };
            match groups.last_mut() {
                Some(group) if goes_on(group) => group.push(chunk),
                _ => groups.push(vec![chunk]),
            }
        }
        let pairs = chunks.iter().zip(chunks.iter().skip(1));
        let pairs = pairs.filter(|(_, parent)| parent.role == ChunkRole::Parent);
        let before: BTreeMap<ChunkId, &Chunk> =
            pairs.map(|(chunk, parent)| (parent.id, chunk)).collect();
        let read = |group: &Vec<&Chunk>| {
            let mut view = Self::read(group)?;
            let child = chunks
                .iter()
                .filter(|chunk| !chunk.is_column())
                .find(|chunk| chunk.parent.is_some_and(|id| view.parents.contains(&id)))?;
            view.caption = caption(child);
            let parent = group.first()?;
            let text = before.get(&parent.id).filter(|chunk| {
                let touches = chunk.core.end() == parent.core.start();
                touches && chunk.role.is_indexed() && chunk.heading_path == parent.heading_path
            });
            let line = text.and_then(|chunk| chunk.text.lines().next_back());
            view.above = line.unwrap_or_default().to_owned();
            Some(view)
        };
        groups.iter().filter_map(read).collect()
    }

    fn read(pieces: &[&Chunk]) -> Option<Self> {
        let first = pieces.first()?;
        let mut text = String::new();
        let html = is_html(&first.doc);
        for piece in pieces {
            // Between two pieces stands a line end, and tags in HTML; anything else is a row without
            // a parent.
            let gap = (piece.span.start() - first.span.start()).checked_sub(text.len())?;
            match (text.is_empty(), gap) {
                (true, 0) => {}
                (false, gap) if html => {
                    text.push_str(&format!("{:gap$}", if gap < 4 { "" } else { "<tr>" }));
                }
                (false, 1) => text.push('\n'),
                (false, 2) => text.push_str("\r\n"),
                _ => return None,
            }
            text.push_str(&piece.text);
        }
        let lines = LineIndex::new(&text);
        let (outline, added) = match html {
            true => (
                html::outline(&format!("{TABLE}{text}</table>")),
                TABLE.len(),
            ),
            false => (Outline::of_body(&text), 0),
        };
        let table = outline
            .blocks()
            .iter()
            .find_map(|block| match &block.kind {
                BlockKind::Table(table) => Some(table.clone()),
                _ => None,
            })?;
        let before = first.lines.first() - 1;
        let rows = table.rows.iter();
        let numbers =
            rows.map(|row| before + lines.line_of(row.span.start().saturating_sub(added)));
        Some(Self {
            doc: first.doc.clone(),
            heading_path: first.heading_path.clone(),
            caption: String::new(),
            above: String::new(),
            parents: pieces.iter().map(|piece| piece.id).collect(),
            lines: numbers.collect(),
            table: moved(table, first.span.start(), added),
            text,
            start: first.span.start(),
        })
    }

    /// A cell by its coordinates, from 1; `None` beyond the table.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> Option<CellPlace> {
        let (at, column_at) = (row.checked_sub(1)?, column.checked_sub(1)?);
        let cell = self.table.rows.get(at)?.cells.get(column_at)?;
        Some(CellPlace {
            row,
            column,
            header: self.header(column_at),
            text: cell.text.clone(),
            span: cell.span,
            line: self.lines.get(at).copied()?,
        })
    }

    /// What the column at a place from 0 is called; may be empty.
    fn header(&self, at: usize) -> String {
        let header = self.table.header.cells.get(at);
        header.map_or_else(String::new, |cell| cell.text.clone())
    }

    /// The source's bytes of a cell of this table, white space and mark-up among them.
    #[must_use]
    pub fn quote(&self, cell: &CellPlace) -> Option<&str> {
        self.source_of(cell.span)
    }

    /// Whether cells may stand under another column's name.
    pub(super) fn is_shifted(&self) -> bool {
        is_html(&self.doc) && is_shifted(&self.table, &self.text)
    }

    pub(super) fn source_of(&self, span: ByteSpan) -> Option<&str> {
        let start = span.start().checked_sub(self.start)?;
        self.text.get(start..start + span.len())
    }

    /// The row that a child of this table shows, with those of its cells that the child shows;
    /// `None` for other chunks.
    #[must_use]
    pub fn row_of(&self, chunk: &Chunk) -> Option<RowPlace> {
        if !self.parents.contains(&chunk.parent?) || chunk.is_column() {
            return None;
        }
        let rows = &self.table.rows;
        let at = rows.partition_point(|row| row.span.end() <= chunk.span.start());
        let row = rows.get(at).filter(|row| row.span.overlaps(chunk.span))?;
        let shown = row
            .cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| cell.span.is_empty() || chunk.span.overlaps(cell.span));
        let cells = shown.filter_map(|(column, _)| self.cell(at + 1, column + 1));
        Some(RowPlace {
            row: at + 1,
            line: self.lines.get(at).copied()?,
            cells: cells.collect(),
        })
    }

    /// The column that a child of this table is, with its cells in the rows that the child shows;
    /// `None` for other chunks. O(rows).
    #[must_use]
    pub fn column_of(&self, chunk: &Chunk) -> Option<ColumnPlace> {
        if !chunk.is_column() || !self.parents.contains(&chunk.parent?) {
            return None;
        }
        // Its sentence is the last line: nothing in it ends one.
        let (_, sentence) = chunk
            .index_text
            .rsplit_once('\n')
            .unwrap_or(("", &chunk.index_text));
        let number = sentence.strip_prefix("[Column ")?;
        let number = number.split(|c: char| !c.is_ascii_digit()).next()?;
        let column: usize = number.parse().ok()?;
        let rows = self.table.rows.iter().enumerate();
        let shown = rows.filter(|(_, row)| row.span.overlaps(chunk.span));
        Some(ColumnPlace {
            column,
            header: self.header(column.checked_sub(1)?),
            cells: shown
                .filter_map(|(at, _)| self.cell(at + 1, column))
                .collect(),
        })
    }
}

/// Whether cells of a table of HTML may stand under another column's name: `colspan` and `rowspan`
/// are not read.
pub(super) fn is_shifted(table: &Table, source: &str) -> bool {
    let source = source.to_ascii_lowercase();
    let mut spans = ["colspan", "rowspan"].iter();
    let width = table.header.cells.len();
    let mut rows = table.rows.iter();
    spans.any(|name| source.contains(name)) || rows.any(|row| row.cells.len() != width)
}

/// What stands before a child's sentence, behind the line of the heading path: what another hand
/// put in front of that line is none of the table's.
fn caption(child: &Chunk) -> String {
    let lead = child
        .index_text
        .split_once("[Row 1: ")
        .map_or("", |(lead, _)| lead);
    let path = child.heading_path.join(" > ");
    let lines: Vec<&str> = lead.lines().collect();
    let at = lines.iter().rposition(|line| path.ends_with(line));
    let behind = lines.get(at.map_or(0, |at| at + 1)..);
    behind.unwrap_or_default().join(" ")
}

/// What HTML rows are read within.
const TABLE: &str = "<table>";

/// The table with all its places further on, less what was added in front.
fn moved(mut table: Table, by: usize, added: usize) -> Table {
    let place = |at: usize| at.saturating_sub(added) + by;
    let shift = |span: &mut ByteSpan| {
        *span = ByteSpan::from_range(place(span.start())..place(span.end()));
    };
    shift(&mut table.delimiter);
    for row in std::iter::once(&mut table.header).chain(&mut table.rows) {
        shift(&mut row.span);
        row.cells.iter_mut().for_each(|cell| shift(&mut cell.span));
    }
    table
}
