//! A second copy of the short rows: eight at a time, entry by entry, so that eight sums grow side by
//! side.
//!
//! A row's sum waits for each addition before the next, and rows of ten entries are over before a
//! processor has guessed where they end. Eight rows of about one length have neither trouble. What
//! is copied of eight rows is as deep as the shortest of them; the rest of the longer ones is taken
//! from the matrix itself, so a sum has its terms in the order of the row (SELL-C-σ without padding;
//! Kreutzer et al. 2014).

use std::ops::Range;

use crate::kernel::{CHUNK, LONG};
use crate::walk::{Matrix, Weights};

/// Rows side by side.
pub(crate) const SIDE: usize = 8;

/// Rows that are summed in one call, at most [`CHUNK`] of them.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) rows: Range<usize>,
    /// The octets of these rows, all of them; none where rows are summed one by one.
    pub(crate) octets: Range<usize>,
    /// Where their copy begins.
    pub(crate) start: usize,
    /// How many entries each of the rows has, where that is one number: the run is a *slab*, a whole
    /// table of columns. 0 for others.
    pub(crate) depth: usize,
}

impl Run {
    /// What one octet more makes of a run of octets: a slab stays one while depths are equal, and
    /// one octet alone is none. `None` where the octet has to begin a run.
    fn depth_with(&self, depth: usize, even: bool) -> Option<usize> {
        match self.depth {
            0 if even && depth > 0 => None,
            0 => Some(0),
            own if even && own == depth => Some(own),
            _ if self.octets.len() == 1 => Some(0),
            _ => None,
        }
    }
}

/// Eight rows that follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Octet {
    /// The first of them.
    pub(crate) row: usize,
    /// Where their copy begins.
    pub(crate) start: usize,
    /// How many entries of each row are copied.
    pub(crate) depth: usize,
    /// Whether that is all of them.
    pub(crate) even: bool,
}

impl Octet {
    pub(crate) fn rows(&self) -> Range<usize> {
        self.row..self.row + SIDE
    }

    /// How many entries each row has, where that is one number; else 0.
    pub(crate) fn length(&self) -> usize {
        if self.even { self.depth } else { 0 }
    }
}

/// The copy of a matrix, as far as its rows are short and lie eight by eight in a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Octets {
    /// By octet how many entries of each row are copied, and whether that is not all: [`UNEVEN`].
    depths: Vec<u8>,
    pub(crate) columns: Vec<[u32; SIDE]>,
    pub(crate) single: Vec<[f32; SIDE]>,
    pub(crate) double: Vec<[f64; SIDE]>,
}

/// Of a depth: some rows are longer.
const UNEVEN: u8 = 128;
const _: () = assert!(LONG <= UNEVEN as usize);

impl Octets {
    /// Adds the rows of a block, and tells the runs that they make. O(entries).
    pub(crate) fn add(&mut self, matrix: &Matrix, block: Range<usize>, runs: &mut Vec<Run>) {
        let length = |row: usize| matrix.starts[row + 1] - matrix.starts[row];
        let mut row = block.start;
        let first = runs.len();
        while row < block.end {
            let rows = row..row + SIDE;
            let short = rows.end <= block.end && rows.clone().all(|row| length(row) < LONG);
            let (octet, start) = (self.depths.len(), self.columns.len());
            let rows = if short { rows } else { row..row + 1 };
            let (depth, even) = match short {
                true => self.copy(matrix, row),
                false => (0, false),
            };
            row = rows.end;
            let octets = octet..self.depths.len();
            let fits =
                |run: &&mut Run| run.octets.is_empty() != short && row - run.rows.start <= CHUNK;
            let last = runs[first..].last_mut().filter(fits);
            match last.and_then(|run| Some((run.depth_with(depth, even)?, run))) {
                Some((depth, run)) => {
                    run.rows.end = row;
                    run.octets.end = octets.end;
                    run.depth = depth;
                }
                None => runs.push(Run {
                    rows,
                    octets,
                    start,
                    depth: if even { depth } else { 0 },
                }),
            }
        }
    }

    /// The octets of a run.
    #[inline(always)]
    pub(crate) fn of(&self, run: &Run) -> impl Iterator<Item = Octet> {
        let depths = self.depths[run.octets.clone()].iter();
        let (mut row, mut start) = (run.rows.start, run.start);
        depths.map(move |depth| {
            let octet = Octet {
                row,
                start,
                depth: usize::from(depth & !UNEVEN),
                even: depth & UNEVEN == 0,
            };
            (row, start) = (row + SIDE, start + octet.depth);
            octet
        })
    }

    /// Returns how many entries of each row that is, and whether it is all of them.
    fn copy(&mut self, matrix: &Matrix, first: usize) -> (usize, bool) {
        let starts: [usize; SIDE] = std::array::from_fn(|lane| matrix.starts[first + lane]);
        let length = |lane: usize| matrix.starts[first + lane + 1] - starts[lane];
        let depth = (0..SIDE).map(length).min().unwrap_or(0);
        let even = (0..SIDE).all(|lane| length(lane) == depth);
        self.depths
            .push(depth as u8 | if even { 0 } else { UNEVEN });
        for at in 0..depth {
            let entries = starts.map(|start| start + at);
            self.columns
                .push(entries.map(|entry| matrix.columns[entry]));
            match &matrix.weights {
                Weights::Ones => {}
                Weights::Single(weights) => self.single.push(entries.map(|entry| weights[entry])),
                Weights::Double(weights) => self.double.push(entries.map(|entry| weights[entry])),
            }
        }
        (depth, even)
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.depths[..])
            + size_of_val(&self.columns[..])
            + size_of_val(&self.single[..])
            + size_of_val(&self.double[..])
    }
}
