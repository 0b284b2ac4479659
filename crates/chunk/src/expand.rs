//! From the chunks that were found to those that are shown.

use std::collections::BTreeMap;

use cornu_core::{Chunk, ChunkId, Ranking};

/// A chunk to show, with the chunks that led to it.
///
/// See [`expand`] for an example.
#[derive(Clone, Debug, PartialEq)]
pub struct Expanded {
    /// The parent; the chunk itself, where it has none.
    pub id: ChunkId,
    /// The best rank, from 1, of the chunks that led to it.
    pub rank: usize,
    /// The score at that rank.
    pub score: f64,
    /// The chunks that led to it, best first.
    pub matched: Vec<ChunkId>,
}

/// Takes each chunk of a ranking to its parent, each parent once, at its best child's place. A
/// chunk without a parent, or that `lookup` does not know, stands for itself.
///
/// O(n log n) time in the length of the ranking.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, ParentChild, ParentChildOptions, Window, expand};
/// use cornu_core::{Acl, DocId, Document, Ranking};
/// use cornu_text::WordCounter;
///
/// let doc = Document::new(DocId::new("a.md")?, "One two. Three four. Five six.", Acl::public());
/// let options = ParentChildOptions { child: Window::new(3, 0)?, ..Default::default() };
/// let chunks = ParentChild::new(Arc::new(WordCounter::new()), options)?.chunk(&doc)?;
/// let by_id: BTreeMap<_, _> = chunks.iter().map(|chunk| (chunk.id, chunk)).collect();
///
/// let hits = Ranking::new([(chunks[1].id, 0.4), (chunks[3].id, 0.9)])?;
/// let shown = expand(&hits, |id| by_id.get(id).copied());
/// assert_eq!(shown.len(), 1);
/// assert_eq!((shown[0].id, shown[0].rank, shown[0].score), (chunks[0].id, 1, 0.9));
/// assert_eq!(shown[0].matched, [chunks[3].id, chunks[1].id]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn expand<'a>(
    hits: &Ranking<ChunkId>,
    lookup: impl Fn(&ChunkId) -> Option<&'a Chunk>,
) -> Vec<Expanded> {
    let mut out: Vec<Expanded> = Vec::new();
    let mut places: BTreeMap<ChunkId, usize> = BTreeMap::new();
    for (at, hit) in hits.iter().enumerate() {
        let id = lookup(&hit.id)
            .and_then(|chunk| chunk.parent)
            .unwrap_or(hit.id);
        let place = *places.entry(id).or_insert(out.len());
        match out.get_mut(place) {
            Some(known) => known.matched.push(hit.id),
            None => out.push(Expanded {
                id,
                rank: at + 1,
                score: hit.score,
                matched: vec![hit.id],
            }),
        }
    }
    out
}
