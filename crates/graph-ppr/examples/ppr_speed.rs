//! Times the solvers on a graph, for `benches/peers.py` to compare. Reads commands, one a line,
//! answers each with one line of JSON.
//!
//! `ppr_speed NODES EDGES_FILE OUT_FILE ORDER`: the file holds pairs of u32, little-endian, the
//! undirected edges; scores go to OUT_FILE as f64.
//!
//! - `solve f64|f32 auto|power ALPHA TOLERANCE SEED,SEED,..`
//! - `batch f64|f32 ALPHA TOLERANCE SEED,..;SEED,..`
//! - `push f64|f32 ALPHA EPSILON SEED,SEED,..`
//! - `stream`: reads 256 MiB, for the bandwidth that one thread and all threads get.
#![allow(
    clippy::print_stdout,
    reason = "a program that answers on its standard output"
)]

use std::io::{BufRead, Write};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cornu_graph_ppr::{
    Dangling, Graph, GraphBuilder, Method, Order, PushOptions, PushSpace, Real, Restart, Solution,
    SolveOptions, Walk, forward_push, solve, solve_batch,
};
use rayon::prelude::*;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [nodes, edges, out, order] = &arguments[..] else {
        bail!("give NODES EDGES_FILE OUT_FILE given|degree|rcm");
    };
    let order = match order.as_str() {
        "given" => Order::Given,
        "degree" => Order::Degree,
        "rcm" => Order::ReverseCuthillMcKee,
        other => bail!("no order {other}"),
    };
    let nodes: usize = nodes.parse()?;
    let bytes = std::fs::read(edges).with_context(|| format!("reading {edges}"))?;
    let mut builder = GraphBuilder::undirected(nodes)?;
    for pair in bytes.as_chunks::<8>().0 {
        let [a, b, c, d, e, f, g, h] = *pair;
        let (from, to) = (
            u32::from_le_bytes([a, b, c, d]),
            u32::from_le_bytes([e, f, g, h]),
        );
        builder.add(from, to, 1.0)?;
    }
    let begin = Instant::now();
    let graph = builder.build();
    let build = begin.elapsed().as_secs_f64();
    let mut systems = Systems {
        wide: System::new(&graph, order)?,
        narrow: System::new(&graph, order)?,
    };
    let prepare = begin.elapsed().as_secs_f64() - build;
    println!(
        "{{\"entries\": {}, \"build\": {build}, \"prepare_two\": {prepare}, \"bytes_f64\": {}}}",
        graph.entries(),
        systems.wide.walk.bytes()
    );
    for line in std::io::stdin().lock().lines() {
        println!("{}", systems.answer(&line?, out)?);
    }
    Ok(())
}

struct Systems {
    wide: System<f64>,
    narrow: System<f32>,
}

struct System<T> {
    walk: Walk<T>,
    space: PushSpace<T>,
}

impl Systems {
    fn answer(&mut self, line: &str, out: &str) -> Result<String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["stream"] => Ok(stream()),
            [what, "f64", ..] => self.wide.answer(what, &words[2..], out),
            [what, "f32", ..] => self.narrow.answer(what, &words[2..], out),
            _ => bail!("no command {line}"),
        }
    }
}

impl<T: Real> System<T> {
    fn new(graph: &Graph, order: Order) -> Result<Self> {
        Ok(Self {
            walk: Walk::with_order(graph, Dangling::Restart, order)?,
            space: PushSpace::new(),
        })
    }

    fn answer(&mut self, what: &str, words: &[&str], out: &str) -> Result<String> {
        let restart = |seeds: &str| -> Result<Restart> {
            let seeds: Result<Vec<u32>, _> = seeds.split(',').map(str::parse).collect();
            Ok(Restart::uniform(self.walk.nodes(), seeds?)?)
        };
        let options = |alpha: &str, tolerance: &str| -> Result<SolveOptions> {
            let tolerance = tolerance.parse()?;
            Ok(SolveOptions {
                tolerance,
                ..SolveOptions::new(alpha.parse()?)
            })
        };
        match (what, words) {
            ("solve", [method, alpha, tolerance, seeds]) => {
                let (restart, mut options) = (restart(seeds)?, options(alpha, tolerance)?);
                if *method == "power" {
                    options.method = Method::Power;
                }
                let begin = Instant::now();
                let found = solve(&self.walk, &restart, &options)?;
                report(begin, &[found], out)
            }
            ("batch", [alpha, tolerance, seeds]) => {
                let restarts: Result<Vec<_>> = seeds.split(';').map(restart).collect();
                let (restarts, options) = (restarts?, options(alpha, tolerance)?);
                let begin = Instant::now();
                let found = solve_batch(&self.walk, &restarts, &options)?;
                report(begin, &found, out)
            }
            ("push", [alpha, epsilon, seeds]) => {
                let epsilon = epsilon.parse()?;
                let options = PushOptions {
                    epsilon,
                    ..PushOptions::new(alpha.parse()?)
                };
                let restarts: Result<Vec<_>> = seeds.split(';').map(restart).collect();
                let (restarts, mut found) = (restarts?, None);
                let begin = Instant::now();
                for restart in &restarts {
                    let push = forward_push(&self.walk, restart, &options, &mut self.space)?;
                    found = Some(push);
                }
                let seconds = begin.elapsed().as_secs_f64();
                let found = found.context("no restart vector")?;
                let mut scores = vec![0.0; self.walk.nodes()];
                for &(node, score) in &found.scores {
                    scores[node as usize] = score.wide();
                }
                write(&scores, out)?;
                Ok(format!(
                    "{{\"seconds\": {seconds}, \"error_bound\": {}, \"entries\": {}}}",
                    found.error_bound, found.entries
                ))
            }
            _ => bail!("no command {what} {words:?}"),
        }
    }
}

fn report<T: Real>(begin: Instant, found: &[Solution<T>], out: &str) -> Result<String> {
    let seconds = begin.elapsed().as_secs_f64();
    let last = found.last().context("no restart vector")?;
    write(&last.scores, out)?;
    Ok(format!(
        "{{\"seconds\": {seconds}, \"iterations\": {}, \"residual\": {:e}, \"converged\": {}}}",
        last.iterations, last.residual, last.converged
    ))
}

fn write<T: Real>(scores: &[T], out: &str) -> Result<()> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(out)?);
    for score in scores {
        file.write_all(&score.wide().to_le_bytes())?;
    }
    Ok(file.flush()?)
}

fn stream() -> String {
    let words: Vec<u64> = (0..32 << 20).collect();
    let bytes = size_of_val(&words[..]) as f64;
    let sum = |part: &[u64]| part.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word));
    let mut best = [f64::INFINITY; 2];
    for _ in 0..5 {
        let begin = Instant::now();
        std::hint::black_box(sum(&words));
        best[0] = best[0].min(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        std::hint::black_box(words.par_chunks(1 << 20).map(sum).max());
        best[1] = best[1].min(begin.elapsed().as_secs_f64());
    }
    let [one, all] = best.map(|seconds| bytes / seconds / 1e9);
    format!("{{\"gb_per_s_one_thread\": {one}, \"gb_per_s_all_threads\": {all}}}")
}
