//! The Rust side of `benches/peers.py`: embeds the texts of a file (a JSON array) each time a line
//! comes in, and answers with the seconds that it took. At the end it writes the vectors.
//!
//! `embed_speed MODEL TEXTS.json THREADS OUT.f32`

use std::io::{BufRead, Write};
use std::num::NonZeroUsize;
use std::time::Instant;

use cornu_core::EmbeddingProvider;
use cornu_embed::bert::{BertEmbeddingProvider, BertOptions, Truncation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || {
        arguments
            .next()
            .ok_or("usage: embed_speed MODEL TEXTS THREADS OUT")
    };
    let (model, texts, threads, out) = (next()?, next()?, next()?, next()?);
    let texts: Vec<String> = serde_json::from_slice(&std::fs::read(texts)?)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let options = BertOptions {
        threads: Some(threads.parse::<NonZeroUsize>()?),
        truncation: Truncation::Right,
        document_prefix: Some(String::new()),
        ..BertOptions::default()
    };
    let start = Instant::now();
    let provider = BertEmbeddingProvider::open(&model, &options)?;
    let mut reply = std::io::stdout().lock();
    writeln!(reply, "{{\"open_s\": {}}}", start.elapsed().as_secs_f64())?;
    reply.flush()?;
    let mut vectors = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let (seconds, tokens) = match line?.as_str() {
            "batch" => {
                let start = Instant::now();
                let embeddings = provider.embed_counted(&texts)?;
                let seconds = start.elapsed().as_secs_f64();
                vectors = embeddings.vectors.into_raw_vec_and_offset().0;
                (
                    seconds,
                    embeddings.tokens.iter().map(|tokens| tokens.kept).sum(),
                )
            }
            query => {
                let start = Instant::now();
                provider.embed_query(query)?;
                (start.elapsed().as_secs_f64(), 0)
            }
        };
        writeln!(reply, "{{\"seconds\": {seconds}, \"tokens\": {tokens}}}")?;
        reply.flush()?;
    }
    let bytes: Vec<u8> = vectors
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    std::fs::write(out, bytes)?;
    Ok(())
}
