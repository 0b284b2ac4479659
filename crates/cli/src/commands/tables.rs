//! Answers from cells, for a reader.

use std::fmt::Write;

use cornu::FromTable;

/// So many cells, and cells left out, are shown of one answer; `--json` gives all.
const SHOWN: usize = 12;

/// Each answer, and below it the cells that it rests on. Empty without answers.
pub(super) fn text(tables: &[FromTable]) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    for (at, table) in tables.iter().enumerate() {
        let _ = writeln!(out, "{} [T{}]", table.answer, at + 1);
    }
    for (at, table) in tables.iter().enumerate() {
        let _ = writeln!(out, "\n[T{}] {}", at + 1, table.answer.operation.name());
        for (cell, citation) in table.cells().take(SHOWN) {
            let (row, column) = (cell.row, column(cell.column, &cell.header));
            let _ = writeln!(out, "  {citation}, row {row}, {column}: {}", cell.text);
        }
        more(&mut out, table.citations.len(), "cells");
        for (cell, why) in table.answer.left_out.iter().take(SHOWN) {
            let _ = writeln!(
                out,
                "  left out, {why}: line {}, {:?}",
                cell.line, cell.text
            );
        }
        more(&mut out, table.answer.left_out.len(), "cells left out");
    }
    out
}

fn column(number: usize, header: &str) -> String {
    match header {
        "" => format!("column {number}"),
        header => format!("column {number} ({header})"),
    }
}

fn more(out: &mut String, count: usize, what: &str) {
    if let Some(rest) = count.checked_sub(SHOWN).filter(|rest| *rest > 0) {
        let _ = writeln!(out, "  and {rest} more {what} (--json gives them)");
    }
}
