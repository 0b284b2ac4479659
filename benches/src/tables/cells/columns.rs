//! What the page of table `tables` shows, and how to read it.

use cornu_eval::report::{Column, Format, TableSpec};

use crate::table::Section;

pub(super) const ABOUT: &str = "Questions for a cell, a row, or something computed from a column, or for \
    a whole column of a wide table, over twelve documents of two tables each, with the twelve \
    documents of the corpus beside them. \
    `fixed` is the naive baseline: windows of 120 tokens that see no structure. `text` packs whole \
    sentences and rows of one section up to 256 tokens (`--tables text`). `rows` is the dual \
    representation (`--tables rows`): each row is indexed as a sentence of its header and cells, and \
    its table is shown; `rows-alone` shows the row. `rows+columns` indexes each column of a table of \
    six or more columns, too, as a sentence of its cells behind what their rows are called \
    (`--tables columns`). All with `multilingual-e5-small-q4`, the hybrid \
    search and its defaults. Nothing is fitted on these questions; `dev` and `test` are both shown.";

pub(super) fn sections() -> Vec<Section> {
    vec![
        Section {
            title: "Finding",
            about: "Evidence are the rows that the answer rests on, each whole; an aggregate has as \
                    many pieces as it has rows. *Tokens shown* is the size of the best context. \
                    *Recall in 256 tokens* takes contexts from the top while they fit together. \
                    *Difference* is in recall@1 to `fixed`, *p* of a paired randomisation test (Holm \
                    over the rows of a data set), *resolvable* the smallest true difference that the \
                    set would show with probability 0.8.",
            datasets: &[
                "find-all",
                "find-cell",
                "find-row",
                "find-aggregate",
                "find-column",
                "find-zh",
                "find-en",
                "find-dev",
                "find-test",
            ],
            spec: finding("recall in 256 tokens", "recall@256tok"),
        },
        Section {
            title: "Answering",
            about: "`fixed`, `text`, `rows` and `rows+columns` answer with what `answer` quotes first of \
                    the best six chunks (for a filter or a column, with all that it quotes), without a threshold. `cells` is \
                    `ask_tables` alone: computed from cells, or no answer. `rows+cells` takes that, \
                    and a quote where there is none. *Holds* says that the words of the answer hold \
                    the value (for a row or a column all its cells, for a filter all names), however much else \
                    they hold. *Exact* asks for the answer alone: of a quote, that its rows of tables \
                    are those of the answer and no other, and for a difference, sum, average or count \
                    one row that holds the value, as a row of totals may; of a computed answer, the \
                    same number, with its unit or with none, and the same names. *Wrong* is answered and not exact. \
                    *Rows cited* and *cells cited*: those of the answer and no other; a quote names \
                    lines, so its cells are 0 by construction. *Refused, absent* is the share that is \
                    refused when the asker does not see the table's document. *Difference* and *p* \
                    are in *exact* to `fixed`.",
            datasets: &[
                "answer-all",
                "answer-cell",
                "answer-row",
                "answer-aggregate",
                "answer-column",
                "answer-zh",
                "answer-en",
                "answer-dev",
                "answer-test",
            ],
            spec: TableSpec::new(
                [
                    rate("exact", "exact"),
                    rate("holds", "holds"),
                    rate("wrong", "wrong"),
                    rate("refused", "refused"),
                    rate("rows cited", "rows"),
                    rate("cells cited", "cells"),
                    rate("refused, absent", "absent"),
                ]
                .into_iter()
                .chain(compared()),
            ),
        },
        Section {
            title: "Columns beside rows",
            about: "The same systems and questions as under *Finding*, `rows+columns` compared with \
                    `rows`: all of them, those for a column or for something computed from one of a \
                    wide table, and the others. *Difference* and *p* are in recall@1 to `rows`.",
            datasets: &["columns-all", "columns-column", "columns-other"],
            spec: finding("recall in 1,000 tokens", "recall@1000tok"),
        },
        Section {
            title: "Other questions",
            about: "What the choice does to questions that are not on these tables: the answerable test \
                    questions of `questions-ext` over the same documents (`ext`), and those of type \
                    `table` among them (`ext-table`). *Difference* and *p* are in recall@5 to `fixed`.",
            datasets: &["ext", "ext-table"],
            spec: finding("recall in 1,000 tokens", "recall@1000tok"),
        },
    ]
}

pub(super) fn brief() -> Section {
    let short =
        |header: &str, metric: &str| Column::new(header, metric, Format::Fixed(2)).with_interval();
    Section {
        datasets: &[
            "answer-all",
            "answer-cell",
            "answer-row",
            "answer-aggregate",
            "answer-column",
        ],
        ..Section::whole(TableSpec::new([
            short("exact", "exact"),
            short("wrong", "wrong"),
            short("refused", "refused"),
            short("rows cited", "rows"),
            short("cells cited", "cells"),
        ]))
    }
}

/// What is found, within a budget at last.
fn finding(header: &str, within: &str) -> TableSpec {
    TableSpec::new(
        [
            rate("recall@1", "recall@1"),
            rate("recall@5", "recall@5"),
            Column::new("tokens shown", "tokens@1", Format::Integer),
            rate(header, within),
        ]
        .into_iter()
        .chain(compared()),
    )
}

fn rate(header: &str, metric: &str) -> Column {
    Column::new(header, metric, Format::Fixed(3)).with_interval()
}

fn compared() -> [Column; 4] {
    [
        rate("difference", "difference"),
        Column::new("p", "p", Format::Fixed(4)),
        Column::new("resolvable", "resolvable", Format::Fixed(3)),
        Column::new("questions", "questions", Format::Integer),
    ]
}
