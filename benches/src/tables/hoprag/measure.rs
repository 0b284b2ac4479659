//! All of them on the same questions.

use std::time::Instant;

use anyhow::{Context, Result};
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::significance::Bootstrap;
use rayon::prelude::*;

use super::entrants::{DEEPEST, Entrant, REFERENCE, Space, TOP, Way};
use crate::paired::{self, Samples};
use crate::table::{Bench, Part};
use crate::tables::multihop::set::Asked;
use crate::timing;

/// Numbers of passages that are counted: those of the published number, and those that need a run of
/// their own.
const SHALLOW: [(&str, usize); 3] = [("recall@2", 2), ("recall@5", 5), ("recall@20", TOP)];
const DEEP: [(&str, usize); 3] = [
    ("recall@50", 50),
    ("recall@100", 100),
    ("recall@200", DEEPEST),
];
/// Questions that are timed.
const TIMED: usize = 50;

/// A row for each. Timings are those of the full part alone.
pub(super) fn measure(dataset: &str, space: &Space<'_>, bench: &Bench<'_>) -> Result<Vec<Row>> {
    let entrants = space.entrants();
    let is_reference = |one: &Entrant<'_>| one.name == REFERENCE;
    let reference = entrants.iter().position(is_reference);
    let reference = reference.context("the reference is among them")?;
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for entrant in &entrants {
        let count = space.set().asked.len();
        let figures = (0..count)
            .into_par_iter()
            .map(|at| figures(space, entrant, at));
        let figures: Vec<Figures> = figures.collect::<Result<_>>()?;
        let mut samples = Samples::new();
        for (name, value) in figures.iter().flat_map(|one| &one.rates) {
            paired::put(&mut samples, name, Some(*value));
        }
        let mut row = paired::row(dataset, &entrant.name, &samples, bench.seed)?;
        counts(&mut row, space, entrant, &figures, bench.seed)?;
        if bench.part == Part::Full {
            let seconds = time(space, entrant)?;
            let median = timing::median(&seconds, "ms", |seconds| seconds * 1000.0);
            let mut add = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
            add("ms", Measure::exact(median.value, "ms", median.n));
            add("index_s", Measure::exact(entrant.index_seconds, "s", 1));
        }
        rows.push(row);
        all.push(samples);
    }
    paired::compare(&mut rows, &all, reference, "recall@20", bench.seed)?;
    Ok(rows)
}

/// What one of them makes of one question.
struct Figures {
    rates: Vec<(&'static str, f64)>,
    /// Passages that the last hop reached first, and all that were reached.
    reached: Option<(usize, usize)>,
}

fn figures(space: &Space<'_>, entrant: &Entrant<'_>, at: usize) -> Result<Figures> {
    let asked = space.set().question(at)?;
    let found = space.answer(&entrant.way, at, TOP)?;
    let mut rates: Vec<(&str, f64)> = SHALLOW
        .iter()
        .map(|&(name, k)| (name, asked.recall(&found.best, k)))
        .collect();
    for (name, k) in DEEP {
        let deep = space.answer(&entrant.way, at, k)?;
        rates.push((name, asked.recall(&deep.best, k)));
    }
    rates.push(("f1@20", f1(&found.best, asked, TOP)));
    let whole = |found: &[usize]| f64::from(u8::from(asked.recall(found, found.len()) >= 1.0));
    let Some(hopped) = found.hopped else {
        rates.push(("chain", whole(&found.best)));
        return Ok(Figures {
            rates,
            reached: None,
        });
    };
    let visited: Vec<usize> = hopped
        .visits
        .iter()
        .map(|visit| visit.passage as usize)
        .collect();
    rates.push(("chain", whole(&visited)));
    let dense = space.dense(at)?;
    let as_many: Vec<usize> = dense.ids().take(visited.len()).copied().collect();
    rates.push(("chain_dense", whole(&as_many)));
    // The queue ends where nothing new is reached; the hops behind it reach nothing either.
    let hops = match entrant.way {
        Way::Hops { hops, .. } => hops,
        Way::Dense | Way::Hybrid => 0,
    };
    let last = hopped.queue.get(hops).copied().unwrap_or(0);
    Ok(Figures {
        rates,
        reached: Some((last, visited.len())),
    })
}

/// Figures of a row that are no rates.
fn counts(
    row: &mut Row,
    space: &Space<'_>,
    entrant: &Entrant<'_>,
    figures: &[Figures],
    seed: u64,
) -> Result<()> {
    let asked = figures.len() as u64;
    let mut add = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
    let bootstrap = Bootstrap {
        seed,
        ..Bootstrap::default()
    };
    let reached = figures.iter().filter_map(|one| one.reached);
    let (queues, visited): (Vec<usize>, Vec<usize>) = reached.unzip();
    for (name, counts) in [("queue", queues), ("visited", visited)] {
        let values: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        if !values.is_empty() {
            add(
                name,
                Measure::of_interval(&bootstrap.mean(&values)?, "count"),
            );
        }
    }
    if let Way::Hops { index, hops: 1.. } = &entrant.way {
        let edges = index.edges().len();
        add("edges", Measure::exact(edges as f64, "count", asked));
    }
    for (name, count) in [
        ("questions", space.set().asked.len()),
        ("passages", space.set().texts.len()),
        ("embedded", entrant.embedded),
    ] {
        add(name, Measure::exact(count as f64, "count", asked));
    }
    Ok(())
}

/// The seconds of single questions, one after another, after one that warms up.
fn time(space: &Space<'_>, entrant: &Entrant<'_>) -> Result<Vec<f64>> {
    space.answer(&entrant.way, 0, TOP)?;
    let count = space.set().asked.len().min(TIMED);
    let timed = (0..count).map(|at| {
        let start = Instant::now();
        space.answer(&entrant.way, at, TOP)?;
        Ok(start.elapsed().as_secs_f64())
    });
    timed.collect()
}

/// The harmonic mean of recall and of the share of the first `k` that hold some piece.
fn f1(found: &[usize], asked: &Asked, k: usize) -> f64 {
    let recall = asked.recall(found, k);
    let best = found.iter().take(k);
    let count = best.clone().count();
    let holding = best.filter(|at| asked.gold.iter().any(|piece| piece.contains(at)));
    let precision = holding.count() as f64 / count.max(1) as f64;
    match precision + recall {
        0.0 => 0.0,
        both => 2.0 * precision * recall / both,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn f1_is_the_harmonic_mean_of_precision_and_recall() {
        let asked = Asked {
            text: "?".to_owned(),
            gold: [3, 7].map(|at| BTreeSet::from([at])).into(),
            bridges: BTreeSet::new(),
        };
        // One of four is gold, one of two pieces found.
        assert_eq!(f1(&[1, 3, 5, 6], &asked, 4), 2.0 * 0.25 * 0.5 / 0.75);
        assert_eq!(f1(&[1, 3, 5, 7], &asked, 2), 0.5);
        assert_eq!(f1(&[3, 7], &asked, 20), 1.0);
        assert_eq!(f1(&[1, 2], &asked, 2), 0.0);
        assert_eq!(f1(&[], &asked, 2), 0.0);
        assert_eq!(asked.recall(&[1, 3, 5, 7], 4), 1.0);
    }
}
