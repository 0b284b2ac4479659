//! An approximate index beside the exact scans, by breadth of search and of view.

use std::time::Instant;

use anyhow::{Context, Result};
use cornu_eval::evidence::{License, Measure, Model, Row};
use cornu_eval::report::{Column, Format, TableSpec};
use cornu_store::{Approximate, Hnsw, Options, Route, Rung, Scan, SqliteVecStore};

use super::store::row_of;
use crate::table::{Bench, Part, Section, Table};
use crate::vectors::{self, Space};

const EFS: [(usize, &str); 7] = [
    (8, "ef-8"),
    (16, "ef-16"),
    (32, "ef-32"),
    (64, "ef-64"),
    (128, "ef-128"),
    (256, "ef-256"),
    (512, "ef-512"),
];

/// Table `hnsw`.
pub struct HnswTable;

impl Table for HnswTable {
    fn name(&self) -> &'static str {
        "hnsw"
    }

    fn summary(&self) -> &'static str {
        "an approximate index beside exact scans, by breadth of search and of view"
    }

    fn about(&self) -> &'static str {
        "The vectors, questions and views of table `store`, asked by one client; all systems in turn for \
         each question. *f32* and *int8*: exact scans by all cores. *ef-n*: a graph (M = 16, \
         efConstruction = 128), walked with that breadth (ten at \
         least) by one core, however narrow the view; what is found is scored again with the f32 rows. *chosen*: the graph as the store uses it, for a recall \
         of 95 % that was measured with rows before they were put in, and views of a fifth or more; elsewhere, \
         and where no breadth reaches the recall, it is the exact scan in 8 bits. *ladder*: that \
         measurement, with the rows that a walk compares."
    }

    fn sections(&self) -> Vec<Section> {
        let mut sections = Vec::from(vectors::sections_of_views(spec));
        sections.extend([
            Section {
                title: "A million, clustered",
                about: "1,000,000 vectors and 40 questions.",
                datasets: &["million-1000", "million-500", "million-100", "million-10"],
                spec: spec(),
            },
            Section {
                title: "What is measured on the graph itself",
                about: "200 rows for questions, before they are put into the graph.",
                datasets: &["clustered-ladder", "unstructured-ladder", "million-ladder"],
                spec: TableSpec::new([
                    Column::new("recall@10", "recall@10", Format::Percent(1)),
                    Column::new("rows compared", "compared", Format::Integer),
                ]),
            },
            Section {
                title: "Building",
                about: "On all cores, the measurement of the ladder included.",
                datasets: &["clustered-build", "unstructured-build", "million-build"],
                spec: TableSpec::new([
                    Column::new("seconds", "build_s", Format::Fixed(1)),
                    Column::new("bytes a vector", "bytes", Format::Fixed(1)),
                ]),
            },
        ]);
        sections
    }

    fn brief(&self) -> Section {
        Section {
            title: "",
            about: "",
            datasets: &["clustered-1000", "clustered-100", "unstructured-1000"],
            spec: TableSpec::new([
                Column::new("recall@10", "recall@10", Format::Percent(1)),
                Column::new("QPS", "qps", Format::Fixed(0)),
                Column::new("p99", "p99_ms", Format::Milliseconds(2)),
            ]),
        }
    }

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        let mut rows = vectors::in_both_structures(bench, |structure, space, count| {
            measure(structure.name(), space, count, bench)
        })?;
        rows.extend(vectors::in_a_million(bench, |space, count| {
            measure("million", space, count, bench)
        })?);
        Ok(rows)
    }

    fn models(&self, _: &Bench<'_>) -> Result<Vec<Model>> {
        Ok(Vec::new())
    }

    fn licenses(&self) -> Vec<License> {
        Vec::new()
    }

    fn known_failures(&self) -> Vec<String> {
        vec![
            "The vectors are made up; how many of the best ten a walk finds depends on how those of a \
             model lie."
                .to_owned(),
            "One client: a scan has all cores for itself, a walk uses one. With as many clients as \
             cores the walk gains by their number and the scan does not."
                .to_owned(),
        ]
    }
}

fn spec() -> TableSpec {
    TableSpec::new([
        Column::new("recall@10", "recall@10", Format::Percent(1)).with_interval(),
        Column::new("QPS", "qps", Format::Fixed(0)),
        Column::new("p50", "p50_ms", Format::Milliseconds(3)),
        Column::new("p99", "p99_ms", Format::Milliseconds(3)),
    ])
}

fn options(scan: Scan, approximate: Approximate) -> Options {
    Options {
        scan,
        approximate,
        route: Route::Resident,
        ..Options::default()
    }
}

fn systems() -> Vec<(&'static str, Options)> {
    let mut systems = vec![
        ("f32", options(Scan::Full, Approximate::Never)),
        ("int8", options(Scan::Int8, Approximate::Never)),
    ];
    for (ef, name) in EFS {
        let hnsw = Hnsw {
            ef: Some(ef),
            narrow_per_mille: 0,
            ..Hnsw::default()
        };
        systems.push((name, options(Scan::Full, Approximate::Hnsw(hnsw))));
    }
    let chosen = Approximate::Hnsw(Hnsw::default());
    systems.push(("chosen", options(Scan::Int8, chosen)));
    systems
}

fn measure(name: &str, space: &Space, count: usize, bench: &Bench<'_>) -> Result<Vec<Row>> {
    let systems = systems();
    let stores: Vec<SqliteVecStore> = systems
        .iter()
        .map(|(_, options)| space.open(options))
        .collect::<Result<_, _>>()?;
    let builder = stores.last().context("there are systems")?;
    let start = Instant::now();
    builder.build_graph()?;
    let seconds = start.elapsed().as_secs_f64();
    let mut rows = Vec::new();
    for (_, dataset, answers) in vectors::ask_in_views(name, space, &stores)? {
        let truth = answers.first().context("there are systems")?;
        for ((system, _), answers) in systems.iter().zip(&answers) {
            rows.push(row_of(&dataset, system, answers, truth, bench)?);
        }
    }
    rows.extend(
        builder
            .graph_ladder()?
            .iter()
            .map(|rung| ladder(name, rung)),
    );
    let mut built = Row::measured(format!("{name}-build"), "graph");
    let mut put = |metric: &str, value: f64, unit: &str| {
        let measure = Measure::exact(value, unit, 1);
        built.metrics.insert(metric.to_owned(), measure);
    };
    let file = space.path().with_extension("db.hnsw");
    let bytes = std::fs::metadata(&file)
        .with_context(|| file.display().to_string())?
        .len();
    put("bytes", bytes as f64 / count as f64, "bytes");
    if bench.part == Part::Full {
        put("build_s", seconds, "s");
    }
    rows.push(built);
    Ok(rows)
}

fn ladder(name: &str, rung: &Rung) -> Row {
    let system = EFS.iter().find(|(ef, _)| *ef == rung.ef);
    let system = system.map_or("ef", |(_, name)| name);
    let mut row = Row::measured(format!("{name}-ladder"), system);
    let recall = Measure::exact(rung.recall, "fraction", 200);
    row.metrics.insert("recall@10".to_owned(), recall);
    let compared = Measure::exact(rung.compared, "count", 200);
    row.metrics.insert("compared".to_owned(), compared);
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_data_set_stands_in_one_section() {
        let sections = HnswTable.sections();
        for space in ["clustered", "unstructured", "million"] {
            for part in ["1000", "500", "100", "10", "ladder", "build"] {
                let name = format!("{space}-{part}");
                let held = sections.iter().filter(|one| one.holds(&name)).count();
                assert_eq!(held, 1, "{name}");
            }
        }
    }
}
