//! Forward push against the exact solution.

use cornu_graph_ppr::{
    Dangling, GraphBuilder, PprError, PushOptions, PushSpace, Restart, Walk, forward_push,
};
use proptest::prelude::*;

use super::exact;
use super::properties::{problem, restart_of};

proptest! {
    #[test]
    fn the_error_is_what_it_says_and_each_score_is_near(
        (graph, seeds, alpha) in problem(),
        self_loop in any::<bool>(),
        epsilon in prop::sample::select(vec![1e-1, 1e-2, 1e-4, 1e-7]),
    ) {
        let dangling = if self_loop { Dangling::SelfLoop } else { Dangling::Restart };
        let undirected = graph.undirected;
        let graph = graph.graph();
        let restart = restart_of(graph.nodes(), &seeds);
        let expected = exact(&graph, dangling, &restart, alpha).scores;
        let walk = Walk::<f64>::new(&graph, dangling).unwrap();
        let options = PushOptions { alpha, epsilon };
        let mut space = PushSpace::new();
        let found = forward_push(&walk, &restart, &options, &mut space).unwrap();
        let mut scores = vec![0.0; graph.nodes()];
        found.scores.iter().for_each(|&(node, score)| scores[node as usize] = score);
        // From below, and short by exactly the bound.
        let short: f64 = expected.iter().zip(&scores).map(|(exact, score)| exact - score).sum();
        prop_assert!((short - found.error_bound).abs() < 1e-11, "{short} {}", found.error_bound);
        for (exact, score) in expected.iter().zip(&scores) {
            prop_assert!(*score <= exact + 1e-11);
        }
        // In an undirected graph each score by itself.
        let entries = graph.adjacency().data();
        let mean = if entries.is_empty() { 1.0 } else {
            entries.iter().sum::<f64>() / entries.len() as f64
        };
        let equal_rows = walk.is_value_free();
        if undirected {
            prop_assert_eq!(found.growth, 0.0);
        }
        if undirected && !equal_rows {
            for (node, (exact, score)) in expected.iter().zip(&scores).enumerate() {
                let strength = graph.strength(node as u32);
                let edges = if strength > 0.0 { strength / mean } else { 1.0 };
                let most = score + found.score_bound * edges * (1.0 + 1e-6);
                prop_assert!(*exact <= most + 1e-11);
            }
        }
        if undirected && equal_rows {
            for (node, (exact, score)) in expected.iter().zip(&scores).enumerate() {
                let degree = graph.row(node as u32).0.len().max(1) as f64;
                let most = score + found.score_bound * degree * (1.0 + 1e-9);
                prop_assert!(*exact <= most + 1e-11);
            }
            let most = 1.0 / (epsilon * (1.0 - alpha)) + 1.0;
            prop_assert!(found.entries as f64 <= most);
        }
        // The space is clean after every use.
        let again = forward_push(&walk, &restart, &options, &mut space).unwrap();
        prop_assert_eq!(&again, &found);
    }
}

/// Seeds without edges, below the threshold: nothing of theirs is left, and all of it returns.
#[test]
fn seeds_without_edges_are_exact() {
    let mut builder = GraphBuilder::undirected(5).unwrap();
    builder.add(0, 1, 1.0).unwrap();
    let graph = builder.build();
    let restart = restart_of(5, &[(2, 0.093), (3, 0.828), (4, 0.079)]);
    let (alpha, epsilon) = (0.85, 0.1);
    for dangling in [Dangling::Restart, Dangling::SelfLoop] {
        let expected = exact(&graph, dangling, &restart, alpha).scores;
        let walk = Walk::<f64>::new(&graph, dangling).unwrap();
        let options = PushOptions { alpha, epsilon };
        let found = forward_push(&walk, &restart, &options, &mut PushSpace::new()).unwrap();
        assert_eq!((found.scores.len(), found.growth), (3, 0.0));
        for &(node, score) in &found.scores {
            let short = expected[node as usize] - score;
            assert!(
                (0.0..=found.error_bound + 1e-12).contains(&(short + 1e-13)),
                "{short}"
            );
            assert!(short <= found.score_bound + 1e-12);
        }
        let returns = dangling == Dangling::Restart;
        assert_eq!(returns, found.error_bound < 1e-12, "{}", found.error_bound);
    }
}

/// 0 → 1 → 2, and nothing leaves 2: what was not pushed from 1 returns to 0.
#[test]
fn scores_grow_by_what_dangles() {
    let mut builder = GraphBuilder::directed(3).unwrap();
    builder.add(0, 1, 1.0).unwrap().add(1, 2, 1.0).unwrap();
    let graph = builder.build();
    let restart = restart_of(3, &[(0, 1.0)]);
    let (alpha, epsilon) = (0.5, 0.7);
    let expected = exact(&graph, Dangling::Restart, &restart, alpha).scores;
    let walk = Walk::<f64>::new(&graph, Dangling::Restart).unwrap();
    let options = PushOptions { alpha, epsilon };
    let found = forward_push(&walk, &restart, &options, &mut PushSpace::new()).unwrap();
    assert_eq!(found.pushes, 1);
    let (node, score) = found.scores[0];
    let (exact, most) = (expected[node as usize], score * (1.0 + found.growth));
    assert!(
        score * 1.1 < exact && exact <= most + 1e-12,
        "{score} {exact} {most}"
    );
}

#[test]
fn what_is_far_costs_nothing() {
    let nodes = 100_000;
    let mut builder = GraphBuilder::undirected(nodes).unwrap();
    for node in 1..nodes as u32 {
        builder.add(node - 1, node, 1.0).unwrap();
    }
    let walk = Walk::<f32>::new(&builder.build(), Dangling::Restart).unwrap();
    let seed = Restart::new(nodes, [(50_000, 1.0)]).unwrap();
    let options = PushOptions {
        alpha: 0.5,
        epsilon: 1e-6,
    };
    let found = forward_push(&walk, &seed, &options, &mut PushSpace::new()).unwrap();
    assert!(
        found.entries < 2_000 && found.scores.len() < 60,
        "{}",
        found.entries
    );
    assert!(found.error_bound < 1e-4);
}

#[test]
fn bad_parameters_are_refused() {
    let mut builder = GraphBuilder::undirected(2).unwrap();
    builder.add(0, 1, 1.0).unwrap();
    let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart).unwrap();
    let seed = Restart::new(2, [(0, 1.0)]).unwrap();
    let mut space = PushSpace::new();
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = PushOptions {
            alpha: 0.5,
            epsilon,
        };
        let refused = forward_push(&walk, &seed, &options, &mut space);
        assert!(matches!(refused, Err(PprError::Epsilon { .. })));
    }
    let options = PushOptions {
        alpha: 1.0,
        epsilon: 0.1,
    };
    let refused = forward_push(&walk, &seed, &options, &mut space);
    assert!(matches!(refused, Err(PprError::Alpha { .. })));
    let other = Restart::new(3, [(0, 1.0)]).unwrap();
    let options = PushOptions {
        alpha: 0.5,
        epsilon: 0.1,
    };
    let refused = forward_push(&walk, &other, &options, &mut space);
    assert!(matches!(refused, Err(PprError::Size { .. })));
}
