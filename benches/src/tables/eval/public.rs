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
        Found::Set(public) => {
            let documents: Vec<&Document> = public.passages.iter().collect();
            let chunker = strategy(SENTENCE, &set.model.counter)?;
            let live = Live::build(&documents, chunker, Arc::clone(&set.model.provider))?;
            let routes = [set.route(), Route::Dense, Route::Sparse, Route::Rrf];
            measure(name, &public, &live, routes, bench.seed)
        }
    }
}

fn measure(
    name: &str,
    public: &PublicSet,
    live: &Live,
    routes: [Route; 4],
    seed: u64,
) -> Result<Vec<Row>> {
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
        let mut row = paired::row(name, system, &samples, seed)?;
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
    paired::compare(&mut rows, &all, 0, "recall@5", seed)?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use cornu::{HashEmbeddingProvider, RagOptions};
    use cornu_core::{Acl, DocId};
    use cornu_eval::beir::queries_from;
    use cornu_eval::metrics::Qrels;

    use super::*;

    #[test]
    fn a_passage_counts_once_however_it_was_cut() {
        let long = "The horn is curved and hollow. ".repeat(120);
        let texts = [
            ("1", format!("# Horn\n\n{long}\n")),
            ("2", "# Bridge\n\nA bridge spans the river.\n".to_owned()),
            ("3", "# Rain\n\nRain falls on the river.\n".to_owned()),
        ];
        let passages: Vec<Document> = texts
            .into_iter()
            .map(|(id, text)| Document::new(DocId::new(id).unwrap(), text, Acl::public()))
            .collect();
        let mut qrels = Qrels::new();
        for (query, passage) in [("a", "1"), ("a", "2"), ("b", "3")] {
            qrels.insert(query, passage.to_owned(), 1);
        }
        let lines = "{\"_id\": \"a\", \"text\": \"the curved horn and the bridge\"}\n\
                     {\"_id\": \"b\", \"text\": \"where rain falls\"}\n";
        let queries = queries_from(lines.as_bytes(), "queries.jsonl");
        let public = PublicSet {
            passages,
            queries: queries.collect::<Result<_, _>>().unwrap(),
            qrels,
        };
        let documents: Vec<&Document> = public.passages.iter().collect();
        let provider = Arc::new(HashEmbeddingProvider::default());
        let live = Live::build(&documents, RagOptions::default().chunker, provider).unwrap();
        let chunks_of_horn = live.chunks.values().filter(|c| c.doc.as_str() == "1");
        assert!(chunks_of_horn.count() > 2);
        let routes = [Route::Rrf, Route::Dense, Route::Sparse, Route::Rrf];
        let rows = measure("set", &public, &live, routes, 1).unwrap();
        for row in &rows {
            // Without the collapse the chunks of the long passage would fill the first two places.
            assert_eq!(row.metrics["recall@2"].value, 1.0, "{}", row.system);
            assert_eq!(row.metrics["questions"].value, 2.0);
            assert_eq!(row.metrics["passages"].value, 3.0);
        }
        assert_eq!(rows[3].metrics["difference"].value, 0.0);
    }
}
