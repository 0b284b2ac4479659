//! What ingest costs, and what each step of one question costs: `bench-data`, and 2wiki-500 where
//! `CORNU_DATA` holds it. For people; no table shows these figures.
//!
//! `cargo xtask with-torch --all-torch -- build --bin journey`, then
//! `env $(cargo xtask with-torch --print) target/release/journey`.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use cornu::{LiveRagIndex, Principal, RagOptions, Threshold};
use cornu_benches::corpus::BenchData;
use cornu_benches::external::{self, Found};
use cornu_benches::models::{Access, Models, Opened, PINNED};
use cornu_benches::run::say;
use cornu_benches::strategies::{SENTENCE, strategy};
use cornu_core::{Document, EmbeddingProvider};
use cornu_fuse::{RrfOptions, Weighted, rrf_fuse};

/// As many texts as the index embeds at once, or more.
const EMBEDDED_AT_ONCE: usize = 512;

/// How often a line says how far it is.
const QUIET: Duration = Duration::from_secs(5);

/// Questions that are asked, each twice: the second time is what is counted.
const QUESTIONS: usize = 50;

fn main() -> Result<()> {
    let models = Models::from_env();
    let data = BenchData::load(Path::new("bench-data"))?;
    let questions = data.questions("questions-ext.jsonl")?;
    let questions = questions.iter().map(|question| question.question.clone());
    let documents: Vec<Document> = data.documents().cloned().collect();
    measure(
        "bench-data",
        &models,
        &documents,
        &questions.collect::<Vec<_>>(),
    )?;
    match external::find("2wiki-500")? {
        Found::Absent(reason) => say(&format!("SKIPPED 2wiki-500: {reason}")),
        Found::Set(set) => {
            let questions = set.queries.iter().map(|query| query.text.clone());
            measure(
                "2wiki-500",
                &models,
                &set.passages,
                &questions.collect::<Vec<_>>(),
            )?;
        }
    }
    Ok(())
}

fn measure(
    name: &str,
    models: &Models,
    documents: &[Document],
    questions: &[String],
) -> Result<()> {
    say(&format!("{name}: opening {PINNED}"));
    let Opened { provider, counter } = match models.open(PINNED)? {
        Access::Open(opened) => *opened,
        Access::Gated(reason) => bail!("{PINNED}: {reason}"),
    };
    let provider: Arc<dyn EmbeddingProvider> = Arc::from(provider);
    let chunker = strategy(SENTENCE, &counter)?;
    let bytes: usize = documents
        .iter()
        .map(|document| document.source().len())
        .sum();

    let (texts, chunking) = timed(|| -> Result<Vec<String>> {
        let mut texts = Vec::new();
        for document in documents {
            let chunks = chunker.chunk(document)?;
            texts.extend(chunks.into_iter().map(|chunk| chunk.index_text));
        }
        Ok(texts)
    });
    let texts = texts?;
    let references: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut clock = Clock::new(name, "embedded alone", texts.len());
    let (embedded, embedding) = timed(|| -> Result<()> {
        for part in references.chunks(EMBEDDED_AT_ONCE) {
            provider.embed(part)?;
            clock.at(clock.done + part.len());
        }
        Ok(())
    });
    embedded?;

    let folder = tempfile::tempdir()?;
    let options = RagOptions {
        chunker,
        ..RagOptions::default()
    };
    let path = folder.path().join("index.db");
    let index = LiveRagIndex::open(path, Arc::clone(&provider), options)?;
    let mut clock = Clock::new(name, "documents ingested", documents.len());
    let (report, whole) = timed(|| index.ingest_all(documents, |progress| clock.at(progress.done)));
    let (again, unchanged) = timed(|| index.ingest_all(documents, |_| {}));
    say(&format!(
        "{name}: {} documents, {:.1} MB, {} chunks, {} failed\n  ingest {whole:.2} s: chunking alone \
         {chunking:.2} s, embedding alone {embedding:.2} s ({:.0} chunks/s), all else {:.2} s\n  \
         once more, {} unchanged: {unchanged:.2} s",
        documents.len(),
        bytes as f64 / 1e6,
        texts.len(),
        report?.failed.len(),
        texts.len() as f64 / embedding,
        whole - chunking - embedding,
        again?.unchanged,
    ));

    let grants = documents
        .iter()
        .flat_map(|document| document.acl().grants());
    let asker: Principal = grants.cloned().collect();
    let threshold = Threshold::by_hand(-1.0, index.provider())?;
    let steps = [
        "embed the question",
        "the asker's view",
        "dense: neighbours",
        "sparse: BM25, texts of the hits",
        "fuse two lists of 100",
        "search_hybrid, whole",
        "answer, whole",
    ];
    let mut times = vec![Vec::new(); steps.len()];
    for round in ["first", "again"] {
        for (at, question) in questions.iter().take(QUESTIONS).enumerate() {
            let (query, embed) = timed(|| provider.embed_query(question));
            let query = query?;
            let (snapshot, view) = timed(|| index.store().snapshot(&asker));
            let snapshot = snapshot?;
            let (dense, knn) = timed(|| snapshot.knn(query.view(), 100));
            let dense = dense?;
            let (sparse, bm25) = timed(|| index.search_sparse(&asker, question, 100));
            sparse?;
            let lists = [Weighted::new(&dense, 1.0), Weighted::new(&dense, 1.0)];
            let (fused, fuse) = timed(|| rrf_fuse(&lists, RrfOptions::default()));
            fused?;
            let (found, hybrid) = timed(|| index.search_hybrid(&asker, question, 10));
            found?;
            let (response, answer) = timed(|| index.answer(&asker, question, &threshold));
            response?;
            let all = [embed, view, knn, bm25, fuse, hybrid, answer];
            if round == "first" && at == 0 {
                let cold = steps.iter().zip(all);
                let cold = cold.map(|(step, s)| format!("{step} {:.1}", s * 1e3));
                say(&format!(
                    "  first question of the process, ms: {}",
                    cold.collect::<Vec<_>>().join("; ")
                ));
            }
            if round == "again" {
                times
                    .iter_mut()
                    .zip(all)
                    .for_each(|(times, s)| times.push(s));
            }
        }
    }
    for (step, times) in steps.iter().zip(&mut times) {
        times.sort_unstable_by(f64::total_cmp);
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(0.0) * 1e3;
        say(&format!(
            "  {step:32} median {:7.2} ms, p95 {:7.2} ms",
            at(50),
            at(95)
        ));
    }
    Ok(())
}

/// Says now and then how much of something is done.
struct Clock<'a> {
    of: &'a str,
    what: &'a str,
    done: usize,
    all: usize,
    said: Instant,
}

impl<'a> Clock<'a> {
    fn new(of: &'a str, what: &'a str, all: usize) -> Self {
        Self {
            of,
            what,
            done: 0,
            all,
            said: Instant::now(),
        }
    }

    fn at(&mut self, done: usize) {
        self.done = done;
        if self.said.elapsed() >= QUIET {
            self.said = Instant::now();
            let Self {
                of,
                what,
                done,
                all,
                ..
            } = self;
            say(&format!("{of}: {done} of {all} {what}"));
        }
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed().as_secs_f64())
}
