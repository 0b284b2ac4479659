//! Successive over-relaxation of undirected graphs, colour by colour.
//!
//! With z = p ⊘ strength the equation of node v is
//!
//! ```text
//! z_v = (α Σ_u W_uv z_u + (1 − α) r_v) / strength_v
//! ```
//!
//! and a *sweep* moves each z_v by ω times its distance from the right side, which has the newest
//! values of the others (Gauss–Seidel for ω = 1; Young 1954). One vector is all there is: it is
//! changed where it stands. Nodes of one colour share no edge, so they are changed at once, on any
//! number of threads, and the sums are those of one after the other.
//!
//! What a sweep corrects worst is the mass as a whole: along z = constant the matrix has its
//! eigenvalue 1. But how much mass each component ends with is known, it is that of its seeds. So
//! after each sweep a constant, the same for all nodes of a component, sets the mass right. It is
//! the Galerkin correction for that eigenvector, and is kept beside the vector: z = y + constant,
//! with y in the equations and (1 − α) · constant taken from their right sides.

use std::ops::Range;

use pulp::Arch;
use rayon::prelude::*;

use crate::graph::Dangling;
use crate::kernel::Seed;
use crate::moves::Swept;
use crate::omega::{Omega, guessed_radius};
use crate::push::{PushSpace, near};
use crate::real::Real;
use crate::solve::{Lanes, Solved};
use crate::sweep::{Aside, Standing, Sweep};
use crate::walk::{Block, Walk};

/// Entries from which handing the blocks of a colour to other threads pays: a sweep over a million
/// took as long on two cores as on one and of ten million half as long.
const PARALLEL: usize = 1 << 21;

/// Sweeps until each lane is within the tolerance.
pub(crate) fn relax<T: Real, const L: usize>(
    walk: &Walk<T>,
    lanes: &Lanes<L>,
    most: usize,
) -> [Option<Solved<T>>; L] {
    let parallel = walk.entries() >= lanes.parallel_from.unwrap_or(PARALLEL);
    let mut state = State::new(walk, lanes, parallel, most);
    match state.fresh.is_empty() {
        true => state.run(most),
        // Inside the pool from the start, so that a colour is not handed over to it each time.
        false => rayon::join(|| state.run(most), || ()).0,
    }
}

struct State<'a, T, const L: usize> {
    walk: &'a Walk<T>,
    lanes: &'a Lanes<L>,
    y: Lines<T, L>,
    /// Room for the rows of one colour, where several blocks are relaxed at once; else empty.
    fresh: Lines<T, L>,
    /// By component: what its seeds weigh, and the constant.
    mass: Vec<[f64; L]>,
    constant: Vec<[f64; L]>,
    /// The components, in order, that a seed is in and mass moves in.
    seeded: Vec<usize>,
    /// By lane the mass that does not restart from a node without edges. Scores are divided by it,
    /// since what returns from there spreads as the whole does.
    kept: [f64; L],
    omega: [Omega; L],
    /// By lane whether the next sweep may be the last, so that its bound should be a close one.
    close: [bool; L],
    /// By lane the residual of the last sweep.
    last: [f64; L],
}

/// A vector of rows that begins with a line of the cache, so that no row of 64 bytes lies in two.
struct Lines<T, const L: usize> {
    numbers: Vec<T>,
    first: usize,
    rows: usize,
}

impl<T: Real, const L: usize> Lines<T, L> {
    const BYTES: usize = 64;

    fn new(rows: usize) -> Self {
        let numbers = vec![T::default(); rows * L + Self::BYTES / size_of::<T>()];
        let first = numbers.as_ptr().align_offset(Self::BYTES);
        let first = first.min(numbers.len() - rows * L);
        Self {
            numbers,
            first,
            rows,
        }
    }

    fn is_empty(&self) -> bool {
        self.rows == 0
    }

    fn rows(&self) -> &[[T; L]] {
        self.numbers[self.first..self.first + self.rows * L]
            .as_chunks()
            .0
    }

    fn rows_mut(&mut self) -> &mut [[T; L]] {
        self.numbers[self.first..self.first + self.rows * L]
            .as_chunks_mut()
            .0
    }
}

impl<'a, T: Real, const L: usize> State<'a, T, L> {
    fn new(walk: &'a Walk<T>, lanes: &'a Lanes<L>, parallel: bool, most: usize) -> Self {
        let components = walk.volumes.len();
        let mut y = Lines::<T, L>::new(walk.nodes());
        let mut mass = vec![[0.0; L]; components];
        let (mut constant, mut seeded) = (mass.clone(), Vec::new());
        let (mut kept, mut space) = ([1.0; L], PushSpace::default());
        for lane in 0..L {
            let mine = |seed: &&Seed| seed.1 as usize == lane;
            let seeds = lanes.seeds.iter().filter(mine).map(|seed| (seed.0, seed.2));
            for (row, weight) in seeds.clone() {
                let component = walk.components.of_row(row as usize);
                mass[component][lane] += weight;
                constant[component][lane] += weight;
                seeded.push(component);
            }
            // A node without edges has its value.
            let (mut alone, mut of_alone) = (0.0, 0.0);
            for (row, weight) in seeds.clone().filter(|seed| seed.0 as usize >= walk.alone) {
                let mut own = weight;
                if walk.dangling() == Dangling::Restart {
                    own *= 1.0 - lanes.alpha;
                    alone += weight;
                    of_alone += own;
                }
                let row = row as usize;
                y.rows_mut()[row][lane] = T::of(own * walk.inverse[row].wide());
            }
            // A sum of what is kept: 1 less what is not would be rounding alone where α is near 1.
            if alone > 0.0 {
                kept[lane] = (1.0 - alone).max(0.0) + of_alone;
            }
            // The others begin with what is near the seeds..
            let linked = seeds.filter(|seed| (seed.0 as usize) < walk.alone);
            let mut of_seeds = linked
                .clone()
                .map(|seed| walk.components.of_row(seed.0 as usize));
            let first = of_seeds.next().unwrap_or(0);
            let only = of_seeds.all(|component| component == first);
            for (row, score) in near(walk, linked, lanes.alpha, &mut space) {
                let strength = walk.strength_of(row, walk.length(row));
                y.rows_mut()[row][lane] = T::of(score / strength);
                let component = if only {
                    first
                } else {
                    walk.components.of_row(row)
                };
                constant[component][lane] -= score;
            }
        }
        seeded.sort_unstable();
        seeded.dedup();
        seeded.retain(|&component| walk.volumes[component] > 0.0);
        // .. and the rest of the mass spread as a long walk spreads it.
        for (constant, volume) in constant.iter_mut().zip(&walk.volumes) {
            let share = if *volume > 0.0 { 1.0 / volume } else { 0.0 };
            *constant = constant.map(|left| left * share);
        }
        let room = |colour: &Range<usize>| match &walk.blocks[colour.clone()] {
            [first, .., last] if parallel => last.rows.end - first.rows.start,
            _ => 0,
        };
        let room = walk.colours.iter().map(room).max().unwrap_or(0);
        Self {
            walk,
            lanes,
            y,
            fresh: Lines::new(room),
            mass,
            constant,
            seeded,
            kept,
            omega: [Omega::new(lanes.alpha, guessed_radius(walk)); L],
            close: [most < 2; L],
            last: [f64::INFINITY; L],
        }
    }

    /// How far above the tolerance a residual may be foreseen for its bound to be a close one: as
    /// much as that takes off it, and then some.
    const CLOSE: f64 = 10.0;

    fn run(&mut self, most: usize) -> [Option<Solved<T>>; L] {
        let (mut solved, mut open) = ([const { None }; L], self.lanes.wanted);
        for iteration in 1..=most {
            let swept = self.sweep();
            let missing = self.set_masses(swept.mass);
            let mut done = [false; L];
            for lane in 0..L {
                if !open[lane] {
                    continue;
                }
                let residual = self.residual(lane, &swept, missing[lane]);
                let falls = (residual / self.last[lane]).min(1.0);
                self.last[lane] = residual;
                let converged = residual <= self.lanes.tolerance;
                if converged || iteration == most {
                    (done[lane], open[lane]) = (true, false);
                    solved[lane] = Some(Solved {
                        scores: Vec::new(),
                        iterations: iteration,
                        residual,
                        converged,
                    });
                }
                self.omega[lane].next(swept.moved[lane]);
                let near = residual * falls <= Self::CLOSE * self.lanes.tolerance;
                self.close[lane] = near || iteration + 1 == most;
            }
            let last = !open.contains(&true);
            if done.contains(&true) {
                let scores = self.scores(&done, last);
                for (lane, scores) in scores.into_iter().enumerate().filter(|of| done[of.0]) {
                    if let Some(solved) = &mut solved[lane] {
                        solved.scores = scores;
                    }
                }
            }
            if last {
                break;
            }
        }
        solved
    }

    /// Relaxes each node once.
    fn sweep(&mut self) -> Swept<L> {
        let (walk, lanes) = (self.walk, self.lanes);
        let sweep = Sweep {
            walk,
            lanes,
            omega: self.omega.map(|omega| omega.value),
            constant: &self.constant,
            close: self.close.iter().any(|&close| close),
        };
        let live = |block: &&Block| match block.largest {
            true => self.seeded.first() == Some(&0),
            false => self.seeded.last().is_some_and(|&last| last > 0),
        };
        let mut total = Swept::nothing();
        let mut count = |block: &Block, swept: Swept<L>| {
            for lane in 0..L {
                total.moved[lane] += swept.moved[lane];
                total.back[lane] += swept.back[lane];
                if block.largest {
                    total.mass[lane] += swept.mass[lane];
                }
            }
        };
        for colour in &walk.colours {
            let blocks = &walk.blocks[colour.clone()];
            if self.fresh.is_empty() || blocks.len() < 2 {
                for block in blocks.iter().filter(live) {
                    count(block, sweep.block(block, Standing(self.y.rows_mut())));
                }
                continue;
            }
            let (y, mut rest) = (self.y.rows(), self.fresh.rows_mut());
            let mut work = Vec::with_capacity(blocks.len());
            for block in blocks.iter().filter(live) {
                let (mine, others) = rest.split_at_mut(block.rows.len());
                work.push((block, mine, Swept::nothing()));
                rest = others;
            }
            work.par_iter_mut().for_each(|(block, mine, swept)| {
                let first = block.rows.start;
                *swept = sweep.block(block, Aside { y, mine, first });
            });
            for (block, mine, swept) in work {
                self.y.rows_mut()[block.rows.clone()].copy_from_slice(mine);
                count(block, swept);
            }
        }
        total
    }

    /// Gives each component the mass of its seeds. Returns by lane how much was missing.
    fn set_masses(&mut self, mass_of_largest: [f64; L]) -> [f64; L] {
        let mut missing = [0.0; L];
        for &component in &self.seeded {
            let mut mass = mass_of_largest;
            if component > 0 {
                mass = [0.0; L];
                for &row in self.walk.components.members(component) {
                    let strength = self.walk.strength[row as usize].wide();
                    let y = &self.y.rows()[row as usize];
                    (0..L).for_each(|lane| mass[lane] += strength * y[lane].wide());
                }
            }
            let volume = self.walk.volumes[component];
            for lane in 0..L {
                let constant = &mut self.constant[component][lane];
                let short = self.mass[component][lane] - mass[lane] - *constant * volume;
                *constant += short / volume;
                missing[lane] += short.abs();
            }
        }
        missing
    }

    /// A number that bounds the error as the residual of power iteration does, by α / (1 − α).
    ///
    /// After a sweep the residual of p at u is (1 − ω) / ω times what u moved by, and α P_vu times
    /// what each v after u moved by: α times what moved along edges back, and |1 − ω| / ω times all
    /// that moved, at most. Setting the masses adds (1 − α) · missing, and not more than the residual
    /// that was there, whose sum this is.
    fn residual(&self, lane: usize, swept: &Swept<L>, missing: f64) -> f64 {
        let (alpha, omega) = (self.lanes.alpha, self.omega[lane].value);
        let back = match self.close[lane] {
            true => swept.back[lane],
            false => swept.moved[lane],
        };
        let swept = back + swept.moved[lane] * (1.0 - omega).abs() / (omega * alpha);
        (swept + swept.min((1.0 - alpha) / alpha * missing)) / self.kept[lane]
    }

    /// The scores of some lanes. `last` says that no sweep follows, so that they may be made where
    /// the vector stands. Values below 0 are errors by at least as much, so 0 is nearer to the solution.
    fn scores(&mut self, done: &[bool; L], last: bool) -> [Vec<T>; L] {
        let mut copy = Lines::new(if last { 0 } else { self.walk.nodes() });
        let scores = match last {
            true => self.y.rows_mut(),
            false => {
                copy.rows_mut().copy_from_slice(self.y.rows());
                copy.rows_mut()
            }
        };
        let (walk, constant) = (self.walk, &self.constant);
        let below = Arch::new().dispatch(|| {
            let mut below = [0.0; L];
            for block in &walk.blocks {
                for run in walk.runs(block) {
                    for row in run.rows.clone() {
                        let component = match block.largest {
                            true => 0,
                            false => walk.components.of_row(row),
                        };
                        let (strength, from) = (walk.strength_of(row, run.depth), scores[row]);
                        let value = |lane: usize| {
                            (from[lane].wide() + constant[component][lane]) * strength
                        };
                        let values: [f64; L] = std::array::from_fn(value);
                        below = std::array::from_fn(|lane| below[lane] + values[lane].min(0.0));
                        scores[row] = values.map(|value| T::of(value.max(0.0)));
                    }
                }
            }
            below
        });
        let sums: [f64; L] = std::array::from_fn(|lane| self.kept[lane] - below[lane]);
        outwards(
            self.walk,
            scores,
            |lane, score| match sums[lane] {
                1.0 => score,
                sum => T::of(score.wide() / sum),
            },
            done,
        )
    }
}

/// Some lanes of a vector in the graph's order, each by itself. A few nodes at a time, so that a row
/// is fetched once for all lanes.
fn outwards<T: Real, const L: usize>(
    walk: &Walk<T>,
    rows: &[[T; L]],
    value: impl Fn(usize, T) -> T,
    wanted: &[bool; L],
) -> [Vec<T>; L] {
    const TOGETHER: usize = 64;
    let mut out = wanted.map(|wanted| Vec::with_capacity(if wanted { walk.nodes() } else { 0 }));
    let mut some = [[T::default(); L]; TOGETHER];
    for nodes in walk.rows_of_nodes().chunks(TOGETHER) {
        for (some, &row) in some.iter_mut().zip(nodes) {
            *some = rows[row as usize];
        }
        for (lane, out) in out.iter_mut().enumerate().filter(|&(lane, _)| wanted[lane]) {
            out.extend(some[..nodes.len()].iter().map(|row| value(lane, row[lane])));
        }
    }
    out
}
