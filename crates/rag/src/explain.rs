//! What the steps of a query note in its trace.
//!
//! Everything noted is a function of the view and of what was asked: no row ids, no epochs, no
//! counts but of what is seen.

use cornu_core::{ChunkId, Ranking, Trace, TraceStep};
use cornu_sparse::Explanation;
use cornu_store::{Approximate, Scan};
use cornu_text::Tokenizer;

use crate::anchors::anchors;
use crate::options::Fusion;
use crate::search::Hit;

pub(crate) fn question(trace: &mut Trace, tokenizer: &Tokenizer, question: &str) {
    let words: Vec<String> = tokenizer
        .query(question)
        .into_iter()
        .map(|token| token.text)
        .collect();
    let names: Vec<String> = anchors(tokenizer, question)
        .into_iter()
        .map(|anchor| anchor.text().to_owned())
        .collect();
    trace
        .step("question")
        .note("text", question)
        .note("words", words)
        .note("anchors", names);
}

/// How the vectors were searched, where it is not by the exact scan in f32; `walk` is the breadth of
/// the walk through the graph, if there was one.
pub(crate) fn vectors(trace: &mut Trace, options: &cornu_store::Options, walk: Option<usize>) {
    if options.scan == Scan::Full && options.approximate == Approximate::Never {
        return;
    }
    let step = trace.step("vectors");
    let scan = match options.scan {
        Scan::Full => "f32, exact",
        Scan::Int8 => "int8, exact",
        Scan::Bits { .. } => "bits, approximate",
    };
    if options.approximate == Approximate::Never {
        step.note("scan", scan);
        return;
    }
    match walk {
        Some(breadth) => step
            .note("walk", "hnsw, approximate")
            .note("breadth", breadth),
        None => step
            .note(
                "walk",
                "none: a narrow view, or no graph that reaches the recall",
            )
            .note("scan", scan),
    };
}

pub(crate) fn route(trace: &mut Trace, name: &'static str, k: usize, ranking: &Ranking<ChunkId>) {
    let step = trace.step(name);
    step.note("k", k).note("found", ranking.len());
    if let Some(best) = ranking.as_slice().first() {
        step.note("best", best.score);
    }
}

pub(crate) fn fusion(trace: &mut Trace, fusion: &Fusion, k: usize, kept: usize) {
    let step = trace.step("fuse");
    match fusion {
        Fusion::Rrf {
            options,
            dense,
            sparse,
        } => step
            .note("method", "reciprocal ranks")
            .note("constant", options.k)
            .note("dense_weight", *dense)
            .note("sparse_weight", *sparse),
        Fusion::Convex {
            alpha,
            normalisation,
        } => step
            .note("method", "convex")
            .note("alpha", *alpha)
            .note("normalisation", format!("{normalisation:?}")),
    };
    step.note("k", k).note("kept", kept);
}

/// One chunk: where each route had it.
pub(crate) fn hit<'t>(trace: &'t mut Trace, rank: usize, hit: &Hit) -> &'t mut TraceStep {
    let step = trace.step("chunk");
    step.note("rank", rank)
        .note("id", hit.chunk.id.to_string())
        .note("citation", hit.citation.as_str())
        .note("score", hit.score);
    let routes = [
        (["dense_rank", "dense_score", "dense_share"], hit.dense),
        (["sparse_rank", "sparse_score", "sparse_share"], hit.sparse),
    ];
    for ([rank, score, share], place) in routes {
        let Some(place) = place else {
            continue;
        };
        step.note(rank, place.rank).note(score, place.score);
        if let Some(value) = place.share {
            step.note(share, value);
        }
    }
    if let Some(second) = &hit.second {
        second.note(step);
    }
    step
}

/// What each word of the question gave to a chunk's BM25 score.
pub(crate) fn words(step: &mut TraceStep, words: &Explanation) {
    let held = words.terms.iter().filter(|term| term.count > 0);
    let shares: Vec<String> = held
        .map(|term| {
            format!(
                "{}: {} × in the chunk, in {} of {} chunks, {}",
                term.term, term.count, term.frequency, words.rows, term.share
            )
        })
        .collect();
    step.note("words", shares)
        .note("length", u64::from(words.length))
        .note("average_length", words.average_length);
}
