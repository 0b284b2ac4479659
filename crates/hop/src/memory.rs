//! The facts of all documents, and the graphs that views see.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use cornu_core::View;
use parking_lot::Mutex;

use crate::error::HopError;
use crate::graph::HopGraph;
use crate::passage::Passage;

/// The facts of any number of documents. Documents come and go one by one; a graph is made of what
/// a [`View`] sees, when it is asked for.
///
/// Nothing is carried from one graph to the next, so after any history of inserts, updates and
/// removals, in any order, a view's graph is that of a fresh memory with the same documents, bit
/// for bit, and a removal takes all of a document's weight with it.
///
/// ```
/// use cornu_core::{Acl, ContentHash, DocId, Extractor, Principal, View, ViewEntry};
/// use cornu_extract::RuleExtractor;
/// use cornu_hop::{HopMemory, Passage};
///
/// let text = "Changed It\n\"Changed It\" is a song by Nicki Minaj.";
/// let extraction = RuleExtractor::new().read(text);
/// let mut memory = HopMemory::new(4);
/// memory.insert(0, vec![Passage::new(0, text, extraction)])?;
///
/// let (id, hash, acl) = (DocId::new("a.md")?, ContentHash::of(b"a"), Acl::public());
/// let entry = ViewEntry { ordinal: 0, id: &id, content: &hash, acl: &acl };
/// let public = View::resolve(&Principal::public(), 1, [entry]);
/// assert_eq!(memory.graph(&public)?.passages().count(), 1);
/// let nobody = View::resolve(&Principal::new(["hr"])?, 1, [entry]);
/// assert_eq!(memory.graph(&nobody)?.passages().count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct HopMemory<I> {
    documents: BTreeMap<u32, Vec<Passage<I>>>,
    owner: BTreeMap<I, u32>,
    /// The graphs asked for last, newest at the end. Emptied by every change, since a digest names
    /// sources and not what was read from them.
    graphs: Mutex<Vec<Known<I>>>,
    kept: usize,
}

/// A view's digest and its graph.
type Known<I> = ([u8; 32], Arc<HopGraph<I>>);

impl<I: Ord + Clone + Debug> HopMemory<I> {
    /// An empty memory that keeps the graphs of the last `kept` views.
    #[must_use]
    pub fn new(kept: usize) -> Self {
        Self {
            documents: BTreeMap::new(),
            owner: BTreeMap::new(),
            graphs: Mutex::new(Vec::new()),
            kept,
        }
    }

    /// Adds a document, or puts it in its predecessor's place. O(passages · log all passages).
    ///
    /// # Errors
    /// [`HopError::DuplicatePassage`]; then the memory is as it was.
    pub fn insert(&mut self, document: u32, passages: Vec<Passage<I>>) -> Result<(), HopError> {
        let mut seen = std::collections::BTreeSet::new();
        for passage in &passages {
            let elsewhere = self.owner.get(&passage.id).filter(|&&at| at != document);
            if elsewhere.is_some() || !seen.insert(&passage.id) {
                return Err(HopError::DuplicatePassage {
                    id: format!("{:?}", passage.id),
                    document: elsewhere.copied().unwrap_or(document),
                });
            }
        }
        self.remove(document);
        for passage in &passages {
            self.owner.insert(passage.id.clone(), document);
        }
        self.documents.insert(document, passages);
        Ok(())
    }

    /// Removes a document; whether it was there.
    pub fn remove(&mut self, document: u32) -> bool {
        self.graphs.get_mut().clear();
        let Some(passages) = self.documents.remove(&document) else {
            return false;
        };
        for passage in &passages {
            self.owner.remove(&passage.id);
        }
        true
    }

    /// The number of passages of all documents, for the owner of the memory.
    #[must_use]
    pub fn len(&self) -> usize {
        self.owner.len()
    }

    /// Whether there is no passage.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.owner.is_empty()
    }

    /// The graph of what a view sees: passages, names, facts and weights of visible documents only.
    /// Built once per view and kept for the last views asked for; O(text) to build.
    ///
    /// # Errors
    /// [`HopError::TooLarge`].
    pub fn graph(&self, view: &View) -> Result<Arc<HopGraph<I>>, HopError> {
        if let Some(graph) = self.take_known(view.digest()) {
            return Ok(graph);
        }
        let graph = Arc::new(HopGraph::build(self.visible(view))?);
        let mut graphs = self.graphs.lock();
        graphs.push((*view.digest(), Arc::clone(&graph)));
        let surplus = graphs.len().saturating_sub(self.kept);
        graphs.drain(..surplus);
        Ok(graph)
    }

    /// The passages that a view sees, by id: what the indexes of [`paper`](crate::paper) and
    /// [`prop`](crate::prop) are to be built from. O(all documents + visible passages · log).
    #[must_use]
    pub fn visible(&self, view: &View) -> Vec<&Passage<I>> {
        let documents = self.documents.iter();
        let seen = documents.filter(|(document, _)| view.contains(**document));
        let mut passages: Vec<&Passage<I>> = seen.flat_map(|(_, passages)| passages).collect();
        passages.sort_by(|a, b| a.id.cmp(&b.id));
        passages
    }

    fn take_known(&self, digest: &[u8; 32]) -> Option<Arc<HopGraph<I>>> {
        let mut graphs = self.graphs.lock();
        let at = graphs.iter().position(|(known, _)| known == digest)?;
        let known = graphs.remove(at);
        let graph = Arc::clone(&known.1);
        graphs.push(known);
        Some(graph)
    }
}
