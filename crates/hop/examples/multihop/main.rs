//! Recall of dense vectors and of the walk on a question set of the layout of BEIR, with vectors
//! made before (rows of little-endian f32, passages as "title, newline, text"):
//!
//! `multihop FOLDER dev|test|all DIMENSION PASSAGES.f32 QUESTIONS.f32 [FACTS.f32 PHRASES.f32 | PROPOSITIONS.f32]`
//!
//! `OPENIE` names an OpenIE file to read in the place of the rules; `ALPHA`, `FACT` and `DENSE` set
//! the options of the walk, as do `BETWEEN`, `SPELLING` (1 or less: names as alike as that are joined) and
//! `SPELLING_WEIGHT`; with `SHOW` the synonyms are printed. `DENSE_TOP` says how many passages the dense route
//! gives it. With vectors of facts and phrases HippoRAG 2 as published is measured too, with those of propositions PropRAG,
//! without synonyms. Facts, phrases and propositions are in the order in which the index gives them.

mod data;

use std::io::Write;
use std::time::Instant;

use cornu_core::Ranking;
use cornu_hop::paper::{PaperHippoRag, PaperOptions, PaperPassage, SynonymOptions, WeightMode};
use cornu_hop::prop::{PropMode, PropOptions, PropPassage, PropRag};
use cornu_hop::{GraphOptions, HopGraph, RecallOptions};

use data::{Failure, Set, Table, dense, vectors};

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, part, dimension, passages, questions, more @ ..] = arguments.as_slice() else {
        return Err("usage: multihop FOLDER PART DIMENSION PASSAGES.f32 QUESTIONS.f32".into());
    };
    let dimension: usize = dimension.parse()?;
    let (passages, questions) = (
        vectors(passages, dimension)?,
        vectors(questions, dimension)?,
    );
    let set = Set::read(folder, part)?;
    let mut out = std::io::stdout().lock();

    let start = Instant::now();
    let facts = set.facts(std::env::var("OPENIE").ok().as_deref())?;
    let extracted = start.elapsed().as_secs_f64();
    let defaults = GraphOptions::default();
    let synonyms =
        setting("SPELLING")?.map_or(defaults.synonyms, |least| (least <= 1.0).then_some(least));
    let synonym_weight = setting("SPELLING_WEIGHT")?.unwrap_or(defaults.synonym_weight);
    let graph = HopGraph::build_with(
        &facts,
        &GraphOptions {
            synonyms,
            synonym_weight,
        },
    )?;
    if std::env::var_os("SHOW").is_some() {
        for pair in graph.synonyms() {
            let (one, two) = graph.spelled(pair);
            writeln!(out, "{:.3} {one} = {two}", pair.similarity)?;
        }
    }
    let built = start.elapsed().as_secs_f64() - extracted;
    let (nodes, entries) = (graph.adjacency().nodes(), graph.adjacency().entries());
    writeln!(
        out,
        "{nodes} nodes, {entries} entries; extraction {extracted:.2} s, graph {built:.2} s"
    )?;

    let options = options()?;
    let top = setting("DENSE_TOP")?.map_or(usize::MAX, |top| top as usize);
    let (mut plain, mut walked) = (Table::default(), Table::default());
    let mut seconds = 0.0;
    for question in &set.questions {
        let near = dense(&passages, &questions, question.row);
        let near = Ranking::new(near.into_iter().enumerate())?.top(top);
        let start = Instant::now();
        let found = graph.recall(&question.text, Some(&near), &options)?;
        seconds += start.elapsed().as_secs_f64();
        plain.add(question, &near);
        walked.add(question, &found.ranking);
    }
    write!(out, "{}{}", plain.lines("dense"), walked.lines("walk"))?;
    writeln!(
        out,
        "{:.2} ms a question",
        1000.0 * seconds / set.questions.len() as f64
    )?;

    if let [proposition_vectors] = more {
        let propositions = facts.iter().map(|passage| PropPassage {
            propositions: &passage.extraction.propositions,
        });
        let propositions: Vec<PropPassage<'_>> = propositions.collect();
        let rows = vectors(proposition_vectors, dimension)?;
        for (name, mode) in [("prop", PropMode::Clean), ("prop-pub", PropMode::Published)] {
            let index = PropRag::build(&propositions, mode)?;
            let mut table = Table::default();
            let start = Instant::now();
            for question in &set.questions {
                let near = dense(&passages, &questions, question.row);
                let vector = questions.row(question.row);
                let options = PropOptions::default();
                let found = index.recall(&vector, &rows.view(), &near, None, &options)?;
                let ranking = found
                    .ranking
                    .iter()
                    .map(|scored| (scored.id as usize, scored.score));
                table.add(question, &Ranking::new(ranking)?);
            }
            let each = 1000.0 * start.elapsed().as_secs_f64() / set.questions.len() as f64;
            writeln!(out, "{}{each:.1} ms a question", table.lines(name))?;
        }
    }
    let [fact_vectors, phrase_vectors] = more else {
        return Ok(());
    };
    let triples = facts.iter().map(|passage| PaperPassage {
        triples: &passage.extraction.triples,
    });
    let triples: Vec<PaperPassage<'_>> = triples.collect();
    let fact_vectors = vectors(fact_vectors, dimension)?;
    let phrase_vectors = vectors(phrase_vectors, dimension)?;
    let threshold = setting("SYNONYM")?.unwrap_or(0.8);
    for (name, mode) in [
        ("paper", WeightMode::Published),
        ("summed", WeightMode::Accumulated),
    ] {
        let bare = PaperHippoRag::build(&triples, mode)?;
        let index = PaperHippoRag::build(&triples, mode)?;
        let synonyms = SynonymOptions {
            threshold,
            ..SynonymOptions::default()
        };
        let index = index.with_synonyms(&phrase_vectors.view(), &synonyms)?;
        writeln!(out, "{:?}", index.counts())?;
        for (index, kind) in [(&bare, "bare"), (&index, "")] {
            let mut table = Table::default();
            for question in &set.questions {
                let near = dense(&passages, &questions, question.row);
                let vector = questions.row(question.row);
                let found = index.recall(
                    &vector,
                    &fact_vectors.view(),
                    &near,
                    &PaperOptions::default(),
                )?;
                let ranking = found
                    .ranking
                    .iter()
                    .map(|scored| (scored.id as usize, scored.score));
                table.add(question, &Ranking::new(ranking)?);
            }
            write!(out, "{}", table.lines(&format!("{name} {kind}")))?;
        }
    }
    Ok(())
}

fn options() -> Result<RecallOptions, Failure> {
    let defaults = RecallOptions::default();
    Ok(RecallOptions {
        alpha: setting("ALPHA")?.unwrap_or(defaults.alpha),
        between_weight: setting("BETWEEN")?.unwrap_or(defaults.between_weight),
        fact_weight: setting("FACT")?.unwrap_or(defaults.fact_weight),
        dense_weight: setting("DENSE")?.unwrap_or(defaults.dense_weight),
    })
}

fn setting(name: &str) -> Result<Option<f64>, Failure> {
    Ok(std::env::var(name)
        .ok()
        .map(|value| value.parse())
        .transpose()?)
}
