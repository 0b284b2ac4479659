//! Figures in sentences: written from the records, as tables are.
//!
//! A figure stands between two comments, which a reader of the page does not see:
//!
//! ```text
//! Windows answer <!--fig tables answer-all fixed exact-->0.217<!--/fig--> of them.
//! ```
//!
//! The first names table, data set, system and metric of a row. Behind a `/` another may follow, by
//! which the first is divided, and behind a `:` how it is written: `percent N`, `fixed N` (so many
//! digits behind the point), `interval`, `count` (of how many observations it held) or `n` (how many
//! there were). Without that it is written as in its column of the table. `least` or `most` before it
//! chooses among data sets, where `a-*|b-*` names several.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cornu_eval::evidence::{Measure, Record, Row};
use cornu_eval::report::Format;

use crate::run::record_path;
use crate::table::Table;
use crate::tables::TABLES;

/// The pages into which whole tables are spliced, too.
pub(crate) const READMES: [&str; 2] = ["README.md", "README.zh-CN.md"];

const START: &str = "<!--fig ";
const STOP: &str = "-->";
const END: &str = "<!--/fig-->";

/// The pages below a checkout that may hold figures, in order of their names: those of `docs` and both
/// READMEs, which are no part of the tree that is measured.
///
/// # Errors
/// A folder that cannot be read.
pub(crate) fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let docs = root.join("docs");
    let read = || -> std::io::Result<Vec<PathBuf>> {
        let mut pages: Vec<PathBuf> = READMES.map(|name| root.join(name)).into();
        for entry in std::fs::read_dir(&docs)? {
            pages.push(entry?.path());
        }
        Ok(pages)
    };
    let mut pages = read().with_context(|| format!("cannot read {}", docs.display()))?;
    pages.retain(|page| page.extension().is_some_and(|end| end == "md") && page.is_file());
    pages.sort();
    Ok(pages)
}

/// The records that figures are read from, each once.
pub(crate) struct Records<'a> {
    root: &'a Path,
    read: BTreeMap<&'static str, Record>,
}

impl<'a> Records<'a> {
    /// The records of a checkout. None is read before a figure of it is asked for.
    #[must_use]
    pub(crate) fn new(root: &'a Path) -> Self {
        Self {
            root,
            read: BTreeMap::new(),
        }
    }

    /// A page with its figures as the records have them. All else stays as it is.
    ///
    /// # Errors
    /// A figure without an end, or of what is in no record, with its line.
    pub(crate) fn fill(&mut self, page: &str) -> Result<String> {
        let (mut filled, mut rest) = (String::with_capacity(page.len()), page);
        while let Some(at) = rest.find(START) {
            let line = 1 + page[..page.len() - rest.len() + at].matches('\n').count();
            let place = || format!("line {line}");
            let inside = &rest[at + START.len()..];
            let (asked, after) = inside
                .split_once(STOP)
                .with_context(|| format!("line {line}: a figure's comment has no `{STOP}`"))?;
            let (_, after) = after
                .split_once(END)
                .filter(|(old, _)| !old.contains(START) && !old.contains('\n'))
                .with_context(|| format!("line {line}: `{asked}` has no `{END}` on its line"))?;
            let figure = self.figure(asked).with_context(place)?;
            filled.push_str(&rest[..at]);
            filled.extend([START, asked, STOP, &figure, END]);
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn figure(&mut self, asked: &str) -> Result<String> {
        let (names, form) = match asked.split_once(':') {
            Some((names, form)) => (names, Some(form.trim())),
            None => (asked, None),
        };
        let (names, divisor) = match names.split_once(" / ") {
            Some((names, divisor)) => (names, Some(divisor)),
            None => (names, None),
        };
        let form: Vec<&str> = form.map_or_else(Vec::new, |form| form.split(' ').collect());
        let (choice, form) = match form[..] {
            ["least", ..] => (Some(Ordering::Less), &form[1..]),
            ["most", ..] => (Some(Ordering::Greater), &form[1..]),
            _ => (None, &form[..]),
        };
        let (measure, own) = self.measure(names, choice)?;
        let mut value = measure.value;
        if let Some(divisor) = divisor {
            value /= self.measure(divisor, None)?.0.value;
        }
        let digits = |text: &str| -> Result<usize> {
            let digits = text.parse().ok().filter(|&digits| digits <= 9);
            digits.with_context(|| format!("{text:?} is no number of digits from 0 to 9"))
        };
        let own = || {
            own.with_context(|| {
                format!("{names:?} is in no column of its table; say how to write it, `:fixed 2`")
            })
        };
        let written = match (form, divisor) {
            ([], None) => own()?.write(value),
            (["interval"], None) => match (measure.lo, measure.hi) {
                (Some(lo), Some(hi)) => own()?.write_with_interval(value, lo, hi),
                _ => bail!("{names:?} has no interval"),
            },
            (["percent", places], _) => Format::Percent(digits(places)?).write(value),
            (["fixed", places], _) => Format::Fixed(digits(places)?).write(value),
            (["count"], None) => Format::Integer.write(value * measure.n as f64),
            (["n"], None) => measure.n.to_string(),
            ([], Some(_)) => bail!("{asked:?} divides; say how to write it, `:fixed 1`"),
            _ => bail!(
                "{:?} is no way to write a figure; there are `percent N`, `fixed N`, and without a \
                 divisor `interval`, `count` and `n`",
                form.join(" ")
            ),
        };
        match value.is_finite() {
            true => Ok(written),
            false => bail!("{asked:?} is {value}"),
        }
    }

    /// The figure of a row, or the least or the most of several, and how its table writes it.
    fn measure(
        &mut self,
        names: &str,
        choice: Option<Ordering>,
    ) -> Result<(Measure, Option<Format>)> {
        let words: Vec<&str> = names.split_whitespace().collect();
        let [table, datasets, system, metric] = words[..] else {
            bail!("{names:?} is not four names: table, data set, system and metric");
        };
        let known = TABLES.iter().find(|known| known.name() == table);
        let known = *known.with_context(|| format!("there is no table {table:?}"))?;
        let record = self.record(known)?;
        let rows = record.rows.iter();
        let rows: Vec<&Row> = rows
            .filter(|row| row.system == system && named(datasets, &row.dataset))
            .collect();
        let mut chosen: Option<(&Row, &Measure)> = None;
        for &row in &rows {
            let measure = row.metrics.get(metric).with_context(|| {
                let there: Vec<&str> = row.metrics.keys().map(String::as_str).collect();
                let (dataset, there) = (&row.dataset, there.join(", "));
                format!(
                    "{dataset} / {system} of table {table} has no {metric:?}; there are {there}"
                )
            })?;
            let better = |old: &Measure| Some(measure.value.total_cmp(&old.value)) == choice;
            if chosen.is_none_or(|(_, old)| better(old)) {
                chosen = Some((row, measure));
            }
        }
        let (row, measure) =
            chosen.with_context(|| format!("table {table} has no row {datasets} / {system}"))?;
        if choice.is_none() && rows.len() > 1 {
            bail!(
                "{names:?} names {} rows; say `:least` or `:most`",
                rows.len()
            );
        }
        let sections = known.sections();
        let mut columns = sections
            .iter()
            .filter(|section| section.holds(&row.dataset))
            .flat_map(|section| &section.spec.columns);
        let format = columns.find(|column| column.metric == metric);
        Ok((measure.clone(), format.map(|column| column.format)))
    }

    fn record(&mut self, table: &'static dyn Table) -> Result<&Record> {
        use std::collections::btree_map::Entry;
        match self.read.entry(table.name()) {
            Entry::Occupied(record) => Ok(record.into_mut()),
            Entry::Vacant(place) => {
                let record = Record::read(&record_path(self.root, table))?;
                Ok(place.insert(record))
            }
        }
    }
}

/// Whether a data set is one of those that a list names, each with one `*` at most.
fn named(list: &str, dataset: &str) -> bool {
    list.split('|').any(|name| match name.split_once('*') {
        None => name == dataset,
        Some((start, end)) => dataset
            .strip_prefix(start)
            .is_some_and(|rest| rest.ends_with(end)),
    })
}
