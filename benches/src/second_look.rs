//! Rerankers side by side: how good their orders are, and how long they take.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cornu_core::ChunkId;
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::metrics::{Gain, Judged, Judgments};
use cornu_eval::significance::{Bootstrap, Scale};
use cornu_rerank::{Candidate, Candidates, Reranked, Reranker, TokenMatrix};

use crate::timing::quantile;

/// A question with what the first stage found for it.
#[derive(Clone)]
pub struct Asked {
    /// The question.
    pub text: String,
    /// The candidates.
    pub found: Vec<Held>,
    /// What answers it, found or not.
    pub gold: BTreeSet<ChunkId>,
}

/// One candidate.
#[derive(Clone)]
pub struct Held {
    /// Which chunk.
    pub id: ChunkId,
    /// What a cross-encoder reads.
    pub text: Arc<str>,
    /// The first stage's score.
    pub score: f64,
    /// Its token vectors.
    pub tokens: Option<Arc<TokenMatrix>>,
}

/// A reranker with its name in the table.
pub struct Strategy {
    /// The name.
    pub name: String,
    /// What is measured.
    pub reranker: Arc<dyn Reranker>,
}

/// What one strategy does with the questions, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quality {
    /// 1 where the first place answers.
    pub top1: Vec<f64>,
    /// nDCG@10.
    pub ndcg10: Vec<f64>,
    /// Candidates that went through the scorer.
    pub scored: Vec<f64>,
}

impl Asked {
    fn candidates(&self) -> Result<Candidates<'_>> {
        Ok(Candidates::new(self.found.iter().map(|held| Candidate {
            tokens: held.tokens.as_deref(),
            ..Candidate::new(held.id, &held.text, held.score)
        }))?)
    }

    /// The candidates in a reranker's order.
    ///
    /// # Errors
    /// A reranker that fails.
    pub fn reranked(&self, reranker: &dyn Reranker) -> Result<Reranked> {
        Ok(reranker.rerank(&self.text, &self.candidates()?)?)
    }
}

/// The order that each strategy gives to each question, judged.
///
/// # Errors
/// A reranker that fails.
pub fn quality(strategies: &[Strategy], questions: &[Asked]) -> Result<Vec<Quality>> {
    let mut all = vec![Quality::default(); strategies.len()];
    for asked in questions {
        let mut judgments = Judgments::new();
        for id in &asked.gold {
            judgments.insert(*id, 1);
        }
        for (strategy, quality) in strategies.iter().zip(&mut all) {
            let reranked = asked.reranked(&*strategy.reranker)?;
            let order: Vec<ChunkId> = reranked.ids().collect();
            let judged = Judged::new(&order, &judgments)?;
            quality.top1.push(judged.hit(1).unwrap_or(0.0));
            quality
                .ndcg10
                .push(judged.ndcg(Some(10), Gain::Linear).unwrap_or(0.0));
            quality.scored.push(reranked.report().scored as f64);
        }
    }
    Ok(all)
}

/// Seconds of each strategy for each of its questions, which are the same for all but for what they
/// hold of the candidates. Every question goes through all strategies before the next one comes,
/// each time beginning with another, so that a slow minute of the machine meets all of them; the
/// first question warms up and is asked again.
///
/// # Errors
/// A reranker that fails; strategies with another number of questions.
pub fn latency(runs: &[(&Strategy, &[Asked])]) -> Result<Vec<Vec<f64>>> {
    let count = runs.first().map_or(0, |(_, questions)| questions.len());
    ensure!(
        runs.iter().all(|(_, questions)| questions.len() == count),
        "strategies are timed on the same questions"
    );
    let mut seconds = vec![Vec::with_capacity(count); runs.len()];
    let rounds = (0..count.min(1)).chain(0..count);
    for (round, question) in rounds.enumerate() {
        for turn in 0..runs.len() {
            let at = (round + turn) % runs.len();
            let (strategy, questions) = runs[at];
            let asked = &questions[question];
            let candidates = asked.candidates()?;
            let start = Instant::now();
            std::hint::black_box(strategy.reranker.rerank(&asked.text, &candidates)?);
            if round > 0 {
                seconds[at].push(start.elapsed().as_secs_f64());
            }
        }
    }
    Ok(seconds)
}

/// Which strategy is what in a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Roles {
    /// Position of the first stage's own order.
    pub first: usize,
    /// Position of the full scorer.
    pub full: usize,
}

/// A row a strategy: means with intervals, and the paired differences in top-1 to the first stage
/// and to the full scorer; *gain kept* is the part of the full scorer's gain in nDCG@10 over the
/// first stage that the strategy has, where there is a gain.
///
/// # Errors
/// No question.
pub fn quality_rows(
    dataset: &str,
    strategies: &[&Strategy],
    measured: &[Quality],
    roles: Roles,
    seed: u64,
) -> Result<Vec<Row>> {
    let rate = Bootstrap {
        seed,
        scale: Scale::Rate,
        ..Bootstrap::default()
    };
    let paired = Bootstrap {
        seed,
        ..Bootstrap::default()
    };
    let of = |at: usize| measured.get(at).context("a strategy was not measured");
    let (first, full) = (of(roles.first)?, of(roles.full)?);
    let gain = mean(&full.ndcg10) - mean(&first.ndcg10);
    let mut rows = Vec::new();
    for (at, (strategy, quality)) in strategies.iter().zip(measured).enumerate() {
        let n = quality.top1.len() as u64;
        ensure!(n > 0, "{dataset}: there is no question");
        let mut row = Row::measured(dataset, strategy.name.as_str());
        let mut put = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
        put("scored", Measure::exact(mean(&quality.scored), "count", n));
        put(
            "top1",
            Measure::of_interval(&rate.mean(&quality.top1)?, "fraction"),
        );
        put(
            "ndcg@10",
            Measure::of_interval(&rate.mean(&quality.ndcg10)?, "fraction"),
        );
        if at != roles.first {
            let difference = paired.mean_difference(&quality.top1, &first.top1)?;
            put(
                "top1_to_first",
                Measure::of_interval(&difference, "difference"),
            );
        }
        if at != roles.full && at != roles.first {
            let difference = paired.mean_difference(&quality.top1, &full.top1)?;
            put(
                "top1_to_full",
                Measure::of_interval(&difference, "difference"),
            );
            if gain > 0.0 {
                let kept = (mean(&quality.ndcg10) - mean(&first.ndcg10)) / gain;
                put("gain_kept", Measure::exact(kept, "ratio", n));
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Adds to a row the median and the 95th percentile of its seconds, questions a second, and how many
/// times as many as the full scorer's in the same run.
pub fn add_latency(row: Option<&mut Row>, own: &[f64], full: Option<&[f64]>) {
    let total: f64 = own.iter().sum();
    let Some(row) = row.filter(|_| total > 0.0) else {
        return;
    };
    let n = own.len() as u64;
    let mut put = |name: &str, value: f64, unit: &str| {
        row.metrics
            .insert(name.to_owned(), Measure::exact(value, unit, n));
    };
    put("p50_ms", 1e3 * quantile(own, 0.50), "ms");
    put("p95_ms", 1e3 * quantile(own, 0.95), "ms");
    put("qps", own.len() as f64 / total, "queries_per_s");
    if let Some(full) = full {
        put("qps_to_full", full.iter().sum::<f64>() / total, "times");
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use cornu_core::{Fingerprint, PairScorer, ProviderError};
    use cornu_rerank::{CascadeOptions, CrossEncoder, ElbowCascade, NoRerank, Scale as Of, Scorer};

    use crate::keeping::KeepingScores;
    use crate::kept::Kept;

    use super::*;

    /// The number that a text is.
    struct Numbers(Fingerprint, AtomicUsize);

    impl PairScorer for Numbers {
        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }
        fn score(&self, _: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
            self.1.fetch_add(documents.len(), Ordering::Relaxed);
            Ok(documents.iter().map(|text| text.parse().unwrap()).collect())
        }
    }

    fn id(at: u8) -> ChunkId {
        ChunkId::from_bytes([at; 32])
    }

    /// Ten candidates; the scorer's best is at `best`, the gold one too.
    fn asked(best: u8) -> Asked {
        let held = |at: u8| Held {
            id: id(at),
            text: Arc::from(if at == best { "9" } else { "1" }),
            score: 1.0 / f64::from(at + 1),
            tokens: None,
        };
        Asked {
            text: format!("which of {best}"),
            found: (0..10).map(held).collect(),
            gold: BTreeSet::from([id(best)]),
        }
    }

    fn strategies(model: &Arc<dyn PairScorer>) -> Vec<Strategy> {
        let scorer = || Scorer::new(Arc::clone(model), Of::Logit);
        let options = CascadeOptions {
            floor: 4,
            ceiling: 4,
            ..CascadeOptions::default()
        };
        let named = |name: &str, reranker: Arc<dyn Reranker>| Strategy {
            name: name.to_owned(),
            reranker,
        };
        vec![
            named("none", Arc::new(NoRerank::new())),
            named("full", Arc::new(CrossEncoder::new(scorer()))),
            named(
                "cascade",
                Arc::new(ElbowCascade::new(scorer(), options).unwrap()),
            ),
        ]
    }

    const ROLES: Roles = Roles { first: 0, full: 1 };

    #[test]
    fn the_figures_are_those_of_the_orders() {
        let numbers = Arc::new(Numbers(Fingerprint::new("n"), AtomicUsize::new(0)));
        let model: Arc<dyn PairScorer> =
            Arc::new(KeepingScores::new(numbers.clone(), Kept::nothing()));
        let strategies = strategies(&model);
        let questions: Vec<Asked> = [0, 2, 3, 8].map(asked).into_iter().collect();
        let measured = quality(&strategies, &questions).unwrap();
        assert_eq!(measured[0].top1, [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(measured[1].top1, [1.0; 4]);
        assert_eq!(measured[2].top1, [1.0, 1.0, 1.0, 0.0]);
        assert_eq!(measured[2].scored, [4.0; 4]);
        // Two texts a question, however many candidates and strategies there are.
        assert_eq!(numbers.1.load(Ordering::Relaxed), 8);
        let rows = quality_rows(
            "set",
            &strategies.iter().collect::<Vec<_>>(),
            &measured,
            ROLES,
            1,
        )
        .unwrap();
        let get = |at: usize, name: &str| rows[at].metrics.get(name).map(|m| m.value);
        assert_eq!(get(0, "top1"), Some(0.25));
        assert_eq!(get(2, "top1_to_first"), Some(0.5));
        assert_eq!(get(2, "top1_to_full"), Some(-0.25));
        assert_eq!(
            (get(0, "top1_to_first"), get(1, "top1_to_full")),
            (None, None)
        );
        let kept = get(2, "gain_kept").unwrap();
        assert!(kept > 0.5 && kept < 1.0, "{kept}");
        assert!(
            quality_rows(
                "set",
                &strategies.iter().collect::<Vec<_>>(),
                &measured[..1],
                ROLES,
                1
            )
            .is_err()
        );
    }

    #[test]
    fn every_strategy_is_timed_on_every_question() {
        let model: Arc<dyn PairScorer> =
            Arc::new(Numbers(Fingerprint::new("n"), AtomicUsize::new(0)));
        let strategies = strategies(&model);
        let questions: Vec<Asked> = [0, 1, 2].map(asked).into_iter().collect();
        let runs: Vec<_> = strategies.iter().map(|one| (one, &questions[..])).collect();
        let seconds = latency(&runs).unwrap();
        assert!(seconds.iter().all(|own| own.len() == 3));
        assert!(latency(&[runs[0], (&strategies[1], &questions[1..])]).is_err());
        let measured = quality(&strategies, &questions).unwrap();
        let mut rows = quality_rows(
            "set",
            &strategies.iter().collect::<Vec<_>>(),
            &measured,
            ROLES,
            1,
        )
        .unwrap();
        let made = [
            vec![0.1, 0.3, 0.2],
            vec![1.0, 1.0, 1.0],
            vec![0.5, 0.5, 0.5],
        ];
        for (row, own) in rows.iter_mut().zip(&made) {
            add_latency(Some(row), own, Some(&made[ROLES.full]));
        }
        add_latency(None, &made[0], None);
        let get = |at: usize, name: &str| rows[at].metrics[name].value;
        assert_eq!((get(0, "p50_ms"), get(0, "p95_ms")), (200.0, 300.0));
        assert_eq!(
            (get(2, "qps"), get(2, "qps_to_full"), get(1, "qps_to_full")),
            (2.0, 2.0, 1.0)
        );
    }
}
