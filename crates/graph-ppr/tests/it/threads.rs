//! The same bits on any number of threads, on a graph of many blocks.

use cornu_graph_ppr::{
    Dangling, Graph, GraphBuilder, Restart, SolveOptions, Walk, solve, solve_batch,
};

/// A graph with hubs, large enough for several blocks of rows.
fn hubs(undirected: bool) -> Graph {
    let nodes = 20_000_u32;
    let mut builder = match undirected {
        true => GraphBuilder::undirected(nodes as usize).unwrap(),
        false => GraphBuilder::directed(nodes as usize).unwrap(),
    };
    let mut state = 14_u64;
    for at in 0..120_000 {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let random = |bits: u32| f64::from((state >> bits) as u16) / 65536.0;
        let hub = (random(16).powi(4) * f64::from(nodes)) as u32;
        let other = (random(40) * f64::from(nodes - 100)) as u32;
        builder.add(hub, other, f64::from(at % 7 + 1)).unwrap();
    }
    builder.build()
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    for undirected in [true, false] {
        let graph = hubs(undirected);
        let walk = Walk::<f64>::new(&graph, Dangling::Restart).unwrap();
        let restarts: Vec<Restart> = (0..9_u32)
            .map(|at| Restart::new(graph.nodes(), [(at, 1.0), (at * 1000 + 7, 0.5)]).unwrap())
            .collect();
        let options = SolveOptions {
            parallel_from: Some(0),
            ..SolveOptions::new(0.85)
        };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let one = solve(&walk, &restarts[8], &options).unwrap();
                (one, solve_batch(&walk, &restarts, &options).unwrap())
            })
        };
        let (one, batch) = run(1);
        assert_eq!(one, batch[8]);
        assert!(one.converged && one.scores.iter().filter(|&&score| score > 0.0).count() > 10_000);
        // Rows of thousands of entries and of few, against the matrix that callers see.
        let p = &one.scores;
        let mut next = vec![0.0; graph.nodes()];
        for (from, row) in graph
            .transition(Dangling::Restart)
            .outer_iterator()
            .enumerate()
        {
            row.iter()
                .for_each(|(to, weight)| next[to] += 0.85 * p[from] * weight);
        }
        let rest = 1.0 - next.iter().sum::<f64>();
        for &(node, weight) in restarts[8].entries() {
            next[node as usize] += rest * weight;
        }
        assert!(super::l1(p, &next) < 1e-9, "{}", super::l1(p, &next));
        for threads in [2, 3, 8] {
            assert_eq!(
                run(threads),
                (one.clone(), batch.clone()),
                "{threads} threads"
            );
        }
        let by_default = SolveOptions::new(0.85);
        assert_eq!(solve(&walk, &restarts[8], &by_default).unwrap(), one);
    }
}

/// Rows of one length that are summed side by side, of nodes that differ in how much leaves them: for
/// each kind of graph and of weights against the matrix that callers see.
#[test]
fn rows_of_one_length_are_not_taken_for_nodes_of_one_strength() {
    let nodes = 600_u32;
    for (undirected, weighted) in [(true, false), (true, true), (false, false), (false, true)] {
        let mut builder = match undirected {
            true => GraphBuilder::undirected(nodes as usize).unwrap(),
            false => GraphBuilder::directed(nodes as usize).unwrap(),
        };
        for to in 0..nodes {
            // Few nodes have many edges outwards; each has three inwards.
            let mut from = std::collections::BTreeSet::new();
            for at in 1.. {
                from.insert((to * 7 + at * 13) % (nodes / (1 + at % 3)));
                if from.len() == 3 {
                    break;
                }
            }
            for (at, from) in (1..).zip(from) {
                let weight = if weighted {
                    1.0 / f64::from(at + to % 5)
                } else {
                    1.0
                };
                if undirected && from >= to {
                    continue; // the other direction may come, too, and weigh the edge double
                }
                builder.add(from, to, weight).unwrap();
            }
        }
        let graph = builder.build();
        for dangling in [Dangling::Restart, Dangling::SelfLoop] {
            let walk = Walk::<f64>::new(&graph, dangling).unwrap();
            assert_eq!(walk.is_value_free(), !weighted);
            let seed = Restart::new(nodes as usize, [(3, 1.0), (4, 2.0)]).unwrap();
            let p = solve(&walk, &seed, &SolveOptions::new(0.7)).unwrap().scores;
            let mut next = vec![0.0; nodes as usize];
            for (from, row) in graph.transition(dangling).outer_iterator().enumerate() {
                row.iter()
                    .for_each(|(to, share)| next[to] += 0.7 * p[from] * share);
            }
            let rest = 1.0 - next.iter().sum::<f64>();
            for &(node, weight) in seed.entries() {
                next[node as usize] += rest * weight;
            }
            let distance = super::l1(&p, &next);
            assert!(
                distance < 1e-9,
                "{undirected} {weighted} {dangling:?}: {distance}"
            );
        }
    }
}
