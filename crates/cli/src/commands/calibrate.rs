//! `cornu calibrate`.

use std::fmt::Write;

use anyhow::{Context, Result};
use cornu::eval::questions;
use cornu::{Calibration, Labelled, Rate, Target};

use super::note_grants;
use crate::args::CalibrateArgs;
use crate::output::{self, Outcome, Terminal};

pub(super) fn run(args: &CalibrateArgs, terminal: &Terminal) -> Result<Outcome> {
    let principal = args.asker.principal()?;
    let questions: Vec<Labelled> = questions::read(&args.questions)?
        .into_iter()
        .filter(|question| {
            args.split
                .as_ref()
                .is_none_or(|split| question.split == *split)
        })
        .map(|question| Labelled::new(question.question.as_str(), question.is_answerable()))
        .collect();
    let target = match (args.false_answers, args.false_refusals) {
        (_, Some(rate)) => Target::FalseRefusals(rate),
        (Some(rate), None) => Target::FalseAnswers(rate),
        (None, None) => Target::default(),
    };
    let index = args.model.open(&args.index, None, terminal)?;
    note_grants(&principal, terminal);
    let fitted = index.calibrate(&principal, &set(args), &questions, target)?;
    let path = &args.output;
    let json = serde_json::to_string_pretty(&fitted.threshold)?;
    std::fs::write(path, json + "\n")
        .with_context(|| format!("cannot write the threshold to {}", path.display()))?;
    if args.format.json {
        output::print_json(&fitted)?;
    } else {
        output::print_text(&text(&fitted))?;
    }
    Ok(Outcome::Done)
}

/// The set's name: that of its file, and the split.
fn set(args: &CalibrateArgs) -> String {
    let name = args.questions.file_stem().unwrap_or_default();
    let split = args.split.as_ref().map(|split| format!(" ({split})"));
    name.display().to_string() + &split.unwrap_or_default()
}

fn text(fitted: &Calibration) -> String {
    let percent = |rate: Rate| {
        format!(
            "{:.1} % ({:.1} to {:.1})",
            rate.expected * 100.0,
            rate.low * 100.0,
            rate.high * 100.0
        )
    };
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "threshold       {}", fitted.threshold.value());
    let _ = writeln!(
        out,
        "questions       {} with an answer, {} without",
        fitted.answerable, fitted.unanswerable
    );
    let _ = writeln!(out, "false answers   {}", percent(fitted.false_answers));
    let _ = writeln!(out, "false refusals  {}", percent(fitted.false_refusals));
    for note in &fitted.notes {
        let _ = writeln!(out, "- {note}");
    }
    out
}
