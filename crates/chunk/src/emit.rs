//! Drafts to chunks: names, lines, and the source bytes that make sense of them.

use std::collections::BTreeMap;

use cornu_core::{ByteSpan, Chunk, ChunkId, ChunkIdParts, ChunkRole, Document, LineIndex};

use crate::markdown::{BlockKind, Outline};
use crate::pack::Draft;

/// At most this many definitions are named in a chunk's prefix, none longer than this.
const MAX_DEFINITIONS: usize = 16;
const MAX_DEFINITION_BYTES: usize = 2048;

/// Gives the chunks of one document their names.
pub(crate) struct Namer<'a> {
    doc: &'a Document,
    outline: &'a Outline,
    lines: LineIndex,
    /// How many chunks agree in everything but their place.
    ordinals: BTreeMap<ChunkId, u32>,
}

/// Where a draft belongs.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) fingerprint: &'a str,
    pub(crate) role: ChunkRole,
    pub(crate) parent: Option<ChunkId>,
    pub(crate) path: &'a [String],
    pub(crate) core: ByteSpan,
}

impl<'a> Namer<'a> {
    pub(crate) fn new(doc: &'a Document, outline: &'a Outline) -> Self {
        let lines = LineIndex::new(doc.source());
        Self {
            doc,
            outline,
            lines,
            ordinals: BTreeMap::new(),
        }
    }

    pub(crate) fn chunk(&mut self, draft: Draft, place: Place<'_>) -> Chunk {
        let text = draft.span.slice(self.doc.source()).unwrap_or_default();
        let mut parts = ChunkIdParts {
            doc: self.doc.id(),
            chunker: place.fingerprint,
            kind: draft.kind,
            heading_path: place.path,
            index_text: &draft.index_text,
            text,
            ordinal: 0,
        };
        let mut id = ChunkId::derive(&parts);
        let seen = self.ordinals.entry(id).or_insert(0);
        if *seen > 0 {
            parts.ordinal = *seen;
            id = ChunkId::derive(&parts);
        }
        *seen += 1;
        Chunk {
            id,
            doc: self.doc.id().clone(),
            kind: draft.kind,
            role: place.role,
            parent: place.parent,
            heading_path: place.path.to_vec(),
            span: draft.span,
            core: place.core,
            lines: self.lines.lines_of(draft.span),
            prefix: self.prefix(&draft),
            language: self.language(&draft),
            text: text.to_owned(),
            tokens: draft.tokens,
            index_text: draft.index_text,
        }
    }

    /// The definitions that the chunk refers to and does not show, then header or fence.
    fn prefix(&self, draft: &Draft) -> Vec<ByteSpan> {
        let references = self.outline.references();
        let first = references.partition_point(|used| used.span.start() < draft.span.start());
        let mut found: Vec<ByteSpan> = Vec::new();
        for used in references.iter().skip(first) {
            if used.span.start() >= draft.span.end() || found.len() == MAX_DEFINITIONS {
                break;
            }
            let definition = self.outline.definitions().get(used.definition);
            let span = definition.map_or(ByteSpan::default(), |definition| definition.span);
            if (1..=MAX_DEFINITION_BYTES).contains(&span.len())
                && !draft.span.contains(span)
                && !found.contains(&span)
            {
                found.push(span);
            }
        }
        found.sort_unstable();
        found.extend(draft.repeated);
        found
    }

    fn language(&self, draft: &Draft) -> Option<String> {
        match &self.outline.blocks().get(draft.block?)?.kind {
            BlockKind::Code(code) => code.language.clone(),
            _ => None,
        }
    }
}

/// The parts of `whole` that chunks with these drafts own: each from where the one before it ends
/// to where what follows it begins; the first and the last reach to the edges.
pub(crate) fn cores(drafts: &[Draft], whole: ByteSpan) -> Vec<ByteSpan> {
    let mut start = whole.start();
    let last = drafts.len().saturating_sub(1);
    drafts
        .iter()
        .enumerate()
        .map(|(at, draft)| {
            let end = if at == last {
                whole.end()
            } else {
                draft.next.clamp(start, whole.end())
            };
            let core = ByteSpan::from_range(start..end);
            start = end;
            core
        })
        .collect()
}
