//! BM25's best ten beside tantivy and bm25s: the same terms, the same questions, in turns.
//!
//! `CORNU_DATA=DIR cargo run --release --bin bm25 -- [ROWS [ROUNDS]]`: the passages of 2wiki-500, then ROWS
//! made-up texts (0 unless set). bm25s takes part where `CORNU_PYTHON` names an interpreter that has
//! it, and where the texts are at most 200,000: its index of Python lists takes too long beyond.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use cornu_core::{Acl, ContentHash, DocId, Fingerprint, Principal, View, ViewEntry};
use cornu_peers::{Python, median_us, overlap, timed};
use cornu_sparse::{Bm25, Bm25Index, DocumentRows, Query, Row, TermCounts};
use cornu_text::Tokenizer;
use serde_json::{Value, json};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{Index, IndexWriter, Searcher, TantivyDocument, Term};

const K: usize = 10;
/// More texts than this bm25s is not asked to index.
const PYTHON_ROWS: usize = 200_000;

fn main() -> Result<()> {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let rows = numbers.first().copied().unwrap_or(0);
    let rounds = numbers.get(1).copied().unwrap_or(5);
    match std::env::var("CORNU_DATA") {
        Ok(data) => {
            let (texts, questions) = wiki(&Path::new(&data).join("2wiki-500"))?;
            compare("2wiki-500", &texts, &questions, rounds)?;
        }
        Err(_) => println!("SKIPPED 2wiki-500: CORNU_DATA is not set"),
    }
    if rows > 0 {
        let (texts, questions) = made_up(rows);
        compare("made up", &texts, &questions, rounds)?;
    }
    Ok(())
}

type Terms = Vec<String>;

/// Terms of the passages and questions, by our tokenizer, parts of identifiers among them.
fn wiki(folder: &Path) -> Result<(Vec<Terms>, Vec<Terms>)> {
    let tokenizer = Tokenizer::new();
    let terms = |text: &str| -> Terms {
        let tokens = tokenizer.tokens(text).into_iter();
        tokens.map(|token| token.text).collect()
    };
    let lines = |name: &str| -> Result<Vec<Value>> {
        let text = std::fs::read_to_string(folder.join(name))?;
        text.lines()
            .map(|line| Ok(serde_json::from_str(line)?))
            .collect()
    };
    let field = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let texts = lines("corpus.jsonl")?
        .iter()
        .map(|row| terms(&format!("{}\n{}", field(row, "title"), field(row, "text"))))
        .collect();
    let questions = lines("queries.jsonl")?
        .iter()
        .map(|row| terms(&field(row, "text")))
        .collect();
    Ok((texts, questions))
}

/// 60 words a text and 5 a question, frequencies by Zipf's law over 200,000 words.
fn made_up(rows: usize) -> (Vec<Terms>, Vec<Terms>) {
    let mut state = 14_u64;
    let mut word = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let draw = (state >> 11) as f64 / (1_u64 << 53) as f64;
        format!("w{}", 200_000_f64.powf(draw) as u32)
    };
    let mut list = |n: usize, words: usize| -> Vec<Terms> {
        (0..n)
            .map(|_| (0..words).map(|_| word()).collect())
            .collect()
    };
    (list(rows, 60), list(200, 5))
}

fn compare(name: &str, texts: &[Terms], questions: &[Terms], rounds: usize) -> Result<()> {
    println!(
        "{name}: {} texts, {} questions, {rounds} rounds",
        texts.len(),
        questions.len()
    );
    let (ours, built) = timed(|| ours(texts));
    let (index, view) = ours?;
    println!("  built: cornu-sparse {built:.2} s");
    let (theirs, built) = timed(|| tantivy(texts));
    let (searcher, field) = theirs?;
    println!("  built: tantivy {built:.2} s (one thread, merged to one segment)");
    let mut python = python(texts, questions)?;

    let bm25 = Bm25::default();
    let queries = questions
        .iter()
        .map(|terms| {
            let mut weights: BTreeMap<String, f64> = BTreeMap::new();
            for term in terms {
                *weights.entry(term.clone()).or_default() += 1.0;
            }
            Ok(Query::weighted(weights)?)
        })
        .collect::<Result<Vec<Query>>>()?;
    let search = |query: &Query| -> Result<Vec<(u32, f64)>> {
        let found = index.searcher(&view)?.search(query, &bm25, K)?;
        Ok(found.iter().map(|hit| (hit.id, hit.score)).collect())
    };
    let boolean: Vec<BooleanQuery> = questions
        .iter()
        .map(|terms| {
            let clauses = terms.iter().map(|term| {
                let term = Term::from_field_text(field, term);
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                let query: Box<dyn tantivy::query::Query> = Box::new(query);
                (Occur::Should, query)
            });
            BooleanQuery::new(clauses.collect())
        })
        .collect();
    let theirs = |query: &BooleanQuery| -> Result<Vec<u32>> {
        let found = searcher.search(query, &TopDocs::with_limit(K))?;
        // One segment, written in order: the address is the row.
        Ok(found.into_iter().map(|(_, at)| at.doc_id).collect())
    };

    let (mut of_us, mut of_them, mut of_python) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds {
        let mut one: Vec<f64> = Vec::new();
        for query in &queries {
            let (found, seconds) = timed(|| search(query));
            found?;
            one.push(seconds);
        }
        let mut two: Vec<f64> = Vec::new();
        for query in &boolean {
            let (found, seconds) = timed(|| theirs(query));
            found?;
            two.push(seconds);
        }
        let three = match &mut python {
            Some(python) => python.ask(&json!({ "run": "times" }))?["median_s"].as_f64(),
            None => None,
        };
        if round > 0 {
            of_us.push(median_us(&mut one));
            of_them.push(median_us(&mut two));
            of_python.extend(three.map(|s| s * 1e6));
        }
    }
    let ratio = |theirs: &[f64]| {
        let mut ratios: Vec<f64> = theirs.iter().zip(&of_us).map(|(a, b)| a / b).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let at = |place: usize| ratios.get(place).copied().unwrap_or(f64::NAN);
        let last = ratios.len().saturating_sub(1);
        format!("{:.2} ({:.2} to {:.2})", at(last / 2), at(0), at(last))
    };
    let middle =
        |times: &[f64]| median_us(&mut times.iter().map(|us| us / 1e6).collect::<Vec<_>>());
    println!("  best {K}, median question, median round:");
    println!("    cornu-sparse {:7.0} us", middle(&of_us));
    println!(
        "    tantivy      {:7.0} us, {} times ours",
        middle(&of_them),
        ratio(&of_them)
    );
    if python.is_some() {
        println!(
            "    bm25s        {:7.0} us, {} times ours",
            middle(&of_python),
            ratio(&of_python)
        );
    }

    // Results: tantivy keeps a text's length in one byte, so near ties change places.
    let (mut shared, mut same) = (0.0, 0);
    for (query, boolean) in queries.iter().zip(&boolean) {
        let ours: Vec<u32> = search(query)?.into_iter().map(|(id, _)| id).collect();
        let theirs = theirs(boolean)?;
        shared += overlap(&ours, &theirs);
        same += usize::from(ours.first() == theirs.first());
    }
    let n = queries.len();
    println!(
        "  results: {:.1} % of the best {K} shared with tantivy, the same best in {same} of {n}",
        100.0 * shared / n as f64
    );
    if let Some(python) = &mut python {
        let found = python.ask(&json!({ "run": "results" }))?;
        let found = found["best"].as_array().context("results")?;
        let (mut shared, mut worst) = (0.0, 0.0_f64);
        for (query, theirs) in queries.iter().zip(found) {
            let theirs: Vec<(u32, f64)> = serde_json::from_value(theirs.clone())?;
            let ours = search(query)?;
            let ids = |list: &[(u32, f64)]| list.iter().map(|one| one.0).collect::<Vec<_>>();
            shared += overlap(&ids(&ours), &ids(&theirs));
            for (a, b) in ours.iter().zip(&theirs) {
                worst = worst.max((a.1 - b.1).abs() / a.1.max(1e-9));
            }
        }
        println!(
            "  results: {:.1} % of the best {K} shared with bm25s, scores within {worst:.1e} of its f32",
            100.0 * shared / n as f64
        );
    }
    Ok(())
}

fn ours(texts: &[Terms]) -> Result<(Bm25Index<u32>, View)> {
    const STEP: usize = 100_000;
    let mut index = Bm25Index::build(Fingerprint::new("peers"), [], 0)?;
    for (step, part) in texts.chunks(STEP).enumerate() {
        let mut documents = Vec::with_capacity(part.len());
        for (at, terms) in part.iter().enumerate() {
            let id = u32::try_from(step * STEP + at)?;
            let words = terms.iter().map(|term| (term.as_str(), 1));
            // The number of terms, as tantivy counts.
            let counts = TermCounts::from_pairs(u32::try_from(terms.len())?, words)?;
            let rows = vec![Row { id, counts }];
            documents.push(DocumentRows { document: id, rows });
        }
        index.apply(documents, 1)?;
    }
    index.compact()?;
    let (acl, content) = (Acl::public(), ContentHash::of(b""));
    let ids = (0..texts.len())
        .map(|at| DocId::new(&format!("d{at}")))
        .collect::<Result<Vec<_>, _>>()?;
    let entries = ids.iter().zip(0..).map(|(id, ordinal)| ViewEntry {
        ordinal,
        id,
        content: &content,
        acl: &acl,
    });
    Ok((index, View::resolve(&Principal::public(), 1, entries)))
}

fn tantivy(texts: &[Terms]) -> Result<(Searcher, Field)> {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_index_option(IndexRecordOption::WithFreqs);
    let field = schema.add_text_field("t", TextOptions::default().set_indexing_options(indexing));
    schema.add_u64_field("row", FAST);
    let index = Index::create_in_ram(schema.build());
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 2_000_000_000)?;
    for terms in texts {
        let tokens = terms.iter().enumerate().map(|(position, term)| Token {
            offset_from: 0,
            offset_to: 0,
            position,
            text: term.clone(),
            position_length: 1,
        });
        let mut document = TantivyDocument::default();
        let text = PreTokenizedString {
            text: String::new(),
            tokens: tokens.collect(),
        };
        document.add_pre_tokenized_text(field, text);
        writer.add_document(document)?;
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    let searcher = index.reader()?.searcher();
    anyhow::ensure!(searcher.segment_readers().len() == 1, "not one segment");
    Ok((searcher, field))
}

fn python(texts: &[Terms], questions: &[Terms]) -> Result<Option<Python>> {
    if texts.len() > PYTHON_ROWS || std::env::var_os("CORNU_PYTHON").is_none() {
        println!("  bm25s: not asked");
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("terms.json");
    std::fs::write(
        &file,
        json!({ "docs": texts, "queries": questions }).to_string(),
    )?;
    let mut python = Python::start(&["bm25", file.to_str().context("a path")?])?;
    let built = python.ask(&json!({ "run": "build" }))?;
    println!(
        "  built: bm25s {:.2} s",
        built["seconds"].as_f64().unwrap_or(f64::NAN)
    );
    Ok(Some(python))
}
