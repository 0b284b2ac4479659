//! Times both ways of choosing segments among 100,000 chunks: `cargo run --release -p
//! cornu-segment --example hundred_thousand`.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use cornu_segment::SegmentError;
use cornu_segment::select::{Limits, Values, greedy, optimal};

const CHUNKS: usize = 100_000;
const ROUNDS: usize = 5;

fn main() -> Result<(), SegmentError> {
    let limits = Limits {
        segment: 40,
        total: 200,
        minimum: 0.4,
        price: 0.4,
    };
    println!("{CHUNKS} chunks in 2 documents, {limits:?}, best of {ROUNDS}");
    for (name, found) in [
        ("200 found", 0.002),
        ("half found", 0.5),
        ("all found", 1.0),
    ] {
        let values = Values::new(vec![row(found)], &[CHUNKS / 2, CHUNKS / 2])?;
        let (mut fastest_greedy, mut fastest_exact) = (f64::INFINITY, f64::INFINITY);
        let (mut first, mut exact) = (0.0, 0.0);
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            first = greedy(&values, &limits)?.objective(&limits);
            fastest_greedy = fastest_greedy.min(begun.elapsed().as_secs_f64());
            let begun = Instant::now();
            exact = optimal(&values, &limits)?.objective(&limits);
            fastest_exact = fastest_exact.min(begun.elapsed().as_secs_f64());
        }
        println!(
            "{name:10}: greedy {:8.2} ms (objective {first:.3}), exact {:8.2} ms ({exact:.3})",
            fastest_greedy * 1e3,
            fastest_exact * 1e3
        );
    }
    Ok(())
}

/// Values of a search that found this part of the chunks, from a linear congruential generator
/// (Knuth's MMIX constants), seed 1.
fn row(found: f64) -> Vec<f64> {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let one = |_| {
        if random() < found { random() } else { -0.18 }
    };
    (0..CHUNKS).map(one).collect()
}
