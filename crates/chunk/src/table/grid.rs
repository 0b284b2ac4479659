//! A table's cells as numbers and names.

use std::cmp::Ordering;
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
        let around = view.heading_path.iter().chain([&view.caption, &view.above]);
        let mut around = around.map(String::as_str);
        if around.any(speaks_of_scale) {
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
        let mut grid = Self {
            view,
            columns,
            values,
            totals: BTreeMap::new(),
            names: Vec::new(),
        };
        let rows = 0..grid.values.len();
        let totals = rows.clone().filter_map(|row| Some((row, grid.total(row)?)));
        grid.totals = totals.collect();
        let extremes: Vec<usize> = rows.filter(|row| grid.is_extreme_of_others(*row)).collect();
        grid.totals
            .extend(extremes.into_iter().map(|row| (row, Total::Doubtful)));
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
            let headers = &self.view.table.header.cells;
            if let Some(header) = headers.get(at) {
                names.push((folded(&header.text), Name::Column(at)));
            }
            // "Price" is the column of that name, not "Price (net)" beside it.
            let name = folded(&column.name);
            if !headers.iter().any(|header| folded(&header.text) == name) {
                names.push((name, Name::Column(at)));
            }
        }
        let mut rows: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (at, (row, values)) in self.view.table.rows.iter().zip(&self.values).enumerate() {
            for (column, (cell, value)) in row.cells.iter().zip(values).enumerate() {
                // Numbers name a row in the first column only: a year.
                let names_row = *value == Value::Text || (column == 0 && *value != Value::Missing);
                if names_row && !self.sums_up(at) && !self.repeats_header(at) {
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

    /// Whether a (folded) name means another column as much as this one: both have it as their header,
    /// or before the brackets of their headers, as "Price (net)" and "Price (gross)".
    pub(super) fn has_namesake(&self, column: usize, name: &str) -> bool {
        let means = |(_, other): &&(String, Name)| *other != Name::Column(column);
        let mut others = self.names.iter().filter(|(other, _)| other == name);
        let columns = |(_, other): &(String, Name)| matches!(other, Name::Column(_));
        others.any(|found| columns(found) && means(&found))
    }

    /// What a row is besides one more row, by its name or, where that is none of its own, by the words
    /// beside it: `| 3 | 合计 | 150 |`, and `| East | Total | 30 |` below other rows of East.
    fn total(&self, row: usize) -> Option<Total> {
        let cells = self.view.table.rows.get(row)?.cells.iter();
        let cells: Vec<(String, &Value)> = cells
            .map(|cell| folded(&cell.text))
            .zip(self.values.get(row)?)
            .collect();
        let ((key, kind), rest) = cells.split_first()?;
        let words = || rest.iter().filter(|(_, value)| **value == Value::Text);
        let by_words = || {
            let mut others = (0..self.values.len()).filter(|other| *other != row);
            let own = **kind == Value::Text && !others.any(|other| self.key(other) == *key);
            let mut totals = words().filter_map(|(name, _)| Total::of(name));
            totals.find(|total| !own && *total != Total::Doubtful)
        };
        let total = Total::of(key).or_else(by_words);
        // Numbers that no word names may be a sum, or more of the row above.
        let nameless = || {
            let number = |(_, value): &(String, &Value)| matches!(value, Value::Number(_));
            self.is_nameless(row) && words().next().is_none() && rest.iter().any(number)
        };
        total.or_else(|| nameless().then_some(Total::Doubtful))
    }

    /// Whether a row is called the largest or smallest and is that in each column, of the rows that
    /// sum up nothing.
    fn is_extreme_of_others(&self, row: usize) -> bool {
        let Some(side) = Total::extreme(&self.key(row)) else {
            return false;
        };
        let data = |other: &usize| {
            *other != row
                && !self.totals.contains_key(other)
                && Total::extreme(&self.key(*other)).is_none()
        };
        let number = |row: usize, column: usize| match self.values.get(row)?.get(column)? {
            Value::Number(quantity) => Some(quantity),
            _ => None,
        };
        let same = |column: usize| {
            let own = number(row, column)?;
            let others = (0..self.values.len()).filter(data);
            let mut orders = others
                .filter_map(|other| number(other, column))
                .map(|other| {
                    let order = own.number.order(other.number);
                    order.filter(|_| own.unit == other.unit)
                });
            let mut equal = false;
            let within = orders.all(|order| {
                equal |= order == Some(Ordering::Equal);
                order == Some(Ordering::Equal) || order == Some(side)
            });
            Some(within && equal)
        };
        let mut columns = (1..self.columns.len()).filter_map(same).peekable();
        columns.peek().is_some() && columns.all(|same| same)
    }

    /// Whether a row says again what the columns are called, as tables of several pages do.
    pub(super) fn repeats_header(&self, row: usize) -> bool {
        let texts = self.view.table.rows.get(row).map(|row| row.texts());
        texts.is_some_and(|texts| texts == self.view.table.header.texts())
    }

    /// Whether nothing stands in the row's first cell.
    pub(super) fn is_nameless(&self, row: usize) -> bool {
        let key = self.values.get(row).and_then(|row| row.first());
        key.is_none_or(|key| *key == Value::Missing)
    }

    /// Whether a row may go on in the next, which has no name of its own: a merged cell.
    pub(super) fn goes_on(&self, row: usize) -> bool {
        let next = row + 1;
        let said = |row: &Vec<Value>| row.iter().any(|value| *value != Value::Missing);
        self.is_nameless(next) && self.values.get(next).is_some_and(said) && !self.sums_up(next)
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

    /// The one of these columns that holds numbers. The first names the rows, also where it does so by
    /// years, unless it is the only one.
    pub(super) fn only_number(&self, columns: &BTreeSet<usize>) -> Option<usize> {
        let numeric = |column: &usize| self.is_numeric(*column);
        let mut beside = columns.range(1..).copied().filter(numeric);
        let Some(one) = beside.next() else {
            return columns.first().copied().filter(numeric);
        };
        beside.next().is_none().then_some(one)
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
