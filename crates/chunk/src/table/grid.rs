//! A table's cells as numbers and names.

use std::collections::{BTreeMap, BTreeSet};

use super::quantity::{ColumnUnit, Value, read};
use super::question::{Name, folded};
use super::view::TableView;

pub(super) struct Grid<'a> {
    pub(super) view: &'a TableView,
    pub(super) columns: Vec<ColumnUnit>,
    /// Row by row.
    pub(super) values: Vec<Vec<Value>>,
    /// Rows that sum up the others.
    pub(super) totals: BTreeSet<usize>,
    names: Vec<(String, Name)>,
}

impl<'a> Grid<'a> {
    pub(super) fn new(view: &'a TableView) -> Self {
        let header = view.table.header.texts();
        let columns: Vec<ColumnUnit> = header.iter().map(|name| ColumnUnit::of(name)).collect();
        let rows = view.table.rows.iter();
        let values: Vec<Vec<Value>> = rows
            .map(|row| {
                let cells = row.cells.iter().zip(&columns);
                cells
                    .map(|(cell, column)| read(&cell.text, column))
                    .collect()
            })
            .collect();
        let key = |row: usize| {
            let cell = view.table.rows.get(row).and_then(|row| row.cells.first());
            cell.map_or_else(String::new, |cell| folded(&cell.text))
        };
        let total = |row: &usize| sums_up(&key(*row));
        let totals = (0..values.len()).filter(total).collect();
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
                if names_row && !self.totals.contains(&at) {
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

/// Whether a row of this (folded) name sums up others.
fn sums_up(name: &str) -> bool {
    const WORDS: [&str; 10] = [
        "total",
        "totals",
        "subtotal",
        "subtotals",
        "sum",
        "average",
        "mean",
        "overall",
        "total:",
        "sum:",
    ];
    const WHOLE: [&str; 10] = [
        "总和",
        "平均",
        "平均值",
        "总数",
        "总量",
        "全部",
        "所有",
        "共",
        "合共",
        "均值",
    ];
    const BEGIN: [&str; 6] = ["合计", "总计", "小计", "共计", "累计", "汇总"];
    let last = name.split_whitespace().next_back();
    last.is_some_and(|word| WORDS.contains(&word))
        || name.starts_with("sum of ")
        || name.starts_with("total of ")
        || name.starts_with("total for ")
        || WHOLE.contains(&name)
        || BEGIN.iter().any(|word| name.starts_with(word))
}
