//! What a table shows, and how a figure is written.

use crate::evidence::Measure;

/// The columns of a table. Data set and system always come first.
///
/// ```
/// use cornu_eval::report::{Best, Column, Format, TableSpec};
///
/// let spec = TableSpec::new([
///     Column::new("chunks", "chunks", Format::Integer),
///     Column::new("recall@5", "recall@5", Format::Fixed(2))
///         .with_interval()
///         .with_printed()
///         .with_best(Best::Highest),
/// ]);
/// assert_eq!(spec.columns.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSpec {
    /// Header of the column of data sets; no such column when `None`.
    pub dataset_header: Option<String>,
    /// Header of the column of systems.
    pub system_header: String,
    /// The figures, left to right.
    pub columns: Vec<Column>,
}

impl TableSpec {
    /// A table with the headers `data set` and `system`.
    #[must_use]
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            dataset_header: Some("data set".to_owned()),
            system_header: "system".to_owned(),
            columns: columns.into_iter().collect(),
        }
    }

    /// The same without the column of data sets, for records of one set.
    #[must_use]
    pub fn without_datasets(self) -> Self {
        Self {
            dataset_header: None,
            ..self
        }
    }
}

/// One metric of a table. See [`TableSpec`] for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Header of the column.
    pub header: String,
    /// Name of the metric in the record.
    pub metric: String,
    /// How its figures are written.
    pub format: Format,
    /// Whether the interval is written behind the value, where there is one.
    pub interval: bool,
    /// Whether a column of the printed values follows, marked as such.
    pub printed: bool,
    /// Which figures are set in bold: none unless asked for.
    pub best: Option<Best>,
}

impl Column {
    /// A column of plain values.
    #[must_use]
    pub fn new(header: impl Into<String>, metric: impl Into<String>, format: Format) -> Self {
        Self {
            header: header.into(),
            metric: metric.into(),
            format,
            interval: false,
            printed: false,
            best: None,
        }
    }

    /// With the interval behind the value.
    #[must_use]
    pub fn with_interval(self) -> Self {
        Self {
            interval: true,
            ..self
        }
    }

    /// With a column of printed values after it.
    #[must_use]
    pub fn with_printed(self) -> Self {
        Self {
            printed: true,
            ..self
        }
    }

    /// With the best figure of each data set in bold, and all that read the same.
    #[must_use]
    pub fn with_best(self, best: Best) -> Self {
        Self {
            best: Some(best),
            ..self
        }
    }

    pub(super) fn write(&self, measure: &Measure) -> String {
        match (self.interval, measure.lo, measure.hi) {
            (true, Some(lo), Some(hi)) => self.format.write_with_interval(measure.value, lo, hi),
            _ => self.format.write(measure.value),
        }
    }
}

/// Which figure of a column is best. See [`TableSpec`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Best {
    /// The largest.
    Highest,
    /// The smallest.
    Lowest,
}

/// How a figure is written. Rounding is to nearest on the exact binary value.
///
/// ```
/// use cornu_eval::report::Format;
///
/// assert_eq!(Format::Percent(1).write(0.7059), "70.6 %");
/// assert_eq!(Format::Fixed(2).write_with_interval(0.85, 0.71, 0.94), "0.85 [0.71, 0.94]");
/// assert_eq!(Format::Integer.write(38.0), "38");
/// assert_eq!(Format::Milliseconds(1).write(12.46), "12.5 ms");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A fraction in per cent, with so many digits behind the point.
    Percent(usize),
    /// So many digits behind the point.
    Fixed(usize),
    /// The nearest integer.
    Integer,
    /// Milliseconds, with so many digits behind the point.
    Milliseconds(usize),
}

impl Format {
    /// The figure alone, with its unit.
    #[must_use]
    pub fn write(self, value: f64) -> String {
        format!("{}{}", self.digits(value), self.unit())
    }

    /// The figure with its interval, the unit once.
    #[must_use]
    pub fn write_with_interval(self, value: f64, lo: f64, hi: f64) -> String {
        format!(
            "{} [{}, {}]",
            self.write(value),
            self.digits(lo),
            self.digits(hi)
        )
    }

    fn digits(self, value: f64) -> String {
        let (value, places) = match self {
            Self::Percent(places) => (value * 100.0, places),
            Self::Fixed(places) | Self::Milliseconds(places) => (value, places),
            Self::Integer => (value, 0),
        };
        let written = format!("{value:.places$}");
        // "-0.00" reads like a loss.
        match written.strip_prefix('-') {
            Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
            _ => written,
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Percent(_) => " %",
            Self::Fixed(_) | Self::Integer => "",
            Self::Milliseconds(_) => " ms",
        }
    }
}
