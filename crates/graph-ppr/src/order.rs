//! The order in which a walk keeps its nodes: what is read together should lie together.

use std::cmp::Reverse;

use crate::graph::Graph;

/// How a [`Walk`](crate::Walk) numbers its nodes inside. Callers never see these numbers; results
/// agree up to rounding whatever the order.
///
/// ```
/// use cornu_graph_ppr::{Dangling, GraphBuilder, Order, Walk};
/// let mut builder = GraphBuilder::undirected(3)?;
/// builder.add(0, 2, 1.0)?;
/// let graph = builder.build();
/// let walk = Walk::<f32>::with_order(&graph, Dangling::Restart, Order::ReverseCuthillMcKee)?;
/// assert_eq!(walk.nodes(), 3);
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// As the graph numbers them: the best where the caller has ordered them by locality.
    Given,
    /// Most edges first. In graphs with a few large hubs most reads then fall into a small part of
    /// memory, and neighbouring rows have equal lengths, which a processor predicts. Of nodes with as
    /// many edges those come together whose largest neighbours do. O(entries + n log n).
    #[default]
    Degree,
    /// Breadth first from a node of the lowest degree, reversed (Cuthill and McKee 1969, George
    /// 1971): neighbours get near numbers. For graphs without hubs, such as chains and meshes.
    /// O(entries · log degree).
    ReverseCuthillMcKee,
}

/// For each new number the old one.
pub(crate) fn old_of_new(graph: &Graph, order: Order) -> Vec<u32> {
    let nodes = graph.nodes() as u32;
    match order {
        Order::Given => (0..nodes).collect(),
        Order::Degree => {
            let degrees = degrees(graph);
            let mut old: Vec<u32> = (0..nodes).collect();
            old.sort_by_key(|&node| Reverse(degree(&degrees, node)));
            let mut ranks = vec![0_u32; graph.nodes()];
            for (rank, &node) in (0..).zip(&old) {
                ranks[node as usize] = rank;
            }
            let first = |node: u32| {
                let neighbours = graph.row(node).0.iter();
                neighbours.map(|&to| ranks[to as usize]).min()
            };
            old.sort_by_cached_key(|&node| (Reverse(degree(&degrees, node)), first(node)));
            old
        }
        Order::ReverseCuthillMcKee => reverse_cuthill_mckee(graph),
    }
}

/// Number of entries by column: for an undirected graph that of the rows too.
fn degrees(graph: &Graph) -> Vec<u32> {
    let mut degrees = vec![0_u32; graph.nodes()];
    for &column in graph.adjacency().indices() {
        if let Some(degree) = degrees.get_mut(column as usize) {
            *degree = degree.saturating_add(1);
        }
    }
    degrees
}

fn degree(degrees: &[u32], node: u32) -> u32 {
    degrees.get(node as usize).copied().unwrap_or(0)
}

/// On the pattern of the rows; a directed graph is followed along its edges.
fn reverse_cuthill_mckee(graph: &Graph) -> Vec<u32> {
    let degrees = degrees(graph);
    let mut starts: Vec<u32> = (0..graph.nodes() as u32).collect();
    starts.sort_by_key(|&node| degree(&degrees, node));
    let mut seen = vec![false; graph.nodes()];
    let mut visit = |node: u32| {
        let seen = seen.get_mut(node as usize);
        seen.is_some_and(|seen| !std::mem::replace(seen, true))
    };
    let mut order: Vec<u32> = Vec::with_capacity(graph.nodes());
    for start in starts {
        if !visit(start) {
            continue;
        }
        let mut next = order.len();
        order.push(start);
        while let Some(&node) = order.get(next) {
            next += 1;
            let first = order.len();
            order.extend(graph.row(node).0.iter().copied().filter(|&to| visit(to)));
            if let Some(found) = order.get_mut(first..) {
                found.sort_by_key(|&to| degree(&degrees, to));
            }
        }
    }
    order.reverse();
    order
}
