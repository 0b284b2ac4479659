//! Power iteration, for one restart vector or several side by side.

use rayon::prelude::*;

use crate::kernel::{CHUNK, STRANDS, Seed, inflow};
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
        *moved = step_block(
            walk,
            lanes.alpha,
            (&lanes.seeds, restart),
            current,
            block,
            mine,
        );
    };
    match walk.entries() >= PARALLEL && rayon::current_num_threads() > 1 {
        true => work.par_iter_mut().for_each(run),
        false => work.iter_mut().for_each(run),
    }
    let mut total = [0.0; L];
    for (_, _, moved) in &work {
        (0..L).for_each(|lane| total[lane] += moved[lane]);
    }
    total
}

fn step_block<T: Real, const L: usize>(
    walk: &Walk<T>,
    alpha: f64,
    seeds: (&[Seed], &[f64; L]),
    current: &[[T; L]],
    block: &Block,
    mine: &mut [[T; L]],
) -> [f64; L] {
    let mut buffer = [[0.0; L]; CHUNK];
    let mut moved = [[0.0; L]; STRANDS];
    for (at, out) in mine.chunks_mut(CHUNK).enumerate() {
        let first = block.rows.start + at * CHUNK;
        let rows = first..first + out.len();
        let sums = inflow(walk, &rows, alpha, seeds, current, &mut buffer);
        let (strength, inverse) = (&walk.strength[rows.clone()], &walk.inverse[rows.clone()]);
        let before = &current[rows];
        for at in 0..out.len() {
            let (strength, inverse) = (strength[at].wide(), inverse[at].wide());
            let moved = &mut moved[at % STRANDS];
            for lane in 0..L {
                let next = sums[at][lane] * inverse;
                moved[lane] += strength * (next - before[at][lane].wide()).abs();
                out[at][lane] = T::of(next);
            }
        }
    }
    let [a, b, c, d] = moved;
    std::array::from_fn(|lane| (a[lane] + b[lane]) + (c[lane] + d[lane]))
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
