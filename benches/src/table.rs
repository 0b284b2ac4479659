//! What a table is, and the bench that runs one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cornu_eval::evidence::{License, Model, Printed, Row};
use cornu_eval::report::TableSpec;

use crate::corpus::BenchData;
use crate::models::Models;

/// One comparison table.
pub trait Table: Sync {
    /// The stable name: of the record, of the page, of the markers.
    fn name(&self) -> &'static str;

    /// One line for `--list`.
    fn summary(&self) -> &'static str;

    /// Paragraphs that stand above the figures: what is compared and how to read it.
    fn about(&self) -> &'static str;

    /// The columns.
    fn spec(&self) -> TableSpec;

    /// The fewer columns that the READMEs show.
    fn brief(&self) -> TableSpec {
        self.spec()
    }

    /// What the course chapter prints for the same rows.
    fn printed(&self) -> Vec<Printed>;

    /// Measures one part. Quality is a function of the inputs; timings are only part of the full.
    ///
    /// # Errors
    /// What a user has to mend. A system that is not at hand is no error: its row is gated.
    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>>;

    /// The models that the measured rows stand on.
    fn models(&self, bench: &Bench<'_>) -> Result<Vec<Model>>;

    /// Files below `bench-data` that the figures depend on, besides the corpus.
    fn inputs(&self) -> &'static [&'static str];

    /// What was used, and under which licence.
    fn licenses(&self) -> Vec<License>;

    /// What is known to be weak about the figures.
    fn known_failures(&self) -> Vec<String>;
}

/// How much of a table is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Full,
    /// A fixed small part, at most 20 queries and 500 passages, quality only: what `--check`
    /// measures again.
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
        if let Some(row) = self.rows.get(self.part, dataset, system) {
            crate::run::say(&format!(
                "  {dataset} / {system}: kept from an interrupted run"
            ));
            return Ok(row);
        }
        let start = std::time::Instant::now();
        let row = measure().with_context(|| format!("{dataset} / {system}"))?;
        self.rows.put(self.part, dataset, system, &row)?;
        let outcome = row.gate_reason.as_ref().map_or_else(
            || format!("{:.1} s", start.elapsed().as_secs_f64()),
            |reason| format!("not measured: {reason}"),
        );
        crate::run::say(&format!(
            "  {dataset} / {system} ({}): {outcome}",
            self.part.name()
        ));
        Ok(row)
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

    fn get(&self, part: Part, dataset: &str, system: &str) -> Option<Row> {
        let text = std::fs::read_to_string(self.path(part, dataset, system)).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn put(&self, part: Part, dataset: &str, system: &str, row: &Row) -> Result<()> {
        let path = self.path(part, dataset, system);
        let temporary = path.with_extension("tmp");
        let text = serde_json::to_string(row)?;
        std::fs::write(&temporary, text)
            .and_then(|()| std::fs::rename(&temporary, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_kept_for_the_same_tree_only_and_only_when_resumed() {
        let target = tempfile::tempdir().unwrap();
        let open = |tree, resume| RowStore::open(target.path(), tree, "t", resume).unwrap();
        let row = Row::gated("d", "s", "a reason");
        open("one", false).put(Part::Full, "d", "s", &row).unwrap();
        assert_eq!(open("one", true).get(Part::Full, "d", "s"), Some(row));
        assert_eq!(open("one", true).get(Part::Quick, "d", "s"), None);
        assert_eq!(open("two", true).get(Part::Full, "d", "s"), None);
        assert_eq!(open("one", false).get(Part::Full, "d", "s"), None);
    }
}
