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
        refine in prop::sample::select(vec![0, 1, 4, 128]),
    ) {
        let dangling = if self_loop { Dangling::SelfLoop } else { Dangling::Restart };
        let undirected = graph.undirected;
        let graph = graph.graph();
        let restart = restart_of(graph.nodes(), &seeds);
        let expected = exact(&graph, dangling, &restart, alpha).scores;
        let walk = Walk::<f64>::new(&graph, dangling).unwrap();
        let options = PushOptions { alpha, epsilon, refine };
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
            let looks = if refine > 0 { 2.0 } else { 1.0 };
            prop_assert!(found.entries as f64 <= looks * most);
        }
        // What refining gives, it takes off the error.
        let options = PushOptions { refine: 0, ..options };
        let plain = forward_push(&walk, &restart, &options, &mut PushSpace::new()).unwrap();
        prop_assert!(plain.error_bound >= found.error_bound - 1e-15);
        prop_assert_eq!(plain.scores.len(), found.scores.len());
        for (plain, found) in plain.scores.iter().zip(&found.scores) {
            prop_assert!(plain.0 == found.0 && plain.1 <= found.1);
        }
        let options = PushOptions { refine, ..options };
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
        let options = PushOptions {
            epsilon,
            ..PushOptions::new(alpha)
        };
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
    let options = PushOptions {
        epsilon,
        ..PushOptions::new(alpha)
    };
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
        epsilon: 1e-6,
        ..PushOptions::new(0.5)
    };
    let found = forward_push(&walk, &seed, &options, &mut PushSpace::new()).unwrap();
    assert!(
        found.entries < 2_000 && found.scores.len() < 60,
        "{}",
        found.entries
    );
    assert!(found.error_bound < 1e-4);
}

/// A hub and its leaves: one push from leaf 1 reaches the hub and stops there. The hub's edges are looked
/// at only where ε allows as many.
#[test]
fn refining_looks_at_the_best_nodes_and_reads_no_more_than_allowed() {
    let mut builder = GraphBuilder::undirected(102).unwrap();
    for leaf in 1..102 {
        builder.add(0, leaf, 1.0).unwrap();
    }
    let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart).unwrap();
    let seed = restart_of(102, &[(1, 1.0)]);
    let found = |epsilon, refine| {
        let options = PushOptions {
            epsilon,
            refine,
            ..PushOptions::new(0.5)
        };
        forward_push(&walk, &seed, &options, &mut PushSpace::new()).unwrap()
    };
    // Half stays at the leaf, half goes to the hub, which is too large for ε: a quarter is kept there.
    let plain = found(0.01, 0);
    assert_eq!(
        (plain.scores.as_slice(), plain.entries),
        (&[(1, 0.5), (0, 0.25)][..], 1)
    );
    // The leaf looks back at the hub: 1/4 · (1/2) / 101.
    let refined = found(0.01, 1);
    assert_eq!(refined.entries, 2);
    let more = refined.scores[0].1 - 0.5;
    assert!((more - 0.125 / 101.0).abs() < 1e-15, "{more}");
    assert!((plain.error_bound - refined.error_bound - more).abs() < 1e-15);
    // 2 / ε allows 200 entries, and then 100: not those of the hub besides the leaf's.
    assert_eq!(found(0.01, 2).entries, 1 + 1 + 101);
    assert_eq!(found(0.02, 2).entries, 1 + 1);
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
            epsilon,
            ..PushOptions::new(0.5)
        };
        let refused = forward_push(&walk, &seed, &options, &mut space);
        assert!(matches!(refused, Err(PprError::Epsilon { .. })));
    }
    let options = PushOptions {
        epsilon: 0.1,
        ..PushOptions::new(1.0)
    };
    let refused = forward_push(&walk, &seed, &options, &mut space);
    assert!(matches!(refused, Err(PprError::Alpha { .. })));
    let other = Restart::new(3, [(0, 1.0)]).unwrap();
    let options = PushOptions {
        epsilon: 0.1,
        ..PushOptions::new(0.5)
    };
    let refused = forward_push(&walk, &other, &options, &mut space);
    assert!(matches!(refused, Err(PprError::Size { .. })));
}

/// 0 → 0 and 0 → 1, from where nothing leads on, and a seed without edges. Refining keeps 1 − α of what
/// the residual of 0 gives to 1; the α beside it still returns to the seeds, though it is on no score.
#[test]
fn scores_grow_by_what_dangles_where_they_were_refined_too() {
    let mut builder = GraphBuilder::directed(3).unwrap();
    builder.add(0, 0, 1.0).unwrap().add(0, 1, 9.0).unwrap();
    let graph = builder.build();
    let restart = restart_of(3, &[(0, 1.0), (2, 1.0)]);
    let alpha = 0.5;
    let expected = exact(&graph, Dangling::Restart, &restart, alpha).scores;
    let walk = Walk::<f64>::new(&graph, Dangling::Restart).unwrap();
    for refine in [0, 128] {
        let options = PushOptions {
            alpha,
            epsilon: 0.1,
            refine,
        };
        let found = forward_push(&walk, &restart, &options, &mut PushSpace::new()).unwrap();
        assert_eq!(found.pushes, 3, "all nodes, and 0 not again");
        // What node 2 has is known but for what returns.
        let at_2 = found.scores.iter().find(|&&(node, _)| node == 2).unwrap().1;
        let grown = expected[2] / at_2 - 1.0;
        assert!(
            grown <= found.growth + 1e-12,
            "{refine} refined: {grown} of {}",
            found.growth
        );
    }
}
