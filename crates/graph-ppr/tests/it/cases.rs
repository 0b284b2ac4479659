//! Faults that other implementations have shown, each as a case with its outcome.

use cornu_graph_ppr::{
    Dangling, GraphBuilder, Method, PprError, Restart, SolveOptions, Walk, personalized_pagerank,
    rank, solve,
};

use super::by_name;

fn assert_scores(found: &[(String, f64)], expected: &[(&str, f64)]) {
    assert_eq!(found.len(), expected.len());
    for ((name, score), (expected_name, expected)) in found.iter().zip(expected) {
        assert_eq!(name, expected_name);
        assert!(
            (score - expected).abs() < 1e-5,
            "{name}: {score} for {expected}"
        );
        if *expected == 0.0 {
            assert_eq!(*score, 0.0, "{name} cannot be reached");
        }
    }
}

#[test]
fn pr_01_the_mass_of_dangling_nodes_returns_to_the_seeds_alone() {
    let found = by_name(&[("s", "t")], false, &[("t", 1.0)], 0.85).unwrap();
    assert_scores(&found, &[("s", 0.0), ("t", 1.0)]);
}

#[test]
fn pr_02_a_seed_without_outgoing_edges_keeps_everything() {
    let edges = [("u", "v"), ("v", "w"), ("v", "z")];
    let found = by_name(&edges, false, &[("w", 1.0)], 0.85).unwrap();
    assert_scores(&found, &[("u", 0.0), ("v", 0.0), ("w", 1.0), ("z", 0.0)]);
}

#[test]
fn pr_03_a_sink_leaks_nothing() {
    let found = by_name(&[("s", "t")], false, &[("s", 1.0)], 0.85).unwrap();
    assert_scores(&found, &[("s", 0.540541), ("t", 0.459459)]);
    assert!((found[0].1 + found[1].1 - 1.0).abs() < 1e-12);
}

const PATH: [(&str, &str); 3] = [("a", "b"), ("b", "c"), ("x", "y")];
const FROM_A: [(&str, f64); 5] = [
    ("a", 0.34527),
    ("b", 0.459459),
    ("c", 0.19527),
    ("x", 0.0),
    ("y", 0.0),
];

#[test]
fn pr_04_unknown_seeds_are_dropped_before_normalising_and_none_left_is_an_outcome() {
    let none = by_name(&PATH, true, &[("zz", 1.0)], 0.85);
    assert_eq!(none, Err(PprError::NoKnownSeed { unknown: 1 }));
    let some = by_name(&PATH, true, &[("a", 1.0), ("zz", 5.0)], 0.85).unwrap();
    assert_scores(&some, &FROM_A);
    assert_eq!(some, by_name(&PATH, true, &[("a", 1.0)], 0.85).unwrap());
}

#[test]
fn pr_06_what_no_seed_reaches_scores_0_and_is_in_no_ranking() {
    let found = by_name(&PATH, true, &[("a", 1.0)], 0.85).unwrap();
    assert_scores(&found, &FROM_A);
    let scores: Vec<f64> = found.iter().map(|(_, score)| *score).collect();
    assert_eq!(rank(&scores).ids().copied().collect::<Vec<_>>(), [1, 0, 2]);
}

#[test]
fn pr_07_parallel_edges_add_up_in_any_order() {
    let expected = [("a", 0.540541), ("b", 0.306306), ("c", 0.153153)];
    let orders = [
        [("a", "b"), ("a", "b"), ("a", "c")],
        [("a", "c"), ("b", "a"), ("a", "b")],
    ];
    let found = orders.map(|edges| by_name(&edges, true, &[("a", 1.0)], 0.85).unwrap());
    assert_scores(&found[0], &expected);
    assert_eq!(found[0], found[1]);
    let mut builder = GraphBuilder::undirected(3).unwrap();
    builder.add(0, 1, 2.0).unwrap().add(0, 2, 1.0).unwrap();
    let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart).unwrap();
    let seed = Restart::new(3, [(0, 1.0)]).unwrap();
    let once = solve(&walk, &seed, &SolveOptions::new(0.85))
        .unwrap()
        .scores;
    assert_eq!(
        once,
        found[0].iter().map(|(_, score)| *score).collect::<Vec<_>>()
    );
}

#[test]
fn pr_11_the_stop_rule_does_not_grow_with_the_number_of_nodes() {
    let mut builder = GraphBuilder::directed(500).unwrap();
    builder.add(0, 1, 1.0).unwrap().add(1, 2, 1.0).unwrap();
    let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart).unwrap();
    let seed = Restart::new(500, [(0, 1.0)]).unwrap();
    let options = SolveOptions {
        tolerance: 0.005,
        ..SolveOptions::new(0.85)
    };
    let found = personalized_pagerank(&walk, &seed, &options).unwrap();
    assert!(found.converged && found.residual <= 0.005 && found.iterations > 10);
    let expected = [0.38873, 0.33042, 0.28086];
    let distance: f64 = found
        .scores
        .iter()
        .zip(expected)
        .map(|(a, b)| (a - b).abs())
        .sum();
    assert!(distance <= found.error_bound() && found.error_bound() <= 0.005 * 0.85 / 0.15);
    assert!(found.scores[3..].iter().all(|&score| score == 0.0));
    let tight = personalized_pagerank(&walk, &seed, &SolveOptions::new(0.85)).unwrap();
    for (score, expected) in tight.scores.iter().zip(expected) {
        assert!((score - expected).abs() < 1e-5);
    }
}

#[test]
fn pr_12_too_few_iterations_give_the_best_result_and_say_so() {
    let mut builder = GraphBuilder::directed(2).unwrap();
    builder.add(0, 1, 1.0).unwrap().add(1, 0, 1.0).unwrap();
    let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart).unwrap();
    let seed = Restart::new(2, [(0, 1.0)]).unwrap();
    for alpha in [1.0, 1.5, -0.1, f64::NAN, f64::INFINITY] {
        let refused = solve(&walk, &seed, &SolveOptions::new(alpha));
        assert!(matches!(refused, Err(PprError::Alpha { .. })), "{alpha}");
    }
    let options = SolveOptions {
        max_iterations: Some(50),
        ..SolveOptions::new(0.9999)
    };
    let found = solve(&walk, &seed, &options).unwrap();
    assert_eq!((found.converged, found.iterations), (false, 50));
    assert!(
        found.residual > 0.9,
        "a two-cycle swings with little damping"
    );
    assert!((found.scores.iter().sum::<f64>() - 1.0).abs() < 1e-12);

    // Cut short, relaxation gives a distribution as well.
    let mut builder = GraphBuilder::undirected(300).unwrap();
    for node in 1..300 {
        let weight = f64::from(node % 3 + 1);
        builder.add(node - 1, node, weight).unwrap();
    }
    let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart).unwrap();
    let seed = Restart::new(300, [(0, 1.0)]).unwrap();
    let exact = solve(&walk, &seed, &SolveOptions::new(0.99)).unwrap();
    for most in 1..20 {
        let options = SolveOptions {
            max_iterations: Some(most),
            method: Method::Relaxation,
            ..SolveOptions::new(0.99)
        };
        let found = solve(&walk, &seed, &options).unwrap();
        assert!(!found.converged && found.iterations == most);
        assert!(found.scores.iter().all(|&score| score >= 0.0));
        let pairs = found.scores.iter().zip(&exact.scores);
        let distance: f64 = pairs.map(|(a, b)| (a - b).abs()).sum();
        assert!(distance <= found.error_bound() + 1e-8);
        assert!((found.scores.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
