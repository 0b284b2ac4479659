//! Top-1 over the median latency.

use anyhow::Result;
use cornu_eval::evidence::Record;

use crate::frontier::{Frontier, Point, Series};

/// The rows where both were measured.
pub(super) fn figure(record: &Record) -> Result<Option<String>> {
    let kinds = [
        ("cross-encoder, first k", "cross-"),
        ("cascade at the elbow", "cascade"),
        ("MaxSim", "maxsim"),
    ];
    let mut series = Vec::new();
    for (name, prefix) in kinds {
        let mut points: Vec<Point> = record
            .rows
            .iter()
            .filter(|row| row.system.starts_with(prefix))
            .filter_map(|row| {
                let (cost, quality) = (row.metrics.get("p50_ms")?, row.metrics.get("top1")?);
                Some(Point {
                    label: row.system.clone(),
                    x: cost.value,
                    y: quality.value,
                    interval: quality.lo.zip(quality.hi),
                })
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x).then_with(|| a.label.cmp(&b.label)));
        if !points.is_empty() {
            series.push(Series {
                name: name.to_owned(),
                points,
            });
        }
    }
    if series.is_empty() {
        return Ok(None);
    }
    let frontier = Frontier {
        title: "Reranking 50 candidates: quality over latency".to_owned(),
        x: "median latency of a question, ms (logarithmic)".to_owned(),
        y: "top-1 hit rate, 95 % interval".to_owned(),
        series,
    };
    frontier.svg().map(Some)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cornu_eval::evidence::{Environment, Measure, Row, Versions};

    use super::*;

    fn row(dataset: &str, system: &str, figures: Option<(f64, f64)>) -> Row {
        let mut row = Row::measured(dataset, system);
        if let Some((cost, quality)) = figures {
            row.metrics = BTreeMap::from([
                ("p50_ms".to_owned(), Measure::exact(cost, "ms", 1)),
                ("top1".to_owned(), Measure::exact(quality, "fraction", 1)),
            ]);
        }
        row
    }

    fn record(rows: Vec<Row>) -> Record {
        let mut record = Record::measured("rerank", Environment::detect(&Versions::default()));
        record.rows = rows;
        record
    }

    #[test]
    fn the_figure_has_every_row_with_both_figures_and_none_without_any() {
        let rows = vec![
            row("all", "cross-50", Some((180.0, 0.6))),
            row("frontier", "cross-5", Some((20.0, 0.5))),
            row("all", "maxsim-f16", Some((12.0, 0.55))),
            row("all", "first-stage", Some((0.001, 0.4))),
            row("all", "cascade", None),
        ];
        let svg = figure(&record(rows)).unwrap().unwrap();
        assert!(svg.contains("cross-5") && svg.contains("maxsim-f16"));
        assert!(!svg.contains("first-stage") && !svg.contains("cascade"));
        let none = record(vec![row("all", "cascade", None)]);
        assert_eq!(figure(&none).unwrap(), None);
    }
}
