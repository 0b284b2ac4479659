//! How much a search of each breadth finds, measured on the graph.

use rayon::prelude::*;

use super::Rung;
use super::net::{Net, scatter};
use crate::codes::CodedQuery;
use crate::resident::{Damaged, Rows};
use crate::score::{Query, scan_error};

/// Recall is over so many.
pub(crate) const K: usize = 10;

/// Breadths that are measured.
const EFS: [usize; 7] = [8, 16, 32, 64, 128, 256, 512];

/// Rows that are taken for questions where no others are given: recall is known to about 0.007.
const SAMPLE: usize = 200;

/// Questions that a row is compared with while it is at hand.
const TOGETHER: usize = 25;

/// One question: itself, and the row that it is, which is not to be found.
pub(crate) struct Probe {
    query: Query,
    own: Option<u32>,
}

impl Probe {
    pub(crate) fn of_query(query: Query) -> Self {
        Self { query, own: None }
    }

    /// Some of the rows, by the hash of their numbers.
    pub(crate) fn of_rows(rows: &Rows<'_>) -> Result<Vec<Self>, Damaged> {
        let nodes = u32::try_from(rows.len()).map_err(|_| Damaged)?;
        let mut numbers: Vec<u32> = (0..nodes).collect();
        let key = |node: &u32| (scatter(u64::from(*node) | 1 << 41), *node);
        if numbers.len() > SAMPLE {
            numbers.select_nth_unstable_by_key(SAMPLE, key);
            numbers.truncate(SAMPLE);
        }
        numbers.sort_unstable_by_key(key);
        let probe = |own: u32| {
            let (_, values) = rows.get(own as usize)?;
            Ok(Self {
                query: Query::of_row(values),
                own: Some(own),
            })
        };
        numbers.into_iter().map(probe).collect()
    }
}

/// The ladder: for each breadth the recall over the probes, by the exact similarity, and the rows
/// that were compared. A found row counts when it is as near as the tenth nearest is, so ties are
/// no loss. O(probes · rows · D); the rows are read once for [`TOGETHER`] probes.
pub(crate) fn climb(net: Net<'_>, rows: &Rows<'_>, probes: &[Probe]) -> Result<Vec<Rung>, Damaged> {
    let measured = probes.par_chunks(TOGETHER).map(|probes| {
        let lasts = tenths(rows, probes)?;
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
        let walk = net.search(&coded, ef, |node| Some(node) != probe.own);
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
fn tenths(rows: &Rows<'_>, probes: &[Probe]) -> Result<Vec<Last>, Damaged> {
    // The best ten, nearest first.
    let mut all: Vec<Vec<f64>> = vec![Vec::with_capacity(K + 1); probes.len()];
    for at in 0..rows.len() {
        let (_, values) = rows.get(at)?;
        let error = scan_error(values.len());
        for (probe, best) in probes.iter().zip(&mut all) {
            if probe.own.is_some_and(|own| own as usize == at) {
                continue;
            }
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
