//! Tables: which hold data, and their rows while they are read.

use cornu_core::ByteSpan;

use super::element::level;
use super::tokens::Token;
use crate::markdown::{Cell, Row};

/// For each `<table>`, in order, whether it holds data: no table, heading, section or code.
pub(super) fn data_tables(tokens: &[Token]) -> Vec<bool> {
    let mut out: Vec<bool> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for token in tokens {
        match token {
            Token::Start(tag, _) => {
                let name = tag.name.as_str();
                let holds = name == "table"
                    || level(name).is_some()
                    || matches!(name, "pre" | "section" | "article" | "main");
                if holds
                    && let Some(table) = open.last()
                    && let Some(data) = out.get_mut(*table)
                {
                    *data = false;
                }
                if name == "table" {
                    open.push(out.len());
                    out.push(true);
                }
            }
            Token::End(name, _) if name == "table" => {
                open.pop();
            }
            _ => {}
        }
    }
    out
}

/// A table of data that is being read.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) rows: Vec<ReadRow>,
    /// Where the next row begins, and its first run.
    pub(super) start: usize,
    pub(super) first_run: usize,
    /// Cells of the next row so far.
    pub(super) cells: Vec<ReadCell>,
    pub(super) in_head: bool,
}

/// A row, or a caption.
#[derive(Debug)]
pub(super) struct ReadRow {
    pub(super) span: ByteSpan,
    pub(super) cells: Vec<ReadCell>,
    pub(super) is_header: bool,
}

/// A cell: where its text begins, and its runs.
#[derive(Debug)]
pub(super) struct ReadCell {
    pub(super) at: usize,
    pub(super) first_run: usize,
    pub(super) end_run: usize,
    pub(super) is_header: bool,
}

impl ReadRow {
    /// As an outline has it; `text` gives the place and the words of some runs.
    pub(super) fn into_row(self, text: impl Fn(usize, usize) -> Option<(ByteSpan, String)>) -> Row {
        let cell = |cell: ReadCell| {
            let (span, text) = text(cell.first_run, cell.end_run)
                .unwrap_or_else(|| (ByteSpan::from_range(cell.at..cell.at), String::new()));
            Cell { span, text }
        };
        Row {
            span: self.span,
            cells: self.cells.into_iter().map(cell).collect(),
        }
    }
}
