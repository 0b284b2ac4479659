//! The solution against (1 − α) r (I − α P)⁻¹, by Gaussian elimination.

use cornu_graph_ppr::{Dangling, Graph, Method, Restart, SolveOptions, Walk, solve};
use proptest::prelude::*;

use super::Edges;
use super::properties::{problem, restart_of};

/// p (I − α P) = (1 − α) r, as (I − αP)ᵀ pᵀ = (1 − α) rᵀ, with partial pivoting.
fn closed_form(graph: &Edges, dangling: Dangling, r: &[f64], alpha: f64) -> Vec<f64> {
    let n = graph.nodes;
    let mut w = vec![vec![0.0; n]; n];
    for &(from, to, weight) in &graph.edges {
        w[from as usize][to as usize] += weight;
        if graph.undirected {
            w[to as usize][from as usize] += weight;
        }
    }
    let mut system = vec![vec![0.0; n + 1]; n];
    for from in 0..n {
        let strength: f64 = w[from].iter().sum();
        for to in 0..n {
            let p = match (strength > 0.0, dangling) {
                (true, _) => w[from][to] / strength,
                (false, Dangling::SelfLoop) => f64::from(u8::from(from == to)),
                (false, Dangling::Restart) => r[to],
            };
            system[to][from] = f64::from(u8::from(from == to)) - alpha * p;
        }
        system[from][n] = (1.0 - alpha) * r[from];
    }
    for pivot in 0..n {
        let best = (pivot..n)
            .max_by(|&a, &b| system[a][pivot].abs().total_cmp(&system[b][pivot].abs()))
            .unwrap();
        system.swap(pivot, best);
        for row in 0..n {
            if row != pivot {
                let factor = system[row][pivot] / system[pivot][pivot];
                let above = system[pivot].clone();
                let pairs = system[row].iter_mut().zip(above).skip(pivot);
                pairs.for_each(|(value, above)| *value -= factor * above);
            }
        }
    }
    (0..n)
        .map(|row| system[row][n] / system[row][row])
        .collect()
}

/// Which nodes a path leads to from a seed.
fn reached(graph: &Graph, restart: &Restart) -> Vec<bool> {
    let mut reached = vec![false; graph.nodes()];
    let mut todo: Vec<u32> = restart.entries().iter().map(|&(node, _)| node).collect();
    while let Some(node) = todo.pop() {
        if !std::mem::replace(&mut reached[node as usize], true) {
            todo.extend(graph.row(node).0);
        }
    }
    reached
}

proptest! {
    #[test]
    fn every_method_gives_the_closed_form_within_its_error_bound(
        (graph, seeds, alpha) in problem(),
        self_loop in any::<bool>(),
        tolerance in prop::sample::select(vec![1e-3, 1e-6, 1e-10]),
    ) {
        let dangling = if self_loop { Dangling::SelfLoop } else { Dangling::Restart };
        let restart = restart_of(graph.nodes, &seeds);
        let mut r = vec![0.0; graph.nodes];
        restart.entries().iter().for_each(|&(node, weight)| r[node as usize] = weight);
        let expected = closed_form(&graph, dangling, &r, alpha);
        let reached = reached(&graph.graph(), &restart);
        let walk = Walk::<f64>::new(&graph.graph(), dangling).unwrap();
        for method in [Method::Auto, Method::Power] {
            let options = SolveOptions { tolerance, method, ..SolveOptions::new(alpha) };
            let found = solve(&walk, &restart, &options).unwrap();
            prop_assert!(found.converged && found.residual <= tolerance);
            let distance = super::l1(&found.scores, &expected);
            let bound = found.error_bound() + 1e-12;
            prop_assert!(distance <= bound, "{method:?}: {distance} for {bound}");
            for (found, reached) in found.scores.iter().zip(&reached) {
                prop_assert!(*reached || *found == 0.0, "no path, yet {found}");
            }
        }
    }
}
