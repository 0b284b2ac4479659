//! Places in a source text: bytes and lines.

use std::fmt;
use std::ops::Range;

/// A half-open range of bytes, `start..end`, in a document's source.
///
/// ```
/// use cornu_core::ByteSpan;
///
/// let span = ByteSpan::new(3, 9)?;
/// assert_eq!(span.len(), 6);
/// assert_eq!(span.slice("ab 一二 c"), Some("一二"));
/// assert_eq!(span.slice("短"), None); // out of bounds, no panic
/// # Ok::<(), cornu_core::SpanError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "unchecked::ByteSpan"))]
pub struct ByteSpan {
    start: usize,
    end: usize,
}

impl ByteSpan {
    /// The span `start..end`.
    ///
    /// # Errors
    /// [`SpanError::Reversed`] when `start > end`.
    pub fn new(start: usize, end: usize) -> Result<Self, SpanError> {
        if start > end {
            Err(SpanError::Reversed { start, end })
        } else {
            Ok(Self { start, end })
        }
    }

    /// The span that a range covers; a reversed range becomes the empty span at its start.
    #[must_use]
    pub fn from_range(range: Range<usize>) -> Self {
        Self {
            start: range.start,
            end: range.end.max(range.start),
        }
    }

    /// First byte.
    #[must_use]
    pub fn start(self) -> usize {
        self.start
    }

    /// One past the last byte.
    #[must_use]
    pub fn end(self) -> usize {
        self.end
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the span holds no byte.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The span as a range.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// The part of `source` that the span covers; `None` when it lies outside or cuts a character.
    #[must_use]
    pub fn slice(self, source: &str) -> Option<&str> {
        source.get(self.range())
    }

    /// Whether `other` lies wholly within this span.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the two spans share at least one byte; an empty span shares none.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.start.max(other.start) < self.end.min(other.end)
    }
}

impl fmt::Display for ByteSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A range of lines, counted from 1, both ends included.
///
/// ```
/// use cornu_core::LineSpan;
/// assert_eq!(LineSpan::new(3, 5)?.to_string(), "3-5");
/// assert_eq!(LineSpan::new(3, 3)?.to_string(), "3");
/// assert!(LineSpan::new(0, 1).is_err());
/// # Ok::<(), cornu_core::SpanError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "unchecked::LineSpan"))]
pub struct LineSpan {
    first: usize,
    last: usize,
}

impl LineSpan {
    /// The lines `first..=last`.
    ///
    /// # Errors
    /// [`SpanError`] when `first` is 0 or greater than `last`.
    pub fn new(first: usize, last: usize) -> Result<Self, SpanError> {
        if first == 0 {
            return Err(SpanError::LineZero);
        }
        if first > last {
            return Err(SpanError::Reversed {
                start: first,
                end: last,
            });
        }
        Ok(Self { first, last })
    }

    /// First line, from 1.
    #[must_use]
    pub fn first(self) -> usize {
        self.first
    }

    /// Last line, included.
    #[must_use]
    pub fn last(self) -> usize {
        self.last
    }
}

impl fmt::Display for LineSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

/// Where the lines of a text begin, so that a byte is found in O(log lines).
///
/// A line ends, as in CommonMark, with LF, with CRLF, or with CR alone.
///
/// ```
/// use cornu_core::{ByteSpan, LineIndex};
///
/// let index = LineIndex::new("# A\r\nx\ry\n");
/// assert_eq!(index.line_of(0), 1);
/// assert_eq!(index.line_of(5), 2);
/// let lines = index.lines_of(ByteSpan::new(5, 9)?);
/// assert_eq!((lines.first(), lines.last()), (2, 3));
/// # Ok::<(), cornu_core::SpanError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Reads the text once. O(bytes) time, one `usize` a line.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            let ends = byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
            if ends && at + 1 < bytes.len() {
                starts.push(at + 1);
            }
        }
        Self { starts }
    }

    /// The line, from 1, that holds the byte `at`; a byte past the end counts to the last line.
    #[must_use]
    pub fn line_of(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at)
    }

    /// The lines that a span touches; an empty span touches the line it stands in.
    #[must_use]
    pub fn lines_of(&self, span: ByteSpan) -> LineSpan {
        let last = if span.is_empty() {
            span.start()
        } else {
            span.end() - 1
        };
        LineSpan {
            first: self.line_of(span.start()),
            last: self.line_of(last),
        }
    }

    /// Number of lines; an empty text has one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len()
    }
}

/// Spans as read, before they are checked.
#[cfg(feature = "serde")]
mod unchecked {
    #[derive(serde::Deserialize)]
    pub(super) struct ByteSpan {
        start: usize,
        end: usize,
    }

    impl TryFrom<ByteSpan> for super::ByteSpan {
        type Error = super::SpanError;
        fn try_from(span: ByteSpan) -> Result<Self, Self::Error> {
            Self::new(span.start, span.end)
        }
    }

    #[derive(serde::Deserialize)]
    pub(super) struct LineSpan {
        first: usize,
        last: usize,
    }

    impl TryFrom<LineSpan> for super::LineSpan {
        type Error = super::SpanError;
        fn try_from(span: LineSpan) -> Result<Self, Self::Error> {
            Self::new(span.first, span.last)
        }
    }
}

/// Why two numbers are no span.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpanError {
    /// The end lies before the start.
    #[error("the span {start}..{end} ends before it starts; give the smaller number first")]
    Reversed {
        /// First number.
        start: usize,
        /// Second number.
        end: usize,
    },
    /// Lines count from 1.
    #[error("line 0 does not exist; lines count from 1")]
    LineZero,
}
