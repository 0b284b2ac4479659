//! The columns of one table as drafts, in words.

use cornu_core::{ByteSpan, ChunkKind};

use super::row::Rows;
use crate::markdown::Row;
use crate::pack::Draft;
use crate::piece::Piece;

/// A row on its line, with its number from 1.
struct Line<'a> {
    at: usize,
    row: &'a Row,
    span: ByteSpan,
}

impl<'a> Rows<'a> {
    /// The children for the columns of the part of the table that stands on these lines and that a
    /// parent shows: none where the table is not wide, or where cells may stand under another
    /// column's name.
    pub(super) fn columns(&self, lines: &[Piece], parent: ByteSpan) -> Vec<Draft> {
        let cells = self.table.rows.iter().map(|row| row.cells.len());
        let width = cells.fold(self.names.len(), usize::max);
        if self.options.wide.is_none_or(|wide| width < wide.max(2)) || self.is_shifted(lines) {
            return Vec::new();
        }
        let rows: Vec<Line<'a>> = lines
            .iter()
            .filter_map(|line| {
                let (number, row) = self.row_of(line)?;
                Some(Line {
                    at: number - 1,
                    row,
                    span: line.span,
                })
            })
            .collect();
        (0..width)
            .flat_map(|column| self.column(column, &rows, parent))
            .collect()
    }

    /// The drafts of one column, each with as many of the rows as fit.
    fn column(&self, column: usize, rows: &[Line<'_>], parent: ByteSpan) -> Vec<Draft> {
        let name = self.names.get(column).copied().unwrap_or_default();
        let open = match name {
            "" => format!("[Column {}: ", column + 1),
            name => format!("[Column {} {name}: ", column + 1),
        };
        let limit = self.options.text.window.size();
        // A lead that leaves little room would be said again and again.
        let room = |lead: &&String| self.measure.counter.count(lead) <= limit / 2;
        let lead = self.leads.iter().find(room).map_or("", String::as_str);
        let said = |row: &Line<'_>| self.said(column, row);
        let base = self.measure.counter.count(&format!("{lead}{open}]"));

        let mut out = Vec::new();
        let mut first = 0;
        while first < rows.len() {
            let rest = rows.get(first..).unwrap_or_default();
            let (mut tokens, mut count) = (base, 0_usize);
            for row in rest {
                tokens += self.measure.counter.count(&format!("{}, ", said(row)));
                if tokens > limit && count > 0 {
                    break;
                }
                count += 1;
            }
            // Sizes of parts need not add up to that of the whole.
            let draft = loop {
                let Some(taken) = rest.get(..count).filter(|taken| !taken.is_empty()) else {
                    break None;
                };
                let pairs = taken.iter().map(said).filter(|pair| !pair.is_empty());
                let words = format!("{open}{}]", pairs.collect::<Vec<_>>().join(", "));
                // A cell that fits with no lead stands alone.
                let leads = [lead, ""];
                let leads = leads.iter().take(if count == 1 { 2 } else { 1 });
                let fitting = leads.map(|lead| format!("{lead}{words}")).find_map(|text| {
                    let tokens = self.measure.counter.count(&text);
                    (tokens <= limit).then_some((text, tokens))
                });
                if let Some((index_text, tokens)) = fitting {
                    break self.shown(taken, parent, index_text, tokens);
                }
                count -= (count / 8).max(1);
            };
            // A cell that is too large for a chunk stands in no column, only in the text chunks
            // that its row became.
            first += count.max(1);
            out.extend(draft);
        }
        out
    }

    /// What a column says of a row: what the row is called, and the cell.
    fn said(&self, column: usize, line: &Line<'_>) -> String {
        let value = |column| self.value(line.at, line.row, column);
        match (value(0), value(column)) {
            (_, value) if column == 0 => value.to_owned(),
            ("", value) => value.to_owned(),
            (key, "") => format!("{key}:"),
            (key, value) => format!("{key}: {value}"),
        }
    }

    fn shown(
        &self,
        rows: &[Line<'_>],
        parent: ByteSpan,
        index_text: String,
        tokens: usize,
    ) -> Option<Draft> {
        let (first, last) = (rows.first()?, rows.last()?);
        // The table's first row is shown with what stands above it.
        let start = match first.at {
            0 => parent.start(),
            _ => first.span.start(),
        };
        let span = ByteSpan::from_range(start..last.span.end());
        Some(Draft {
            span,
            own: span,
            next: span.end(),
            kind: ChunkKind::Table,
            block: Some(self.block),
            repeated: self.is_below_header(span).then_some(self.header),
            index_text,
            tokens,
        })
    }

    /// Whether cells may stand under another column's name: `colspan` and `rowspan` are not read.
    fn is_shifted(&self, lines: &[Piece]) -> bool {
        if self.measure.outline.markup().is_none() {
            return false;
        }
        let mut rows = self.table.rows.iter();
        let merged = |line: &Piece| {
            let source = self.measure.text(line.span).to_ascii_lowercase();
            source.contains("colspan") || source.contains("rowspan")
        };
        rows.any(|row| row.cells.len() != self.names.len()) || lines.iter().any(merged)
    }
}
