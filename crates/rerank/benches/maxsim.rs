//! MaxSim beside a plain matrix product and beside the most that the core can multiply,
//! interleaved in one run on one thread: medians, and medians of the ratios of one round.
//!
//! `cargo bench -p cornu-rerank --bench maxsim [-- ROUNDS]`, by default 30.
//!
//! The plain product is that of `ndarray` (`matrixmultiply`): all query tokens with all document
//! tokens into one matrix, then the largest value of each document's part of each row. The peak is
//! a chain of fused multiplications and additions on registers alone.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use cornu_rerank::{Precision, QueryTokens, TokenMatrix, max_sims};
use ndarray::{Array2, s};
use pulp::{Arch, Simd, WithSimd};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// Documents of a call, and tokens of each.
const DOCUMENTS: usize = 50;
const TOKENS: usize = 180;

fn main() {
    let rounds = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(30);
    println!(
        "{DOCUMENTS} documents of {TOKENS} tokens, {rounds} rounds, {:?}",
        Arch::new()
    );
    println!("tokens  d     what            ms      GFLOP/s  of peak  plain product takes");
    for dimension in [128, 384] {
        for query in [16, 32] {
            shape(query, dimension, rounds);
        }
    }
    for dimension in [128, 384] {
        loss(dimension);
    }
}

fn shape(query: usize, dimension: usize, rounds: usize) {
    let mut random = Pcg64::new(u128::from(query as u64), 14);
    let asked = unit_rows(query, dimension, &mut random);
    let held = unit_rows(DOCUMENTS * TOKENS, dimension, &mut random);
    let tokens = QueryTokens::new(asked.view()).unwrap();
    let kept = [Precision::F32, Precision::F16, Precision::Int8].map(|precision| {
        let documents = (0..DOCUMENTS).map(|at| {
            let rows = held.slice(s![at * TOKENS..(at + 1) * TOKENS, ..]);
            TokenMatrix::new(rows, precision).unwrap()
        });
        (precision.name(), documents.collect::<Vec<_>>())
    });
    let operations = 2.0 * (query * dimension * DOCUMENTS * TOKENS) as f64;

    // Times of: plain product, peak, then each precision.
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); 2 + kept.len()];

    for _ in 0..rounds {
        let clock = Instant::now();
        let plain = black_box(plain(&asked, &held));
        times[0].push(clock.elapsed().as_secs_f64());
        let clock = Instant::now();
        let done = black_box(Arch::new().dispatch(Peak { operations }));
        times[1].push(clock.elapsed().as_secs_f64() * operations / done);
        for (at, (name, documents)) in kept.iter().enumerate() {
            let documents: Vec<&TokenMatrix> = documents.iter().collect();
            let clock = Instant::now();
            let scores = black_box(max_sims(&tokens, &documents)).unwrap();
            times[2 + at].push(clock.elapsed().as_secs_f64());
            // A bench that measures something else than it says is worse than none.
            for (score, plain) in scores.iter().zip(&plain) {
                let close = (score.unwrap().sum - plain).abs() < 0.02 * query as f64;
                assert!(close, "{name}: {score:?} for {plain}");
            }
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let ratio = |a: &[f64], b: &[f64]| median(&mut a.iter().zip(b).map(|(a, b)| a / b).collect());
    let names = [
        "plain product",
        "peak",
        "MaxSim f32",
        "MaxSim f16",
        "MaxSim int8",
    ];
    for (name, row) in names.iter().zip(&times) {
        let time = median(&mut row.clone());
        println!(
            "{query:5}  {dimension:4}  {name:14} {:7.3}  {:8.1}  {:6.0} %  {:6.2} times as long",
            1e3 * time,
            1e-9 * operations / time,
            100.0 * ratio(&times[1], row),
            ratio(&times[0], row)
        );
    }
}

/// What 16-bit and 8-bit documents change in the scores and in the order of random documents, which
/// lie much closer together than real ones: an upper bound of sorts.
fn loss(dimension: usize) {
    let mut random = Pcg64::new(7, 14);
    let (mut worst, mut swaps, mut pairs) = ([0.0_f64; 2], [0_usize; 2], 0);
    for _ in 0..20 {
        let query = QueryTokens::new(unit_rows(16, dimension, &mut random).view()).unwrap();
        let documents: Vec<Array2<f32>> = (0..DOCUMENTS)
            .map(|_| unit_rows(TOKENS, dimension, &mut random))
            .collect();
        let scores = |precision| {
            let kept: Vec<TokenMatrix> = documents
                .iter()
                .map(|rows| TokenMatrix::new(rows.view(), precision).unwrap())
                .collect();
            let scores = max_sims(&query, &kept.iter().collect::<Vec<_>>()).unwrap();
            scores
                .iter()
                .map(|score| score.unwrap().mean())
                .collect::<Vec<_>>()
        };
        let exact = scores(Precision::F32);
        pairs += DOCUMENTS * (DOCUMENTS - 1) / 2;
        for (at, precision) in [Precision::F16, Precision::Int8].into_iter().enumerate() {
            let rounded = scores(precision);
            for (i, (a, r)) in exact.iter().zip(&rounded).enumerate() {
                worst[at] = worst[at].max((a - r).abs());
                let later = exact.iter().zip(&rounded).skip(i + 1);
                swaps[at] += later.filter(|(b, s)| (a < *b) != (r < *s)).count();
            }
        }
    }
    for (at, name) in ["f16", "int8"].iter().enumerate() {
        println!(
            "d = {dimension}: {name} moves a mean similarity by at most {:.1e} and swaps {} of {pairs} pairs of random documents",
            worst[at], swaps[at]
        );
    }
}

/// All inner products, then the maxima.
fn plain(query: &Array2<f32>, documents: &Array2<f32>) -> Vec<f64> {
    let products = query.dot(&documents.t());
    (0..DOCUMENTS)
        .map(|at| {
            let part = products.slice(s![.., at * TOKENS..(at + 1) * TOKENS]);
            let largest = |row: ndarray::ArrayView1<'_, f32>| row.fold(f32::MIN, |a, &b| a.max(b));
            part.rows()
                .into_iter()
                .map(|row| f64::from(largest(row)))
                .sum()
        })
        .collect()
}

/// As many operations as registers can do, nothing read or written; gives how many were done.
struct Peak {
    operations: f64,
}

impl WithSimd for Peak {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        const CHAINS: usize = 12;
        let a = simd.splat_f32s(black_box(0.999));
        let b = simd.splat_f32s(black_box(0.001));
        let mut sums = [simd.splat_f32s(black_box(1.0)); CHAINS];
        let step = (2 * CHAINS * S::F32_LANES) as f64;
        let steps = (self.operations / step).ceil();
        for _ in 0..steps as u64 {
            for sum in &mut sums {
                *sum = simd.mul_add_e_f32s(*sum, a, b);
            }
        }
        black_box(sums);
        steps * step
    }
}

fn unit_rows(rows: usize, dimension: usize, random: &mut Pcg64) -> Array2<f32> {
    let mut out = Array2::from_shape_fn((rows, dimension), |_| {
        // A sum of uniform numbers: near enough to normal ones.
        (0..4)
            .map(|_| (random.next_u32() as f32) / (u32::MAX as f32) - 0.5)
            .sum()
    });
    cornu_core::normalise_rows(&mut out).unwrap();
    out
}
