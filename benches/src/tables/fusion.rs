//! Dense, BM25 and their fusions: the chapter's three queries side by side, and types of questions.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use cornu_core::Document;
use cornu_eval::evidence::{Measure, Printed, Row};
use cornu_eval::questions::Question;
use cornu_eval::report::{Column, Format, TableSpec};
use cornu_fuse::FittedAlpha;

use crate::fitted;
use crate::live::{Live, Route, ranks_of};
use crate::models::{PINNED, Prefixes};
use crate::paired::{self, Samples, put};
use crate::strategies::{SENTENCE, strategy};
use crate::table::{Bench, Part, Section, Table};

/// The chapter's queries, and the questions of ours that have their evidence.
const QUERIES: [(&str, &str, &str); 3] = [
    ("chapter-rewritten", "LLM 的训练目标是什么", "ext-par-007"),
    ("chapter-identifier", "zero_grad 遗忘调用的后果", "q20-01"),
    (
        "chapter-mixed",
        "自动微分链式法则为什么需要反向拓扑排序",
        "q20-02",
    ),
];
/// The documents that they ask about.
const LECTURES: [&str; 2] = ["04-autograd.md", "05-training-llm.md"];
const TYPES: [(&str, &str); 5] = [
    ("ext-paraphrase", "paraphrase"),
    ("ext-identifier", "identifier"),
    ("ext-mixed", "mixed"),
    ("ext-table", "table"),
    ("ext-multi-hop", "multi_hop"),
];
const ALL: &str = "ext-all";
const FITTED: &str = "fitted-on-dev";

/// Table `fusion`.
pub struct Fusion;

impl Table for Fusion {
    fn name(&self) -> &'static str {
        "fusion"
    }

    fn summary(&self) -> &'static str {
        "dense, BM25, RRF and convex fusion: three queries side by side, and by type of question"
    }

    fn about(&self) -> &'static str {
        "One index (`sentence` chunks, `multilingual-e5-small-q4`, the library's BM25), asked four \
         ways: `dense` (cosine), `sparse` (BM25), `rrf` (reciprocal ranks, k = 60, nothing fitted) \
         and `convex` (min-max scores, α fitted on dev questions). Each route gives its best 100."
    }

    fn sections(&self) -> Vec<Section> {
        let side_by_side = TableSpec::new([
            Column::new("rank", "rank", Format::Integer).with_printed(),
            Column::new("score", "score", Format::Fixed(4)).with_printed(),
            Column::new("chunks in the list", "listed", Format::Integer),
        ]);
        let fitted = TableSpec::new([
            Column::new("value", "value", Format::Fixed(2)).with_interval(),
            Column::new("recall@5 on dev", "dev_recall@5", Format::Fixed(3)),
            Column::new("dev questions", "questions", Format::Integer),
        ]);
        vec![
            Section {
                title: "The chapter's three queries",
                about: "Rank and score of the first chunk that holds the evidence, over the two \
                        lecture notes `04-autograd.md` and `05-training-llm.md`. Scores of \
                        different routes have different scales; a rank compares. One query shows \
                        how a route works and proves nothing about how often. The printed scores \
                        are of another model, corpus and BM25; the printed 0.033 of the third \
                        query is not what ranks 2 and 2 give (2/62 = 0.032).",
                datasets: &["chapter-rewritten", "chapter-identifier", "chapter-mixed"],
                spec: side_by_side,
            },
            Section {
                title: "By type of question",
                about: "The test questions of `questions-ext` over all twelve documents. \
                        *Difference* is in recall@5 to `rrf` on the same questions, *p* is of a \
                        paired randomisation test (Holm over the rows of a type), *resolvable* the \
                        smallest true difference that the set would show with probability 0.8.",
                datasets: &[
                    ALL,
                    "ext-paraphrase",
                    "ext-identifier",
                    "ext-mixed",
                    "ext-table",
                    "ext-multi-hop",
                ],
                spec: by_type(),
            },
            Section {
                title: "What was fitted",
                about: "On the answerable dev questions of `questions-ext`, and on nothing else. \
                        The first of the chapter's queries is one of them.",
                datasets: &[FITTED],
                spec: fitted,
            },
        ]
    }

    fn brief(&self) -> Section {
        Section {
            datasets: &[ALL, "ext-paraphrase", "ext-identifier", "ext-mixed"],
            ..Section::whole(TableSpec::new([
                Column::new("recall@1", "recall@1", Format::Fixed(2)).with_interval(),
                Column::new("recall@5", "recall@5", Format::Fixed(2)).with_interval(),
                Column::new("MRR", "mrr", Format::Fixed(2)).with_interval(),
            ]))
        }
    }

    fn printed(&self) -> Vec<Printed> {
        let row = |dataset: &str, system: &str, rank: f64, score: f64| Printed {
            system: system.to_owned(),
            dataset: Some(dataset.to_owned()),
            metrics: BTreeMap::from([("rank".to_owned(), rank), ("score".to_owned(), score)]),
            source: "chapter 14, stage 4".to_owned(),
        };
        vec![
            row("chapter-rewritten", "dense", 1.0, 0.842),
            row("chapter-rewritten", "sparse", 5.0, 1.20),
            row("chapter-rewritten", "rrf", 1.0, 0.032),
            row("chapter-identifier", "dense", 7.0, 0.412),
            row("chapter-identifier", "sparse", 1.0, 8.45),
            row("chapter-identifier", "rrf", 1.0, 0.031),
            row("chapter-mixed", "dense", 2.0, 0.680),
            row("chapter-mixed", "sparse", 2.0, 4.10),
            row("chapter-mixed", "rrf", 1.0, 0.033),
        ]
    }

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        let model = bench.models.shared(PINNED, Prefixes::Own)?;
        let build = |documents: &[&Document]| {
            let chunker = strategy(SENTENCE, &model.counter)?;
            Live::build(documents, chunker, Arc::clone(&model.provider))
        };
        let corpus = build(&bench.data.documents().collect::<Vec<_>>())?;
        let questions = bench.data.questions("questions-ext.jsonl")?;
        let (dev, test): (Vec<Question>, Vec<Question>) = questions
            .into_iter()
            .partition(|question| question.split == "dev");
        let fitted = fitted::alpha(&corpus, &dev, bench.seed)?;
        let routes = routes(fitted.alpha);

        let mut rows = bench.rows("chapter", || {
            let lectures = LECTURES.map(|name| bench.data.document(name));
            let lectures = lectures.into_iter().collect::<Result<Vec<_>>>()?;
            let twenty = bench.data.questions("questions-20.jsonl")?;
            let known: Vec<&Question> = twenty.iter().chain(&dev).collect();
            side_by_side(&build(&lectures)?, &known, &routes)
        })?;
        if bench.part == Part::Full {
            let answerable: Vec<&Question> = test.iter().filter(|q| q.is_answerable()).collect();
            let sets = TYPES.iter().map(|&(dataset, kind)| {
                let of_type = answerable.iter().copied().filter(|q| q.kind == kind);
                (dataset, of_type.collect::<Vec<_>>())
            });
            let all = std::iter::once((ALL, answerable.clone()));
            for (dataset, questions) in all.chain(sets) {
                rows.extend(bench.rows(dataset, || {
                    measure_set(bench.seed, &corpus, (dataset, &questions), &routes)
                })?);
            }
        }
        rows.push(fitted_row(&fitted));
        Ok(rows)
    }

    fn inputs(&self) -> &'static [&'static str] {
        &["questions-20.jsonl", "questions-ext.jsonl"]
    }

    fn known_failures(&self) -> Vec<String> {
        vec![
            "Three queries are an illustration; the printed ones ran on another corpus, another \
             embedder and another BM25."
                .to_owned(),
            "A type has few questions: the column `resolvable` says what they cannot show."
                .to_owned(),
            "Documents and questions are by the same authors.".to_owned(),
        ]
    }
}

fn by_type() -> TableSpec {
    let interval =
        |header: &str, metric: &str| Column::new(header, metric, Format::Fixed(3)).with_interval();
    TableSpec::new([
        interval("recall@1", "recall@1"),
        interval("recall@5", "recall@5"),
        interval("MRR", "mrr"),
        interval("difference", "difference"),
        Column::new("p", "p", Format::Fixed(3)),
        Column::new("resolvable", "resolvable", Format::Fixed(3)),
        Column::new("questions", "questions", Format::Integer),
    ])
}

fn routes(alpha: f64) -> [(&'static str, Route); 4] {
    [
        ("dense", Route::Dense),
        ("sparse", Route::Sparse),
        ("rrf", Route::Rrf),
        ("convex", Route::Convex(alpha)),
    ]
}

/// Where each route has the first chunk that holds the evidence.
fn side_by_side(
    live: &Live,
    known: &[&Question],
    routes: &[(&'static str, Route)],
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (dataset, query, id) in QUERIES {
        let question = known
            .iter()
            .find(|question| question.id == id)
            .with_context(|| format!("there is no question {id}"))?;
        let gold = live.gold(question);
        let found = live.ask(query)?;
        for &(system, route) in routes {
            let ranking = found.ranking(route)?;
            let mut row = Row::measured(dataset, system);
            let mut put = |name: &str, value: f64, unit: &str| {
                let measure = Measure::exact(value, unit, 1);
                row.metrics.insert(name.to_owned(), measure);
            };
            put("listed", ranking.len() as f64, "count");
            let first = ranks_of(&ranking, &gold).ranks.into_iter().flatten().min();
            if let Some(rank) = first {
                let at = ranking.as_slice().get(rank - 1).context("a listed chunk")?;
                put("rank", rank as f64, "rank");
                put("score", at.score, "score");
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Recall and reciprocal rank of each route over some questions.
fn measure_set(
    seed: u64,
    live: &Live,
    (dataset, questions): (&str, &[&Question]),
    routes: &[(&'static str, Route)],
) -> Result<Vec<Row>> {
    let mut samples = vec![Samples::new(); routes.len()];
    for question in questions {
        let gold = live.gold(question);
        let found = live.ask(&question.question)?;
        for (samples, (_, route)) in samples.iter_mut().zip(routes) {
            let ranks = ranks_of(&found.ranking(*route)?, &gold);
            put(samples, "recall@1", ranks.recall(1));
            put(samples, "recall@5", ranks.recall(5));
            put(samples, "mrr", ranks.reciprocal_rank());
        }
    }
    let mut rows = Vec::new();
    for (samples, (system, _)) in samples.iter().zip(routes) {
        let mut row = paired::row(dataset, system, samples, seed)?;
        let n = questions.len();
        let count = Measure::exact(n as f64, "count", n as u64);
        row.metrics.insert("questions".to_owned(), count);
        rows.push(row);
    }
    let reference = routes.iter().position(|(_, route)| *route == Route::Rrf);
    let reference = reference.context("the reference is a route")?;
    paired::compare(&mut rows, &samples, reference, "recall@5", seed)?;
    Ok(rows)
}

/// α, with the interval that says how little the dev questions may know of it.
pub(super) fn fitted_row(fitted: &FittedAlpha) -> Row {
    let mut row = Row::measured(FITTED, "convex-alpha");
    let n = fitted.queries as u64;
    let (lo, hi) = fitted.interval;
    let alpha = Measure {
        lo: Some(lo.min(fitted.alpha)),
        hi: Some(hi.max(fitted.alpha)),
        ..Measure::exact(fitted.alpha, "weight", n)
    };
    row.metrics.insert("value".to_owned(), alpha);
    row.metrics.insert(
        "dev_recall@5".to_owned(),
        Measure::exact(fitted.dev_mean, "fraction", n),
    );
    row.metrics.insert(
        "questions".to_owned(),
        Measure::exact(fitted.queries as f64, "count", n),
    );
    row
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cornu::{HashEmbeddingProvider, RagOptions};

    use super::*;
    use crate::corpus::BenchData;

    fn data() -> BenchData {
        BenchData::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench-data")).unwrap()
    }

    fn lectures(data: &BenchData) -> Live {
        let documents = LECTURES.map(|name| data.document(name).unwrap());
        let provider = Arc::new(HashEmbeddingProvider::default());
        Live::build(&documents, RagOptions::default().chunker, provider).unwrap()
    }

    #[test]
    fn each_query_has_a_row_a_route_and_the_identifier_is_found_by_words() {
        let data = data();
        let mut known = data.questions("questions-20.jsonl").unwrap();
        known.extend(data.questions("questions-ext.jsonl").unwrap());
        let known: Vec<&Question> = known.iter().collect();
        let rows = side_by_side(&lectures(&data), &known, &routes(0.5)).unwrap();
        assert_eq!(rows.len(), 12);
        let row = |dataset: &str, system: &str| {
            let mut rows = rows.iter();
            rows.find(|row| (row.dataset.as_str(), row.system.as_str()) == (dataset, system))
                .unwrap()
        };
        let sparse = row("chapter-identifier", "sparse");
        assert_eq!(sparse.metrics["rank"].value, 1.0);
        assert!(sparse.metrics["score"].value > 1.0);
        let (dense, rrf) = (row("chapter-mixed", "dense"), row("chapter-mixed", "rrf"));
        assert!(dense.metrics["score"].value <= 1.0);
        assert!(rrf.metrics["score"].value <= 2.0 / 61.0);
        // A list ends where it ends.
        assert!(rows.iter().all(|row| row.metrics["listed"].value <= 200.0));
        let nothing = side_by_side(&lectures(&data), &[], &routes(0.5)).unwrap_err();
        assert!(nothing.to_string().contains("ext-par-007"), "{nothing}");
    }

    #[test]
    fn recall_is_over_pieces_and_the_reference_is_not_compared_with_itself() {
        let data = data();
        let twenty = data.questions("questions-20.jsonl").unwrap();
        let answerable: Vec<&Question> = twenty.iter().filter(|q| q.is_answerable()).collect();
        let live = lectures(&data);
        let rows = measure_set(1, &live, (ALL, &answerable), &routes(0.5)).unwrap();
        for row in &rows {
            assert_eq!(row.metrics["recall@5"].n, 17);
            assert!(row.metrics["recall@1"].value <= row.metrics["recall@5"].value);
            assert_eq!(row.metrics.contains_key("p"), row.system != "rrf");
        }
        // The figure of a route is the mean of what each question gets.
        let hits = answerable.iter().filter(|question| {
            let found = live.ask(&question.question).unwrap().sparse;
            ranks_of(&found, &live.gold(question)).recall(1) == Some(1.0)
        });
        let expected = hits.count() as f64 / 17.0;
        let sparse = &rows[1].metrics["recall@1"];
        assert!((sparse.value - expected).abs() < 1e-12);
    }
}
