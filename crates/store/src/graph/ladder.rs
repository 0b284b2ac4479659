//! How much a search of each breadth finds, measured on the graph.

use rayon::prelude::*;

use super::Rung;
use super::net::Net;
use crate::codes::CodedQuery;
use crate::resident::{Damaged, Rows};
use crate::score::{Query, scan_error};

/// Recall is over so many.
pub(crate) const K: usize = 10;

/// Breadths that are measured.
const EFS: [usize; 7] = [8, 16, 32, 64, 128, 256, 512];

/// Rows that are taken for questions where no others are given: recall is known to about 0.007.
const SAMPLE: usize = 200;

/// Of few rows one in so many is taken.
const LEAST: usize = 10;

/// Questions that a row is compared with while it is at hand.
const TOGETHER: usize = 25;

/// One question.
pub(crate) struct Probe {
    query: Query,
}

/// How many of some rows are held back to ask for: what stands in a graph is easier to find than
/// what does not, since the nearest to it are linked with it.
pub(crate) fn held_back(rows: usize) -> usize {
    SAMPLE.min(rows / LEAST)
}

impl Probe {
    pub(crate) fn of_query(query: Query) -> Self {
        Self { query }
    }

    /// Rows by their numbers.
    pub(crate) fn of_rows(rows: &Rows<'_>, numbers: &[u32]) -> Result<Vec<Self>, Damaged> {
        let probe = |&number: &u32| {
            let (_, values) = rows.get(number as usize)?;
            Ok(Self {
                query: Query::of_row(values),
            })
        };
        numbers.iter().map(probe).collect()
    }
}

/// The ladder: for each breadth the recall over the probes, by the exact similarity, and the rows
/// that were compared. A found row counts when it is as near as the tenth nearest is, so ties are
/// no loss. Rows that are `out` of the graph are not to be found. O(probes · rows · D); the rows
/// are read once for [`TOGETHER`] probes. Empty where there is no probe: nothing is promised then.
pub(crate) fn climb(
    net: Net<'_>,
    rows: &Rows<'_>,
    probes: &[Probe],
    out: &[u32],
) -> Result<Vec<Rung>, Damaged> {
    if probes.is_empty() {
        return Ok(Vec::new());
    }
    let mut out = out.to_vec();
    out.sort_unstable();
    let measured = probes.par_chunks(TOGETHER).map(|probes| {
        let lasts = tenths(rows, probes, &out)?;
        let both = probes.iter().zip(&lasts);
        both.map(|(probe, last)| rungs(net, rows, probe, last))
            .collect::<Result<Vec<_>, Damaged>>()
    });
    let measured: Vec<Vec<Vec<(f64, f64)>>> = measured.collect::<Result<_, Damaged>>()?;
    let measured: Vec<Vec<(f64, f64)>> = measured.into_iter().flatten().collect();
    let mean = |at: usize, part: fn(&(f64, f64)) -> f64| {
        let sum: f64 = measured
            .iter()
            .filter_map(|rungs| rungs.get(at))
            .map(part)
            .sum();
        sum / measured.len().max(1) as f64
    };
    let rung = |(at, ef)| Rung {
        ef,
        recall: mean(at, |rung| rung.0),
        compared: mean(at, |rung| rung.1),
    };
    Ok(EFS.into_iter().enumerate().map(rung).collect())
}

/// Recall and rows compared of one probe, by breadth.
fn rungs(
    net: Net<'_>,
    rows: &Rows<'_>,
    probe: &Probe,
    last: &Last,
) -> Result<Vec<(f64, f64)>, Damaged> {
    let coded = CodedQuery::new(&probe.query);
    let rung = |ef| {
        let walk = net.search(&coded, ef, |_| true);
        let mut found = Vec::with_capacity(ef);
        for near in &walk.found {
            let (_, values) = rows.get(near.node as usize)?;
            found.push(probe.query.similarity(values));
        }
        found.sort_unstable_by(|a, b| b.total_cmp(a));
        let hits = found.iter().take(K).filter(|&&score| score >= last.score);
        Ok((hits.count() as f64 / last.of as f64, walk.compared as f64))
    };
    EFS.into_iter().map(rung).collect()
}

/// The similarity of the tenth nearest, or of the last where there are fewer; and how many there are.
struct Last {
    score: f64,
    of: usize,
}

/// Of each probe. Most rows are not near enough by far, which their approximate score shows.
fn tenths(rows: &Rows<'_>, probes: &[Probe], out: &[u32]) -> Result<Vec<Last>, Damaged> {
    // The best ten, nearest first.
    let mut all: Vec<Vec<f64>> = vec![Vec::with_capacity(K + 1); probes.len()];
    let mut out = out.iter().copied().peekable();
    for at in 0..rows.len() {
        if out.next_if(|&out| out as usize == at).is_some() {
            continue;
        }
        let (_, values) = rows.get(at)?;
        let error = scan_error(values.len());
        for (probe, best) in probes.iter().zip(&mut all) {
            if let Some(last) = best.get(K - 1) {
                let mut score = [0.0];
                probe.query.approximate(values, &mut score);
                let [score] = score;
                if f64::from(score) + error < *last {
                    continue;
                }
            }
            let score = probe.query.similarity(values);
            let place = best.partition_point(|one| *one >= score);
            if place < K {
                best.insert(place, score);
                best.truncate(K);
            }
        }
    }
    let last = |best: Vec<f64>| Last {
        score: best.last().copied().unwrap_or(-1.0),
        of: best.len().max(1),
    };
    Ok(all.into_iter().map(last).collect())
}
