//! Exact solvers: p = α p P + (1 − α) r, to a stated distance.

use crate::error::PprError;
use crate::kernel::{Seed, Step, step};
use crate::real::Real;
use crate::restart::Restart;
use crate::walk::Walk;

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
    /// Rounding keeps the residual from falling surely below 2⁻²³ / (1 − α) with `f32`, 2⁻⁵² /
    /// (1 − α) with `f64`: a smaller tolerance may end at the cap, not converged.
    pub tolerance: f64,
    /// The most multiplications by the matrix. `None`: ln(tolerance / 2) / ln α, at which power
    /// iteration has converged in exact arithmetic, and 20 more.
    pub max_iterations: Option<usize>,
    /// How to solve.
    pub method: Method,
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
            None => Ok((enough(alpha, tolerance) as usize).saturating_add(20)),
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
/// let options = SolveOptions { method: Method::Chebyshev, ..SolveOptions::new(0.5) };
/// let refused = solve(&walk, &Restart::new(2, [(0, 1.0)])?, &options);
/// assert_eq!(refused.unwrap_err(), PprError::Directed);
/// # Ok::<(), PprError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Chebyshev for undirected graphs, power iteration for directed ones.
    #[default]
    Auto,
    /// p ← α p P + (1 − α) r. The error falls by α in each step.
    Power,
    /// Chebyshev's semi-iterative method (Golub and Varga 1961). An undirected walk is reversible:
    /// P is similar to the symmetric D^-½ W D^-½, so its spectrum is real and within [−1, 1], and
    /// the polynomial that is smallest there makes the error fall by α / (1 + √(1 − α²)) in each
    /// step: 0.27 for α = 0.5, 0.56 for 0.85. Where the residuals show that the spectrum is smaller,
    /// so is the interval, and the error falls faster. No similarity has to be computed, since a
    /// polynomial in P is the same in either basis; vectors and memory are those of power
    /// iteration.
    Chebyshev,
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
    /// ‖p − p'‖₁ of the last two iterates p' and p, p being the result: the residual of p'.
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
    let [solution] = lanes::<T, 1>(walk, [Some(restart)], options, method, most);
    Ok(solution.unwrap_or_else(|| empty(options.alpha)))
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

/// Solves for several restart vectors, eight in each pass over the matrix.
///
/// Each solution is that of [`solve`], bit for bit. Worth it while eight vectors fit the
/// processor's cache; memory is sixteen vectors.
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
    let mut solutions = Vec::with_capacity(restarts.len());
    let mut rest = restarts;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(LANES));
        match now {
            [one] => solutions.extend(lanes::<T, 1>(walk, [Some(one)], options, method, most)),
            _ if now.len() <= LANES / 2 => {
                let some = std::array::from_fn(|lane| now.get(lane));
                solutions.extend(lanes::<T, { LANES / 2 }>(walk, some, options, method, most));
            }
            _ => {
                let some = std::array::from_fn(|lane| now.get(lane));
                solutions.extend(lanes::<T, LANES>(walk, some, options, method, most));
            }
        }
        rest = later;
    }
    Ok(solutions.into_iter().flatten().collect())
}

fn method<T: Real>(walk: &Walk<T>, options: &SolveOptions) -> Result<Method, PprError> {
    match (options.method, walk.is_undirected()) {
        (Method::Auto | Method::Chebyshev, true) => Ok(Method::Chebyshev),
        (Method::Auto | Method::Power, _) => Ok(Method::Power),
        (Method::Chebyshev, false) => Err(PprError::Directed),
    }
}

fn empty<T>(alpha: f64) -> Solution<T> {
    Solution {
        scores: Vec::new(),
        iterations: 0,
        residual: 0.0,
        converged: true,
        alpha,
    }
}

/// What a lane is doing.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Chebyshev,
    Power,
    Done,
}

fn lanes<T: Real, const L: usize>(
    walk: &Walk<T>,
    restarts: [Option<&Restart>; L],
    options: &SolveOptions,
    method: Method,
    most: usize,
) -> [Option<Solution<T>>; L] {
    let alpha = options.alpha;
    let seeds = seeds(walk, &restarts);
    let zero = [T::default(); L];
    let (mut current, mut other) = (vec![zero; walk.nodes()], vec![zero; walk.nodes()]);
    for &(row, lane, weight) in &seeds {
        let row = row as usize;
        current[row][lane as usize] = T::of(weight * walk.inverse[row].wide());
    }
    let method = if most == 1 { Method::Power } else { method };
    let mut solutions: [Option<Solution<T>>; L] = [const { None }; L];
    let mut phases = restarts.map(|restart| match (restart, method) {
        (None, _) => Phase::Done,
        (_, Method::Power) => Phase::Power,
        _ => Phase::Chebyshev,
    });
    if method == Method::Chebyshev {
        // What nothing leads to and nothing leaves has its final value from the start, so that
        // the mass of the others is conserved and the error has no part in the eigenvalue 1.
        for &row in &walk.loose {
            current[row as usize] = current[row as usize].map(|z| T::of(z.wide() * (1.0 - alpha)));
        }
    }
    let mut polynomials = [Polynomial::new(alpha); L];
    for iteration in 1..=most {
        let dangling = dangling(walk, &current);
        let coefficients = Step {
            alpha,
            restart: std::array::from_fn(|lane| match phases[lane] {
                Phase::Power => 1.0 - alpha + alpha * dangling[lane],
                _ => 1.0 - alpha,
            }),
            omega: std::array::from_fn(|lane| match phases[lane] {
                Phase::Chebyshev => polynomials[lane].omega,
                _ => 1.0,
            }),
        };
        let residuals = step(walk, &seeds, &coefficients, &current, &mut other);
        std::mem::swap(&mut current, &mut other);
        for lane in 0..L {
            let small = residuals[lane] <= options.tolerance;
            let last = iteration == most;
            match phases[lane] {
                Phase::Done => {}
                // The last step is always one of power iteration, whose residual bounds the error.
                Phase::Chebyshev if !small && iteration + 1 < most => {
                    polynomials[lane].next(residuals[lane]);
                }
                Phase::Chebyshev => {
                    to_simplex(walk, &mut current, lane);
                    phases[lane] = Phase::Power;
                }
                Phase::Power if !small && !last => {}
                Phase::Power => {
                    phases[lane] = Phase::Done;
                    solutions[lane] = Some(Solution {
                        scores: scores(walk, &current, lane),
                        iterations: iteration,
                        residual: residuals[lane],
                        converged: small,
                        alpha,
                    });
                }
            }
        }
        if phases.iter().all(|&phase| phase == Phase::Done) {
            break;
        }
    }
    solutions
}

/// A lane's Chebyshev polynomials, and the interval [−ρ, ρ] on which they are small.
///
/// α bounds the spectrum of α P; but a walk keeps its mass, so the error has no part in the
/// eigenvalue 1, and the rest may lie in a much smaller interval. So ρ starts at 0 (power
/// iteration) and grows when the residual falls more slowly than the polynomials promise, to what
/// the last step's factor says of the largest eigenvalue (Hageman and Young 1981, chapter 5).
/// Outside the interval the iteration still converges, only more slowly.
#[derive(Clone, Copy)]
struct Polynomial {
    alpha: f64,
    rho: f64,
    omega: f64,
    /// Steps on this interval.
    age: i32,
    /// The residual at its first step, and at the last one.
    first: f64,
    last: f64,
}

impl Polynomial {
    /// Steps on an interval before it is judged.
    const PATIENCE: i32 = 4;
    /// How much worse than promised the residual may be (the promise is of another norm).
    const SLACK: f64 = 2.0;
    /// The estimate comes from below.
    const MARGIN: f64 = 1.05;

    fn new(alpha: f64) -> Self {
        Self {
            alpha,
            rho: 0.0,
            omega: 1.0,
            age: 0,
            first: 0.0,
            last: 0.0,
        }
    }

    /// Takes the residual that the step started from, and sets ω for the next.
    fn next(&mut self, residual: f64) {
        if self.age == 0 {
            self.first = residual;
        }
        self.age += 1;
        let square = self.rho * self.rho;
        self.omega = match self.age {
            1 => 2.0 / (2.0 - square),
            _ => 4.0 / (4.0 - square * self.omega),
        };
        if self.age > Self::PATIENCE && self.rho < self.alpha {
            let width = 1.0 + (1.0 - square).sqrt();
            let fall = (self.rho / width).powi(self.age - 1);
            let promised = 2.0 * fall / (1.0 + fall * fall);
            let factor = residual / self.last * width;
            let largest = (factor * factor + square) / (2.0 * factor);
            if residual > Self::SLACK * promised * self.first && largest > self.rho * 1.02 {
                *self = Self {
                    rho: (largest * Self::MARGIN).min(self.alpha),
                    ..Self::new(self.alpha)
                };
            }
        }
        self.last = residual;
    }
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

/// The mass at nodes that return to the restart vector.
fn dangling<T: Real, const L: usize>(walk: &Walk<T>, current: &[[T; L]]) -> [f64; L] {
    let mut mass = [0.0; L];
    for &row in &walk.loose {
        let strength = walk.strength[row as usize].wide();
        for (mass, z) in mass.iter_mut().zip(current[row as usize]) {
            *mass += z.wide() * strength;
        }
    }
    mass
}

/// Chebyshev's iterates may dip below 0 by less than their error; the solution does not, so 0 is
/// nearer to it. And where mass left through dangling nodes, the solution is the iterate over its
/// sum: what left returns in proportion to r.
fn to_simplex<T: Real, const L: usize>(walk: &Walk<T>, current: &mut [[T; L]], lane: usize) {
    let mut sum = 0.0;
    for (z, strength) in current.iter_mut().zip(&walk.strength) {
        let value = &mut z[lane];
        if *value < T::default() {
            *value = T::default();
        }
        sum += value.wide() * strength.wide();
    }
    if sum > 0.0 {
        for z in current {
            z[lane] = T::of(z[lane].wide() / sum);
        }
    }
}

fn scores<T: Real, const L: usize>(walk: &Walk<T>, current: &[[T; L]], lane: usize) -> Vec<T> {
    let inside = walk.inside_all().iter();
    let score = |&row: &u32| {
        let (z, strength) = (current[row as usize][lane], walk.strength[row as usize]);
        T::of(z.wide() * strength.wide())
    };
    inside.map(score).collect()
}
