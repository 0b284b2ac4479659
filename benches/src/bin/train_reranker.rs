//! Trains and measures rerankers. Called by `cargo xtask train-reranker`, which sets up
//! what it needs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use cornu_benches::corpus::BenchData;
use cornu_benches::reranker::card::{self, Measured};
use cornu_benches::reranker::first_stage::{Candidates, FirstStage, write_whole};
use cornu_benches::reranker::learner::Learner;
use cornu_benches::reranker::library::{DEPTH, Library, candidates};
use cornu_benches::reranker::quality::Figures;
use cornu_benches::reranker::questions::{Draws, Lesson, asked, made};
use cornu_benches::reranker::recipe::{self, Recipe};
use cornu_benches::reranker::sets::{Set, Split};
use cornu_benches::reranker::training::{Material, Route, Row, Scores, rerank, summary, train};
use cornu_benches::run::say;
use cornu_benches::tree;
use cornu_embed::bert::{Adapter, BertEmbeddingProvider, BertOptions, Truncation};

/// The first stage's embedder.
const EMBEDDER: &str = "multilingual-e5-small";

/// Train the rerankers and measure them on questions they have not seen.
///
/// Finds candidates with the hybrid search, trains, exports the adapter and its model card. What is
/// finished is kept in the work folder; a run that is interrupted goes on there.
#[derive(Parser)]
#[command(name = "train-reranker")]
struct Arguments {
    /// Only these recipes
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// Train no step: measure the adapters that are there
    #[arg(long)]
    evaluate: bool,
    /// Measure on the questions for choices alone, and write no card: to choose between recipes
    #[arg(long)]
    dev: bool,
    /// Train so many steps in place of the recipe's
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    /// Measure on so many questions of each set and split only; the card then says so by their number
    #[arg(long, value_name = "N")]
    questions: Option<usize>,
    /// Where adapters go, one folder each
    #[arg(long, value_name = "DIR", default_value = "crates/embed/adapters")]
    adapters: PathBuf,
    /// Where vectors, candidates and checkpoints are kept
    #[arg(long, value_name = "DIR", default_value = "target/reranker")]
    work: PathBuf,
    /// The checkout
    #[arg(long, default_value = ".", value_name = "DIR")]
    root: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let mut recipes = match arguments.only.as_slice() {
        [] => recipe::all(),
        names => names
            .iter()
            .map(|name| recipe::named(name))
            .collect::<Result<_>>()?,
    };
    let data = std::env::var_os("CORNU_DATA")
        .map(PathBuf::from)
        .context("CORNU_DATA is not set; it names the folder that holds the question sets")?;
    let options = BertOptions {
        truncation: Truncation::Right,
        ..BertOptions::default()
    };
    let embedder = BertEmbeddingProvider::open(EMBEDDER, &options)?;
    for recipe in &mut recipes {
        if arguments.evaluate {
            *recipe = trained_by(&arguments.adapters.join(&recipe.name))?;
        }
        recipe.set_steps(arguments.steps.unwrap_or(recipe.steps()));
        one(arguments, recipe, &data, &embedder)?;
    }
    Ok(())
}

/// The recipe that an adapter says it was trained by.
fn trained_by(folder: &Path) -> Result<Recipe> {
    let adapter = Adapter::open(folder)?;
    let recipe = adapter.manifest().training.get("recipe").cloned();
    let recipe = recipe.with_context(|| format!("{} names no recipe", folder.display()))?;
    serde_json::from_value(recipe).with_context(|| folder.display().to_string())
}

fn one(
    arguments: &Arguments,
    recipe: &Recipe,
    data: &Path,
    embedder: &BertEmbeddingProvider,
) -> Result<()> {
    let trained = recipe.train.iter().map(|(name, _)| name);
    let names: std::collections::BTreeSet<&String> =
        trained.chain(&recipe.dev).chain(&recipe.test).collect();
    let mut sets = Vec::new();
    let mut found = Vec::new();
    let (mut questions, mut from_sentences) = (Vec::new(), Vec::new());
    for (at, name) in names.into_iter().enumerate() {
        let mut set = if name == "bench-data" {
            Set::bench_data(&BenchData::load(&arguments.root.join(name))?)?
        } else {
            Set::beir(data, name)?
        };
        let stage = FirstStage::build(name, &set.passages, embedder, &arguments.work, &say)?;
        let mut own = candidates(&set, &stage, &arguments.work)?;
        let (mut asked, mut made) = (Vec::new(), Vec::new());
        if recipe.trains_on(name) && !arguments.evaluate {
            (asked, made) = lessons(recipe, (at, &set), &stage, &arguments.work)?;
        }
        questions.push(asked);
        from_sentences.push(made);
        if let Some(most) = arguments.questions {
            shorten(&mut set, &mut own, most);
        }
        sets.push(set);
        found.push(own);
    }
    let material = Material {
        sets: &sets,
        candidates: &found,
        asked: &questions,
        made: &from_sentences,
    };
    let mut learner = Learner::new(recipe, &sets)?;
    let mut library = Library::default();
    let folder = arguments.adapters.join(&recipe.name);
    let adapter = if arguments.evaluate {
        Adapter::open(&folder)?
    } else {
        let work = arguments.work.join(work_name(recipe)?);
        std::fs::create_dir_all(&work)?;
        train(recipe, &mut learner, &mut library, &material, &work, &say)?;
        let training = serde_json::json!({
            "recipe": recipe, "best_step": learner.steps_done(),
            "tree": tree::hash(&arguments.root)?,
            "asked": questions.iter().map(Vec::len).sum::<usize>(),
            "made": from_sentences.iter().map(Vec::len).sum::<usize>(),
        });
        let adapter = learner.export(&folder, &recipe.name, training)?;
        std::fs::copy(work.join("curve.jsonl"), folder.join("curve.jsonl"))?;
        adapter
    };
    // What is measured is what ships: the values as the file holds them.
    learner.adopt(&adapter)?;
    let mut of_splits = |split, names: &[String]| {
        let mut measured = Vec::new();
        for (at, set) in sets.iter().enumerate() {
            if names.contains(&set.name) {
                let part = (at, set, split);
                measured.extend(measure(&learner, &mut library, &material, part)?);
            }
        }
        Ok::<_, anyhow::Error>(measured)
    };
    // To choose between adapters by; a card holds what nothing was chosen by.
    say("on the questions for choices:");
    of_splits(Split::Dev, &recipe.dev)?;
    if arguments.dev {
        return Ok(());
    }
    say("on the test questions:");
    let measured = of_splits(Split::Test, &recipe.test)?;
    card::write(&folder, recipe, &adapter, &measured)
}

fn measure(
    learner: &Learner,
    library: &mut Library,
    material: &Material<'_>,
    (at, set, split): (usize, &Set, Split),
) -> Result<Vec<Measured>> {
    let routes: [(&str, Route); 2] = [
        ("hybrid", |found| &found.hybrid),
        ("dense", |found| &found.dense),
    ];
    type Of = fn(&Row) -> Figures;
    let mut orders: Vec<(&str, Scores, Of)> = vec![
        ("scores", Scores::Trained, |row| row.scored),
        ("fused", Scores::Trained, |row| row.fused),
    ];
    if matches!(learner, Learner::Tokens(..)) {
        orders.push(("all dimensions", Scores::Plain, |row| row.scored));
    }
    let mut out = Vec::new();
    let mut known: Option<(Scores, Vec<Vec<Row>>)> = None;
    for (order, scores, figures) in orders {
        let found = match known.take() {
            Some((of, found)) if of == scores => found,
            _ => {
                let part = (at, split, DEPTH, scores);
                rerank(
                    learner,
                    library,
                    material,
                    part,
                    &routes.map(|(_, route)| route),
                )?
            }
        };
        for ((first_stage, _), rows) in routes.iter().zip(&found) {
            for lang in [None, Some("zh"), Some("en")] {
                let Some((questions, metrics)) = summary(rows, lang, figures)? else {
                    continue;
                };
                // A set of one language has one row, not two of the same figures.
                if lang.is_some() && questions == rows.len() {
                    continue;
                }
                let row = Measured {
                    set: set.name.clone(),
                    first_stage: (*first_stage).to_owned(),
                    order: order.to_owned(),
                    lang: lang.unwrap_or("all").to_owned(),
                    questions,
                    depth: DEPTH,
                    metrics,
                };
                say(&serde_json::to_string(&row)?);
                out.push(row);
            }
        }
        known = Some((scores, found));
    }
    Ok(out)
}

/// The questions to train on, kept in the work folder: each costs an embedding.
fn lessons(
    recipe: &Recipe,
    (at, set): (usize, &Set),
    stage: &FirstStage<'_>,
    work: &Path,
) -> Result<(Vec<Lesson>, Vec<Lesson>)> {
    let key = format!("2\n{}\n{at} {} {}", stage.key(), recipe.made, recipe.seed);
    let key = blake3::hash(key.as_bytes()).to_hex();
    let file = work.join(format!("{}-{}.lessons.json", set.name, &key[..16]));
    if let Ok(bytes) = std::fs::read(&file) {
        let damaged = || format!("{} is damaged; delete it", file.display());
        return serde_json::from_slice(&bytes).with_context(damaged);
    }
    say(&format!("{}: hard negatives for its questions", set.name));
    let mut draws = Draws::new(recipe.seed, u64::MAX - at as u64);
    let both = (
        asked(at, set, stage)?,
        made(at, set, stage, recipe.made, &mut draws)?,
    );
    write_whole(&file, &serde_json::to_vec(&both)?)?;
    Ok(both)
}

/// The first questions of each split alone.
fn shorten(set: &mut Set, candidates: &mut Vec<Candidates>, most: usize) {
    let mut counts = std::collections::BTreeMap::new();
    let keep: Vec<bool> = set
        .questions
        .iter()
        .map(|question| {
            let count = counts.entry(question.split).or_insert(0_usize);
            *count += 1;
            *count <= most
        })
        .collect();
    let mut flags = keep.iter();
    set.questions
        .retain(|_| flags.next().copied().unwrap_or(false));
    let mut flags = keep.iter();
    candidates.retain(|_| flags.next().copied().unwrap_or(false));
}

/// A folder for each recipe: another recipe is another training.
fn work_name(recipe: &Recipe) -> Result<String> {
    let key = blake3::hash(&serde_json::to_vec(recipe)?).to_hex();
    Ok(format!("{}-{}", recipe.name, &key[..16]))
}
