//! The local method: probability is pushed from the seeds outwards until what is left is small.

use std::collections::VecDeque;

use crate::error::PprError;
use crate::real::Real;
use crate::restart::Restart;
use crate::walk::{Matrix, Walk, Weights};

/// What [`forward_push`] takes.
///
/// ```
/// use cornu_graph_ppr::PushOptions;
/// assert_eq!(PushOptions { alpha: 0.5, epsilon: 1e-6 }.epsilon, 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PushOptions {
    /// The probability to follow an edge. At least 0, below 1.
    pub alpha: f64,
    /// A node is pushed while its residual is above ε times its strength, in units of the mean
    /// weight of an edge: its degree where weights are equal. A dangling node counts as having one
    /// mean edge.
    pub epsilon: f64,
}

/// An approximation from below, with what is known of its error.
///
/// ```
/// use cornu_graph_ppr::{Dangling, GraphBuilder, PushOptions, PushSpace, Restart, Walk, forward_push};
/// let mut builder = GraphBuilder::undirected(3)?;
/// builder.add(0, 1, 1.0)?;
/// let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart)?;
/// let options = PushOptions { alpha: 0.5, epsilon: 1e-4 };
/// let seed = Restart::new(3, [(0, 1.0)])?;
/// let found = forward_push(&walk, &seed, &options, &mut PushSpace::new())?;
/// // The exact value is 2/3; node 2 was never touched.
/// assert!((found.scores[0].1 - 2.0 / 3.0).abs() <= found.error_bound);
/// assert_eq!(found.scores.len(), 2);
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Push<T> {
    /// The nodes that were pushed, each once, with their scores; in the order in which they were
    /// reached, the seeds first.
    pub scores: Vec<(u32, T)>,
    /// The L1 distance from the exact solution: the residual that was not pushed. Not only a
    /// bound: without rounding it is the distance itself.
    pub error_bound: f64,
    /// In an undirected graph no exact value is above score · (1 + [`Push::growth`]) + this times
    /// the node's strength in units of the mean weight of an edge (a node without edges counts as
    /// having one): ε, and more by what dangling nodes return.
    pub score_bound: f64,
    /// By how much, of itself, every score may grow when the residual reaches dangling nodes and
    /// returns to the seeds. 0 where nothing dangles, as under
    /// [`Dangling::SelfLoop`](crate::Dangling); else at most α · residual / (what is kept).
    pub growth: f64,
    /// How many pushes there were.
    pub pushes: usize,
    /// How many entries of the matrix were read.
    pub entries: usize,
}

/// Memory that [`forward_push`] works in: two numbers a node, kept between calls so that a query
/// costs what it touches and not the size of the graph. One for each thread.
///
/// ```
/// use cornu_graph_ppr::PushSpace;
/// let space = PushSpace::<f32>::new();
/// assert_eq!(space, PushSpace::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PushSpace<T> {
    nodes: Vec<Node<T>>,
    reached: Vec<u32>,
    queue: VecDeque<u32>,
}

/// All 0 until something reaches the node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Node<T> {
    score: T,
    /// Above the node's threshold exactly while the node is queued.
    residual: T,
}

impl<T: Real> PushSpace<T> {
    /// Nothing yet; grows to the graph that it is used with.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn clear(&mut self, nodes: usize) {
        for node in self.reached.drain(..) {
            if let Some(node) = self.nodes.get_mut(node as usize) {
                *node = Node::default();
            }
        }
        self.queue.clear();
        self.nodes.resize(nodes, Node::default());
    }

    /// Adds to a node's residual, and queues it once it is worth a push.
    #[inline(always)]
    fn give(&mut self, node: u32, mass: f64, threshold: T) {
        let place = &mut self.nodes[node as usize];
        let before = place.residual;
        let after = T::of(before.wide() + mass);
        place.residual = after;
        if before == T::default() && place.score == T::default() {
            self.reached.push(node);
        }
        if before <= threshold && after > threshold {
            self.queue.push_back(node);
        }
    }
}

/// Forward push (Andersen, Chung and Lang 2006), first in first out.
///
/// A push of node u keeps 1 − α of u's residual as score and gives α of it to the nodes that u
/// leads to. Scores and residuals together are always 1, and p = score + Σ_u residual_u · ppr(u),
/// so what is left as residual is the L1 error, which [`Push::error_bound`] returns. In an
/// undirected graph each score has a bound of its own, [`Push::score_bound`], since
/// strength_u · ppr(u)_v = strength_v · ppr(v)_u while mass stays where it dangles; what returns
/// from there multiplies all scores alike, [`Push::growth`].
/// Mass that reaches a dangling node under [`Dangling::Restart`](crate::Dangling) is put aside and
/// shared out at the end: what returns to the seeds spreads as the whole does.
///
/// Time: at most 1 / (ε · (1 − α)) entries where weights are equal, whatever the size of the
/// graph. Deterministic.
///
/// # Errors
/// [`PprError::Alpha`], [`PprError::Epsilon`], and [`PprError::Size`] for a restart vector of
/// another graph.
pub fn forward_push<T: Real>(
    walk: &Walk<T>,
    restart: &Restart,
    options: &PushOptions,
    space: &mut PushSpace<T>,
) -> Result<Push<T>, PprError> {
    let PushOptions { alpha, epsilon } = *options;
    if !(0.0..1.0).contains(&alpha) {
        return Err(PprError::Alpha { alpha });
    }
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return Err(PprError::Epsilon { epsilon });
    }
    restart.check(walk.nodes())?;
    space.clear(walk.nodes());
    let matrix = walk.outgoing();
    let epsilon = epsilon / walk.unit();
    for &(node, weight) in restart.entries() {
        let node = walk.inside(node);
        let threshold = T::of(epsilon * walk.strength[node as usize].wide());
        space.give(node, weight, threshold);
    }
    let mut tally = Tally::default();
    match &matrix.weights {
        Weights::Ones => run(walk, matrix, alpha, epsilon, space, &mut tally, |_| 1.0),
        Weights::Single(weights) => {
            let weight = |at: usize| f64::from(weights[at]);
            run(walk, matrix, alpha, epsilon, space, &mut tally, weight);
        }
        Weights::Double(weights) => {
            run(walk, matrix, alpha, epsilon, space, &mut tally, |at| {
                weights[at]
            });
        }
    }
    let share = 1.0 / (1.0 - tally.aside);
    let mut scores = Vec::with_capacity(space.reached.len());
    let mut left = 0.0;
    for &inside in &space.reached {
        let node = &space.nodes[inside as usize];
        left += node.residual.wide();
        if node.score > T::default() {
            let score = T::of(node.score.wide() * share);
            scores.push((walk.outside(inside), score));
        }
    }
    // A unit of residual keeps 1 − α where it stands, so at most α of it can dangle.
    let dangling = !walk.loose.is_empty();
    let most = if dangling {
        1.0 / (1.0 - tally.aside - alpha * left)
    } else {
        share
    };
    Ok(Push {
        scores,
        error_bound: left * share,
        score_bound: options.epsilon * most,
        growth: most / share - 1.0,
        pushes: tally.pushes,
        entries: tally.entries,
    })
}

#[derive(Default)]
struct Tally {
    pushes: usize,
    entries: usize,
    /// Mass that returned to the seeds through dangling nodes.
    aside: f64,
}

fn run<T: Real>(
    walk: &Walk<T>,
    matrix: &Matrix,
    alpha: f64,
    epsilon: f64,
    space: &mut PushSpace<T>,
    tally: &mut Tally,
    weight: impl Fn(usize) -> f64,
) {
    while let Some(node) = space.queue.pop_front() {
        let place = &mut space.nodes[node as usize];
        let residual = place.residual.wide();
        place.residual = T::default();
        place.score = T::of(place.score.wide() + (1.0 - alpha) * residual);
        tally.pushes += 1;
        let range = matrix.starts[node as usize]..matrix.starts[node as usize + 1];
        tally.entries += range.len();
        if range.is_empty() {
            tally.aside += alpha * residual;
            continue;
        }
        let each = alpha * residual * walk.inverse[node as usize].wide();
        for at in range {
            let to = matrix.columns[at];
            let threshold = T::of(epsilon * walk.strength[to as usize].wide());
            space.give(to, each * weight(at), threshold);
        }
    }
}
