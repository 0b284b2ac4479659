//! As many candidates through a cross-encoder as the first stage's scores are worth.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cornu_core::Fingerprint;

use crate::blend::Blend;
use crate::candidate::{Candidate, Candidates};
use crate::clock::{Clock, SystemClock};
use crate::cost::PairCost;
use crate::cross::Scorer;
use crate::elbow::elbow;
use crate::error::RerankError;
use crate::reranked::{Draft, Reranked, Unscored};
use crate::reranker::Reranker;
use crate::score::Score;

/// A cross-encoder over the candidates above the [elbow] of the first stage's scores; below it the
/// first stage's order stays.
///
/// Optionally within a latency budget, and optionally leaving early when the top is decided. The
/// result says how many candidates were scored, and for each other one why it was not.
///
/// Without an [enforced](Budget::enforced) budget the result is a function of its input. With one
/// it also depends on how fast the machine happens to be.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::{ChunkId, Fingerprint, PairScorer, ProviderError};
/// use cornu_rerank::{Candidate, Candidates, CascadeOptions, ElbowCascade, Reranker, Scale, Scorer, Unscored};
///
/// # struct Shares(Fingerprint);
/// # impl PairScorer for Shares {
/// #     fn fingerprint(&self) -> &Fingerprint { &self.0 }
/// #     fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
/// #         Ok(documents.iter().map(|d| d.matches(query).count() as f32).collect())
/// #     }
/// # }
/// # let model = Arc::new(Shares(Fingerprint::new("shares")));
/// let options = CascadeOptions { floor: 1, ceiling: 3, ..CascadeOptions::default() };
/// let cascade = ElbowCascade::new(Scorer::new(model, Scale::Logit), options)?;
///
/// let id = |byte| ChunkId::from_bytes([byte; 32]);
/// let found = [("a fruit", 0.9), ("a slope", 0.8), ("the slope of a slope", 0.2)];
/// let found = found.iter().zip(1..).map(|(&(text, score), at)| Candidate::new(id(at), text, score));
/// let reranked = cascade.rerank("slope", &Candidates::new(found)?)?;
/// assert_eq!(reranked.ids().collect::<Vec<_>>(), [id(2), id(1), id(3)]);
/// assert_eq!(reranked.entries()[2].outcome.unscored(), Some(Unscored::BelowCut));
/// # Ok::<(), cornu_rerank::RerankError>(())
/// ```
pub struct ElbowCascade {
    scorer: Scorer,
    options: CascadeOptions,
    clock: Arc<dyn Clock>,
    fingerprint: Fingerprint,
}

/// What has a default in a cascade.
///
/// The defaults send 8 to 16 candidates, about a quarter of the usual 50. Where the cut should
/// fall is a fitted number of the first stage and the model; fit it on questions of your own.
///
/// ```
/// let options = cornu_rerank::CascadeOptions::default();
/// assert!(options.floor <= options.ceiling && options.check().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CascadeOptions {
    /// The least number of candidates to score, where there are as many. Default 8.
    pub floor: usize,
    /// The largest. Default 16.
    pub ceiling: usize,
    /// What a relative drop has to exceed to be an elbow. Default 0.
    pub least_drop: f64,
    /// How many candidates go into one call of the scorer, where the cascade may stop between two.
    /// Default 4.
    pub batch: usize,
    /// A bound on the time. Default: none.
    pub budget: Option<Budget>,
    /// Whether to stop before the cut. Default: no.
    pub early_exit: Option<EarlyExit>,
    /// Whether what was scored stands in the order of both stages' scores. Default: no, in that of
    /// the scorer's alone, by which an early exit is decided in either case.
    pub blend: Option<Blend>,
}

/// A bound on the time of one reranking.
///
/// ```
/// use std::time::Duration;
/// use cornu_rerank::{Budget, PairCost};
///
/// let cost = PairCost { pair: Duration::from_millis(4), kib: Duration::ZERO };
/// let budget = Budget::planned(Duration::from_millis(50), cost);
/// assert!(!budget.enforced && budget.enforced().enforced);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How long a reranking may take.
    pub limit: Duration,
    /// What a pair is expected to cost, calibrated on the machine.
    pub cost: PairCost,
    /// Whether the clock is watched as well, between calls of the scorer.
    pub enforced: bool,
}

/// When the top counts as decided: its last place leads the next by a margin, and the latest
/// candidates have not changed it. A cross-encoder gives no bound for what it has not scored, so
/// this is a rule of thumb with fitted numbers, not a proof.
///
/// ```
/// let exit = cornu_rerank::EarlyExit { top: 1, margin: 2.0, patience: 4 };
/// assert!(exit.decided(&[5.0, 1.0, 0.5, 2.0, -1.0]));
/// assert!(!exit.decided(&[1.0, 0.5, 2.0, -1.0, 5.0]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlyExit {
    /// How many places are the top.
    pub top: usize,
    /// By how much the last of them leads the next, on the scorer's scale.
    pub margin: f64,
    /// How many of the latest scored candidates have to stand below the top.
    pub patience: usize,
}

impl Budget {
    /// A budget by which the number of pairs is planned before the first is scored: with the same
    /// cost the same number, on any machine.
    #[must_use]
    pub fn planned(limit: Duration, cost: PairCost) -> Self {
        Self {
            limit,
            cost,
            enforced: false,
        }
    }

    /// The same, watched by the clock: the cascade also stops before a call that, by the cost and
    /// by how the calls so far compared with it, would not end in time.
    #[must_use]
    pub fn enforced(self) -> Self {
        Self {
            enforced: true,
            ..self
        }
    }

    /// How many of the candidates fit into a time.
    fn fitting(
        &self,
        query: &str,
        candidates: &[Candidate<'_>],
        time: Duration,
        slowness: f64,
    ) -> usize {
        let mut spent = Duration::ZERO;
        let within = candidates.iter().take_while(|candidate| {
            let pair = self.predict(query, candidate);
            spent = spent.saturating_add(pair);
            spent.as_secs_f64() * slowness <= time.as_secs_f64()
        });
        within.count()
    }

    fn predict(&self, query: &str, candidate: &Candidate<'_>) -> Duration {
        self.cost.predict(query.len() + candidate.text.len())
    }
}

impl EarlyExit {
    /// Whether the top is decided by these scores, which came in this order. O(n log n).
    #[must_use]
    pub fn decided(&self, scores: &[f64]) -> bool {
        let mut sorted = scores.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let (Some(&last), Some(&next)) =
            (sorted.get(self.top.wrapping_sub(1)), sorted.get(self.top))
        else {
            return false;
        };
        let Some(settled) = scores.len().checked_sub(self.patience) else {
            return false;
        };
        let latest = scores.get(settled..).unwrap_or_default();
        last - next >= self.margin && latest.iter().all(|&score| score < last)
    }
}

impl Default for CascadeOptions {
    fn default() -> Self {
        Self {
            floor: 8,
            ceiling: 16,
            least_drop: 0.0,
            batch: 4,
            budget: None,
            early_exit: None,
            blend: None,
        }
    }
}

impl CascadeOptions {
    /// Whether the options agree with one another.
    ///
    /// # Errors
    /// [`RerankError::Options`] for a floor of 0 or above the ceiling, a batch of 0, a drop or a
    /// margin that is negative or NaN, a top of 0.
    pub fn check(&self) -> Result<(), RerankError> {
        let problem = if self.floor == 0 || self.floor > self.ceiling {
            format!(
                "a cascade needs 1 <= floor <= ceiling, not {} and {}",
                self.floor, self.ceiling
            )
        } else if self.batch == 0 {
            "a cascade cannot score in batches of 0; give at least 1".to_owned()
        } else if !is_amount(self.least_drop) {
            format!(
                "the least drop is {}; give a number of at least 0",
                self.least_drop
            )
        } else if self
            .early_exit
            .is_some_and(|exit| exit.top == 0 || !is_amount(exit.margin))
        {
            "an early exit needs a top of at least 1 and a margin of at least 0".to_owned()
        } else {
            return Ok(());
        };
        Err(RerankError::Options { problem })
    }
}

impl ElbowCascade {
    /// A cascade.
    ///
    /// # Errors
    /// As [`CascadeOptions::check`].
    pub fn new(scorer: Scorer, options: CascadeOptions) -> Result<Self, RerankError> {
        options.check()?;
        let mut fingerprint = scorer
            .fingerprint()
            .with("rerank", "cascade")
            .with("rerank.floor", options.floor)
            .with("rerank.ceiling", options.ceiling)
            .with("rerank.least_drop", options.least_drop);
        if let Some(budget) = options.budget {
            fingerprint = fingerprint
                .with("rerank.budget_ns", budget.limit.as_nanos())
                .with("rerank.pair_ns", budget.cost.pair.as_nanos())
                .with("rerank.kib_ns", budget.cost.kib.as_nanos())
                .with("rerank.enforced", budget.enforced);
        }
        if let Some(exit) = options.early_exit {
            fingerprint = fingerprint.with(
                "rerank.exit",
                format!("{}/{}/{}", exit.top, exit.margin, exit.patience),
            );
        }
        if let Some(blend) = options.blend {
            fingerprint = fingerprint.with("rerank.blend", blend.weight());
        }
        // Between two batches a cascade may stop.
        if options.early_exit.is_some() || options.budget.is_some_and(|budget| budget.enforced) {
            fingerprint = fingerprint.with("rerank.batch", options.batch);
        }
        Ok(Self {
            scorer,
            options,
            clock: Arc::new(SystemClock::new()),
            fingerprint,
        })
    }

    /// Another clock, for the report and the budget.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// How the cascade was made.
    #[must_use]
    pub fn options(&self) -> &CascadeOptions {
        &self.options
    }
}

impl Reranker for ElbowCascade {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn rerank(&self, query: &str, candidates: &Candidates<'_>) -> Result<Reranked, RerankError> {
        let start = self.clock.now();
        let options = &self.options;
        let mut draft = Draft::new(candidates, Unscored::BelowCut).blended(options.blend);
        if candidates.is_empty() {
            return Ok(draft.finish(Duration::ZERO));
        }
        let scores: Vec<f64> = candidates.iter().map(|candidate| candidate.score).collect();
        let cut = elbow(&scores, options.floor, options.ceiling, options.least_drop);
        let above = candidates.as_slice().get(..cut.at).unwrap_or_default();
        let planned = options
            .budget
            .map(|budget| budget.fitting(query, above, budget.limit, 1.0));
        draft.report.cut = Some(cut);
        draft.report.planned = planned;

        let end = planned.unwrap_or(cut.at);
        let mut stop = Unscored::BudgetSpent;
        let mut done = 0;
        let mut predicted = Duration::ZERO;
        let watched = options.budget.filter(|budget| budget.enforced);
        while done < end {
            let mut next = end;
            if watched.is_some() || options.early_exit.is_some() {
                next = next.min(done.saturating_add(options.batch));
            }
            let batch = above.get(done..next).unwrap_or_default();
            if let Some(budget) = watched {
                let elapsed = self.clock.now().saturating_sub(start);
                let slowness = slowness(elapsed, predicted);
                let left = budget.limit.saturating_sub(elapsed);
                let fitting = budget.fitting(query, batch, left, slowness);
                if fitting == 0 {
                    break;
                }
                next = done + fitting;
                let batch = batch.iter().take(fitting);
                predicted = batch
                    .map(|one| budget.predict(query, one))
                    .fold(predicted, Duration::saturating_add);
            }
            self.scorer
                .score(query, candidates, done..next, &mut draft)?;
            done = next;
            if let Some(exit) = options.early_exit {
                let scores: Vec<f64> = draft.scores().map(Score::value).collect();
                if done < end && exit.decided(&scores) {
                    stop = Unscored::TopDecided;
                    break;
                }
            }
        }
        draft.leave(done, end, stop);
        draft.leave(end, cut.at, Unscored::BudgetSpent);
        Ok(draft.finish(self.clock.now().saturating_sub(start)))
    }
}

/// A number of at least 0: not negative, not NaN.
fn is_amount(x: f64) -> bool {
    x >= 0.0
}

/// By which factor the calls so far took longer than predicted; never below 1, so that a quick
/// start does not promise a quick end.
fn slowness(elapsed: Duration, predicted: Duration) -> f64 {
    if predicted.is_zero() {
        return 1.0;
    }
    (elapsed.as_secs_f64() / predicted.as_secs_f64()).max(1.0)
}

impl fmt::Debug for ElbowCascade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElbowCascade")
            .field("scorer", &self.scorer)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
