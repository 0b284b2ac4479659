//! Whether a measurement repeats a record.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Measure, Row};

/// Compares rows that were measured again with those of a record, pairing them by data set and
/// system. Differences come in the order of data set, system and metric; none means that every
/// quality figure was repeated.
///
/// Figures that depend on the machine's speed ([`Measure::is_timing`]) must be there but may have
/// any value.
///
/// ```
/// use cornu_eval::evidence::{Measure, Row, Tolerance, compare};
///
/// let row = |recall| {
///     let mut row = Row::measured("bench-data", "sentence");
///     row.metrics.insert("recall@5".into(), Measure::exact(recall, "fraction", 20));
///     row
/// };
/// assert!(compare(&[row(0.85)], &[row(0.85)], &Tolerance::EXACT).is_empty());
/// let differences = compare(&[row(0.85)], &[row(0.80)], &Tolerance::EXACT);
/// assert_eq!(
///     differences[0].to_string(),
///     "bench-data / sentence, recall@5: value recorded 0.85, measured 0.8"
/// );
/// ```
#[must_use]
pub fn compare(recorded: &[Row], measured: &[Row], tolerance: &Tolerance) -> Vec<Difference> {
    let (recorded, measured) = (by_place(recorded), by_place(measured));
    let mut differences = Vec::new();
    for place in union(&recorded, &measured) {
        match (recorded.get(place), measured.get(place)) {
            (Some(recorded), Some(measured)) => {
                compare_rows(recorded, measured, tolerance, &mut differences);
            }
            (Some(row), None) => differences.push(Difference::NotMeasured {
                place: Place::of(row),
            }),
            (None, Some(row)) => differences.push(Difference::NotRecorded {
                place: Place::of(row),
            }),
            (None, None) => {}
        }
    }
    differences
}

/// How far a figure may be from the recorded one: |a − b| ≤ absolute + relative · |recorded|.
///
/// ```
/// use cornu_eval::evidence::Tolerance;
///
/// assert!(Tolerance { absolute: 0.01, relative: 0.0 }.allows(0.5, 0.505));
/// assert!(!Tolerance::EXACT.allows(0.5, 0.505));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// In the metric's unit.
    pub absolute: f64,
    /// As a share of the recorded value.
    pub relative: f64,
}

impl Tolerance {
    /// The same figure, bit for bit but for the sign of zero.
    pub const EXACT: Self = Self {
        absolute: 0.0,
        relative: 0.0,
    };

    /// Whether `measured` is near enough to `recorded`; NaN never is.
    #[must_use]
    pub fn allows(&self, recorded: f64, measured: f64) -> bool {
        (recorded - measured).abs() <= self.absolute + self.relative * recorded.abs()
    }
}

/// Which row and metric. See [`Difference`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The data set.
    pub dataset: String,
    /// The system.
    pub system: String,
    /// The metric, where one is concerned.
    pub metric: Option<String>,
}

/// One thing that a measurement did not repeat. Its text is a line for a person; see [`compare`]
/// for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Difference {
    /// The record has the row or metric, the measurement has not.
    NotMeasured {
        /// Where.
        place: Place,
    },
    /// The measurement has the row or metric, the record has not.
    NotRecorded {
        /// Where.
        place: Place,
    },
    /// One is gated and the other is not, or a unit differs.
    Kind {
        /// Where.
        place: Place,
        /// What the record says.
        recorded: String,
        /// What the measurement says.
        measured: String,
    },
    /// A figure is too far from the recorded one.
    Figure {
        /// Where.
        place: Place,
        /// `value`, `lo`, `hi` or `n`.
        field: &'static str,
        /// The recorded figure.
        recorded: Option<f64>,
        /// The measured figure.
        measured: Option<f64>,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {}", self.dataset, self.system)?;
        match &self.metric {
            Some(metric) => write!(f, ", {metric}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMeasured { place } => write!(f, "{place}: recorded, not measured"),
            Self::NotRecorded { place } => write!(f, "{place}: measured, not recorded"),
            Self::Kind {
                place,
                recorded,
                measured,
            } => {
                write!(f, "{place}: recorded {recorded}, measured {measured}")
            }
            Self::Figure {
                place,
                field,
                recorded,
                measured,
            } => {
                let show = |figure: &Option<f64>| figure.map_or("none".into(), |v| v.to_string());
                let (recorded, measured) = (show(recorded), show(measured));
                write!(
                    f,
                    "{place}: {field} recorded {recorded}, measured {measured}"
                )
            }
        }
    }
}

impl Place {
    fn of(row: &Row) -> Self {
        Self {
            dataset: row.dataset.clone(),
            system: row.system.clone(),
            metric: None,
        }
    }
}

type Places<'a> = BTreeMap<(&'a str, &'a str), &'a Row>;

fn by_place(rows: &[Row]) -> Places<'_> {
    rows.iter()
        .map(|row| ((row.dataset.as_str(), row.system.as_str()), row))
        .collect()
}

fn union<'a, K: Ord, V>(a: &'a BTreeMap<K, V>, b: &'a BTreeMap<K, V>) -> BTreeSet<&'a K> {
    a.keys().chain(b.keys()).collect()
}

fn compare_rows(
    recorded: &Row,
    measured: &Row,
    tolerance: &Tolerance,
    differences: &mut Vec<Difference>,
) {
    if recorded.status != measured.status {
        let show = |row: &Row| match &row.gate_reason {
            Some(reason) => format!("gated ({reason})"),
            None => "a result".to_owned(),
        };
        let (place, recorded, measured) = (Place::of(recorded), show(recorded), show(measured));
        differences.push(Difference::Kind {
            place,
            recorded,
            measured,
        });
        return;
    }
    for metric in union(&recorded.metrics, &measured.metrics) {
        let place = Place {
            metric: Some(metric.clone()),
            ..Place::of(recorded)
        };
        match (recorded.metrics.get(metric), measured.metrics.get(metric)) {
            (Some(recorded), Some(measured)) => {
                compare_measures(&place, recorded, measured, tolerance, differences);
            }
            (Some(_), None) => differences.push(Difference::NotMeasured { place }),
            (None, _) => differences.push(Difference::NotRecorded { place }),
        }
    }
}

fn compare_measures(
    place: &Place,
    recorded: &Measure,
    measured: &Measure,
    tolerance: &Tolerance,
    differences: &mut Vec<Difference>,
) {
    if recorded.unit != measured.unit {
        let (recorded, measured) = (recorded.unit.clone(), measured.unit.clone());
        differences.push(Difference::Kind {
            place: place.clone(),
            recorded,
            measured,
        });
        return;
    }
    if recorded.is_timing() {
        return;
    }
    let count = |measure: &Measure| Some(measure.n as f64);
    let figures = [
        (
            "value",
            Some(recorded.value),
            Some(measured.value),
            tolerance,
        ),
        ("lo", recorded.lo, measured.lo, tolerance),
        ("hi", recorded.hi, measured.hi, tolerance),
        ("n", count(recorded), count(measured), &Tolerance::EXACT),
    ];
    for (field, recorded, measured, tolerance) in figures {
        let same = match (recorded, measured) {
            (Some(recorded), Some(measured)) => tolerance.allows(recorded, measured),
            (None, None) => true,
            _ => false,
        };
        if !same {
            let place = place.clone();
            differences.push(Difference::Figure {
                place,
                field,
                recorded,
                measured,
            });
        }
    }
}
