//! The rows of one table as drafts, in words.

use std::ops::Range;

use cornu_core::{ByteSpan, ChunkKind};

use super::chunker::TableRowsOptions;
use super::view::is_shifted;
use crate::context::Context;
use crate::markdown::{BlockKind, Row, Table};
use crate::pack::{Draft, Packer};
use crate::piece::{Measure, Piece};

/// The longest caption that is indexed, in characters.
const CAPTION: usize = 160;

pub(super) struct Rows<'a> {
    pub(super) measure: &'a Measure<'a>,
    pub(super) options: &'a TableRowsOptions,
    pub(super) table: &'a Table,
    /// What may stand before a sentence, the fullest first.
    pub(super) leads: Vec<String>,
    /// What each column is called.
    pub(super) names: Vec<&'a str>,
    pub(super) header: ByteSpan,
    block: usize,
    /// Whether its columns are children, too.
    pub(super) has_columns: bool,
    /// For each row the nearest values at it or above it, where blank cells are filled.
    filled: Vec<Vec<&'a str>>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        measure: &'a Measure<'a>,
        options: &'a TableRowsOptions,
        context: &Context,
        table: &'a Table,
        block: usize,
    ) -> Self {
        let mut leads = Vec::new();
        if let Some(caption) = caption(measure, block) {
            leads.push(format!("{}{caption}\n", context.line));
        }
        if !context.line.is_empty() {
            leads.push(context.line.clone());
        }
        leads.push(String::new());
        Self {
            measure,
            options,
            table,
            leads,
            has_columns: has_columns(measure, options, table, block),
            names: table.header.texts(),
            header: header_of(table),
            block,
            filled: match options.fill_down {
                true => filled(table),
                false => Vec::new(),
            },
        }
    }

    /// The children of the table's lines; `end` is where what follows the table begins.
    pub(super) fn children(&self, lines: &[Piece], packer: &Packer<'_>, end: usize) -> Vec<Draft> {
        let first = lines.iter().position(|line| self.row_of(line).is_some());
        let first = first.unwrap_or(lines.len());
        let (head, data) = lines.split_at(first);
        let mut out: Vec<Draft> = Vec::new();
        // The header is shown with the first row, by itself where both are too large.
        let mut from = head.first().map(|line| line.span.start());
        let together = data
            .first()
            .zip(from)
            .map(|(line, from)| from..line.span.end());
        if !together.is_some_and(|range| self.fits(ByteSpan::from_range(range))) {
            let next = data.first().map_or(end, |line| line.span.start());
            out.extend(packer.pack(head, next));
            from = None;
        }
        for (at, line) in data.iter().enumerate() {
            let next = data.get(at + 1).map_or(end, |line| line.span.start());
            let start = from.take();
            let Some((number, row)) = self.row_of(line) else {
                out.extend(packer.pack(&[*line], next));
                continue;
            };
            let sentence = Sentence {
                number,
                values: (0..row.cells.len())
                    .map(|column| self.value(number - 1, row, column))
                    .collect(),
                surplus: self.surplus(row, line),
            };
            match self.row(line, row, &sentence, start, next) {
                Some(drafts) => out.extend(drafts),
                None => {
                    let begin = out.len();
                    let head = start.map_or(&[][..], |_| head);
                    out.extend(packer.pack(head, line.span.start()));
                    out.extend(packer.pack(&[*line], next));
                    for draft in out.iter_mut().skip(begin) {
                        if self.is_below_header(draft.span) {
                            draft.repeated = Some(self.header);
                        }
                    }
                }
            }
        }
        out
    }

    /// The drafts of a row, one where it fits; `None` when a cell by itself does not.
    fn row(
        &self,
        line: &Piece,
        row: &Row,
        sentence: &Sentence<'_>,
        start: Option<usize>,
        next: usize,
    ) -> Option<Vec<Draft>> {
        let columns = row.cells.len();
        let markup = self.measure.outline.markup().is_some();
        let whole = ByteSpan::from_range(start.unwrap_or(line.span.start())..line.span.end());
        if (markup || columns <= self.options.columns)
            && self.fits(whole)
            && let Some(draft) = self.draft(whole, 0..columns, sentence, true, next)
        {
            return Some(vec![draft]);
        }
        if markup {
            return None; // between two cells of HTML stand tags
        }
        let mut drafts = Vec::new();
        let mut from = 0;
        let mut begin = whole.start();
        while from < columns {
            let most = (from + self.options.columns).min(columns);
            let (to, draft) = (from + 1..=most).rev().find_map(|to| {
                let last = to == columns;
                let stop = match row.cells.get(to) {
                    Some(cell) if !cell.span.is_empty() => cell.span.start(),
                    _ => line.span.end(),
                };
                let text = self.measure.text(ByteSpan::from_range(begin..stop));
                let white = text.len() - text.trim_start().len();
                let span = ByteSpan::from_range(begin + white..begin + text.trim_end().len());
                if span.is_empty() || !self.fits(span) {
                    return None;
                }
                let next = if last || stop == line.span.end() {
                    next
                } else {
                    stop
                };
                let draft = self.draft(span, from..to, sentence, last, next)?;
                Some((to, draft))
            })?;
            let ended = draft.next == next;
            begin = draft.next;
            drafts.push(draft);
            from = to;
            if ended {
                break; // the row has no bytes for the columns that are left
            }
        }
        Some(drafts)
    }

    fn draft(
        &self,
        span: ByteSpan,
        columns: Range<usize>,
        sentence: &Sentence<'_>,
        last: bool,
        next: usize,
    ) -> Option<Draft> {
        let words = sentence.of(columns, &self.names, last);
        let leads = self.leads.iter().map(String::as_str);
        Some(self.said_of(span, next, self.fitting(leads, &words)?))
    }

    /// The first of these leads with which the words are small enough for a chunk, with them, and how
    /// large both are.
    pub(super) fn fitting<'l>(
        &self,
        mut leads: impl Iterator<Item = &'l str>,
        words: &str,
    ) -> Option<(String, usize)> {
        let limit = self.options.text.window.size();
        leads.find_map(|lead| {
            let text = format!("{lead}{words}");
            let tokens = self.measure.counter.count(&text);
            (tokens <= limit).then_some((text, tokens))
        })
    }

    /// A draft that shows these bytes of the table, below its header, and is matched by a text.
    pub(super) fn said_of(
        &self,
        span: ByteSpan,
        next: usize,
        (index_text, tokens): (String, usize),
    ) -> Draft {
        Draft {
            span,
            own: span,
            next,
            kind: ChunkKind::Table,
            block: Some(self.block),
            repeated: self.is_below_header(span).then_some(self.header),
            index_text,
            tokens,
        }
    }

    fn is_below_header(&self, span: ByteSpan) -> bool {
        !self.header.is_empty() && span.start() >= self.header.end()
    }

    fn fits(&self, span: ByteSpan) -> bool {
        self.measure.count(span) <= self.options.text.window.size()
    }

    /// The row that stands on a line, with its number from 1.
    pub(super) fn row_of(&self, line: &Piece) -> Option<(usize, &'a Row)> {
        let rows = &self.table.rows;
        let at = rows.partition_point(|row| row.span.start() < line.span.start());
        let row = rows.get(at)?;
        (row.span.start() < line.span.end()).then_some((at + 1, row))
    }

    /// What a cell is indexed with.
    pub(super) fn value<'v>(&'v self, at: usize, row: &'v Row, column: usize) -> &'v str {
        let own = row.cells.get(column).map_or("", |cell| cell.text.as_str());
        let filled = self.filled.get(at).and_then(|row| row.get(column));
        match (own, filled) {
            ("", Some(filled)) => filled,
            (own, _) => own,
        }
    }

    /// The cells beyond the header's.
    fn surplus(&self, row: &Row, line: &Piece) -> Vec<&'a str> {
        let last = row.cells.last().filter(|cell| !cell.span.is_empty());
        let Some(last) = last.filter(|_| self.measure.outline.markup().is_none()) else {
            return Vec::new();
        };
        let rest = self
            .measure
            .text(ByteSpan::from_range(last.span.end()..line.span.end()));
        let cells = rest.split('|').map(str::trim);
        cells.filter(|text| !text.is_empty()).collect()
    }
}

/// The header row and the line below it; empty for a table of HTML without a header.
pub(super) fn header_of(table: &Table) -> ByteSpan {
    let header = table.header.span;
    if header.is_empty() {
        return header;
    }
    ByteSpan::from_range(header.start()..table.delimiter.end().max(header.end()))
}

/// Whether a table is wide, and each of its cells stands under its column's name.
fn has_columns(
    measure: &Measure<'_>,
    options: &TableRowsOptions,
    table: &Table,
    block: usize,
) -> bool {
    let width = table.header.cells.len();
    if options.wide.is_none_or(|wide| width < wide.max(2)) {
        return false;
    }
    let is_html = measure.outline.markup().is_some();
    let block = measure.outline.blocks().get(block);
    let source = block.map_or("", |block| measure.text(block.span));
    !(is_html && is_shifted(table, source))
}

/// For each row the values at it, those of blank cells from above.
fn filled(table: &Table) -> Vec<Vec<&str>> {
    let mut above: Vec<&str> = vec![""; table.header.cells.len()];
    let rows = table.rows.iter();
    rows.map(|row| {
        for (known, cell) in above.iter_mut().zip(&row.cells) {
            if !cell.text.is_empty() {
                *known = &cell.text;
            }
        }
        above.clone()
    })
    .collect()
}

/// What a row says.
struct Sentence<'a> {
    number: usize,
    values: Vec<&'a str>,
    surplus: Vec<&'a str>,
}

impl Sentence<'_> {
    /// Of these columns; of others than the first, beside the first.
    fn of(&self, columns: Range<usize>, names: &[&str], last: bool) -> String {
        let mut out = format!("[Row {}: ", self.number);
        let key = (columns.start > 0).then_some(0);
        let mut first = true;
        for column in key.into_iter().chain(columns) {
            let name = names.get(column).copied().unwrap_or_default();
            let value = self.values.get(column).copied().unwrap_or_default();
            if name.is_empty() && value.is_empty() {
                continue;
            }
            if !std::mem::take(&mut first) {
                out.push_str(", ");
            }
            out.push_str(name);
            if !name.is_empty() {
                out.push_str(if value.is_empty() { ":" } else { ": " });
            }
            out.push_str(value);
        }
        if last {
            for text in &self.surplus {
                if !std::mem::take(&mut first) {
                    out.push_str(", ");
                }
                out.push_str(text);
            }
        }
        out.push(']');
        out
    }
}

/// The words of the paragraph above a table, where they are about it.
fn caption(measure: &Measure<'_>, block: usize) -> Option<String> {
    let blocks = measure.outline.blocks();
    let table = blocks.get(block)?;
    let above = blocks.get(block.checked_sub(1)?)?;
    if above.kind != BlockKind::Paragraph || above.depth != table.depth {
        return None;
    }
    let text = measure.words(above.span);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let touches = above.span.end() >= table.span.start();
    if text.chars().count() > CAPTION || !(touches || text.ends_with([':', '：']) || named(&text))
    {
        return None;
    }
    Some(text)
}

/// Whether a paragraph calls itself a table's caption.
fn named(text: &str) -> bool {
    let text = text.trim_start_matches(['*', '_', '(', '（', '[', '【']);
    let rest = ["表格", "表", "Table", "TABLE", "Tab."]
        .iter()
        .find_map(|word| text.strip_prefix(word));
    let number = |c: char| c.is_numeric() || matches!(c, '一'..='十');
    rest.is_some_and(|rest| rest.trim_start().starts_with(number))
}
