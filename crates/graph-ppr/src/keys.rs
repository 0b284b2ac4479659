//! Names of nodes, and their numbers.

use std::borrow::Borrow;

use crate::error::PprError;
use crate::restart::Restart;

/// Numbers the nodes by the order of their keys, so that the numbers depend on the set of keys and
/// on nothing else.
///
/// ```
/// use cornu_graph_ppr::NodeKeys;
/// let keys = NodeKeys::new(["b", "a", "b"])?;
/// assert_eq!((keys.len(), keys.id("a"), keys.id("z")), (2, Some(0), None));
/// assert_eq!(keys.key(1), Some(&"b"));
///
/// // Unknown seeds are dropped, and the rest is brought to a sum of 1.
/// let restart = keys.restart([("a", 1.0), ("z", 5.0)])?;
/// assert_eq!((restart.entries(), restart.unknown()), (&[(0, 1.0)][..], 1));
/// assert!(keys.restart([("z", 5.0)]).is_err());
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeKeys<K> {
    sorted: Vec<K>,
}

impl<K: Ord> NodeKeys<K> {
    /// Sorts the keys; a key that comes twice is one node. O(n log n).
    ///
    /// # Errors
    /// [`PprError::TooLarge`] for more than 2^32 − 1 keys.
    pub fn new(keys: impl IntoIterator<Item = K>) -> Result<Self, PprError> {
        let mut sorted: Vec<K> = keys.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        match u32::try_from(sorted.len()) {
            Ok(_) => Ok(Self { sorted }),
            Err(_) => Err(PprError::TooLarge {
                nodes: sorted.len(),
            }),
        }
    }

    /// The number of a key. O(log n).
    #[must_use]
    pub fn id<Q>(&self, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let at = self.sorted.binary_search_by(|own| own.borrow().cmp(key));
        at.ok().map(|at| at as u32)
    }

    /// The key of a number.
    #[must_use]
    pub fn key(&self, node: u32) -> Option<&K> {
        self.sorted.get(node as usize)
    }

    /// All keys, in order of their numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[K] {
        &self.sorted
    }

    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// A restart vector from seeds by key. Seeds that are no node are dropped before the rest is
    /// brought to a sum of 1, and counted in [`Restart::unknown`].
    ///
    /// # Errors
    /// [`PprError::NoKnownSeed`] when nothing with a weight above 0 is left,
    /// [`PprError::SeedWeight`] for a weight that is negative or not finite, known or not.
    pub fn restart<'a, Q>(
        &self,
        seeds: impl IntoIterator<Item = (&'a Q, f64)>,
    ) -> Result<Restart, PprError>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized + 'a,
    {
        let seeds = seeds
            .into_iter()
            .map(|(key, weight)| (self.id(key), weight));
        Restart::known(self.len(), seeds)
    }
}
