//! Weighted graphs as sparse matrices, and Personalized PageRank over them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`graph`] | [`GraphBuilder`], [`Graph`]: edges to an adjacency matrix; [`Dangling`] |
//! | [`keys`] | [`NodeKeys`]: names of nodes to numbers |
//! | [`restart`] | [`Restart`]: seeds, on the simplex |
//! | [`walk`] | [`Walk`]: a graph prepared for any number of queries; [`Order`] of its nodes |
//! | [`solve`](mod@solve) | [`solve()`], [`solve_batch`], [`personalized_pagerank`]: the exact solution |
//! | [`push`] | [`forward_push`]: what is near the seeds, with its error |
//! | [`documents`] | [`DocumentNodes`]: scores of nodes to scores of documents |
//! | [`hippocampal`] | [`hippocampal_ppr_retrieval`]: all of it in one call |
//!
//! The result is the one solution of p = α p P + (1 − α) r: P the row-stochastic matrix of the
//! graph, r the restart vector, α the probability to follow an edge. Probability is conserved, the
//! result has the same bits on any number of threads, and every answer comes with its residual.
//!
//! What a walk reaches depends on every edge of the graph. **A graph for an asker has to be built
//! from what the asker may see**; there is nothing to filter afterwards.
//!
//! # Example
//!
//! ```
//! use cornu_graph_ppr::{
//!     Aggregate, Dangling, DocumentNodes, GraphBuilder, NodeKeys, SolveOptions, Walk, solve,
//! };
//!
//! let keys = NodeKeys::new(["Alpha", "Star", "Horizon", "Gamma", "Delta"])?;
//! let node = |name| keys.id(name).ok_or("an unknown name");
//! let mut builder = GraphBuilder::undirected(keys.len())?;
//! for (from, to) in [("Alpha", "Star"), ("Star", "Horizon"), ("Horizon", "Gamma")] {
//!     builder.add(node(from)?, node(to)?, 1.0)?;
//! }
//! let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart)?;
//!
//! let seeds = keys.restart([("Alpha", 1.0), ("Gamma", 1.0)])?;
//! let found = solve(&walk, &seeds, &SolveOptions::new(0.5))?;
//! assert!(found.converged && found.error_bound() <= 1e-10);
//!
//! let bridge = vec![node("Star")?, node("Horizon")?]; // names neither seed
//! let unrelated = vec![node("Delta")?];
//! let documents = DocumentNodes::new(keys.len(), [unrelated, bridge])?;
//! let ranking = documents.rank(&found.scores, Aggregate::Sum)?;
//! assert_eq!(ranking.ids().collect::<Vec<_>>(), [&1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod documents;
mod error;
pub mod graph;
pub mod hippocampal;
mod kernel;
pub mod keys;
mod layout;
mod moves;
mod octets;
mod omega;
mod order;
mod power;
pub mod push;
mod real;
mod relax;
pub mod restart;
pub mod solve;
mod sweep;
pub mod walk;

pub use documents::{Aggregate, DocumentNodes, rank};
pub use error::PprError;
pub use graph::{Dangling, Graph, GraphBuilder};
pub use hippocampal::{EntityGraph, Recall, hippocampal_ppr_retrieval};
pub use keys::NodeKeys;
pub use order::Order;
pub use push::{Push, PushOptions, PushSpace, forward_push};
pub use real::Real;
pub use restart::Restart;
pub use solve::{
    MOST_ITERATIONS, Method, Solution, SolveOptions, personalized_pagerank, solve, solve_batch,
};
pub use walk::Walk;

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
