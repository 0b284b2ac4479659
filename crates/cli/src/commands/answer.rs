//! `cornu ask` and `cornu explain`.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use cornu::chunk::html;
use cornu::segment::Relevance;
use cornu::{
    Answer, AnswerRoute, AskOptions, Asked, FoundSegments, LiveRagIndex, Preset, Response,
    SegmentOptions, Threshold, Trace,
};
use serde::Serialize;

use super::{note_grants, short, tables};
use crate::args::{AskArgs, AskRoute, EmbedderArgs, ExplainArgs, RerankArgs, SegmentsArg};
use crate::chat;
use crate::embedder::check_asker;
use crate::output::{self, Outcome, Terminal};

/// The threshold without one, for the hash embedder only: its similarities are those of shared
/// words, so one number fits every corpus about as well, and none fits well.
const BY_HAND: f64 = 0.2;

pub(super) fn ask(args: &AskArgs, terminal: &Terminal) -> Result<Outcome> {
    let principal = args.asker.principal()?;
    check_asker(&args.model.embedder, &principal)?;
    check_route(args.route, &args.model.rerank)?;
    let chat = args.chat.model(&principal)?;
    let index = args.model.open(&args.index, chat, terminal)?;
    let threshold = match &args.threshold {
        Some(given) => threshold(given, &index)?,
        None => default_threshold(&args.model.embedder, &index, terminal)?,
    };
    let options = ask_options(args.route, args.segments, &threshold);
    let asked = index.ask(&principal, &args.question, &threshold, &options)?;
    note_grants(&principal, terminal);
    note_moved(&asked.response, terminal);
    chat::note(&asked.response, terminal);
    if args.format.json {
        output::print_json(&asked)?;
    } else {
        output::print_text(&shown(&asked))?;
    }
    Ok(outcome(&asked))
}

pub(super) fn explain(args: &ExplainArgs, terminal: &Terminal) -> Result<Outcome> {
    let principal = args.asker.principal()?;
    check_route(args.route, &args.model.rerank)?;
    let index = args.model.open(&args.index, None, terminal)?;
    let given = match &args.threshold {
        Some(given) => Some(threshold(given, &index)?),
        None => None,
    };
    let (mut trace, outcome, segments) = match &given {
        Some(threshold) => {
            check_asker(&args.model.embedder, &principal)?;
            let options = ask_options(args.route, args.segments, threshold);
            let asked = index.ask(&principal, &args.question, threshold, &options)?;
            note_moved(&asked.response, terminal);
            let outcome = outcome(&asked);
            (asked.response.trace, outcome, asked.segments)
        }
        None => {
            let (question, k) = (args.question.as_str(), args.k.get());
            let trace = match args.route {
                AskRoute::Dense => index.explain_dense(&principal, question, k),
                AskRoute::Hybrid => index.explain(&principal, question, k),
                AskRoute::Hop => index.explain_hop(&principal, question, k),
                AskRoute::Auto => index.explain_auto(&principal, question, k),
            }?;
            (trace, Outcome::Done, None)
        }
    };
    if let Some(preset) = args.segments.preset() {
        let segments = match segments {
            Some(segments) => segments,
            // Shown of a refusal as well, and where nothing was decided.
            None => {
                let threshold = match given {
                    Some(threshold) => threshold,
                    None => default_threshold(&args.model.embedder, &index, terminal)?,
                };
                let options = segment_options(preset, &threshold);
                index.segments(&principal, &[&args.question], &options)?
            }
        };
        trace.append(segments.trace);
    }
    note_grants(&principal, terminal);
    if args.format.json {
        output::print_json(&Explained { trace: &trace })?;
    } else {
        output::print_text(&trace.to_string())?;
    }
    Ok(outcome)
}

fn check_route(route: AskRoute, rerank: &RerankArgs) -> Result<()> {
    ensure!(
        route == AskRoute::Hybrid || rerank.is_none(),
        "--rerank looks again at what the hybrid search found; leave it out with any other --route"
    );
    Ok(())
}

#[derive(Serialize)]
struct Explained<'a> {
    trace: &'a Trace,
}

/// Tables, and the runs that are asked for.
fn ask_options(route: AskRoute, segments: SegmentsArg, threshold: &Threshold) -> AskOptions {
    let preset = segments.preset();
    AskOptions {
        route: match route {
            AskRoute::Dense => AnswerRoute::Dense,
            AskRoute::Hybrid => AnswerRoute::Hybrid,
            AskRoute::Hop => AnswerRoute::Hop,
            AskRoute::Auto => AnswerRoute::Auto,
        },
        segments: preset.map(|preset| segment_options(preset, threshold)),
        ..AskOptions::default()
    }
}

/// Relevance by the threshold of the answers.
fn segment_options(preset: Preset, threshold: &Threshold) -> SegmentOptions {
    SegmentOptions {
        relevance: Relevance::around(threshold.value()),
        ..SegmentOptions::preset(preset)
    }
}

/// A number, or the file that `calibrate` wrote.
pub(super) fn threshold(given: &str, index: &LiveRagIndex) -> Result<Threshold> {
    if let Ok(value) = given.parse::<f64>() {
        return Ok(Threshold::by_hand(value, index.provider())?);
    }
    let path = Path::new(given);
    let json = std::fs::read_to_string(path)
        .with_context(|| format!("{given} is no number, and no file that can be read"))?;
    serde_json::from_str(&json)
        .with_context(|| format!("{given} holds no threshold; `cornu calibrate` writes one"))
}

pub(super) fn default_threshold(
    embedder: &EmbedderArgs,
    index: &LiveRagIndex,
    terminal: &Terminal,
) -> Result<Threshold> {
    if !embedder.is_hash() {
        bail!(
            "similarities of each model have their own scale; give --threshold, best a file of \
             `cornu calibrate`"
        );
    }
    terminal.note(&format!(
        "nobody fitted the threshold {BY_HAND}; `cornu calibrate` fits one"
    ));
    Ok(Threshold::by_hand(BY_HAND, index.provider())?)
}

fn note_moved(response: &Response, terminal: &Terminal) {
    if response.corpus_moved == Some(true) {
        terminal.note(
            "the threshold was fitted on other documents than the asker sees, so its error rates \
             may not hold; `cornu calibrate` fits it anew",
        );
    }
}

fn outcome(asked: &Asked) -> Outcome {
    match asked.is_answered() {
        true => Outcome::Done,
        false => Outcome::Nothing,
    }
}

/// What the cells say, then the answer, then the runs. A refusal is told only where no cells answer.
fn shown(asked: &Asked) -> String {
    let mut out = tables::text(&asked.tables);
    let outcome = &asked.response.outcome;
    if outcome.refusal().is_none() || asked.tables.is_empty() {
        if !out.is_empty() {
            out.push('\n');
        }
        match outcome.answer() {
            Some(answer) => {
                out.push_str(&chat::degraded(&asked.response));
                out.push_str(&text(answer));
            }
            None => out.push_str(&outcome.to_string()),
        }
    }
    if let Some(segments) = &asked.segments {
        out.push_str(&runs(segments));
    }
    out
}

fn runs(segments: &FoundSegments) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    for (at, run) in segments.runs.iter().enumerate() {
        let _ = write!(out, "\n[S{}] {}", at + 1, run.citation());
        let shown = match html::is_html(&run.doc) {
            true => html::words(&run.text),
            false => run.text.clone(),
        };
        let _ = writeln!(out, " (value {:.3})\n{shown}", run.value);
    }
    out
}

fn text(answer: &Answer) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    for (at, statement) in answer.statements.iter().enumerate() {
        let _ = writeln!(out, "{} [{}]", statement.citation.shown(), at + 1);
    }
    out.push('\n');
    for (at, statement) in answer.statements.iter().enumerate() {
        let id = short(&statement.citation.chunk);
        let _ = writeln!(out, "[{}] {} (chunk {id})", at + 1, statement.citation);
    }
    out
}
