//! Hashes over facts: one over all that a document is, one over each text.

use cornu_core::{Chunk, ChunkId, DocumentFacts};
use ndarray::ArrayView1;

use crate::terms::TermCounts;

/// blake3 over everything that is stored of a document: equal digests, equal facts.
///
/// Every part has its length before it. Negative zero counts as zero, as it does for `==`.
pub(crate) fn facts(facts: &DocumentFacts, terms: Option<&[TermCounts]>) -> [u8; 32] {
    let texts = facts
        .chunks
        .iter()
        .map(|chunk| chunk.text.len())
        .sum::<usize>();
    let roughly = texts + 4 * facts.vectors.len() + SHORT * (facts.chunks.len() + 1);
    let mut hash = Parts::with_capacity("cornu store facts v1", roughly);
    hash.text(facts.doc.as_str());
    hash.bytes(facts.content.as_bytes());
    hash.number(facts.acl.grants().len());
    for grant in facts.acl.grants() {
        hash.text(grant.as_str());
    }
    hash.number(facts.chunks.len());
    for chunk in &facts.chunks {
        chunk_parts(&mut hash, chunk);
    }
    hash.number(facts.vectors.ncols());
    for row in facts.vectors.rows() {
        hash.number(4 * row.len());
        append_vector(&row, &mut hash.bytes);
    }
    match terms {
        None => hash.number(usize::MAX),
        Some(terms) => {
            hash.number(terms.len());
            for counts in terms {
                hash.bytes(&crate::terms::encode(counts));
            }
        }
    }
    hash.whole()
}

/// Half a blake3 over what is shown of a chunk. It stands beside the text and is checked at each
/// reading, so that damage in the file does not become evidence.
pub(crate) fn seal(texts: &Texts<'_>) -> [u8; 16] {
    let mut hash = Parts::new("cornu store text v1");
    hash.bytes(texts.chunk);
    hash.text(texts.headings);
    hash.text(texts.prefix);
    hash.option(texts.language);
    hash.text(texts.text);
    hash.option(texts.index_text);
    hash.half()
}

/// Half a blake3 over a row beside a chunk and whose it is.
pub(crate) fn row_seal(domain: &str, chunk: &ChunkId, space: &[u8; 32], row: &[u8]) -> [u8; 16] {
    let mut hash = Parts::new(domain);
    hash.bytes(chunk.as_bytes());
    hash.bytes(space);
    hash.bytes(row);
    hash.half()
}

/// Half a blake3 over the digest of a document and the seals of the rows beside its chunks.
pub(crate) fn with_rows(domain: &str, facts: &[u8; 32], seals: &[Option<[u8; 16]>]) -> [u8; 16] {
    let mut hash = Parts::new("cornu store rows v1");
    hash.text(domain);
    hash.bytes(facts);
    for seal in seals {
        hash.bytes(seal.as_ref().map_or(&[], |seal| seal));
    }
    hash.half()
}

/// Half a blake3 over the row of a document. The seals of all documents of a grant, combined by
/// exclusive or, stand beside the grant: so a view that lost a document to damage is found out at
/// the cost of reading the view, and nothing else is read for it.
pub(crate) fn document_seal(
    ordinal: u32,
    name: &str,
    content: &[u8; 32],
    digest: &[u8; 32],
    vectors: usize,
) -> Seal {
    let mut hash = Parts::new("cornu store document v1");
    hash.number(ordinal as usize);
    hash.text(name);
    hash.bytes(content);
    hash.bytes(digest);
    hash.number(vectors);
    Seal(hash.half())
}

/// The seals of a set of documents, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seal(pub(crate) [u8; 16]);

impl std::ops::BitXorAssign for Seal {
    fn bitxor_assign(&mut self, other: Self) {
        for (to, from) in self.0.iter_mut().zip(other.0) {
            *to ^= from;
        }
    }
}

/// The columns of `chunk_texts`.
pub(crate) struct Texts<'a> {
    pub(crate) chunk: &'a [u8; 32],
    pub(crate) headings: &'a str,
    pub(crate) prefix: &'a str,
    pub(crate) language: Option<&'a str>,
    pub(crate) text: &'a str,
    /// `None` when it is equal to `text`.
    pub(crate) index_text: Option<&'a str>,
}

/// f32, little endian, negative zero as zero.
pub(crate) fn vector_bytes(vector: &ArrayView1<'_, f32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    append_vector(vector, &mut bytes);
    bytes
}

/// Room for all values first, and then one loop without a branch.
fn append_vector(vector: &ArrayView1<'_, f32>, bytes: &mut Vec<u8>) {
    let from = bytes.len();
    bytes.resize(from + 4 * vector.len(), 0);
    let (places, _) = bytes
        .get_mut(from..)
        .unwrap_or_default()
        .as_chunks_mut::<4>();
    let write = |(place, value): (&mut [u8; 4], &f32)| *place = (value + 0.0).to_le_bytes();
    match vector.as_slice() {
        Some(values) => places.iter_mut().zip(values).for_each(write),
        None => places.iter_mut().zip(vector).for_each(write),
    }
}

fn chunk_parts(hash: &mut Parts, chunk: &Chunk) {
    hash.bytes(chunk.id.as_bytes());
    hash.text(chunk.kind.as_str());
    hash.number(usize::from(chunk.role.is_indexed()));
    match &chunk.parent {
        None => hash.number(0),
        Some(parent) => hash.bytes(parent.as_bytes()),
    }
    hash.number(chunk.heading_path.len());
    for title in &chunk.heading_path {
        hash.text(title);
    }
    for span in [chunk.span, chunk.core] {
        hash.number(span.start());
        hash.number(span.end());
    }
    hash.number(chunk.lines.first());
    hash.number(chunk.lines.last());
    hash.number(chunk.prefix.len());
    for span in &chunk.prefix {
        hash.number(span.start());
        hash.number(span.end());
    }
    hash.option(chunk.language.as_deref());
    hash.text(&chunk.text);
    hash.option((chunk.index_text != chunk.text).then_some(chunk.index_text.as_str()));
    hash.number(chunk.tokens);
}

/// Bytes that most hashes of a document's row take, so that their buffer does not grow.
const SHORT: usize = 256;

/// Parts, put together before they are hashed: blake3 takes many blocks of one long input at a
/// time, and many short inputs one after another.
struct Parts {
    bytes: Vec<u8>,
}

impl Parts {
    /// The context comes first, so that no two kinds of hash can meet in the same bytes.
    fn new(context: &str) -> Self {
        Self::with_capacity(context, SHORT)
    }

    fn with_capacity(context: &str, bytes: usize) -> Self {
        let mut parts = Self {
            bytes: Vec::with_capacity(bytes),
        };
        parts.text(context);
        parts
    }

    fn number(&mut self, value: usize) {
        self.bytes.extend_from_slice(&(value as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn option(&mut self, text: Option<&str>) {
        self.number(usize::from(text.is_some()));
        self.text(text.unwrap_or_default());
    }

    fn whole(&self) -> [u8; 32] {
        *blake3::hash(&self.bytes).as_bytes()
    }

    fn half(&self) -> [u8; 16] {
        let mut half = [0; 16];
        for (to, from) in half.iter_mut().zip(self.whole()) {
            *to = from;
        }
        half
    }
}
