//! What a record must be before it is written or rendered.

use std::collections::BTreeSet;

use super::{Measure, Record, Row, SCHEMA, Status, time};

/// What is wrong with a record.
///
/// ```
/// use cornu_eval::evidence::{Environment, Invalid, Record, Versions};
///
/// let mut record = Record::measured("chunking", Environment::detect(&Versions::default()));
/// record.measured_tree = "0".repeat(40);
/// assert!(matches!(record.validate(), Err(Invalid::NoRows { .. })));
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// Another schema.
    #[error("schema {found:?}; this version reads {SCHEMA:?}, so measure the table again")]
    Schema {
        /// The schema of the record.
        found: String,
    },
    /// A name with characters that it may not have.
    #[error(
        "{field} {value:?}: a name has lower-case letters, digits and . _ - + @, and begins with a \
         letter or digit"
    )]
    Name {
        /// Which name.
        field: &'static str,
        /// The name.
        value: String,
    },
    /// A field whose form is wrong.
    #[error("{field} {value:?} must be {must}")]
    Form {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        must: &'static str,
    },
    /// A measured record without rows, or a row without metrics.
    #[error("{place} is measured but empty; add its results, or gate it with a reason")]
    NoRows {
        /// The table or row.
        place: String,
    },
    /// Gated without a reason, or a reason without being gated.
    #[error("{place}: status and gate_reason disagree; a reason stands exactly where it is gated")]
    GateReason {
        /// The table or row.
        place: String,
    },
    /// Something gated that holds results.
    #[error("{place} is gated and holds results; remove them, or measure it")]
    GatedWithResults {
        /// The table or row.
        place: String,
    },
    /// Two rows for one data set and system.
    #[error("{place} stands twice; merge the rows or give the system another name")]
    DuplicateRow {
        /// The row.
        place: String,
    },
    /// A figure that JSON cannot hold.
    #[error("{place}, {metric}: {value} is not finite; leave the metric out or gate the row")]
    NotFinite {
        /// The row.
        place: String,
        /// The metric.
        metric: String,
        /// The figure.
        value: f64,
    },
    /// Bounds that do not enclose the value, or one without the other.
    #[error(
        "{place}, {metric}: value {value} with bounds {lo:?} and {hi:?}; give both with \
         lo <= value <= hi, or neither"
    )]
    Bounds {
        /// The row.
        place: String,
        /// The metric.
        metric: String,
        /// The value.
        value: f64,
        /// Its lower bound.
        lo: Option<f64>,
        /// Its upper bound.
        hi: Option<f64>,
    },
    /// A path that names a user.
    #[error("{field} {value:?} names a user's folder; write it relative to the repository")]
    PersonalPath {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: String,
    },
    /// A rate given in per cent.
    #[error("{place}, {metric}: {value} is no fraction; rates are kept from 0 to 1")]
    NotAFraction {
        /// The row.
        place: String,
        /// The metric.
        metric: String,
        /// The value.
        value: f64,
    },
}

impl Record {
    /// Checks all that the types leave open.
    ///
    /// # Errors
    /// The first thing that is wrong, in the order of the fields.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.schema != SCHEMA {
            return Err(Invalid::Schema {
                found: self.schema.clone(),
            });
        }
        name("table", &self.table)?;
        let place = format!("table {}", self.table);
        gate(&place, self.status, self.gate_reason.as_deref())?;
        hexadecimal("measured_tree", &self.measured_tree, &[40, 64])?;
        if !time::is_utc(&self.verified_at) {
            let must = "a time in UTC such as 2026-01-31T23:59:59Z";
            return form("verified_at", &self.verified_at, must);
        }
        if let Some(load) = self.environment.load.filter(|load| !load.is_finite()) {
            return Err(not_finite("environment", "load", load));
        }
        self.validate_sources()?;
        self.validate_privacy()?;
        match self.status {
            Status::Measured if self.rows.is_empty() => return Err(Invalid::NoRows { place }),
            Status::Gated if !(self.rows.is_empty() && self.quick.is_empty()) => {
                return Err(Invalid::GatedWithResults { place });
            }
            _ => {}
        }
        validate_rows("", &self.rows)?;
        self.validate_printed()?;
        validate_rows("quick ", &self.quick)?;
        for (what, quantity) in &self.cost {
            name("cost", what)?;
            name("unit", &quantity.unit)?;
            if !quantity.value.is_finite() {
                return Err(not_finite("cost", what, quantity.value));
            }
        }
        Ok(())
    }

    fn validate_sources(&self) -> Result<(), Invalid> {
        for artifact in &self.artifacts {
            let rooted = artifact.path.starts_with(['/', '~']) || artifact.path.contains('\\');
            if rooted || artifact.path.is_empty() || artifact.path.split('/').any(|p| p == "..") {
                return form(
                    "artifact",
                    &artifact.path,
                    "a path inside the repository, with /",
                );
            }
            if let Some(sha256) = &artifact.sha256 {
                hexadecimal("sha256", sha256, &[64])?;
            }
        }
        for model in &self.models {
            if model.id.is_empty() || model.source.is_empty() {
                return form("model", &model.id, "named, with the source it came from");
            }
            hexadecimal("sha256", &model.sha256, &[64])?;
        }
        Ok(())
    }

    fn validate_privacy(&self) -> Result<(), Invalid> {
        let reasons = self
            .rows
            .iter()
            .chain(&self.quick)
            .filter_map(|row| row.gate_reason.as_ref());
        let texts = (self.commands.iter().map(|text| ("command", text)))
            .chain(
                self.known_failures
                    .iter()
                    .map(|text| ("known_failures", text)),
            )
            .chain(
                self.models
                    .iter()
                    .map(|model| ("model source", &model.source)),
            )
            .chain(
                self.gate_reason
                    .iter()
                    .chain(reasons)
                    .map(|text| ("gate_reason", text)),
            );
        for (field, text) in texts {
            if names_a_user_folder(text) {
                return Err(Invalid::PersonalPath {
                    field,
                    value: text.clone(),
                });
            }
        }
        Ok(())
    }

    fn validate_printed(&self) -> Result<(), Invalid> {
        for printed in &self.printed {
            name("system", &printed.system)?;
            if let Some(dataset) = &printed.dataset {
                name("dataset", dataset)?;
            }
            if printed.source.trim().is_empty() {
                return form(
                    "source",
                    &printed.source,
                    "the place where the values are printed",
                );
            }
            for (metric, &value) in &printed.metrics {
                name("metric", metric)?;
                if !value.is_finite() {
                    let place = format!("printed {}", printed.system);
                    return Err(not_finite(&place, metric, value));
                }
            }
        }
        Ok(())
    }
}

fn validate_rows(part: &str, rows: &[Row]) -> Result<(), Invalid> {
    let mut seen = BTreeSet::new();
    for row in rows {
        let place = format!("{part}row {} / {}", row.dataset, row.system);
        name("dataset", &row.dataset)?;
        name("system", &row.system)?;
        gate(&place, row.status, row.gate_reason.as_deref())?;
        if !seen.insert((&row.dataset, &row.system)) {
            return Err(Invalid::DuplicateRow { place });
        }
        match row.status {
            Status::Measured if row.metrics.is_empty() => return Err(Invalid::NoRows { place }),
            Status::Gated if !row.metrics.is_empty() => {
                return Err(Invalid::GatedWithResults { place });
            }
            _ => {}
        }
        for (metric, measure) in &row.metrics {
            name("metric", metric)?;
            validate_measure(&place, metric, measure)?;
        }
    }
    Ok(())
}

fn validate_measure(place: &str, metric: &str, measure: &Measure) -> Result<(), Invalid> {
    let Measure {
        value,
        lo,
        hi,
        ref unit,
        ..
    } = *measure;
    name("unit", unit)?;
    let figures = [Some(value), lo, hi];
    if let Some(&bad) = figures.iter().flatten().find(|figure| !figure.is_finite()) {
        return Err(not_finite(place, metric, bad));
    }
    let (place, metric) = (place.to_owned(), metric.to_owned());
    let enclosed = match (lo, hi) {
        (None, None) => true,
        (Some(lo), Some(hi)) => lo <= value && value <= hi,
        _ => false,
    };
    if !enclosed {
        return Err(Invalid::Bounds {
            place,
            metric,
            value,
            lo,
            hi,
        });
    }
    if unit == "fraction" && !(0.0..=1.0).contains(&value) {
        return Err(Invalid::NotAFraction {
            place,
            metric,
            value,
        });
    }
    Ok(())
}

/// Whether a text holds the folder of a user on Linux, macOS or Windows.
fn names_a_user_folder(text: &str) -> bool {
    let folders = ["home", "Users", "root"];
    let holds = |folder: &str, mark: char| text.contains(&format!("{mark}{folder}{mark}"));
    folders
        .iter()
        .any(|folder| holds(folder, '/') || holds(folder, '\\'))
}

fn name(field: &'static str, value: &str) -> Result<(), Invalid> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let rest = |byte: u8| plain(byte) || b"._-+@".contains(&byte);
    if value.bytes().next().is_some_and(plain) && value.bytes().all(rest) {
        Ok(())
    } else {
        Err(Invalid::Name {
            field,
            value: value.to_owned(),
        })
    }
}

fn gate(place: &str, status: Status, reason: Option<&str>) -> Result<(), Invalid> {
    let given = reason.is_some_and(|reason| !reason.trim().is_empty());
    let agree = match status {
        Status::Measured => reason.is_none(),
        Status::Gated => given,
    };
    if agree {
        Ok(())
    } else {
        Err(Invalid::GateReason {
            place: place.to_owned(),
        })
    }
}

fn hexadecimal(field: &'static str, value: &str, lengths: &[usize]) -> Result<(), Invalid> {
    let digits = value
        .bytes()
        .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if digits && lengths.contains(&value.len()) {
        return Ok(());
    }
    let must = match lengths {
        [64] => "64 lower-case hexadecimal digits",
        _ => "40 or 64 lower-case hexadecimal digits",
    };
    form(field, value, must)
}

fn form(field: &'static str, value: &str, must: &'static str) -> Result<(), Invalid> {
    Err(Invalid::Form {
        field,
        value: value.to_owned(),
        must,
    })
}

fn not_finite(place: &str, metric: &str, value: f64) -> Invalid {
    Invalid::NotFinite {
        place: place.to_owned(),
        metric: metric.to_owned(),
        value,
    }
}
