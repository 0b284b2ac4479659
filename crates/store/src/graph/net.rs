//! The graph as slices, and the walk through it.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Shape;
use crate::codes::CodedQuery;
use crate::kernel::prefetch;

/// Ends a list of links.
pub(super) const NONE: u32 = u32::MAX;

/// Layers above the lowest; with 2³² nodes and 4 links there are 16.
const MAX_LEVEL: u32 = 16;

/// Nodes, what they are compared by, and their links.
#[derive(Clone, Copy)]
pub(crate) struct Net<'g> {
    pub(crate) shape: Shape,
    pub(crate) scales: &'g [f32],
    /// `dimension` a node.
    pub(crate) codes: &'g [i8],
    /// `2 · links` a node, ended by [`NONE`] where there are fewer.
    pub(crate) base: &'g [u32],
    /// `links` a node and layer.
    pub(crate) upper: &'g [u32],
    pub(crate) upper_at: &'g [u32],
    /// Where each search begins.
    pub(crate) entry: Option<u32>,
}

/// A node and how near it is. The order is total: the nearer one is greater, and of two that are
/// equally near the one with the smaller number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub(crate) score: f32,
    pub(crate) node: u32,
}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = self.score.total_cmp(&other.score);
        scores.then_with(|| other.node.cmp(&self.node))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Near {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Near {}

/// What a walk found, nearest first, and how many rows it compared.
pub(crate) struct Walk {
    pub(crate) found: Vec<Near>,
    pub(crate) compared: usize,
}

impl Net<'_> {
    /// Up to `ef` of the nearest nodes that are wanted. The walk goes through all nodes, wanted or
    /// not, until it holds `ef` wanted ones and none nearer is in sight: so it finds as many as are
    /// wanted wherever they lie, and takes the longer the fewer they are.
    pub(crate) fn search(
        &self,
        query: &CodedQuery,
        ef: usize,
        wanted: impl Fn(u32) -> bool,
    ) -> Walk {
        let mut walk = self.descend(query, 0);
        let lowest = self.layer(query, &walk.found, ef, 0, wanted);
        walk.compared += lowest.compared;
        walk.found = lowest.found;
        walk
    }

    /// From the entry down to the layer above `to`, one nearest node in each.
    pub(super) fn descend(&self, query: &CodedQuery, to: u32) -> Walk {
        let mut walk = Walk {
            found: Vec::new(),
            compared: 0,
        };
        let Some(entry) = self.entry else {
            return walk;
        };
        let mut scores = Vec::new();
        query.scores_at(self.codes, self.scales, &[entry], &mut scores);
        walk.compared += 1;
        walk.found
            .extend(scores.first().map(|&score| Near { score, node: entry }));
        for layer in (to + 1..=self.level(entry)).rev() {
            let next = self.layer(query, &walk.found, 1, layer, |_| true);
            walk.compared += next.compared;
            walk.found = next.found;
        }
        walk
    }

    /// The walk in one layer, from nodes whose score is known.
    pub(super) fn layer(
        &self,
        query: &CodedQuery,
        from: &[Near],
        ef: usize,
        layer: u32,
        wanted: impl Fn(u32) -> bool,
    ) -> Walk {
        let mut met = vec![0_u64; self.scales.len().div_ceil(64)];
        let mut meet = |node: u32| {
            let word = met.get_mut(node as usize / 64)?;
            let bit = 1 << (node % 64);
            let new = *word & bit == 0;
            *word |= bit;
            new.then_some(())
        };
        let mut ahead = BinaryHeap::new();
        let mut found = BinaryHeap::with_capacity(ef.saturating_add(1).min(4096));
        for &near in from {
            if meet(near.node).is_some() {
                ahead.push(near);
                if wanted(near.node) {
                    found.push(Reverse(near));
                }
            }
        }
        let (mut new, mut scores) = (Vec::new(), Vec::new());
        let mut compared = 0;
        while let Some(here) = ahead.pop() {
            if found.len() >= ef && found.peek().is_some_and(|Reverse(last)| here < *last) {
                break;
            }
            new.clear();
            let links = self.links(here.node, layer).iter();
            new.extend(
                links
                    .copied()
                    .take_while(|&to| to != NONE)
                    .filter(|&to| meet(to).is_some()),
            );
            query.scores_at(self.codes, self.scales, &new, &mut scores);
            compared += new.len();
            for (&node, &score) in new.iter().zip(&scores) {
                let near = Near { score, node };
                let full = found.len() >= ef;
                if full && found.peek().is_some_and(|Reverse(last)| near < *last) {
                    continue;
                }
                ahead.push(near);
                // It may be the next whose links are followed.
                prefetch(self.links(node, layer));
                if wanted(node) {
                    found.push(Reverse(near));
                    if full {
                        found.pop();
                    }
                }
            }
        }
        let mut found: Vec<Near> = found.into_iter().map(|Reverse(near)| near).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        Walk { found, compared }
    }

    /// The links of a node in a layer; none where it has none.
    pub(super) fn links(&self, node: u32, layer: u32) -> &[u32] {
        place_of(self.shape, self.upper_at, node, layer)
            .and_then(|at| match layer {
                0 => self.base.get(at),
                _ => self.upper.get(at),
            })
            .unwrap_or_default()
    }

    /// The code of a node, as a query.
    pub(crate) fn query_of(&self, node: u32) -> Option<CodedQuery> {
        let (scale, code) = self.row(node)?;
        Some(CodedQuery::of_code(code, scale))
    }

    /// The scale of a node and its code.
    pub(crate) fn row(&self, node: u32) -> Option<(f32, &[i8])> {
        let start = node as usize * self.shape.dimension;
        let code = self.codes.get(start..start + self.shape.dimension)?;
        Some((*self.scales.get(node as usize)?, code))
    }

    pub(super) fn level(&self, node: u32) -> u32 {
        level_in(self.upper_at, node)
    }
}

/// Where the links of a node in a layer stand among those of the lowest layer, or of the upper ones.
pub(super) fn place_of(
    shape: Shape,
    upper_at: &[u32],
    node: u32,
    layer: u32,
) -> Option<std::ops::Range<usize>> {
    let node_at = node as usize;
    let Some(above) = layer.checked_sub(1) else {
        let width = 2 * shape.links;
        return Some(node_at * width..(node_at + 1) * width);
    };
    let block = upper_at.get(node_at)?.checked_add(above)?;
    let inside = block < *upper_at.get(node_at + 1)?;
    let start = block as usize * shape.links;
    inside.then_some(start..start + shape.links)
}

fn level_in(upper_at: &[u32], node: u32) -> u32 {
    let at = |place: usize| upper_at.get(place).copied().unwrap_or(0);
    at(node as usize + 1).saturating_sub(at(node as usize))
}

/// For each node where its upper links begin. A node stands in the layer above with probability
/// 1 / links (the largest power of two that is no more): a function of its number.
pub(super) fn upper_places(nodes: usize, links: usize) -> Vec<u32> {
    let bits = links.max(2).ilog2();
    let mut blocks = 0;
    let mut places = Vec::with_capacity(nodes + 1);
    places.push(0);
    for node in 0..nodes {
        blocks += (scatter(node as u64).trailing_zeros() / bits).min(MAX_LEVEL);
        places.push(blocks);
    }
    places
}

/// The order in which nodes are put in: those of the most layers first, and scattered, so that the
/// rows of one document do not come together.
pub(super) fn insertion_order(upper_at: &[u32]) -> Vec<u32> {
    let nodes = u32::try_from(upper_at.len().saturating_sub(1)).unwrap_or(NONE);
    let mut order: Vec<u32> = (0..nodes).collect();
    order.sort_unstable_by_key(|&node| place_in_order(upper_at, node));
    order
}

/// The first in that order.
pub(super) fn entry(upper_at: &[u32]) -> Option<u32> {
    let nodes = u32::try_from(upper_at.len().saturating_sub(1)).unwrap_or(NONE);
    (0..nodes).min_by_key(|&node| place_in_order(upper_at, node))
}

fn place_in_order(upper_at: &[u32], node: u32) -> impl Ord + use<> {
    let other_number = u64::from(node) | 1 << 40;
    (
        Reverse(level_in(upper_at, node)),
        scatter(other_number),
        node,
    )
}

/// splitmix64, of a number.
pub(super) fn scatter(number: u64) -> u64 {
    let z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
