//! What each part of the live route gives to retrieval: the same questions with one part taken away.

use std::sync::Arc;

use anyhow::{Context, Result};
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::questions::Question;

use super::Set;
use crate::live::{Live, Route, ranks_of};
use crate::models::{PINNED, Prefixes};
use crate::paired::{self, Samples, put};
use crate::strategies::{FIXED, PARENT_CHILD, SENTENCE, SENTENCE_BARE, strategy};
use crate::table::{Bench, Part};

/// The systems, the reference first: what each is built of, and its ranking where that is not the
/// reference's.
const SYSTEMS: [(&str, Build, Option<Route>); 9] = [
    ("live", Build::Live, None),
    ("teaching", Build::Teaching, Some(Route::Sparse)),
    ("no-dense", Build::Live, Some(Route::Sparse)),
    ("no-sparse", Build::Live, Some(Route::Dense)),
    ("no-fit", Build::Live, Some(Route::Rrf)),
    ("no-structure", Build::Chunks(FIXED), None),
    ("no-heading", Build::Chunks(SENTENCE_BARE), None),
    ("no-prefix", Build::Bare, None),
    ("small-chunks", Build::Chunks(PARENT_CHILD), None),
];

#[derive(Clone, Copy, PartialEq)]
enum Build {
    Live,
    Teaching,
    /// Other chunks.
    Chunks(&'static str),
    /// The model without the words that it puts before texts.
    Bare,
}

/// The rows of all systems; in the quick part of those that need no further index.
pub(super) fn rows(
    bench: &Bench<'_>,
    set: &Set<'_>,
    dataset: &str,
    questions: &[&Question],
) -> Result<Vec<Row>> {
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for (system, build, route) in SYSTEMS {
        let apart = matches!(build, Build::Chunks(_) | Build::Bare);
        if bench.part == Part::Quick && apart {
            continue;
        }
        let built = match build {
            Build::Live | Build::Teaching => None,
            Build::Chunks(name) => {
                let chunker = strategy(name, &set.model.counter)?;
                let provider = Arc::clone(&set.model.provider);
                Some(Live::build(&set.documents, chunker, provider)?)
            }
            Build::Bare => {
                let model = bench.models.shared(PINNED, Prefixes::None)?;
                let chunker = strategy(SENTENCE, &model.counter)?;
                Some(Live::build(&set.documents, chunker, model.provider)?)
            }
        };
        let live = match build {
            Build::Teaching => &set.teaching,
            _ => built.as_ref().unwrap_or(&set.live),
        };
        let route = route.unwrap_or_else(|| set.route());
        let (samples, tokens) = measure(set, live, route, questions)?;
        let mut row = paired::row(dataset, system, &samples, set.seed)?;
        let n = samples.values().map(Vec::len).max().unwrap_or(0) as u64;
        row.metrics
            .insert("tokens@5".to_owned(), Measure::exact(tokens, "tokens", n));
        rows.push(row);
        all.push(samples);
    }
    paired::compare(&mut rows, &all, 0, "recall@5", set.seed)?;
    Ok(rows)
}

/// Recall and reciprocal rank of the answerable questions, and the mean size of the best five
/// contexts together.
fn measure(
    set: &Set<'_>,
    live: &Live,
    route: Route,
    questions: &[&Question],
) -> Result<(Samples, f64)> {
    let mut samples = Samples::new();
    let (mut tokens, mut n) = (0, 0_usize);
    for question in questions.iter().filter(|question| question.is_answerable()) {
        let ranking = live.ask(&question.question)?.ranking(route)?;
        let ranks = ranks_of(&ranking, &live.gold(question));
        put(&mut samples, "recall@1", ranks.recall(1));
        put(&mut samples, "recall@5", ranks.recall(5));
        put(&mut samples, "mrr", ranks.reciprocal_rank());
        for (_, text) in live.contexts(ranking.ids().take(5))? {
            tokens += set.model.counter.count(text);
        }
        n += 1;
    }
    let mean = tokens as f64 / n as f64;
    (n > 0).then_some(()).context("no question has an answer")?;
    Ok((samples, mean))
}
