//! `cornu ask` and `cornu explain`.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use cornu::chunk::html;
use cornu::segment::Relevance;
use cornu::store::Access;
use cornu::{
    Answer, FoundSegments, LiveRagIndex, Preset, Principal, RagOptions, Response, SegmentOptions,
    Threshold, Trace,
};
use serde::Serialize;

use super::{note_grants, short};
use crate::args::{AskArgs, EmbedderArgs, ExplainArgs};
use crate::chat;
use crate::embedder::check_asker;
use crate::output::{self, Outcome, Terminal};

/// The threshold without one, for the hash embedder only: its similarities are those of shared
/// words, so one number fits every corpus about as well, and none fits well.
const BY_HAND: f64 = 0.2;

pub(super) fn ask(args: &AskArgs, terminal: &Terminal) -> Result<Outcome> {
    let principal = args.asker.principal()?;
    check_asker(&args.embedder, &principal)?;
    let options = RagOptions {
        chat: args.chat.model(&principal)?,
        ..args.rerank.options(&args.embedder)?
    };
    let index = args
        .embedder
        .open(&args.database, Access::ReadOnly, terminal, options)?;
    let threshold = match &args.threshold {
        Some(given) => threshold(given, &index)?,
        None => default_threshold(&args.embedder, &index, terminal)?,
    };
    let response = index.answer(&principal, &args.question, &threshold)?;
    note_grants(&principal, terminal);
    note_moved(&response, terminal);
    chat::note(&response, terminal);
    // No evidence, no segments.
    let preset = args.segments.preset();
    let segments = match preset.filter(|_| response.outcome.refusal().is_none()) {
        Some(preset) => Some(find(
            &index,
            &principal,
            &args.question,
            preset,
            &threshold,
        )?),
        None => None,
    };
    match (args.format.json, &segments) {
        (true, None) => output::print_json(&response)?,
        (true, Some(segments)) => output::print_json(&WithSegments {
            response: &response,
            segments,
        })?,
        (false, _) => {
            let mut shown = match response.outcome.answer() {
                Some(answer) => chat::degraded(&response) + &text(answer),
                None => response.outcome.to_string(),
            };
            if let Some(segments) = &segments {
                shown.push_str(&runs(segments));
            }
            output::print_text(&shown)?;
        }
    }
    Ok(outcome(&response))
}

pub(super) fn explain(args: &ExplainArgs, terminal: &Terminal) -> Result<Outcome> {
    let principal = args.asker.principal()?;
    let options = args.rerank.options(&args.embedder)?;
    let index = args
        .embedder
        .open(&args.database, Access::ReadOnly, terminal, options)?;
    let (mut trace, outcome) = match &args.threshold {
        Some(given) => {
            check_asker(&args.embedder, &principal)?;
            let threshold = threshold(given, &index)?;
            let response = index.answer(&principal, &args.question, &threshold)?;
            note_moved(&response, terminal);
            let outcome = outcome(&response);
            (response.trace, outcome)
        }
        None => {
            let trace = index.explain(&principal, &args.question, args.k.get())?;
            (trace, Outcome::Done)
        }
    };
    if let Some(preset) = args.segments.preset() {
        let threshold = match &args.threshold {
            Some(given) => threshold(given, &index)?,
            None => default_threshold(&args.embedder, &index, terminal)?,
        };
        let found = find(&index, &principal, &args.question, preset, &threshold)?;
        trace.append(found.trace);
    }
    note_grants(&principal, terminal);
    if args.format.json {
        output::print_json(&Explained { trace: &trace })?;
    } else {
        output::print_text(&trace.to_string())?;
    }
    Ok(outcome)
}

#[derive(Serialize)]
struct Explained<'a> {
    trace: &'a Trace,
}

/// What `ask` gives as JSON with `--segments`.
#[derive(Serialize)]
struct WithSegments<'a> {
    #[serde(flatten)]
    response: &'a Response,
    segments: &'a FoundSegments,
}

/// The runs for a question; relevance by the threshold of its answers.
fn find(
    index: &LiveRagIndex,
    principal: &Principal,
    question: &str,
    preset: Preset,
    threshold: &Threshold,
) -> Result<FoundSegments> {
    let options = SegmentOptions {
        relevance: Relevance::around(threshold.value()),
        ..SegmentOptions::preset(preset)
    };
    Ok(index.segments(principal, &[question], &options)?)
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

fn outcome(response: &Response) -> Outcome {
    match response.outcome.refusal() {
        None => Outcome::Done,
        Some(_) => Outcome::Nothing,
    }
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
