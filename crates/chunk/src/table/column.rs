//! The columns of one table as drafts, in words.

use cornu_core::ByteSpan;

use super::row::Rows;
use crate::markdown::Row;
use crate::pack::Draft;
use crate::piece::Piece;

/// A row on its line.
struct Line<'a> {
    /// Its place in the table, from 0.
    at: usize,
    row: &'a Row,
    span: ByteSpan,
}

impl<'a> Rows<'a> {
    /// The children for the columns of the part of the table that stands on these lines and that a
    /// parent shows, where the table's columns are children.
    pub(super) fn columns(&self, lines: &[Piece], parent: ByteSpan) -> Vec<Draft> {
        if !self.has_columns {
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
        (0..self.names.len())
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
        let mut rest = rows;
        while !rest.is_empty() {
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
                let taken = rest.get(..count).unwrap_or_default();
                let (Some(first), Some(last)) = (taken.first(), taken.last()) else {
                    break None;
                };
                let pairs = taken.iter().map(said).filter(|pair| !pair.is_empty());
                let words = format!("{open}{}]", pairs.collect::<Vec<_>>().join(", "));
                // A cell that fits with no lead stands alone.
                let leads = [lead, ""].into_iter().take(if count == 1 { 2 } else { 1 });
                if let Some(fitting) = self.fitting(leads, &words) {
                    let span = shown(first, last, parent);
                    break Some(self.said_of(span, span.end(), fitting));
                }
                count -= (count / 8).max(1);
            };
            // A cell that is too large for a chunk stands in no column, only in the text chunks
            // that its row became.
            rest = rest.get(count.max(1)..).unwrap_or_default();
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
}

/// The bytes of the rows from one to another; the table's first row is shown with what stands above
/// it.
fn shown(first: &Line<'_>, last: &Line<'_>, parent: ByteSpan) -> ByteSpan {
    let start = match first.at {
        0 => parent.start(),
        _ => first.span.start(),
    };
    ByteSpan::from_range(start..last.span.end())
}
