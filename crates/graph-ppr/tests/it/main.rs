//! Integration tests, one binary.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod cases;
mod chapter;
mod closed_form;
mod local;
mod oracles;
mod outcomes;
mod properties;
mod relaxation;
mod threads;

use cornu_graph_ppr::{
    Dangling, Graph, GraphBuilder, NodeKeys, PprError, Restart, Solution, SolveOptions, Walk, solve,
};

/// A graph as its edges, for the tests to draw and to print.
#[derive(Clone, Debug)]
struct Edges {
    nodes: usize,
    undirected: bool,
    edges: Vec<(u32, u32, f64)>,
}

impl Edges {
    fn graph(&self) -> Graph {
        let mut builder = match self.undirected {
            true => GraphBuilder::undirected(self.nodes).unwrap(),
            false => GraphBuilder::directed(self.nodes).unwrap(),
        };
        for &(from, to, weight) in &self.edges {
            builder.add(from, to, weight).unwrap();
        }
        builder.build()
    }
}

/// Solves a small graph of named nodes; scores by name.
fn by_name(
    edges: &[(&str, &str)],
    undirected: bool,
    seeds: &[(&str, f64)],
    alpha: f64,
) -> Result<Vec<(String, f64)>, PprError> {
    let keys = NodeKeys::new(edges.iter().flat_map(|&(from, to)| [from, to]))?;
    let list = edges.iter();
    let list = list.map(|&(from, to)| (keys.id(from).unwrap(), keys.id(to).unwrap(), 1.0));
    let graph = Edges {
        nodes: keys.len(),
        undirected,
        edges: list.collect(),
    };
    let walk = Walk::<f64>::new(&graph.graph(), Dangling::Restart)?;
    let restart = keys.restart(seeds.iter().copied())?;
    let found = solve(&walk, &restart, &SolveOptions::new(alpha))?;
    assert!(found.converged);
    let names = keys.as_slice().iter().map(|&name| name.to_owned());
    Ok(names.zip(found.scores).collect())
}

fn exact(graph: &Graph, dangling: Dangling, restart: &Restart, alpha: f64) -> Solution<f64> {
    let walk = Walk::<f64>::new(graph, dangling).unwrap();
    let tight = SolveOptions {
        tolerance: 1e-13,
        ..SolveOptions::new(alpha)
    };
    let found = solve(&walk, restart, &tight).unwrap();
    assert!(found.converged, "{}", found.residual);
    found
}

fn l1(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}
