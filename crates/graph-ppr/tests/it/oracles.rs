//! Scores of igraph (PRPACK), networkx and the chapter's formula, made by
//! `tests/data/make_oracles.py`.

use cornu_graph_ppr::{Dangling, Method, Order, Restart, SolveOptions, Walk, solve};
use serde_json::Value;

use super::Edges;

#[test]
fn scores_are_those_of_prpack_networkx_and_the_chapter() {
    let data: Value = serde_json::from_str(include_str!("../data/oracles.json")).unwrap();
    let cases = data["cases"].as_array().unwrap();
    let mut compared = [0, 0, 0];
    for (at, case) in cases.iter().enumerate() {
        let edges = case["edges"].as_array().unwrap().iter().map(|edge| {
            let node = |end: usize| edge[end].as_u64().unwrap() as u32;
            (node(0), node(1), edge[2].as_f64().unwrap())
        });
        let graph = Edges {
            nodes: case["nodes"].as_u64().unwrap() as usize,
            undirected: case["undirected"].as_bool().unwrap(),
            edges: edges.collect(),
        };
        let seeds = case["seeds"].as_array().unwrap().iter();
        let seeds = seeds.map(|seed| (seed[0].as_u64().unwrap() as u32, seed[1].as_f64().unwrap()));
        let restart = Restart::new(graph.nodes, seeds).unwrap();
        let alpha = case["alpha"].as_f64().unwrap();
        let oracles = [
            ("prpack", Dangling::Restart),
            ("networkx", Dangling::Restart),
            ("chapter", Dangling::SelfLoop),
        ];
        for (which, (oracle, dangling)) in oracles.into_iter().enumerate() {
            let Some(expected) = case["oracles"][oracle].as_array() else {
                continue;
            };
            compared[which] += 1;
            for order in [Order::Given, Order::Degree, Order::ReverseCuthillMcKee] {
                let walk = Walk::<f64>::with_order(&graph.graph(), dangling, order).unwrap();
                for method in [Method::Auto, Method::Power] {
                    let options = SolveOptions {
                        tolerance: 1e-12,
                        method,
                        ..SolveOptions::new(alpha)
                    };
                    let found = solve(&walk, &restart, &options).unwrap();
                    assert!(found.converged);
                    for (node, score) in found.scores.iter().enumerate() {
                        let expected = expected[node].as_f64().unwrap();
                        assert!(
                            (score - expected).abs() < 1e-9,
                            "case {at}, {oracle}, {method:?}, node {node}: {score} for {expected}"
                        );
                    }
                }
            }
        }
    }
    assert_eq!(compared, [36, 36, 18]);
}
