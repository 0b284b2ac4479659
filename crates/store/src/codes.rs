//! Rows in few bits: codes of 8 bits with a bound on what they lose, and of one bit.
//!
//! A code is a function of its row alone. What is computed from codes are integers, scaled once: the
//! same numbers on every processor.

use rayon::prelude::*;

use crate::kernel::{QUERY_BITS, bit_products, code_products, code_products_at};
use crate::score::Query;
use crate::validate::UNIT_TOLERANCE;

/// The largest code.
const MAX_CODE: f32 = 127.0;

/// Rows of one task of encoding.
const TASK_ROWS: usize = 1024;

/// What roundings to f32 may add to an error: of a score below 2, a few halves of the last place.
const SLACK: f32 = 2e-6;

/// Rows of `x ≈ scale · code`, codes from −127 to 127.
pub(crate) struct Int8Codes {
    dimension: usize,
    codes: Vec<i8>,
    scales: Vec<f32>,
    /// ‖x − scale · code‖, rounded up.
    lost: Vec<f32>,
}

impl Int8Codes {
    /// O(rows · D), in parallel.
    pub(crate) fn new(rows: &[f32], dimension: usize) -> Self {
        let dimension = dimension.max(1);
        let count = rows.len() / dimension;
        let mut codes = vec![0; count * dimension];
        let (mut scales, mut lost) = (vec![0.0; count], vec![0.0; count]);
        let tasks = rows
            .par_chunks(TASK_ROWS * dimension)
            .zip(codes.par_chunks_mut(TASK_ROWS * dimension))
            .zip(scales.par_chunks_mut(TASK_ROWS))
            .zip(lost.par_chunks_mut(TASK_ROWS));
        tasks.for_each(|(((rows, codes), scales), lost)| {
            let rows = rows.chunks_exact(dimension);
            let codes = codes.chunks_exact_mut(dimension);
            for (((row, code), scale), lost) in rows.zip(codes).zip(scales).zip(lost) {
                (*scale, *lost) = encode(row, code);
            }
        });
        Self {
            dimension,
            codes,
            scales,
            lost,
        }
    }

    /// The least that the similarity of each of some rows may be; `None` where there are no such
    /// rows. `out` has room for as many numbers.
    pub(crate) fn at_least(
        &self,
        rows: std::ops::Range<usize>,
        query: &CodedQuery,
        out: &mut [f32],
    ) -> Option<()> {
        let mut sums = [0; 64];
        let mut start = rows.start;
        for out in out.chunks_mut(sums.len()) {
            let here = start..start + out.len();
            start = here.end;
            let codes = self
                .codes
                .get(here.start * self.dimension..here.end * self.dimension)?;
            let sums = sums.get_mut(..out.len())?;
            code_products(codes, &query.values, sums);
            let scales = self.scales.get(here.clone())?.iter();
            for (((out, sum), scale), lost) in out
                .iter_mut()
                .zip(sums)
                .zip(scales)
                .zip(self.lost.get(here)?)
            {
                *out = query.score(*sum, *scale) - query.error(*lost);
            }
        }
        (start == rows.end).then_some(())
    }

    /// How far the similarity of a row may be from its score.
    pub(crate) fn error(&self, row: usize, query: &CodedQuery) -> Option<f32> {
        self.lost.get(row).map(|lost| query.error(*lost))
    }
}

/// The code of a row, its scale, and the norm of what is lost.
pub(crate) fn encode(row: &[f32], code: &mut [i8]) -> (f32, f32) {
    let largest = row.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let scale = (largest / MAX_CODE).max(f32::MIN_POSITIVE);
    let mut lost = 0.0_f64;
    for (code, x) in code.iter_mut().zip(row) {
        let rounded = (x / scale).round();
        *code = rounded as i8;
        // Exact: a product of 24 bits by 8, in 53.
        lost += (f64::from(*x) - f64::from(scale) * f64::from(*code)).powi(2);
    }
    // A sum of squares in f64 and a rounding to f32, both far below a millionth.
    (scale, (lost.sqrt() * 1.000_001) as f32)
}

/// A query in 16 bits, for rows of 8.
pub(crate) struct CodedQuery {
    values: Vec<i16>,
    scale: f32,
    /// ‖q − scale · values‖, rounded up.
    lost: f32,
}

impl CodedQuery {
    pub(crate) fn new(query: &Query) -> Self {
        Self::of(&query.exact)
    }

    fn of(query: &[f64]) -> Self {
        let largest = query.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let sum: f64 = query.iter().map(|x| x.abs()).sum();
        // 127 · Σ|values| stays below 2³⁰, and each value within 16 bits.
        let bound = (sum * 127.0 / f64::from(1 << 30)).max(largest / 32_767.0);
        let scale = (bound.max(f64::from(f32::MIN_POSITIVE)) * 1.000_001) as f32;
        let mut lost = 0.0;
        let values = query
            .iter()
            .map(|x| {
                let value = (x / f64::from(scale)).round() as i16;
                lost += (x - f64::from(scale) * f64::from(value)).powi(2);
                value
            })
            .collect();
        Self {
            values,
            scale,
            lost: (lost.sqrt() * 1.000_001) as f32,
        }
    }

    /// A coded row as a query: nothing more is lost.
    pub(crate) fn of_code(code: &[i8], scale: f32) -> Self {
        Self {
            values: code.iter().map(|x| i16::from(*x)).collect(),
            scale,
            lost: 0.0,
        }
    }

    /// The inner product of what was kept of a row and of the query.
    fn score(&self, sum: i32, scale: f32) -> f32 {
        sum as f32 * (self.scale * scale)
    }

    /// With x = x̂ + r and q = q̂ + s, x·q − x̂·q̂ = r·q + x̂·s, which is at most ‖r‖‖q‖ + ‖x̂‖‖s‖ by
    /// Cauchy and Schwarz; ‖q‖ = 1 and ‖x̂‖ ≤ ‖x‖ + ‖r‖.
    fn error(&self, lost: f32) -> f32 {
        let norm = 1.0 + UNIT_TOLERANCE as f32;
        (lost + (norm + lost) * self.lost) * 1.000_001 + SLACK
    }

    /// The scores of the rows of these numbers.
    pub(crate) fn scores_at(&self, codes: &[i8], scales: &[f32], at: &[u32], out: &mut Vec<f32>) {
        let mut sums = [0; 64];
        out.clear();
        for at in at.chunks(sums.len()) {
            let sums = sums.get_mut(..at.len()).unwrap_or_default();
            code_products_at(codes, at, &self.values, sums);
            out.extend(at.iter().zip(sums).map(|(row, sum)| {
                let scale = scales.get(*row as usize).copied();
                scale.map_or(f32::NEG_INFINITY, |scale| self.score(*sum, scale))
            }));
        }
    }
}

/// Rows of one bit a component: the sign of what is left of it when a centre is taken away.
///
/// With d = x − c the similarity is q·c + c·d + (q − c)·d. The first part is the same for all rows,
/// the second is kept, and for the third stands (s·(q − c)) ‖d‖² / (s·d), with s the vector of
/// signs: the part of q − c along s, where s stands for the direction of d (Gao and Long, *RaBitQ*,
/// SIGMOD 2024, without its random rotation and so without its bound). s·d is the sum of the |dᵢ|.
pub(crate) struct BitCodes {
    words: usize,
    bits: Vec<u64>,
    /// ‖d‖² / Σ|dᵢ|, and c·d.
    parts: Vec<(f32, f32)>,
}

impl BitCodes {
    /// O(rows · D), in parallel. Without a centre it is the origin.
    pub(crate) fn new(rows: &[f32], dimension: usize, centre: Option<&[f32]>) -> Self {
        let dimension = dimension.max(1);
        let words = dimension.div_ceil(64);
        let count = rows.len() / dimension;
        let origin = vec![0.0; dimension];
        let centre = centre.unwrap_or(&origin);
        let (mut bits, mut parts) = (vec![0; count * words], vec![(0.0, 0.0); count]);
        let tasks = rows
            .par_chunks(TASK_ROWS * dimension)
            .zip(bits.par_chunks_mut(TASK_ROWS * words))
            .zip(parts.par_chunks_mut(TASK_ROWS));
        tasks.for_each(|((rows, bits), parts)| {
            let rows = rows.chunks_exact(dimension);
            for ((row, bits), parts) in rows.zip(bits.chunks_exact_mut(words)).zip(parts) {
                *parts = signs(row, centre, bits);
            }
        });
        Self { words, bits, parts }
    }

    /// Estimates of the similarity of some rows, less q·c; `None` where there are no such rows.
    /// `out` has room for as many numbers.
    pub(crate) fn estimates(
        &self,
        rows: std::ops::Range<usize>,
        query: &BitQuery,
        out: &mut [f32],
    ) -> Option<()> {
        let mut sums = [(0, 0); 64];
        let mut start = rows.start;
        for out in out.chunks_mut(sums.len()) {
            let here = start..start + out.len();
            start = here.end;
            let bits = self
                .bits
                .get(here.start * self.words..here.end * self.words)?;
            let sums = sums.get_mut(..out.len())?;
            bit_products(bits, &query.planes, sums);
            let parts = self.parts.get(here)?;
            for ((out, (ones, sum)), (weight, offset)) in out.iter_mut().zip(sums).zip(parts) {
                *out = offset + query.along(*ones, *sum) * weight;
            }
        }
        (start == rows.end).then_some(())
    }
}

/// The signs of a row less a centre, and the two numbers beside them.
fn signs(row: &[f32], centre: &[f32], bits: &mut [u64]) -> (f32, f32) {
    let (mut square, mut sum, mut along) = (0.0_f64, 0.0_f64, 0.0_f64);
    for ((word, part), centre) in bits.iter_mut().zip(row.chunks(64)).zip(centre.chunks(64)) {
        for (at, (x, c)) in part.iter().zip(centre).enumerate() {
            let d = f64::from(*x) - f64::from(*c);
            *word |= u64::from(d > 0.0) << at;
            square += d * d;
            sum += d.abs();
            along += d * f64::from(*c);
        }
    }
    let weight = if sum > 0.0 { square / sum } else { 0.0 };
    (weight as f32, along as f32)
}

/// A query less a centre in 4 bits a component, as planes of bits: ≈ step · (uᵢ − 7.5), u from 0 to
/// 15.
pub(crate) struct BitQuery {
    planes: [Vec<u64>; QUERY_BITS],
    dimension: i64,
    /// Σ uᵢ.
    sum: i64,
    half_step: f32,
}

impl BitQuery {
    pub(crate) fn new(query: &Query, centre: Option<&[f32]>) -> Self {
        let mut left = query.exact.clone();
        for (x, c) in left.iter_mut().zip(centre.unwrap_or_default()) {
            *x -= f64::from(*c);
        }
        let largest = left.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let step = (largest / 7.5).max(f64::MIN_POSITIVE);
        let level = |x: &f64| (x / step + 7.5).round().clamp(0.0, 15.0) as u64;
        let levels: Vec<u64> = left.iter().map(level).collect();
        let plane = |bit: usize| {
            let word = |part: &[u64]| {
                let bits = part.iter().enumerate();
                bits.fold(0, |word, (at, level)| word | (level >> bit & 1) << at)
            };
            levels.chunks(64).map(word).collect()
        };
        Self {
            planes: std::array::from_fn(plane),
            dimension: levels.len() as i64,
            sum: levels.iter().sum::<u64>() as i64,
            half_step: (step / 2.0) as f32,
        }
    }

    /// s·(q − c) of a row with that many ones over which u sums to `over_ones`.
    fn along(&self, ones: u32, over_ones: u32) -> f32 {
        let signed = 2 * i64::from(over_ones) - self.sum;
        let twice = 2 * signed - 15 * (2 * i64::from(ones) - self.dimension);
        twice as f32 * self.half_step
    }
}

#[cfg(test)]
mod tests {
    use cornu_core::testing::proptest::prelude::*;
    use cornu_core::testing::strategies::unit_vector;

    use super::*;

    proptest! {
        /// The similarity lies where the code and its bound say, and the bound is of use.
        #[test]
        fn the_similarity_is_within_the_bound(
            (row, query) in (1usize..90).prop_flat_map(|d| (unit_vector(d), unit_vector(d))),
        ) {
            let query = Query::new(&query.view(), row.len()).unwrap();
            let row = row.to_vec();
            let codes = Int8Codes::new(&row, row.len());
            let coded = CodedQuery::new(&query);
            let mut least = [0.0];
            codes.at_least(0..1, &coded, &mut least).unwrap();
            let error = codes.error(0, &coded).unwrap();
            let (least, most) = (f64::from(least[0]), f64::from(least[0]) + 2.0 * f64::from(error));
            let truth = query.similarity(&row);
            prop_assert!(least <= truth && truth <= most, "{least} {truth} {most}");
            // Each component is off by half a step at most, and a step is a 127th of the largest.
            prop_assert!(f64::from(error) <= 0.5 / 127.0 * (row.len() as f64).sqrt() + 1e-3);
        }

        /// The planes and the counting are the sum over components, by its definition.
        #[test]
        fn bits_are_the_sum_of_signs_times_levels(
            (row, query, centre) in (1usize..200)
                .prop_flat_map(|d| (unit_vector(d), unit_vector(d), unit_vector(d))),
            centred in any::<bool>(),
        ) {
            let query = Query::new(&query.view(), row.len()).unwrap();
            let row = row.to_vec();
            let centre = centre.map(|c| c * 0.7).to_vec();
            let given = centred.then_some(&centre[..]);
            let bits = BitCodes::new(&row, row.len(), given);
            let mut found = [0.0];
            bits.estimates(0..1, &BitQuery::new(&query, given), &mut found).unwrap();
            let c = |at: usize| if centred { f64::from(centre[at]) } else { 0.0 };
            let left: Vec<f64> = query.exact.iter().enumerate().map(|(at, q)| q - c(at)).collect();
            let d: Vec<f64> = row.iter().enumerate().map(|(at, x)| f64::from(*x) - c(at)).collect();
            let step = left.iter().fold(0.0_f64, |most, x| most.max(x.abs())) / 7.5;
            let along: f64 = d.iter().zip(&left)
                .map(|(d, q)| {
                    let level = (q / step + 7.5).round().clamp(0.0, 15.0) - 7.5;
                    if *d > 0.0 { step * level } else { -step * level }
                })
                .sum();
            let square: f64 = d.iter().map(|d| d * d).sum();
            let sum: f64 = d.iter().map(|d| d.abs()).sum();
            let offset: f64 = d.iter().enumerate().map(|(at, d)| d * c(at)).sum();
            let expected = offset + along * square / sum;
            prop_assert!((f64::from(found[0]) - expected).abs() <= 1e-4 * expected.abs().max(1.0));
        }
    }

    /// Rows of several tasks, each as if it stood alone.
    #[test]
    fn a_code_is_a_function_of_its_row() {
        let dimension = 70;
        let rows: Vec<f32> = (0..dimension * 2500)
            .map(|at| ((at * 2_654_435_761_usize % 1000) as f32 - 499.5) / 4000.0)
            .collect();
        let (all, bits) = (
            Int8Codes::new(&rows, dimension),
            BitCodes::new(&rows, dimension, None),
        );
        for row in [0, 1, 1023, 1024, 2499] {
            let alone = &rows[row * dimension..(row + 1) * dimension];
            let (one, bit) = (
                Int8Codes::new(alone, dimension),
                BitCodes::new(alone, dimension, None),
            );
            assert_eq!(all.codes[row * dimension..(row + 1) * dimension], one.codes);
            assert_eq!(
                (all.scales[row], all.lost[row]),
                (one.scales[0], one.lost[0])
            );
            assert_eq!(
                (&bits.bits[row * 2..row * 2 + 2], bits.parts[row]),
                (&bit.bits[..], bit.parts[0])
            );
        }
        assert!(
            all.at_least(2499..2501, &CodedQuery::of(&[0.1; 70]), &mut [0.0; 2])
                .is_none()
        );
    }
}
