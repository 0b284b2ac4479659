//! Chunks that were read before, so that a search does not read them again.

use std::sync::Arc;

use cornu_core::{ByteSpan, Chunk, ChunkId, View};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// What an entry takes beside its texts: the chunk, its names' and headings' places, the tables.
const OVERHEAD: u64 = 512;

/// Of how many bytes a chunk is expected to be, to lay out tables.
const EXPECTED: u64 = 2048;

/// Chunks by id, within a number of bytes; those that are asked for again and again stay (CLOCK-Pro).
///
/// An entry is what was read and compared with its seal once. It says the ordinal of the document that
/// it was read from, which names one version of it within a line of states: so whether it is seen, and
/// whether it is still true, is a question to the view alone. An entry of another line is none.
pub(crate) struct Recent {
    chunks: Option<Cache<ChunkId, Entry, Bytes>>,
}

#[derive(Clone)]
struct Entry {
    line: u64,
    ordinal: u32,
    chunk: Arc<Chunk>,
}

#[derive(Clone)]
struct Bytes;

impl Weighter<ChunkId, Entry> for Bytes {
    fn weight(&self, _: &ChunkId, entry: &Entry) -> u64 {
        let chunk = &entry.chunk;
        let titles = chunk.heading_path.iter();
        let titles: usize = titles.map(|title| size_of::<String>() + title.len()).sum();
        let language = chunk.language.as_ref().map_or(0, String::len);
        let texts = chunk.text.len() + chunk.index_text.len() + chunk.doc.as_str().len();
        let spans = chunk.prefix.len() * size_of::<ByteSpan>();
        OVERHEAD + (titles + language + texts + spans) as u64
    }
}

impl Recent {
    /// Room for so many bytes; 0 keeps nothing.
    pub(crate) fn new(bytes: u64) -> Self {
        let items = usize::try_from(bytes / EXPECTED).unwrap_or(usize::MAX);
        Self {
            chunks: (bytes > 0).then(|| Cache::with_weighter(items, bytes, Bytes)),
        }
    }

    /// A chunk that the view, of a state of that line, holds the document of.
    pub(crate) fn get(&self, line: u64, view: &View, id: &ChunkId) -> Option<Arc<Chunk>> {
        Some(self.entry(line, view, id)?.chunk)
    }

    /// The ordinal of its document, for the same chunks.
    pub(crate) fn ordinal(&self, line: u64, view: &View, id: &ChunkId) -> Option<u32> {
        Some(self.entry(line, view, id)?.ordinal)
    }

    fn entry(&self, line: u64, view: &View, id: &ChunkId) -> Option<Entry> {
        let entry = self.chunks.as_ref()?.get(id)?;
        (entry.line == line && view.contains(entry.ordinal)).then_some(entry)
    }

    /// Keeps what was read in a state of that line.
    pub(crate) fn put(&self, line: u64, ordinal: u32, chunk: &Arc<Chunk>) {
        if let Some(chunks) = &self.chunks {
            let (id, chunk) = (chunk.id, Arc::clone(chunk));
            chunks.insert(
                id,
                Entry {
                    line,
                    ordinal,
                    chunk,
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cornu_core::testing::proptest::prelude::*;
    use cornu_core::testing::proptest::strategy::ValueTree as _;
    use cornu_core::testing::proptest::test_runner::TestRunner;
    use cornu_core::testing::strategies::document_facts;
    use cornu_core::{Acl, ContentHash, DocId, Principal, ViewEntry};

    /// A chunk of some 3,000 bytes, besides what the strategy gives it.
    fn chunk(at: usize) -> Arc<Chunk> {
        let mut runner = TestRunner::deterministic();
        let facts =
            document_facts(2).prop_filter_map("no chunk", |facts| facts.chunks.into_iter().next());
        let mut id = [0; 32];
        id[..8].copy_from_slice(&at.to_le_bytes());
        let text = "x".repeat(1500);
        Arc::new(Chunk {
            id: ChunkId::from_bytes(id),
            language: None,
            heading_path: vec![],
            prefix: vec![],
            index_text: text.clone(),
            text,
            ..facts.new_tree(&mut runner).unwrap().current()
        })
    }

    fn view() -> View {
        let (doc, acl) = (DocId::new("a.md").unwrap(), Acl::public());
        let entry = ViewEntry {
            ordinal: 7,
            id: &doc,
            content: &ContentHash::of(b""),
            acl: &acl,
        };
        View::resolve(&Principal::public(), 1, [entry])
    }

    /// As many as there is room for, and those that are asked for all along.
    #[test]
    fn no_more_than_the_bytes_are_kept() {
        let (recent, view) = (Recent::new(1 << 20), view());
        let often = chunk(0);
        recent.put(1, 7, &often);
        for at in 1..3000 {
            recent.put(1, 7, &chunk(at));
            assert_eq!(recent.get(1, &view, &often.id), Some(Arc::clone(&often)));
        }
        let chunks = recent.chunks.as_ref().unwrap();
        assert!(chunks.weight() <= 1 << 20, "{}", chunks.weight());
        assert!((100..300).contains(&chunks.len()), "{}", chunks.len());
    }

    /// A fence's first word may be as long as its writer likes.
    #[test]
    fn all_texts_of_a_chunk_are_counted() {
        let plain = chunk(0);
        let weight = |chunk: Chunk| {
            let entry = Entry {
                line: 1,
                ordinal: 7,
                chunk: Arc::new(chunk),
            };
            Bytes.weight(&plain.id, &entry)
        };
        let more = Chunk {
            language: Some("x".repeat(1000)),
            heading_path: vec!["t".repeat(200); 10],
            prefix: vec![plain.span; 100],
            ..(*plain).clone()
        };
        let more = weight(more) - weight((*plain).clone());
        assert!((1000 + 2000 + 1600..8000).contains(&more), "{more}");
    }

    #[test]
    fn an_entry_of_another_line_or_of_an_unseen_document_is_none() {
        let (recent, view, chunk) = (Recent::new(1 << 20), view(), chunk(0));
        recent.put(1, 7, &chunk);
        assert!(recent.get(1, &view, &chunk.id).is_some());
        assert!(recent.get(2, &view, &chunk.id).is_none());
        recent.put(1, 8, &chunk);
        assert!(recent.get(1, &view, &chunk.id).is_none());
        let endless = Recent::new(u64::MAX);
        endless.put(1, 7, &chunk);
        assert!(endless.get(1, &view, &chunk.id).is_some());
        let nothing = Recent::new(0);
        nothing.put(1, 7, &chunk);
        assert!(nothing.get(1, &view, &chunk.id).is_none());
    }
}
