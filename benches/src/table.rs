//! What a table is, and the bench that runs one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use cornu_eval::evidence::{License, Model, Printed, Record, Row};
use cornu_eval::report::{self, TableSpec};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::corpus::BenchData;
use crate::licenses;
use crate::models::{Models, PINNED};

/// One comparison table.
pub trait Table: Sync {
    /// The stable name: of the record, of the page, of the markers.
    fn name(&self) -> &'static str;

    /// One line for `--list`.
    fn summary(&self) -> &'static str;

    /// Paragraphs that stand above the figures: what is compared and how to read it.
    fn about(&self) -> &'static str;

    /// The parts of the page, each with its columns: together they hold every row.
    fn sections(&self) -> Vec<Section>;

    /// What the READMEs show: fewer columns, or fewer rows.
    fn brief(&self) -> Section;

    /// What the course chapter prints for the same rows: nothing, unless a table says otherwise.
    fn printed(&self) -> Vec<Printed> {
        Vec::new()
    }

    /// Measures one part. Quality is a function of the inputs; timings are only part of the full.
    ///
    /// # Errors
    /// What a user has to mend. A system that is not at hand is no error: its row is gated.
    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>>;

    /// The models that the measured rows stand on: the pinned embedder, unless a table says
    /// otherwise.
    ///
    /// # Errors
    /// A file of a model that cannot be read.
    fn models(&self, bench: &Bench<'_>) -> Result<Vec<Model>> {
        Ok(bench.models.record(PINNED)?.into_iter().collect())
    }

    /// A figure of the record, as SVG, that stands on the page.
    ///
    /// # Errors
    /// A record that cannot be drawn.
    fn figure(&self, record: &Record) -> Result<Option<String>> {
        let _ = record;
        Ok(None)
    }

    /// Files below `bench-data` that the figures depend on, besides the corpus: none, unless a table
    /// says otherwise.
    fn inputs(&self) -> &'static [&'static str] {
        &[]
    }

    /// What was used, and under which licence: `bench-data` and the packaged models, unless a table
    /// says otherwise.
    fn licenses(&self) -> Vec<License> {
        licenses::own()
    }

    /// What is known to be weak about the figures.
    fn known_failures(&self) -> Vec<String>;
}

/// A part of a table's page: rows of some data sets, with columns of their own.
///
/// ```
/// use cornu_benches::table::Section;
/// use cornu_eval::report::TableSpec;
///
/// let all = Section::whole(TableSpec::new([]));
/// assert!(all.holds("any") && all.title.is_empty());
/// let one = Section { datasets: &["claims"], title: "Claims", ..all };
/// assert!(one.holds("claims") && !one.holds("any"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its heading; none where it is empty.
    pub title: &'static str,
    /// How to read it.
    pub about: &'static str,
    /// Whose rows it has; those of all data sets where it names none.
    pub datasets: &'static [&'static str],
    /// Its columns.
    pub spec: TableSpec,
}

impl Section {
    /// All rows, without a heading.
    #[must_use]
    pub fn whole(spec: TableSpec) -> Self {
        Self {
            title: "",
            about: "",
            datasets: &[],
            spec,
        }
    }

    /// Whether the rows of a data set belong here.
    #[must_use]
    pub fn holds(&self, dataset: &str) -> bool {
        self.datasets.is_empty() || self.datasets.contains(&dataset)
    }

    /// The rows of a record that belong here, rendered; empty where there are none.
    ///
    /// # Errors
    /// A record that is not valid.
    pub fn render(&self, record: &Record) -> Result<String> {
        let mut own = record.clone();
        own.rows.retain(|row| self.holds(&row.dataset));
        if own.rows.is_empty() {
            return Ok(String::new());
        }
        Ok(report::render(&[own], &self.spec)?)
    }
}

/// The sections of a table, one below the other.
///
/// # Errors
/// A record that is not valid, or a row that stands in no section or in several.
pub fn render_sections(table: &dyn Table, record: &Record) -> Result<String> {
    record.validate()?;
    let sections = table.sections();
    for row in &record.rows {
        let places = sections
            .iter()
            .filter(|one| one.holds(&row.dataset))
            .count();
        ensure!(
            places == 1,
            "table {}: the rows of {} stand in {places} sections",
            table.name(),
            row.dataset
        );
    }
    let mut parts = Vec::new();
    for section in &sections {
        let body = section.render(record)?;
        if body.is_empty() {
            continue;
        }
        if !section.title.is_empty() {
            parts.push(format!("## {}\n", section.title));
        }
        if !section.about.is_empty() {
            parts.push(format!("{}\n", section.about));
        }
        parts.push(body);
    }
    Ok(parts.join("\n"))
}

/// How much of a table is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Full,
    /// A fixed small part, quality only: what `--check` measures again. At most 20 questions and
    /// 600 passages; what a figure of it was fitted on is asked besides.
    Quick,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Quick => "quick",
        }
    }
}

/// What a measurement works with.
pub struct Bench<'a> {
    /// `bench-data`.
    pub data: &'a BenchData,
    /// The models at hand.
    pub models: &'a Models,
    /// How much to measure.
    pub part: Part,
    /// Of every random choice.
    pub seed: u64,
    /// Where finished rows are kept, for `--resume`.
    pub rows: RowStore,
}

impl Bench<'_> {
    /// The row of a data set and a system: taken from an interrupted run of the same tree when
    /// there is one and `--resume` was asked for, else measured and kept.
    ///
    /// # Errors
    /// As `measure`.
    pub fn row(
        &self,
        dataset: &str,
        system: &str,
        measure: impl FnOnce() -> Result<Row>,
    ) -> Result<Row> {
        self.kept(dataset, system, measure)
    }

    /// The same for all rows of a data set, where they are measured together: systems that are
    /// compared question by question.
    ///
    /// # Errors
    /// As `measure`.
    pub fn rows(
        &self,
        dataset: &str,
        measure: impl FnOnce() -> Result<Vec<Row>>,
    ) -> Result<Vec<Row>> {
        self.kept(dataset, "all", measure)
    }

    fn kept<T: Rows>(
        &self,
        dataset: &str,
        name: &str,
        measure: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(rows) = self.rows.get(self.part, dataset, name) {
            crate::run::say(&format!(
                "  {dataset} / {name}: kept from an interrupted run"
            ));
            return Ok(rows);
        }
        let start = std::time::Instant::now();
        let rows = measure().with_context(|| format!("{dataset} / {name}"))?;
        self.rows.put(self.part, dataset, name, &rows)?;
        let outcome = rows.gate_reason().map_or_else(
            || format!("{:.1} s", start.elapsed().as_secs_f64()),
            |reason| format!("not measured: {reason}"),
        );
        crate::run::say(&format!(
            "  {dataset} / {name} ({}): {outcome}",
            self.part.name()
        ));
        Ok(rows)
    }
}

/// One row, or the rows of a data set.
trait Rows: Serialize + DeserializeOwned {
    /// Why nothing was measured, if nothing was.
    fn gate_reason(&self) -> Option<&str>;
}

impl Rows for Row {
    fn gate_reason(&self) -> Option<&str> {
        self.gate_reason.as_deref()
    }
}

impl Rows for Vec<Row> {
    fn gate_reason(&self) -> Option<&str> {
        let gated = self.iter().all(|row| row.gate_reason.is_some());
        self.first().filter(|_| gated).and_then(Rows::gate_reason)
    }
}

/// Finished rows of one table and one tree, a file each, written once and whole.
#[derive(Debug)]
pub struct RowStore {
    folder: PathBuf,
}

impl RowStore {
    /// The store below `target`; emptied unless a run is resumed.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn open(target: &Path, tree: &str, table: &str, resume: bool) -> Result<Self> {
        let short: String = tree.chars().take(16).collect();
        let folder = target.join("bench-tables").join(short).join(table);
        if !resume && folder.exists() {
            std::fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self { folder })
    }

    fn path(&self, part: Part, dataset: &str, system: &str) -> PathBuf {
        self.folder
            .join(format!("{}--{dataset}--{system}.json", part.name()))
    }

    fn get<T: DeserializeOwned>(&self, part: Part, dataset: &str, system: &str) -> Option<T> {
        let text = std::fs::read_to_string(self.path(part, dataset, system)).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn put<T: Serialize>(&self, part: Part, dataset: &str, system: &str, row: &T) -> Result<()> {
        let path = self.path(part, dataset, system);
        let temporary = path.with_extension("tmp");
        let text = serde_json::to_string(row)?;
        std::fs::write(&temporary, text)
            .and_then(|()| std::fs::rename(&temporary, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What a table makes of the quick part, with the models at hand.
    pub(crate) fn quick<T>(table: &str, measure: impl FnOnce(&Bench<'_>) -> T) -> T {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let target = tempfile::tempdir().unwrap();
        measure(&Bench {
            data: &BenchData::load(&root.join("bench-data")).unwrap(),
            models: &Models::from_env(),
            part: Part::Quick,
            seed: 1,
            rows: RowStore::open(target.path(), "tree", table, false).unwrap(),
        })
    }

    #[test]
    fn rows_are_kept_for_the_same_tree_only_and_only_when_resumed() {
        let target = tempfile::tempdir().unwrap();
        let open = |tree, resume| RowStore::open(target.path(), tree, "t", resume).unwrap();
        let row = Row::gated("d", "s", "a reason");
        open("one", false).put(Part::Full, "d", "s", &row).unwrap();
        let get = |store: RowStore, part| store.get::<Row>(part, "d", "s");
        assert_eq!(get(open("one", true), Part::Full), Some(row));
        assert_eq!(get(open("one", true), Part::Quick), None);
        assert_eq!(get(open("two", true), Part::Full), None);
        assert_eq!(get(open("one", false), Part::Full), None);
    }
}
