//! Facts of a document as a chunker and an embedder would have made them.

use std::collections::BTreeMap;

use ndarray::{Array1, Array2};
use proptest::collection::vec;
use proptest::prelude::*;

use super::text::{Page, Piece, Rendered, page};
use super::{acl, direction, doc_id, unit_vector};
use crate::acl::Acl;
use crate::chunk::{Chunk, ChunkKind, ChunkRole};
use crate::document::Document;
use crate::id::{ChunkId, ChunkIdParts, DocId};
use crate::span::{ByteSpan, LineIndex};
use crate::store::DocumentFacts;

/// The name that goes into the chunk ids.
const CHUNKER: &str = "cornu-core testing blocks v1";

/// Facts with consistent chunks: ids derived as [`ChunkId::derive`] says, `text` equal to the
/// source bytes of `span`, cores that partition the source, one unit vector of shape
/// (`dimension`) a row for each indexed chunk. A third of them have a parent chunk.
///
/// `dimension` is at least 1.
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(facts in strategies::document_facts(4))| {
///     prop_assert_eq!(facts.vectors.nrows(), facts.indexed().count());
/// });
/// ```
pub fn document_facts(dimension: usize) -> impl Strategy<Value = DocumentFacts> {
    document_with_facts(dimension).prop_map(|(_, facts)| facts)
}

/// A document together with its [`document_facts`].
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|((document, facts) in strategies::document_with_facts(4))| {
///     for chunk in &facts.chunks {
///         prop_assert_eq!(chunk.span.slice(document.source()), Some(chunk.text.as_str()));
///     }
/// });
/// ```
pub fn document_with_facts(dimension: usize) -> impl Strategy<Value = (Document, DocumentFacts)> {
    (doc_id(), acl(), sketch(dimension)).prop_map(move |(doc, acl, sketch)| {
        let rendered = sketch.page.render();
        let document = Document::new(doc.clone(), rendered.source.clone(), acl.clone());
        (document, sketch.place(&rendered, doc, acl, dimension))
    })
}

/// A document's text and vectors before it has a name and an ACL.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    page: Page,
    parent: bool,
    /// Chunk i has direction i, in a circle; never empty.
    directions: Vec<Array1<f32>>,
}

pub(super) fn sketch(dimension: usize) -> impl Strategy<Value = Sketch> {
    let directions = vec(unit_vector(dimension), 1..=4);
    (page(), prop::bool::weighted(0.33), directions).prop_map(|(page, parent, directions)| Sketch {
        page,
        parent,
        directions,
    })
}

impl Sketch {
    pub(super) fn facts(&self, doc: DocId, acl: Acl, dimension: usize) -> DocumentFacts {
        self.place(&self.page.render(), doc, acl, dimension)
    }

    /// The same vectors, one word changed.
    pub(super) fn reworded(&self, at: usize) -> Self {
        Self {
            page: self.page.with_one_word_changed(at),
            ..self.clone()
        }
    }

    /// One word changed, and every vector moved by about 2^-10 in one dimension.
    pub(super) fn nudged(&self, at: usize) -> Self {
        let directions = self.directions.iter().map(|vector| {
            let mut values = vector.to_vec();
            let dimension = values.len().max(1);
            if let Some(value) = values.get_mut(at % dimension) {
                *value += 1.0 / 1024.0;
            }
            direction(values)
        });
        Self {
            page: self.page.with_one_word_changed(at),
            parent: self.parent,
            directions: directions.collect(),
        }
    }

    fn place(&self, rendered: &Rendered, doc: DocId, acl: Acl, dimension: usize) -> DocumentFacts {
        let Rendered { source, pieces } = rendered;
        let mut chunks = Chunks::new(&doc, source);
        let whole = Piece {
            kind: ChunkKind::Prose,
            heading_path: vec![],
            range: 0..source.len(),
        };
        let parent = (self.parent && !pieces.is_empty())
            .then(|| chunks.push(&whole, ChunkRole::Parent, None, whole.range.clone()));
        let mut owned = 0;
        for (at, piece) in pieces.iter().enumerate() {
            let end = match at + 1 == pieces.len() {
                true => source.len(),
                false => piece.range.end,
            };
            chunks.push(piece, ChunkRole::Indexed, parent, owned..end);
            owned = end;
        }
        let chunks = chunks.made;
        let mut vectors = Array2::zeros((pieces.len(), dimension));
        for (mut row, vector) in vectors
            .rows_mut()
            .into_iter()
            .zip(self.directions.iter().cycle())
        {
            row.assign(vector);
        }
        DocumentFacts {
            content: crate::id::ContentHash::of(source.as_bytes()),
            doc,
            acl,
            chunks,
            vectors,
        }
    }
}

/// What makes two chunks of a document equal but for their ordinal.
type Twin = (ChunkKind, Vec<String>, String, String);

/// Chunks of one source, with their ordinals counted.
struct Chunks<'a> {
    doc: &'a DocId,
    source: &'a str,
    lines: LineIndex,
    twins: BTreeMap<Twin, u32>,
    made: Vec<Chunk>,
}

impl<'a> Chunks<'a> {
    fn new(doc: &'a DocId, source: &'a str) -> Self {
        Self {
            doc,
            source,
            lines: LineIndex::new(source),
            twins: BTreeMap::new(),
            made: Vec::new(),
        }
    }

    fn push(
        &mut self,
        piece: &Piece,
        role: ChunkRole,
        parent: Option<ChunkId>,
        core: std::ops::Range<usize>,
    ) -> ChunkId {
        let span = ByteSpan::from_range(piece.range.clone());
        let text = span.slice(self.source).unwrap_or_default().to_owned();
        let mut index_text = piece.heading_path.join(" › ");
        if !index_text.is_empty() {
            index_text.push('\n');
        }
        index_text.push_str(&text);
        let twin = (
            piece.kind,
            piece.heading_path.clone(),
            index_text.clone(),
            text.clone(),
        );
        let ordinal = self.twins.entry(twin).or_default();
        let id = ChunkId::derive(&ChunkIdParts {
            doc: self.doc,
            chunker: CHUNKER,
            kind: piece.kind,
            heading_path: &piece.heading_path,
            index_text: &index_text,
            text: &text,
            ordinal: *ordinal,
        });
        *ordinal += 1;
        self.made.push(Chunk {
            id,
            doc: self.doc.clone(),
            kind: piece.kind,
            role,
            parent,
            heading_path: piece.heading_path.clone(),
            span,
            core: ByteSpan::from_range(core),
            lines: self.lines.lines_of(span),
            prefix: vec![],
            language: (piece.kind == ChunkKind::Code).then(|| "python".to_owned()),
            tokens: index_text.chars().count(),
            text,
            index_text,
        });
        id
    }
}
