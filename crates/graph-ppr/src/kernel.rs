//! What flows into each node: rows of the matrix times a vector, for one lane or several side by
//! side.
//!
//! Vectors hold z = p ⊘ strength, so that undirected matrices are gathered from without weights of
//! their own and directed ones need no transposed P. The sums of a row are in an order that depends
//! on the row alone, so a lane's bits depend neither on the other lanes nor on the threads.

use std::ops::Range;

use crate::octets::{Octet, Run, SIDE};
use crate::real::Real;
use crate::walk::{Matrix, Walk, Weights};

/// Rows from this length are summed in four strands, which a processor adds side by side.
pub(crate) const LONG: usize = 32;

/// The most rows whose sums are made before the vectors are touched: few enough for the first-level cache.
pub(crate) const CHUNK: usize = 128;

/// Sums over rows are added in so many strands, row by row in turn, and then pairwise: one sum
/// alone would wait for itself.
pub(crate) const STRANDS: usize = 8;

/// The sum of the strands, pairwise.
pub(crate) fn strand_sum<const L: usize>(strands: &[[f64; L]; STRANDS]) -> [f64; L] {
    let [a, b, c, d, e, f, g, h] = strands;
    std::array::from_fn(|lane| {
        let low = (a[lane] + b[lane]) + (c[lane] + d[lane]);
        low + ((e[lane] + f[lane]) + (g[lane] + h[lane]))
    })
}

/// A restart weight: row (in the walk's numbers), lane, weight. Sorted by row, then lane.
pub(crate) type Seed = (u32, u32, f64);

/// The seeds of some rows.
pub(crate) fn seeds_of(seeds: &[Seed], rows: &Range<usize>) -> Range<usize> {
    let before = |row: usize| seeds.partition_point(|seed| (seed.0 as usize) < row);
    before(rows.start)..before(rows.end)
}

/// α Σ_{u→v} W_uv z_u + restart · r_v for the rows v of a run.
#[inline(always)]
pub(crate) fn inflow<'a, T: Real, const L: usize>(
    walk: &Walk<T>,
    run: &Run,
    alpha: f64,
    (seeds, restart): (&[Seed], &[f64; L]),
    z: &[[T; L]],
    out: &'a mut [[f64; L]; CHUNK],
) -> &'a mut [[f64; L]] {
    let rows = &run.rows;
    let out = &mut out[..rows.len()];
    if L == 1 && !run.octets.is_empty() {
        let octets = walk.octets.of(run);
        for (octet, out) in octets.zip(out.as_chunks_mut::<SIDE>().0) {
            *out = octet_sums(walk, &octet, z);
        }
    } else {
        let matrix = &walk.incoming;
        match &matrix.weights {
            Weights::Ones => row_sums(matrix, Ones, rows, z, out),
            Weights::Single(weights) => row_sums(matrix, &weights[..], rows, z, out),
            Weights::Double(weights) => row_sums(matrix, &weights[..], rows, z, out),
        }
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

/// The strengths of eight rows, and what is multiplied in place of dividing by them.
pub(crate) type Scales<T> = ([T; SIDE], [T; SIDE]);

/// The scales of rows of which each has `depth` entries, if that is not 0. Where that is their strength
/// they are not read: two more vectors would cost a quarter of a sweep.
#[inline(always)]
pub(crate) fn scales<T: Real>(walk: &Walk<T>, rows: &Range<usize>, depth: usize) -> Scales<T> {
    if walk.lengths_are_strengths() && depth > 0 {
        let depth = depth as f64;
        return ([T::of(depth); SIDE], [T::of(1.0 / depth); SIDE]);
    }
    let of = |from: &[T]| {
        let rows = from[rows.clone()].first_chunk();
        rows.copied().unwrap_or_default()
    };
    (of(&walk.strength), of(&walk.inverse))
}

/// Σ W_uv z_u for the rows v of an octet, each in the order of [`row_sum`]. For one vector; where
/// several lie side by side, a row's own are summed together.
#[inline(always)]
pub(crate) fn octet_sums<T: Real, const L: usize>(
    walk: &Walk<T>,
    octet: &Octet,
    z: &[[T; L]],
) -> [[f64; L]; SIDE] {
    let copy = &walk.octets;
    match &walk.incoming.weights {
        Weights::Ones => sums_abreast(walk, (Ones, Ones), octet, z),
        Weights::Single(w) => sums_abreast(walk, (&w[..], &copy.single[..]), octet, z),
        Weights::Double(w) => sums_abreast(walk, (&w[..], &copy.double[..]), octet, z),
    }
}

#[inline(always)]
fn sums_abreast<T: Real, V: Values, O: OctetValues, const L: usize>(
    walk: &Walk<T>,
    (values, copied): (V, O),
    octet: &Octet,
    z: &[[T; L]],
) -> [[f64; L]; SIDE] {
    let range = octet.start..octet.start + octet.depth;
    let copied = copied.of_octet(range.clone());
    let mut sums = table_sums(&walk.octets.columns[range], copied, z);
    if !octet.even {
        let matrix = &walk.incoming;
        for (row, sum) in octet.rows().zip(&mut sums) {
            let rest = matrix.starts[row] + octet.depth..matrix.starts[row + 1];
            let values = values.of_row(rest.clone());
            for (at, &column) in matrix.columns[rest].iter().enumerate() {
                let from = &z[column as usize];
                for lane in 0..L {
                    sum[lane] += values.times(at, from[lane].wide());
                }
            }
        }
    }
    sums
}

/// The sums of the copied part of an octet.
#[inline(always)]
pub(crate) fn table_sums<T: Real, V: OctetValues, const L: usize>(
    table: &[[u32; SIDE]],
    values: V,
    z: &[[T; L]],
) -> [[f64; L]; SIDE] {
    let mut sums = [[0.0; L]; SIDE];
    for (at, &columns) in table.iter().enumerate() {
        if L == 1 {
            for side in 0..SIDE {
                sums[side][0] += values.times(at, side, z[columns[side] as usize][0].wide());
            }
            continue;
        }
        let add = |sum: [f64; L], side: usize| -> [f64; L] {
            let from = &z[columns[side] as usize];
            std::array::from_fn(|lane| sum[lane] + values.times(at, side, from[lane].wide()))
        };
        // One by one, so that the lanes of each sum are one register.
        let [a, b, c, d, e, f, g, h] = sums;
        let low = (add(a, 0), add(b, 1), add(c, 2), add(d, 3));
        let high = (add(e, 4), add(f, 5), add(g, 6), add(h, 7));
        sums = [low.0, low.1, low.2, low.3, high.0, high.1, high.2, high.3];
    }
    sums
}

#[inline(always)]
fn row_sums<T: Real, V: Values, const L: usize>(
    matrix: &Matrix,
    values: V,
    rows: &Range<usize>,
    z: &[[T; L]],
    out: &mut [[f64; L]],
) {
    for (row, out) in rows.clone().zip(out) {
        *out = row_sum(matrix, values, row, z);
    }
}

/// Σ W_uv z_u over the row of v.
#[inline(always)]
pub(crate) fn row_sum<T: Real, V: Values, const L: usize>(
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
pub(crate) trait Values: Copy + Send + Sync {
    fn of_row(self, entries: Range<usize>) -> Self;
    fn times(self, at: usize, z: f64) -> f64;
}

#[derive(Clone, Copy)]
pub(crate) struct Ones;

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

/// The weights of eight rows side by side.
pub(crate) trait OctetValues: Copy {
    fn of_octet(self, entries: Range<usize>) -> Self;
    fn times(self, at: usize, side: usize, z: f64) -> f64;
}

impl OctetValues for Ones {
    #[inline(always)]
    fn of_octet(self, _: Range<usize>) -> Self {
        self
    }
    #[inline(always)]
    fn times(self, _: usize, _: usize, z: f64) -> f64 {
        z
    }
}

impl<W: Real> OctetValues for &[[W; SIDE]] {
    #[inline(always)]
    fn of_octet(self, entries: Range<usize>) -> Self {
        &self[entries]
    }
    #[inline(always)]
    fn times(self, at: usize, side: usize, z: f64) -> f64 {
        self[at][side].wide() * z
    }
}
