//! Every metric against trec_eval's own code (see tests/data/make_oracles.py).

use std::collections::BTreeMap;

use cornu_eval::metrics::{Metric, Qrels, Run, evaluate};
use serde::Deserialize;

#[derive(Deserialize)]
struct Oracle {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    qrels: BTreeMap<String, BTreeMap<String, u8>>,
    run: BTreeMap<String, Vec<String>>,
    values: BTreeMap<String, BTreeMap<String, f64>>,
}

#[test]
fn all_metrics_are_those_of_trec_eval() {
    let oracle: Oracle = serde_json::from_str(include_str!("../data/metrics.json")).unwrap();
    let (mut compared, mut empty, mut graded) = (0, 0, 0);
    for case in oracle.cases {
        let mut qrels = Qrels::new();
        for (query, labels) in &case.qrels {
            for (document, &grade) in labels {
                qrels.insert(query.clone(), document.clone(), grade);
                graded += usize::from(grade > 1);
            }
        }
        let mut run = Run::new();
        for (query, ranked) in &case.run {
            run.insert(query.clone(), ranked.clone()).unwrap();
        }
        let names: Vec<&String> = case.values.values().next().unwrap().keys().collect();
        assert!(names.len() > 35);
        let metrics: Vec<Metric> = names.iter().map(|name| name.parse().unwrap()).collect();
        let evaluation = evaluate(&qrels, &run, &metrics);
        assert_eq!(evaluation.counts().scored, case.qrels.len());

        for metric in metrics {
            let mut sum = 0.0;
            for query in case.qrels.keys() {
                // trec_eval leaves out what has no results; here it scores 0.
                let row = case.values.get(query);
                let expected = row.map_or(0.0, |row| row[&metric.to_string()]);
                let value = evaluation.value(query, metric).unwrap();
                assert!(
                    (value - expected).abs() < 1e-9,
                    "{query} {metric}: {value} {expected}"
                );
                compared += 1;
                empty += usize::from(row.is_none());
                sum += expected;
            }
            let mean = sum / case.qrels.len() as f64;
            assert!(
                (evaluation.mean(metric).unwrap() - mean).abs() < 1e-9,
                "{metric}"
            );
        }
    }
    assert!(
        compared > 1_000 && empty > 40 && graded > 40,
        "{compared} {empty} {graded}"
    );
}
