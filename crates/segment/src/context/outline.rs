//! What the chunks of a document say of its structure.

use cornu_core::{Chunk, DocId};

use crate::run::{Joined, LineEnd};

/// Title, sections, and which chunk belongs where.
pub(super) struct Outline {
    pub(super) title: String,
    pub(super) sections: Vec<Section>,
    /// For each indexed chunk, in order, its section.
    pub(super) places: Vec<usize>,
    /// Number of indexed chunks.
    pub(super) indexed: usize,
}

/// Neighbouring chunks under one heading path.
pub(super) struct Section {
    path: Vec<String>,
    joined: Joined,
    pub(super) chunks: usize,
}

impl Outline {
    pub(super) fn read(doc: &DocId, title: Option<&str>, chunks: &[Chunk]) -> Self {
        let mut sections: Vec<Section> = Vec::new();
        let mut places = Vec::new();
        let indexed = || chunks.iter().filter(|chunk| chunk.role.is_indexed());
        for chunk in indexed() {
            match sections.last_mut() {
                Some(section) if section.path == chunk.heading_path => {
                    section.joined.add(chunk);
                    section.chunks += 1;
                }
                _ => sections.push(Section {
                    path: chunk.heading_path.clone(),
                    joined: Joined::new(chunk, LineEnd::default()),
                    chunks: 1,
                }),
            }
            places.push(sections.len() - 1);
        }
        let title = title
            .map(str::trim)
            .filter(|title| !title.is_empty())
            .or_else(|| common(indexed()))
            .map_or_else(|| file_name(doc), str::to_owned);
        Self {
            title,
            sections,
            indexed: places.len(),
            places,
        }
    }

    /// The text of the document: its sections, parted by blank lines.
    pub(super) fn text(&self) -> String {
        let texts = self.sections.iter().map(Section::text);
        texts.collect::<Vec<_>>().join("\n\n")
    }
}

impl Section {
    pub(super) fn text(&self) -> &str {
        &self.joined.text
    }
}

/// The outermost title that all chunks stand under.
fn common<'a>(mut chunks: impl Iterator<Item = &'a Chunk>) -> Option<&'a str> {
    let first = chunks.next()?.heading_path.first()?;
    chunks
        .all(|chunk| chunk.heading_path.first() == Some(first))
        .then_some(first.as_str())
}

/// The last part of the document's name without its extension.
fn file_name(doc: &DocId) -> String {
    let name = doc.as_str().rsplit('/').next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { name } else { stem }.to_owned()
}
