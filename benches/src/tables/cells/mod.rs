//! Questions on tables: windows of text, whole tables, rows in words, and numbers computed from cells.

mod columns;
mod judge;
mod measure;
mod set;

use anyhow::Result;
use cornu_eval::evidence::Row;
use cornu_eval::questions::Question;

use crate::models::{PINNED, Prefixes};
use crate::table::{Bench, Part, Section, Table};

use measure::{ANSWERING, BESIDE_ROWS, Belongs, FINDING, PAIR, PARTS};
use set::Set;

/// Every fifth question is asked in the quick part.
const STEP: usize = 5;

/// Questions on the corpus, and those of them on its tables.
const EXT: &str = "questions-ext.jsonl";
const OTHERS: [&str; 2] = ["ext", "ext-table"];

/// Table `tables`.
pub struct Tables;

impl Table for Tables {
    fn name(&self) -> &'static str {
        "tables"
    }

    fn summary(&self) -> &'static str {
        "questions on tables: finding the table, answering, citing the cell"
    }

    fn about(&self) -> &'static str {
        columns::ABOUT
    }

    fn sections(&self) -> Vec<Section> {
        columns::sections()
    }

    fn brief(&self) -> Section {
        columns::brief()
    }

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        let full = bench.part == Part::Full;
        bench.rows("tables", || {
            let model = match bench.models.shared_or_reason(PINNED, Prefixes::Own)? {
                Ok(model) => model,
                Err(reason) => return Ok(gated(full, &reason)),
            };
            let set = Set::open(bench, full)?;
            let asked = set.questions.iter().step_by(if full { 1 } else { STEP });
            let ext = match full {
                true => bench.data.questions(EXT)?,
                false => Vec::new(),
            };
            let others = ext
                .iter()
                .filter(|q| q.split == "test" && q.is_answerable());
            let measured = measure::measure(&set, asked.collect(), others.collect(), &model)?;
            let (mut finding, mut answering) = (Vec::new(), Vec::new());
            for (part, belongs) in parts(full) {
                let (found, answered) = measured.rows(part, *belongs, bench.seed)?;
                finding.extend(found);
                answering.extend(answered);
            }
            finding.extend(answering);
            if full {
                for (dataset, belongs) in BESIDE_ROWS {
                    finding.extend(measured.beside_rows(dataset, belongs, bench.seed)?);
                }
                finding.extend(measured.others(OTHERS[0], |_| true, bench.seed)?);
                let on_tables = |question: &Question| question.kind == "table";
                finding.extend(measured.others(OTHERS[1], on_tables, bench.seed)?);
            }
            Ok(finding)
        })
    }

    fn inputs(&self) -> &'static [&'static str] {
        &[
            set::QUESTIONS,
            EXT,
            "tables/tables.toml",
            "tables/clinic-budget.md",
            "tables/harbour-throughput.md",
            "tables/pump-catalogue.md",
            "tables/tram-lines.md",
            "tables/ferry-fleet.md",
            "tables/maize-trials.md",
            "tables/模型选型.md",
            "tables/水文站.md",
            "tables/县域财政.md",
            "tables/机房设备.md",
            "tables/电池测试.md",
            "tables/茶园产量.md",
        ]
    }

    fn known_failures(&self) -> Vec<String> {
        [
            "Sixteen tables have four or five rows, so that a chunk of text holds any of them whole; \
             eight have nine or ten of eight or nine columns. Finding rows of larger tables is not \
             measured.",
            "One writer wrote tables and questions, and knew which operations are computed.",
            "No question of the set is without an answer; what is said where the document is hidden \
             stands in for that.",
        ]
        .map(str::to_owned)
        .into()
    }
}

fn parts(full: bool) -> &'static [(&'static str, Belongs)] {
    let n = if full { PARTS.len() } else { 1 };
    PARTS.get(..n).unwrap_or(&PARTS)
}

fn gated(full: bool, reason: &str) -> Vec<Row> {
    let section = |prefix: &'static str, systems: &'static [&'static str]| {
        parts(full).iter().flat_map(move |(part, _)| {
            systems
                .iter()
                .map(move |system| Row::gated(format!("{prefix}-{part}"), *system, reason))
        })
    };
    let beside = BESIDE_ROWS
        .iter()
        .filter(|_| full)
        .flat_map(|(dataset, _)| {
            let systems = PAIR.iter();
            systems.map(|system| Row::gated(*dataset, *system, reason))
        });
    let others = OTHERS.iter().filter(|_| full).flat_map(|dataset| {
        let systems = FINDING.iter();
        systems.map(|system| Row::gated(*dataset, *system, reason))
    });
    section("find", &FINDING)
        .chain(section("answer", &ANSWERING))
        .chain(beside)
        .chain(others)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_one_section() {
        let sections = columns::sections();
        let rows = gated(true, "a reason");
        for row in &rows {
            let holding = sections.iter().filter(|one| one.holds(&row.dataset));
            assert_eq!(holding.count(), 1, "{}", row.dataset);
        }
        for dataset in sections.iter().flat_map(|section| section.datasets) {
            assert!(rows.iter().any(|row| row.dataset == *dataset), "{dataset}");
        }
    }
}
