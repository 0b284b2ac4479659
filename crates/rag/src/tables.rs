//! Numeric questions to tables.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cornu_chunk::html::is_html;
use cornu_chunk::{CellPlace, TableAnswer, TableView};
use cornu_core::{ChunkId, DocId, LineSpan, Principal, Trace};
use cornu_store::Snapshot;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::error::RagError;
use crate::evidence::Citation;
use crate::index::LiveRagIndex;
use crate::search::{LEADS, Routes};

/// A question answered from the cells of one table, with the cells' places.
///
/// ```
/// use std::sync::Arc;
/// use cornu::chunk::{TableRows, TableRowsOptions};
/// use cornu::text::WordCounter;
/// use cornu::{Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, Principal, RagOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("index.db");
/// let chunker = TableRows::new(Arc::new(WordCounter::new()), TableRowsOptions::default());
/// let options = RagOptions { chunker: Arc::new(chunker), ..RagOptions::default() };
/// let index = LiveRagIndex::open(path, Arc::new(HashEmbeddingProvider::default()), options)?;
/// let pumps = "# Pumps\n\n| Model | Pressure (MPa) |\n|---|---|\n| P-1 | 3.5 |\n| P-2 | 12 |\n";
/// index.ingest(&Document::new(DocId::new("pumps.md")?, pumps, Acl::public()))?;
///
/// let question = "Which model has the highest pressure?";
/// let found = index.ask_tables(&Principal::public(), question)?;
/// assert_eq!(found[0].answer.to_string(), "P-2: 12 MPa");
/// assert_eq!(found[0].citations[0].to_string(), "pumps.md § Pumps, line 6");
/// assert_eq!(found[0].citations[0].quote, " 12 ");
/// assert!(index.ask_tables(&Principal::public(), "Which model is the best?")?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FromTable {
    /// The answer, with the coordinates of its cells.
    pub answer: TableAnswer,
    /// The bytes of the answer's cells, in the order of its cells. `chunk` is the table.
    pub citations: Vec<Citation>,
}

impl LiveRagIndex {
    /// Answers of tables to a numeric question, each computed from one table's cells: see
    /// [`TableView::ask`] for what is understood. Nothing for a question of which a word is not.
    ///
    /// The tables are those of the first rows that a [hybrid search](Self::search_hybrid) finds, in
    /// that order, and that the principal sees. An index has tables when it was built with
    /// [`TableRows`](cornu_chunk::TableRows). There is no threshold: a table answers when it holds
    /// the row and the column that the question names, or it does not.
    ///
    /// Costs a hybrid search, and the reading of the documents found.
    ///
    /// # Errors
    /// As [`search_hybrid`](Self::search_hybrid).
    pub fn ask_tables(
        &self,
        principal: &Principal,
        question: &str,
    ) -> Result<Vec<FromTable>, RagError> {
        let snapshot = self.snapshot(principal)?;
        let routes = self.routes(&snapshot, question, LEADS)?;
        self.tables_on(&snapshot, question, &routes)
    }

    /// What the tables say to which the first results of a search lead.
    pub(crate) fn tables_on(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        routes: &Routes,
    ) -> Result<Vec<FromTable>, RagError> {
        let mut documents: BTreeMap<DocId, Vec<TableView>> = BTreeMap::new();
        let mut asked: Vec<ChunkId> = Vec::new();
        let mut found = Vec::new();
        for chunk in snapshot.chunks(&routes.leads())?.into_iter().flatten() {
            let Some(parent) = chunk.parent else {
                continue;
            };
            let tables = match documents.entry(chunk.doc.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => {
                    let facts = snapshot.facts(&chunk.doc)?;
                    free.insert(facts.map_or_else(Vec::new, |facts| TableView::all(&facts.chunks)))
                }
            };
            let table = tables.iter().find(|table| table.parents.contains(&parent));
            let Some((table, &id)) = table.and_then(|table| Some((table, table.parents.first()?)))
            else {
                continue;
            };
            if asked.contains(&id) {
                continue;
            }
            asked.push(id);
            let Some(answer) = table.ask(question, &self.options.tokenizer) else {
                continue;
            };
            let cited = answer.cells.iter().map(|cell| cite(table, id, cell));
            // An answer of which a cell has no place is none.
            if let Some(citations) = cited.collect::<Option<Vec<_>>>() {
                found.push(FromTable { answer, citations });
            }
        }
        Ok(found)
    }
}

fn cite(table: &TableView, chunk: ChunkId, cell: &CellPlace) -> Option<Citation> {
    Some(Citation {
        doc: table.doc.clone(),
        heading_path: table.heading_path.clone(),
        lines: LineSpan::new(cell.line, cell.line).ok()?,
        span: cell.span,
        chunk,
        quote: table.quote(cell)?.to_owned(),
        words: is_html(&table.doc).then(|| cell.text.clone()),
    })
}

/// One step for each table that answers.
pub(crate) fn note(trace: &mut Trace, tables: &[FromTable]) {
    for table in tables {
        let cells = table.cells().map(|(cell, citation)| {
            let (row, column) = (cell.row, cell.column);
            format!("{citation}, row {row}, column {column}: {}", cell.text)
        });
        let cells: Vec<String> = cells.collect();
        let left_out = table.answer.left_out.iter();
        let left_out: Vec<String> = left_out
            .map(|(cell, why)| format!("{cell}: {why}"))
            .collect();
        trace
            .step("table")
            .note("answer", table.answer.to_string())
            .note("operation", table.answer.operation.name())
            .note("cells", cells)
            .note("left_out", left_out);
    }
}

impl FromTable {
    /// The cells that the answer rests on, each with its place in the source.
    pub fn cells(&self) -> impl Iterator<Item = (&CellPlace, &Citation)> {
        self.answer.cells.iter().zip(&self.citations)
    }
}

/// `{"answer", "operation", "subjects", "value", "cells", "left_out"}`: each cell with its row,
/// column, header and citation, each cell that was left out with the reason.
impl Serialize for FromTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let answer = &self.answer;
        let cells = self.cells().map(|(cell, citation)| Cited {
            row: cell.row,
            column: cell.column,
            header: &cell.header,
            citation,
        });
        let left_out = answer.left_out.iter().map(|(cell, why)| LeftOut {
            row: cell.row,
            column: cell.column,
            text: &cell.text,
            line: cell.line,
            why: why.to_string(),
        });
        let mut shown = serializer.serialize_struct("FromTable", 6)?;
        shown.serialize_field("answer", &answer.to_string())?;
        shown.serialize_field("operation", answer.operation.name())?;
        shown.serialize_field("subjects", &answer.subjects)?;
        shown.serialize_field("value", &answer.value)?;
        shown.serialize_field("cells", &cells.collect::<Vec<_>>())?;
        shown.serialize_field("left_out", &left_out.collect::<Vec<_>>())?;
        shown.end()
    }
}

#[derive(serde::Serialize)]
struct Cited<'a> {
    row: usize,
    column: usize,
    header: &'a str,
    citation: &'a Citation,
}

#[derive(serde::Serialize)]
struct LeftOut<'a> {
    row: usize,
    column: usize,
    text: &'a str,
    line: usize,
    why: String,
}
