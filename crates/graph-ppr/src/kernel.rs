//! What flows into each node: rows of the matrix times a vector, for one lane or several side by
//! side.
//!
//! Vectors hold z = p ⊘ strength, so that undirected matrices are gathered from without weights of
//! their own and directed ones need no transposed P. The sums of a row are in an order that depends
//! on the row alone, so a lane's bits depend neither on the other lanes nor on the threads.

use std::ops::Range;

use crate::real::Real;
use crate::walk::{Matrix, Walk, Weights};

/// Rows from this length are summed in four strands, which a processor adds side by side.
const LONG: usize = 32;

/// Rows whose sums are made before the vectors are touched: few enough for the first-level cache.
pub(crate) const CHUNK: usize = 128;

/// Sums over rows are added in so many strands, row by row in turn, and then pairwise: one sum
/// alone would wait for itself.
pub(crate) const STRANDS: usize = 4;

/// A restart weight: row (in the walk's numbers), lane, weight. Sorted by row, then lane.
pub(crate) type Seed = (u32, u32, f64);

/// The seeds of some rows.
pub(crate) fn seeds_of(seeds: &[Seed], rows: &Range<usize>) -> Range<usize> {
    let before = |row: usize| seeds.partition_point(|seed| (seed.0 as usize) < row);
    before(rows.start)..before(rows.end)
}

/// α Σ_{u→v} W_uv z_u + restart · r_v for the rows v, at most [`CHUNK`] of them.
pub(crate) fn inflow<'a, T: Real, const L: usize>(
    walk: &Walk<T>,
    rows: &Range<usize>,
    alpha: f64,
    (seeds, restart): (&[Seed], &[f64; L]),
    z: &[[T; L]],
    out: &'a mut [[f64; L]; CHUNK],
) -> &'a mut [[f64; L]] {
    let out = &mut out[..rows.len()];
    let matrix = &walk.incoming;
    match &matrix.weights {
        Weights::Ones => row_sums(matrix, Ones, rows, z, out),
        Weights::Single(weights) => row_sums(matrix, &weights[..], rows, z, out),
        Weights::Double(weights) => row_sums(matrix, &weights[..], rows, z, out),
    }
    for sum in out.as_flattened_mut() {
        *sum *= alpha;
    }
    for &(row, lane, weight) in &seeds[seeds_of(seeds, rows)] {
        let lane = lane as usize;
        out[row as usize - rows.start][lane] += restart[lane] * weight;
    }
    out
}

#[inline(always)]
fn row_sums<T: Real, V: Values, const L: usize>(
    matrix: &Matrix,
    values: V,
    rows: &Range<usize>,
    z: &[[T; L]],
    out: &mut [[f64; L]],
) {
    let starts = &matrix.starts[rows.start..=rows.end];
    let mut at = 0;
    while at < out.len() {
        // One vector alone: four rows side by side, which have no sum to wait for.
        if L == 1
            && let Some(&[start, second, third, fourth, end]) = starts[at..].first_chunk::<5>()
        {
            let length = second - start;
            let equal = third - second == length && fourth - third == length;
            if equal && end - fourth == length && length < LONG {
                let sums = four_sums(matrix, values, start, length, z);
                out[at..at + 4].copy_from_slice(&sums);
                at += 4;
                continue;
            }
        }
        out[at] = row_sum(matrix, values, rows.start + at, z);
        at += 1;
    }
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
