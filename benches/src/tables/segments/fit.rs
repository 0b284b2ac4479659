//! How sharply runs tell relevant chunks from others, and what the others cost: fitted on dev.

use anyhow::{Context, Result};
use cornu::segment::{Mode, Relevance, SegmentOptions};
use cornu_eval::questions::Question;

use super::measure::recall;
use super::systems::{System, Way};
use super::world::{Build, Indexed, World};

/// The budget at which the fit is judged.
const BUDGET: usize = 1000;
/// Half the width of the cosines from relevance 0 to 1; `None`, as the program has it, is all the
/// room there is.
const WIDTHS: [Option<f64>; 3] = [None, Some(0.1), Some(0.05)];
/// What a chunk costs; the preset's first.
const PENALTIES: [f64; 5] = [0.18, 0.05, 0.1, 0.3, 0.5];

/// A choice of the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub(super) width: Option<f64>,
    pub(super) penalty: f64,
}

impl Shape {
    pub(super) fn options(&self, indexed: &Indexed, budget: usize) -> SegmentOptions {
        let plain = indexed.options(Mode::Clean, budget);
        let threshold = indexed.fitted.threshold.value();
        let relevance = match self.width {
            None => plain.relevance,
            Some(width) => Relevance::Linear {
                zero: threshold - width,
                one: threshold + width,
            },
        };
        SegmentOptions {
            relevance,
            irrelevant_chunk_penalty: self.penalty,
            ..plain
        }
    }
}

/// What was fitted, and on how much.
pub(super) struct Fitted {
    pub(super) shape: Shape,
    /// Of the dev questions, before and after.
    pub(super) preset: f64,
    pub(super) best: f64,
    pub(super) questions: usize,
}

/// The choice with the best mean recall within the budget over the answerable dev questions of both
/// sets; of equal ones the first.
pub(super) fn fit(world: &World) -> Result<Fitted> {
    let dev: Vec<&Question> = world
        .segments
        .iter()
        .chain(&world.ext)
        .filter(|question| question.split == "dev" && question.is_answerable())
        .collect();
    let mut tried: Vec<(Shape, f64)> = Vec::new();
    for width in WIDTHS {
        for penalty in PENALTIES {
            let shape = Shape { width, penalty };
            let system = System {
                name: "tried",
                build: Build::Plain,
                way: Way::Shaped(shape),
            };
            let mut sum = 0.0;
            for question in &dev {
                sum += recall(world, &system, question, BUDGET)?;
            }
            tried.push((shape, sum / dev.len().max(1) as f64));
        }
    }
    let &(_, preset) = tried.first().context("a grid")?;
    let mut best = (tried.first().context("a grid")?.0, preset);
    for &(shape, mean) in &tried {
        if mean > best.1 {
            best = (shape, mean);
        }
    }
    Ok(Fitted {
        shape: best.0,
        preset,
        best: best.1,
        questions: dev.len(),
    })
}
