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
    let first = rows.start;
    let strength = &walk.strength[rows.clone()];
    let inverse = &walk.inverse[rows.clone()];
    let here = &current[rows.clone()];
    let mut seed = seeds.partition_point(|seed| (seed.0 as usize) < first);
    let mut next_seed = seeds.get(seed).map_or(usize::MAX, |seed| seed.0 as usize);
    let mut residual = [0.0; L];
    let mut finish = |at: usize, sum: [f64; L]| {
        let mut inflow = sum.map(|sum| step.alpha * sum);
        if first + at == next_seed {
            while let Some(&(row, lane, weight)) = seeds.get(seed)
                && row as usize == first + at
            {
                inflow[lane as usize] += step.restart[lane as usize] * weight;
                seed += 1;
            }
            next_seed = seeds.get(seed).map_or(usize::MAX, |seed| seed.0 as usize);
        }
        let (strength, inverse) = (strength[at].wide(), inverse[at].wide());
        let (here, out) = (&here[at], &mut out[at]);
        for lane in 0..L {
            let power = inflow[lane] * inverse;
            residual[lane] += strength * (power - here[lane].wide()).abs();
            let omega = step.omega[lane];
            out[lane] = T::of(omega * power + (1.0 - omega) * out[lane].wide());
        }
    };
    let starts = &walk.incoming.starts[first..=rows.end];
    let mut at = 0;
    while at < rows.len() {
        // One vector alone: four rows side by side, which have no sum to wait for.
        if L == 1
            && let Some(&[start, second, third, fourth, end]) = starts[at..].first_chunk::<5>()
        {
            let length = second - start;
            let equal = third - second == length && fourth - third == length;
            if equal && end - fourth == length && length < LONG {
                let sums = four_sums(&walk.incoming, values, start, length, current);
                for (more, sum) in sums.into_iter().enumerate() {
                    finish(at + more, sum);
                }
                at += 4;
                continue;
            }
        }
        finish(at, row_sum(&walk.incoming, values, first + at, current));
        at += 1;
    }
    residual
}

/// The sums of four rows of one length, each in the order of [`row_sum`].
#[inline(always)]
fn four_sums<T: Real, V: Values, const L: usize>(
    matrix: &Matrix,
    values: V,
    start: usize,
    length: usize,
    z: &[[T; L]],
) -> [[f64; L]; 4] {
    let row = |row: usize| {
        let range = start + row * length..start + (row + 1) * length;
        (&matrix.columns[range.clone()], values.of_row(range))
    };
    let ((a, a_values), (b, b_values)) = (row(0), row(1));
    let ((c, c_values), (d, d_values)) = (row(2), row(3));
    let add = |sum: [f64; L], values: V, at: usize, column: u32| -> [f64; L] {
        let from = &z[column as usize];
        std::array::from_fn(|lane| sum[lane] + values.times(at, from[lane].wide()))
    };
    let [mut w, mut x, mut y, mut z] = [[0.0; L]; 4];
    for at in 0..length {
        w = add(w, a_values, at, a[at]);
        x = add(x, b_values, at, b[at]);
        y = add(y, c_values, at, c[at]);
        z = add(z, d_values, at, d[at]);
    }
    [w, x, y, z]
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
    let add = |sum: [f64; L], at: usize, column: u32| -> [f64; L] {
        let from = &z[column as usize];
        std::array::from_fn(|lane| sum[lane] + values.times(at, from[lane].wide()))
    };
    if columns.len() < LONG {
        let mut sum = [0.0; L];
        for (at, &column) in columns.iter().enumerate() {
            sum = add(sum, at, column);
        }
        return sum;
    }
    let (mut a, mut b, mut c, mut d) = ([0.0; L], [0.0; L], [0.0; L], [0.0; L]);
    let (quads, tail) = columns.as_chunks::<4>();
    for (quad, &[first, second, third, fourth]) in quads.iter().enumerate() {
        let at = quad * 4;
        a = add(a, at, first);
        b = add(b, at + 1, second);
        c = add(c, at + 2, third);
        d = add(d, at + 3, fourth);
    }
    for (at, &column) in tail.iter().enumerate() {
        a = add(a, quads.len() * 4 + at, column);
    }
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
