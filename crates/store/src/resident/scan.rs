//! The scan: approximate scores of all visible rows, then exact scores of the few that matter.
//!
//! A scan by codes differs in what it reads first. In 8 bits the score of a row is known within a
//! bound of that row: the k-th largest of the least scores is reached by k rows, so a row whose
//! largest score is below it is none of the best k. In bits no bound is of use, and as many rows
//! as were asked for are scored again.

use std::ops::Range;

use cornu_core::{ChunkId, View};
use rayon::prelude::*;

use super::crowd;
use super::segment::{Damaged, Segment};
use super::{Place, Resident};
use crate::codes::{BitQuery, CodedQuery};
use crate::kernel::prefetch;
use crate::options::{Scan, Scanning};
use crate::score::{Query, scan_error, threshold};
use crate::select::kth_largest;

/// Rows of one task: few, so that the threads finish together.
const TASK_ROWS: usize = 1024;

/// Fewer rows are scanned by the calling thread.
const PARALLEL_ROWS: usize = 4 * TASK_ROWS;

/// As many visible rows are scanned in full where codes are approximate: it takes a millisecond.
pub(crate) const FEW_ROWS: usize = 2048;

/// Visible rows that stand together.
#[derive(Clone)]
pub(super) struct Run<'r> {
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
        scanning: Scanning<'_>,
    ) -> Result<Vec<(ChunkId, f64)>, Damaged> {
        self.best_of(&self.runs(view.ordinals())?, query, k, scanning)
    }

    pub(super) fn best_of(
        &self,
        runs: &[Run<'_>],
        query: &Query,
        k: usize,
        scanning: Scanning<'_>,
    ) -> Result<Vec<(ChunkId, f64)>, Damaged> {
        let visible: usize = runs.iter().map(|run| run.rows.len()).sum();
        if k == 0 || visible == 0 {
            return Ok(Vec::new());
        }
        if visible <= k {
            return rescore(runs, query, |_, _, _| Ok(true));
        }
        let mut scores = vec![0.0; visible];
        match scanning.scan {
            Scan::Int8 => best_by_int8(runs, query, k, &mut scores),
            Scan::Bits { per_hit } if visible > FEW_ROWS => best_by_bits(
                runs,
                query,
                k.saturating_mul(per_hit),
                scanning.centre,
                &mut scores,
            ),
            Scan::Full | Scan::Bits { .. } => self.best_in_full(runs, query, k, &mut scores),
        }
    }

    fn best_in_full(
        &self,
        runs: &[Run<'_>],
        query: &Query,
        k: usize,
        scores: &mut [f32],
    ) -> Result<Vec<(ChunkId, f64)>, Damaged> {
        let ask_for = |segment: &Segment, row: usize| {
            prefetch(segment.values(row..row + 1).unwrap_or_default());
        };
        fill(runs, scores, ask_for, |segment, rows, here| {
            query.approximate(segment.values(rows)?, here);
            Ok(())
        })?;
        let kth = kth_largest(scores, k).unwrap_or(f32::NEG_INFINITY);
        let lowest = threshold(f64::from(kth), scan_error(self.dimension));
        rescore(runs, query, |at, _, _| {
            let score = scores.get(at).ok_or(Damaged)?;
            Ok(f64::from(*score) >= lowest)
        })
    }

    /// The places of documents, whose ordinals ascend; adjoining ones put together.
    pub(super) fn runs(
        &self,
        ordinals: impl Iterator<Item = u32>,
    ) -> Result<Vec<Run<'_>>, Damaged> {
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
        for ordinal in ordinals {
            rest = rest.get(seek(rest, ordinal)..).unwrap_or_default();
            match rest.first() {
                Some(place) if place.ordinal == ordinal => add(place)?,
                Some(_) => {}
                None => break,
            }
        }
        Ok(runs)
    }
}

/// `scores` becomes the least that each row may have.
fn best_by_int8(
    runs: &[Run<'_>],
    query: &Query,
    k: usize,
    scores: &mut [f32],
) -> Result<Vec<(ChunkId, f64)>, Damaged> {
    let coded = CodedQuery::new(query);
    prepare(runs, |segment| segment.int8().map(drop))?;
    fill(
        runs,
        scores,
        |_, _| {},
        |segment, rows, here| segment.int8()?.at_least(rows, &coded, here).ok_or(Damaged),
    )?;
    // Similarities are cut at 1, where rows tie that lay apart.
    let kth = kth_largest(scores, k).unwrap_or(f32::NEG_INFINITY).min(1.0);
    rescore(runs, query, |at, segment, row| {
        let least = scores.get(at).ok_or(Damaged)?;
        let error = segment.int8()?.error(row, &coded).ok_or(Damaged)?;
        Ok(f64::from(*least) + 2.0 * f64::from(error) >= f64::from(kth))
    })
}

fn best_by_bits(
    runs: &[Run<'_>],
    query: &Query,
    count: usize,
    centre: Option<&[f32]>,
    scores: &mut [f32],
) -> Result<Vec<(ChunkId, f64)>, Damaged> {
    let bits = BitQuery::new(query, centre);
    prepare(runs, |segment| segment.bits(centre).map(drop))?;
    fill(
        runs,
        scores,
        |_, _| {},
        |segment, rows, here| {
            segment
                .bits(centre)?
                .estimates(rows, &bits, here)
                .ok_or(Damaged)
        },
    )?;
    let last = kth_largest(scores, count).unwrap_or(f32::NEG_INFINITY);
    rescore(runs, query, |at, _, _| {
        Ok(*scores.get(at).ok_or(Damaged)? >= last)
    })
}

/// Codes are made before the rows are shared out, so that no task waits for those of another.
fn prepare(
    runs: &[Run<'_>],
    make: impl Fn(&Segment) -> Result<(), Damaged>,
) -> Result<(), Damaged> {
    let mut last: Option<&Segment> = None;
    for run in runs {
        if !last.is_some_and(|last| std::ptr::eq(last, run.segment)) {
            make(run.segment)?;
            last = Some(run.segment);
        }
    }
    Ok(())
}

/// Runs whose first row is asked of memory before it is needed. In a narrow view runs are short and lie
/// anywhere, so no processor can know which is next.
const AHEAD: usize = 2;

/// A number for each row, in parallel where there are many. `ask_for` says which row comes soon.
fn fill(
    runs: &[Run<'_>],
    scores: &mut [f32],
    ask_for: impl Fn(&Segment, usize) + Sync,
    score: impl Fn(&Segment, Range<usize>, &mut [f32]) -> Result<(), Damaged> + Sync,
) -> Result<(), Damaged> {
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
        for (at, run) in task.iter().enumerate() {
            if let Some(next) = task.get(at + AHEAD) {
                ask_for(next.segment, next.rows.start);
            }
            let (here, behind) = scores.split_at_mut_checked(run.rows.len()).ok_or(Damaged)?;
            score(run.segment, run.rows.clone(), here)?;
            scores = behind;
        }
        Ok(())
    };
    if visible < PARALLEL_ROWS || crowd::is_crowded() {
        tasks.into_iter().try_for_each(work)
    } else {
        tasks.into_par_iter().try_for_each(work)
    }
}

/// Exact scores of the rows that `wanted` says yes to, by their position in the view.
fn rescore(
    runs: &[Run<'_>],
    query: &Query,
    wanted: impl Fn(usize, &Segment, usize) -> Result<bool, Damaged>,
) -> Result<Vec<(ChunkId, f64)>, Damaged> {
    let mut hits = Vec::new();
    let mut position = 0;
    for run in runs {
        for row in run.rows.clone() {
            if wanted(position, run.segment, row)? {
                let values = run.segment.values(row..row + 1)?;
                hits.push((run.segment.id(row)?, query.similarity(values)));
            }
            position += 1;
        }
    }
    Ok(hits)
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
