//! BM25 over a set's passages.

use anyhow::Result;
use cornu_core::{Acl, ContentHash, DocId, Principal, Ranking, View, ViewEntry};
use cornu_sparse::{Bm25, Bm25Index, DocumentRows, Query, Row, TermCounts};
use cornu_text::Tokenizer;

/// BM25 over the passages, all visible.
pub(crate) struct Words {
    tokenizer: Tokenizer,
    index: Bm25Index<usize>,
    view: View,
}

impl Words {
    pub(crate) fn new(texts: &[String]) -> Result<Self> {
        let tokenizer = Tokenizer::new();
        let rows = texts.iter().enumerate().map(|(id, text)| Row {
            id,
            counts: TermCounts::new(&tokenizer.tokens(text)),
        });
        let rows = rows.collect();
        let index = Bm25Index::build(
            tokenizer.fingerprint().clone(),
            [DocumentRows { document: 0, rows }],
            1,
        )?;
        let (id, content, acl) = (DocId::new("passages")?, ContentHash::of(b""), Acl::public());
        let entry = ViewEntry {
            ordinal: 0,
            id: &id,
            content: &content,
            acl: &acl,
        };
        let view = View::resolve(&Principal::public(), 1, [entry]);
        Ok(Self {
            tokenizer,
            index,
            view,
        })
    }

    /// The best `depth`.
    pub(crate) fn search(&self, question: &str, depth: usize) -> Result<Ranking<usize>> {
        let searcher = self.index.searcher(&self.view)?;
        let query = Query::new(&self.tokenizer, question);
        Ok(searcher.search(&query, &Bm25::default(), depth)?)
    }
}
