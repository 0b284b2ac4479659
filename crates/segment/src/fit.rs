//! A calibration from scores of which it is known whether they were right.

use cornu_core::Fingerprint;

use crate::error::SegmentError;
use crate::relevance::Relevance;

/// A relevance that was fitted, with what it was fitted on. It belongs to one scorer: another one's
/// scores have another scale.
///
/// ```
/// use cornu_core::Fingerprint;
/// use cornu_segment::fit_logistic;
///
/// let scored = [(3.0, true), (2.0, true), (1.0, false), (1.5, true), (-2.0, false)];
/// let fitted = fit_logistic(&scored, &Fingerprint::new("a reranker"))?;
/// assert_eq!((fitted.relevant, fitted.others), (3, 2));
/// let of = |score| fitted.relevance.of(score).unwrap();
/// assert!(of(3.0) > 0.6 && of(-2.0) < 0.2 && of(2.0) > of(1.0));
/// # Ok::<(), cornu_segment::SegmentError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Calibrated {
    /// Always [`Relevance::Logistic`].
    pub relevance: Relevance,
    /// The model whose scores it was fitted on.
    pub scorer: Fingerprint,
    /// How many of the scores were of relevant texts.
    pub relevant: usize,
    /// How many were of others.
    pub others: usize,
    /// Mean negative log likelihood of the labels under the fit, in nats.
    pub loss: f64,
}

/// Fits [`Relevance::Logistic`] to labelled scores: Platt's scaling, with his smoothed targets
/// (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2), so that separable scores give a finite slope, by Newton's
/// method with halved steps (Platt 1999; Lin, Lin and Weng 2007).
///
/// O(n) time a step, some ten steps. Deterministic: sums in the order of the input.
///
/// # Errors
/// [`SegmentError::NothingToFit`] unless there is a finite score of each kind;
/// [`SegmentError::Option`] when larger scores go with texts that are *not* relevant.
pub fn fit_logistic(
    scored: &[(f64, bool)],
    scorer: &Fingerprint,
) -> Result<Calibrated, SegmentError> {
    let finite = |relevant: bool| {
        let of_kind = scored.iter().filter(|(_, label)| *label == relevant);
        of_kind.filter(|(score, _)| score.is_finite()).count()
    };
    let (positives, negatives) = (finite(true), finite(false));
    if positives == 0 || negatives == 0 || positives + negatives < scored.len() {
        return Err(SegmentError::NothingToFit {
            positives,
            negatives,
        });
    }
    let data = Data::new(scored, positives, negatives);
    let (slope, intercept) = data.fit();
    let relevance = Relevance::Logistic {
        slope: slope / data.scale,
        intercept: intercept - slope * data.centre / data.scale,
    };
    relevance.check()?;
    Ok(Calibrated {
        relevance,
        scorer: scorer.clone(),
        relevant: positives,
        others: negatives,
        loss: data.loss(slope, intercept) / scored.len() as f64,
    })
}

/// Scores with mean 0 and deviation 1, so that one step rule fits all scales.
struct Data {
    points: Vec<(f64, f64)>,
    centre: f64,
    scale: f64,
}

impl Data {
    fn new(scored: &[(f64, bool)], positives: usize, negatives: usize) -> Self {
        let count = scored.len() as f64;
        let centre = scored.iter().map(|(score, _)| score).sum::<f64>() / count;
        let variance = scored
            .iter()
            .map(|(score, _)| (score - centre) * (score - centre))
            .sum::<f64>()
            / count;
        let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let high = (positives as f64 + 1.0) / (positives as f64 + 2.0);
        let low = 1.0 / (negatives as f64 + 2.0);
        let points = scored
            .iter()
            .map(|(score, label)| ((score - centre) / scale, if *label { high } else { low }))
            .collect();
        Self {
            points,
            centre,
            scale,
        }
    }

    fn fit(&self) -> (f64, f64) {
        const STEPS: usize = 100;
        const RIDGE: f64 = 1e-12;
        let (mut slope, mut intercept) = (0.0, 0.0);
        let mut loss = self.loss(slope, intercept);
        for _ in 0..STEPS {
            let (mut g0, mut g1, mut h00, mut h01, mut h11) = (0.0, 0.0, RIDGE, 0.0, RIDGE);
            for &(x, target) in &self.points {
                let p = 1.0 / (1.0 + libm::exp(-(slope * x + intercept)));
                let weight = p * (1.0 - p);
                g0 += (p - target) * x;
                g1 += p - target;
                h00 += weight * x * x;
                h01 += weight * x;
                h11 += weight;
            }
            if g0.abs().max(g1.abs()) < 1e-10 {
                break;
            }
            let determinant = h00 * h11 - h01 * h01;
            let (ds, di) = (
                -(h11 * g0 - h01 * g1) / determinant,
                -(h00 * g1 - h01 * g0) / determinant,
            );
            let mut step = 1.0;
            let next = loop {
                let next = self.loss(slope + step * ds, intercept + step * di);
                if next < loss || step < 1e-10 {
                    break next;
                }
                step /= 2.0;
            };
            if next >= loss || next.is_nan() {
                break;
            }
            (slope, intercept, loss) = (slope + step * ds, intercept + step * di, next);
        }
        (slope, intercept)
    }

    /// Cross entropy, in a form that does not overflow.
    fn loss(&self, slope: f64, intercept: f64) -> f64 {
        let one = |&(x, target): &(f64, f64)| {
            let z = slope * x + intercept;
            let softplus = z.max(0.0) + libm::log1p(libm::exp(-z.abs()));
            softplus - target * z
        };
        self.points.iter().map(one).sum()
    }
}
