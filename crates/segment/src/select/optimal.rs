//! The best choice that there is, by dynamic programming.

use super::{Limits, Pick, Selection, Values, on_grid};
use crate::error::SegmentError;

/// The largest table of choices: 2 bytes a cell, so half a gibibyte.
pub const MAX_CELLS: usize = 1 << 28;

/// The set of disjoint segments whose values, less `limits.price` for each segment, sum to most,
/// under the rules that [`greedy`] keeps to: at most `limits.segment` chunks each and `limits.total`
/// together, none across documents, none worth less than `limits.minimum`, each for one query. So
/// its [objective](Selection::objective) is never below the greedy's, and at price 0 its value.
///
/// With several queries each segment is chosen for the query that values it most (the first of
/// several), and nothing sees to it that every query gets one; the greedy's turns do.
///
/// Ties: of several best sets the one with fewest chunks; of these the one whose last segment ends
/// first, then begins first, and so on towards the front.
///
/// Let E be the number of chunks that are not negative for some query and end a segment worth the
/// minimum, S ≤ L the number of possible starts before each, L = `limits.segment`, T the smaller
/// of `limits.total` and the number of chunks. O(n · Q + E · (L · Q + S · T)) time, and O(n · Q +
/// L · T) memory besides a table of E · (T + 1) cells of 2 bytes. After a search E and S are
/// bounded by the results, whatever the length of the documents.
///
/// [`greedy`]: super::greedy
///
/// # Errors
/// [`SegmentError::Option`] for limits that cannot be kept to; [`SegmentError::TooLarge`] when the
/// table would pass [`MAX_CELLS`].
pub fn optimal(values: &Values, limits: &Limits) -> Result<Selection, SegmentError> {
    limits.check()?;
    let total = limits.total.min(values.chunks());
    let longest = limits.segment.min(total);
    let starts = |end: usize| values.begin_of(end - 1).max(end.saturating_sub(longest))..end;
    let ends = (1..=values.chunks()).filter(|&end| {
        let is_edge = (0..values.queries()).any(|query| values.is_edge(query, end - 1));
        is_edge && starts(end).any(|start| best_query(values, limits, start, end).is_some())
    });
    let mut table = Table::new(ends.collect(), longest, total)?;
    let price = on_grid(limits.price);
    let mut segments: Vec<(usize, f64)> = Vec::new();
    for row in 0..table.ends.len() {
        let end = table.ends[row];
        segments.clear();
        segments.extend(starts(end).filter_map(|start| {
            let (_, value) = best_query(values, limits, start, end)?;
            Some((start, value - price))
        }));
        table.fill(row, &segments);
    }
    let picks = table.best().into_iter().filter_map(|(start, end)| {
        let (query, value) = best_query(values, limits, start, end)?;
        Some(Pick {
            query,
            start,
            end,
            value,
        })
    });
    Ok(Selection {
        picks: picks.collect(),
    })
}

/// The query that values a segment most, the first of several; `None` when it is a segment for none.
fn best_query(values: &Values, limits: &Limits, start: usize, end: usize) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for query in 0..values.queries() {
        if !values.is_edge(query, end - 1) || !values.is_edge(query, start) {
            continue;
        }
        let value = values.sum(query, start, end);
        if value >= limits.minimum && best.is_none_or(|(_, most)| value > most) {
            best = Some((query, value));
        }
    }
    best
}

/// Row r holds, for each number t of chunks, the most that segments of exactly t chunks are worth
/// when the last of them ends at one of the first r ends.
struct Table {
    longest: usize,
    /// Cells in a row: one for each t from 0.
    width: usize,
    /// The places at which a segment may end, in order; row r + 1 belongs to `ends[r]`.
    ends: Vec<usize>,
    /// The last `longest + 1` rows, each at its number modulo that.
    rows: Vec<f64>,
    /// For each cell of each row from 1 the length of the last segment, 0 where none ends there.
    lengths: Vec<u16>,
}

impl Table {
    fn new(ends: Vec<usize>, longest: usize, total: usize) -> Result<Self, SegmentError> {
        let width = total + 1;
        let cells = width.saturating_mul(ends.len().max(longest + 1));
        if cells > MAX_CELLS {
            return Err(SegmentError::TooLarge {
                ends: ends.len(),
                total,
            });
        }
        let mut rows = vec![f64::NEG_INFINITY; width * (longest + 1)];
        if let Some(nothing) = rows.first_mut() {
            *nothing = 0.0;
        }
        Ok(Self {
            longest,
            width,
            lengths: Vec::with_capacity(width * ends.len()),
            ends,
            rows,
        })
    }

    /// Fills the row of an end with the segments (start, worth) that end there, by start. The rows
    /// before it have to be there.
    fn fill(&mut self, before: usize, segments: &[(usize, f64)]) {
        let width = self.width;
        let end = self.ends[before];
        // As before the end, to begin with: strictly more is needed to take a segment.
        let mut row = self.rows[self.place(before)..][..width].to_vec();
        let mut lengths = vec![0_u16; width];
        for &(start, worth) in segments {
            let length = end - start;
            let earlier = self.ends.partition_point(|&end| end <= start);
            let earlier = &self.rows[self.place(earlier)..][..width];
            let cells = row.iter_mut().zip(&mut lengths).skip(length);
            for ((most, last), rest) in cells.zip(earlier) {
                let with = rest + worth;
                let better = with > *most;
                *most = if better { with } else { *most };
                *last = if better { length as u16 } else { *last };
            }
        }
        let place = self.place(before + 1);
        self.rows[place..place + width].copy_from_slice(&row);
        self.lengths.extend(lengths);
    }

    /// Where a row is kept. Rows further back than `longest` ends are never asked for: between a
    /// segment's start and its end lie at most as many ends as it has chunks.
    fn place(&self, row: usize) -> usize {
        row % (self.longest + 1) * self.width
    }

    /// The best segments (start, end), by place.
    fn best(&self) -> Vec<(usize, usize)> {
        let mut row = self.ends.len();
        let last = &self.rows[self.place(row)..][..self.width];
        let mut chunks = 0;
        for (t, worth) in last.iter().enumerate() {
            if *worth > last[chunks] {
                chunks = t;
            }
        }
        let mut segments = Vec::new();
        while row > 0 {
            let length = usize::from(self.lengths[(row - 1) * self.width + chunks]);
            let end = self.ends[row - 1];
            if length == 0 {
                row -= 1;
            } else {
                segments.push((end - length, end));
                chunks -= length;
                row = self.ends.partition_point(|&other| other <= end - length);
            }
        }
        segments.reverse();
        segments
    }
}
