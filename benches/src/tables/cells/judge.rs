//! When an answer to a question on a table is right, and what it cites.

use std::collections::BTreeSet;

use cornu::{FromTable, Statement};

use super::set::{Set, TableQuestion};

/// What a question got.
pub(super) enum Reply {
    Refused,
    /// Sentences or rows of the source, best first.
    Quoted(Vec<Statement>),
    /// Computed from cells.
    Computed(Box<FromTable>),
}

/// What is to be said of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) refused: bool,
    /// The words of the reply hold the answer, whatever else they hold.
    pub(super) holds: bool,
    /// It is the answer and nothing else.
    pub(super) exact: bool,
    /// The rows of tables that it cites are those of the answer.
    pub(super) rows: bool,
    /// So are the cells. A quote names none.
    pub(super) cells: bool,
}

/// The rules of the table's page.
pub(super) fn judge(set: &Set, question: &TableQuestion, reply: &Reply) -> Verdict {
    match reply {
        Reply::Refused => Verdict {
            refused: true,
            ..Verdict::default()
        },
        Reply::Quoted(statements) => quoted(set, question, statements),
        Reply::Computed(found) => computed(question, found),
    }
}

fn quoted(set: &Set, question: &TableQuestion, statements: &[Statement]) -> Verdict {
    // Only a filter and a list ask for several rows.
    let several = matches!(question.operation.as_str(), "filter" | "list");
    let used = if several { statements.len() } else { 1 };
    let used: Vec<&Statement> = statements.iter().take(used).collect();
    let cited: BTreeSet<(&str, usize)> = used
        .iter()
        .flat_map(|statement| {
            let citation = &statement.citation;
            let lines = citation.lines.first()..=citation.lines.last();
            set.rows_in(citation.doc.as_str(), lines)
        })
        .collect();
    let texts: Vec<&str> = used.iter().map(|one| one.citation.shown()).collect();
    let holds = match question.operation.as_str() {
        "row" | "list" => question.cells.iter().all(|cell| says(&texts, &cell.text)),
        "filter" => question.subjects.iter().all(|name| says(&texts, name)),
        _ => question
            .value
            .as_deref()
            .is_some_and(|value| says(&texts, core(value))),
    };
    let rows = cited == question.lines();
    let exact = match question.operation.as_str() {
        "lookup" | "row" | "filter" | "list" | "max" | "min" => holds && rows,
        // No row says what others add up to, unless one does: a row of totals.
        _ => holds && cited.len() == 1,
    };
    Verdict {
        refused: false,
        holds,
        exact,
        rows,
        cells: false,
    }
}

fn computed(question: &TableQuestion, found: &FromTable) -> Verdict {
    let cells: BTreeSet<(&str, usize, usize)> = found
        .cells()
        .map(|(cell, citation)| (citation.doc.as_str(), cell.line, cell.column))
        .collect();
    let wanted: BTreeSet<(&str, usize, usize)> = question
        .cells
        .iter()
        .map(|cell| (cell.doc.as_str(), cell.line, cell.column))
        .collect();
    let lines = cells.iter().map(|(doc, line, _)| (*doc, *line));
    let lines: BTreeSet<(&str, usize)> = lines.collect();
    let value = match &question.value {
        // A quote is right by its number alone, so a number without a unit is, too.
        Some(value) => {
            let said = plain(&found.answer.value);
            said == plain(value) || said == plain(core(value))
        }
        None => found.answer.value.is_empty(),
    };
    let names = |names: &[String]| -> BTreeSet<String> { names.iter().map(|n| plain(n)).collect() };
    // The row of a lookup, and the two of a difference, are in the question.
    let subjects = match question.operation.as_str() {
        "max" | "min" | "filter" => names(&found.answer.subjects) == names(&question.subjects),
        _ => true,
    };
    // Nothing that is computed says all cells of a row or a column.
    let whole = matches!(question.operation.as_str(), "row" | "list");
    let exact = value && subjects && !whole;
    Verdict {
        refused: false,
        holds: exact,
        exact,
        rows: lines == question.lines(),
        cells: cells == wanted,
    }
}

/// A value without white space and thousands separators, its marks and letters in one form.
fn plain(text: &str) -> String {
    one_form(text).split_whitespace().collect()
}

/// A text with one space between words, its marks and letters in one form, and no separators of
/// thousands.
fn one_form(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").replace('\u{2212}', "-").to_lowercase();
    let parts: Vec<&str> = text.split(',').collect();
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let separates = digit(out.chars().next_back()) && digit(part.chars().next());
        if at > 0 && !separates {
            out.push(',');
        }
        out.push_str(part);
    }
    out
}

/// The number of a value, without its unit; the whole where there is none.
fn core(value: &str) -> &str {
    let start = value.find(|c: char| c.is_ascii_digit());
    let end = value.rfind(|c: char| c.is_ascii_digit());
    match (start, end) {
        (Some(start), Some(end)) => {
            let sign = value.split_at(start).0.chars().next_back();
            let sign = sign.filter(|c| matches!(c, '-' | '+' | '\u{2212}'));
            value
                .get(start - sign.map_or(0, char::len_utf8)..=end)
                .unwrap_or(value)
        }
        _ => value,
    }
}

/// Whether one of the texts holds a phrase by itself: 36 does not stand in 360, nor in 1.36.
fn says(texts: &[&str], phrase: &str) -> bool {
    let phrase = one_form(phrase);
    let joins = |a: Option<char>, b: Option<char>| {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '.';
        a.is_some_and(word) && b.is_some_and(word)
    };
    !phrase.is_empty()
        && texts.iter().any(|text| {
            let text = one_form(text);
            text.match_indices(&phrase).any(|(at, _)| {
                let (before, rest) = text.split_at(at);
                let after = rest
                    .get(phrase.len()..)
                    .and_then(|rest| rest.chars().next());
                !joins(before.chars().next_back(), phrase.chars().next())
                    && !joins(phrase.chars().next_back(), after)
            })
        })
}

#[cfg(test)]
mod tests {
    use cornu::Citation;
    use cornu_core::{ByteSpan, ChunkId, LineSpan};

    use super::*;
    use crate::table::tests::quick;

    /// A line of one of the documents.
    fn quote(set: &Set, doc: &str, line: usize) -> Statement {
        let document = set.documents.iter().find(|one| one.id().as_str() == doc);
        let document = document.unwrap();
        let text = document.source().lines().nth(line - 1).unwrap();
        Statement {
            citation: Citation {
                doc: document.id().clone(),
                heading_path: Vec::new(),
                lines: LineSpan::new(line, line).unwrap(),
                span: ByteSpan::new(0, text.len()).unwrap(),
                chunk: ChunkId::from_bytes([0; 32]),
                quote: text.to_owned(),
                words: None,
            },
            score: 1.0,
            similarity: 1.0,
            overlap: 1.0,
        }
    }

    #[test]
    fn a_whole_column_and_a_filter_take_all_their_rows_and_a_cell_takes_one() {
        let set = quick("tables", |bench| Set::open(bench, false).unwrap());
        for operation in ["list", "filter", "lookup"] {
            let asked = set
                .questions
                .iter()
                .filter(|one| one.operation == operation);
            for question in asked {
                let lines = question.lines();
                let own: Vec<Statement> = lines
                    .iter()
                    .map(|(doc, line)| quote(&set, doc, *line))
                    .collect();
                let verdict = |statements: Vec<Statement>| {
                    let verdict = judge(&set, question, &Reply::Quoted(statements));
                    (verdict.holds, verdict.rows, verdict.exact)
                };
                let id = &question.id;
                assert_eq!(verdict(own.clone()), (true, true, true), "{id}");
                let other = set.questions.iter().find(|one| one.doc() != question.doc());
                let (doc, line) = other.unwrap().lines().pop_first().unwrap();
                let other = quote(&set, doc, line);
                let several = operation != "lookup";
                let more = own.iter().cloned().chain([other.clone()]).collect();
                assert_eq!(verdict(more), (true, !several, !several), "{id}");
                // Another row may say the same, as that two ships have one home.
                let less: Vec<Statement> = own.iter().skip(1).cloned().collect();
                let (_, rows, exact) = verdict(less);
                assert_eq!((rows, exact), (false, false), "{id}");
                assert!(!verdict(vec![other]).2, "{id}");
            }
        }
    }

    #[test]
    fn numbers_stand_by_themselves_and_lose_their_units() {
        assert_eq!(core("\u{2212}4.4%"), "\u{2212}4.4");
        assert_eq!(
            [core("66 m³/h"), core("€1,240"), core("05:30"), core("一级")],
            ["66", "1,240", "05:30", "一级"]
        );
        let row = ["| Rowan | 36 | 1,240 | -2.1% |"];
        for (phrase, said) in [
            ("36", true),
            ("1240", true),
            ("\u{2212}2.1", true),
            ("3", false),
            ("2.1", true),
            ("24", false),
            ("rowan", true),
            ("", false),
        ] {
            assert_eq!(says(&row, phrase), said, "{phrase}");
        }
        assert_eq!(plain("1,540 公斤"), "1540公斤");
        assert_eq!(one_form("A, 1,540,  b"), "a, 1540, b");
    }
}
