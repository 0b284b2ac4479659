//! From scores of nodes to scores of documents.

use cornu_core::Ranking;

use crate::error::PprError;
use crate::real::Real;

/// How the scores of a document's nodes become its own.
///
/// ```
/// use cornu_graph_ppr::{Aggregate, DocumentNodes};
/// let documents = DocumentNodes::new(3, [vec![0, 2], vec![1]])?;
/// let scores = [0.5, 0.25, 0.25];
/// assert_eq!(documents.scores(&scores, Aggregate::Sum)?, [0.75, 0.25]);
/// assert_eq!(documents.scores(&scores, Aggregate::Max)?, [0.5, 0.25]);
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aggregate {
    /// Σ over its nodes, as the course chapter and HippoRAG have it.
    #[default]
    Sum,
    /// The largest of its nodes: a list of many names does not add up.
    Max,
}

/// Which nodes each document holds, in CSR: 12 bytes an entry, 8 a document.
///
/// ```
/// use cornu_graph_ppr::{Aggregate, DocumentNodes};
/// // Mentioned twice, counted twice: how HippoRAG v1 counts over facts.
/// let documents = DocumentNodes::weighted(2, [vec![(0, 1.0), (0, 1.0)], vec![(1, 1.0)]])?;
/// assert_eq!(documents.scores(&[0.25_f32, 0.75], Aggregate::Sum)?, [0.5, 0.75]);
/// let ranking = documents.rank(&[0.0, 1.0], Aggregate::Sum)?;
/// assert_eq!(ranking.ids().collect::<Vec<_>>(), [&1]); // score 0 is no evidence
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentNodes {
    nodes: usize,
    starts: Vec<usize>,
    entries: Vec<u32>,
    weights: Vec<f64>,
}

impl DocumentNodes {
    /// From the set of nodes of each document: a node counts once, however often it is named.
    ///
    /// # Errors
    /// [`PprError::Node`].
    pub fn new<D: IntoIterator<Item = u32>>(
        nodes: usize,
        documents: impl IntoIterator<Item = D>,
    ) -> Result<Self, PprError> {
        let set = |document: D| {
            let mut set: Vec<u32> = document.into_iter().collect();
            set.sort_unstable();
            set.dedup();
            set.into_iter().map(|node| (node, 1.0))
        };
        Self::weighted(nodes, documents.into_iter().map(set))
    }

    /// From nodes with weights, which multiply the scores; weights of the same node in one
    /// document are summed, 0 is no member.
    ///
    /// # Errors
    /// [`PprError::Node`], and [`PprError::MemberWeight`] (negative or not finite).
    pub fn weighted<D: IntoIterator<Item = (u32, f64)>>(
        nodes: usize,
        documents: impl IntoIterator<Item = D>,
    ) -> Result<Self, PprError> {
        let (mut starts, mut entries, mut weights) = (vec![0], Vec::new(), Vec::new());
        let mut members: Vec<(u32, f64)> = Vec::new();
        for (document, given) in documents.into_iter().enumerate() {
            members.clear();
            for (node, weight) in given {
                if node as usize >= nodes {
                    return Err(PprError::Node { node, nodes });
                }
                if !(weight >= 0.0 && weight.is_finite()) {
                    return Err(PprError::MemberWeight {
                        document,
                        node,
                        weight,
                    });
                }
                if weight > 0.0 {
                    members.push((node, weight));
                }
            }
            members.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            for same in members.chunk_by(|a, b| a.0 == b.0) {
                entries.extend(same.first().map(|first| first.0));
                weights.push(
                    same.iter()
                        .map(|member| member.1)
                        .sum::<f64>()
                        .min(f64::MAX),
                );
            }
            starts.push(entries.len());
        }
        Ok(Self {
            nodes,
            starts,
            entries,
            weights,
        })
    }

    /// Number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The nodes of a document, ascending, with their weights; empty where there is no such
    /// document.
    pub fn members(&self, document: usize) -> impl ExactSizeIterator<Item = (u32, f64)> {
        let range = match self.starts.get(document..).unwrap_or_default() {
            [start, end, ..] => *start..*end,
            _ => 0..0,
        };
        let entries = self.entries.get(range.clone()).unwrap_or_default();
        let weights = self.weights.get(range).unwrap_or_default();
        entries.iter().copied().zip(weights.iter().copied())
    }

    /// The score of every document; 0 for one without nodes. O(entries).
    ///
    /// # Errors
    /// [`PprError::Size`] for scores of another graph.
    pub fn scores<T: Real>(
        &self,
        scores: &[T],
        aggregate: Aggregate,
    ) -> Result<Vec<f64>, PprError> {
        if scores.len() != self.nodes {
            return Err(PprError::Size {
                what: "the document list",
                given: self.nodes,
                nodes: scores.len(),
            });
        }
        let score = |document| {
            let members = self.members(document);
            let shares = members.map(|(node, weight)| weight * scores[node as usize].wide());
            match aggregate {
                Aggregate::Sum => shares.sum(),
                Aggregate::Max => shares.fold(0.0, f64::max),
            }
        };
        Ok((0..self.len()).map(score).collect())
    }

    /// The documents, by number, with a score above 0. No path leads from a seed to the others, so
    /// they are no evidence and do not fill up a ranking.
    ///
    /// # Errors
    /// [`PprError::Size`] for scores of another graph.
    pub fn rank<T: Real>(
        &self,
        scores: &[T],
        aggregate: Aggregate,
    ) -> Result<Ranking<u32>, PprError> {
        Ok(rank(&self.scores(scores, aggregate)?))
    }
}

/// The positions of scores above 0, best first: nodes by their probability.
///
/// ```
/// let ranking = cornu_graph_ppr::rank(&[0.25, 0.0, 0.75]);
/// assert_eq!(ranking.ids().copied().collect::<Vec<_>>(), [2, 0]);
/// ```
#[must_use]
pub fn rank<T: Real>(scores: &[T]) -> Ranking<u32> {
    let positive = (0_u32..).zip(scores).filter_map(|(id, score)| {
        let score = score.wide();
        (score > 0.0).then(|| (id, score.min(f64::MAX)))
    });
    // Finite and different by construction.
    Ranking::new(positive).unwrap_or_else(|_| Ranking::empty())
}
