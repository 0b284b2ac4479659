//! Vectors in f32, in 8 bits and in bits, beside the reading of their bytes.

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use cornu_eval::evidence::{License, Measure, Model, Row};
use cornu_eval::report::{Column, Format, TableSpec};
use cornu_store::{Options, Route, Scan, SqliteVecStore};

use crate::paired::{self, Samples};
use crate::table::{Bench, Part, Section, Table};
use crate::timing::quantile;
use crate::vectors::{self, Answers, DIMENSION, Space, Structure};

/// Table `store`.
pub struct Store;

/// A way to hold vectors, and the bytes of each that a scan reads.
struct System {
    name: &'static str,
    options: Options,
    bytes: usize,
}

fn systems(centre: &[f32]) -> Vec<System> {
    let system = |name, scan, bytes| System {
        name,
        bytes,
        options: Options {
            scan,
            centre: Some(centre.to_vec()),
            route: Route::Resident,
            ..Options::default()
        },
    };
    let bits = |name, per_hit| system(name, Scan::Bits { per_hit }, DIMENSION / 8 + 8);
    let mut uncentred = bits("bits-16-uncentred", 16);
    uncentred.options.centre = None;
    vec![
        system("f32", Scan::Full, DIMENSION * 4),
        system("int8", Scan::Int8, DIMENSION + 8),
        bits("bits-4", 4),
        bits("bits-16", 16),
        bits("bits-64", 64),
        uncentred,
    ]
}

impl Table for Store {
    fn name(&self) -> &'static str {
        "store"
    }

    fn summary(&self) -> &'static str {
        "nearest neighbours in f32, 8 bits and bits, beside the reading of the bytes"
    }

    fn about(&self) -> &'static str {
        "100,000 made-up vectors of 384 dimensions, 100 questions, one after another and all systems in \
         turn; views of all of them, of a half, a tenth and a hundredth. *clustered*: all to one side \
         and in clusters, as the vectors of embedding models lie; *unstructured*: every direction \
         alike. *f32* and *int8* are exact: 8 bits come with a bound on what they lost, and all that \
         may be among the best is scored again. *bits-n*: one bit a component, and the best 10 · n \
         scored again with the f32 rows; up to 2,048 visible rows are scanned in f32. Bits are of the \
         vectors less a centre (the mean of 1,000 others of the same kind), in *uncentred* of the \
         vectors as they are. *read once*: as many bytes, read once in order by all cores, the best of \
         nine; codes of a tenth of the index may then come from a cache. *bytes* are those that a \
         scan reads for each vector; the f32 rows stay in the file, mapped."
    }

    fn sections(&self) -> Vec<Section> {
        vectors::sections_of_views(spec).into()
    }

    fn brief(&self) -> Section {
        Section {
            title: "",
            about: "",
            datasets: &["clustered-1000", "clustered-100"],
            spec: TableSpec::new([
                Column::new("recall@10", "recall@10", Format::Percent(1)),
                Column::new("bytes", "bytes", Format::Integer),
                Column::new("p50", "p50_ms", Format::Milliseconds(2)),
                Column::new("to reading once", "to_reading", Format::Fixed(1)),
            ]),
        }
    }

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        vectors::in_both_structures(bench, |structure, space, count| {
            measure(structure, space, count, bench)
        })
    }

    fn models(&self, _: &Bench<'_>) -> Result<Vec<Model>> {
        Ok(Vec::new())
    }

    fn licenses(&self) -> Vec<License> {
        Vec::new()
    }

    fn known_failures(&self) -> Vec<String> {
        vec![
            "The vectors are made up. Recall by bits depends on how those of a model lie."
                .to_owned(),
            "A search includes the choice of rows by view and the exact scores of its candidates."
                .to_owned(),
        ]
    }
}

fn spec() -> TableSpec {
    TableSpec::new([
        Column::new("recall@10", "recall@10", Format::Percent(1)).with_interval(),
        Column::new("bytes", "bytes", Format::Integer),
        Column::new("p50", "p50_ms", Format::Milliseconds(3)),
        Column::new("p99", "p99_ms", Format::Milliseconds(3)),
        Column::new("read once", "read_ms", Format::Milliseconds(3)),
        Column::new("to reading once", "to_reading", Format::Fixed(1)),
    ])
}

fn measure(
    structure: Structure,
    space: &Space,
    count: usize,
    bench: &Bench<'_>,
) -> Result<Vec<Row>> {
    let systems = systems(&space.centre);
    let stores: Vec<SqliteVecStore> = systems
        .iter()
        .map(|system| space.open(&system.options))
        .collect::<Result<_, _>>()?;
    let mut rows = Vec::new();
    for (share, dataset, answers) in vectors::ask_in_views(structure.name(), space, &stores)? {
        let truth = answers.first().context("there are systems")?;
        for (system, answers) in systems.iter().zip(&answers) {
            let mut row = row_of(&dataset, system.name, answers, truth, bench)?;
            let bytes = Measure::exact(system.bytes as f64, "bytes", 1);
            row.metrics.insert("bytes".to_owned(), bytes);
            if bench.part == Part::Full {
                let read = seconds_to_read(count * share / 1000 * system.bytes) * 1e3;
                let p50 = row.metrics.get("p50_ms").map_or(0.0, |p50| p50.value);
                let mut put = |name: &str, value: f64, unit: &str| {
                    let measure = Measure::exact(value, unit, 9);
                    row.metrics.insert(name.to_owned(), measure);
                };
                put("read_ms", read, "ms");
                put("to_reading", p50 / read, "ratio");
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Recall, and in the full part the times.
pub(super) fn row_of(
    dataset: &str,
    system: &str,
    answers: &Answers,
    truth: &Answers,
    bench: &Bench<'_>,
) -> Result<Row> {
    let mut samples = Samples::new();
    for value in vectors::recall(answers, truth) {
        paired::put(&mut samples, "recall@10", Some(value));
    }
    let mut row = paired::row(dataset, system, &samples, bench.seed)?;
    if bench.part == Part::Full {
        let n = answers.seconds.len() as u64;
        let sum: f64 = answers.seconds.iter().sum();
        for (name, value, unit) in [
            ("p50_ms", quantile(&answers.seconds, 0.5) * 1e3, "ms"),
            ("p99_ms", quantile(&answers.seconds, 0.99) * 1e3, "ms"),
            ("qps", n as f64 / sum, "per_s"),
        ] {
            row.metrics
                .insert(name.to_owned(), Measure::exact(value, unit, n));
        }
    }
    Ok(row)
}

/// The least time in which all cores read so many bytes once.
fn seconds_to_read(bytes: usize) -> f64 {
    let data: Vec<u64> = (0..bytes.div_ceil(8) as u64).collect();
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let read = |part: &[u64]| {
        // Eight sums, so that reading and not adding is what takes the time.
        let mut sums = [0_u64; 8];
        for eight in black_box(part).as_chunks::<8>().0 {
            for (sum, value) in sums.iter_mut().zip(eight) {
                *sum = sum.wrapping_add(*value);
            }
        }
        black_box(sums);
    };
    let once = || {
        // Few bytes are read before a thread is there.
        let few = bytes < 1 << 20;
        let start = Instant::now();
        if few {
            read(&data);
        } else {
            thread::scope(|scope| {
                for part in data.chunks(data.len().div_ceil(cores)) {
                    scope.spawn(move || read(part));
                }
            });
        }
        start.elapsed().as_secs_f64()
    };
    (0..9).map(|_| once()).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::VIEWS;

    #[test]
    fn every_data_set_stands_in_one_section() {
        let sections = Store.sections();
        for structure in [Structure::Clustered, Structure::None] {
            for (share, _) in VIEWS {
                let name = format!("{}-{share}", structure.name());
                let held = sections.iter().filter(|one| one.holds(&name)).count();
                assert_eq!(held, 1, "{name}");
            }
        }
    }
}
