//! Graphs that are brought up to date, one for each principal.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use cornu_core::Principal;
use parking_lot::Mutex;

use super::GrowingGraph;
use crate::error::HopError;
use crate::graph::{GraphOptions, HopGraph};
use crate::passage::Passage;

/// A [`GrowingGraph`] for each of the principals who asked last: nobody's graph is made of what
/// somebody else saw.
///
/// Documents hold passages. `D` names a document, and `V` is its version, which differs where the
/// document, what was read from it or who may see it is another: only documents with another version
/// are looked into. `I` names a passage, and `S` is its stamp, which differs where a passage with the
/// same id is another one: only these are read again.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::Principal;
/// use cornu_extract::RuleExtractor;
/// use cornu_hop::{GraphOptions, HopError, Held, Passage, PrincipalGraphs};
///
/// let rules = RuleExtractor::new();
/// let graphs: PrincipalGraphs<char, u64, u32, u64> =
///     PrincipalGraphs::new(4, GraphOptions::default());
/// let read = |(id, text): (u32, &str)| {
///     Ok::<_, HopError>(Arc::new(Passage::new(id, text, rules.read(text))))
/// };
/// let held = |document, id, stamp, text| Held { document, id, stamp, source: (id, text) };
/// let rome = held('a', 1, 0, "Rome\nRome is old.");
/// let pope = held('b', 2, 0, "Pope\nThe Pope lives in Rome.");
/// let seen = [('a', 0), ('b', 0)];
/// let graph = graphs.graph(&Principal::public(), seen, |_| Ok(vec![rome, pope]), read)?;
/// assert_eq!(graph.passages().collect::<Vec<_>>(), [&1, &2]);
/// // Only document b is looked into.
/// let seen = [('a', 0), ('b', 1)];
/// let moved = |changed: &[char]| {
///     assert_eq!(changed, ['b']);
///     Ok(vec![held('b', 2, 1, "Pope\nThe Pope lives in Avignon.")])
/// };
/// let graph = graphs.graph(&Principal::public(), seen, moved, read)?;
/// assert!(graph.names().any(|name| name == "Rome"));
/// # Ok::<(), HopError>(())
/// ```
#[derive(Debug)]
pub struct PrincipalGraphs<D, V, I, S> {
    most: usize,
    options: GraphOptions,
    /// Newest at the end.
    last: Mutex<Vec<Grown<D, V, I, S>>>,
}

/// A passage that a document holds, with what it is to be read from.
///
/// See [`PrincipalGraphs`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held<D, I, S, T> {
    /// The document.
    pub document: D,
    /// The passage.
    pub id: I,
    /// Differs where a passage with the same id is another one.
    pub stamp: S,
    /// What the passage is made of.
    pub source: T,
}

/// What a principal saw.
#[derive(Debug)]
struct Grown<D, V, I, S> {
    principal: Principal,
    /// The versions of the documents in the graph.
    documents: BTreeMap<D, V>,
    /// The passages in the graph, with their documents and stamps.
    passages: BTreeMap<I, (D, S)>,
    graph: GrowingGraph<I>,
}

impl<D, V, I, S> PrincipalGraphs<D, V, I, S>
where
    D: Ord + Clone + Debug,
    V: PartialEq,
    I: Ord + Clone + Debug + Send + Sync,
    S: PartialEq,
{
    /// None yet, and never those of more than `most` principals.
    #[must_use]
    pub fn new(most: usize, options: GraphOptions) -> Self {
        Self {
            most,
            options,
            last: Mutex::new(Vec::new()),
        }
    }

    /// The graph of what a principal sees now: `seen` has each document that is seen, with its
    /// version; `look` gives all passages of some documents, those that are new or have another
    /// version; and `read` makes a passage, with the same id, of what `look` found, where it is new
    /// or has another stamp. A passage may have moved from one document to another;
    /// at any time it is in one of those that are seen.
    ///
    /// O((documents + passages seen) · log) time, besides [`GrowingGraph::update`] and
    /// [`GrowingGraph::graph`]. A thread that asks for a principal while another does so begins anew.
    ///
    /// # Errors
    /// Those of `look` and `read`, [`HopError::Option`], [`HopError::TooLarge`].
    pub fn graph<T, E: From<HopError>>(
        &self,
        principal: &Principal,
        seen: impl IntoIterator<Item = (D, V)>,
        look: impl FnOnce(&[D]) -> Result<Vec<Held<D, I, S, T>>, E>,
        read: impl Fn(T) -> Result<Arc<Passage<I>>, E>,
    ) -> Result<HopGraph<I>, E> {
        let mut grown = match self.take(principal) {
            Some(grown) => grown,
            None => Grown::new(principal, self.options)?,
        };
        let seen: BTreeMap<D, V> = seen.into_iter().collect();
        let changed: Vec<D> = seen
            .iter()
            .filter(|(document, version)| grown.documents.get(document) != Some(version))
            .map(|(document, _)| document.clone())
            .collect();
        let found = match changed.is_empty() {
            true => Vec::new(),
            false => look(&changed)?,
        };
        grown.update(seen, &changed, found, read)?;
        let graph = grown.graph.graph()?;
        self.keep(grown);
        Ok(graph)
    }

    fn take(&self, principal: &Principal) -> Option<Grown<D, V, I, S>> {
        let mut last = self.last.lock();
        let at = last.iter().position(|one| one.principal == *principal)?;
        Some(last.remove(at))
    }

    fn keep(&self, grown: Grown<D, V, I, S>) {
        let mut last = self.last.lock();
        last.retain(|one| one.principal != grown.principal);
        last.push(grown);
        let surplus = last.len().saturating_sub(self.most);
        last.drain(..surplus);
    }
}

impl<D, V, I, S> Grown<D, V, I, S>
where
    D: Ord,
    I: Ord + Clone + Debug + Send + Sync,
    S: PartialEq,
{
    fn new(principal: &Principal, options: GraphOptions) -> Result<Self, HopError> {
        Ok(Self {
            principal: principal.clone(),
            documents: BTreeMap::new(),
            passages: BTreeMap::new(),
            graph: GrowingGraph::new(options)?,
        })
    }

    /// Puts what was found in the changed documents in the place of what these held, and takes away
    /// what is held by none that is seen.
    fn update<T, E>(
        &mut self,
        seen: BTreeMap<D, V>,
        changed: &[D],
        found: Vec<Held<D, I, S, T>>,
        read: impl Fn(T) -> Result<Arc<Passage<I>>, E>,
    ) -> Result<(), E> {
        let stays =
            |document: &D| seen.contains_key(document) && changed.binary_search(document).is_err();
        let gone = self
            .passages
            .extract_if(.., |_, (document, _)| !stays(document));
        let mut gone: BTreeMap<I, (D, S)> = gone.collect();
        let mut put = Vec::new();
        for held in found {
            if gone
                .remove(&held.id)
                .is_none_or(|(_, stamp)| stamp != held.stamp)
            {
                put.push(read(held.source)?);
            }
            self.passages.insert(held.id, (held.document, held.stamp));
        }
        self.documents = seen;
        self.graph.update(gone.into_keys(), put);
        Ok(())
    }
}
