//! Numeric questions answered from a table's cells.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;

use cornu_text::Tokenizer;

use super::adjectives::{Suits, means, suits};
use super::decimal::Decimal;
use super::grid::Grid;
use super::labels::are_names;
use super::phrases::{Asked, Bound};
use super::quantity::{Quantity, Value, hinted, is_bare, looks_numeric, readings};
use super::question::{Question, folded};
use super::totals::Total;
use super::view::{CellPlace, TableView};

/// What was done to answer.
///
/// ```
/// assert_ne!(cornu_chunk::TableOperation::Lookup, cornu_chunk::TableOperation::Sum);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableOperation {
    /// The cell of a row and a column.
    Lookup,
    /// The largest number of a column.
    Maximum,
    /// The smallest number of a column.
    Minimum,
    /// The difference of two cells.
    Difference,
    /// The sum of a column.
    Sum,
    /// The mean of a column.
    Average,
    /// How many rows there are, or keep to a bound.
    Count,
    /// Which rows keep to a bound.
    Filter,
}

impl TableOperation {
    /// A stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lookup => "lookup",
            Self::Maximum => "maximum",
            Self::Minimum => "minimum",
            Self::Difference => "difference",
            Self::Sum => "sum",
            Self::Average => "average",
            Self::Count => "count",
            Self::Filter => "filter",
        }
    }
}

/// An answer out of a table's cells.
///
/// See [`TableView::ask`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAnswer {
    /// What was done.
    pub operation: TableOperation,
    /// What the rows are called that answer: those with the largest number, those within the bound.
    pub subjects: Vec<String>,
    /// The number with its unit, or the cell's words; empty for a filter.
    pub value: String,
    /// The cells that the answer rests on.
    pub cells: Vec<CellPlace>,
    /// Cells of the column that were left out, and why.
    pub left_out: Vec<(CellPlace, LeftOut)>,
}

/// Why a cell has no part in an answer.
///
/// ```
/// assert_eq!(cornu_chunk::LeftOut::Range.to_string(), "a range");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOut {
    /// Blank, a dash, "N/A".
    Missing,
    /// From one number to another.
    Range,
    /// A number with words around it.
    Unclear,
    /// Words.
    Text,
    /// Of a row that sums up others.
    Total,
    /// A number that can be read in several ways: `10,7`, `1 200`.
    Ambiguous,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "missing",
            Self::Range => "a range",
            Self::Unclear => "no plain number",
            Self::Text => "words",
            Self::Total => "the row sums up others",
            Self::Ambiguous => "a number that can be read in several ways",
        })
    }
}

impl fmt::Display for TableAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.subjects.join(", "))?;
        if !self.subjects.is_empty() && !self.value.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&self.value)
    }
}

impl TableView {
    /// Answers a question about numbers in English or Chinese, with the cells that it rests on;
    /// `None` unless every word of the question is understood.
    ///
    /// Understood are: the cell of a row and a column, also where "how many" asks for it and it
    /// holds a whole number; the largest and the smallest number of a
    /// column; sum, mean, number of rows; which of several rows has more or less, and the
    /// difference of two, also of the price or weight that "cheapest" and "heavier" are about; which
    /// rows, and how many, lie above or below a bound. Rows go by the words
    /// of their cells, columns by their names. Everything else has to be a function word, or a word
    /// of headings, caption or column names.
    ///
    /// Numbers are exact decimals. They may have thousands separators, a sign or brackets for
    /// negative ones, a currency sign, a unit, %, 万, 亿, thousand, million, billion, or k, M, B
    /// (10³, 10⁶, 10⁹), or a power of ten (`1.5e3`); a column's name may give the unit: 营收（亿元）. Blanks,
    /// ranges and "about 5" are left out, and said so; rows such as 合计 or "total" too.
    ///
    /// Where a number might be wrong there is no answer: for numbers in different units; for a column
    /// of which a cell is a number that cannot be read (½, `1'200`); for an extreme that a range,
    /// "about 500" or a number that can be read in several ways (`10,7`, `1 200`) may reach, and for
    /// all else of a column with such a number; for a sum that the table's own total denies; for a bound without a
    /// unit beside a column in thousands; for "the power of the cheapest" or "of the largest model",
    /// which is not the least or the largest power; for the sum or mean of years, telephone numbers and
    /// identifiers; where several rows have one name and are not told apart;
    /// where no row is within the bound; for a table of HTML with merged cells.
    ///
    /// O(cells · log) time; `tokenizer` needs no stop words.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cornu_chunk::{Chunker, TableRows, TableRowsOptions, TableView};
    /// use cornu_core::{Acl, DocId, Document};
    /// use cornu_text::{Tokenizer, WordCounter};
    ///
    /// let source = "| 型号 | 压力（MPa） |\n|---|---|\n| P-1 | 3.5 |\n| P-2 | 12 |\n| P-3 | 3-5 |\n";
    /// let doc = Document::new(DocId::new("a.md")?, source, Acl::public());
    /// let chunks = TableRows::new(Arc::new(WordCounter::new()), TableRowsOptions::default()).chunk(&doc)?;
    /// let table = &TableView::all(&chunks)[0];
    /// let tokenizer = Tokenizer::new();
    ///
    /// let best = table.ask("哪个型号的压力最高？", &tokenizer).ok_or("understood")?;
    /// assert_eq!(best.to_string(), "P-2: 12 MPa");
    /// assert_eq!(best.cells[0].to_string(), "row 2, column 2 (压力（MPa）), line 4");
    /// assert_eq!(best.left_out[0].1.to_string(), "a range");
    /// assert_eq!(table.ask("P-1 的压力是多少？", &tokenizer).ok_or("understood")?.value, "3.5 MPa");
    /// assert!(table.ask("P-1 的颜色是什么？", &tokenizer).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ask(&self, question: &str, tokenizer: &Tokenizer) -> Option<TableAnswer> {
        if self.is_shifted() {
            return None;
        }
        let grid = Grid::new(self);
        let question = Question::read(&grid, question, tokenizer)?;
        Answering {
            grid: &grid,
            question: &question,
        }
        .answer()
    }
}

struct Answering<'a> {
    grid: &'a Grid<'a>,
    question: &'a Question,
}

/// The numbers of a column, all in one unit.
struct Numbers {
    column: usize,
    used: Vec<(usize, Quantity)>,
    left_out: Vec<(usize, LeftOut)>,
    /// What the cells that were left out may be worth.
    hints: Vec<Quantity>,
    /// Whether one of them is a number for certain, though not which.
    ambiguous: bool,
}

impl Answering<'_> {
    fn answer(&self) -> Option<TableAnswer> {
        let Question { asked, bound, .. } = self.question;
        match (asked, bound) {
            (None, None) => self.lookup(),
            (None | Some(Asked::Count), Some((bound, quantity))) => self.bounded(*bound, quantity),
            (Some(Asked::Count), None) => self.count().or_else(|| self.counted()),
            (Some(asked), None) => self.numbers(*asked),
            (Some(_), Some(_)) => None,
        }
    }

    fn lookup(&self) -> Option<TableAnswer> {
        let row = self.named_together()?;
        if self.is_a_part(row) {
            return None;
        }
        let column = self.only_column()?;
        let value = self.grid.values.get(row)?.get(column)?;
        if matches!(value, Value::Missing | Value::Marked) {
            return None;
        }
        let cell = self.place(row, column)?;
        Some(TableAnswer {
            operation: TableOperation::Lookup,
            subjects: Vec::new(),
            value: self.text_of(row, column)?,
            cells: vec![cell],
            left_out: Vec::new(),
        })
    }

    /// "How many ports has the X7", where ports are a column and the X7 a row: the number in its cell.
    fn counted(&self) -> Option<TableAnswer> {
        let (row, column) = (self.named_together()?, self.only_column()?);
        let value = self.grid.values.get(row)?.get(column)?;
        let whole = |quantity: &Quantity| {
            quantity.unit.is_empty() && quantity.power == 0 && quantity.number.is_whole()
        };
        match value {
            // By another cell than its first, "how many models have 4 ports" would name a row, too.
            Value::Number(quantity) if self.question.by_keys && whole(quantity) => self.lookup(),
            _ => None,
        }
    }

    fn numbers(&self, asked: Asked) -> Option<TableAnswer> {
        let Question { rows: names, .. } = self.question;
        let rows = self.rows()?;
        // "Pro Max" of a table that has "Pro": what is asked of one row is another thing.
        if !names.is_empty() && rows.len() < 2 {
            return None;
        }
        let numbers = self.column_of(&rows)?;
        // Of rows that are named one by one, each has to be known.
        let one_by_one = names.len() > 1 && self.named_together().is_none();
        if one_by_one && !numbers.left_out.is_empty() {
            return None;
        }
        // Left out of an extreme it changes nothing where no reading reaches that; a sum it would.
        if numbers.ambiguous && !matches!(asked, Asked::Maximum | Asked::Minimum) {
            return None;
        }
        let name = folded(&self.grid.columns.get(numbers.column)?.name);
        let named = || are_names(&name, numbers.used.iter().map(|(_, quantity)| quantity));
        if matches!(asked, Asked::Sum | Asked::Average) && named() {
            return None;
        }
        let unit = numbers.used.first()?.1.unit.as_str();
        let unit = search_unit(unit);
        for word in &self.question.words {
            match suits(word, &name, &unit) {
                Suits::Own => {}
                Suits::Any if !self.question.of_rows => {}
                Suits::Beside if self.question.beside => {}
                Suits::Any | Suits::Beside | Suits::Not => return None,
            }
        }
        match asked {
            Asked::Maximum => self.extreme(&numbers, Ordering::Greater),
            Asked::Minimum => self.extreme(&numbers, Ordering::Less),
            // "Higher than Oslo and Lima" asks for others.
            Asked::Greater if one_by_one && self.question.than.is_none() => {
                self.extreme(&numbers, Ordering::Greater)
            }
            Asked::Less if one_by_one && self.question.than.is_none() => {
                self.extreme(&numbers, Ordering::Less)
            }
            Asked::Difference => self.difference(&numbers, None),
            Asked::MoreBy => self.difference(&numbers, Some(Ordering::Greater)),
            Asked::LessBy => self.difference(&numbers, Some(Ordering::Less)),
            Asked::Sum => {
                let sum = sum(&numbers)?;
                self.agrees(&rows, &numbers, Total::Sum, sum)?;
                self.number(TableOperation::Sum, &numbers, sum)
            }
            Asked::Average => {
                let mean = sum(&numbers)?.over(numbers.used.len())?;
                self.number(TableOperation::Average, &numbers, mean)
            }
            _ => None,
        }
    }

    /// A table that sums its column up itself has to come to the same: growth in percent has no
    /// sum, and a row may be a part of another.
    fn agrees(
        &self,
        rows: &BTreeSet<usize>,
        numbers: &Numbers,
        kind: Total,
        own: Decimal,
    ) -> Option<()> {
        let unit = numbers.used.first().map(|(_, quantity)| &quantity.unit)?;
        let totals = self.grid.totals.iter();
        let mut totals = totals
            .filter(|(row, total)| rows.contains(row) && **total == kind)
            .filter_map(
                |(row, _)| match self.grid.values.get(*row)?.get(numbers.column)? {
                    Value::Number(quantity) if quantity.unit == *unit => Some(quantity.number),
                    _ => None,
                },
            )
            .peekable();
        let same = |number: Decimal| number.order(own).is_some_and(Ordering::is_eq);
        (totals.peek().is_none() || totals.any(same)).then_some(())
    }

    fn extreme(&self, numbers: &Numbers, side: Ordering) -> Option<TableAnswer> {
        let mut best: Vec<&(usize, Quantity)> = Vec::new();
        for found in &numbers.used {
            match best.first() {
                None => best.push(found),
                Some(known) => match found.1.number.order(known.1.number)? {
                    Ordering::Equal => best.push(found),
                    order if order == side => best = vec![found],
                    _ => {}
                },
            }
        }
        let (first, known) = best.first()?;
        let open = |hint: &Quantity| {
            let order = hint.number.order(known.number);
            hint.unit != known.unit || order.is_none_or(|order| order != side.reverse())
        };
        // "About 500" beside 350 may well be the largest.
        if numbers.hints.iter().any(open) || self.asks_for_another_column(numbers.column) {
            return None;
        }
        let asked_for_keys = self.question.columns.contains(&0);
        if asked_for_keys && self.keys_repeat(numbers.used.iter().map(|(row, _)| *row)) {
            return None;
        }
        let rows: Vec<usize> = best.iter().map(|(row, _)| *row).collect();
        let operation = match side {
            Ordering::Less => TableOperation::Minimum,
            _ => TableOperation::Maximum,
        };
        Some(TableAnswer {
            operation,
            subjects: self.keys(&rows),
            value: self.text_of(*first, numbers.column)?,
            cells: self.places(&rows, numbers.column),
            left_out: self.left_out(numbers),
        })
    }

    fn difference(&self, numbers: &Numbers, side: Option<Ordering>) -> Option<TableAnswer> {
        let [(row, a), (_, b)] = numbers.used.as_slice() else {
            return None;
        };
        let difference = a.number.plus(b.number.negated())?;
        let sign = difference.order(Decimal::ZERO)?;
        // "How much lower is A than B" of an A that is higher has no answer.
        if let (Some(side), Some(subject)) = (side, self.question.than) {
            let side = if subject == *row {
                side
            } else {
                side.reverse()
            };
            if sign != side {
                return None;
            }
        }
        let size = match sign {
            Ordering::Less => difference.negated(),
            _ => difference,
        };
        self.number(TableOperation::Difference, numbers, size)
    }

    fn number(
        &self,
        operation: TableOperation,
        numbers: &Numbers,
        number: Decimal,
    ) -> Option<TableAnswer> {
        let rows: Vec<usize> = numbers.used.iter().map(|(row, _)| *row).collect();
        // "By month", "of each region": a number for each, and this is one for all.
        let each = self.question.columns.contains(&0) && self.keys_repeat(rows.iter().copied());
        if each || self.asks_for_another_column(numbers.column) {
            return None;
        }
        Some(TableAnswer {
            operation,
            subjects: Vec::new(),
            value: self.shown(numbers, number)?,
            cells: self.places(&rows, numbers.column),
            left_out: self.left_out(numbers),
        })
    }

    fn bounded(&self, bound: Bound, limit: &Quantity) -> Option<TableAnswer> {
        let rows = self.rows()?;
        let numbers = self.column_of(&rows)?;
        if numbers.ambiguous {
            return None;
        }
        let mut inside = Vec::new();
        for (row, quantity) in &numbers.used {
            // "Above 10" beside 7B may mean ten billion.
            let bare = limit.written.is_empty() && !limit.unit.starts_with(['¥', '$', '€', '£']);
            if (bare && quantity.power != 0)
                || search_unit(&quantity.unit) != search_unit(&limit.unit)
            {
                return None;
            }
            let order = quantity.number.order(limit.number)?;
            let within = match bound {
                Bound::Above => order.is_gt(),
                Bound::AtLeast => order.is_ge(),
                Bound::Below => order.is_lt(),
                Bound::AtMost => order.is_le(),
            };
            if within {
                inside.push(*row);
            }
        }
        // "None" would rest on no cell that could be cited.
        if inside.is_empty()
            || self.asks_for_another_column(numbers.column)
            || self.keys_repeat(numbers.used.iter().map(|(row, _)| *row))
        {
            return None;
        }
        let counting = self.question.asked == Some(Asked::Count);
        Some(TableAnswer {
            operation: if counting {
                TableOperation::Count
            } else {
                TableOperation::Filter
            },
            subjects: if counting {
                Vec::new()
            } else {
                self.keys(&inside)
            },
            value: if counting {
                inside.len().to_string()
            } else {
                String::new()
            },
            cells: self.places(&inside, numbers.column),
            left_out: self.left_out(&numbers),
        })
    }

    /// How many rows there are, by the first column's name: with rows of one name, or without
    /// anything but a name, it would be a guess.
    fn count(&self) -> Option<TableAnswer> {
        if !self.question.columns.iter().eq([&0]) {
            return None;
        }
        let rows = self.rows()?.into_iter();
        let data = |row: &usize| {
            let values = self.grid.values.get(*row);
            let said = values.into_iter().flatten().any(|v| *v != Value::Missing);
            said && !self.grid.sums_up(*row) && !self.grid.repeats_header(*row)
        };
        let rows: Vec<usize> = rows.filter(data).collect();
        // A name alone, or the same words in every cell, may be the title of the rows below.
        let bare = |row: &usize| {
            let texts = self.grid.view.table.rows.get(*row).map(|row| row.texts());
            let texts = texts.unwrap_or_default();
            let row = self.grid.values.get(*row);
            let mut rest = row.into_iter().flatten().skip(1).peekable();
            rest.peek().is_some()
                && (rest.all(|value| *value == Value::Missing)
                    || texts.windows(2).all(|pair| pair.first() == pair.last()))
        };
        let doubtful = |row: &usize| self.grid.totals.contains_key(row);
        if rows.is_empty()
            || rows.iter().any(|row| bare(row) || doubtful(row))
            || self.keys_repeat(rows.iter().copied())
        {
            return None;
        }
        Some(TableAnswer {
            operation: TableOperation::Count,
            subjects: Vec::new(),
            value: Decimal::whole(rows.len()).to_string(),
            cells: self.places(&rows, 0),
            left_out: Vec::new(),
        })
    }

    /// Whether rows are not told apart by the first column, or one has nothing there: then they are
    /// not what it names.
    fn keys_repeat(&self, mut rows: impl Iterator<Item = usize>) -> bool {
        let mut seen = BTreeSet::new();
        rows.any(|row| self.grid.is_nameless(row) || !seen.insert(self.grid.key(row)))
    }

    /// Whether the question names a column besides the first and the one with the numbers: "which
    /// site has the most" of a table whose rows are hosts. Rows are not what it asks for.
    fn asks_for_another_column(&self, numbers: usize) -> bool {
        let mut columns = self.question.columns.iter();
        columns.any(|column| *column != 0 && *column != numbers)
    }

    /// Whether a row that is named by its first cell alone may go on in the next.
    fn is_a_part(&self, row: usize) -> bool {
        self.question.by_keys && self.grid.goes_on(row)
    }

    /// The one row that has all the names.
    fn named_together(&self) -> Option<usize> {
        let mut names = self.question.rows.iter();
        let first = names.next()?.clone();
        let rows = names.fold(first, |rows, name| &rows & name);
        let mut rows = rows.into_iter();
        let one = rows.next()?;
        rows.next().is_none().then_some(one)
    }

    /// The rows in question: those that have all the names; where no row has, those of each name
    /// that stands for one row; all rows where there are no names.
    fn rows(&self) -> Option<BTreeSet<usize>> {
        let names = &self.question.rows;
        let Some((first, rest)) = names.split_first() else {
            return Some((0..self.grid.values.len()).collect());
        };
        // "From 2021 to 2023" means the rows between them, too; a difference is of the two.
        let ends = [Asked::Difference, Asked::MoreBy, Asked::LessBy].map(Some);
        if self.question.spans && !ends.contains(&self.question.asked) {
            return None;
        }
        let together = rest.iter().fold(first.clone(), |rows, name| &rows & name);
        if !together.is_empty() {
            let parts = together.iter().any(|row| self.is_a_part(*row));
            return (!parts).then_some(together);
        }
        let single = names.iter().all(|name| name.len() == 1);
        let known = !names.iter().flatten().any(|row| self.is_a_part(*row));
        (single && known).then(|| names.iter().flatten().copied().collect())
    }

    /// The one column in question besides the first.
    fn only_column(&self) -> Option<usize> {
        let mut columns = self.question.columns.iter().filter(|column| **column > 0);
        let one = columns.next()?;
        columns.next().is_none().then_some(*one)
    }

    /// The column that "cheapest" or "heavier" is about, where the question names none.
    fn implied_column(&self) -> Option<usize> {
        let Question { columns, words, .. } = self.question;
        if words.is_empty() || columns.range(1..).next().is_some() {
            return None;
        }
        let meant = |column: &usize| {
            let own = self.grid.columns.get(*column);
            let name = own.map_or_else(String::new, |column| folded(&column.name));
            words.iter().all(|word| means(word, &name))
        };
        let mut meant = (1..self.grid.columns.len()).filter(meant);
        let one = meant.next()?;
        let only = self.grid.only_number(&BTreeSet::from([one]));
        only.filter(|_| meant.next().is_none())
    }

    fn column_of(&self, rows: &BTreeSet<usize>) -> Option<Numbers> {
        let implied = self.implied_column();
        let column = implied.or_else(|| self.grid.only_number(&self.question.columns))?;
        let unit = self.grid.columns.get(column)?;
        let mut numbers = Numbers {
            column,
            used: Vec::new(),
            left_out: Vec::new(),
            hints: Vec::new(),
            ambiguous: false,
        };
        for &row in rows {
            let value = self.grid.values.get(row)?.get(column)?;
            let text = self.grid.view.table.rows.get(row)?.cells.get(column)?;
            if self.grid.repeats_header(row) {
                numbers.left_out.push((row, LeftOut::Text));
                continue;
            }
            let left_out = match (self.grid.totals.get(&row), value) {
                (Some(Total::Doubtful), _) => return None,
                (Some(total), value) => {
                    // No number is above all of which it is the mean: then it is a row as any.
                    if let (Total::Mean, Value::Number(mean)) = (total, value) {
                        numbers.hints.push(mean.clone());
                    }
                    LeftOut::Total
                }
                (None, Value::Number(quantity)) => {
                    numbers.used.push((row, quantity.clone()));
                    continue;
                }
                (None, Value::Missing) => LeftOut::Missing,
                (None, Value::Text) if !looks_numeric(&text.text) => LeftOut::Text,
                // A number that cannot be read may be any.
                (None, Value::Text | Value::Marked) => return None,
                (None, Value::Range | Value::Unclear) => match readings(&text.text, unit) {
                    Some(readings) => {
                        numbers.hints.extend(readings);
                        numbers.ambiguous = true;
                        LeftOut::Ambiguous
                    }
                    None => {
                        numbers.hints.extend(hinted(&text.text, unit)?);
                        match value {
                            Value::Range => LeftOut::Range,
                            _ => LeftOut::Unclear,
                        }
                    }
                },
            };
            numbers.left_out.push((row, left_out));
        }
        let unit = numbers.used.first().map(|(_, quantity)| &quantity.unit)?;
        let same = numbers
            .used
            .iter()
            .all(|(_, quantity)| quantity.unit == *unit);
        same.then_some(numbers)
    }

    fn left_out(&self, numbers: &Numbers) -> Vec<(CellPlace, LeftOut)> {
        let left_out = numbers.left_out.iter();
        let place = |(row, why): &(usize, LeftOut)| Some((self.place(*row, numbers.column)?, *why));
        left_out.filter_map(place).collect()
    }

    fn place(&self, row: usize, column: usize) -> Option<CellPlace> {
        self.grid.view.cell(row + 1, column + 1)
    }

    fn places(&self, rows: &[usize], column: usize) -> Vec<CellPlace> {
        rows.iter()
            .filter_map(|row| self.place(*row, column))
            .collect()
    }

    fn keys(&self, rows: &[usize]) -> Vec<String> {
        let named = rows.iter().filter(|row| !self.grid.is_nameless(**row));
        let cells = named.filter_map(|row| self.place(*row, 0));
        cells.map(|cell| cell.text).collect()
    }

    /// A cell's words, with the unit of its column where it has none of its own.
    fn text_of(&self, row: usize, column: usize) -> Option<String> {
        let cell = self.place(row, column)?;
        let unit = &self.grid.columns.get(column)?.shown;
        Some(if is_bare(&cell.text) && !unit.is_empty() {
            format!("{}{}{unit}", cell.text, gap(unit))
        } else {
            cell.text
        })
    }

    /// A number in the unit of its column, or in the one behind all the numbers that it is made of:
    /// K may be kelvin or a thousand.
    fn shown(&self, numbers: &Numbers, number: Decimal) -> Option<String> {
        let column = self.grid.columns.get(numbers.column)?;
        let mut used = numbers.used.iter().map(|(_, quantity)| quantity);
        let first = used.next()?;
        let unit = first.unit.as_str();
        if !column.shown.is_empty() && column.unit == unit {
            let number = number.shifted(-column.power)?;
            return Some(format!("{number}{}{}", gap(&column.shown), column.shown));
        }
        if first.power != 0
            && !first.written.is_empty()
            && used.all(|other| other.written == first.written)
        {
            let number = number.shifted(-first.power)?;
            return Some(format!("{number} {}", first.written));
        }
        Some(match unit {
            "" => number.to_string(),
            "¥" | "$" | "€" | "£" => format!("{unit}{number}"),
            unit => format!("{number}{}{unit}", gap(unit)),
        })
    }
}

fn sum(numbers: &Numbers) -> Option<Decimal> {
    let all = numbers.used.iter().map(|(_, quantity)| quantity.number);
    all.into_iter().try_fold(Decimal::ZERO, Decimal::plus)
}

/// A space before a unit, but not before % and its kin.
fn gap(unit: &str) -> &'static str {
    if unit.starts_with(['%', '‰', '°', '℃', '℉']) {
        ""
    } else {
        " "
    }
}

/// A question's units are folded, a table's are not.
fn search_unit(unit: &str) -> String {
    cornu_text::search_fold(unit).into_owned()
}
