//! How often the check of claims flags what is true, and what was planted.

use anyhow::Result;
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::questions::Question;
use cornu_text::Tokenizer;

use crate::live::Live;
use crate::paired::{self, Samples};
use crate::planted::{Kind, bases, is_flagged, plant};
use crate::table::{Bench, Part};

/// Base claims of the quick part.
const QUICK: usize = 20;

/// A row for each kind of claim.
pub(super) fn rows(bench: &Bench<'_>, live: &Live, questions: &[&Question]) -> Result<Vec<Row>> {
    let mut bases = bases(live, questions);
    if bench.part == Part::Quick {
        bases.truncate(QUICK);
    }
    let tokenizer = Tokenizer::new();
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        let planted = (0..bases.len()).filter_map(|at| plant(&bases, at, kind));
        let flagged: Vec<f64> = planted
            .map(|answer| f64::from(u8::from(is_flagged(&tokenizer, &answer))))
            .collect();
        let n = flagged.len() as u64;
        let samples = Samples::from([("flagged", flagged)]);
        let mut row = paired::row("claims", kind.name(), &samples, bench.seed)?;
        row.metrics
            .insert("claims".to_owned(), Measure::exact(n as f64, "count", n));
        rows.push(row);
    }
    Ok(rows)
}
