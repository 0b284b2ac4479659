//! Made-up documents and vectors; `benches/peers` includes this file by its path.

use cornu_core::{
    Acl, ByteSpan, Chunk, ChunkId, ChunkIdParts, ChunkKind, ChunkRole, ContentHash, DocId,
    DocumentFacts, LineSpan,
};
use ndarray::Array2;

/// A document of chunks that are short of everything but what a store keeps.
pub(crate) struct Document<'a> {
    pub(crate) name: String,
    /// What its content hash is made of.
    pub(crate) version: usize,
    pub(crate) heading: &'a [&'a str],
    /// One for each row of `vectors`.
    pub(crate) texts: Vec<String>,
    pub(crate) acl: Acl,
    pub(crate) vectors: Array2<f32>,
}

impl Document<'_> {
    pub(crate) fn facts(self) -> DocumentFacts {
        let doc = DocId::new(&self.name).unwrap();
        let chunks = self.texts.into_iter().map(|text| {
            let span = ByteSpan::new(0, text.len()).unwrap();
            Chunk {
                id: ChunkId::derive(&ChunkIdParts {
                    doc: &doc,
                    chunker: "bench",
                    kind: ChunkKind::Prose,
                    heading_path: &[],
                    index_text: &text,
                    text: &text,
                    ordinal: 0,
                }),
                doc: doc.clone(),
                kind: ChunkKind::Prose,
                role: ChunkRole::Indexed,
                parent: None,
                heading_path: self.heading.iter().map(ToString::to_string).collect(),
                span,
                core: span,
                lines: LineSpan::new(1, 1).unwrap(),
                prefix: vec![],
                language: None,
                index_text: text.clone(),
                tokens: text.len() / 4,
                text,
            }
        });
        DocumentFacts {
            content: ContentHash::of(&self.version.to_le_bytes()),
            acl: self.acl,
            chunks: chunks.collect(),
            vectors: self.vectors,
            doc,
        }
    }
}

/// A unit vector for each number (splitmix64).
pub(crate) fn vector(number: u64, dimension: usize) -> Vec<f32> {
    let mut seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut raw: Vec<f32> = (0..dimension)
        .map(|_| {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
        })
        .collect();
    let norm = raw
        .iter()
        .map(|x| f64::from(*x).powi(2))
        .sum::<f64>()
        .sqrt();
    for value in &mut raw {
        *value = (f64::from(*value) / norm) as f32;
    }
    raw
}
