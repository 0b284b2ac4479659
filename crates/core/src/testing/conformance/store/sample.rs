//! Small facts made by hand for the directed checks.

use ndarray::{Array1, Array2};

use super::super::report::{Violation, given};
use crate::acl::Acl;
use crate::chunk::{Chunk, ChunkKind, ChunkRole};
use crate::id::{ChunkId, ChunkIdParts, ContentHash, DocId};
use crate::span::{ByteSpan, LineIndex};
use crate::store::DocumentFacts;

/// A unit vector in the plane of the first two axes.
pub(super) fn at(dimension: usize, degrees: f64) -> Array1<f32> {
    let mut vector = Array1::zeros(dimension);
    let (sin, cos) = degrees.to_radians().sin_cos();
    for (component, value) in vector.iter_mut().zip([cos, sin]) {
        *component = value as f32;
    }
    vector
}

/// A document of one line a vector, each line a chunk.
pub(super) fn document(
    dimension: usize,
    doc: &str,
    grants: &[&str],
    degrees: &[f64],
) -> Result<DocumentFacts, Violation> {
    worded(dimension, doc, grants, degrees, "line")
}

/// As [`document`], with another text.
pub(super) fn worded(
    dimension: usize,
    doc: &str,
    grants: &[&str],
    degrees: &[f64],
    word: &str,
) -> Result<DocumentFacts, Violation> {
    let doc = given(DocId::new(doc))?;
    let acl = given(Acl::new(grants))?;
    let lines = (0..degrees.len()).map(|at| format!("{word} {at}\n"));
    let source: String = lines.clone().collect();
    let index = LineIndex::new(&source);
    let mut start = 0;
    let mut chunks = Vec::new();
    for line in lines {
        let core = ByteSpan::from_range(start..start + line.len());
        let span = ByteSpan::from_range(start..start + line.len() - 1);
        let text = span.slice(&source).unwrap_or_default();
        start += line.len();
        chunks.push(Chunk {
            id: ChunkId::derive(&ChunkIdParts {
                doc: &doc,
                chunker: "cornu-core testing lines v1",
                kind: ChunkKind::Prose,
                heading_path: &[],
                index_text: text,
                text,
                ordinal: 0,
            }),
            doc: doc.clone(),
            kind: ChunkKind::Prose,
            role: ChunkRole::Indexed,
            parent: None,
            heading_path: vec![],
            span,
            core,
            lines: index.lines_of(span),
            prefix: vec![],
            language: None,
            text: text.to_owned(),
            index_text: text.to_owned(),
            tokens: text.chars().count(),
        });
    }
    let mut vectors = Array2::zeros((degrees.len(), dimension));
    for (mut row, &degrees) in vectors.rows_mut().into_iter().zip(degrees) {
        row.assign(&at(dimension, degrees));
    }
    Ok(DocumentFacts {
        content: ContentHash::of(source.as_bytes()),
        doc,
        acl,
        chunks,
        vectors,
    })
}
