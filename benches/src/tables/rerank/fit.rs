//! How much a reranker's score should count beside the first stage's, on questions for choices.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use cornu_core::{ChunkId, Ranking};
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::metrics::{Gain, Judged, Judgments};
use cornu_fuse::{DevQuery, FitOptions, FittedAlpha, fit_alpha};

use crate::second_look::{Asked, Strategy};

/// The weight of a grid with the best mean nDCG@10, its interval, and what it gives beside the
/// first stage alone, equal weights and the reranker alone. The strategy must not blend itself.
pub(super) fn row(dataset: &str, alone: &Strategy, questions: &[Asked], seed: u64) -> Result<Row> {
    let fitted = weight(alone, questions, seed)?;
    let n = questions.len() as u64;
    let at = |weight: f64| {
        let tried = fitted.curve.iter();
        let near = |&&(other, _): &&(f64, f64)| (other - weight).abs() < 1e-9;
        let mean = tried.clone().find(near).map(|(_, mean)| *mean);
        mean.with_context(|| format!("the weight {weight} was not tried"))
    };
    let mut row = Row::measured(dataset, alone.name.as_str());
    let mut put = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
    put(
        "weight",
        Measure {
            lo: Some(fitted.interval.0),
            hi: Some(fitted.interval.1),
            ..Measure::exact(fitted.alpha, "weight", n)
        },
    );
    for (name, value) in [
        ("ndcg_first", at(0.0)?),
        ("ndcg_half", at(0.5)?),
        ("ndcg_fitted", fitted.dev_mean),
        ("ndcg_alone", at(1.0)?),
    ] {
        put(name, Measure::exact(value, "fraction", n));
    }
    Ok(row)
}

fn weight(alone: &Strategy, questions: &[Asked], seed: u64) -> Result<FittedAlpha> {
    let mut dev: Vec<DevQuery<ChunkId, &BTreeSet<ChunkId>>> = Vec::new();
    for asked in questions {
        let reranked = asked.reranked(&*alone.reranker)?;
        let first = reranked.entries().iter();
        dev.push(DevQuery {
            dense: reranked.scored(),
            sparse: Ranking::new(first.map(|entry| (entry.id, entry.first_score)))?,
            relevant: &asked.gold,
        });
    }
    let options = FitOptions {
        seed,
        ..FitOptions::default()
    };
    Ok(fit_alpha(&dev, &options, |fused, gold| {
        let mut judgments = Judgments::new();
        for id in *gold {
            judgments.insert(*id, 1);
        }
        let order: Vec<ChunkId> = fused.ids().copied().collect();
        let judged = Judged::new(&order, &judgments);
        let ndcg = judged
            .ok()
            .and_then(|judged| judged.ndcg(Some(10), Gain::Linear));
        ndcg.unwrap_or(0.0)
    })?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cornu_rerank::{Candidates, RerankError, Reranked, Reranker, Scale};

    use super::*;
    use crate::second_look::Held;

    /// The number that a text is.
    struct Numbers(cornu_core::Fingerprint);

    impl Reranker for Numbers {
        fn fingerprint(&self) -> &cornu_core::Fingerprint {
            &self.0
        }
        fn rerank(&self, _: &str, candidates: &Candidates<'_>) -> Result<Reranked, RerankError> {
            let rows = candidates.iter().map(|c| c.text.parse().unwrap());
            Reranked::from_rows(candidates, rows.enumerate(), Scale::Logit)
        }
    }

    #[test]
    fn the_weight_is_that_of_the_better_stage() {
        let id = |at: u8| ChunkId::from_bytes([at; 32]);
        // (first stage's score, reranker's) of three candidates; the second is gold.
        let asked = |scores: [(f64, f64); 3]| Asked {
            text: "?".to_owned(),
            found: (0..)
                .zip(scores)
                .map(|(at, (score, number))| Held {
                    id: id(at),
                    text: Arc::from(number.to_string()),
                    score,
                    tokens: None,
                })
                .collect(),
            gold: BTreeSet::from([id(1)]),
        };
        let alone = Strategy {
            name: "numbers".to_owned(),
            reranker: Arc::new(Numbers(cornu_core::Fingerprint::new("numbers"))),
        };
        let get = |row: &Row, name: &str| row.metrics[name].value;
        // The reranker is right, the first stage wrong by more: only from 0.81 gold comes first.
        let right = asked([(1.0, 0.76), (0.0, 1.0), (0.5, 0.0)]);
        let row = row("dev", &alone, &[right.clone(), right], 1).unwrap();
        assert_eq!((get(&row, "weight"), get(&row, "ndcg_alone")), (0.85, 1.0));
        assert!(get(&row, "ndcg_half") < 1.0 && get(&row, "ndcg_first") == 0.5);
        assert_eq!(get(&row, "ndcg_fitted"), 1.0);
        // Each is right once: the mean finds both.
        let other = asked([(0.9, 0.75), (1.0, 0.8), (0.0, 1.0)]);
        let mixed = [asked([(0.8, 0.1), (0.7, 1.0), (0.0, 0.0)]), other];
        let row = super::row("dev", &alone, &mixed, 1).unwrap();
        assert_eq!(get(&row, "weight"), 0.5);
        let lo = row.metrics["weight"].lo.unwrap();
        assert!(lo <= 0.5 && row.metrics["weight"].hi.unwrap() >= 0.5);
    }
}
