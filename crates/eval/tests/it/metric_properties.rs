//! What holds of the metrics for any judgments and any lists.

use std::collections::BTreeMap;

use cornu_eval::metrics::{Gain, Judged, Judgments, Metric, Qrels, Run, evaluate};
use cornu_eval::significance::Bootstrap;
use proptest::prelude::*;

fn judgments() -> impl Strategy<Value = BTreeMap<u8, u8>> {
    prop::collection::btree_map(0_u8..30, 0_u8..4, 0..15)
}

/// A list of distinct documents, some of them never judged.
fn ranked() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::hash_set(0_u8..40, 0..25)
        .prop_map(|set| {
            let mut list: Vec<u8> = set.into_iter().collect();
            list.sort_unstable();
            list
        })
        .prop_shuffle()
}

fn metrics(k: usize) -> Vec<Metric> {
    let mut metrics = vec![
        Metric::Recall(k),
        Metric::CappedRecall(k),
        Metric::Hit(k),
        Metric::Precision(k),
        Metric::RPrecision,
    ];
    for cut in [None, Some(k)] {
        metrics.extend([Metric::Mrr(cut), Metric::Map(cut)]);
        metrics.extend([Gain::Linear, Gain::Exponential].map(|gain| Metric::Ndcg(cut, gain)));
    }
    metrics
}

fn judged(ranked: &[u8], grades: &BTreeMap<u8, u8>) -> Judged {
    let judgments: Judgments<u8> = grades.iter().map(|(&d, &g)| (d, g)).collect();
    Judged::new(ranked, &judgments).unwrap()
}

proptest! {
    #[test]
    fn values_lie_between_0_and_1(grades in judgments(), ranked in ranked(), k in 0_usize..30) {
        let judged = judged(&ranked, &grades);
        for metric in metrics(k) {
            match metric.of(&judged) {
                Some(value) => {
                    prop_assert!((0.0..=1.0).contains(&value), "{metric}: {value}");
                    prop_assert!(value.is_sign_positive(), "{metric} is -0");
                }
                None => prop_assert_eq!(judged.relevant(), 0),
            }
        }
    }

    #[test]
    fn recall_and_hit_rise_with_k(grades in judgments(), ranked in ranked(), k in 0_usize..30) {
        let judged = judged(&ranked, &grades);
        for of in [Judged::recall, Judged::hit] {
            prop_assert!(of(&judged, k) <= of(&judged, k + 1));
        }
        prop_assert!(judged.reciprocal_rank(Some(k)) <= judged.reciprocal_rank(Some(k + 1)));
        prop_assert!(judged.average_precision(Some(k)) <= judged.average_precision(Some(k + 1)));
    }

    #[test]
    fn irrelevant_documents_at_the_end_change_nothing(
        grades in judgments(), ranked in ranked(), more in 1_u8..20, k in 1_usize..30,
    ) {
        let mut longer = ranked.clone();
        longer.extend(100..100 + more);
        let (short, long) = (judged(&ranked, &grades), judged(&longer, &grades));
        for metric in metrics(k) {
            prop_assert_eq!(metric.of(&short), metric.of(&long));
        }
    }

    /// Moving a better document before a worse one never lowers a metric.
    #[test]
    fn a_better_order_is_not_worse(grades in judgments(), ranked in ranked(), k in 1_usize..30) {
        let grade = |document: &u8| grades.get(document).copied().unwrap_or(0);
        let before = judged(&ranked, &grades);
        for at in 1..ranked.len() {
            if grade(&ranked[at - 1]) >= grade(&ranked[at]) {
                continue;
            }
            let mut better = ranked.clone();
            better.swap(at - 1, at);
            let after = judged(&better, &grades);
            for metric in metrics(k) {
                let (before, after) = (metric.of(&before).unwrap(), metric.of(&after).unwrap());
                prop_assert!(before <= after + 1e-12, "{metric}: {before} {after}");
            }
        }
    }

    #[test]
    fn the_ideal_list_scores_1(grades in judgments(), k in 1_usize..30) {
        prop_assume!(grades.values().any(|&grade| grade > 0));
        let mut ideal: Vec<u8> = grades.keys().copied().collect();
        ideal.sort_by_key(|document| std::cmp::Reverse(grades[document]));
        let judged = judged(&ideal, &grades);
        for cut in [None, Some(k)] {
            prop_assert_eq!(judged.ndcg(cut, Gain::Linear), Some(1.0));
            prop_assert_eq!(judged.ndcg(cut, Gain::Exponential), Some(1.0));
            prop_assert_eq!(judged.reciprocal_rank(cut), Some(1.0));
        }
        prop_assert_eq!(judged.capped_recall(k), Some(1.0));
        prop_assert_eq!(judged.average_precision(None), Some(1.0));
        prop_assert_eq!(judged.r_precision(), Some(1.0));
    }

    /// Binary labels: both gains are one metric.
    #[test]
    fn gains_agree_on_binary_labels(grades in judgments(), ranked in ranked(), k in 1_usize..30) {
        let binary = grades.iter().map(|(&document, &grade)| (document, grade.min(1))).collect();
        let judged = judged(&ranked, &binary);
        for cut in [None, Some(k)] {
            prop_assert_eq!(judged.ndcg(cut, Gain::Linear), judged.ndcg(cut, Gain::Exponential));
        }
    }

    #[test]
    fn an_evaluation_depends_on_no_order_of_queries(
        queries in prop::collection::vec((judgments(), ranked()), 1..8), k in 1_usize..10,
    ) {
        let build = |order: &mut dyn Iterator<Item = usize>| {
            let (mut qrels, mut run) = (Qrels::new(), Run::new());
            for index in order {
                let (grades, ranked) = &queries[index];
                let query = format!("q{index}");
                qrels.add_query(query.clone());
                for (&document, &grade) in grades {
                    qrels.insert(query.clone(), document, grade);
                }
                run.insert(query, ranked.clone()).unwrap();
            }
            evaluate(&qrels, &run, &metrics(k))
        };
        let forward = build(&mut (0..queries.len()));
        let backward = build(&mut (0..queries.len()).rev());
        prop_assert_eq!(&forward, &backward);

        let counts = forward.counts();
        prop_assert_eq!(counts.scored + counts.without_relevant, queries.len());
        for &metric in forward.metrics() {
            let values = forward.values(metric).unwrap();
            prop_assert_eq!(values.len(), counts.scored);
            match forward.mean(metric) {
                Some(mean) => {
                    prop_assert_eq!(mean, values.iter().sum::<f64>() / values.len() as f64);
                    let quick = Bootstrap { resamples: 50, ..Bootstrap::default() };
                    let interval = forward.interval(metric, &quick).unwrap();
                    prop_assert_eq!(interval.mean, mean);
                }
                None => prop_assert!(values.is_empty()),
            }
        }
        let half = forward.restricted_to(|query| query < "q4");
        let rest = forward.restricted_to(|query| query >= "q4");
        prop_assert_eq!(half.counts().scored + rest.counts().scored, counts.scored);
    }
}
