//! The choice of segments, over numbers alone: which runs of chunks, given a value for each.

mod greedy;
mod optimal;
mod values;

pub use greedy::greedy;
pub use optimal::{MAX_CELLS, optimal};
pub use values::{MAX_MAGNITUDE, STEP, Values, on_grid};

use crate::error::SegmentError;

/// The longest segment that can be asked for, in chunks.
pub const MAX_SEGMENT: usize = u16::MAX as usize;

/// The highest price of a segment.
pub const MAX_PRICE: f64 = 1000.0;

/// What a choice of segments has to keep to.
///
/// ```
/// use cornu_segment::select::Limits;
/// let limits = Limits { segment: 15, total: 30, minimum: 0.5, price: 0.5 };
/// assert!(limits.check().is_ok());
/// assert!(Limits { total: 0, ..limits }.check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Limits {
    /// Chunks in one segment, at most; from 1 to [`MAX_SEGMENT`].
    pub segment: usize,
    /// Chunks in all segments together, at most; at least 1.
    pub total: usize,
    /// The value that each segment has at least.
    pub minimum: f64,
    /// What each segment costs, from 0; only [`optimal`] looks at it.
    ///
    /// At 0 the best set never bridges a gap between two segments that are each worth the minimum:
    /// leaving out what lies between always adds value. At a price of p a gap is bridged when the
    /// chunks in it cost less than p together.
    pub price: f64,
}

impl Limits {
    /// Whether the limits can be kept to.
    ///
    /// # Errors
    /// [`SegmentError::Option`].
    pub fn check(&self) -> Result<(), SegmentError> {
        if !(1..=MAX_SEGMENT).contains(&self.segment) {
            return Err(SegmentError::segment_length("segment", self.segment));
        }
        if self.total == 0 {
            return Err(SegmentError::option("total", 0, "at least 1"));
        }
        if !self.minimum.is_finite() {
            return Err(SegmentError::option(
                "minimum",
                self.minimum,
                "a finite number",
            ));
        }
        if !(0.0..=MAX_PRICE).contains(&self.price) {
            let remedy = format!("a number from 0 to {MAX_PRICE}");
            return Err(SegmentError::option("price", self.price, remedy));
        }
        Ok(())
    }
}

/// A segment: the chunks `start..end` of the joined documents, chosen for one query.
///
/// ```
/// use cornu_segment::select::Pick;
/// let pick = Pick { query: 0, start: 3, end: 5, value: 1.5 };
/// assert_eq!(pick.len(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pick {
    /// Position of the query, from 0.
    pub query: usize,
    /// First chunk.
    pub start: usize,
    /// One past the last chunk.
    pub end: usize,
    /// Sum of the query's values over the chunks.
    pub value: f64,
}

impl Pick {
    /// Number of chunks; never 0.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a segment holds a chunk
    pub fn len(&self) -> usize {
        self.end - self.start
    }
}

/// The chosen segments: disjoint, none across documents, within the limits.
///
/// ```
/// use cornu_segment::select::{Limits, Values, greedy, optimal};
///
/// // One document. The greedy takes the best segment of two; three single chunks are worth more.
/// let values = Values::new(vec![vec![3.0, -1.0, 3.0, -9.0, 4.0]], &[5])?;
/// let limits = Limits { segment: 3, total: 3, minimum: 0.0, price: 0.0 };
/// assert_eq!(greedy(&values, &limits)?.value(), 5.0);
/// assert_eq!(optimal(&values, &limits)?.value(), 10.0);
/// # Ok::<(), cornu_segment::SegmentError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The greedy's in the order in which it took them; the optimum's by place.
    pub picks: Vec<Pick>,
}

impl Selection {
    /// The sum of the segments' values. Exact, in any order of summation.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.picks.iter().map(|pick| pick.value).sum()
    }

    /// What [`optimal`] makes as large as it can be: the sum of the segments' values less the price
    /// of each.
    #[must_use]
    pub fn objective(&self, limits: &Limits) -> f64 {
        self.value() - on_grid(limits.price) * self.picks.len() as f64
    }

    /// Chunks in all segments together.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.picks.iter().map(Pick::len).sum()
    }
}
