//! Measure, render, check: the work behind `cargo xtask bench-tables`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cornu_eval::evidence::{Artifact, Environment, Record, Row, Tolerance, Versions, compare};
use cornu_eval::report;

use crate::corpus::BenchData;
use crate::figures::{self, READMES, Records};
use crate::models::Models;
use crate::table::{Bench, Part, RowStore, Table, render_sections};
use crate::tables::TABLES;
use crate::tree;

/// The seed of every random choice.
pub const SEED: u64 = 9;

/// On another type of processor a quality figure may differ by this much: on the smallest set, one
/// question of 17.
pub const ELSEWHERE: Tolerance = Tolerance {
    absolute: 0.06,
    relative: 0.02,
};

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Name the tables.
    List,
    /// Measure, write records, render.
    Measure {
        /// Whether to take finished rows of an interrupted run of the same tree.
        resume: bool,
    },
    /// Measure the quick parts and print them.
    Quick,
    /// Render from the records that are there.
    Render,
    /// Render and compare; measure the quick parts and compare.
    Check,
}

/// Does it, for the named tables or for all. `Ok(false)`: a check found a difference.
///
/// # Errors
/// Whatever keeps the work from being done.
pub fn run(root: &Path, names: &[String], command: Command) -> Result<bool> {
    let tables = chosen(names)?;
    match command {
        Command::List => {
            for table in tables {
                show(&format!("{:<12} {}\n", table.name(), table.summary()));
            }
            Ok(true)
        }
        Command::Measure { resume } => {
            let session = Session::open(root)?;
            for table in &tables {
                session.record(*table, resume)?;
                // Rendered at once: an interrupted run leaves whole tables.
                write_rendered(root, &[*table])?;
            }
            Ok(true)
        }
        Command::Quick => {
            let session = Session::open(root)?;
            for table in tables {
                let rows = session.measure(table, Part::Quick, Rows::Apart)?;
                let mut record = Record::measured(table.name(), session.environment.clone());
                record.measured_tree.clone_from(&session.tree);
                record.rows = rows;
                show(&format!("{}\n", render_sections(table, &record)?));
            }
            Ok(true)
        }
        Command::Render => write_rendered(root, &tables).map(|()| true),
        Command::Check => {
            let mut differences = rendering_differences(root, &tables)?;
            differences.extend(Session::open(root)?.quality_differences(root, &tables)?);
            for difference in &differences {
                say(&format!("difference: {difference}"));
            }
            if differences.is_empty() {
                say(&format!(
                    "bench-tables --check: {} tables, no difference",
                    tables.len()
                ));
            } else {
                say("run `cargo xtask bench-tables` and commit what it writes, or mend the change");
            }
            Ok(differences.is_empty())
        }
    }
}

/// A line for the person who waits.
#[expect(clippy::print_stderr, reason = "this is the program's progress output")]
pub fn say(line: &str) {
    eprintln!("{line}");
}

#[expect(clippy::print_stdout, reason = "this is the program's output")]
fn show(text: &str) {
    print!("{text}");
}

fn chosen(names: &[String]) -> Result<Vec<&'static dyn Table>> {
    for name in names {
        if !TABLES.iter().any(|table| table.name() == name) {
            let known: Vec<&str> = TABLES.iter().map(|table| table.name()).collect();
            bail!("there is no table {name:?}; there are {}", known.join(", "));
        }
    }
    if names.is_empty() {
        return Ok(TABLES.to_vec());
    }
    let wanted = |table: &&dyn Table| names.iter().any(|name| name == table.name());
    Ok(TABLES.iter().copied().filter(wanted).collect())
}

/// Which finished rows a measurement may take.
#[derive(Clone, Copy)]
enum Rows {
    Fresh,
    Kept,
    Apart,
}

/// What stays the same over all tables of one run.
struct Session {
    root: PathBuf,
    tree: String,
    environment: Environment,
    data: BenchData,
    models: Models,
}

impl Session {
    fn open(root: &Path) -> Result<Self> {
        let models = Models::from_env();
        let versions = Versions {
            libtorch: crate::models::libtorch_version(),
            ..Versions::default()
        };
        Ok(Self {
            root: root.to_owned(),
            tree: tree::hash(root)?,
            environment: Environment::detect(&versions),
            data: BenchData::load(&root.join("bench-data"))?,
            models,
        })
    }

    /// Rows of a check are kept apart, so that a check does not undo an interrupted run.
    fn bench(&self, table: &dyn Table, part: Part, rows: Rows) -> Result<Bench<'_>> {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| self.root.join("target"), PathBuf::from);
        let (folder, keep) = match rows {
            Rows::Fresh => (table.name().to_owned(), false),
            Rows::Kept => (table.name().to_owned(), true),
            Rows::Apart => (format!("{}.check", table.name()), false),
        };
        Ok(Bench {
            data: &self.data,
            models: &self.models,
            part,
            seed: SEED,
            rows: RowStore::open(&target, &self.tree, &folder, keep)?,
        })
    }

    fn measure(&self, table: &dyn Table, part: Part, rows: Rows) -> Result<Vec<Row>> {
        table.measure(&self.bench(table, part, rows)?)
    }

    fn record(&self, table: &dyn Table, resume: bool) -> Result<()> {
        say(&format!("table {}: {}", table.name(), table.summary()));
        let start = std::time::Instant::now();
        let mut record = Record::measured(table.name(), self.environment.clone());
        // The quick part first: it is small, and whatever is broken breaks there.
        let rows = if resume { Rows::Kept } else { Rows::Fresh };
        record.quick = self.measure(table, Part::Quick, rows)?;
        record.rows = self.measure(table, Part::Full, Rows::Kept)?;
        record.models = table.models(&self.bench(table, Part::Full, Rows::Kept)?)?;
        record.measured_tree.clone_from(&self.tree);
        record.seed = SEED;
        record.commands = vec![format!("cargo xtask bench-tables --table {}", table.name())];
        record.printed = table.printed();
        record.artifacts = self.artifacts(table)?;
        record.licenses = table.licenses();
        record.known_failures = table.known_failures();
        record.cost.insert(
            "wall".to_owned(),
            cornu_eval::evidence::Quantity {
                value: (start.elapsed().as_secs_f64() * 10.0).round() / 10.0,
                unit: "s".to_owned(),
            },
        );
        let path = record_path(&self.root, table);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        record.write(&path)?;
        say(&format!("wrote {}", path.display()));
        Ok(())
    }

    /// What was read, by its contents.
    fn artifacts(&self, table: &dyn Table) -> Result<Vec<Artifact>> {
        let corpus = self
            .data
            .documents()
            .map(|document| format!("corpus/{}", document.id()));
        let inputs = table.inputs().iter().map(ToString::to_string);
        corpus
            .chain(inputs)
            .map(|name| {
                let path = format!("bench-data/{name}");
                let sha256 = crate::models::sha256(&self.root.join(&path))?;
                Ok(Artifact {
                    path,
                    sha256: Some(sha256),
                })
            })
            .collect()
    }

    /// Measures the quick parts and compares them with the records.
    fn quality_differences(&self, root: &Path, tables: &[&dyn Table]) -> Result<Vec<String>> {
        let mut out = Vec::new();
        for table in tables {
            let record = Record::read(&record_path(root, *table))?;
            let same = record.environment.cpu == self.environment.cpu
                && record.environment.libtorch == self.environment.libtorch;
            let tolerance = if same { Tolerance::EXACT } else { ELSEWHERE };
            say(&format!(
                "table {}: measuring the quick part again, {}",
                table.name(),
                if same {
                    "expecting the same bits"
                } else {
                    "on another type of processor"
                }
            ));
            let rows = self.measure(*table, Part::Quick, Rows::Apart)?;
            let found = compare(&record.quick, &rows, &tolerance);
            out.extend(
                found
                    .iter()
                    .map(|difference| format!("{}: {difference}", table.name())),
            );
        }
        Ok(out)
    }
}

pub(crate) fn record_path(root: &Path, table: &dyn Table) -> PathBuf {
    root.join("docs/evidence")
        .join(format!("{}.json", table.name()))
}

fn page_path(root: &Path, table: &dyn Table) -> PathBuf {
    root.join("docs/tables")
        .join(format!("{}.md", table.name()))
}

/// What a record renders to.
struct Rendered {
    page: String,
    block: String,
    figure: Option<String>,
}

/// The page of a table, its figure, and the block that is spliced: functions of its record.
fn rendered(root: &Path, table: &dyn Table) -> Result<Rendered> {
    let record = Record::read(&record_path(root, table))?;
    let figure = table.figure(&record)?;
    let provenance = report::provenance(&record);
    let body = render_sections(table, &record)?;
    let name = table.name();
    let image = match figure {
        Some(_) => format!("![{}]({name}.svg)\n\n", table.summary()),
        None => String::new(),
    };
    let page = format!(
        "# Table `{name}`\n\n{}\n\n{image}{body}\n{provenance}\n\nRendered from \
         [`docs/evidence/{name}.json`](../evidence/{name}.json) by `cargo xtask bench-tables`; edits \
         are lost. What the figures mean: [METHODS.md](../METHODS.md).\n",
        table.about()
    );
    let brief = table.brief().render(&record)?;
    Ok(Rendered {
        page,
        block: format!("\n{brief}\n{provenance}\n"),
        figure,
    })
}

/// Every page that rendering writes, with its contents.
fn pages(root: &Path, tables: &[&dyn Table]) -> Result<Vec<(PathBuf, String)>> {
    let mut out = Vec::new();
    let mut written = Vec::new();
    let mut records = Records::new(root);
    for path in figures::pages(root)? {
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let text = records
            .fill(&text)
            .with_context(|| path.display().to_string())?;
        written.push((path, text));
    }
    for table in tables {
        let Rendered {
            page,
            block,
            figure,
        } = rendered(root, *table)?;
        let path = page_path(root, *table);
        out.extend(figure.map(|svg| (path.with_extension("svg"), svg)));
        out.push((path, page));
        for (path, text) in &mut written {
            let spliced = READMES.iter().any(|name| *path == root.join(name));
            if spliced && text.contains(&format!("<!-- table:{} -->", table.name())) {
                *text = report::splice(text, table.name(), &block)
                    .with_context(|| path.display().to_string())?;
            }
        }
    }
    out.extend(written);
    Ok(out)
}

fn write_rendered(root: &Path, tables: &[&dyn Table]) -> Result<()> {
    for (path, text) in pages(root, tables)? {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            std::fs::write(&path, text)
                .with_context(|| format!("cannot write {}", path.display()))?;
            say(&format!("wrote {}", path.display()));
        }
    }
    Ok(())
}

/// Pages that are not what their records render to, in words.
///
/// # Errors
/// A record or a page that cannot be read.
pub fn rendering_differences(root: &Path, tables: &[&dyn Table]) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for (path, text) in pages(root, tables)? {
        if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            out.push(format!(
                "{} is not what its records render to",
                path.display()
            ));
        }
    }
    Ok(out)
}
