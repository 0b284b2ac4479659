//! The systems side by side, question by question.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use cornu::{Answer, Outcome, Threshold};
use cornu_chunk::{TableRows, TableRowsOptions};
use cornu_core::{Chunk, Principal};
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::questions::{Alternative, Question, Ranks};

use super::judge::{Reply, Verdict, judge};
use super::set::{Set, TableQuestion};
use crate::live::Live;
use crate::models::Shared;
use crate::paired::{self, Samples, put};
use crate::strategies::{FIXED, SENTENCE, strategy};

/// Contexts that are looked at for a question.
const DEPTH: usize = 20;
/// The budget at which contexts of different sizes are compared, in tokens: the default size of a chunk.
const BUDGET: usize = 256;
/// The larger one, for questions of which most are not on tables.
const LARGER: usize = 1000;

pub(super) const NAIVE: &str = "fixed";
const TEXT: &str = "text";
const ROWS: &str = "rows";
const ROWS_ALONE: &str = "rows-alone";
const COLUMNS: &str = "rows+columns";
const CELLS: &str = "cells";
const BOTH: &str = "rows+cells";

/// From so many columns on, a table's columns are children in [`COLUMNS`]: as in the program.
const WIDE: usize = 6;

/// Systems that find, and systems that answer; the naive one is the reference of both.
pub(super) const FINDING: [&str; 5] = [NAIVE, TEXT, ROWS_ALONE, ROWS, COLUMNS];
pub(super) const ANSWERING: [&str; 6] = [NAIVE, TEXT, ROWS, COLUMNS, CELLS, BOTH];

/// The parts of the questions: the name of each, and which belong to it.
pub(super) type Belongs = fn(&TableQuestion) -> bool;
pub(super) const PARTS: [(&str, Belongs); 9] = [
    ("all", |_| true),
    ("cell", |question| question.kind == "cell"),
    ("row", |question| question.kind == "row"),
    ("aggregate", |question| question.kind == "aggregate"),
    ("column", |question| question.kind == "column"),
    ("zh", |question| question.lang == "zh"),
    ("en", |question| question.lang == "en"),
    ("dev", |question| question.split == "dev"),
    ("test", |question| question.split == "test"),
];

/// The parts in which [`COLUMNS`] is compared with [`ROWS`].
pub(super) const BESIDE_ROWS: [(&str, Belongs); 3] = [
    ("columns-all", |_| true),
    ("columns-column", |question| question.kind == "column"),
    ("columns-other", |question| question.kind != "column"),
];
pub(super) const PAIR: [&str; 2] = [ROWS, COLUMNS];

/// What the systems make of each question.
pub(super) struct Measured<'a> {
    questions: Vec<&'a TableQuestion>,
    /// For each of [`FINDING`], for each question.
    found: Vec<Vec<Metrics>>,
    /// For each of [`ANSWERING`], for each question.
    answered: Vec<Vec<Metrics>>,
    /// Questions that are not on these tables, most of them on prose.
    others: Vec<&'a Question>,
    found_others: Vec<Vec<Metrics>>,
}

/// A question's metrics by name.
type Metrics = BTreeMap<&'static str, f64>;

/// Asks all systems all the questions.
pub(super) fn measure<'a>(
    set: &Set,
    questions: Vec<&'a TableQuestion>,
    others: Vec<&'a Question>,
    model: &Shared,
) -> Result<Measured<'a>> {
    let documents: Vec<_> = set.documents.iter().collect();
    let build = |chunker| Live::build(&documents, chunker, Arc::clone(&model.provider));
    let fixed = build(strategy(FIXED, &model.counter)?)?;
    let text = build(strategy(SENTENCE, &model.counter)?)?;
    let counter = Arc::clone(&model.counter);
    let by_rows = TableRowsOptions::default();
    let rows = build(Arc::new(TableRows::new(Arc::clone(&counter), by_rows)))?;
    let by_columns = TableRowsOptions {
        wide: Some(WIDE),
        ..by_rows
    };
    let columns = build(Arc::new(TableRows::new(counter, by_columns)))?;

    let (mut found, mut found_others) = (Vec::new(), Vec::new());
    for (live, parents) in [
        (&fixed, false),
        (&text, false),
        (&rows, false),
        (&rows, true),
        (&columns, true),
    ] {
        let each = questions.iter();
        let each = each.map(|one| find(live, parents, &one.question, &one.evidence, model));
        found.push(each.collect::<Result<_>>()?);
        let each = others.iter();
        let each = each.map(|one| find(live, parents, &one.question, &one.evidence, model));
        found_others.push(each.collect::<Result<_>>()?);
    }
    let mut answered = Vec::new();
    for (live, route) in [
        (&fixed, Route::Quote),
        (&text, Route::Quote),
        (&rows, Route::Quote),
        (&columns, Route::Quote),
        (&rows, Route::Cells),
        (&rows, Route::Both),
    ] {
        let threshold = Threshold::by_hand(-1.0, live.index.provider())?;
        let answerer = Answerer {
            set,
            live,
            route,
            threshold,
        };
        let each = questions.iter();
        let each = each.map(|question| answerer.metrics(question));
        answered.push(each.collect::<Result<_>>()?);
    }
    Ok(Measured {
        questions,
        found,
        answered,
        others,
        found_others,
    })
}

/// What is found, the question's evidence in what is shown.
fn find(
    live: &Live,
    parents: bool,
    question: &str,
    evidence: &[Vec<Alternative>],
    model: &Shared,
) -> Result<Metrics> {
    let found = live.index.search_hybrid(&live.everybody, question, DEPTH)?;
    let mut shown: Vec<&Chunk> = Vec::new();
    for hit in &found.hits {
        let chunk = live.chunks.get(&hit.chunk.id).context("a chunk of ours")?;
        let parent = chunk.parent.and_then(|id| live.parents.get(&id));
        let chunk = parent.filter(|_| parents).unwrap_or(chunk);
        if shown.iter().all(|known| known.id != chunk.id) {
            shown.push(chunk);
        }
    }
    let contexts: Vec<(&str, &str)> = shown
        .iter()
        .map(|chunk| (chunk.doc.as_str(), chunk.text.as_str()))
        .collect();
    let ranks = Ranks::find(evidence, &contexts);
    let within = |budget: usize| {
        let mut tokens = 0;
        let fitting = shown.iter().take_while(|chunk| {
            tokens += model.counter.count(&chunk.text);
            tokens <= budget
        });
        ranks.recall(fitting.count())
    };
    let first = shown
        .first()
        .map_or(0, |chunk| model.counter.count(&chunk.text));
    let figures = [
        ("recall@1", ranks.recall(1)),
        ("recall@5", ranks.recall(5)),
        ("recall@256tok", within(BUDGET)),
        ("recall@1000tok", within(LARGER)),
        ("tokens@1", Some(first as f64)),
    ];
    let known = figures.into_iter();
    Ok(known
        .filter_map(|(name, value)| Some((name, value?)))
        .collect())
}

#[derive(Clone, Copy, PartialEq)]
enum Route {
    /// Sentences and rows of what was found.
    Quote,
    /// The numbers of tables, or nothing.
    Cells,
    /// The numbers of tables, or else sentences and rows.
    Both,
}

struct Answerer<'a> {
    set: &'a Set,
    live: &'a Live,
    route: Route,
    threshold: Threshold,
}

impl Answerer<'_> {
    fn metrics(&self, question: &TableQuestion) -> Result<Metrics> {
        let reply = self.ask(&self.live.everybody, question)?;
        let Verdict {
            refused,
            holds,
            exact,
            rows,
            cells,
        } = judge(self.set, question, &reply);
        let blind = self.set.without(question.doc())?;
        let absent = matches!(self.ask(&blind, question)?, Reply::Refused);
        let one = |is: bool| f64::from(u8::from(is));
        Ok(BTreeMap::from([
            ("exact", one(exact)),
            ("holds", one(holds)),
            ("wrong", one(!refused && !exact)),
            ("refused", one(refused)),
            ("rows", one(rows)),
            ("cells", one(cells)),
            ("absent", one(absent)),
        ]))
    }

    fn ask(&self, principal: &Principal, question: &TableQuestion) -> Result<Reply> {
        let index = &self.live.index;
        if self.route != Route::Quote {
            let found = index.ask_tables(principal, &question.question)?;
            if let Some(first) = found.into_iter().next() {
                return Ok(Reply::Computed(Box::new(first)));
            }
        }
        if self.route == Route::Cells {
            return Ok(Reply::Refused);
        }
        let response = index.answer(principal, &question.question, &self.threshold)?;
        Ok(match response.outcome {
            Outcome::Answered(Answer { statements }) => Reply::Quoted(statements),
            _ => Reply::Refused,
        })
    }
}

impl Measured<'_> {
    /// Rows of the two sections for one part of the questions: those that find, those that answer.
    pub(super) fn rows(
        &self,
        part: &str,
        belongs: Belongs,
        seed: u64,
    ) -> Result<(Vec<Row>, Vec<Row>)> {
        let chosen: Vec<bool> = self.questions.iter().map(|one| belongs(one)).collect();
        let (find, answer) = (format!("find-{part}"), format!("answer-{part}"));
        Ok((
            rows(&find, &FINDING, &self.found, &chosen, "recall@1", seed)?,
            rows(&answer, &ANSWERING, &self.answered, &chosen, "exact", seed)?,
        ))
    }

    /// Columns beside rows, for one part of the questions: the difference in recall@1.
    pub(super) fn beside_rows(
        &self,
        dataset: &str,
        belongs: Belongs,
        seed: u64,
    ) -> Result<Vec<Row>> {
        let chosen: Vec<bool> = self.questions.iter().map(|one| belongs(one)).collect();
        let places = FINDING.iter().zip(&self.found);
        let pair = places.filter(|(system, _)| PAIR.contains(system));
        let pair: Vec<Vec<Metrics>> = pair.map(|(_, found)| found.clone()).collect();
        rows(dataset, &PAIR, &pair, &chosen, "recall@1", seed)
    }

    /// The same for the questions that are not of this table: those that find.
    pub(super) fn others(
        &self,
        dataset: &str,
        belongs: impl Fn(&Question) -> bool,
        seed: u64,
    ) -> Result<Vec<Row>> {
        let chosen: Vec<bool> = self.others.iter().map(|one| belongs(one)).collect();
        let found = &self.found_others;
        rows(dataset, &FINDING, found, &chosen, "recall@5", seed)
    }
}

/// A row for each system over the chosen questions.
fn rows(
    dataset: &str,
    systems: &[&str],
    measured: &[Vec<Metrics>],
    chosen: &[bool],
    metric: &str,
    seed: u64,
) -> Result<Vec<Row>> {
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for (system, each) in systems.iter().zip(measured) {
        let mut samples = Samples::new();
        for (metrics, _) in each.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
            for (name, value) in metrics {
                put(&mut samples, name, Some(*value));
            }
        }
        // Tokens are no rate.
        let tokens = samples.remove("tokens@1");
        let mut row = paired::row(dataset, system, &samples, seed)?;
        let n = samples.values().map(Vec::len).max().unwrap_or(0) as u64;
        let mut add = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
        add("questions", Measure::exact(n as f64, "count", n));
        if let Some(tokens) = tokens {
            let mean = tokens.iter().sum::<f64>() / tokens.len().max(1) as f64;
            add("tokens@1", Measure::exact(mean, "tokens", n));
        }
        rows.push(row);
        all.push(samples);
    }
    paired::compare(&mut rows, &all, 0, metric, seed)?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use cornu::HashEmbeddingProvider;
    use cornu_text::WordCounter;

    use super::*;
    use crate::table::tests::quick;

    #[test]
    fn computed_answers_cite_cells_and_say_nothing_of_what_is_hidden() {
        let set = quick("tables", |bench| Set::open(bench, false).unwrap());
        let model = Shared {
            provider: Arc::new(HashEmbeddingProvider::default()),
            counter: Arc::new(WordCounter::new()),
        };
        let questions = set.questions.iter().step_by(9).collect();
        let measured = measure(&set, questions, Vec::new(), &model).unwrap();
        let (finding, answering) = measured.rows("all", |_| true, 1).unwrap();
        assert_eq!(
            (finding.len(), answering.len()),
            (FINDING.len(), ANSWERING.len())
        );
        let beside = measured.beside_rows("columns-all", |_| true, 1).unwrap();
        let names: Vec<&str> = beside.iter().map(|row| row.system.as_str()).collect();
        assert_eq!(names, PAIR);
        for row in &beside {
            let found = finding.iter().find(|one| one.system == row.system);
            let found = &found.unwrap().metrics["recall@1"];
            assert_eq!(&row.metrics["recall@1"], found, "{}", row.system);
            assert_eq!(row.metrics.contains_key("p"), row.system == COLUMNS);
        }
        for row in &answering {
            let get = |name: &str| row.metrics[name].value;
            let parts = get("exact") + get("wrong") + get("refused");
            assert!((parts - 1.0).abs() < 1e-9, "{}", row.system);
            assert!(get("holds") >= get("exact"), "{}", row.system);
            match row.system.as_str() {
                CELLS => {
                    assert!(get("cells") > 0.2 && get("exact") >= get("cells") - 1e-9);
                    assert_eq!(get("absent"), 1.0);
                }
                BOTH => assert!(get("refused") <= 0.2),
                _ => assert_eq!(get("cells"), 0.0, "{}", row.system),
            }
        }
    }
}
