//! Integration tests, one binary.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod choice;
mod context;
mod extracting;
mod paper;
mod relevance;
mod summaries;

use cornu_core::{ByteSpan, Chunk, ChunkId, ChunkKind, ChunkRole, DocId, LineSpan, Scored};

/// Chunks of one document, one a text, a blank line between them, under the paths given.
fn document(name: &str, texts: &[(&[&str], &str)]) -> (DocId, Vec<Chunk>) {
    let doc = DocId::new(name).unwrap();
    let (mut at, mut line) = (0, 1);
    let mut chunks = Vec::new();
    for (ordinal, (path, text)) in texts.iter().enumerate() {
        let span = ByteSpan::new(at, at + text.len()).unwrap();
        let lines = LineSpan::new(line, line + text.matches('\n').count()).unwrap();
        at += text.len() + 2;
        line = lines.last() + 2;
        let heading_path: Vec<String> = path.iter().map(|title| (*title).to_owned()).collect();
        let parts = cornu_core::ChunkIdParts {
            doc: &doc,
            chunker: "test",
            kind: ChunkKind::Prose,
            heading_path: &heading_path,
            index_text: text,
            text,
            ordinal: u32::try_from(ordinal).unwrap(),
        };
        chunks.push(Chunk {
            id: ChunkId::derive(&parts),
            doc: doc.clone(),
            kind: ChunkKind::Prose,
            role: ChunkRole::Indexed,
            parent: None,
            span,
            core: ByteSpan::new(span.start(), at).unwrap(),
            lines,
            prefix: vec![],
            language: None,
            text: (*text).to_owned(),
            index_text: (*text).to_owned(),
            tokens: text.chars().count(),
            heading_path,
        });
    }
    (doc, chunks)
}

fn results(found: &[(&Chunk, f64)]) -> Vec<Scored<ChunkId>> {
    let scored = |&(chunk, score): &(&Chunk, f64)| Scored {
        id: chunk.id,
        score,
    };
    found.iter().map(scored).collect()
}
