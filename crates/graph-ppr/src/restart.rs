//! Where walks start and return to: points of the probability simplex.

use crate::error::PprError;

/// A restart vector: nodes with weights above 0 that sum to 1.
///
/// Sparse: 16 bytes a seed, whatever the size of the graph.
///
/// ```
/// use cornu_graph_ppr::{PprError, Restart};
/// // Weights of the same node are summed, weight 0 is no seed.
/// let restart = Restart::new(4, [(2, 3.0), (0, 0.5), (0, 0.5), (1, 0.0)])?;
/// assert_eq!(restart.entries(), [(0, 0.25), (2, 0.75)]);
/// assert_eq!(Restart::new(4, []), Err(PprError::NoKnownSeed { unknown: 0 }));
/// # Ok::<(), PprError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Restart {
    nodes: usize,
    entries: Vec<(u32, f64)>,
    unknown: usize,
}

impl Restart {
    /// From weights of nodes, which are brought to a sum of 1. The result does not depend on the
    /// order of the seeds. O(seeds · log seeds).
    ///
    /// # Errors
    /// [`PprError::Node`], [`PprError::SeedWeight`] (negative or not finite), and
    /// [`PprError::NoKnownSeed`] when no weight is above 0.
    pub fn new(
        nodes: usize,
        seeds: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<Self, PprError> {
        let mut checked = Vec::new();
        for (node, weight) in seeds {
            if node as usize >= nodes {
                return Err(PprError::Node { node, nodes });
            }
            checked.push((Some(node), weight));
        }
        Self::known(nodes, checked)
    }

    /// The same weight on each of the given nodes; a node that comes twice counts once.
    ///
    /// # Errors
    /// [`PprError::Node`], and [`PprError::NoKnownSeed`] when there is no node.
    pub fn uniform(nodes: usize, seeds: impl IntoIterator<Item = u32>) -> Result<Self, PprError> {
        let mut seeds: Vec<u32> = seeds.into_iter().collect();
        seeds.sort_unstable();
        seeds.dedup();
        Self::new(nodes, seeds.into_iter().map(|node| (node, 1.0)))
    }

    /// From seeds of which `None` are unknown: dropped and counted. Nodes are in range.
    pub(crate) fn known(
        nodes: usize,
        seeds: impl IntoIterator<Item = (Option<u32>, f64)>,
    ) -> Result<Self, PprError> {
        let mut entries: Vec<(u32, f64)> = Vec::new();
        let mut unknown = 0;
        for (position, (node, weight)) in seeds.into_iter().enumerate() {
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(PprError::SeedWeight { position, weight });
            }
            match node {
                Some(node) if weight > 0.0 => entries.push((node, weight)),
                Some(_) => {}
                None => unknown += 1,
            }
        }
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        // By the largest first, so that no sum overflows.
        let most = entries
            .iter()
            .fold(0.0, |most, &(_, weight)| weight.max(most));
        entries.iter_mut().for_each(|entry| entry.1 /= most);
        entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let sum: f64 = entries.iter().map(|entry| entry.1).sum();
        entries.iter_mut().for_each(|entry| entry.1 /= sum);
        entries.retain(|entry| entry.1 > 0.0); // a share below the smallest float
        match entries.is_empty() {
            true => Err(PprError::NoKnownSeed { unknown }),
            false => Ok(Self {
                nodes,
                entries,
                unknown,
            }),
        }
    }

    /// The seeds with their shares, by node.
    #[must_use]
    pub fn entries(&self) -> &[(u32, f64)] {
        &self.entries
    }

    /// The size of the graph that the vector is for.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many seeds the graph does not hold; they were dropped.
    #[must_use]
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    pub(crate) fn check(&self, nodes: usize) -> Result<(), PprError> {
        match self.nodes == nodes {
            true => Ok(()),
            false => Err(PprError::Size {
                what: "the restart vector",
                given: self.nodes,
                nodes,
            }),
        }
    }
}
