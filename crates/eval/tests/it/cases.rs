//! Known ways in which evaluations go wrong, each with the figure that is right.

use cornu_eval::metrics::{Gain, Judged, Judgments, Metric, Qrels, Run, RunError, evaluate};

fn judged(grades: &[(&str, u8)], ranked: &[&str]) -> Judged {
    let judgments: Judgments<String> = grades
        .iter()
        .map(|&(document, grade)| (document.to_owned(), grade))
        .collect();
    let ranked: Vec<String> = ranked.iter().map(|&document| document.to_owned()).collect();
    Judged::new(&ranked, &judgments).unwrap()
}

fn relevant<'a>(documents: &[&'a str]) -> Vec<(&'a str, u8)> {
    documents.iter().map(|&document| (document, 1)).collect()
}

#[track_caller]
fn assert_close(value: Option<f64>, expected: f64, digits: f64) {
    let value = value.expect("measured");
    assert!(
        (value - expected).abs() <= digits,
        "{value} against {expected}"
    );
}

#[test]
fn ev_02_recall_is_over_all_relevant_documents() {
    let judged = judged(&relevant(&["a", "b", "c", "d"]), &["a", "x", "y"]);
    assert_eq!(judged.recall(3), Some(0.25));
    assert_eq!(judged.hit(3), Some(1.0));
    assert_close(judged.precision(3), 0.3333, 5e-5);
}

#[test]
fn ev_04_a_short_list_does_not_shrink_the_denominator() {
    let judged = judged(&relevant(&["d1", "d2", "d3"]), &["d4", "d1", "d3"]);
    assert_eq!(judged.precision(5), Some(0.4));
    assert_close(judged.recall(5), 0.6667, 5e-5);
}

#[test]
fn ev_05_capped_recall_has_a_name_of_its_own() {
    let judged = judged(&relevant(&["a", "b", "c", "d"]), &["a"]);
    let of = |name: &str| name.parse::<Metric>().unwrap().of(&judged);
    assert_eq!(of("recall@1"), Some(0.25));
    assert_eq!(of("r_cap@1"), Some(1.0));
}

#[test]
fn ev_06_linear_and_exponential_gain_are_two_metrics() {
    let grades = [("d1", 3), ("d2", 2), ("d3", 1), ("d4", 0)];
    let judged = judged(&grades, &["d4", "d1", "d3"]);
    assert_close(
        "ndcg".parse::<Metric>().unwrap().of(&judged),
        0.502_491,
        5e-7,
    );
    assert_close(
        "ndcg_exp".parse::<Metric>().unwrap().of(&judged),
        0.523_434,
        5e-7,
    );
    // The report can say which one it prints.
    assert!(
        Metric::Ndcg(None, Gain::Linear)
            .definition()
            .contains("linear")
    );
    assert!(
        Metric::Ndcg(None, Gain::Exponential)
            .definition()
            .contains("exponential")
    );
}

/// The rule here: list order is authoritative. (trec_eval sorts by score and breaks ties by id in
/// descending order, which gives 1.0 for `x3` and 0.3333 for `x1` whatever the list was.)
#[test]
fn ev_07_ties_stand_as_listed_whatever_the_documents_are_called() {
    let listed = ["x1", "x2", "x3"];
    assert_close(
        judged(&relevant(&["x3"]), &listed).reciprocal_rank(None),
        1.0 / 3.0,
        0.0,
    );
    assert_eq!(
        judged(&relevant(&["x1"]), &listed).reciprocal_rank(None),
        Some(1.0)
    );
    // The same list with the names turned around: the same figures.
    let renamed = ["x3", "x2", "x1"];
    assert_close(
        judged(&relevant(&["x1"]), &renamed).reciprocal_rank(None),
        1.0 / 3.0,
        0.0,
    );
    assert_eq!(
        judged(&relevant(&["x3"]), &renamed).reciprocal_rank(None),
        Some(1.0)
    );
}

#[test]
fn ev_08_a_constant_scorer_is_scored_in_the_order_it_returned() {
    let judged = judged(&[("a", 0), ("b", 3), ("c", 1)], &["a", "b", "c"]);
    assert_close(judged.ndcg(None, Gain::Linear), 0.6590, 5e-5);
}

#[test]
fn ev_09_queries_without_relevant_documents_are_left_out_and_counted() {
    let metrics = [
        "recall@2",
        "r_cap@2",
        "hit@1",
        "precision@2",
        "mrr",
        "ndcg",
        "ndcg@2",
        "map",
        "r_precision",
    ]
    .map(|name| name.parse::<Metric>().unwrap());
    let mut qrels = Qrels::new();
    qrels.add_query("nothing judged");
    qrels.insert("nothing relevant", "d1", 0);
    let mut run = Run::new();
    run.insert("nothing judged", vec!["d1", "d2"]).unwrap();
    run.insert("nothing relevant", vec!["d1", "d2"]).unwrap();
    run.insert("never judged", vec!["d1"]).unwrap();

    let alone = evaluate(&qrels, &run, &metrics);
    for metric in metrics {
        assert_eq!(alone.mean(metric), None, "{metric}");
        assert_eq!(alone.value("nothing relevant", metric), None, "{metric}");
    }
    assert_eq!(alone.counts().scored, 0);
    assert_eq!(alone.counts().without_relevant, 2);
    assert_eq!(alone.counts().unjudged, 1);

    qrels.insert("found", "d1", 1);
    run.insert("found", vec!["d1"]).unwrap();
    let with_one = evaluate(&qrels, &run, &metrics);
    assert_eq!(with_one.mean(Metric::Recall(2)), Some(1.0));
    assert_eq!(with_one.counts().scored, 1);
    assert_eq!(with_one.counts().without_relevant, 2);
    assert_eq!(
        with_one.without_relevant().collect::<Vec<_>>(),
        ["nothing judged", "nothing relevant"]
    );
}

#[test]
fn ev_10_a_query_without_results_scores_zero_and_stays_in_the_mean() {
    for listed in [false, true] {
        let mut qrels = Qrels::new();
        qrels.insert("q1", "d1", 1);
        qrels.insert("q2", "d2", 1);
        let mut run = Run::new();
        run.insert("q1", vec!["d1"]).unwrap();
        if listed {
            run.insert("q2", Vec::new()).unwrap(); // an empty list is no better than none
        }
        let evaluation = evaluate(&qrels, &run, &[Metric::Mrr(None)]);
        assert_eq!(evaluation.mean(Metric::Mrr(None)), Some(0.5));
        assert_eq!(evaluation.counts().scored, 2);
        assert_eq!(evaluation.counts().without_results, 1);
    }
}

#[test]
fn ev_14_the_ideal_list_is_cut_where_the_list_is() {
    let judged = judged(&relevant(&["d1", "d2", "d3"]), &["d1", "d2"]);
    assert_eq!(judged.ndcg(Some(2), Gain::Linear), Some(1.0));
    assert_close(judged.ndcg(None, Gain::Linear), 0.7654, 5e-5);
}

#[test]
fn nothing_is_found_in_no_places() {
    let judged = judged(&relevant(&["a"]), &["a"]);
    let values = [
        judged.recall(0),
        judged.capped_recall(0),
        judged.hit(0),
        judged.precision(0),
        judged.reciprocal_rank(Some(0)),
        judged.ndcg(Some(0), Gain::Linear),
        judged.average_precision(Some(0)),
    ];
    assert_eq!(values, [Some(0.0); 7]);
}

#[test]
fn a_list_holds_a_document_once() {
    let mut run = Run::new();
    let error = run.insert("q", vec!["a", "b", "a"]).unwrap_err();
    assert_eq!(
        error,
        RunError::DuplicateDocument {
            query: "q".into(),
            document: "a".into(),
            first: 1,
            second: 3
        }
    );
    assert!(error.to_string().contains("ranks 1 and 3"), "{error}");
    run.insert("q", vec!["a"]).unwrap();
    assert!(matches!(
        run.insert("q", vec!["b"]),
        Err(RunError::DuplicateQuery { .. })
    ));
    assert_eq!(
        run.get("q"),
        Some(["a"].as_slice()),
        "a refused list changes nothing"
    );
}

#[test]
fn names_of_metrics_stay() {
    let names = [
        "recall@5",
        "r_cap@5",
        "hit@1",
        "precision@5",
        "mrr",
        "mrr@10",
        "ndcg",
        "ndcg@10",
        "ndcg_exp",
        "ndcg_exp@10",
        "map",
        "map@100",
        "r_precision",
    ];
    for name in names {
        assert_eq!(name.parse::<Metric>().unwrap().to_string(), name);
    }
    let wrong = [
        "",
        "recall",
        "recall@",
        "recall@0",
        "recall@05",
        "recall@+5",
        "recall@-1",
        "Recall@5",
        "recall@5 ",
        "recall@99999999999999999999999",
        "r_precision@5",
        "success@1",
        "mrr@@1",
    ];
    for name in wrong {
        let error = name.parse::<Metric>().unwrap_err();
        assert_eq!(error.text, name);
    }
}
