//! dsRAG's choice: one best segment after another.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Limits, Pick, Selection, Values};
use crate::error::SegmentError;

/// The segments that dsRAG takes (`rse.py:3-69`): query by query in turn, the best segment that is
/// left, until all limits are met.
///
/// A segment begins and ends with a chunk whose value is not negative, holds at most
/// `limits.segment` chunks of one document, none that was taken before, and brings all segments
/// together to at most `limits.total`. Its value is the sum of its chunks' values. Of several best
/// ones the first is taken: smallest start, then smallest end. A query whose best segment is worth
/// less than `limits.minimum` is done.
///
/// O(n · L · Q + picks · L · log n) time for n chunks, L = `limits.segment`, Q queries: each start
/// keeps its best segment, which is looked for again only when its turn comes and it is no longer
/// free. O(n · Q) memory. The original looks at all pairs again for each pick.
///
/// # Errors
/// [`SegmentError::Option`] for limits that cannot be kept to.
pub fn greedy(values: &Values, limits: &Limits) -> Result<Selection, SegmentError> {
    limits.check()?;
    let mut state = State {
        values,
        limits,
        taken: vec![false; values.chunks()],
        total: 0,
    };
    let mut queues: Vec<BinaryHeap<Candidate>> = (0..values.queries())
        .map(|query| {
            let starts = 0..values.chunks();
            starts
                .filter_map(|start| state.best_from(query, start))
                .collect()
        })
        .collect();
    let mut picks = Vec::new();
    while state.total < limits.total && queues.iter().any(|queue| !queue.is_empty()) {
        for (query, queue) in queues.iter_mut().enumerate() {
            if state.total >= limits.total {
                break;
            }
            if let Some(found) = state.next(query, queue) {
                state.take(&found);
                picks.push(Pick {
                    query,
                    start: found.start,
                    end: found.end,
                    value: found.value,
                });
            }
        }
    }
    Ok(Selection { picks })
}

struct State<'a> {
    values: &'a Values,
    limits: &'a Limits,
    taken: Vec<bool>,
    total: usize,
}

impl State<'_> {
    /// The best segment with this start that is still free.
    fn best_from(&self, query: usize, start: usize) -> Option<Candidate> {
        if !self.values.is_edge(query, start) {
            return None;
        }
        let room = self.limits.segment.min(self.limits.total - self.total);
        let last = self.values.end_of(start).min(start.saturating_add(room));
        let mut best: Option<Candidate> = None;
        for end in start + 1..=last {
            if self.taken[end - 1] {
                break;
            }
            if !self.values.is_edge(query, end - 1) {
                continue;
            }
            let value = self.values.sum(query, start, end);
            if value >= self.limits.minimum && best.is_none_or(|best| value > best.value) {
                best = Some(Candidate { value, start, end });
            }
        }
        best
    }

    /// The best segment of all. What the queue holds is never worth less than what is free now,
    /// because segments only cease to be free.
    fn next(&self, query: usize, queue: &mut BinaryHeap<Candidate>) -> Option<Candidate> {
        while let Some(candidate) = queue.pop() {
            match self.best_from(query, candidate.start) {
                Some(now) if now == candidate => return Some(now),
                Some(now) => queue.push(now),
                None => {}
            }
        }
        None
    }

    fn take(&mut self, segment: &Candidate) {
        self.taken[segment.start..segment.end].fill(true);
        self.total += segment.end - segment.start;
    }
}

/// Greatest first: more value, then a smaller start, then a smaller end.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    value: f64,
    start: usize,
    end: usize,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value
            .total_cmp(&other.value)
            .then(other.start.cmp(&self.start))
            .then(other.end.cmp(&self.end))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
