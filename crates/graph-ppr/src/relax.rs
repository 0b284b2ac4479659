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

use rayon::prelude::*;

use crate::graph::Dangling;
use crate::kernel::{CHUNK, STRANDS, Seed, inflow};
use crate::push::{PushSpace, near};
use crate::real::Real;
use crate::solve::{Lanes, Solved};
use crate::walk::{Block, Walk};

/// Sweeps until each lane is within the tolerance.
pub(crate) fn relax<T: Real, const L: usize>(
    walk: &Walk<T>,
    lanes: &Lanes<L>,
    most: usize,
) -> [Option<Solved<T>>; L] {
    let threads = rayon::current_num_threads();
    let mut state = State::new(walk, lanes, threads > 1);
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

/// What a sweep comes to, by lane.
#[derive(Clone, Copy)]
struct Swept<const L: usize> {
    /// L1 distance that p moved.
    moved: [f64; L],
    /// Sum of strength · y over the rows.
    mass: [f64; L],
}

impl<'a, T: Real, const L: usize> State<'a, T, L> {
    fn new(walk: &'a Walk<T>, lanes: &'a Lanes<L>, parallel: bool) -> Self {
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
            for (row, weight) in seeds.clone().filter(|seed| seed.0 as usize >= walk.alone) {
                let mut own = weight;
                if walk.dangling() == Dangling::Restart {
                    own *= 1.0 - lanes.alpha;
                    kept[lane] -= lanes.alpha * weight;
                }
                let row = row as usize;
                y.rows_mut()[row][lane] = T::of(own * walk.inverse[row].wide());
            }
            // The others begin with what is near the seeds..
            let linked = seeds.filter(|seed| (seed.0 as usize) < walk.alone);
            for (row, score) in near(walk, linked, lanes.alpha, &mut space) {
                y.rows_mut()[row][lane] = T::of(score * walk.inverse[row].wide());
                constant[walk.components.of_row(row)][lane] -= score;
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
            omega: [Omega::new(lanes.alpha); L],
        }
    }

    fn run(&mut self, most: usize) -> [Option<Solved<T>>; L] {
        let mut solved = [const { None }; L];
        for iteration in 1..=most {
            let swept = self.sweep();
            let missing = self.set_masses(swept.mass);
            for lane in 0..L {
                if !self.lanes.wanted[lane] || solved[lane].is_some() {
                    continue;
                }
                let residual = self.residual(lane, swept.moved[lane], missing[lane]);
                let converged = residual <= self.lanes.tolerance;
                if converged || iteration == most {
                    solved[lane] = Some(Solved {
                        scores: self.scores(lane),
                        iterations: iteration,
                        residual,
                        converged,
                    });
                }
                self.omega[lane].next(swept.moved[lane]);
            }
            if (0..L).all(|lane| solved[lane].is_some() || !self.lanes.wanted[lane]) {
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
        };
        let live = |block: &&Block| match block.largest {
            true => self.seeded.first() == Some(&0),
            false => self.seeded.last().is_some_and(|&last| last > 0),
        };
        let mut total = Swept {
            moved: [0.0; L],
            mass: [0.0; L],
        };
        let mut count = |block: &Block, swept: Swept<L>| {
            for lane in 0..L {
                total.moved[lane] += swept.moved[lane];
                if block.largest {
                    total.mass[lane] += swept.mass[lane];
                }
            }
        };
        for colour in &walk.colours {
            let blocks = &walk.blocks[colour.clone()];
            if self.fresh.is_empty() || blocks.len() < 2 {
                for block in blocks.iter().filter(live) {
                    count(block, sweep.in_place(block, self.y.rows_mut()));
                }
                continue;
            }
            let (y, mut rest) = (self.y.rows(), self.fresh.rows_mut());
            let mut work = Vec::with_capacity(blocks.len());
            for block in blocks.iter().filter(live) {
                let (mine, others) = rest.split_at_mut(block.rows.len());
                work.push((
                    block,
                    mine,
                    Swept {
                        moved: [0.0; L],
                        mass: [0.0; L],
                    },
                ));
                rest = others;
            }
            work.par_iter_mut().for_each(|(block, mine, swept)| {
                *swept = sweep.aside(block, y, mine);
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
    /// what each v after u moved by: α + |1 − ω| / ω times all that moved, at most. Setting the
    /// masses adds (1 − α) · missing, and not more than the residual that was there, whose sum this
    /// is.
    fn residual(&self, lane: usize, moved: f64, missing: f64) -> f64 {
        let (alpha, omega) = (self.lanes.alpha, self.omega[lane].value);
        let swept = moved * (1.0 + (1.0 - omega).abs() / (omega * alpha));
        (swept + swept.min((1.0 - alpha) / alpha * missing)) / self.kept[lane]
    }

    /// Values below 0 are errors by at least as much, so 0 is nearer to the solution.
    fn scores(&self, lane: usize) -> Vec<T> {
        let (walk, y) = (self.walk, self.y.rows());
        let mut below = 0.0;
        let mut scores = walk.outwards(|row| {
            let constant = self.constant[walk.components.of_row(row)][lane];
            let value = (y[row][lane].wide() + constant) * walk.strength[row].wide();
            if value < 0.0 {
                below += value;
            }
            T::of(value.max(0.0))
        });
        let sum = self.kept[lane] - below;
        if sum != 1.0 {
            scores
                .iter_mut()
                .for_each(|score| *score = T::of(score.wide() / sum));
        }
        scores
    }
}

/// One sweep, as its blocks see it.
struct Sweep<'a, T, const L: usize> {
    walk: &'a Walk<T>,
    lanes: &'a Lanes<L>,
    omega: [f64; L],
    constant: &'a [[f64; L]],
}

impl<T: Real, const L: usize> Sweep<'_, T, L> {
    fn in_place(&self, block: &Block, y: &mut [[T; L]]) -> Swept<L> {
        let mut tally = Tally::default();
        let mut buffer = [[0.0; L]; CHUNK];
        for rows in chunks(&block.rows) {
            let sums = self.sums(&rows, y, &mut buffer);
            self.settle(block, &rows, sums, &mut y[rows.clone()], &mut tally);
        }
        tally.swept()
    }

    fn aside(&self, block: &Block, y: &[[T; L]], mine: &mut [[T; L]]) -> Swept<L> {
        let mut tally = Tally::default();
        let mut buffer = [[0.0; L]; CHUNK];
        for (rows, mine) in chunks(&block.rows).zip(mine.chunks_mut(CHUNK)) {
            mine.copy_from_slice(&y[rows.clone()]);
            let sums = self.sums(&rows, y, &mut buffer);
            self.settle(block, &rows, sums, mine, &mut tally);
        }
        tally.swept()
    }

    fn sums<'b>(
        &self,
        rows: &Range<usize>,
        y: &[[T; L]],
        buffer: &'b mut [[f64; L]; CHUNK],
    ) -> &'b mut [[f64; L]] {
        let restart = [1.0 - self.lanes.alpha; L];
        let seeds = (&self.lanes.seeds[..], &restart);
        inflow(self.walk, rows, self.lanes.alpha, seeds, y, buffer)
    }

    /// Moves the rows, from what flows into them.
    #[inline(always)]
    fn settle(
        &self,
        block: &Block,
        rows: &Range<usize>,
        sums: &mut [[f64; L]],
        mine: &mut [[T; L]],
        tally: &mut Tally<L>,
    ) {
        let leaves = 1.0 - self.lanes.alpha;
        let (walk, components) = (self.walk, &self.walk.components);
        let shift_of = |component: usize| self.constant[component].map(|value| leaves * value);
        let from = walk
            .loops
            .partition_point(|entry| (entry.0 as usize) < rows.start);
        for &(row, share) in &walk.loops[from..] {
            let Some(at) = (row as usize)
                .checked_sub(rows.start)
                .filter(|&at| at < sums.len())
            else {
                break;
            };
            // The node's own value is among those that flow in: solved for, instead of the old one.
            let (strength, inverse) = (walk.strength[row as usize], walk.inverse[row as usize]);
            let shift = shift_of(components.of_row(row as usize));
            for lane in 0..L {
                let old = mine[at][lane].wide();
                let way = sums[at][lane] * inverse.wide() - shift[lane] - old;
                let way = way / (1.0 - self.lanes.alpha * share);
                sums[at][lane] = (old + way + shift[lane]) * strength.wide();
            }
        }
        let (strength, inverse) = (&walk.strength[rows.clone()], &walk.inverse[rows.clone()]);
        match block.largest {
            true => {
                let shift = shift_of(0);
                move_rows(
                    sums,
                    mine,
                    (strength, inverse),
                    &self.omega,
                    |_| shift,
                    tally,
                );
            }
            false => {
                let shift = |at: usize| shift_of(components.of_row(rows.start + at));
                move_rows(sums, mine, (strength, inverse), &self.omega, shift, tally);
            }
        }
    }
}

#[inline(always)]
fn move_rows<T: Real, const L: usize>(
    sums: &[[f64; L]],
    mine: &mut [[T; L]],
    (strength, inverse): (&[T], &[T]),
    omega: &[f64; L],
    shift: impl Fn(usize) -> [f64; L],
    tally: &mut Tally<L>,
) {
    let Tally { moved, mass } = tally;
    let mut move_row =
        |strand: usize, at: usize, sums: &[f64; L], mine: &mut [T; L], s: T, i: T| {
            let (strength, inverse) = (s.wide(), i.wide());
            let shift = shift(at);
            for lane in 0..L {
                let old = mine[lane].wide();
                let target = sums[lane] * inverse - shift[lane];
                let new = T::of(old + omega[lane] * (target - old));
                mine[lane] = new;
                moved[strand][lane] += strength * (new.wide() - old).abs();
                mass[strand][lane] += strength * new.wide();
            }
        };
    let (sums, last_sums) = sums.as_chunks::<STRANDS>();
    let (mine, last_mine) = mine.as_chunks_mut::<STRANDS>();
    let (strength, last_strength) = strength.as_chunks::<STRANDS>();
    let (inverse, last_inverse) = inverse.as_chunks::<STRANDS>();
    let mut first = 0;
    for (((sums, mine), s), i) in sums.iter().zip(mine).zip(strength).zip(inverse) {
        for at in 0..STRANDS {
            move_row(at, first + at, &sums[at], &mut mine[at], s[at], i[at]);
        }
        first += STRANDS;
    }
    let last = last_sums
        .iter()
        .zip(last_mine)
        .zip(last_strength)
        .zip(last_inverse);
    for (at, (((sums, mine), &s), &i)) in last.enumerate() {
        move_row(at, first + at, sums, mine, s, i);
    }
}

struct Tally<const L: usize> {
    moved: [[f64; L]; STRANDS],
    mass: [[f64; L]; STRANDS],
}

impl<const L: usize> Default for Tally<L> {
    fn default() -> Self {
        Self {
            moved: [[0.0; L]; STRANDS],
            mass: [[0.0; L]; STRANDS],
        }
    }
}

impl<const L: usize> Tally<L> {
    fn swept(&self) -> Swept<L> {
        let sum = |[a, b, c, d]: [[f64; L]; STRANDS]| {
            std::array::from_fn(|lane| (a[lane] + b[lane]) + (c[lane] + d[lane]))
        };
        Swept {
            moved: sum(self.moved),
            mass: sum(self.mass),
        }
    }
}

fn chunks(rows: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let end = rows.end;
    rows.clone()
        .step_by(CHUNK)
        .map(move |first| first..end.min(first + CHUNK))
}

/// A lane's ω, from what its sweeps show.
///
/// It begins with what μ = α / 2 wants. Once sweeps have settled, the factor λ by which they move less
/// and less gives the largest eigenvalue μ of α P (without those of the components) by Young's
/// relation (λ + ω − 1)² = λ ω² μ², exact where two colours are enough, and the best ω for it is
/// 2 / (1 + √(1 − μ²)) (Hageman and Young 1981, chapter 9). It only grows, as far as α, the bound of
/// μ, allows; any ω below 2 converges.
#[derive(Clone, Copy)]
struct Omega {
    value: f64,
    alpha: f64,
    /// Sweeps with this value, and how far the last one moved.
    age: u32,
    last: f64,
}

impl Omega {
    /// Sweeps with one value before it is judged.
    const PATIENCE: u32 = 3;
    /// Less than this part of the way to 2 is not worth a change.
    const WORTH: f64 = 0.01;

    fn new(alpha: f64) -> Self {
        Self {
            value: Self::best(alpha * alpha / 4.0),
            alpha,
            age: 0,
            last: f64::INFINITY,
        }
    }

    fn best(square: f64) -> f64 {
        2.0 / (1.0 + (1.0 - square).sqrt())
    }

    fn next(&mut self, moved: f64) {
        let (factor, excess) = (moved / self.last, self.value - 1.0);
        self.age += 1;
        self.last = moved;
        if self.age < Self::PATIENCE || !(factor < 1.0 && factor > excess) {
            return;
        }
        let square = (factor + excess).powi(2) / (factor * self.value * self.value);
        let best = Self::best(square.min(self.alpha * self.alpha));
        if best > self.value + Self::WORTH * (2.0 - self.value) {
            self.value = best;
            self.age = 0;
        }
    }
}
