//! Weighted graphs: edges in, an adjacency matrix in CSR out.

use sprs::CsMatI;

use crate::error::PprError;

/// The smallest weight of an edge, besides 0.
pub const MIN_WEIGHT: f64 = 1e-100;
/// The largest weight of an edge. The bounds keep every sum and quotient of weights finite.
pub const MAX_WEIGHT: f64 = 1e100;

/// Collects weighted edges between nodes numbered from 0.
///
/// | input | outcome |
/// |---|---|
/// | an undirected edge u–v | the two directed edges u→v and v→u |
/// | the same edge again | weights are summed, whatever the order they came in |
/// | a self-loop | stands on the diagonal; an undirected one counts in both directions, so twice |
/// | weight 0 | no edge (a node with no other edge is dangling) |
/// | weight negative, NaN, infinite, or outside [`MIN_WEIGHT`]..=[`MAX_WEIGHT`] | an error |
/// | a node number not below `nodes` | an error |
///
/// 16 bytes an edge.
///
/// ```
/// use cornu_graph_ppr::GraphBuilder;
/// let mut builder = GraphBuilder::undirected(3)?;
/// builder.add(0, 1, 1.0)?.add(1, 0, 1.0)?.add(0, 2, 1.0)?;
/// let graph = builder.build();
/// assert_eq!(graph.weight(0, 1), 2.0);
/// assert_eq!(graph.strength(0), 3.0);
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    nodes: usize,
    undirected: bool,
    edges: Vec<(u32, u32, f64)>,
}

impl GraphBuilder {
    /// A graph whose edges are walked in both directions.
    ///
    /// # Errors
    /// [`PprError::TooLarge`] for more than 2^32 − 1 nodes.
    pub fn undirected(nodes: usize) -> Result<Self, PprError> {
        Self::new(nodes, true)
    }

    /// A graph whose edges are walked from their first node to their second.
    ///
    /// # Errors
    /// [`PprError::TooLarge`] for more than 2^32 − 1 nodes.
    pub fn directed(nodes: usize) -> Result<Self, PprError> {
        Self::new(nodes, false)
    }

    fn new(nodes: usize, undirected: bool) -> Result<Self, PprError> {
        match u32::try_from(nodes) {
            Ok(_) => Ok(Self {
                nodes,
                undirected,
                edges: Vec::new(),
            }),
            Err(_) => Err(PprError::TooLarge { nodes }),
        }
    }

    /// Adds an edge.
    ///
    /// # Errors
    /// [`PprError::Node`] and [`PprError::EdgeWeight`]; the builder is as it was.
    pub fn add(&mut self, from: u32, to: u32, weight: f64) -> Result<&mut Self, PprError> {
        for node in [from, to] {
            if node as usize >= self.nodes {
                let nodes = self.nodes;
                return Err(PprError::Node { node, nodes });
            }
        }
        if weight != 0.0 {
            if !(MIN_WEIGHT..=MAX_WEIGHT).contains(&weight) {
                return Err(PprError::EdgeWeight { from, to, weight });
            }
            self.edges.push((from, to, weight));
        }
        Ok(self)
    }

    /// The graph. O(nodes + edges · log of the largest degree) time, 32 bytes an edge while it
    /// works. The bytes of the result do not depend on the order of the edges.
    #[must_use]
    pub fn build(self) -> Graph {
        let mut starts = vec![0_usize; self.nodes + 1];
        let both = self.undirected;
        for &(from, to, _) in &self.edges {
            starts[from as usize + 1] += 1;
            if both {
                starts[to as usize + 1] += 1;
            }
        }
        for row in 0..self.nodes {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0_u32, 0.0_f64); starts[self.nodes]];
        let mut put = |row: u32, column: u32, weight: f64| {
            let at = &mut next[row as usize];
            entries[*at] = (column, weight);
            *at += 1;
        };
        for &(from, to, weight) in &self.edges {
            put(from, to, weight);
            if both {
                put(to, from, weight);
            }
        }
        drop(self.edges);
        let mut columns = Vec::with_capacity(entries.len());
        let mut weights: Vec<f64> = Vec::with_capacity(entries.len());
        let mut begin = 0;
        for row in 0..self.nodes {
            let end = starts[row + 1];
            let parallel = &mut entries[begin..end];
            // By weight as well: a sum of floats depends on the order of its terms.
            parallel.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let first = columns.len();
            for &(column, weight) in &*parallel {
                match weights.last_mut() {
                    Some(sum) if columns.len() > first && columns.last() == Some(&column) => {
                        *sum += weight;
                    }
                    _ => {
                        columns.push(column);
                        weights.push(weight);
                    }
                }
            }
            begin = end;
            starts[row + 1] = columns.len();
        }
        Graph {
            undirected: self.undirected,
            weights: CsMatI::new((self.nodes, self.nodes), starts, columns, weights),
        }
    }
}

/// A weighted graph as its adjacency matrix W: row u holds the weights of the edges that leave u.
///
/// 12 bytes a directed edge and 8 a node.
///
/// ```
/// use cornu_graph_ppr::{Dangling, GraphBuilder};
/// let mut builder = GraphBuilder::directed(2)?;
/// builder.add(0, 1, 3.0)?;
/// let graph = builder.build();
/// assert_eq!(graph.adjacency().to_dense()[[0, 1]], 3.0);
/// let p = graph.transition(Dangling::SelfLoop).to_dense();
/// assert_eq!((p[[0, 1]], p[[1, 1]]), (1.0, 1.0));
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    undirected: bool,
    weights: CsMatI<f64, u32, usize>,
}

impl Graph {
    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.weights.rows()
    }

    /// Number of entries of the matrix: an undirected edge has two, a self-loop one.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.weights.nnz()
    }

    /// Whether edges are walked in both directions.
    #[must_use]
    pub fn is_undirected(&self) -> bool {
        self.undirected
    }

    /// W, in CSR with columns ascending; every stored weight is above 0.
    #[must_use]
    pub fn adjacency(&self) -> &CsMatI<f64, u32, usize> {
        &self.weights
    }

    /// The weight from one node to another; 0 where there is no edge or no such node.
    /// O(log degree).
    #[must_use]
    pub fn weight(&self, from: u32, to: u32) -> f64 {
        let (columns, weights) = self.row(from);
        let at = columns.binary_search(&to).ok();
        at.and_then(|at| weights.get(at)).copied().unwrap_or(0.0)
    }

    /// The nodes that a node leads to, ascending, with weights; empty where there is no such node.
    #[must_use]
    pub fn row(&self, node: u32) -> (&[u32], &[f64]) {
        let row = self.weights.outer_view(node as usize);
        row.map_or((&[][..], &[][..]), |row| {
            let (columns, weights) = row.into_raw_storage();
            (columns, weights)
        })
    }

    /// Sum of the weights that leave a node: 0 for a dangling one.
    #[must_use]
    pub fn strength(&self, node: u32) -> f64 {
        self.row(node).1.iter().sum()
    }

    /// The row-stochastic matrix P, P_uv = W_uv / Σ_k W_uk, as a matrix of its own.
    ///
    /// The row of a dangling node has 1 on the diagonal under [`Dangling::SelfLoop`] and no entry
    /// under [`Dangling::Restart`], where it stands for the restart vector. The solvers do not
    /// need this matrix; it is there to be looked at and checked. O(entries).
    #[must_use]
    pub fn transition(&self, dangling: Dangling) -> CsMatI<f64, u32, usize> {
        let mut starts = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for node in 0..self.nodes() as u32 {
            let (to, weights) = self.row(node);
            let strength: f64 = weights.iter().sum();
            columns.extend_from_slice(to);
            values.extend(weights.iter().map(|weight| weight / strength));
            if to.is_empty() && dangling == Dangling::SelfLoop {
                columns.push(node);
                values.push(1.0);
            }
            starts.push(columns.len());
        }
        CsMatI::new((self.nodes(), self.nodes()), starts, columns, values)
    }
}

/// Where a walker goes from a node that nothing leaves.
///
/// Probability is conserved either way. A dangling node that a walk reaches keeps all it gets
/// under `SelfLoop`, and so ranks higher than under `Restart`.
///
/// ```
/// use cornu_graph_ppr::{Dangling, GraphBuilder, Restart, SolveOptions, Walk, solve};
/// let mut builder = GraphBuilder::directed(2)?;
/// builder.add(0, 1, 1.0)?;
/// let (graph, seed) = (builder.build(), Restart::new(2, [(0, 1.0)])?);
/// let at_1 = |dangling| -> Result<f64, cornu_graph_ppr::PprError> {
///     let walk = Walk::<f64>::new(&graph, dangling)?;
///     Ok(solve(&walk, &seed, &SolveOptions::new(0.85))?.scores[1])
/// };
/// assert!((at_1(Dangling::SelfLoop)? - 0.85).abs() < 1e-9);
/// assert!((at_1(Dangling::Restart)? - 0.85 / 1.85).abs() < 1e-9);
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dangling {
    /// It stays where it is (P_uu = 1), as the course chapter has it.
    SelfLoop,
    /// It restarts, as PRPACK (igraph) and networkx have it.
    Restart,
}
