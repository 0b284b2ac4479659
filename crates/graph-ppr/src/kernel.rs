//! One step of the iteration, for one restart vector or several side by side.
//!
//! Vectors hold z = p ⊘ strength, so that undirected matrices are gathered from without weights of
//! their own and directed ones need no transposed P. A step is, per node v and lane,
//!
//! ```text
//! t_v = inverse_v · (α · Σ_{u→v} W_uv z_u + c · r_v)      the next power iterate
//! z'_v = ω · t_v + (1 − ω) · z''_v                        z'': the iterate before z
//! ```
//!
//! which is power iteration for ω = 1 and Chebyshev's for his weights. The sums of a row are in an
//! order that depends on the row alone, so a lane's bits do not depend on the others.

use std::ops::Range;

use rayon::prelude::*;

use crate::real::Real;
use crate::walk::{Matrix, Walk, Weights};

/// Rows from this length are summed in four strands, which a processor adds side by side.
const LONG: usize = 32;

/// Numbers of a step that differ by lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<const L: usize> {
    pub(crate) alpha: f64,
    /// What the restart vector is multiplied by.
    pub(crate) restart: [f64; L],
    pub(crate) omega: [f64; L],
}

/// A restart weight: row (in the walk's numbers), lane, weight. Sorted by row, then lane.
pub(crate) type Seed = (u32, u32, f64);

/// Makes the next iterate of `current` in `other`, which holds the one before. Returns, by lane,
/// ‖t − z‖₁ in terms of p: the residual of `current`.
pub(crate) fn step<T: Real, const L: usize>(
    walk: &Walk<T>,
    seeds: &[Seed],
    step: &Step<L>,
    current: &[[T; L]],
    other: &mut [[T; L]],
) -> [f64; L] {
    match &walk.incoming.weights {
        Weights::Ones => blocks(walk, Ones, seeds, step, current, other),
        Weights::Single(weights) => blocks(walk, &weights[..], seeds, step, current, other),
        Weights::Double(weights) => blocks(walk, &weights[..], seeds, step, current, other),
    }
}

fn blocks<T: Real, V: Values, const L: usize>(
    walk: &Walk<T>,
    values: V,
    seeds: &[Seed],
    step: &Step<L>,
    current: &[[T; L]],
    other: &mut [[T; L]],
) -> [f64; L] {
    let mut work = Vec::with_capacity(walk.blocks.len());
    let mut rest = other;
    for rows in &walk.blocks {
        let (mine, others) = rest.split_at_mut(rows.len());
        work.push((rows.clone(), mine, [0.0; L]));
        rest = others;
    }
    let run = |(rows, mine, residual): &mut (Range<usize>, &mut [[T; L]], [f64; L])| {
        *residual = block(walk, values, seeds, step, current, rows.clone(), mine);
    };
    match work.len() {
        0 | 1 => work.iter_mut().for_each(run),
        _ => work.par_iter_mut().for_each(run),
    }
    let mut total = [0.0; L];
    for (_, _, residual) in &work {
        for lane in 0..L {
            total[lane] += residual[lane];
        }
    }
    total
}

fn block<T: Real, V: Values, const L: usize>(
    walk: &Walk<T>,
    values: V,
    seeds: &[Seed],
    step: &Step<L>,
    current: &[[T; L]],
    rows: Range<usize>,
    out: &mut [[T; L]],
) -> [f64; L] {
    let mut seed = seeds.partition_point(|seed| (seed.0 as usize) < rows.start);
    let mut next_seed = seeds.get(seed).map_or(usize::MAX, |seed| seed.0 as usize);
    let mut residual = [0.0; L];
    let vectors = walk.strength[rows.clone()].iter();
    let vectors = vectors.zip(&walk.inverse[rows.clone()]);
    let vectors = vectors.zip(&current[rows.clone()]).zip(out);
    for (row, (((strength, inverse), here), out)) in rows.zip(vectors) {
        let sum = row_sum(&walk.incoming, values, row, current);
        let mut inflow = sum.map(|sum| step.alpha * sum);
        if row == next_seed {
            while let Some(&(_, lane, weight)) =
                seeds.get(seed).filter(|seed| seed.0 as usize == row)
            {
                inflow[lane as usize] += step.restart[lane as usize] * weight;
                seed += 1;
            }
            next_seed = seeds.get(seed).map_or(usize::MAX, |seed| seed.0 as usize);
        }
        for lane in 0..L {
            let power = inflow[lane] * inverse.wide();
            residual[lane] += strength.wide() * (power - here[lane].wide()).abs();
            let omega = step.omega[lane];
            out[lane] = T::of(omega * power + (1.0 - omega) * out[lane].wide());
        }
    }
    residual
}

/// Σ W_uv z_u over the row of v.
#[inline(always)]
fn row_sum<T: Real, V: Values, const L: usize>(
    matrix: &Matrix,
    values: V,
    row: usize,
    z: &[[T; L]],
) -> [f64; L] {
    let range = matrix.starts[row]..matrix.starts[row + 1];
    let columns = &matrix.columns[range.clone()];
    let values = values.of_row(range);
    let add = |sum: &mut [f64; L], at: usize, column: u32| {
        let from = &z[column as usize];
        for lane in 0..L {
            sum[lane] += values.times(at, from[lane].wide());
        }
    };
    if columns.len() < LONG {
        let mut sum = [0.0; L];
        for (at, &column) in columns.iter().enumerate() {
            add(&mut sum, at, column);
        }
        return sum;
    }
    let mut sums = [[0.0; L]; 4];
    let (strands, tail) = columns.as_chunks::<4>();
    for (chunk, columns) in strands.iter().enumerate() {
        for (strand, &column) in columns.iter().enumerate() {
            add(&mut sums[strand], chunk * 4 + strand, column);
        }
    }
    for (at, &column) in tail.iter().enumerate() {
        add(&mut sums[at], strands.len() * 4 + at, column);
    }
    let [a, b, c, d] = sums;
    std::array::from_fn(|lane| (a[lane] + b[lane]) + (c[lane] + d[lane]))
}

/// The weights of a matrix: all 1, or a slice.
trait Values: Copy + Send + Sync {
    fn of_row(self, entries: Range<usize>) -> Self;
    fn times(self, at: usize, z: f64) -> f64;
}

#[derive(Clone, Copy)]
struct Ones;

impl Values for Ones {
    #[inline(always)]
    fn of_row(self, _: Range<usize>) -> Self {
        self
    }
    #[inline(always)]
    fn times(self, _: usize, z: f64) -> f64 {
        z
    }
}

impl<W: Real> Values for &[W] {
    #[inline(always)]
    fn of_row(self, entries: Range<usize>) -> Self {
        &self[entries]
    }
    #[inline(always)]
    fn times(self, at: usize, z: f64) -> f64 {
        self[at].wide() * z
    }
}
