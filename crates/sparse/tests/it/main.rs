//! Integration tests, one binary.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod cases;
mod file;
mod index;
mod interference;
mod interference_leaks;
mod kept;
mod naive;
mod oracles;
mod pruning;
mod values;

use cornu_core::{Acl, ContentHash, DocId, Fingerprint, Principal, View, ViewEntry};
use cornu_sparse::{Bm25Index, DocumentRows, Row, TermCounts};
use cornu_text::Tokenizer;

/// A view of epoch 1 in which the public sees the documents for which `seen` says so.
fn view(documents: u32, seen: impl Fn(u32) -> bool) -> View {
    let (public, nobody) = (Acl::public(), Acl::nobody());
    let content = ContentHash::of(b"");
    let ids: Vec<DocId> = (0..documents)
        .map(|ordinal| DocId::new(&format!("d{ordinal}")).unwrap())
        .collect();
    let entries = ids.iter().zip(0..).map(|(id, ordinal)| ViewEntry {
        ordinal,
        id,
        content: &content,
        acl: if seen(ordinal) { &public } else { &nobody },
    });
    View::resolve(&Principal::public(), 1, entries)
}

/// One document a row, with ids and ordinals from 0.
fn index_of(rows: impl IntoIterator<Item = TermCounts>) -> Bm25Index<u32> {
    let documents = rows.into_iter().zip(0..).map(|(counts, document)| {
        let id = document;
        let rows = vec![Row { id, counts }];
        DocumentRows { document, rows }
    });
    Bm25Index::build(Fingerprint::new("test"), documents, 1).unwrap()
}

fn index_texts(tokenizer: &Tokenizer, texts: &[&str]) -> Bm25Index<u32> {
    index_of(
        texts
            .iter()
            .map(|text| TermCounts::new(&tokenizer.tokens(text))),
    )
}
