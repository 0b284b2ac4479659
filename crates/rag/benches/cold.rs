//! What a process that has just started waits for its first answer, by step, and the memory that it
//! takes: each measure is a process of its own. The model is the hash embedder, whose time (some
//! microseconds) is in the figures.
//!
//! `cargo bench -p cornu --bench cold [-- CHUNKS CHUNKS_A_DOCUMENT ROUNDS]`, by default 100000 10 5.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cornu::store::Access;
use cornu::{
    Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, Principal, RagOptions, upkeep,
};

/// Words of a chunk, and how many different ones there are.
const WORDS: usize = 110;
const VOCABULARY: f64 = 200_000.0;

/// Three words that everybody uses and three that few do.
const QUESTION: &str = "when does w3 w17 and w90 meet w4021 or w30500 or w120777";

const SEARCHES: [&str; 4] = ["sparse", "dense", "hybrid", "explain"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|one| one == "--ask") {
        let [path, asker, search] = arguments.get(at + 1..at + 4).unwrap() else {
            return;
        };
        return ask(Path::new(path), asker, search);
    }
    let numbers: Vec<usize> = arguments
        .iter()
        .filter_map(|one| one.parse().ok())
        .collect();
    let get = |at: usize, default| numbers.get(at).copied().unwrap_or(default);
    let (chunks, in_one, rounds) = (get(0, 100_000), get(1, 10), get(2, 5));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let documents = chunks / in_one;
    let index = open(&path, Access::ReadWrite);
    let start = Instant::now();
    for from in (0..documents).step_by(1000) {
        let some: Vec<Document> = (from..documents.min(from + 1000))
            .map(|at| document(at, in_one))
            .collect();
        index.ingest_all(&some, |_| {}).unwrap();
    }
    let spent = start.elapsed().as_secs_f64();
    let stats = index.store().stats().unwrap();
    println!(
        "{} chunks in {} documents, written at {:.0} chunks/s",
        stats.vectors,
        stats.documents,
        stats.vectors as f64 / spent
    );
    let start = Instant::now();
    index.store().prepare().unwrap();
    println!("prepare: .vec {:8.0} ms", ms(start.elapsed()));
    let start = Instant::now();
    index.prepare().unwrap();
    println!("prepare: postings {:8.0} ms", ms(start.elapsed()));
    let stats = index.store().stats().unwrap();
    let size = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "database {:.0} MiB, .vec {:.0} MiB, postings {:.0} MiB",
        size(stats.database_bytes + stats.log_bytes),
        size(stats.vec_bytes),
        size(stats.postings_bytes)
    );
    println!(
        "\n                                   open     view   search    again      all    heap  mapped"
    );
    let askers = ["public", "tenth", "hundredth"];
    for asker in askers {
        for search in SEARCHES {
            measure("up to date", &path, asker, search, rounds);
        }
    }
    // A few commits later: 1 % of the documents are new, and as many have gone.
    for at in documents..documents + documents / 100 {
        index.ingest(&document(at, in_one)).unwrap();
        let gone = DocId::new(&name(at - documents)).unwrap();
        index.remove(&gone).unwrap();
    }
    for search in SEARCHES {
        measure("1 % behind", &path, "public", search, rounds);
    }
    let start = Instant::now();
    index.prepare().unwrap();
    println!("prepare again {:8.0} ms", ms(start.elapsed()));
    std::fs::remove_file(index.store().artifact(".postings").path()).unwrap();
    measure("no postings", &path, "public", "hybrid", 1);
    measure("no postings", &path, "hundredth", "hybrid", 1);
    let start = Instant::now();
    upkeep::rebuild(index.store()).unwrap();
    println!("rebuild of all artifacts {:8.0} ms", ms(start.elapsed()));
}

fn open(path: &Path, access: Access) -> LiveRagIndex {
    let mut options = RagOptions::default();
    options.store.access = access;
    let provider = HashEmbeddingProvider::new(384).unwrap();
    LiveRagIndex::open(path, Arc::new(provider), options).unwrap()
}

/// One process; its numbers on one line.
fn ask(path: &Path, asker: &str, search: &str) {
    let asker = Principal::new([asker]).unwrap();
    let start = Instant::now();
    let index = open(path, Access::ReadOnly);
    let opened = start.elapsed();
    let seen = index.store().snapshot(&asker).unwrap().view().len();
    let viewed = start.elapsed();
    let run = || match search {
        "sparse" => index
            .search_sparse(&asker, QUESTION, 10)
            .unwrap()
            .hits
            .len(),
        "dense" => index.search_dense(&asker, QUESTION, 10).unwrap().hits.len(),
        "hybrid" => index
            .search_hybrid(&asker, QUESTION, 10)
            .unwrap()
            .hits
            .len(),
        _ => usize::from(index.explain(&asker, QUESTION, 10).is_ok()),
    };
    assert!(seen > 0 && run() > 0);
    let all = start.elapsed();
    let again = Instant::now();
    run();
    let again = again.elapsed();
    let memory = |name: &str| -> f64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kib.unwrap_or(0.0) / 1024.0
    };
    println!(
        "{} {} {} {} {} {} {}",
        ms(opened),
        ms(viewed.saturating_sub(opened)),
        ms(all.saturating_sub(viewed)),
        ms(again),
        ms(all),
        memory("RssAnon:"),
        memory("RssFile:"),
    );
}

/// Medians over processes.
fn measure(state: &str, path: &Path, asker: &str, search: &str, rounds: usize) {
    let program: PathBuf = std::env::current_exe().unwrap();
    let mut columns = vec![Vec::new(); 7];
    for _ in 0..rounds.max(1) {
        let mut command = Command::new(&program);
        command.arg("--ask").arg(path).args([asker, search]);
        let output = command.output().unwrap();
        let line = String::from_utf8(output.stdout).unwrap();
        for (column, number) in columns.iter_mut().zip(line.split_whitespace()) {
            column.push(number.parse::<f64>().unwrap());
        }
    }
    print!("{state:11} {asker:10} {search:8}");
    for (at, column) in columns.iter_mut().enumerate() {
        column.sort_by(f64::total_cmp);
        let median = column.get(column.len() / 2).copied().unwrap_or(f64::NAN);
        let unit = if at < 5 { "ms" } else { "M" };
        print!(" {median:6.1}{unit}");
    }
    println!();
}

fn name(at: usize) -> String {
    format!("folder {}/{at}.md", at % 97)
}

/// A section for each chunk, of words whose frequencies fall as in natural texts.
fn document(at: usize, sections: usize) -> Document {
    let mut seed = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = move || {
        // splitmix64
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut source = String::new();
    for section in 0..sections {
        source.push_str(&format!("## Part {section}\n\n"));
        for word in 0..WORDS {
            // The rank of a word under Zipf's law, by its inverse.
            let rank = VOCABULARY.powf(next());
            let end = if word % 16 == 15 { ".\n" } else { " " };
            source.push_str(&format!("w{}{end}", rank as u64));
        }
        source.push('\n');
    }
    let mut grants = vec!["public"];
    let scattered = at.wrapping_mul(2_654_435_761) >> 7;
    if scattered.is_multiple_of(10) {
        grants.push("tenth");
    }
    if scattered.is_multiple_of(100) {
        grants.push("hundredth");
    }
    let acl = Acl::new(grants).unwrap();
    Document::new(DocId::new(&name(at)).unwrap(), source, acl)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
