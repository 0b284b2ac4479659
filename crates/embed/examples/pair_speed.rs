//! The Rust side of `benches/pair_peers.py`: scores the pairs of a file (a JSON array of objects
//! with `query` and `documents`) each time a line comes in, and answers with the seconds that it
//! took. At the end it writes the scores.
//!
//! `pair_speed MODEL PAIRS.json THREADS OUT.f32`

use std::io::{BufRead, Write};
use std::num::NonZeroUsize;
use std::time::Instant;

use cornu_core::PairScorer;
use cornu_embed::bert::{BertOptions, BertPairScorer};
use serde::Deserialize;

#[derive(Deserialize)]
struct Asked {
    query: String,
    documents: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || {
        arguments
            .next()
            .ok_or("usage: pair_speed MODEL PAIRS THREADS OUT")
    };
    let (model, pairs, threads, out) = (next()?, next()?, next()?, next()?);
    let asked: Vec<Asked> = serde_json::from_slice(&std::fs::read(pairs)?)?;
    let options = BertOptions {
        threads: Some(threads.parse::<NonZeroUsize>()?),
        ..BertOptions::default()
    };
    let scorer = BertPairScorer::open(&model, &options)?;
    let mut reply = std::io::stdout().lock();
    writeln!(reply, "ready")?;
    reply.flush()?;
    let mut scores = Vec::new();
    for line in std::io::stdin().lock().lines() {
        line?;
        scores.clear();
        let start = Instant::now();
        for asked in &asked {
            let documents: Vec<&str> = asked.documents.iter().map(String::as_str).collect();
            scores.extend(scorer.score(&asked.query, &documents)?);
        }
        writeln!(reply, "{{\"seconds\": {}}}", start.elapsed().as_secs_f64())?;
        reply.flush()?;
    }
    let bytes: Vec<u8> = scores
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    std::fs::write(out, bytes)?;
    Ok(())
}
