//! Exact solvers: p = α p P + (1 − α) r, to a stated distance.

use rayon::prelude::*;

use crate::error::PprError;
use crate::kernel::Seed;
use crate::power::power;
use crate::real::Real;
use crate::relax::relax;
use crate::restart::Restart;
use crate::walk::Walk;

/// The most multiplications by the matrix that are made unless more are asked for. What theory says
/// is enough grows as 1 / (1 − α), to years of work.
pub const MOST_ITERATIONS: usize = 1 << 18;

/// How many restart vectors share one pass over the matrix.
const LANES: usize = 8;

/// What the solvers take.
///
/// α is required; the rest has defaults: a tolerance of 1e-10 (pass 1e-6 with `f32`), as many
/// iterations as theory says are enough, and [`Method::Auto`].
///
/// ```
/// use cornu_graph_ppr::{Method, SolveOptions};
/// let options = SolveOptions { tolerance: 1e-6, ..SolveOptions::new(0.5) };
/// assert_eq!((options.alpha, options.method), (0.5, Method::Auto));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveOptions {
    /// The probability to follow an edge; 1 − α returns to the seeds. At least 0, below 1.
    pub alpha: f64,
    /// The L1 residual ‖α p P + (1 − α) r − p‖₁ at which to stop. The result is then within
    /// tolerance · α / (1 − α) of the solution, in L1. Not scaled by the number of nodes.
    /// Rounding keeps the residual from falling surely below some five times 2⁻²³ / (1 − α) with
    /// `f32`, 2⁻⁵² / (1 − α) with `f64`: a smaller tolerance may end at the cap, not converged.
    pub tolerance: f64,
    /// The most multiplications by the matrix. `None`: ln(tolerance / 2) / ln α, at which power
    /// iteration has converged in exact arithmetic, and 20 more; but no more than
    /// [`MOST_ITERATIONS`], which is enough for an α of up to 0.9999. Beyond that, ask for more.
    pub max_iterations: Option<usize>,
    /// How to solve.
    pub method: Method,
    /// Entries of the matrix from which one pass is shared out among rayon's threads. `None`: from
    /// where that paid on two cores, 2²¹ for [`Method::Relaxation`], whose rows have to wait for
    /// those of the colour before, and 2¹⁶ for [`Method::Power`]. The result is the same bits.
    pub parallel_from: Option<usize>,
}

impl SolveOptions {
    /// The defaults, for an α.
    #[must_use]
    pub fn new(alpha: f64) -> Self {
        Self {
            alpha,
            tolerance: 1e-10,
            max_iterations: None,
            method: Method::Auto,
            parallel_from: None,
        }
    }

    fn check(&self) -> Result<usize, PprError> {
        let (alpha, tolerance) = (self.alpha, self.tolerance);
        if !(0.0..1.0).contains(&alpha) {
            return Err(PprError::Alpha { alpha });
        }
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            return Err(PprError::Tolerance { tolerance });
        }
        match self.max_iterations {
            Some(0) => Err(PprError::NoIterations),
            Some(most) => Ok(most),
            None => {
                let enough = (enough(alpha, tolerance) as usize).saturating_add(20);
                Ok(enough.min(MOST_ITERATIONS))
            }
        }
    }
}

/// Steps after which 2 α^k ≤ tolerance: two distributions are at most 2 apart, and each step
/// brings the iterate nearer by α.
fn enough(alpha: f64, tolerance: f64) -> f64 {
    match alpha > 0.0 {
        true => ((tolerance / 2.0).ln() / alpha.ln()).max(0.0).ceil(),
        false => 0.0,
    }
}

/// How to solve. Both come to the same result, within the tolerance.
///
/// ```
/// use cornu_graph_ppr::{Dangling, GraphBuilder, Method, PprError, Restart, SolveOptions, Walk, solve};
/// let mut builder = GraphBuilder::directed(2)?;
/// builder.add(0, 1, 1.0)?;
/// let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart)?;
/// let options = SolveOptions { method: Method::Relaxation, ..SolveOptions::new(0.5) };
/// let refused = solve(&walk, &Restart::new(2, [(0, 1.0)])?, &options);
/// assert_eq!(refused.unwrap_err(), PprError::Directed);
/// # Ok::<(), PprError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Relaxation for undirected graphs, power iteration for directed ones.
    #[default]
    Auto,
    /// p ← α p P + (1 − α) r. The error falls by α in each step.
    Power,
    /// Successive over-relaxation (Young 1954), each node from the newest values of its neighbours.
    /// An undirected walk is reversible, so its equations are symmetric and positive definite once
    /// scaled, and relaxation converges for every ω in (0, 2); ω follows what the sweeps show, and
    /// after each sweep the mass of each component is set to that of its seeds, which is exact.
    /// Where two colours are enough for the graph and ω has settled, the error falls by
    /// (α / (1 + √(1 − α²)))² in each sweep: 0.07 for α = 0.5, 0.31 for 0.85; and faster where the
    /// graph mixes well. One vector of memory.
    Relaxation,
}

/// A solution, with what is known of its distance from the exact one.
///
/// ```
/// use cornu_graph_ppr::{Dangling, GraphBuilder, Restart, SolveOptions, Walk, solve};
/// let mut builder = GraphBuilder::undirected(2)?;
/// builder.add(0, 1, 1.0)?;
/// let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart)?;
/// let found = solve(&walk, &Restart::new(2, [(0, 1.0)])?, &SolveOptions::new(0.5))?;
/// assert!((found.scores[0] - 2.0 / 3.0).abs() <= found.error_bound());
/// # Ok::<(), cornu_graph_ppr::PprError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Solution<T> {
    /// The probability of each node, in the graph's order; at least 0, with a sum of 1 up to
    /// rounding. Exactly 0 where no seed can reach.
    pub scores: Vec<T>,
    /// Multiplications by the matrix.
    pub iterations: usize,
    /// By power iteration ‖p − p'‖₁ of the last two iterates p' and p, p being the result; by
    /// relaxation a bound on the residual of p, from how far the last sweep moved.
    pub residual: f64,
    /// Whether the residual came down to the tolerance. If not, this is the best there was.
    pub converged: bool,
    alpha: f64,
}

impl<T> Solution<T> {
    /// The L1 distance from the exact solution is at most this (besides rounding, which `f32`
    /// shows and `f64` hardly): residual · α / (1 − α), since a step multiplies the distance by α.
    #[must_use]
    pub fn error_bound(&self) -> f64 {
        self.residual * self.alpha / (1.0 - self.alpha)
    }
}

/// Solves for one restart vector, by the [`Method`] of the options.
///
/// O((entries + nodes) · iterations) time, two vectors of memory. The same bits on any number of
/// threads, and the same as in a batch.
///
/// # Errors
/// [`PprError::Alpha`], [`PprError::Tolerance`], [`PprError::NoIterations`],
/// [`PprError::Directed`], and [`PprError::Size`] for a restart vector of another graph.
pub fn solve<T: Real>(
    walk: &Walk<T>,
    restart: &Restart,
    options: &SolveOptions,
) -> Result<Solution<T>, PprError> {
    let most = options.check()?;
    restart.check(walk.nodes())?;
    let method = method(walk, options)?;
    let [solution] = lanes::<T, 1>(walk, [Some(restart)], options, method, (most, true));
    // `most` is at least 1, and the last iteration always gives a solution.
    solution.ok_or(PprError::NoIterations)
}

/// Power iteration, whatever the method in the options: the recursion of the definition,
/// p ← α p P + (1 − α) r from p = r, until an iterate is within the tolerance of the one before.
///
/// # Errors
/// As [`solve`].
pub fn personalized_pagerank<T: Real>(
    walk: &Walk<T>,
    restart: &Restart,
    options: &SolveOptions,
) -> Result<Solution<T>, PprError> {
    let method = Method::Power;
    solve(walk, restart, &SolveOptions { method, ..*options })
}

/// Solves for several restart vectors, up to eight in each pass over the matrix, and as many passes at
/// once as there are threads.
///
/// Each solution is that of [`solve`], bit for bit. Worth it while a pass's vectors fit the cache of
/// its core; memory is sixteen vectors a thread.
///
/// # Errors
/// As [`solve`].
pub fn solve_batch<T: Real>(
    walk: &Walk<T>,
    restarts: &[Restart],
    options: &SolveOptions,
) -> Result<Vec<Solution<T>>, PprError> {
    let most = options.check()?;
    let method = method(walk, options)?;
    for restart in restarts {
        restart.check(walk.nodes())?;
    }
    // A thread for each group: no thread waits for another until the end.
    let threads = rayon::current_num_threads();
    let size = restarts.len().div_ceil(threads).clamp(1, LANES);
    let parallel = restarts.len() <= size;
    let solve = |group: &[Restart]| group_of(walk, group, options, method, (most, parallel));
    let solutions: Vec<_> = match parallel || threads == 1 {
        true => restarts.chunks(size).map(solve).collect(),
        false => restarts.par_chunks(size).map(solve).collect(),
    };
    Ok(solutions.into_iter().flatten().collect())
}

/// At most [`LANES`] restart vectors in one pass.
fn group_of<T: Real>(
    walk: &Walk<T>,
    group: &[Restart],
    options: &SolveOptions,
    method: Method,
    most: (usize, bool),
) -> Vec<Solution<T>> {
    let some = |lane: usize| group.get(lane);
    match group {
        [one] => filled(lanes::<T, 1>(walk, [Some(one)], options, method, most)),
        _ if group.len() <= LANES / 2 => {
            let some = std::array::from_fn(some);
            filled(lanes::<T, { LANES / 2 }>(walk, some, options, method, most))
        }
        _ => {
            let some = std::array::from_fn(some);
            filled(lanes::<T, LANES>(walk, some, options, method, most))
        }
    }
}

fn filled<T, const L: usize>(lanes: [Option<Solution<T>>; L]) -> Vec<Solution<T>> {
    lanes.into_iter().flatten().collect()
}

fn method<T: Real>(walk: &Walk<T>, options: &SolveOptions) -> Result<Method, PprError> {
    match (options.method, walk.is_undirected()) {
        // Nothing walks: the first step of power iteration is the solution.
        (Method::Auto | Method::Relaxation, true) if options.alpha == 0.0 => Ok(Method::Power),
        (Method::Auto | Method::Relaxation, true) => Ok(Method::Relaxation),
        (Method::Auto | Method::Power, _) => Ok(Method::Power),
        (Method::Relaxation, false) => Err(PprError::Directed),
    }
}

/// What the solvers take: restart vectors side by side.
pub(crate) struct Lanes<const L: usize> {
    pub(crate) alpha: f64,
    pub(crate) tolerance: f64,
    /// Entries from which a pass is shared out among threads; `None`: from where the method says.
    pub(crate) parallel_from: Option<usize>,
    pub(crate) wanted: [bool; L],
    pub(crate) seeds: Vec<Seed>,
}

/// What the solvers give, by lane.
pub(crate) struct Solved<T> {
    pub(crate) scores: Vec<T>,
    pub(crate) iterations: usize,
    pub(crate) residual: f64,
    pub(crate) converged: bool,
}

fn lanes<T: Real, const L: usize>(
    walk: &Walk<T>,
    restarts: [Option<&Restart>; L],
    options: &SolveOptions,
    method: Method,
    (most, parallel): (usize, bool),
) -> [Option<Solution<T>>; L] {
    let lanes = Lanes {
        alpha: options.alpha,
        tolerance: options.tolerance,
        parallel_from: match parallel && rayon::current_num_threads() > 1 {
            true => options.parallel_from,
            false => Some(usize::MAX),
        },
        wanted: restarts.map(|restart| restart.is_some()),
        seeds: seeds(walk, &restarts),
    };
    let solved = match method {
        Method::Power => power(walk, &lanes, most),
        _ => relax(walk, &lanes, most),
    };
    let solution = |solved: Solved<T>| Solution {
        scores: solved.scores,
        iterations: solved.iterations,
        residual: solved.residual,
        converged: solved.converged,
        alpha: options.alpha,
    };
    solved.map(|solved| solved.map(solution))
}

/// The seeds of all lanes, in the walk's numbers.
fn seeds<T: Real, const L: usize>(walk: &Walk<T>, restarts: &[Option<&Restart>; L]) -> Vec<Seed> {
    let mut seeds: Vec<Seed> = Vec::new();
    for (lane, restart) in restarts.iter().enumerate() {
        let entries = restart.iter().flat_map(|restart| restart.entries());
        seeds.extend(entries.map(|&(node, weight)| (walk.inside(node), lane as u32, weight)));
    }
    seeds.sort_unstable_by_key(|seed| (seed.0, seed.1));
    seeds
}
