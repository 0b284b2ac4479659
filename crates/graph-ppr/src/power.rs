//! Power iteration, for one restart vector or several side by side.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::kernel::{CHUNK, STRANDS, Seed, inflow, octet_sums, scales, seeds_of, strand_sum};
use crate::octets::SIDE;
use crate::real::Real;
use crate::solve::{Lanes, Solved};
use crate::walk::{Block, Walk};

/// Entries from which handing blocks to other threads pays.
const PARALLEL: usize = 65_536;

/// p ← α p P + (1 − α) r from p = r, until two iterates are within the tolerance.
pub(crate) fn power<T: Real, const L: usize>(
    walk: &Walk<T>,
    lanes: &Lanes<L>,
    most: usize,
) -> [Option<Solved<T>>; L] {
    let alpha = lanes.alpha;
    let zero = [T::default(); L];
    let (mut current, mut other) = (vec![zero; walk.nodes()], vec![zero; walk.nodes()]);
    for &(row, lane, weight) in &lanes.seeds {
        let row = row as usize;
        current[row][lane as usize] = T::of(weight * walk.inverse[row].wide());
    }
    let mut solved = [const { None }; L];
    for iteration in 1..=most {
        let mass = dangling(walk, &current);
        let restart = mass.map(|mass| 1.0 - alpha + alpha * mass);
        let residuals = step(walk, lanes, &restart, &current, &mut other);
        std::mem::swap(&mut current, &mut other);
        for lane in 0..L {
            let converged = residuals[lane] <= lanes.tolerance;
            if lanes.wanted[lane] && solved[lane].is_none() && (converged || iteration == most) {
                solved[lane] = Some(Solved {
                    scores: scores(walk, &current, lane),
                    iterations: iteration,
                    residual: residuals[lane],
                    converged,
                });
            }
        }
        if (0..L).all(|lane| solved[lane].is_some() || !lanes.wanted[lane]) {
            break;
        }
    }
    solved
}

/// Makes the next iterate of `current` in `other`. Returns, by lane, the L1 distance of the two.
fn step<T: Real, const L: usize>(
    walk: &Walk<T>,
    lanes: &Lanes<L>,
    restart: &[f64; L],
    current: &[[T; L]],
    other: &mut [[T; L]],
) -> [f64; L] {
    let mut work = Vec::with_capacity(walk.blocks.len());
    let mut rest = other;
    for block in &walk.blocks {
        let (mine, others) = rest.split_at_mut(block.rows.len());
        work.push((block, mine, [0.0; L]));
        rest = others;
    }
    let run = |(block, mine, moved): &mut (&Block, &mut [[T; L]], [f64; L])| {
        *moved = Arch::new().dispatch(Step {
            walk,
            alpha: lanes.alpha,
            seeds: (&lanes.seeds, restart),
            current,
            block,
            mine,
        });
    };
    match walk.entries() >= lanes.parallel_from.unwrap_or(PARALLEL) {
        true => work.par_iter_mut().for_each(run),
        false => work.iter_mut().for_each(run),
    }
    let mut total = [0.0; L];
    for (_, _, moved) in &work {
        (0..L).for_each(|lane| total[lane] += moved[lane]);
    }
    total
}

/// The next iterate of a block.
struct Step<'a, T, const L: usize> {
    walk: &'a Walk<T>,
    alpha: f64,
    seeds: (&'a [Seed], &'a [f64; L]),
    current: &'a [[T; L]],
    block: &'a Block,
    mine: &'a mut [[T; L]],
}

impl<T: Real, const L: usize> WithSimd for Step<'_, T, L> {
    /// By lane the L1 distance.
    type Output = [f64; L];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; L] {
        let Self {
            walk,
            alpha,
            seeds,
            current,
            block,
            mine,
        } = self;
        let mut buffer = [[0.0; L]; CHUNK];
        let mut moved = [[0.0; L]; STRANDS];
        let mut rest = mine;
        for run in walk.runs(block) {
            let (out, others) = rest.split_at_mut(run.rows.len());
            rest = others;
            let before = &current[run.rows.clone()];
            if L == 1 && !run.octets.is_empty() && seeds_of(seeds.0, &run.rows).is_empty() {
                let octets = walk.octets.of(run).zip(before.as_chunks::<SIDE>().0);
                for ((octet, before), out) in octets.zip(out.as_chunks_mut::<SIDE>().0) {
                    let sums = octet_sums(walk, &octet, current);
                    let sums = sums.map(|sums| sums.map(|sum| sum * alpha));
                    let (strength, inverse) = scales(walk, &octet.rows(), octet.length());
                    next_of((&sums, before), (&strength, &inverse), out, &mut moved);
                }
            } else {
                let sums = inflow(walk, run, alpha, seeds, current, &mut buffer);
                let scales = (
                    &walk.strength[run.rows.clone()],
                    &walk.inverse[run.rows.clone()],
                );
                next_of((sums, before), scales, out, &mut moved);
            }
        }
        strand_sum(&moved)
    }
}

#[inline(always)]
fn next_of<T: Real, const L: usize>(
    (sums, before): (&[[f64; L]], &[[T; L]]),
    (strength, inverse): (&[T], &[T]),
    out: &mut [[T; L]],
    moved: &mut [[f64; L]; STRANDS],
) {
    let rows = sums.iter().zip(before).zip(strength).zip(inverse).zip(out);
    for (at, ((((sums, before), strength), inverse), out)) in rows.enumerate() {
        let moved = &mut moved[at % STRANDS];
        for lane in 0..L {
            let next = sums[lane] * inverse.wide();
            moved[lane] += strength.wide() * (next - before[lane].wide()).abs();
            out[lane] = T::of(next);
        }
    }
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

fn scores<T: Real, const L: usize>(walk: &Walk<T>, current: &[[T; L]], lane: usize) -> Vec<T> {
    walk.outwards(|row| T::of(current[row][lane].wide() * walk.strength[row].wide()))
}
