//! Indexes a folder of Markdown files as public and answers questions about it, without a model:
//! `cargo run --release -p cornu --example ask -- FOLDER QUESTION…`
//!
//! Times go to standard error. The second time a question is asked, nothing is cold.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cornu::{Acl, HashEmbeddingProvider, LiveRagIndex, Principal, RagOptions, Threshold};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("give a folder, then questions")?;
    let home = tempfile::tempdir()?;
    let path = home.path().join("index.db");
    let provider = Arc::new(HashEmbeddingProvider::default());
    let index = LiveRagIndex::open(path, provider, RagOptions::default())?;

    for round in ["new", "unchanged"] {
        let start = Instant::now();
        let report = index.ingest_tree(Path::new(&folder), |_| Acl::public(), |_| {})?;
        let documents = report.inserted + report.unchanged;
        let time = start.elapsed();
        eprintln!(
            "{round}: {documents} documents, {} chunks, {time:.2?}",
            report.chunks
        );
        for (file, error) in &report.failed {
            eprintln!("{file}: {error}");
        }
    }
    let reader = Principal::public();
    let threshold = Threshold::by_hand(0.2, index.provider())?;
    for question in arguments {
        for round in ["first", "again"] {
            let (dense, _) = timed(|| index.search_dense(&reader, &question, 10));
            let (sparse, _) = timed(|| index.search_sparse(&reader, &question, 10));
            let (hybrid, _) = timed(|| index.search_hybrid(&reader, &question, 10));
            let (answer, response) = timed(|| index.answer(&reader, &question, &threshold));
            eprintln!(
                "{round}: dense {dense:.2?}, sparse {sparse:.2?}, hybrid {hybrid:.2?}, answer {answer:.2?}"
            );
            if round == "again" {
                println!("{question}\n{}\n", response?.outcome);
            }
        }
    }
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = work();
    (start.elapsed(), value)
}
