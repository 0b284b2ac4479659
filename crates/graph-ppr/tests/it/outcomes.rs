//! What becomes of unusual input.

use cornu_graph_ppr::{
    Aggregate, Dangling, DocumentNodes, GraphBuilder, MOST_ITERATIONS, NodeKeys, PprError, Restart,
    SolveOptions, Walk, personalized_pagerank, solve, solve_batch,
};

use crate::Edges;

#[test]
fn weights_that_are_no_weights_are_refused_and_leave_the_builder() {
    let mut builder = GraphBuilder::undirected(3).unwrap();
    builder.add(0, 1, 2.0).unwrap();
    for weight in [
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-101,
        1e101,
    ] {
        let refused = builder.add(0, 2, weight).unwrap_err();
        assert!(
            matches!(refused, PprError::EdgeWeight { from: 0, to: 2, .. }),
            "{weight}"
        );
    }
    let refused = builder.add(0, 3, 1.0).unwrap_err();
    assert_eq!(refused, PprError::Node { node: 3, nodes: 3 });
    // 0 is no edge, -0 too.
    builder.add(0, 2, 0.0).unwrap().add(2, 1, -0.0).unwrap();
    let graph = builder.build();
    assert_eq!(
        (graph.entries(), graph.weight(0, 1), graph.weight(1, 0)),
        (2, 2.0, 2.0)
    );
    assert_eq!(
        (graph.weight(0, 2), graph.weight(0, 99), graph.strength(99)),
        (0.0, 0.0, 0.0)
    );
    assert!(graph.row(2).0.is_empty());
}

#[test]
fn sums_of_parallel_edges_have_the_same_bits_in_any_order() {
    let sum = |weights: [f64; 3]| {
        let mut builder = GraphBuilder::directed(2).unwrap();
        for weight in weights {
            builder.add(0, 1, weight).unwrap();
        }
        builder.build().weight(0, 1)
    };
    assert_ne!((0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3));
    let orders = [
        [0.1, 0.2, 0.3],
        [0.3, 0.2, 0.1],
        [0.2, 0.3, 0.1],
        [0.3, 0.1, 0.2],
    ];
    for order in orders {
        assert_eq!(sum(order), (0.1 + 0.2) + 0.3);
    }
}

#[test]
fn an_undirected_self_loop_counts_in_both_directions() {
    let mut builder = GraphBuilder::undirected(2).unwrap();
    builder.add(0, 0, 1.5).unwrap().add(0, 1, 1.0).unwrap();
    let graph = builder.build();
    assert_eq!((graph.weight(0, 0), graph.strength(0)), (3.0, 4.0));
    let mut builder = GraphBuilder::directed(2).unwrap();
    builder.add(0, 0, 1.5).unwrap();
    assert_eq!(builder.build().weight(0, 0), 1.5);
}

#[test]
fn extreme_weights_keep_the_walk_finite() {
    let mut builder = GraphBuilder::undirected(4).unwrap();
    builder.add(0, 1, 1e100).unwrap().add(1, 2, 1e-100).unwrap();
    builder.add(2, 3, 1e-100).unwrap().add(0, 1, 1e100).unwrap();
    let graph = builder.build();
    let seed = Restart::new(4, [(2, 1.0)]).unwrap();
    let walk = Walk::<f64>::new(&graph, Dangling::Restart).unwrap();
    let found = solve(&walk, &seed, &SolveOptions::new(0.5)).unwrap();
    assert!(found.converged && (found.scores.iter().sum::<f64>() - 1.0).abs() < 1e-10);
    assert!(found.scores[3] > 0.1 && found.scores[0] > 0.01);
    let narrow = Walk::<f32>::new(&graph, Dangling::Restart);
    assert!(matches!(narrow, Err(PprError::WeightRange { .. })));

    // A common factor changes nothing, in f32 either.
    let path = |factor: f64| {
        let mut builder = GraphBuilder::undirected(3).unwrap();
        builder
            .add(0, 1, factor)
            .unwrap()
            .add(1, 2, 3.0 * factor)
            .unwrap();
        let walk = Walk::<f32>::new(&builder.build(), Dangling::Restart).unwrap();
        let options = SolveOptions {
            tolerance: 1e-6,
            ..SolveOptions::new(0.5)
        };
        solve(&walk, &Restart::new(3, [(0, 1.0)]).unwrap(), &options)
            .unwrap()
            .scores
    };
    assert_eq!(path(1.0), path(2.0_f64.powi(300)));
    assert_eq!(path(1.0), path(2.0_f64.powi(-300)));
}

#[test]
fn seeds_are_brought_to_the_simplex_or_refused() {
    let restart = Restart::new(3, [(0, f64::MAX), (1, f64::MAX), (2, 0.0)]).unwrap();
    assert_eq!(restart.entries(), [(0, 0.5), (1, 0.5)]);
    let tiny = Restart::new(2, [(0, 5e-324), (1, 5e-324)]).unwrap();
    assert_eq!(tiny.entries(), [(0, 0.5), (1, 0.5)]);
    for weight in [-0.1, f64::NAN, f64::INFINITY] {
        let refused = Restart::new(3, [(0, 1.0), (1, weight)]).unwrap_err();
        assert!(matches!(refused, PprError::SeedWeight { position: 1, .. }));
    }
    assert_eq!(
        Restart::new(3, [(3, 1.0)]),
        Err(PprError::Node { node: 3, nodes: 3 })
    );
    assert_eq!(
        Restart::new(3, [(1, 0.0)]),
        Err(PprError::NoKnownSeed { unknown: 0 })
    );
    let keys = NodeKeys::new(["a", "b"]).unwrap();
    assert!(matches!(
        keys.restart([("zz", -1.0)]),
        Err(PprError::SeedWeight { .. })
    ));
    let uniform = Restart::uniform(4, [2, 0, 2]).unwrap();
    assert_eq!(uniform.entries(), [(0, 0.5), (2, 0.5)]);
}

#[test]
fn seeds_in_several_components_share_by_weight() {
    let mut builder = GraphBuilder::undirected(5).unwrap();
    builder.add(0, 1, 1.0).unwrap().add(2, 3, 1.0).unwrap();
    let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart).unwrap();
    let seeds = Restart::new(5, [(0, 1.0), (2, 3.0)]).unwrap();
    let p = solve(&walk, &seeds, &SolveOptions::new(0.85))
        .unwrap()
        .scores;
    assert!((p[0] + p[1] - 0.25).abs() < 1e-10 && (p[2] + p[3] - 0.75).abs() < 1e-10);
    assert_eq!(p[4], 0.0);
}

#[test]
fn an_isolated_seed_keeps_its_share_or_returns_it() {
    let mut builder = GraphBuilder::undirected(3).unwrap();
    builder.add(0, 1, 1.0).unwrap();
    let graph = builder.build();
    let seeds = Restart::new(3, [(0, 1.0), (2, 1.0)]).unwrap();
    let at = |dangling| {
        let walk = Walk::<f64>::new(&graph, dangling).unwrap();
        solve(&walk, &seeds, &SolveOptions::new(0.5))
            .unwrap()
            .scores
    };
    assert!((at(Dangling::SelfLoop)[2] - 0.5).abs() < 1e-10);
    // p₂ = c/2, p₀ + p₁ = 1 − p₂ and c = 1 − α + α p₂ give p₂ = 1/3.
    assert!((at(Dangling::Restart)[2] - 1.0 / 3.0).abs() < 1e-10);
}

#[test]
fn options_and_sizes_are_checked_before_work() {
    let mut builder = GraphBuilder::directed(2).unwrap();
    builder.add(0, 1, 1.0).unwrap();
    let walk = Walk::<f64>::new(&builder.build(), Dangling::Restart).unwrap();
    let seed = Restart::new(2, [(0, 1.0)]).unwrap();
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = SolveOptions {
            tolerance,
            ..SolveOptions::new(0.5)
        };
        assert!(matches!(
            solve(&walk, &seed, &options),
            Err(PprError::Tolerance { .. })
        ));
    }
    let options = SolveOptions {
        max_iterations: Some(0),
        ..SolveOptions::new(0.5)
    };
    assert_eq!(solve(&walk, &seed, &options), Err(PprError::NoIterations));
    let other = Restart::new(3, [(0, 1.0)]).unwrap();
    let refused = solve_batch(&walk, &[seed, other], &SolveOptions::new(0.5));
    assert!(matches!(
        refused,
        Err(PprError::Size {
            given: 3,
            nodes: 2,
            ..
        })
    ));
}

#[test]
fn f32_stops_at_the_cap_where_the_tolerance_is_out_of_its_reach() {
    let mut builder = GraphBuilder::undirected(2000).unwrap();
    for node in 0..2000 {
        for step in [1, 7, 77] {
            builder.add(node, (node * step + step) % 2000, 1.0).unwrap();
        }
    }
    let walk = Walk::<f32>::new(&builder.build(), Dangling::Restart).unwrap();
    let seeds = Restart::uniform(2000, 0..2000).unwrap();
    let options = SolveOptions {
        tolerance: 1e-14,
        ..SolveOptions::new(0.85)
    };
    let found = solve(&walk, &seeds, &options).unwrap();
    assert!(!found.converged && found.residual > 1e-14 && found.residual < 1e-5);
    let sum: f64 = found.scores.iter().map(|&score| f64::from(score)).sum();
    assert!((sum - 1.0).abs() < 1e-5);
}

#[test]
fn documents_are_scored_by_their_nodes() {
    let documents = DocumentNodes::new(3, [vec![0, 1, 1], vec![2], vec![]]).unwrap();
    let scores = [0.5, 0.25, 0.25];
    assert_eq!(
        documents.scores(&scores, Aggregate::Sum).unwrap(),
        [0.75, 0.25, 0.0]
    );
    assert_eq!(
        documents.scores(&scores, Aggregate::Max).unwrap(),
        [0.5, 0.25, 0.0]
    );
    assert_eq!(
        documents.members(0).collect::<Vec<_>>(),
        [(0, 1.0), (1, 1.0)]
    );
    assert_eq!(documents.members(3).len(), 0);
    let ranking = documents.rank(&scores, Aggregate::Sum).unwrap();
    assert_eq!(ranking.ids().copied().collect::<Vec<_>>(), [0, 1]);
    assert!(matches!(
        documents.scores(&[0.5], Aggregate::Sum),
        Err(PprError::Size {
            given: 3,
            nodes: 1,
            ..
        })
    ));
    assert_eq!(
        DocumentNodes::new(2, [[2]]),
        Err(PprError::Node { node: 2, nodes: 2 })
    );
    for weight in [-1.0, f64::NAN] {
        let refused = DocumentNodes::weighted(2, [[(1, weight)]]);
        assert!(matches!(
            refused,
            Err(PprError::MemberWeight {
                document: 0,
                node: 1,
                ..
            })
        ));
    }
}

#[test]
fn seeds_without_edges_keep_what_is_theirs_however_seldom_the_walk_returns() {
    let graph = GraphBuilder::undirected(5).unwrap().build();
    let walk = Walk::<f64>::new(&graph, Dangling::Restart).unwrap();
    let restart = Restart::new(5, [(0, 1.0), (1, 1.0), (2, 2.0)]).unwrap();
    for alpha in [0.5, 1.0 - 1e-12, 1.0 - 1e-15] {
        let found = solve(&walk, &restart, &SolveOptions::new(alpha)).unwrap();
        for (score, wanted) in found.scores.iter().zip([0.25, 0.25, 0.5, 0.0, 0.0]) {
            assert!((score - wanted).abs() < 1e-9, "{alpha}: {:?}", found.scores);
        }
    }
}

/// As α nears 1 power iteration takes 1 / (1 − α) steps; it ends all the same, and says how near it
/// came.
#[test]
fn alpha_next_to_1_ends_with_what_there_is() {
    let path = |undirected| Edges {
        nodes: 3,
        undirected,
        edges: vec![(0, 1, 1.0), (1, 2, 1.0)],
    };
    let seed = Restart::new(3, [(0, 1.0)]).unwrap();
    for (alpha, converges) in [(0.999, true), (1.0 - 1e-9, false)] {
        for undirected in [true, false] {
            let walk = Walk::<f64>::new(&path(undirected).graph(), Dangling::Restart).unwrap();
            let options = SolveOptions::new(alpha);
            let found = personalized_pagerank(&walk, &seed, &options).unwrap();
            assert!(found.iterations <= MOST_ITERATIONS);
            assert_eq!(found.converged, converges, "{alpha} {undirected}");
            let sum: f64 = found.scores.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            // Relaxation, which undirected graphs get, does not depend on α so.
            if undirected {
                let found = solve(&walk, &seed, &options).unwrap();
                assert!(found.converged && found.iterations < 100, "{found:?}");
            }
        }
    }
}
