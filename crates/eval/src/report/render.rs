//! Rows and columns to Markdown.

use std::collections::BTreeSet;

use super::spec::{Best, Column, TableSpec};
use crate::evidence::{Invalid, Printed, Record, Row, Status};

/// What stands where a record has no figure.
const NOTHING: &str = "–";

/// Renders the rows of the records, in their order, as one Markdown table.
///
/// A gated row has one cell of words, `not measured: reason`, and no figures; a gated record is a
/// line of words below the table, or all there is. Below it too: where printed values come from.
/// Ends with a line feed. The result depends on nothing but the arguments.
///
/// ```
/// use cornu_eval::evidence::{Environment, Measure, Record, Row, Versions};
/// use cornu_eval::report::{Column, Format, TableSpec, render};
///
/// let mut record = Record::measured("chunking", Environment::detect(&Versions::default()));
/// record.measured_tree = "0".repeat(40);
/// let mut row = Row::measured("bench-data", "sentence");
/// row.metrics.insert("chunks".into(), Measure::exact(38.0, "count", 1));
/// record.rows = vec![row, Row::gated("bench-data", "bert", "no weights")];
///
/// let spec = TableSpec::new([Column::new("chunks", "chunks", Format::Integer)]);
/// assert_eq!(
///     render(&[record], &spec)?,
///     "| data set | system | chunks |\n\
///      |---|---|---:|\n\
///      | bench-data | sentence | 38 |\n\
///      | bench-data | bert | not measured: no weights |\n"
/// );
/// # Ok::<(), cornu_eval::evidence::Invalid>(())
/// ```
///
/// # Errors
/// What [`Record::validate`] says of a record: an invalid one never renders.
pub fn render(records: &[Record], spec: &TableSpec) -> Result<String, Invalid> {
    records.iter().try_for_each(Record::validate)?;
    let mut lines = Vec::new();
    if records.iter().any(|record| !record.rows.is_empty()) {
        lines.extend(head(spec));
    }
    for record in records {
        for row in &record.rows {
            lines.push(line(&cells(records, record, row, spec)));
        }
    }
    for note in notes(records, spec) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(note);
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

/// One line that says where a record comes from: tree, time, machine, commands.
///
/// ```
/// use cornu_eval::evidence::{Environment, Record, Versions};
///
/// let mut record = Record::measured("chunking", Environment::detect(&Versions::default()));
/// record.measured_tree = "0123456789abcdef0123456789abcdef01234567".into();
/// record.commands.push("cargo xtask bench-tables --table chunking".into());
/// let line = cornu_eval::report::provenance(&record);
/// assert!(line.starts_with("Measured on tree 0123456789ab at "));
/// assert!(line.ends_with("by `cargo xtask bench-tables --table chunking`."));
/// ```
#[must_use]
pub fn provenance(record: &Record) -> String {
    let environment = &record.environment;
    let tree: String = record.measured_tree.chars().take(12).collect();
    let mut line = format!(
        "{} on tree {tree} at {} with {} threads on {} ({} cores)",
        match record.status {
            Status::Measured => "Measured",
            Status::Gated => "Tried",
        },
        record.verified_at,
        environment.threads,
        environment.cpu,
        environment.cores,
    );
    let commands: Vec<String> = record
        .commands
        .iter()
        .map(|command| format!("`{command}`"))
        .collect();
    if !commands.is_empty() {
        line.push_str(", by ");
        line.push_str(&commands.join(", "));
    }
    line.push('.');
    line
}

fn head(spec: &TableSpec) -> [String; 2] {
    let mut headers: Vec<String> = spec.dataset_header.iter().cloned().collect();
    headers.push(spec.system_header.clone());
    let mut rule = "|".to_owned() + &"---|".repeat(headers.len());
    for column in &spec.columns {
        headers.push(column.header.clone());
        rule.push_str("---:|");
        if column.printed {
            headers.push(format!("{} (printed)", column.header));
            rule.push_str("---:|");
        }
    }
    [line(&headers), rule]
}

fn cells(records: &[Record], record: &Record, row: &Row, spec: &TableSpec) -> Vec<String> {
    let mut cells: Vec<String> = spec
        .dataset_header
        .iter()
        .map(|_| row.dataset.clone())
        .collect();
    cells.push(row.system.clone());
    // A gated row gives its reason where its first figure would stand.
    let mut reason = row
        .gate_reason
        .as_ref()
        .map(|reason| format!("not measured: {reason}"));
    for column in &spec.columns {
        let nothing = || reason.take().unwrap_or_else(|| NOTHING.to_owned());
        cells.push(measured(records, row, column).unwrap_or_else(nothing));
        if column.printed {
            cells.push(printed(record, row, column).unwrap_or_else(|| NOTHING.to_owned()));
        }
    }
    // A table without figures still says why a row has none.
    cells.extend(reason);
    cells
}

fn measured(records: &[Record], row: &Row, column: &Column) -> Option<String> {
    let measure = row.metrics.get(&column.metric)?;
    let written = column.write(measure);
    let is_best = best_of(records, &row.dataset, column)
        .is_some_and(|best| column.format.write(best) == column.format.write(measure.value));
    Some(if is_best {
        format!("**{written}**")
    } else {
        written
    })
}

/// The best figure of a column over one data set; `None` when it is not asked for, or when there
/// is nothing to be better than.
fn best_of(records: &[Record], dataset: &str, column: &Column) -> Option<f64> {
    let best = column.best?;
    let rows = records.iter().flat_map(|record| &record.rows);
    let figures: Vec<f64> = rows
        .filter(|row| row.dataset == dataset)
        .filter_map(|row| row.metrics.get(&column.metric))
        .map(|measure| measure.value)
        .collect();
    let winner = figures.iter().copied().reduce(|a, b| match best {
        Best::Highest => a.max(b),
        Best::Lowest => a.min(b),
    });
    winner.filter(|_| figures.len() > 1)
}

fn printed(record: &Record, row: &Row, column: &Column) -> Option<String> {
    printed_beside(record, row)
        .find_map(|printed| printed.metrics.get(&column.metric))
        .map(|&value| column.format.write(value))
}

fn printed_beside<'a>(record: &'a Record, row: &'a Row) -> impl Iterator<Item = &'a Printed> {
    record
        .printed
        .iter()
        .filter(|printed| printed.stands_beside(&row.dataset, &row.system))
}

fn notes(records: &[Record], spec: &TableSpec) -> Vec<String> {
    let mut notes: Vec<String> = records
        .iter()
        .filter_map(|record| {
            let reason = record.gate_reason.as_ref()?;
            Some(format!(
                "Table `{}` not measured: {}",
                record.table,
                one_line(reason)
            ))
        })
        .collect();
    let shown: BTreeSet<&str> = spec
        .columns
        .iter()
        .filter(|column| column.printed)
        .map(|column| column.metric.as_str())
        .collect();
    let sources: BTreeSet<&str> = records
        .iter()
        .flat_map(|record| {
            record
                .rows
                .iter()
                .flat_map(|row| printed_beside(record, row))
        })
        .filter(|printed| {
            printed
                .metrics
                .keys()
                .any(|metric| shown.contains(metric.as_str()))
        })
        .map(|printed| printed.source.as_str())
        .collect();
    if !sources.is_empty() {
        let sources: Vec<String> = sources.into_iter().map(one_line).collect();
        notes.push(format!(
            "(printed): not measured here, but stated by {}.",
            sources.join("; ")
        ));
    }
    notes
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells
        .iter()
        .map(|cell| one_line(cell).replace('|', "\\|"))
        .collect();
    format!("| {} |", cells.join(" | "))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
