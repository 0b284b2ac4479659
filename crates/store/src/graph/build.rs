//! Building a graph: in parallel, and the same whatever the number of threads.
//!
//! Nodes come in batches. Each node of a batch looks for its neighbours in the graph as it was
//! before the batch, all at the same time; then their links are written, and the nodes that they
//! link to link back. What is written is sorted, and each list is a function of what stood there
//! and of the batch. A batch is a small part of what is there, so the nodes of one batch, which do
//! not see each other, are few beside those that they see.

use rayon::prelude::*;

use super::Shape;
use super::net::{NONE, Near, Net, insertion_order, place_of, upper_places};
use crate::codes::encode;
use crate::resident::{Damaged, Rows};

/// A batch is this part of what is there. Against batches of one node, a 64th costs half a point of
/// recall where breadths are small (6,119 passages of 2wiki-500, ef 16 to 64), an eighth up to two points.
const SHARE: usize = 64;

/// The largest batch.
const MAX_BATCH: usize = 1024;

/// Nodes that one is compared with at a time when links are chosen.
const LOOK: usize = 4;

/// A graph in memory.
pub(crate) struct Built {
    pub(crate) shape: Shape,
    pub(crate) scales: Vec<f32>,
    pub(crate) codes: Vec<i8>,
    base: Vec<u32>,
    upper: Vec<u32>,
    upper_at: Vec<u32>,
    /// The node that was put in first, once it was.
    entry: Option<u32>,
}

/// A link of a node in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    layer: u32,
    from: u32,
    to: u32,
}

/// The graph of some rows, and what is measured on it before its last `held` nodes are put in:
/// these are told. O(rows · log rows · build_ef · links) comparisons, in parallel; D + 8 · links +
/// 12 bytes a row.
pub(crate) fn build<T>(
    shape: Shape,
    rows: &Rows<'_>,
    held: usize,
    measure: impl FnOnce(Net<'_>, &[u32]) -> Result<T, Damaged>,
) -> Result<(Built, T), Damaged> {
    let mut codes = Vec::with_capacity(rows.len().saturating_mul(shape.dimension));
    let mut scales = Vec::with_capacity(rows.len());
    let mut code = vec![0; shape.dimension];
    for row in 0..rows.len() {
        let (_, values) = rows.get(row)?;
        scales.push(encode(values, &mut code).0);
        codes.extend_from_slice(&code);
    }
    let upper_at = upper_places(scales.len(), shape.links);
    let blocks = upper_at.last().copied().unwrap_or(0) as usize;
    let mut built = Built {
        shape,
        base: vec![NONE; 2 * shape.links * scales.len()],
        upper: vec![NONE; shape.links * blocks],
        scales,
        codes,
        upper_at,
        entry: None,
    };
    let order = insertion_order(&built.upper_at);
    let (first, last) = order.split_at(order.len().saturating_sub(held));
    built.insert_all(first, 0);
    let measured = measure(built.net(), last)?;
    built.insert_all(last, first.len());
    Ok((built, measured))
}

impl Built {
    /// Puts nodes in, batch by batch, behind as many others.
    fn insert_all(&mut self, mut nodes: &[u32], mut done: usize) {
        while let Some(&next) = nodes.first() {
            let size = (done / SHARE).clamp(1, MAX_BATCH).min(nodes.len());
            let (batch, rest) = nodes.split_at(size);
            self.insert(batch);
            done += size;
            nodes = rest;
            self.entry = self.entry.or(Some(next));
        }
    }

    pub(crate) fn net(&self) -> Net<'_> {
        Net {
            shape: self.shape,
            scales: &self.scales,
            codes: &self.codes,
            base: &self.base,
            upper: &self.upper,
            upper_at: &self.upper_at,
            entry: self.entry,
        }
    }

    fn insert(&mut self, batch: &[u32]) {
        let net = self.net();
        let forward: Vec<Vec<Link>> = batch
            .par_iter()
            .map(|&node| neighbours(net, node))
            .collect();
        let mut back: Vec<Link> = forward.iter().flatten().map(|link| link.back()).collect();
        back.sort_unstable();
        for links in &forward {
            for of_layer in links.chunk_by(|a, b| a.layer == b.layer) {
                self.write(of_layer);
            }
        }
        let groups: Vec<&[Link]> = back
            .chunk_by(|a, b| (a.layer, a.from) == (b.layer, b.from))
            .collect();
        let net = self.net();
        let lists: Vec<Vec<Link>> = groups.par_iter().map(|new| linked_back(net, new)).collect();
        for links in &lists {
            self.write(links);
        }
    }

    /// Puts the links of one node in one layer in place of what stood there.
    fn write(&mut self, links: &[Link]) {
        let Some(Link { layer, from, .. }) = links.first().copied() else {
            return;
        };
        let at = place_of(self.shape, &self.upper_at, from, layer);
        let side = if layer == 0 {
            &mut self.base
        } else {
            &mut self.upper
        };
        let Some(list) = at.and_then(|at| side.get_mut(at)) else {
            return;
        };
        list.fill(NONE);
        for (to, link) in list.iter_mut().zip(links) {
            *to = link.to;
        }
    }
}

impl Link {
    fn back(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
            ..self
        }
    }
}

/// What a new node links to, in each of its layers.
fn neighbours(net: Net<'_>, node: u32) -> Vec<Link> {
    let (Some(query), Some(entry)) = (net.query_of(node), net.entry) else {
        return Vec::new();
    };
    // The entry has the most layers, so every node begins below it or beside it.
    let top = net.level(node).min(net.level(entry));
    let mut from = net.descend(&query, top).found;
    let mut links = Vec::new();
    for layer in (0..=top).rev() {
        from = net
            .layer(&query, &from, net.shape.build_ef, layer, |_| true)
            .found;
        let chosen = choose(net, &from, net.shape.links);
        links.extend(chosen.into_iter().map(|to| Link {
            layer,
            from: node,
            to,
        }));
    }
    links
}

/// The list of a node that others, `new`, have linked to: the old links and the new ones where
/// there is room, or a choice among them.
fn linked_back(net: Net<'_>, new: &[Link]) -> Vec<Link> {
    let Some(Link { layer, from, .. }) = new.first().copied() else {
        return Vec::new();
    };
    let old = net.links(from, layer);
    let room = old.len();
    let old = old.iter().copied().take_while(|&to| to != NONE);
    let mut all: Vec<u32> = old.chain(new.iter().map(|link| link.to)).collect();
    if all.len() > room
        && let Some(query) = net.query_of(from)
    {
        let mut scores = Vec::new();
        query.scores_at(net.codes, net.scales, &all, &mut scores);
        let near = all.iter().zip(&scores);
        let mut near: Vec<Near> = near.map(|(&node, &score)| Near { score, node }).collect();
        near.sort_unstable_by(|a, b| b.cmp(a));
        all = choose(net, &near, room);
    }
    all.into_iter().map(|to| Link { layer, from, to }).collect()
}

/// Of nodes by nearness those that are nearer to the centre than to any that was taken before
/// (algorithm 4 of the paper): links in all directions rather than into one crowd.
fn choose(net: Net<'_>, near: &[Near], count: usize) -> Vec<u32> {
    let mut taken: Vec<u32> = Vec::with_capacity(count);
    let mut scores = Vec::new();
    for one in near {
        if taken.len() == count {
            break;
        }
        let Some(query) = net.query_of(one.node) else {
            continue;
        };
        // Most are nearer to one of the first, and need no look at the others.
        let apart = taken.chunks(LOOK).all(|some| {
            query.scores_at(net.codes, net.scales, some, &mut scores);
            scores.iter().all(|&score| score < one.score)
        });
        if apart {
            taken.push(one.node);
        }
    }
    taken
}
