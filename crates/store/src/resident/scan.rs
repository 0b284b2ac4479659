//! The scan: approximate scores of all visible rows, then exact scores of the few that matter.

use std::ops::Range;

use cornu_core::{ChunkId, View};
use rayon::prelude::*;

use super::crowd::UnderWay;
use super::segment::{Damaged, Segment};
use super::{Place, Resident};
use crate::score::{Query, scan_error, threshold};
use crate::select::kth_largest;

/// Rows of one task: few, so that the threads finish together.
const TASK_ROWS: usize = 1024;

/// Fewer rows are scanned by the calling thread.
const PARALLEL_ROWS: usize = 4 * TASK_ROWS;

/// Visible rows that stand together.
#[derive(Clone)]
struct Run<'r> {
    segment: &'r Segment,
    rows: Range<usize>,
}

impl Resident {
    /// The rows that may be among the best k, with their exact scores: all that are, and a few
    /// more.
    ///
    /// O(visible rows · D), in parallel where threads are free; 4 bytes for each visible row. The
    /// result does not depend on the number of threads: each score is computed from its row alone.
    pub(crate) fn candidates(
        &self,
        view: &View,
        query: &Query,
        k: usize,
    ) -> Result<Vec<(ChunkId, f64)>, Damaged> {
        let runs = self.runs(view)?;
        let visible: usize = runs.iter().map(|run| run.rows.len()).sum();
        if k == 0 || visible == 0 {
            return Ok(Vec::new());
        }
        if visible <= k {
            return self.rescore(&runs, query, |_| true);
        }
        let mut scores = vec![0.0; visible];
        self.scan(&runs, query, &mut scores)?;
        let kth = kth_largest(&scores, k).unwrap_or(f32::NEG_INFINITY);
        let lowest = threshold(f64::from(kth), scan_error(self.dimension));
        let score_of = |at: usize| {
            scores
                .get(at)
                .is_some_and(|&score| f64::from(score) >= lowest)
        };
        self.rescore(&runs, query, score_of)
    }

    /// The places of the view, adjoining ones put together.
    fn runs(&self, view: &View) -> Result<Vec<Run<'_>>, Damaged> {
        let mut runs: Vec<Run<'_>> = Vec::new();
        let mut add = |place: &Place| {
            let (rows, segment) = place.rows_of(self)?;
            match runs.last_mut() {
                Some(last)
                    if last.rows.end == rows.start && std::ptr::eq(last.segment, segment) =>
                {
                    last.rows.end = rows.end;
                }
                _ => runs.push(Run { segment, rows }),
            }
            Ok(())
        };
        let mut rest = self.places.as_slice();
        for ordinal in view.ordinals() {
            rest = rest.get(seek(rest, ordinal)..).unwrap_or_default();
            match rest.first() {
                Some(place) if place.ordinal == ordinal => add(place)?,
                Some(_) => {}
                None => break,
            }
        }
        Ok(runs)
    }

    fn scan(&self, runs: &[Run<'_>], query: &Query, scores: &mut [f32]) -> Result<(), Damaged> {
        let visible = scores.len();
        let mut tasks = Vec::new();
        let mut rest = scores;
        for task in tasks_of(runs) {
            let rows = task.iter().map(|run| run.rows.len()).sum();
            let (part, behind) = rest.split_at_mut_checked(rows).ok_or(Damaged)?;
            rest = behind;
            tasks.push((task, part));
        }
        let work = |(task, part): (Vec<Run<'_>>, &mut [f32])| {
            let mut scores = part;
            for run in task {
                let values = run.segment.values(run.rows.clone())?;
                let (here, behind) = scores.split_at_mut_checked(run.rows.len()).ok_or(Damaged)?;
                query.approximate(values, here);
                scores = behind;
            }
            Ok(())
        };
        let under_way = UnderWay::begin();
        if visible < PARALLEL_ROWS || under_way.is_crowded() {
            tasks.into_iter().try_for_each(work)
        } else {
            tasks.into_par_iter().try_for_each(work)
        }
    }

    /// Exact scores of the rows that `wanted` says yes to, by their position in the view.
    fn rescore(
        &self,
        runs: &[Run<'_>],
        query: &Query,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Vec<(ChunkId, f64)>, Damaged> {
        let mut hits = Vec::new();
        let mut position = 0;
        for run in runs {
            for row in run.rows.clone() {
                if wanted(position) {
                    let values = run.segment.values(row..row + 1)?;
                    hits.push((run.segment.id(row)?, query.similarity(values)));
                }
                position += 1;
            }
        }
        Ok(hits)
    }
}

/// The first place whose ordinal is not below this one.
///
/// Places are sorted by ordinal and no ordinal comes twice, so the place lies no further on than
/// its ordinal does: exactly there where nothing between was ever removed. Where something was, it
/// is sought back from there in steps that double.
fn seek(places: &[Place], ordinal: u32) -> usize {
    let first = places.first().map_or(ordinal, |place| place.ordinal);
    let furthest = places.len().min(ordinal.saturating_sub(first) as usize);
    let lies_before = |at: usize| places.get(at).is_some_and(|place| place.ordinal < ordinal);
    let mut step = 1;
    while step <= furthest && !lies_before(furthest - step) {
        step *= 2;
    }
    let from = furthest.saturating_sub(step);
    let near = places.get(from..furthest).unwrap_or_default();
    from + near.partition_point(|place| place.ordinal < ordinal)
}

/// Runs, cut and gathered into tasks of about the same size.
fn tasks_of<'r>(runs: &[Run<'r>]) -> Vec<Vec<Run<'r>>> {
    let (mut tasks, mut task, mut room) = (Vec::new(), Vec::new(), TASK_ROWS);
    for run in runs {
        let mut rows = run.rows.clone();
        while !rows.is_empty() {
            let end = rows.end.min(rows.start + room);
            room -= end - rows.start;
            task.push(Run {
                segment: run.segment,
                rows: rows.start..end,
            });
            rows.start = end;
            if room == 0 {
                tasks.push(std::mem::take(&mut task));
                room = TASK_ROWS;
            }
        }
    }
    if !task.is_empty() {
        tasks.push(task);
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeking_finds_what_a_scan_finds() {
        let place = |ordinal| Place {
            ordinal,
            digest: [0; 16],
            segment: 0,
            start: 0,
            rows: 1,
        };
        for gap in [1, 2, 3, 50] {
            // Dense at first, then with holes.
            let ordinals = (5..40).chain((40..400).filter(|at| at % gap == 0));
            let places: Vec<Place> = ordinals.map(place).collect();
            for from in [0, 1, 17, places.len()] {
                for ordinal in 0..420 {
                    let scan = places[from..].iter().position(|one| one.ordinal >= ordinal);
                    let expected = scan.unwrap_or(places.len() - from);
                    assert_eq!(
                        seek(&places[from..], ordinal),
                        expected,
                        "{gap} {from} {ordinal}"
                    );
                }
            }
        }
    }
}
