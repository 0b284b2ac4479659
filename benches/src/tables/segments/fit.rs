//! What a run costs, how fast relevance falls with rank, how sharply it tells relevant chunks from
//! others, and what the others cost: fitted on dev.

use anyhow::Result;
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
/// What a run costs and is worth at least; the preset's first.
const PRICES: [f64; 4] = [0.5, 0.1, 0.02, 0.0];
/// How slowly relevance falls with rank; the preset's first.
const DECAYS: [f64; 2] = [30.0, 5.0];

/// A choice of the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub(super) width: Option<f64>,
    pub(super) penalty: f64,
    pub(super) price: f64,
    pub(super) decay: f64,
}

/// The preset, on the program's relevance.
const PRESET: Shape = Shape {
    width: WIDTHS[0],
    penalty: PENALTIES[0],
    price: PRICES[0],
    decay: DECAYS[0],
};

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
            minimum_value: self.price,
            segment_price: Some(self.price),
            decay_rate: self.decay,
            ..plain
        }
    }
}

/// What was fitted, and on how much.
pub(super) struct Fitted {
    pub(super) shape: Shape,
    /// Of the dev questions: single chunks, the preset, the best.
    pub(super) chunks: f64,
    pub(super) preset: f64,
    pub(super) best: f64,
    pub(super) questions: usize,
}

/// The choice with the best mean recall within the budget over the answerable dev questions of both
/// sets: first price and decay, then width and penalty; of equal ones the first.
pub(super) fn fit(world: &World) -> Result<Fitted> {
    let dev: Vec<&Question> = world
        .segments
        .iter()
        .chain(&world.ext)
        .filter(|question| question.split == "dev" && question.is_answerable())
        .collect();
    let mean = |way: Way| -> Result<f64> {
        let system = System {
            name: "tried",
            build: Build::Plain,
            way,
        };
        let mut sum = 0.0;
        for question in &dev {
            sum += recall(world, &system, question, BUDGET)?;
        }
        Ok(sum / dev.len().max(1) as f64)
    };
    let (shape, recall) = search(|shape| mean(Way::Shaped(shape)))?;
    Ok(Fitted {
        shape,
        chunks: mean(Way::TopK)?,
        preset: mean(Way::Runs(Mode::Clean))?,
        best: recall,
        questions: dev.len(),
    })
}

/// The shape of the greatest recall: price and decay first, then width and penalty.
fn search(recall: impl Fn(Shape) -> Result<f64>) -> Result<(Shape, f64)> {
    let better = |mut best: (Shape, f64), shapes: Vec<Shape>| -> Result<(Shape, f64)> {
        // The first of them is the best so far.
        for shape in shapes.into_iter().skip(1) {
            let recall = recall(shape)?;
            if recall > best.1 {
                best = (shape, recall);
            }
        }
        Ok(best)
    };
    let runs = PRICES.into_iter().flat_map(|price| {
        DECAYS.map(|decay| Shape {
            price,
            decay,
            ..PRESET
        })
    });
    let best = better((PRESET, recall(PRESET)?), runs.collect())?;
    let others = WIDTHS.into_iter().flat_map(|width| {
        PENALTIES.map(|penalty| Shape {
            width,
            penalty,
            ..best.0
        })
    });
    better(best, others.collect())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn each_shape_is_tried_once_and_the_first_of_the_best_is_taken() {
        let peak = Shape {
            width: Some(0.05),
            penalty: 0.3,
            price: 0.02,
            decay: 5.0,
        };
        let tried = RefCell::new(Vec::new());
        let alike = |shape: Shape| {
            tried.borrow_mut().push(shape);
            let same = [
                shape.price == peak.price,
                shape.decay == peak.decay,
                shape.width == peak.width,
                shape.penalty == peak.penalty,
            ];
            Ok(same.iter().filter(|same| **same).count() as f64)
        };
        assert_eq!(search(alike).unwrap(), (peak, 4.0));
        let tried = tried.into_inner();
        assert_eq!(tried.len(), 8 + 15 - 1);
        for (at, shape) in tried.iter().enumerate() {
            assert!(!tried[..at].contains(shape), "{shape:?}");
        }
        assert_eq!(search(|_| Ok(0.5)).unwrap(), (PRESET, 0.5));
        assert!(search(|_| anyhow::bail!("a search that fails")).is_err());
    }
}
