//! How good an order is, and how sure that it is better than the first stage's.

use std::collections::BTreeSet;

use anyhow::Result;
use cornu_core::Ranking;
use cornu_eval::metrics::{Gain, Judged, Judgments};
use cornu_eval::significance::Bootstrap;
use cornu_fuse::{Normalisation, Weighted, convex_fuse};
use serde::{Deserialize, Serialize};

/// One question's figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// 1 where the first place holds a gold passage.
    pub top1: f64,
    /// nDCG@10.
    pub ndcg10: f64,
    /// Recall@5.
    pub recall5: f64,
}

/// A metric before and after reranking, over the same questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Its name.
    pub metric: String,
    /// The first stage's mean.
    pub first_stage: f64,
    /// The reranked mean.
    pub reranked: f64,
    /// Mean difference, and its 95 % interval (BCa bootstrap over questions).
    pub difference: f64,
    /// The interval, where the values have a spread.
    pub interval: Option<(f64, f64)>,
}

impl Figures {
    /// Of a list of passages, best first.
    ///
    /// # Errors
    /// A passage that comes twice.
    pub fn of(order: &[u32], gold: &BTreeSet<u32>) -> Result<Self> {
        let mut judgments = Judgments::new();
        for &id in gold {
            judgments.insert(id, 1);
        }
        let judged = Judged::new(order, &judgments)?;
        Ok(Self {
            top1: judged.hit(1).unwrap_or(0.0),
            ndcg10: judged.ndcg(Some(10), Gain::Linear).unwrap_or(0.0),
            recall5: judged.recall(5).unwrap_or(0.0),
        })
    }
}

/// Compares each metric over paired questions.
///
/// # Errors
/// No questions.
pub fn compare(first: &[Figures], reranked: &[Figures]) -> Result<Vec<Compared>> {
    type Of = fn(&Figures) -> f64;
    let metrics: [(&str, Of); 3] = [
        ("top-1", |figures| figures.top1),
        ("nDCG@10", |figures| figures.ndcg10),
        ("recall@5", |figures| figures.recall5),
    ];
    metrics
        .into_iter()
        .map(|(metric, of)| {
            let before: Vec<f64> = first.iter().map(of).collect();
            let after: Vec<f64> = reranked.iter().map(of).collect();
            let interval = Bootstrap::default().mean_difference(&after, &before)?;
            Ok(Compared {
                metric: metric.to_owned(),
                first_stage: mean(&before),
                reranked: mean(&after),
                difference: interval.mean,
                interval: interval.bounds,
            })
        })
        .collect()
}

/// Candidates in the order of their scores; equal scores keep the first stage's order.
#[must_use]
pub fn reordered(candidates: &[u32], scores: &[f32]) -> Vec<u32> {
    let mut order: Vec<(usize, f32)> = scores.iter().copied().enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let scored = order.into_iter().filter_map(|(at, _)| candidates.get(at));
    let rest = candidates.iter().skip(scores.len());
    scored.chain(rest).copied().collect()
}

/// The first stage's scores and the reranker's, both brought to 0…1 (min-max over the candidates
/// that were scored), their mean; what was not scored follows in its old order.
///
/// # Errors
/// A candidate that comes twice, or a score that is not finite.
pub fn fused(first: &[(u32, f64)], scores: &[f32]) -> Result<Vec<u32>> {
    let (head, rest) = first.split_at(scores.len().min(first.len()));
    let before = Ranking::new(head.iter().copied())?;
    let ids = head.iter().map(|(id, _)| *id);
    let after = Ranking::new(ids.zip(scores.iter().map(|&score| f64::from(score))))?;
    let lists = [Weighted::new(&before, 0.5), Weighted::new(&after, 0.5)];
    let fused = convex_fuse(&lists, &Normalisation::default())?;
    let order = fused.ranking().ids().copied();
    Ok(order.chain(rest.iter().map(|(id, _)| *id)).collect())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_reorder_the_head_alone() {
        assert_eq!(reordered(&[7, 8, 9, 4], &[0.1, 0.3, 0.1]), [8, 7, 9, 4]);
    }

    #[test]
    fn both_scores_count_alike() {
        // 1.0 + 0.0, 0.8 + 1.0, 0.0 + 0.5 over two; the fourth was not scored.
        let first = [(7, 10.0), (8, 9.0), (9, 5.0), (4, 1.0)];
        assert_eq!(fused(&first, &[-3.0, 1.0, -1.0]).unwrap(), [8, 7, 9, 4]);
    }

    #[test]
    fn figures_are_those_of_the_metrics() {
        let figures = Figures::of(&[3, 1, 2], &BTreeSet::from([1, 9])).unwrap();
        assert_eq!((figures.top1, figures.recall5), (0.0, 0.5));
        let best = 1.0 + 1.0 / 3.0_f64.log2();
        assert!((figures.ndcg10 - 1.0 / 3.0_f64.log2() / best).abs() < 1e-12);
    }
}
