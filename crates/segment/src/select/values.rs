//! Values of chunks as multiples of one small step, so that sums are exact.

use crate::error::SegmentError;

/// Values are multiples of 2⁻³⁰, about 9.3e-10.
pub const STEP: f64 = 1.0 / (1_u64 << 30) as f64;

/// The largest value in magnitude times the number of chunks stays below 2²², so that every sum of
/// values is a multiple of [`STEP`] that an `f64` holds exactly.
pub const MAX_MAGNITUDE: f64 = (1_u64 << 22) as f64;

/// The nearest multiple of [`STEP`]; halves go away from zero, and negative zero becomes zero.
///
/// ```
/// use cornu_segment::select::{STEP, on_grid};
/// assert_eq!(on_grid(0.5), 0.5);
/// assert!((on_grid(0.1) - 0.1).abs() <= STEP / 2.0);
/// ```
#[must_use]
pub fn on_grid(value: f64) -> f64 {
    (value / STEP).round() * STEP + 0.0
}

/// For each query a value for each chunk of some documents, joined end to end.
///
/// Values are brought to multiples of [`STEP`]. All sums are then exact: they do not depend on the
/// order of summation, two segments of equal value *are* equal, and ties are settled by rules, not
/// by rounding.
///
/// ```
/// use cornu_segment::select::Values;
/// let values = Values::new(vec![vec![0.1, 0.2, -0.18]], &[2, 1])?;
/// assert_eq!((values.chunks(), values.queries()), (3, 1));
/// assert!(Values::new(vec![vec![f64::NAN]], &[1]).is_err());
/// assert!(Values::new(vec![vec![0.1]], &[2]).is_err());
/// # Ok::<(), cornu_segment::SegmentError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    rows: Vec<Vec<f64>>,
    /// `sums[q][i]` is the sum of the first `i` values.
    sums: Vec<Vec<f64>>,
    /// For each chunk, where its document begins.
    begins: Vec<usize>,
    /// For each chunk, where its document ends.
    ends: Vec<usize>,
}

impl Values {
    /// One row a query; `documents` are the documents' lengths in chunks, in order. O(values).
    ///
    /// # Errors
    /// [`SegmentError::Shape`], [`SegmentError::Value`].
    pub fn new(rows: Vec<Vec<f64>>, documents: &[usize]) -> Result<Self, SegmentError> {
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        for &length in documents {
            let begin = begins.len();
            begins.extend(std::iter::repeat_n(begin, length));
            ends.extend(std::iter::repeat_n(begin + length, length));
        }
        let chunks = begins.len();
        let mut rounded = Vec::with_capacity(rows.len());
        for (query, row) in rows.into_iter().enumerate() {
            if row.len() != chunks {
                return Err(SegmentError::Shape {
                    query,
                    found: row.len(),
                    expected: chunks,
                });
            }
            let too_large =
                |value: &f64| !(value.is_finite() && value.abs() * (chunks as f64) < MAX_MAGNITUDE);
            if let Some((at, &value)) = row.iter().enumerate().find(|(_, v)| too_large(v)) {
                return Err(SegmentError::Value { at, value, chunks });
            }
            rounded.push(row.into_iter().map(on_grid).collect::<Vec<f64>>());
        }
        let sums = rounded.iter().map(|row| running_sums(row)).collect();
        Ok(Self {
            rows: rounded,
            sums,
            begins,
            ends,
        })
    }

    /// Number of chunks in all documents.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.begins.len()
    }

    /// Number of queries.
    #[must_use]
    pub fn queries(&self) -> usize {
        self.rows.len()
    }

    /// The values of one query; none for a query that does not exist.
    #[must_use]
    pub fn row(&self, query: usize) -> &[f64] {
        self.rows.get(query).map_or(&[], Vec::as_slice)
    }

    /// The sum of a query's values over the chunks `start..end`.
    pub(super) fn sum(&self, query: usize, start: usize, end: usize) -> f64 {
        self.sums[query][end] - self.sums[query][start]
    }

    /// Where the document of a chunk begins.
    pub(super) fn begin_of(&self, chunk: usize) -> usize {
        self.begins[chunk]
    }

    /// Where the document of a chunk ends.
    pub(super) fn end_of(&self, chunk: usize) -> usize {
        self.ends[chunk]
    }

    /// Whether a segment may begin or end at a chunk.
    pub(super) fn is_edge(&self, query: usize, chunk: usize) -> bool {
        self.rows[query][chunk] >= 0.0
    }
}

fn running_sums(row: &[f64]) -> Vec<f64> {
    let mut sums = Vec::with_capacity(row.len() + 1);
    let mut sum = 0.0;
    sums.push(sum);
    for value in row {
        sum += value;
        sums.push(sum);
    }
    sums
}
