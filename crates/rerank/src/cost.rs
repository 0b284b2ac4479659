//! What scoring a pair costs.

use std::time::Duration;

use cornu_core::PairScorer;

use crate::clock::Clock;
use crate::error::RerankError;

/// An estimate of the time that a cross-encoder takes for one pair: a part for the pair, and a part
/// for each KiB of query and document together.
///
/// ```
/// use std::time::Duration;
/// use cornu_rerank::PairCost;
///
/// let cost = PairCost { pair: Duration::from_millis(2), kib: Duration::from_millis(4) };
/// assert_eq!(cost.predict(512), Duration::from_millis(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairCost {
    /// For each pair.
    pub pair: Duration,
    /// For each 1024 bytes of the pair.
    pub kib: Duration,
}

impl PairCost {
    /// Measures a scorer: every document alone, `rounds` times in turn, the median of each, and a
    /// line through the medians by least squares with no negative part.
    ///
    /// Pairs scored together are usually cheaper than alone, so the estimate errs on the slow side.
    /// Give documents of the lengths that will come; one length gives a constant.
    ///
    /// # Errors
    /// What the scorer gives, and [`RerankError::Options`] without documents or rounds.
    pub fn calibrate(
        scorer: &dyn PairScorer,
        query: &str,
        documents: &[&str],
        rounds: usize,
        clock: &dyn Clock,
    ) -> Result<Self, RerankError> {
        if documents.is_empty() || rounds == 0 {
            return Err(RerankError::Options {
                problem: "a calibration needs at least one document and one round".to_owned(),
            });
        }
        let mut times = vec![Vec::with_capacity(rounds); documents.len()];
        for _ in 0..rounds {
            for (document, times) in documents.iter().zip(&mut times) {
                let start = clock.now();
                scorer.score(query, &[document])?;
                times.push(clock.now().saturating_sub(start).as_secs_f64());
            }
        }
        let points = documents.iter().zip(times).map(|(document, mut times)| {
            times.sort_by(f64::total_cmp);
            let median = times.get(times.len() / 2).copied().unwrap_or_default();
            ((query.len() + document.len()) as f64 / 1024.0, median)
        });
        Ok(Self::through(&points.collect::<Vec<_>>()))
    }

    /// The estimate for a pair of so many bytes.
    #[must_use]
    pub fn predict(&self, bytes: usize) -> Duration {
        self.pair
            .saturating_add(seconds(self.kib.as_secs_f64() * bytes as f64 / 1024.0))
    }

    /// The line with the least squares among those without a negative part.
    fn through(points: &[(f64, f64)]) -> Self {
        let n = points.len() as f64;
        let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
        let (x, y) = (sum(&|p| p.0) / n, sum(&|p| p.1) / n);
        let spread = sum(&|p| (p.0 - x) * (p.0 - x));
        let slope = match spread > 0.0 {
            true => (sum(&|p| (p.0 - x) * (p.1 - y)) / spread).max(0.0),
            false => 0.0,
        };
        let base = y - slope * x;
        if base >= 0.0 {
            return Self {
                pair: seconds(base),
                kib: seconds(slope),
            };
        }
        // Through the origin: x is positive here, since the slope is.
        let slope = sum(&|p| p.0 * p.1) / sum(&|p| p.0 * p.0);
        Self {
            pair: Duration::ZERO,
            kib: seconds(slope),
        }
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
