//! Numeric questions to tables.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cornu_chunk::html::is_html;
use cornu_chunk::{TableAnswer, TableView};
use cornu_core::{ChunkId, DocId, LineSpan, Principal};

use crate::error::RagError;
use crate::evidence::Citation;
use crate::index::LiveRagIndex;

/// How many chunks of a search lead to tables.
const HITS: usize = 20;

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
        let hits = self.routes(&snapshot, question, HITS)?.hits(&snapshot)?;
        let mut documents: BTreeMap<DocId, Vec<TableView>> = BTreeMap::new();
        let mut asked: Vec<ChunkId> = Vec::new();
        let mut found = Vec::new();
        for hit in hits {
            let Some(parent) = hit.chunk.parent else {
                continue;
            };
            let tables = match documents.entry(hit.chunk.doc.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => {
                    let facts = snapshot.facts(&hit.chunk.doc)?;
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
            if let Some(answer) = table.ask(question, &self.options.tokenizer) {
                let mut citations = Vec::new();
                for cell in &answer.cells {
                    let lines = LineSpan::new(cell.line, cell.line);
                    let (Some(quote), Ok(lines)) = (table.quote(cell), lines) else {
                        continue;
                    };
                    citations.push(Citation {
                        doc: table.doc.clone(),
                        heading_path: table.heading_path.clone(),
                        lines,
                        span: cell.span,
                        chunk: id,
                        quote: quote.to_owned(),
                        words: is_html(&table.doc).then(|| cell.text.clone()),
                    });
                }
                found.push(FromTable { answer, citations });
            }
        }
        Ok(found)
    }
}
