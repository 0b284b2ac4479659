/// Why a graph, a restart vector or a walk was refused.
///
/// ```
/// use cornu_graph_ppr::{GraphBuilder, PprError};
/// let error = GraphBuilder::undirected(2)?.add(0, 1, -1.0).unwrap_err();
/// assert!(matches!(error, PprError::EdgeWeight { weight: -1.0, .. }));
/// # Ok::<(), PprError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PprError {
    /// A node's number is not below the number of nodes.
    #[error("node {node} is not one of the graph's {nodes} nodes; nodes are numbered from 0")]
    Node {
        /// The number given.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// An edge's weight is negative, not finite, or out of range.
    #[error(
        "the edge from node {from} to node {to} has weight {weight}; give 0 (no edge) or a number \
         from 1e-100 to 1e100"
    )]
    EdgeWeight {
        /// Where the edge starts.
        from: u32,
        /// Where it ends.
        to: u32,
        /// The weight.
        weight: f64,
    },
    /// A seed's weight is negative or not finite.
    #[error(
        "the seed at position {position} has weight {weight}; give a finite number of at least 0 \
         (cut negative similarities before)"
    )]
    SeedWeight {
        /// Position among the seeds, from 0.
        position: usize,
        /// The weight.
        weight: f64,
    },
    /// The weight of a node in a document is negative or not finite.
    #[error(
        "document {document} holds node {node} with weight {weight}; give a finite number of at \
         least 0"
    )]
    MemberWeight {
        /// Position of the document, from 0.
        document: usize,
        /// The node.
        node: u32,
        /// The weight.
        weight: f64,
    },
    /// No seed with a weight above 0 is in the graph, so there is nowhere to restart from.
    #[error(
        "no seed with a weight above 0 is in the graph ({unknown} unknown); fall back to a route \
         that needs none"
    )]
    NoKnownSeed {
        /// How many seeds the graph does not hold.
        unknown: usize,
    },
    /// A vector or a document list was made for a graph of another size.
    #[error("{what} was made for {given} nodes and the graph has {nodes}; make it from this graph")]
    Size {
        /// What has the wrong size.
        what: &'static str,
        /// The nodes it was made for.
        given: usize,
        /// The graph's nodes.
        nodes: usize,
    },
    /// α is outside [0, 1).
    #[error(
        "alpha is {alpha}; give the probability to follow an edge, at least 0 and below 1 (with 1 \
         nothing ever returns to the seeds and the result need not exist)"
    )]
    Alpha {
        /// The value.
        alpha: f64,
    },
    /// The tolerance is not a positive finite number.
    #[error("the tolerance is {tolerance}; give an L1 distance above 0, such as 1e-10")]
    Tolerance {
        /// The value.
        tolerance: f64,
    },
    /// No iteration is allowed.
    #[error("max_iterations is 0; allow one at least, or leave it open")]
    NoIterations,
    /// ε of forward push is not a positive finite number.
    #[error("epsilon is {epsilon}; give a residual per unit of strength above 0, such as 1e-6")]
    Epsilon {
        /// The value.
        epsilon: f64,
    },
    /// Relaxation was asked for on a directed graph.
    #[error(
        "relaxation needs an undirected graph (symmetric equations); use Method::Power, \
         or Method::Auto, which does so"
    )]
    Directed,
    /// More nodes than 32 bits can number.
    #[error("{nodes} nodes are more than 2^32 - 1; split the graph")]
    TooLarge {
        /// How many.
        nodes: usize,
    },
    /// The weights of a graph span more than `f32` can hold.
    #[error("weights from {least} to {most} span more than f32 can hold (1e24); use a walk in f64")]
    WeightRange {
        /// The smallest weight.
        least: f64,
        /// The largest weight.
        most: f64,
    },
}
