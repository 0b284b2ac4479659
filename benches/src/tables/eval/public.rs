//! Public multi-hop sets: retrieval alone, each passage a document of its own.

use std::sync::Arc;

use anyhow::{Context, Result};
use cornu_core::Document;
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::metrics::{Gain, Metric, Run, evaluate};
use cornu_fuse::best_per;

use super::Set;
use crate::external::{self, Found, PublicSet};
use crate::live::{Live, Route};
use crate::paired::{self, Samples};
use crate::strategies::{SENTENCE, strategy};
use crate::table::Bench;

/// The sets, by the names of their folders.
pub(super) const SETS: [&str; 3] = ["2wiki-500", "musique-train-100", "hotpotqa-train-100"];

const SYSTEMS: [&str; 4] = ["live", "no-sparse", "no-dense", "no-fit"];
const METRICS: [(&str, Metric); 3] = [
    ("recall@2", Metric::Recall(2)),
    ("recall@5", Metric::Recall(5)),
    ("ndcg@10", Metric::Ndcg(Some(10), Gain::Linear)),
];

/// The rows of all systems, gated where the set is not at hand.
pub(super) fn rows(bench: &Bench<'_>, set: &Set<'_>, name: &str) -> Result<Vec<Row>> {
    match external::find(name)? {
        Found::Absent(reason) => Ok(SYSTEMS
            .iter()
            .map(|system| Row::gated(name, *system, &reason))
            .collect()),
        Found::Set(public) => measure(bench, set, name, &public),
    }
}

fn measure(bench: &Bench<'_>, set: &Set<'_>, name: &str, public: &PublicSet) -> Result<Vec<Row>> {
    let documents: Vec<&Document> = public.passages.iter().collect();
    let chunker = strategy(SENTENCE, &set.model.counter)?;
    let live = Live::build(&documents, chunker, Arc::clone(&set.model.provider))?;
    let routes = [set.route(), Route::Dense, Route::Sparse, Route::Rrf];
    let mut runs = vec![Run::new(); routes.len()];
    for query in &public.queries {
        let found = live.ask(&query.text)?;
        for (run, route) in runs.iter_mut().zip(routes) {
            let ranking = found.ranking(route)?;
            // A passage that was cut in two counts once, at its better place.
            let passages = best_per(&ranking, |id| {
                let chunk = live.chunks.get(id);
                chunk.map_or_else(String::new, |chunk| chunk.doc.to_string())
            });
            run.insert(&query.id, passages.ids().cloned().collect())?;
        }
    }
    let metrics = METRICS.map(|(_, metric)| metric);
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for (system, run) in SYSTEMS.iter().zip(&runs) {
        let evaluation = evaluate(&public.qrels, run, &metrics);
        let mut samples = Samples::new();
        for (metric_name, metric) in METRICS {
            let values = evaluation.values(metric).context("a metric asked for")?;
            samples.insert(metric_name, values);
        }
        let mut row = paired::row(name, system, &samples, bench.seed)?;
        let scored = evaluation.counts().scored;
        for (what, count) in [
            ("questions", scored),
            ("passages", public.passages.len()),
            ("chunks", live.chunks.len()),
        ] {
            let measure = Measure::exact(count as f64, "count", scored as u64);
            row.metrics.insert(what.to_owned(), measure);
        }
        rows.push(row);
        all.push(samples);
    }
    paired::compare(&mut rows, &all, 0, "recall@5", bench.seed)?;
    Ok(rows)
}
