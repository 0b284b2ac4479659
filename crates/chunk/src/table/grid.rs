//! A table's cells as numbers and names.

use std::collections::{BTreeMap, BTreeSet};

use super::quantity::{ColumnUnit, Value, read, speaks_of_scale};
use super::question::{Name, folded};
use super::totals::Total;
use super::view::TableView;

pub(super) struct Grid<'a> {
    pub(super) view: &'a TableView,
    pub(super) columns: Vec<ColumnUnit>,
    /// Row by row.
    pub(super) values: Vec<Vec<Value>>,
    /// Rows that sum up others, or may.
    pub(super) totals: BTreeMap<usize, Total>,
    names: Vec<(String, Name)>,
}

impl<'a> Grid<'a> {
    pub(super) fn new(view: &'a TableView) -> Self {
        let header = view.table.header.texts();
        let mut columns: Vec<ColumnUnit> = header.iter().map(|name| ColumnUnit::of(name)).collect();
        let mut around = view.heading_path.iter().chain([&view.caption]);
        if around.any(|words| speaks_of_scale(words)) {
            let silent = columns.iter_mut().filter(|column| column.shown.is_empty());
            silent.for_each(|column| column.scaled = true);
        }
        let rows = view.table.rows.iter();
        let values: Vec<Vec<Value>> = rows
            .map(|row| {
                let cells = row.cells.iter().zip(&columns);
                cells
                    .map(
                        |(cell, column)| match view.source_of(cell.span).is_some_and(is_marked) {
                            true => Value::Marked,
                            false => read(&cell.text, column),
                        },
                    )
                    .collect()
            })
            .collect();
        let keys = view.table.rows.iter().enumerate();
        let totals = keys.filter_map(|(at, row)| {
            let key = row.cells.first()?;
            Some((at, Total::of(&folded(&key.text))?))
        });
        let totals = totals.collect();
        let mut grid = Self {
            view,
            columns,
            values,
            totals,
            names: Vec::new(),
        };
        grid.names = grid.read_names();
        grid
    }

    /// What columns and rows are called, folded, the longest first.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, Name)> {
        self.names
            .iter()
            .map(|(name, meaning)| (name.as_str(), meaning.clone()))
    }

    fn read_names(&self) -> Vec<(String, Name)> {
        let mut names: Vec<(String, Name)> = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            names.push((folded(&column.name), Name::Column(at)));
            if let Some(header) = self.view.table.header.cells.get(at) {
                names.push((folded(&header.text), Name::Column(at)));
            }
        }
        let mut rows: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (at, (row, values)) in self.view.table.rows.iter().zip(&self.values).enumerate() {
            for (column, (cell, value)) in row.cells.iter().zip(values).enumerate() {
                // Numbers name a row in the first column only: a year.
                let names_row = *value == Value::Text || (column == 0 && *value != Value::Missing);
                if names_row && !self.sums_up(at) {
                    rows.entry(folded(&cell.text)).or_default().insert(at);
                }
            }
        }
        names.extend(
            rows.into_iter()
                .map(|(name, rows)| (name, Name::Rows(rows))),
        );
        names.retain(|(name, _)| {
            name.chars().count() > 1 || name.chars().all(|c| c.is_ascii_alphanumeric())
        });
        names.retain(|(name, _)| !name.is_empty());
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.chars().count()));
        names
    }

    /// Whether another column has the same header, unit and all.
    pub(super) fn has_namesake(&self, column: usize) -> bool {
        let headers = &self.view.table.header.cells;
        let own = headers.get(column).map(|cell| folded(&cell.text));
        let mut others = headers.iter().enumerate().filter(|(at, _)| *at != column);
        others.any(|(_, cell)| Some(folded(&cell.text)) == own)
    }

    /// Whether a row is none of the others' kind.
    pub(super) fn sums_up(&self, row: usize) -> bool {
        let total = self.totals.get(&row);
        total.is_some_and(|total| *total != Total::Doubtful)
    }

    /// What a row is called, folded.
    pub(super) fn key(&self, row: usize) -> String {
        let cell = self
            .view
            .table
            .rows
            .get(row)
            .and_then(|row| row.cells.first());
        cell.map_or_else(String::new, |cell| folded(&cell.text))
    }

    /// Whether a row has a cell of this (folded) name without a capital.
    pub(super) fn writes_small(&self, row: usize, name: &str) -> bool {
        let cells = self.view.table.rows.get(row).map(|row| row.cells.iter());
        let mut same = cells
            .into_iter()
            .flatten()
            .filter(|cell| folded(&cell.text) == name);
        same.any(|cell| !cell.text.contains(char::is_uppercase))
    }

    /// The one of these columns that holds numbers.
    pub(super) fn only_number(&self, columns: &BTreeSet<usize>) -> Option<usize> {
        let mut numeric = columns
            .iter()
            .copied()
            .filter(|&column| self.is_numeric(column));
        let one = numeric.next()?;
        numeric.next().is_none().then_some(one)
    }

    fn is_numeric(&self, column: usize) -> bool {
        // 1.10 comes after 1.9.
        let name = self.columns.get(column).map(|column| folded(&column.name));
        if name.is_none_or(|name| name.contains("version") || name.contains("版本")) {
            return false;
        }
        let of = |wanted: fn(&Value) -> bool| {
            let cells = self.values.iter().filter_map(|row| row.get(column));
            cells.filter(|value| wanted(value)).count()
        };
        let numbers = of(|value| matches!(value, Value::Number(_)));
        numbers > 0 && numbers > of(|value| matches!(value, Value::Text))
    }

    /// Words that tell which table is meant: titles, caption, names of columns. Where rows are
    /// `counted`, of the columns only the first: "how many units" may ask for a cell of another.
    pub(super) fn context(&self, counted: bool) -> String {
        let mut words = self.view.heading_path.clone();
        words.push(self.view.caption.clone());
        let columns = if counted { 1 } else { self.columns.len() };
        let columns = self.columns.iter().take(columns);
        words.extend(columns.map(|column| column.name.clone()));
        words.join("，")
    }
}

/// Whether a cell's source strikes digits out or raises some: its text has lost that.
fn is_marked(source: &str) -> bool {
    let source = source.to_ascii_lowercase();
    let raised = ["<sup", "<sub"].iter().any(|tag| {
        let mut places = source
            .match_indices(tag)
            .map(|(at, _)| source.split_at(at).0);
        places.any(|before| before.trim_end().ends_with(|c: char| c.is_ascii_digit()))
    });
    let struck = ["~~", "<del", "<s>", "<strike"]
        .iter()
        .any(|mark| source.contains(mark));
    raised || struck
}
