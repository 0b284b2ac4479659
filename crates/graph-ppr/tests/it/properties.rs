//! What holds for any graph.

use cornu_graph_ppr::{
    Dangling, Method, Order, Restart, SolveOptions, Walk, personalized_pagerank, solve, solve_batch,
};
use proptest::prelude::*;

use super::{Edges, exact, l1};

/// Graphs with parallel edges, self-loops, sinks, isolated nodes and several components.
pub(super) fn edges() -> impl Strategy<Value = Edges> {
    let weight = prop_oneof![Just(1.0), (1..5_u8).prop_map(f64::from), 0.001..1000.0];
    (1..24_usize, any::<bool>(), any::<bool>()).prop_flat_map(move |(nodes, undirected, equal)| {
        let node = 0..nodes as u32;
        let weight = if equal {
            Just(3.0).boxed()
        } else {
            weight.clone().boxed()
        };
        let edge = (node.clone(), node, weight);
        prop::collection::vec(edge, 0..nodes * 2).prop_map(move |edges| Edges {
            nodes,
            undirected,
            edges,
        })
    })
}

/// A graph, seeds on it, and α.
pub(super) fn problem() -> impl Strategy<Value = (Edges, Vec<(u32, f64)>, f64)> {
    let alpha = prop_oneof![Just(0.0), Just(0.5), Just(0.85), 0.0..0.97];
    (edges(), alpha).prop_flat_map(|(graph, alpha)| {
        let seed = (0..graph.nodes as u32, 0.01..1.0);
        let seeds = prop::collection::vec(seed, 1..5);
        (Just(graph), seeds, Just(alpha))
    })
}

pub(super) fn restart_of(nodes: usize, seeds: &[(u32, f64)]) -> Restart {
    Restart::new(nodes, seeds.iter().copied()).unwrap()
}

fn policies() -> impl Strategy<Value = Dangling> {
    prop_oneof![Just(Dangling::SelfLoop), Just(Dangling::Restart)]
}

proptest! {
    #[test]
    fn rows_of_p_sum_to_1(graph in edges(), dangling in policies()) {
        let graph = graph.graph();
        let p = graph.transition(dangling);
        for (node, row) in (0..).zip(p.outer_iterator()) {
            let sum: f64 = row.data().iter().sum();
            let restarts = dangling == Dangling::Restart && graph.row(node).0.is_empty();
            let expected = f64::from(u8::from(!restarts));
            prop_assert!((sum - expected).abs() < 1e-12);
            prop_assert!(row.indices().windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    #[test]
    fn probability_is_conserved_and_the_fixed_point_is_one(
        (graph, seeds, alpha) in problem(),
        dangling in policies(),
    ) {
        let graph = graph.graph();
        let restart = restart_of(graph.nodes(), &seeds);
        let p = exact(&graph, dangling, &restart, alpha).scores;
        prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-11);
        prop_assert!(p.iter().all(|&score| score >= 0.0));
        // α p P + (1 − α) r, from the matrix that callers see.
        let mut r = vec![0.0; graph.nodes()];
        restart.entries().iter().for_each(|&(node, weight)| r[node as usize] = weight);
        let mut next: Vec<f64> = r.iter().map(|weight| (1.0 - alpha) * weight).collect();
        for (from, row) in graph.transition(dangling).outer_iterator().enumerate() {
            for (to, weight) in row.iter() {
                next[to] += alpha * p[from] * weight;
            }
            if row.nnz() == 0 {
                r.iter().zip(&mut next).for_each(|(r, next)| *next += alpha * p[from] * r);
            }
        }
        prop_assert!(l1(&p, &next) < 1e-12);
    }

    #[test]
    fn permuting_the_nodes_permutes_the_result(
        (graph, seeds, alpha) in problem(),
        dangling in policies(),
        shift in 0..100_usize,
    ) {
        let n = graph.nodes;
        let stride = (1..=n).rev().find(|stride| gcd(*stride, n) == 1 && *stride <= n * 2 / 3 + 1);
        let to = |node: u32| ((node as usize * stride.unwrap() + shift) % n) as u32;
        let renamed = Edges {
            edges: graph.edges.iter().rev().map(|&(a, b, w)| (to(a), to(b), w)).collect(),
            ..graph.clone()
        };
        let found = exact(&graph.graph(), dangling, &restart_of(n, &seeds), alpha).scores;
        let moved: Vec<_> = seeds.iter().map(|&(node, weight)| (to(node), weight)).collect();
        let other = exact(&renamed.graph(), dangling, &restart_of(n, &moved), alpha).scores;
        let back: Vec<f64> = (0..n as u32).map(|node| other[to(node) as usize]).collect();
        prop_assert!(l1(&found, &back) < 1e-11);
    }

    #[test]
    fn the_order_of_edges_and_seeds_leaves_every_bit(
        (graph, seeds, alpha) in problem(),
        dangling in policies(),
    ) {
        let mut edges = graph.edges.clone();
        edges.reverse();
        if graph.undirected {
            edges.iter_mut().step_by(2).for_each(|edge| *edge = (edge.1, edge.0, edge.2));
        }
        let reversed = Edges { edges, ..graph.clone() }.graph();
        let graph = graph.graph();
        prop_assert_eq!(&graph, &reversed);
        let restart = restart_of(graph.nodes(), &seeds);
        let mut seeds = seeds;
        seeds.reverse();
        let same = restart_of(graph.nodes(), &seeds);
        prop_assert_eq!(&restart, &same);
        let (a, b) = (exact(&graph, dangling, &restart, alpha), exact(&reversed, dangling, &same, alpha));
        prop_assert_eq!(a, b);
    }

    #[test]
    fn methods_and_orders_agree(
        (graph, seeds, alpha) in problem(),
        dangling in policies(),
        tolerance in prop::sample::select(vec![1e-4, 1e-8, 1e-12]),
    ) {
        let graph = graph.graph();
        let restart = restart_of(graph.nodes(), &seeds);
        let mut found = Vec::new();
        for order in [Order::Given, Order::Degree, Order::ReverseCuthillMcKee] {
            let walk = Walk::<f64>::with_order(&graph, dangling, order).unwrap();
            let options = SolveOptions { tolerance, ..SolveOptions::new(alpha) };
            found.push(solve(&walk, &restart, &options).unwrap());
            found.push(personalized_pagerank(&walk, &restart, &options).unwrap());
        }
        for a in &found {
            for b in &found {
                let bound = a.error_bound() + b.error_bound() + 1e-12;
                prop_assert!(l1(&a.scores, &b.scores) <= bound);
            }
        }
    }

    #[test]
    fn a_batch_gives_the_bits_of_single_solutions(
        (graph, seeds, alpha) in problem(),
        dangling in policies(),
        count in 0..20_usize,
        single in any::<bool>(),
    ) {
        let graph = graph.graph();
        let restarts: Vec<Restart> = (0..count)
            .map(|at| {
                let shift = |&(node, weight): &(u32, f64)| {
                    ((node + at as u32) % graph.nodes() as u32, weight)
                };
                Restart::new(graph.nodes(), seeds[..1 + at % seeds.len()].iter().map(shift)).unwrap()
            })
            .collect();
        let method = if single { Method::Power } else { Method::Auto };
        let options = SolveOptions { tolerance: 1e-6, method, ..SolveOptions::new(alpha) };
        let walk = Walk::<f64>::new(&graph, dangling).unwrap();
        let batch = solve_batch(&walk, &restarts, &options).unwrap();
        let one_by_one: Vec<_> =
            restarts.iter().map(|restart| solve(&walk, restart, &options).unwrap()).collect();
        prop_assert_eq!(batch, one_by_one);
        let walk = Walk::<f32>::new(&graph, dangling).unwrap();
        let batch = solve_batch(&walk, &restarts, &options).unwrap();
        let one_by_one: Vec<_> =
            restarts.iter().map(|restart| solve(&walk, restart, &options).unwrap()).collect();
        prop_assert_eq!(batch, one_by_one);
    }

    #[test]
    fn f32_is_f64_to_its_precision((graph, seeds, alpha) in problem(), dangling in policies()) {
        let graph = graph.graph();
        let restart = restart_of(graph.nodes(), &seeds);
        // Above 0.85 rounding may leave more than 1e-6: four times that much, so that the iterations
        // for twice of it are enough.
        let tolerance = if alpha > 0.85 { 4.0 * 2f64.powi(-23) / (1.0 - alpha) } else { 1e-6 };
        let options = SolveOptions { tolerance, ..SolveOptions::new(alpha) };
        let walk = Walk::<f32>::new(&graph, dangling).unwrap();
        let found = solve(&walk, &restart, &options).unwrap();
        prop_assert!(found.converged);
        let wide: Vec<f64> = found.scores.iter().map(|&score| f64::from(score)).collect();
        let expected = exact(&graph, dangling, &restart, alpha).scores;
        let bound = found.error_bound() + 1e-6 / (1.0 - alpha);
        prop_assert!(l1(&wide, &expected) <= bound);
    }

    #[test]
    fn scores_are_linear_in_the_restart_vector(
        (graph, seeds, alpha) in problem(),
        dangling in policies(),
    ) {
        // Under Restart P depends on r where something dangles; without, everything is linear.
        let graph = graph.graph();
        let dangles = (0..graph.nodes() as u32).any(|node| graph.row(node).0.is_empty());
        let dangling = if dangles { Dangling::SelfLoop } else { dangling };
        let restart = restart_of(graph.nodes(), &seeds);
        let whole = exact(&graph, dangling, &restart, alpha).scores;
        let mut sum = vec![0.0; graph.nodes()];
        for &(node, weight) in restart.entries() {
            let one = restart_of(graph.nodes(), &[(node, 1.0)]);
            let part = exact(&graph, dangling, &one, alpha).scores;
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += weight * part);
        }
        prop_assert!(l1(&whole, &sum) < 1e-11);
    }

    #[test]
    fn undirected_walks_are_reversible((graph, _, alpha) in problem()) {
        let graph = Edges { undirected: true, ..graph }.graph();
        let (a, b) = (0, graph.nodes() as u32 - 1);
        let from = |node| {
            let one = restart_of(graph.nodes(), &[(node, 1.0)]);
            exact(&graph, Dangling::SelfLoop, &one, alpha).scores
        };
        let (forth, back) = (from(a)[b as usize], from(b)[a as usize]);
        let (strength_a, strength_b) = (graph.strength(a), graph.strength(b));
        let scale = strength_a.max(strength_b).max(1.0);
        prop_assert!((strength_a * forth - strength_b * back).abs() <= 1e-11 * scale);
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
