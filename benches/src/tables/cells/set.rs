//! Questions on tables, and the documents that they and everything else stand in.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use cornu_core::{Acl, Document, Principal};
use cornu_eval::questions::Alternative;
use serde::Deserialize;

use crate::table::Bench;

/// The folder of the documents with tables.
const FOLDER: &str = "tables";
/// The file of the questions.
pub(super) const QUESTIONS: &str = "questions-tables.jsonl";

/// A line of the file; `bench-data/README.md` says what its fields mean.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableQuestion {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) operation: String,
    pub(super) split: String,
    pub(super) lang: String,
    pub(super) question: String,
    #[serde(rename = "answer")]
    _answer: String,
    pub(super) value: Option<String>,
    pub(super) subjects: Vec<String>,
    pub(super) cells: Vec<Cell>,
    pub(super) evidence: Vec<Vec<Alternative>>,
}

/// A cell that the answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cell {
    pub(super) doc: String,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) text: String,
}

impl TableQuestion {
    /// The document of its table.
    pub(super) fn doc(&self) -> &str {
        self.cells.first().map_or("", |cell| cell.doc.as_str())
    }

    /// The lines of its rows.
    pub(super) fn lines(&self) -> BTreeSet<(&str, usize)> {
        let cells = self.cells.iter();
        cells.map(|cell| (cell.doc.as_str(), cell.line)).collect()
    }
}

/// The documents, and the questions on some of them.
pub(super) struct Set {
    /// Each with a grant of its own, which is its name: so that somebody may see all but one.
    pub(super) documents: Vec<Document>,
    pub(super) questions: Vec<TableQuestion>,
    /// Of each document the lines that are rows of a table, header and delimiter left out.
    rows: BTreeMap<String, BTreeSet<usize>>,
}

impl Set {
    /// The documents with tables and, where there is an `around`, the corpus beside them.
    pub(super) fn open(bench: &Bench<'_>, around: bool) -> Result<Self> {
        let mut documents = bench.data.folder(FOLDER)?;
        if around {
            documents.extend(bench.data.documents().cloned());
        }
        let documents = documents
            .iter()
            .map(|document| {
                let acl = Acl::new([document.id().as_str()])?;
                Ok(Document::new(document.id().clone(), document.source(), acl))
            })
            .collect::<Result<Vec<_>>>()?;
        let rows = documents
            .iter()
            .map(|document| (document.id().to_string(), rows_of(document.source())))
            .collect();
        let set = Self {
            questions: bench.data.lines(QUESTIONS)?,
            documents,
            rows,
        };
        for question in &set.questions {
            let all = question.cells.iter();
            let rows = set.rows.get(question.doc()).context(question.id.clone())?;
            ensure!(
                all.clone().all(|cell| cell.doc == question.doc())
                    && all.clone().all(|cell| rows.contains(&cell.line)),
                "{}: its cells are no rows of one document",
                question.id
            );
        }
        Ok(set)
    }

    /// Somebody who sees everything but one document.
    pub(super) fn without(&self, doc: &str) -> Result<Principal> {
        let grants = self.documents.iter().map(|document| document.id().as_str());
        Ok(Principal::new(grants.filter(|grant| *grant != doc))?)
    }

    /// Which of some lines of a document are rows of a table.
    pub(super) fn rows_in<'a>(
        &self,
        doc: &'a str,
        lines: impl Iterator<Item = usize>,
    ) -> Vec<(&'a str, usize)> {
        let rows = self.rows.get(doc);
        lines
            .filter(|line| rows.is_some_and(|rows| rows.contains(line)))
            .map(|line| (doc, line))
            .collect()
    }
}

/// The lines, from 1, of tables, without the first two of each.
fn rows_of(source: &str) -> BTreeSet<usize> {
    let (mut rows, mut depth) = (BTreeSet::new(), 0);
    for (at, line) in source.lines().enumerate() {
        depth = if line.starts_with('|') { depth + 1 } else { 0 };
        if depth > 2 {
            rows.insert(at + 1);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_prose_are_no_rows() {
        let source =
            "# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\ntext\n| c |\n|---|\n| 5 |\n";
        assert_eq!(rows_of(source), BTreeSet::from([5, 6, 11]));
    }
}
