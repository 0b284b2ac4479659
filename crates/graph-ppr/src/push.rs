//! The local method: probability is pushed from the seeds outwards until what is left is small.

use crate::error::PprError;
use crate::real::Real;
use crate::restart::Restart;
use crate::walk::{Matrix, Walk, Weights};

/// What [`forward_push`] takes.
///
/// ```
/// use cornu_graph_ppr::PushOptions;
/// let options = PushOptions { epsilon: 1e-6, ..PushOptions::new(0.5) };
/// assert_eq!((options.alpha, options.refine), (0.5, 128));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PushOptions {
    /// The probability to follow an edge. At least 0, below 1.
    pub alpha: f64,
    /// A node is pushed while its residual is above ε times its strength, in units of the mean
    /// weight of an edge: its degree where weights are equal. A dangling node counts as having one
    /// mean edge.
    pub epsilon: f64,
    /// How many of the best nodes are given, in the end, what the residuals of the nodes that lead to
    /// them owe them: a step of the equation, from below as the rest. It costs one look at each edge
    /// that leads to them, and most of what it changes is which nodes are best: so a little more than the
    /// nodes that are wanted. Nodes whose edges would bring the entries read for this above
    /// 1 / (ε · (1 − α)) are left out.
    pub refine: usize,
}

impl PushOptions {
    /// For an α, with an ε of 2e-5 and the best 128 nodes refined.
    #[must_use]
    pub fn new(alpha: f64) -> Self {
        Self {
            alpha,
            epsilon: 2e-5,
            refine: 128,
        }
    }
}

/// An approximation from below, with what is known of its error.
///
/// ```
/// use cornu_graph_ppr::{Dangling, GraphBuilder, PushOptions, PushSpace, Restart, Walk, forward_push};
/// let mut builder = GraphBuilder::undirected(3)?;
/// builder.add(0, 1, 1.0)?;
/// let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart)?;
/// let options = PushOptions { epsilon: 1e-4, ..PushOptions::new(0.5) };
/// let seed = Restart::new(3, [(0, 1.0)])?;
/// let found = forward_push(&walk, &seed, &options, &mut PushSpace::new())?;
/// // The exact value is 2/3; node 2 was never touched.
/// assert!((found.scores[0].1 - 2.0 / 3.0).abs() <= found.error_bound);
/// assert_eq!(found.scores.len(), 2);
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Push<T> {
    /// The nodes that were reached, each once, with their scores; in the order in which they were
    /// reached, the seeds first.
    pub scores: Vec<(u32, T)>,
    /// The L1 distance from the exact solution: α of the residual that was not pushed, less what
    /// refining added. Not only a bound: without rounding it is the distance itself.
    pub error_bound: f64,
    /// In an undirected graph no exact value is above the score by more than this times the node's
    /// strength in units of the mean weight of an edge: α ε, and more by what dangling nodes return.
    pub score_bound: f64,
    /// By how much, of itself, every score may grow when the residual reaches dangling nodes of a
    /// directed graph and returns to the seeds. 0 in undirected graphs, and where nothing dangles,
    /// as under [`Dangling::SelfLoop`](crate::Dangling).
    pub growth: f64,
    /// How many pushes there were.
    pub pushes: usize,
    /// How many entries of the matrix were read, by pushes and by refining.
    pub entries: usize,
}

/// Memory that [`forward_push`] works in: three numbers a node, kept between calls so that a query
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
    /// The nodes that were given to since they were last looked at, each once.
    now: Vec<u32>,
    next: Vec<u32>,
    /// Places in the list of those that were reached.
    best: Vec<u32>,
}

/// All that an entry of the matrix touches. All 0 until something reaches the node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Node<T> {
    residual: T,
    /// What pushes have kept.
    kept: T,
    /// Bits: [`REACHED`], [`WAITS`].
    state: u32,
}

/// Was looked at, and is in the list of those.
const REACHED: u32 = 1;
/// Is in the list of those to be looked at.
const WAITS: u32 = 2;

impl<T: Real> PushSpace<T> {
    /// Nothing yet; grows to the graph that it is used with.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn clear(&mut self, nodes: usize) {
        for node in self.reached.drain(..) {
            if let Some(place) = self.nodes.get_mut(node as usize) {
                *place = Node::default();
            }
        }
        self.nodes.resize(nodes, Node::default());
    }
}

/// Forward push (Andersen, Chung and Lang 2006), in rounds.
///
/// A push of node u keeps 1 − α of u's residual as score and gives α of it to the nodes that u
/// leads to. A round looks once at each node that was given something since the last one. In the
/// end 1 − α of what was not pushed counts as well, where it stands: the rest, α of the residual,
/// is the L1 error, which [`Push::error_bound`] returns. Scores and it together are always 1. In an
/// undirected graph each score has a bound of its own, [`Push::score_bound`], since
/// strength_u · ppr(u)_v = strength_v · ppr(v)_u. Mass that reaches a dangling node under
/// [`Dangling::Restart`](crate::Dangling) is put aside and shared out at the end: what returns to the
/// seeds spreads as the whole does. A residual below the smallest normal `f32` is left where it is,
/// whatever ε says, and may exceed the bound of a score by as little.
///
/// [`PushOptions::refine`] then gives the best nodes α (1 − α) Σ_u P_uv · residual_u more, which is
/// what pushing all that is left once more would keep there. It is much cheaper, and more is gained
/// than by a smaller ε where the ranking is what counts.
///
/// Time: at most 1 / (ε · (1 − α)) entries where weights are equal, and as many for refining,
/// whatever the size of the graph. Deterministic.
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
    let PushOptions { alpha, epsilon, .. } = *options;
    if !(0.0..1.0).contains(&alpha) {
        return Err(PprError::Alpha { alpha });
    }
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return Err(PprError::Epsilon { epsilon });
    }
    restart.check(walk.nodes())?;
    let matrix = walk.outgoing();
    let seeds = restart.entries().iter();
    let seeds = seeds.map(|&(node, weight)| (walk.inside(node), weight));
    let tally = push_all(walk, seeds, (alpha, epsilon), usize::MAX, space);
    let (mut left, mut aside) = (0.0, tally.aside);
    let loose = !walk.loose.is_empty();
    let mut scores = Vec::with_capacity(space.reached.len());
    for &inside in &space.reached {
        let row = inside as usize;
        let place = &mut space.nodes[row];
        let residual = place.residual.wide();
        match loose && matrix.starts[row] == matrix.starts[row + 1] {
            true => aside += alpha * residual,
            false => left += alpha * residual,
        }
        let score = place.kept.wide() + (1.0 - alpha) * residual;
        scores.push((inside, T::of(score)));
        // By the strength, as it is taken from here.
        place.residual = T::of(residual / walk.strength[row].wide());
    }
    let (given, read) = refine(walk, options, space, &mut scores);
    let share = 1.0 / (1.0 - aside);
    // A unit keeps 1 − α where it arrives, so at most α of it can dangle, where it was given to the
    // best nodes as well; in an undirected graph nothing arrives where nothing leaves.
    let most = match loose && !walk.is_undirected() {
        true => 1.0 / (1.0 - aside - alpha * left),
        false => share,
    };
    let left = (left - given).max(0.0);
    for (node, score) in &mut scores {
        (*node, *score) = (walk.outside(*node), T::of(score.wide() * share));
    }
    Ok(Push {
        scores,
        error_bound: left * share,
        score_bound: alpha * options.epsilon * most,
        growth: most / share - 1.0,
        pushes: tally.pushes,
        entries: tally.entries + read,
    })
}

/// Gives the best nodes, of rows with their scores, what residuals owe them. Residuals are divided by
/// strengths. Returns how much that was, and the entries read.
fn refine<T: Real>(
    walk: &Walk<T>,
    options: &PushOptions,
    space: &mut PushSpace<T>,
    scores: &mut [(u32, T)],
) -> (f64, usize) {
    let PushSpace { nodes, best, .. } = space;
    let descending = |&a: &u32, &b: &u32| {
        let ((a_row, a), (b_row, b)) = (scores[a as usize], scores[b as usize]);
        b.wide().total_cmp(&a.wide()).then(a_row.cmp(&b_row))
    };
    best.clear();
    best.extend(0..scores.len() as u32);
    if options.refine < best.len() {
        best.select_nth_unstable_by(options.refine, descending);
        best.truncate(options.refine);
    }
    best.sort_unstable_by(descending);
    let PushOptions { alpha, epsilon, .. } = *options;
    let most = (1.0 / (epsilon * (1.0 - alpha))) as usize;
    let (matrix, mut given, mut read) = (&walk.incoming, 0.0, 0);
    let owed = |at: usize| nodes[matrix.columns[at] as usize].residual.wide();
    for &at in best.iter() {
        let (row, score) = &mut scores[at as usize];
        let entries = matrix.starts[*row as usize]..matrix.starts[*row as usize + 1];
        if read + entries.len() > most {
            continue;
        }
        read += entries.len();
        let sum: f64 = match &matrix.weights {
            Weights::Ones => entries.map(owed).sum(),
            Weights::Single(w) => entries.map(|at| f64::from(w[at]) * owed(at)).sum(),
            Weights::Double(w) => entries.map(|at| w[at] * owed(at)).sum(),
        };
        let more = alpha * (1.0 - alpha) * sum;
        *score = T::of(score.wide() + more);
        given += more;
    }
    (given, read)
}

/// A start for an exact solver: what push finds with at most a fifth of the entries, as rows with
/// their scores. Where weights differ ε would allow far more, so it stops behind the round in which
/// it has read so many. The precision is that of `f32`.
pub(crate) fn near<T: Real>(
    walk: &Walk<T>,
    seeds: impl Iterator<Item = (u32, f64)>,
    alpha: f64,
    space: &mut PushSpace<f32>,
) -> impl Iterator<Item = (usize, f64)> {
    let epsilon = 5.0 / ((1.0 - alpha) * walk.entries().max(1) as f64);
    let most = walk.entries() / 5;
    push_all(walk, seeds, (alpha, epsilon), most, space);
    let PushSpace { nodes, reached, .. } = space;
    reached.iter().map(move |&row| {
        let Node { residual, kept, .. } = nodes[row as usize];
        let score = kept.wide() + (1.0 - alpha) * residual.wide();
        (row as usize, score)
    })
}

/// Pushes until no residual is above ε, or `most` entries have been read. Seeds are rows.
fn push_all<T: Real, S: Real>(
    walk: &Walk<T>,
    seeds: impl Iterator<Item = (u32, f64)>,
    (alpha, epsilon): (f64, f64),
    most: usize,
    space: &mut PushSpace<S>,
) -> Tally {
    let (matrix, epsilon) = (walk.outgoing(), epsilon / walk.unit());
    space.clear(walk.nodes());
    for (row, weight) in seeds {
        space.nodes[row as usize] = Node {
            residual: S::of(weight),
            kept: S::default(),
            state: WAITS,
        };
        space.now.push(row);
    }
    match &matrix.weights {
        Weights::Ones => run(walk, matrix, (alpha, epsilon, most), space, |_| 1.0),
        Weights::Single(weights) => run(walk, matrix, (alpha, epsilon, most), space, |at| {
            f64::from(weights[at])
        }),
        Weights::Double(weights) => run(walk, matrix, (alpha, epsilon, most), space, |at| {
            weights[at]
        }),
    }
}

#[derive(Default)]
struct Tally {
    pushes: usize,
    entries: usize,
    /// Mass that returned to the seeds through dangling nodes.
    aside: f64,
}

fn run<T: Real, S: Real>(
    walk: &Walk<T>,
    matrix: &Matrix,
    (alpha, epsilon, most): (f64, f64, usize),
    space: &mut PushSpace<S>,
    weight: impl Fn(usize) -> f64,
) -> Tally {
    let mut tally = Tally::default();
    let PushSpace {
        nodes,
        reached,
        now,
        next,
        ..
    } = space;
    while !now.is_empty() {
        if tally.entries > most {
            // What is left counts where it stands.
            for &node in now.iter() {
                let place = &mut nodes[node as usize];
                if place.state & REACHED == 0 {
                    reached.push(node);
                }
                place.state = REACHED;
            }
            now.clear();
            break;
        }
        let mut waiting = 0;
        for &node in now.iter() {
            let row = node as usize;
            let place = &mut nodes[row];
            if place.state & REACHED == 0 {
                reached.push(node);
            }
            place.state = REACHED;
            let residual = place.residual.wide();
            let entries = matrix.starts[row]..matrix.starts[row + 1];
            let strength = walk.strength_of(row, entries.len());
            // Below the smallest normal number rounding may keep a residual as it is, for ever.
            let least = f64::from(f32::MIN_POSITIVE);
            if residual <= (epsilon * strength).max(least) {
                continue;
            }
            place.residual = S::default();
            place.kept = S::of(place.kept.wide() + (1.0 - alpha) * residual);
            tally.pushes += 1;
            tally.entries += entries.len();
            if entries.is_empty() {
                tally.aside += alpha * residual;
                continue;
            }
            let each = alpha * residual / strength;
            let room = waiting + entries.len();
            if next.len() < room {
                next.resize(room * 2, 0);
            }
            // Written in any case and kept by a sum, not by a jump that nobody can predict.
            for at in entries {
                let to = matrix.columns[at];
                let place = &mut nodes[to as usize];
                place.residual = S::of(place.residual.wide() + each * weight(at));
                next[waiting] = to;
                waiting += usize::from(place.state & WAITS == 0);
                place.state |= WAITS;
            }
        }
        now.clear();
        now.extend_from_slice(&next[..waiting]);
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Dangling, GraphBuilder};

    /// Where the seeds' component is far weaker than the others, ε is no bound on the work.
    #[test]
    fn a_start_ends_behind_the_round_in_which_it_read_enough() {
        const HALF: u32 = 300;
        let mut builder = GraphBuilder::undirected(2 * HALF as usize).unwrap();
        for node in 0..HALF {
            for step in [1, 7, 31] {
                let to = (node * 5 + step) % HALF;
                if to != node {
                    builder.add(node, to, 1e-9).unwrap();
                    builder.add(HALF + node, HALF + to, 1.0).unwrap();
                }
            }
        }
        let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart).unwrap();
        let seed = [(walk.inside(0), 1.0)];
        let options = (0.99, 500.0 / walk.entries() as f64);
        let read = |most| {
            let mut space = PushSpace::<f32>::new();
            let tally = push_all(&walk, seed.into_iter(), options, most, &mut space);
            let left: f64 = space.nodes.iter().map(|node| node.residual.wide()).sum();
            let kept: f64 = space.nodes.iter().map(|node| node.kept.wide()).sum();
            (tally.entries, kept + left)
        };
        let most = walk.entries() / 5;
        let (entries, mass) = read(most);
        // A round reads each entry once at most.
        assert!(
            entries > most && entries <= most + walk.entries(),
            "{entries}"
        );
        assert!((mass - 1.0).abs() < 1e-5, "nothing is lost: {mass}");
        assert!(read(usize::MAX).0 > 10 * walk.entries());
    }
}
