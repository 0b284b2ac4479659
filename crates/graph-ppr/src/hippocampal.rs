//! The whole way in one call, as the course chapter has it: names in, documents out.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use cornu_core::Ranking;

use crate::documents::{Aggregate, DocumentNodes};
use crate::error::PprError;
use crate::graph::{Dangling, GraphBuilder};
use crate::keys::NodeKeys;
use crate::solve::{SolveOptions, solve};
use crate::walk::Walk;

/// Entities, weighted relations between them, and which of them each document names.
///
/// ```
/// use cornu_graph_ppr::EntityGraph;
/// let graph = EntityGraph {
///     entities: &["Alpha", "Star"],
///     edges: &[("Alpha", "Star", 1.0)],
///     documents: &[("doc", &["Alpha", "Star"])],
/// };
/// assert_eq!(graph.entities.len(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntityGraph<'a> {
    /// The nodes. A name that comes twice is one node.
    pub entities: &'a [&'a str],
    /// Undirected edges; parallel ones are summed.
    pub edges: &'a [(&'a str, &'a str, f64)],
    /// Each document's id and the entities it names.
    pub documents: &'a [(&'a str, &'a [&'a str])],
}

/// What [`hippocampal_ppr_retrieval`] found.
///
/// ```
/// use cornu_graph_ppr::{EntityGraph, hippocampal_ppr_retrieval};
/// let graph = EntityGraph {
///     entities: &["Alpha"],
///     edges: &[("Alpha", "Beta", 1.0)],
///     documents: &[("doc", &["Alpha"])],
/// };
/// let found = hippocampal_ppr_retrieval(&graph, &[("Alpha", 1.0)], 0.85)?;
/// assert_eq!((found.documents.len(), found.ignored_edges), (1, 1));
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Recall {
    /// Documents that a path from the seeds reaches, with the sum over their entities.
    pub documents: Ranking<String>,
    /// Every entity that is reached, with its probability.
    pub entities: Ranking<String>,
    /// Query entities that are not in the graph.
    pub ignored_seeds: usize,
    /// Edges of which an end is not among the entities.
    pub ignored_edges: usize,
    /// Entities of documents that are not among the entities.
    pub ignored_mentions: usize,
}

/// HippoRAG's retrieval over a small graph: restarts at the query's entities, walks the undirected
/// graph with probability α to follow an edge, and scores each document by the sum over the
/// entities it names (each once).
///
/// The course chapter's function of this name, with its conventions: dangling nodes keep what they
/// get, what names an entity that is not in the graph is left out (and counted here). Different:
/// the result is the solution, to an L1 of 1e-10, where the original stops at 1e-6 or 50
/// iterations, whichever comes first; no known query entity is an error, where the original
/// restarts everywhere; documents that no path reaches are left out.
///
/// Builds everything anew: O(n log n) in what is given, besides the solution. For many queries keep
/// a [`Walk`].
///
/// # Errors
/// [`PprError::NoKnownSeed`], [`PprError::SeedWeight`], [`PprError::EdgeWeight`] and
/// [`PprError::Alpha`]. Of two documents with one id the entities are taken together.
pub fn hippocampal_ppr_retrieval<Q: Borrow<str>>(
    graph: &EntityGraph<'_>,
    query_entities: &[(Q, f64)],
    alpha: f64,
) -> Result<Recall, PprError> {
    let keys = NodeKeys::new(graph.entities.iter().copied())?;
    let mut builder = GraphBuilder::undirected(keys.len())?;
    let mut ignored_edges = 0;
    for &(from, to, weight) in graph.edges {
        match (keys.id(from), keys.id(to)) {
            (Some(from), Some(to)) => drop(builder.add(from, to, weight)?),
            _ => ignored_edges += 1,
        }
    }
    let seeds = query_entities.iter();
    let restart = keys.restart(seeds.map(|(name, weight)| (name.borrow(), *weight)))?;
    let ids: BTreeSet<&str> = graph.documents.iter().map(|&(id, _)| id).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); ids.len()];
    let mut ignored_mentions = 0;
    for &(id, names) in graph.documents {
        let known = names.iter().filter_map(|&name| keys.id(name));
        let place = ids.binary_search(&id).ok();
        if let Some(members) = place.and_then(|place| members.get_mut(place)) {
            let before = members.len();
            members.extend(known);
            ignored_mentions += names.len() - (members.len() - before);
        }
    }
    let walk = Walk::<f64>::new(&builder.build(), Dangling::SelfLoop)?;
    let scores = solve(&walk, &restart, &SolveOptions::new(alpha))?.scores;
    let documents = DocumentNodes::new(keys.len(), members)?.rank(&scores, Aggregate::Sum)?;
    let entities = crate::documents::rank(&scores);
    Ok(Recall {
        documents: named(&documents, &ids),
        entities: named(&entities, keys.as_slice()),
        ignored_seeds: restart.unknown(),
        ignored_edges,
        ignored_mentions,
    })
}

/// Numbers are by name, so ties keep their order.
fn named(ranking: &Ranking<u32>, names: &[&str]) -> Ranking<String> {
    let named = ranking.iter().filter_map(|item| {
        let name = names.get(item.id as usize)?;
        Some(((*name).to_owned(), item.score))
    });
    Ranking::new(named).unwrap_or_else(|_| Ranking::empty())
}
