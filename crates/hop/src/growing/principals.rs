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
/// `S` is a stamp, which differs where a passage with the same id is another one.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::Principal;
/// use cornu_extract::RuleExtractor;
/// use cornu_hop::{GraphOptions, HopError, Passage, PrincipalGraphs};
///
/// let rules = RuleExtractor::new();
/// let graphs: PrincipalGraphs<u32, u64> = PrincipalGraphs::new(4, GraphOptions::default());
/// let read = |(id, text): (u32, &str)| {
///     Ok::<_, HopError>(Arc::new(Passage::new(id, text, rules.read(text))))
/// };
/// let seen = [(1, 0, (1, "Rome\nRome is old.")), (2, 0, (2, "Pope\nThe Pope lives in Rome."))];
/// let graph = graphs.graph(&Principal::public(), seen, read)?;
/// assert_eq!(graph.passages().collect::<Vec<_>>(), [&1, &2]);
/// // Only passage 2 is read again.
/// let seen = [(1, 0, (1, "")), (2, 1, (2, "Pope\nThe Pope lives in Avignon."))];
/// let graph = graphs.graph(&Principal::public(), seen, read)?;
/// assert!(graph.names().any(|name| name == "Rome"));
/// # Ok::<(), HopError>(())
/// ```
#[derive(Debug)]
pub struct PrincipalGraphs<I, S> {
    most: usize,
    options: GraphOptions,
    /// Newest at the end.
    last: Mutex<Vec<Grown<I, S>>>,
}

/// What a principal saw.
#[derive(Debug)]
struct Grown<I, S> {
    principal: Principal,
    /// The stamps of the passages in the graph.
    seen: BTreeMap<I, S>,
    graph: GrowingGraph<I>,
}

impl<I: Ord + Clone + Debug + Send + Sync, S: PartialEq> PrincipalGraphs<I, S> {
    /// None yet, and never those of more than `most` principals.
    #[must_use]
    pub fn new(most: usize, options: GraphOptions) -> Self {
        Self {
            most,
            options,
            last: Mutex::new(Vec::new()),
        }
    }

    /// The graph of what a principal sees now: the id and the stamp of each passage, and what `read`
    /// makes the passage of, with the same id, where it is new or has another stamp.
    ///
    /// O(passages seen · log) time, besides [`GrowingGraph::update`] and [`GrowingGraph::graph`]. A
    /// thread that asks for a principal while another does so begins anew.
    ///
    /// # Errors
    /// Those of `read`, [`HopError::Option`], [`HopError::TooLarge`].
    pub fn graph<T, E: From<HopError>>(
        &self,
        principal: &Principal,
        seen: impl IntoIterator<Item = (I, S, T)>,
        read: impl Fn(T) -> Result<Arc<Passage<I>>, E>,
    ) -> Result<HopGraph<I>, E> {
        let mut grown = match self.take(principal) {
            Some(grown) => grown,
            None => Grown {
                principal: principal.clone(),
                seen: BTreeMap::new(),
                graph: GrowingGraph::new(self.options)?,
            },
        };
        let (mut now, mut put) = (BTreeMap::new(), Vec::new());
        for (id, stamp, source) in seen {
            if grown.seen.get(&id) != Some(&stamp) {
                put.push(read(source)?);
            }
            now.insert(id, stamp);
        }
        let before = std::mem::replace(&mut grown.seen, now).into_keys();
        let gone = before.filter(|id| !grown.seen.contains_key(id));
        grown.graph.update(gone, put);
        let graph = grown.graph.graph()?;
        self.keep(grown);
        Ok(graph)
    }

    fn take(&self, principal: &Principal) -> Option<Grown<I, S>> {
        let mut last = self.last.lock();
        let at = last.iter().position(|one| one.principal == *principal)?;
        Some(last.remove(at))
    }

    fn keep(&self, grown: Grown<I, S>) {
        let mut last = self.last.lock();
        last.retain(|one| one.principal != grown.principal);
        last.push(grown);
        let surplus = last.len().saturating_sub(self.most);
        last.drain(..surplus);
    }
}
