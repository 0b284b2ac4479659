//! Where a walk puts the nodes of an undirected graph, so that they can be relaxed in parallel.
//!
//! Nodes of one *colour* share no edge: relaxing them all at once is relaxing them one after the
//! other. Nodes of one *component* share their probability, which never leaves it. A walk numbers
//! its nodes by colour, in each colour those of the largest component first, and then in the
//! [`Order`](crate::Order) asked for. Nodes without edges come last: there is nothing to relax.

use std::ops::Range;

use crate::graph::Graph;

/// No colour, no component yet.
const NONE: u32 = u32::MAX;

/// Nodes in their new order, and what lies where. All of it depends on the graph alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) old_of_new: Vec<u32>,
    /// For each colour the rows of the largest component and those of the others.
    pub(crate) colours: Vec<[Range<usize>; 2]>,
    /// The rows of an undirected graph's nodes without edges.
    pub(crate) alone: Range<usize>,
    pub(crate) components: Components,
}

/// Connected components; number 0 is the largest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Components {
    /// By row. Empty where all is one component.
    of_row: Vec<u32>,
    /// The rows of the components from 1 on, component by component.
    members: Vec<u32>,
    /// Where the members of component 1, 2, .. begin, and the end.
    starts: Vec<usize>,
}

impl Components {
    pub(crate) fn len(&self) -> usize {
        self.starts.len().max(1)
    }

    #[inline(always)]
    pub(crate) fn of_row(&self, row: usize) -> usize {
        self.of_row
            .get(row)
            .map_or(0, |&component| component as usize)
    }

    /// The rows of a component other than the largest.
    pub(crate) fn members(&self, component: usize) -> &[u32] {
        let bounds = component
            .checked_sub(1)
            .and_then(|at| self.starts.get(at..at + 2));
        bounds.map_or(&[], |bounds| &self.members[bounds[0]..bounds[1]])
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.of_row[..])
            + size_of_val(&self.members[..])
            + size_of_val(&self.starts[..])
    }
}

impl Layout {
    /// Of an undirected graph, from the order in which nodes are wished. O(entries).
    pub(crate) fn new(graph: &Graph, wished: &[u32]) -> Self {
        let nodes = wished.len();
        let (component_of_old, count) = components(graph, wished);
        let colour_of_old = colours(graph, wished);
        let colours = colour_of_old
            .iter()
            .max()
            .map_or(0, |&most| most as usize + 1);
        // A stable counting sort by colour, the largest component first.
        let key = |old: u32| match graph.row(old).0 {
            [] => colours * 2,
            _ => {
                let other = component_of_old[old as usize] != 0;
                colour_of_old[old as usize] as usize * 2 + usize::from(other)
            }
        };
        let mut starts = vec![0_usize; colours * 2 + 2];
        for &old in wished {
            starts[key(old) + 1] += 1;
        }
        for at in 0..=colours * 2 {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut old_of_new = vec![0_u32; nodes];
        for &old in wished {
            let place = &mut next[key(old)];
            old_of_new[*place] = old;
            *place += 1;
        }
        let part = |at: usize| starts[at]..starts[at + 1];
        Self {
            colours: (0..colours)
                .map(|at| [part(at * 2), part(at * 2 + 1)])
                .collect(),
            alone: part(colours * 2),
            components: by_row(&old_of_new, &component_of_old, count),
            old_of_new,
        }
    }

    /// Of a directed graph: as wished, in one piece.
    pub(crate) fn plain(wished: Vec<u32>) -> Self {
        let nodes = wished.len();
        Self {
            old_of_new: wished,
            colours: vec![[0..nodes, nodes..nodes]],
            alone: nodes..nodes,
            components: Components::default(),
        }
    }
}

/// By node, the first colour that no neighbour has: at most one more than the highest degree, and
/// few where nodes are wished by descending degree (Welsh and Powell 1967).
fn colours(graph: &Graph, wished: &[u32]) -> Vec<u32> {
    let mut colours = vec![NONE; wished.len()];
    // By colour, the last node that saw it at a neighbour.
    let mut seen: Vec<u32> = Vec::new();
    for &node in wished {
        for &to in graph.row(node).0 {
            if let Some(last) = seen.get_mut(colours[to as usize] as usize) {
                *last = node;
            }
        }
        let free = seen.iter().position(|&last| last != node);
        let colour = free.unwrap_or(seen.len());
        if free.is_none() {
            seen.push(NONE);
        }
        colours[node as usize] = colour as u32;
    }
    colours
}

/// By node its component, and how many there are: the largest is 0, the others in the order in
/// which they are first wished.
fn components(graph: &Graph, wished: &[u32]) -> (Vec<u32>, usize) {
    let mut components = vec![NONE; wished.len()];
    let (mut count, mut largest, mut most) = (0_u32, 0, 0);
    let mut todo = Vec::new();
    for &start in wished {
        if components[start as usize] != NONE {
            continue;
        }
        components[start as usize] = count;
        todo.push(start);
        let mut size = 0;
        while let Some(node) = todo.pop() {
            size += 1;
            for &to in graph.row(node).0 {
                let component = &mut components[to as usize];
                if *component == NONE {
                    *component = count;
                    todo.push(to);
                }
            }
        }
        if size > most {
            (largest, most) = (count, size);
        }
        count += 1;
    }
    if largest != 0 {
        for component in &mut components {
            if *component == largest {
                *component = 0;
            } else if *component == 0 {
                *component = largest;
            }
        }
    }
    (components, count as usize)
}

fn by_row(old_of_new: &[u32], component_of_old: &[u32], count: usize) -> Components {
    if count < 2 {
        return Components::default();
    }
    let component = |old: &u32| component_of_old[*old as usize];
    let of_row: Vec<u32> = old_of_new.iter().map(component).collect();
    let mut starts = vec![0_usize; count];
    for &component in of_row.iter().filter(|&&component| component > 0) {
        starts[component as usize] += 1;
    }
    for at in 1..count {
        starts[at] += starts[at - 1];
    }
    let mut next = starts.clone();
    let mut members = vec![0_u32; starts[count - 1]];
    for (row, &component) in of_row.iter().enumerate() {
        if component > 0 {
            let place = &mut next[component as usize - 1];
            members[*place] = row as u32;
            *place += 1;
        }
    }
    Components {
        of_row,
        members,
        starts,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Layout;
    use crate::graph::GraphBuilder;
    use crate::order::{Order, old_of_new};

    proptest! {
        #[test]
        fn nodes_of_one_colour_share_no_edge_and_components_stay_together(
            (nodes, edges) in (1..40_u32).prop_flat_map(|nodes| {
                let edge = (0..nodes, 0..nodes);
                (Just(nodes), prop::collection::vec(edge, 0..nodes as usize * 2))
            }),
            order in prop::sample::select(
                vec![Order::Given, Order::Degree, Order::ReverseCuthillMcKee]
            ),
        ) {
            let mut builder = GraphBuilder::undirected(nodes as usize).ok().ok_or_else(|| {
                TestCaseError::fail("a small graph")
            })?;
            for &(from, to) in &edges {
                prop_assert!(builder.add(from, to, 1.0).is_ok());
            }
            let graph = builder.build();
            let layout = Layout::new(&graph, &old_of_new(&graph, order));
            let mut seen = vec![None; nodes as usize];
            for (row, &old) in layout.old_of_new.iter().enumerate() {
                seen[old as usize] = Some(row);
            }
            prop_assert!(seen.iter().all(Option::is_some), "a permutation");
            // The parts follow each other, and hold all rows.
            let parts: Vec<_> = layout.colours.iter().flatten().chain([&layout.alone]).collect();
            prop_assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            prop_assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, nodes as usize));
            let colour = |row: usize| layout.colours.iter().position(|[a, b]| {
                a.contains(&row) || b.contains(&row)
            });
            let components = &layout.components;
            let mut sizes = vec![0; components.len()];
            for row in 0..nodes as usize {
                let component = components.of_row(row);
                sizes[component] += 1;
                prop_assert_eq!(
                    component > 0,
                    components.members(component).contains(&(row as u32))
                );
                let old = layout.old_of_new[row];
                let neighbours = graph.row(old).0;
                prop_assert_eq!(neighbours.is_empty(), layout.alone.contains(&row));
                if let Some(colour) = colour(row) {
                    let [largest, _] = &layout.colours[colour];
                    prop_assert_eq!(component == 0, largest.contains(&row));
                }
                for &to in neighbours.iter().filter(|&&to| to != old) {
                    let to = seen[to as usize].unwrap_or(0);
                    prop_assert!(colour(row) != colour(to), "{row} {to}");
                    prop_assert_eq!(component, components.of_row(to));
                }
            }
            prop_assert_eq!(sizes.iter().max(), sizes.first());
            // As many components as a search finds.
            let mut roots: Vec<u32> = (0..nodes).collect();
            for _ in 0..nodes {
                for &(from, to) in &edges {
                    let least = roots[from as usize].min(roots[to as usize]);
                    (roots[from as usize], roots[to as usize]) = (least, least);
                }
            }
            roots.sort_unstable();
            roots.dedup();
            prop_assert_eq!(roots.len(), components.len());
        }
    }
}
