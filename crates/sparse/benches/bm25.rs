//! BM25 over the passages of a question set, and over made-up texts at a larger size.
//!
//! ```text
//! CORNU_DATA=DIR cargo bench -p cornu-sparse --bench bm25
//! CORNU_DATA=DIR CORNU_BENCH_ROWS=1000000 cargo bench -p cornu-sparse --bench bm25
//! ```
//!
//! Reads `2wiki-500` below `$CORNU_DATA`. Where `$CORNU_BENCH_TOKENS` names a file, the tokens, the
//! questions and the best ten of each go there, for `benches/compare_bm25s.py`, which measures bm25s on the
//! same tokens and compares the scores.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use cornu_core::{Acl, ContentHash, DocId, Fingerprint, Principal, Ranking, View, ViewEntry};
use cornu_sparse::{Bm25, Bm25Index, DocumentRows, Query, Row, TermCounts};
use cornu_text::Tokenizer;
use serde_json::{Value, json};

fn main() {
    match std::env::var("CORNU_DATA") {
        Ok(data) if Path::new(&data).join("2wiki-500").is_dir() => wiki(Path::new(&data)),
        _ => println!("SKIPPED 2wiki-500: CORNU_DATA names no folder that holds it"),
    }
    match std::env::var("CORNU_BENCH_ROWS").map(|rows| rows.parse()) {
        Ok(Ok(rows)) => synthetic(rows),
        _ => println!("SKIPPED made-up texts: CORNU_BENCH_ROWS is not set to a number"),
    }
}

fn wiki(data: &Path) {
    let read = |name: &str| std::fs::read_to_string(data.join("2wiki-500").join(name)).unwrap();
    let lines = |name: &str| -> Vec<Value> {
        read(name)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let field = |value: &Value, name: &str| value[name].as_str().unwrap().to_owned();
    let texts: Vec<(u32, String)> = lines("corpus.jsonl")
        .iter()
        .map(|row| {
            let id = field(row, "_id").parse().unwrap();
            (
                id,
                format!("{}\n{}", field(row, "title"), field(row, "text")),
            )
        })
        .collect();
    let questions: Vec<(String, String)> = lines("queries.jsonl")
        .iter()
        .map(|row| (field(row, "_id"), field(row, "text")))
        .collect();

    let tokenizer = Tokenizer::new();
    let clock = Instant::now();
    let rows: Vec<Row<u32>> = texts
        .iter()
        .map(|(id, text)| Row {
            id: *id,
            counts: TermCounts::new(&tokenizer.tokens(text)),
        })
        .collect();
    println!(
        "2wiki-500: {} texts, tokens counted in {:?}",
        rows.len(),
        clock.elapsed()
    );
    let documents: Vec<DocumentRows<u32>> = rows
        .iter()
        .map(|row| DocumentRows {
            document: row.id,
            rows: vec![row.clone()],
        })
        .collect();
    let clock = Instant::now();
    let index = Bm25Index::build(tokenizer.fingerprint().clone(), documents, 1).unwrap();
    println!("  built in {:?}", clock.elapsed());
    size(&index);

    let queries: Vec<Query> = questions
        .iter()
        .map(|(_, text)| Query::new(&tokenizer, text))
        .collect();
    for share in [1, 2, 10, 100] {
        measure(&index, &view(rows.len() as u32, share), &queries, share);
    }
    let clock = Instant::now();
    let count = questions
        .iter()
        .map(|(_, text)| Query::new(&tokenizer, text).iter().count())
        .sum::<usize>();
    println!(
        "  {} terms of {} questions made in {:?}",
        count,
        queries.len(),
        clock.elapsed()
    );

    let view = view(rows.len() as u32, 1);
    let searcher = index.searcher(&view).unwrap();
    let mut relevant: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    let qrels = read("qrels.tsv");
    for line in qrels.lines().skip(1) {
        let mut fields = line.split('\t');
        let query = fields.next().unwrap();
        relevant
            .entry(query)
            .or_default()
            .insert(fields.next().unwrap().parse().unwrap());
    }
    for weight in [0.0, 0.5, 1.0] {
        let (mut two, mut five) = (0.0, 0.0);
        for (id, text) in &questions {
            let query = Query::with_part_weight(&tokenizer, text, weight).unwrap();
            let found = searcher.search(&query, &Bm25::default(), 5).unwrap();
            let gold = &relevant[id.as_str()];
            let share = |k: usize| {
                found.ids().take(k).filter(|id| gold.contains(id)).count() as f64
                    / gold.len() as f64
            };
            two += share(2);
            five += share(5);
        }
        let mean = |sum: f64| 100.0 * sum / questions.len() as f64;
        println!(
            "  part weight {weight}: R@2 {:.1}, R@5 {:.1}",
            mean(two),
            mean(five)
        );
    }
    if let Ok(file) = std::env::var("CORNU_BENCH_TOKENS") {
        let docs: Vec<Vec<&str>> = rows.iter().map(|row| repeated(&row.counts)).collect();
        let best: Vec<Vec<(u32, f64)>> = queries
            .iter()
            .map(|query| pairs(&searcher.search(query, &Bm25::default(), 10).unwrap()))
            .collect();
        let terms: Vec<Vec<&str>> = queries
            .iter()
            .map(|query| {
                let terms = query.iter();
                terms
                    .flat_map(|(term, weight)| vec![term; weight as usize])
                    .collect()
            })
            .collect();
        let lengths: Vec<u32> = rows.iter().map(|row| row.counts.length()).collect();
        let out = json!({ "docs": docs, "lengths": lengths, "queries": terms, "best": best });
        std::fs::write(file, out.to_string()).unwrap();
    }
}

/// Made-up rows with Zipf's word frequencies, some 40 different terms each, written in steps.
fn synthetic(rows: u32) {
    const STEP: u32 = 100_000;
    let mut state = 14_u64;
    let mut draw = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    // Rank by inversion of the continuous 1/x law over 1 to 200,000.
    let mut word = move || format!("w{}", 200_000_f64.powf(draw()) as u32);
    let mut index = Bm25Index::build(Fingerprint::new("made up"), [], 0).unwrap();
    let mut clock = Duration::ZERO;
    for from in (0..rows).step_by(STEP as usize) {
        let documents: Vec<DocumentRows<u32>> = (from..rows.min(from + STEP))
            .map(|document| {
                let words = (0..60).map(|_| (word(), 1));
                let counts = TermCounts::from_pairs(60, words).unwrap();
                let rows = vec![Row {
                    id: document,
                    counts,
                }];
                DocumentRows { document, rows }
            })
            .collect();
        let start = Instant::now();
        index.apply(documents, 1).unwrap();
        clock += start.elapsed();
    }
    println!("{rows} made-up texts: written in steps of {STEP} in {clock:?}");
    size(&index);
    let one = DocumentRows {
        document: 0,
        rows: vec![Row {
            id: 0,
            counts: TermCounts::from_pairs(1, [(word(), 1)]).unwrap(),
        }],
    };
    let start = Instant::now();
    index.apply([one], 1).unwrap();
    println!("  one document replaced in {:?}", start.elapsed());
    index.compact().unwrap();
    let queries: Vec<Query> = (0..200)
        .map(|_| Query::weighted((0..5).map(|_| (word(), 1.0))).unwrap())
        .collect();
    for share in [1, 2, 10, 1000] {
        index = after_changes(index, &view(rows, share), &queries, share);
    }
    for share in [1, 2, 10, 1000] {
        measure(&index, &view(rows, share), &queries, share);
    }
}

/// The first search after a change that the view does not see, with what is kept of the view and
/// without, in turns.
fn after_changes(
    mut index: Bm25Index<u32>,
    view: &View,
    queries: &[Query],
    share: u32,
) -> Bm25Index<u32> {
    let (mut kept, mut anew) = (Vec::new(), Vec::new());
    for query in &queries[..20] {
        for (bytes, times) in [(64 << 20, &mut kept), (0, &mut anew)] {
            index = index.with_stats_bytes(bytes);
            let search = |index: &Bm25Index<u32>| {
                let searcher = index.searcher(view).unwrap();
                std::hint::black_box(searcher.search(query, &Bm25::default(), 10).unwrap());
            };
            search(&index);
            let counts = TermCounts::from_pairs(1, [("w1", 1)]).unwrap();
            let hidden = DocumentRows {
                document: u32::MAX,
                rows: vec![Row {
                    id: u32::MAX,
                    counts,
                }],
            };
            index.apply([hidden], 1).unwrap();
            let clock = Instant::now();
            search(&index);
            times.push(clock.elapsed());
        }
    }
    let [kept, anew] = [kept, anew].map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    println!("  view 1/{share}: after a change that it does not see {kept:?}, made anew {anew:?}");
    index.with_stats_bytes(64 << 20)
}

fn size(index: &Bm25Index<u32>) {
    let (bytes, postings) = (index.heap_bytes(), index.postings());
    println!(
        "  {postings} postings, {bytes} bytes, {:.2} a posting",
        bytes as f64 / postings as f64
    );
}

fn measure(index: &Bm25Index<u32>, view: &View, queries: &[Query], share: u32) {
    let bm25 = Bm25::default();
    let clock = Instant::now();
    let searcher = index.searcher(view).unwrap();
    let cold = clock.elapsed();
    let clock = Instant::now();
    for query in queries {
        std::hint::black_box(searcher.search(query, &bm25, 10).unwrap());
    }
    let first = clock.elapsed() / queries.len() as u32;
    let mut pruned = Vec::new();
    let mut all = Vec::new();
    for query in queries {
        let best = |search: &dyn Fn() -> Ranking<u32>| {
            (0..5)
                .map(|_| {
                    let clock = Instant::now();
                    std::hint::black_box(search());
                    clock.elapsed()
                })
                .min()
                .unwrap()
        };
        pruned.push(best(&|| {
            index
                .searcher(view)
                .unwrap()
                .search(query, &bm25, 10)
                .unwrap()
        }));
        all.push(best(&|| {
            index
                .searcher(view)
                .unwrap()
                .search_exhaustively(query, &bm25, 10)
                .unwrap()
        }));
    }
    let quantiles = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        (times[times.len() / 2], times[times.len() * 95 / 100])
    };
    println!(
        "  view 1/{share}: statistics {cold:?}, first time a query {first:?} (mean); top 10 \
         (median, p95): pruned {:?}, exhaustive {:?}",
        quantiles(&mut pruned),
        quantiles(&mut all)
    );
}

fn pairs(ranking: &Ranking<u32>) -> Vec<(u32, f64)> {
    ranking.iter().map(|hit| (hit.id, hit.score)).collect()
}

fn repeated(counts: &TermCounts) -> Vec<&str> {
    counts
        .iter()
        .flat_map(|(term, count)| vec![term; count as usize])
        .collect()
}

fn view(documents: u32, share: u32) -> View {
    let (public, nobody) = (Acl::public(), Acl::nobody());
    let content = ContentHash::of(b"");
    let ids: Vec<DocId> = (0..documents)
        .map(|at| DocId::new(&format!("d{at}")).unwrap())
        .collect();
    let entries = ids.iter().zip(0..).map(|(id, ordinal)| ViewEntry {
        ordinal,
        id,
        content: &content,
        acl: if ordinal.is_multiple_of(share) {
            &public
        } else {
            &nobody
        },
    });
    View::resolve(&Principal::public(), 1, entries)
}
