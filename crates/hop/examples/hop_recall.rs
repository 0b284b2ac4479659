//! Recall@2, recall@5 and all-gold@5 of the walk on a question set of the layout of BEIR, with
//! rules for the extraction and vectors that were made before:
//! `hop_recall FOLDER PASSAGES.f32 QUESTIONS.f32 DIMENSION dev|test|all`
//!
//! Development questions are the 150 with the smallest SHA-256 of their id.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::time::Instant;

use cornu_core::Ranking;
use cornu_extract::RuleExtractor;
use cornu_hop::{HopGraph, Passage, RecallOptions};
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, passages, questions, dimension, part] = arguments.as_slice() else {
        return Err(
            "usage: hop_recall FOLDER PASSAGES.f32 QUESTIONS.f32 DIMENSION dev|test|all".into(),
        );
    };
    let dimension: usize = dimension.parse()?;
    let (passage_vectors, question_vectors) = (vectors(passages)?, vectors(questions)?);
    let corpus = lines(&format!("{folder}/corpus.jsonl"))?;
    let queries = lines(&format!("{folder}/queries.jsonl"))?;
    let mut gold: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in std::fs::read_to_string(format!("{folder}/qrels.tsv"))?
        .lines()
        .skip(1)
    {
        let mut fields = line.split('\t').map(str::to_owned);
        let (query, passage) = (fields.next().ok_or("qrels")?, fields.next().ok_or("qrels")?);
        gold.entry(query).or_default().insert(passage);
    }
    let mut out = std::io::stdout().lock();

    let start = Instant::now();
    let rules = RuleExtractor::new();
    let read: Vec<Passage<usize>> = corpus
        .iter()
        .enumerate()
        .map(|(at, passage)| {
            let text = format!("{}\n{}", text(passage, "title"), text(passage, "text"));
            Passage::new(at, &text, rules.read(&text))
        })
        .collect();
    let extracted = start.elapsed();
    let graph = HopGraph::build(&read)?;
    writeln!(
        out,
        "{} passages, {} nodes, {} entries; extraction {:.2} s, graph {:.2} s",
        read.len(),
        graph.adjacency().nodes(),
        graph.adjacency().entries(),
        extracted.as_secs_f64(),
        (start.elapsed() - extracted).as_secs_f64()
    )?;

    let mut chosen: Vec<usize> = (0..queries.len()).collect();
    chosen.sort_by_key(|&at| {
        queries
            .get(at)
            .map(|query| sha256_prefix(text(query, "_id")))
    });
    match part.as_str() {
        "dev" => chosen.truncate(150),
        "test" => drop(chosen.drain(..chosen.len().min(150))),
        _ => {}
    }
    let top: usize = std::env::var("DENSE_TOP")
        .ok()
        .map_or(Ok(usize::MAX), |top| top.parse())?;
    let mut sums: BTreeMap<String, [f64; 6]> = BTreeMap::new();
    let mut walked = 0.0;
    for at in chosen {
        let query = queries.get(at).ok_or("a question")?;
        let vector = question_vectors
            .get(at * dimension..(at + 1) * dimension)
            .ok_or("vector")?;
        let scored = passage_vectors.chunks_exact(dimension).map(|row| {
            row.iter()
                .zip(vector)
                .map(|(a, b)| f64::from(*a) * f64::from(*b))
                .sum::<f64>()
        });
        let dense = Ranking::new(scored.enumerate())?.top(top);
        let start = Instant::now();
        let found = graph.recall(text(query, "text"), Some(&dense), &options()?)?;
        walked += start.elapsed().as_secs_f64();
        let gold = gold
            .get(text(query, "_id"))
            .ok_or("a question without gold")?;
        let row = |ranking: &Ranking<usize>, k: usize| {
            let hits = ranking.ids().take(k).filter(|&&at| {
                corpus
                    .get(at)
                    .is_some_and(|passage| gold.contains(text(passage, "_id")))
            });
            hits.count() as f64 / gold.len() as f64
        };
        for kind in [text(query, "type"), "all"] {
            let sum = sums.entry(kind.to_owned()).or_default();
            let five = row(&found.ranking, 5);
            let values = [
                1.0,
                row(&dense, 2),
                row(&dense, 5),
                row(&found.ranking, 2),
                five,
                f64::from(u8::from(five == 1.0)),
            ];
            for (sum, value) in sum.iter_mut().zip(values) {
                *sum += value;
            }
        }
    }
    for (kind, [n, dense2, dense5, hop2, hop5, all5]) in &sums {
        writeln!(
            out,
            "{kind:20} n {n:3}  dense R@2 {:.1} R@5 {:.1}  hop R@2 {:.1} R@5 {:.1} all-gold@5 {:.1}",
            100.0 * dense2 / n,
            100.0 * dense5 / n,
            100.0 * hop2 / n,
            100.0 * hop5 / n,
            100.0 * all5 / n
        )?;
    }
    let questions = sums.get("all").map_or(1.0, |all| all[0]);
    writeln!(out, "{:.2} ms a question", 1000.0 * walked / questions)?;
    Ok(())
}

/// The defaults, or what the environment says: `ALPHA`, `FACT`, `DENSE`.
fn options() -> Result<RecallOptions, Failure> {
    let mut options = RecallOptions::default();
    for (name, value) in [
        ("ALPHA", &mut options.alpha),
        ("FACT", &mut options.fact_weight),
        ("DENSE", &mut options.dense_weight),
    ] {
        if let Ok(set) = std::env::var(name) {
            *value = set.parse()?;
        }
    }
    Ok(options)
}

fn lines(path: &str) -> Result<Vec<Value>, Failure> {
    let read = std::fs::read_to_string(path)?;
    Ok(read
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?)
}

fn vectors(path: &str) -> Result<Vec<f32>, Failure> {
    let bytes = std::fs::read(path)?;
    let four =
        |bytes: &[u8]| -> [u8; 4] { std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0)) };
    Ok(bytes
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(four(bytes)))
        .collect())
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or("-")
}

fn sha256_prefix(id: &str) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(id.as_bytes()).into()
}
