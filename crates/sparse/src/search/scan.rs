//! Exact top-k over one segment, skipping what cannot enter.
//!
//! Rows are taken in windows. In each, every term has a bound: what its best block there could give
//! (its largest count in its shortest text). Terms that could not lift a row to the threshold even
//! together (MaxScore; Turtle and Flood 1995) are not walked: a row that holds nothing but them is
//! out. What the other terms give is added up; only rows that could enter with the bounds of the
//! rest on top are scored in full.
//!
//! Scores do not depend on any of this: a score is always the sum over the query's terms in the
//! query's order. Bounds are compared with room for rounding, and a row that could tie with the
//! threshold is kept.

use super::top::Top;
use crate::bits::Bits;
use crate::formula::Saturation;
use crate::gallop::gallop;
use crate::segment::{BLOCK, Block, Postings, Rows};
use crate::stats::SegmentView;

/// Rows in a window.
const WINDOW: usize = 2048;

/// Room for rounding in the sums of bounds: far more than a thousand additions can lose.
const ROOM: f64 = 1.0 + 1e-9;

/// How many postings walking must save for each row that is looked up instead.
const WORTH: usize = 2;

/// One term's walk through its postings.
pub(super) struct Cursor<'a> {
    postings: Postings<'a>,
    /// idf times the weight in the query.
    weight: f64,
    saturation: Saturation,
    /// The postings of the present window.
    at: usize,
    end: usize,
    /// Where the last row was looked for.
    probe: usize,
    /// No posting of the window gives more.
    bound: f64,
    /// Whether a row has to hold this term, or another like it, to enter.
    essential: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(postings: Postings<'a>, weight: f64, saturation: Saturation) -> Self {
        Self {
            postings,
            weight,
            saturation,
            at: 0,
            end: 0,
            probe: 0,
            bound: 0.0,
            essential: true,
        }
    }

    fn next_row(&self) -> Option<u32> {
        self.postings.rows.get(self.end).copied()
    }

    /// Moves on to the window that ends before `limit`.
    fn enter(&mut self, limit: u32) {
        self.at = self.end;
        self.probe = self.at;
        self.end = gallop(self.postings.rows, self.at, limit);
    }

    fn set_bound(&mut self) {
        let blocks = match self.end.checked_sub(1) {
            Some(last) if last >= self.at => self.at / BLOCK..last / BLOCK + 1,
            _ => 0..0,
        };
        let blocks = self.postings.blocks.get(blocks).unwrap_or_default();
        let bound = |&[most, shortest]: &Block| self.weight * self.saturation.of(most, shortest);
        self.bound = blocks.iter().map(bound).fold(0.0, f64::max);
    }

    /// What the term gives to a row, from the last row that was asked for on.
    fn share<I>(&mut self, row: u32, rows: Rows<'_, I>) -> Option<f64> {
        self.probe = gallop(self.postings.rows, self.probe, row);
        if self.postings.rows.get(self.probe) != Some(&row) {
            return None;
        }
        let count = *self.postings.counts.get(self.probe)?;
        Some(self.weight * self.saturation.of(count, rows.length(row)))
    }
}

/// Offers to `top` every row that is seen and holds a term, or (`prune`) every one that can enter.
pub(super) fn scan<'a, I: Ord + Clone>(
    rows: Rows<'a, I>,
    view: &SegmentView,
    mut cursors: Vec<Cursor<'a>>,
    top: &mut Top<'a, I>,
    prune: bool,
) {
    let postings: usize = cursors
        .iter()
        .map(|cursor| cursor.postings.rows.len())
        .sum();
    if prune && view.count.saturating_mul(8 * cursors.len()) < postings {
        return pick(rows, view, &mut cursors, top);
    }
    let mut sums = vec![0.0; WINDOW];
    let mut touched = Bits::new(WINDOW);
    let mut left_out = Vec::with_capacity(cursors.len());
    // Rows of a file were hashed, not looked at: behind the last row there is nothing to find, and
    // without that bound a window could end where it began.
    let is_there = |row: &u32| (*row as usize) < rows.ids.len();
    while let Some(next) = cursors
        .iter()
        .filter_map(Cursor::next_row)
        .min()
        .filter(is_there)
    {
        let start = next - next % WINDOW as u32;
        let limit = start.saturating_add(WINDOW as u32);
        for cursor in &mut cursors {
            cursor.enter(limit);
        }
        if prune {
            divide(&mut cursors, top.threshold(), &mut left_out);
        }
        let walked = cursors.iter().filter(|cursor| cursor.essential);
        for cursor in walked {
            add_up(cursor, rows, view, start, &mut sums, &mut touched);
        }
        for place in touched.drain() {
            let Some(sum) = sums.get_mut(place).map(std::mem::take) else {
                continue;
            };
            let row = start + place as u32;
            let threshold = top.threshold();
            if !can_enter(row, sum, &left_out, threshold, rows, &mut cursors) {
                continue;
            }
            let mut score = sum;
            if !left_out.is_empty() {
                score = in_full(row, rows, &mut cursors).unwrap_or(sum);
            }
            if let Some(id) = rows.id(row) {
                top.push(score, id);
            }
        }
    }
}

/// A term that is not walked in a window: its cursor, and what it and those before it in the list
/// can give together.
type LeftOut = (usize, f64);

/// Decides which terms are walked; `left_out` are the others, the smallest bound first.
fn divide(cursors: &mut [Cursor<'_>], threshold: f64, left_out: &mut Vec<LeftOut>) {
    left_out.clear();
    for (at, cursor) in cursors.iter_mut().enumerate() {
        cursor.set_bound();
        cursor.essential = true;
        left_out.push((at, cursor.bound));
    }
    left_out.sort_unstable_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut sum = 0.0;
    let mut keep = 0;
    for (_, bound) in left_out.iter_mut() {
        sum += *bound;
        if sum * ROOM >= threshold {
            break;
        }
        *bound = sum;
        keep += 1;
    }
    left_out.truncate(keep);
    let size = |at: usize| cursors.get(at).map_or(0, |cursor| cursor.end - cursor.at);
    let all: usize = (0..cursors.len()).map(size).sum();
    let skipped: usize = left_out.iter().map(|&(at, _)| size(at)).sum();
    let walked = all - skipped;
    if walked * WORTH > skipped {
        left_out.clear(); // looking rows up would cost more than walking
    }
    for &(at, _) in left_out.iter() {
        if let Some(cursor) = cursors.get_mut(at) {
            cursor.essential = false;
        }
    }
}

/// Whether a row with this sum over the walked terms can still enter: looks the others up, the
/// largest bound first, until their bounds say no.
fn can_enter<I>(
    row: u32,
    mut sum: f64,
    left_out: &[LeftOut],
    threshold: f64,
    rows: Rows<'_, I>,
    cursors: &mut [Cursor<'_>],
) -> bool {
    for &(at, rest) in left_out.iter().rev() {
        if (sum + rest) * ROOM < threshold {
            return false;
        }
        let share = cursors
            .get_mut(at)
            .and_then(|cursor| cursor.share(row, rows));
        sum += share.unwrap_or(0.0);
    }
    sum * ROOM >= threshold
}

/// Adds one term's shares in the window to the sums. Cursors come in the query's order, so where
/// none is left out the sums are the scores.
fn add_up<I>(
    cursor: &Cursor<'_>,
    rows: Rows<'_, I>,
    view: &SegmentView,
    start: u32,
    sums: &mut [f64],
    touched: &mut Bits,
) {
    let window = cursor.at..cursor.end;
    let holders = cursor.postings.rows.get(window.clone()).unwrap_or_default();
    let counts = cursor.postings.counts.get(window).unwrap_or_default();
    for (&row, &count) in holders.iter().zip(counts) {
        if !view.all && !view.visible.contains(row as usize) {
            continue;
        }
        // Out of order in a file that somebody made up: then beyond the window.
        let place = row.wrapping_sub(start) as usize;
        if let Some(sum) = sums.get_mut(place) {
            *sum += cursor.weight * cursor.saturation.of(count, rows.length(row));
            touched.insert(place);
        }
    }
}

/// A row's score over all terms, in the query's order; `None` when it holds none.
fn in_full<I>(row: u32, rows: Rows<'_, I>, cursors: &mut [Cursor<'_>]) -> Option<f64> {
    let mut score = None;
    for cursor in cursors {
        if let Some(share) = cursor.share(row, rows) {
            score = Some(score.unwrap_or(0.0) + share);
        }
    }
    score
}

/// Where few rows are seen: looks each of them up in every list.
fn pick<'a, I: Ord + Clone>(
    rows: Rows<'a, I>,
    view: &SegmentView,
    cursors: &mut [Cursor<'a>],
    top: &mut Top<'a, I>,
) {
    for row in view.visible.iter() {
        let row = row as u32;
        if let (Some(score), Some(id)) = (in_full(row, rows, cursors), rows.id(row)) {
            top.push(score, id);
        }
    }
}
