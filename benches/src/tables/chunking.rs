//! Chunking strategies: how they cut, what is found, and how much of its argument is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use cornu_chunk::markdown::Outline;
use cornu_chunk::metrics::{BoundaryBreaks, boundary_breaks, context_completeness, evidence_unit};
use cornu_chunk::{Chunker, expand};
use cornu_core::{Chunk, ChunkId, Document, Ranking, TokenCounter};
use cornu_eval::evidence::{Measure, Printed, Row};
use cornu_eval::questions::{Question, Ranks};
use cornu_eval::report::{Column, Format, TableSpec};
use cornu_eval::significance::Bootstrap;
use ndarray::Array2;

use crate::dense;
use crate::models::{PINNED, Prefixes, Shared};
use crate::strategies::{FIXED, PARENT_CHILD, SENTENCE, strategy};
use crate::table::{Bench, Part, Section, Table};
use crate::timing;

const SYSTEMS: [&str; 3] = [FIXED, SENTENCE, PARENT_CHILD];
/// Contexts that are shown for a question.
const SHOWN: usize = 5;
/// The budget at which strategies with contexts of different sizes are compared.
const BUDGET: usize = 1000;

/// Table `chunking`.
pub struct Chunking;

impl Table for Chunking {
    fn name(&self) -> &'static str {
        "chunking"
    }

    fn summary(&self) -> &'static str {
        "chunking strategies: cuts, recall, context completeness, throughput"
    }

    fn about(&self) -> &'static str {
        "The same documents, questions and embedder (`multilingual-e5-small-q4`), cut in three ways. \
         `autograd` is the course's setting: one long Chinese document and its 17 answerable \
         questions. `bench-data` is the whole corpus with the test questions of `questions-ext`. A \
         context of `parent-child` is a parent: recall at 5 contexts shows the reader far more \
         text there than elsewhere, so the last recall column holds the *text* equal instead."
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::whole(TableSpec::new([
            Column::new("chunks", "chunks", Format::Integer).with_printed(),
            Column::new("parents", "parents", Format::Integer).with_printed(),
            Column::new("mean tokens", "mean_tokens", Format::Fixed(1)).with_printed(),
            Column::new("parent tokens", "mean_parent_tokens", Format::Fixed(1)).with_printed(),
            Column::new(
                "boundary break rate",
                "boundary_break_rate",
                Format::Percent(1),
            )
            .with_printed(),
            Column::new("words cut", "word_break_rate", Format::Percent(1)),
            Column::new("recall@1", "recall@1", Format::Fixed(3))
                .with_interval()
                .with_printed(),
            Column::new("recall@5", "recall@5", Format::Fixed(3))
                .with_interval()
                .with_printed(),
            Column::new(
                "context completeness",
                "context_completeness",
                Format::Fixed(3),
            )
            .with_interval()
            .with_printed(),
            Column::new("tokens shown", "tokens@5", Format::Integer),
            Column::new("recall in 1,000 tokens", "recall@1000tok", Format::Fixed(3))
                .with_interval(),
            Column::new("MB/s", "mb_per_s", Format::Fixed(1)).with_interval(),
        ]))]
    }

    fn brief(&self) -> Section {
        Section::whole(TableSpec::new([
            Column::new("chunks", "chunks", Format::Integer),
            Column::new("mean tokens", "mean_tokens", Format::Fixed(0)),
            Column::new(
                "boundary break rate",
                "boundary_break_rate",
                Format::Percent(1),
            ),
            Column::new("recall@1", "recall@1", Format::Fixed(2)).with_interval(),
            Column::new("recall@5", "recall@5", Format::Fixed(2)).with_interval(),
            Column::new(
                "context completeness",
                "context_completeness",
                Format::Fixed(2),
            )
            .with_interval(),
            Column::new("recall in 1,000 tokens", "recall@1000tok", Format::Fixed(2))
                .with_interval(),
        ]))
    }

    fn printed(&self) -> Vec<Printed> {
        let row = |system: &str, figures: &[(&str, f64)]| Printed {
            system: system.to_owned(),
            dataset: Some("autograd".to_owned()),
            metrics: figures
                .iter()
                .map(|&(name, value)| (name.to_owned(), value))
                .collect(),
            source: "chapter 14, stage 3".to_owned(),
        };
        vec![
            row(
                "fixed",
                &[
                    ("chunks", 42.0),
                    ("mean_tokens", 120.0),
                    ("boundary_break_rate", 0.381),
                    ("recall@1", 0.60),
                    ("recall@5", 0.70),
                    ("context_completeness", 0.55),
                ],
            ),
            row(
                "sentence",
                &[
                    ("chunks", 21.0),
                    ("mean_tokens", 245.0),
                    ("boundary_break_rate", 0.0),
                    ("recall@1", 0.80),
                    ("recall@5", 0.90),
                    ("context_completeness", 0.82),
                ],
            ),
            row(
                "parent-child",
                &[
                    ("chunks", 64.0),
                    ("parents", 8.0),
                    ("mean_tokens", 120.0),
                    ("mean_parent_tokens", 780.0),
                    ("boundary_break_rate", 0.0),
                    ("recall@1", 0.90),
                    ("recall@5", 1.00),
                    ("context_completeness", 0.98),
                ],
            ),
        ]
    }

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        let model = bench.models.shared(PINNED, Prefixes::Own)?;
        let autograd = vec![bench.data.document("04-autograd.md")?];
        let mut sets = vec![(
            "autograd",
            autograd,
            bench.data.questions("questions-20.jsonl")?,
        )];
        if bench.part == Part::Full {
            let mut questions = bench.data.questions("questions-ext.jsonl")?;
            questions.retain(|question| question.split == "test");
            sets.push(("bench-data", bench.data.documents().collect(), questions));
        }
        let mut rows = Vec::new();
        for (dataset, documents, questions) in &sets {
            let mut queries = None;
            for system in SYSTEMS {
                rows.push(bench.row(dataset, system, || {
                    if queries.is_none() {
                        queries = Some(Queries::embed(&model, questions)?);
                    }
                    let queries = queries.as_ref().context("just embedded")?;
                    let chunker = strategy(system, &model.counter)?;
                    quality(
                        bench,
                        (*dataset, system),
                        &*chunker,
                        documents,
                        queries,
                        &model,
                    )
                })?);
            }
            if bench.part == Part::Full {
                time(dataset, documents, &model.counter, &mut rows)?;
            }
        }
        Ok(rows)
    }

    fn inputs(&self) -> &'static [&'static str] {
        &["questions-20.jsonl", "questions-ext.jsonl"]
    }

    fn known_failures(&self) -> Vec<String> {
        vec![
            "17 questions on one document resolve only large differences; the printed figures of \
             the course come from another document, another embedder and another 10 or 17 \
             questions."
                .to_owned(),
            "Documents and questions are by the same authors.".to_owned(),
        ]
    }
}

/// The answerable questions and their vectors.
struct Queries<'a> {
    questions: Vec<&'a Question>,
    vectors: Vec<ndarray::Array1<f32>>,
}

impl<'a> Queries<'a> {
    fn embed(model: &Shared, questions: &'a [Question]) -> Result<Self> {
        let questions: Vec<&Question> = questions.iter().filter(|q| q.is_answerable()).collect();
        let vectors = questions
            .iter()
            .map(|question| model.provider.embed_query(&question.question))
            .collect::<Result<_, _>>()?;
        Ok(Self { questions, vectors })
    }
}

/// The chunks of all documents.
struct Chunked<'a> {
    documents: BTreeMap<&'a str, (&'a Document, Outline)>,
    chunks: BTreeMap<ChunkId, Chunk>,
    /// Per document, its indexed chunks, in order.
    indexed: Vec<(&'a Document, Vec<Chunk>)>,
}

impl<'a> Chunked<'a> {
    fn new(chunker: &dyn Chunker, documents: &[&'a Document]) -> Result<Self> {
        let outlined = documents.iter().map(|&document| {
            (
                document.id().as_str(),
                (document, Outline::parse(document.source())),
            )
        });
        let mut out = Self {
            documents: outlined.collect(),
            chunks: BTreeMap::new(),
            indexed: Vec::new(),
        };
        for &document in documents {
            let chunks = chunker.chunk(document)?;
            let (indexed, parents): (Vec<Chunk>, Vec<Chunk>) = chunks
                .into_iter()
                .partition(|chunk| chunk.role.is_indexed());
            out.chunks
                .extend(indexed.iter().chain(&parents).map(|c| (c.id, c.clone())));
            out.indexed.push((document, indexed));
        }
        Ok(out)
    }

    fn indexed(&self) -> impl Iterator<Item = &Chunk> {
        self.indexed.iter().flat_map(|(_, chunks)| chunks)
    }

    fn parents(&self) -> Vec<&Chunk> {
        self.chunks
            .values()
            .filter(|chunk| !chunk.role.is_indexed())
            .collect()
    }

    /// What is shown, best first: the chunks, or their parents, each once.
    fn contexts(&self, ranking: &Ranking<ChunkId>) -> Result<Vec<&Chunk>> {
        let expanded = expand(ranking, |id| self.chunks.get(id));
        expanded
            .iter()
            .map(|shown| self.chunks.get(&shown.id).context("a chunk of ours"))
            .collect()
    }
}

fn quality(
    bench: &Bench<'_>,
    (dataset, system): (&str, &str),
    chunker: &dyn Chunker,
    documents: &[&Document],
    queries: &Queries<'_>,
    model: &Shared,
) -> Result<Row> {
    let chunked = Chunked::new(chunker, documents)?;
    let ids: Vec<ChunkId> = chunked.indexed().map(|chunk| chunk.id).collect();
    let texts: Vec<&str> = chunked
        .indexed()
        .map(|chunk| chunk.index_text.as_str())
        .collect();
    let vectors: Array2<f32> = model.provider.embed(&texts)?;

    let mut samples: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (question, vector) in queries.questions.iter().zip(&queries.vectors) {
        let ranking = dense::rank(&vectors, &ids, &vector.view())?;
        let contexts = chunked.contexts(&ranking)?;
        let ranks = Ranks::find(&question.evidence, &pairs(&contexts));
        let within = within_budget(&contexts, &*model.counter);
        let mut put = |name, value: Option<f64>| samples.entry(name).or_default().extend(value);
        put("recall@1", ranks.recall(1));
        put("recall@5", ranks.recall(SHOWN));
        put("recall@1000tok", ranks.recall(within));
        let shown = &contexts[..SHOWN.min(contexts.len())];
        let tokens: usize = shown
            .iter()
            .map(|chunk| model.counter.count(&chunk.text))
            .sum();
        put("tokens@5", Some(tokens as f64));
        put(
            "context_completeness",
            Some(completeness(question, shown, &chunked)?),
        );
    }

    let mut row = Row::measured(dataset, system);
    let bootstrap = Bootstrap {
        seed: bench.seed,
        ..Bootstrap::default()
    };
    for (name, values) in &samples {
        let measure = if *name == "tokens@5" {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            Measure::exact(mean, "tokens", values.len() as u64)
        } else {
            Measure::of_interval(&super::rate(&bootstrap, values)?, "fraction")
        };
        row.metrics.insert((*name).to_owned(), measure);
    }
    shape(&mut row, &chunked, &*model.counter);
    Ok(row)
}

/// What can be said without a question: how many, how large, where cut.
fn shape(row: &mut Row, chunked: &Chunked<'_>, counter: &dyn TokenCounter) {
    let mut put = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
    let mean = |sizes: &[usize]| sizes.iter().sum::<usize>() as f64 / sizes.len().max(1) as f64;
    let sizes: Vec<usize> = chunked
        .indexed()
        .map(|chunk| counter.count(&chunk.text))
        .collect();
    let n = sizes.len() as u64;
    put("chunks", Measure::exact(n as f64, "count", 1));
    put("mean_tokens", Measure::exact(mean(&sizes), "tokens", n));
    let parents = chunked.parents();
    if !parents.is_empty() {
        let sizes: Vec<usize> = parents
            .iter()
            .map(|chunk| counter.count(&chunk.text))
            .collect();
        put("parents", Measure::exact(parents.len() as f64, "count", 1));
        put(
            "mean_parent_tokens",
            Measure::exact(mean(&sizes), "tokens", parents.len() as u64),
        );
    }
    let mut breaks = BoundaryBreaks::default();
    for (document, chunks) in &chunked.indexed {
        breaks = breaks.plus(boundary_breaks(document.source(), chunks));
    }
    let n = breaks.boundaries as u64;
    put(
        "boundary_break_rate",
        Measure::exact(breaks.rate(), "fraction", n),
    );
    put(
        "word_break_rate",
        Measure::exact(breaks.word_rate(), "fraction", n),
    );
}

/// The mean over the pieces of evidence: how much of the section that holds the piece is shown; of
/// several places where the piece stands, the one that is shown best.
fn completeness(question: &Question, shown: &[&Chunk], chunked: &Chunked<'_>) -> Result<f64> {
    let mut sum = 0.0;
    for piece in &question.evidence {
        let mut best = 0.0_f64;
        for alternative in piece {
            let (document, outline) = chunked
                .documents
                .get(alternative.doc.as_str())
                .context("the evidence's document")?;
            let source = document.source();
            let of_document = shown.iter().filter(|chunk| chunk.doc == *document.id());
            let spans: Vec<_> = of_document.map(|chunk| chunk.span).collect();
            for (at, _) in source.match_indices(&alternative.phrase) {
                if let Some(unit) = evidence_unit(source, outline, at) {
                    best = best.max(context_completeness(source, unit, &spans));
                }
            }
        }
        sum += best;
    }
    Ok(sum / question.evidence.len() as f64)
}

fn pairs<'a>(contexts: &[&'a Chunk]) -> Vec<(&'a str, &'a str)> {
    contexts
        .iter()
        .map(|chunk| (chunk.doc.as_str(), chunk.text.as_str()))
        .collect()
}

/// How many of the best contexts fit the budget together.
fn within_budget(contexts: &[&Chunk], counter: &dyn TokenCounter) -> usize {
    let mut tokens = 0;
    contexts
        .iter()
        .take_while(|chunk| {
            tokens += counter.count(&chunk.text);
            tokens <= BUDGET
        })
        .count()
}

/// Source bytes a second, all strategies in turn.
fn time(
    dataset: &str,
    documents: &[&Document],
    counter: &Arc<dyn TokenCounter>,
    rows: &mut [Row],
) -> Result<()> {
    const ROUNDS: usize = 5;
    let bytes: usize = documents
        .iter()
        .map(|document| document.source().len())
        .sum();
    let chunkers = SYSTEMS
        .iter()
        .map(|system| strategy(system, counter))
        .collect::<Result<Vec<_>>>()?;
    let mut jobs: Vec<Box<dyn FnMut() -> Result<()> + '_>> = Vec::new();
    for chunker in &chunkers {
        jobs.push(Box::new(move || {
            for document in documents {
                chunker.chunk(document)?;
            }
            Ok(())
        }));
    }
    let seconds = timing::interleave(ROUNDS, &mut jobs)?;
    for (system, seconds) in SYSTEMS.iter().zip(&seconds) {
        let rate = timing::median(seconds, "mb_per_s", |s| bytes as f64 / 1e6 / s);
        for row in rows
            .iter_mut()
            .filter(|row| row.system == *system && row.dataset == dataset)
        {
            row.metrics.insert("mb_per_s".to_owned(), rate.clone());
        }
    }
    Ok(())
}
