//! The training of one adapter: steps, looks at the dev questions, checkpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use cornu_embed::bert::Group;

use super::first_stage::Candidates;
use super::learner::Learner;
use super::library::{Library, of_split};
use super::quality::{Compared, Figures, compare, fused, reordered};
use super::questions::{Draws, Lesson, group};
use super::recipe::Recipe;
use super::sets::{Set, Split};

/// What a training works on.
pub struct Material<'a> {
    /// All sets.
    pub sets: &'a [Set],
    /// Their candidates, in the order of the sets and their questions.
    pub candidates: &'a [Vec<Candidates>],
    /// Questions of the training sets, in the order of the sets.
    pub asked: &'a [Vec<Lesson>],
    /// Questions made of sentences, likewise.
    pub made: &'a [Vec<Lesson>],
}

/// Trains to the last step, going on where an earlier run of the same recipe stopped, and leaves
/// the best checkpoint (by nDCG@10 of the fused order on the dev questions) in the learner.
///
/// Writes `curve.jsonl` (one line a look: step, loss, dev figures), `last.safetensors` and
/// `best.safetensors` into `work`.
///
/// # Errors
/// A model that fails, or a file that cannot be written.
pub fn train(
    recipe: &Recipe,
    learner: &mut Learner,
    library: &mut Library,
    material: &Material<'_>,
    work: &Path,
    say: &dyn Fn(&str),
) -> Result<()> {
    let (last, best) = (work.join("last.safetensors"), work.join("best.safetensors"));
    let curve = work.join("curve.jsonl");
    if last.is_file() {
        learner.resume(&last)?;
        say(&format!(
            "{}: going on after step {}",
            recipe.name,
            learner.steps_done()
        ));
    } else {
        let _ = std::fs::remove_file(&curve);
        look(recipe, learner, library, material, (&curve, None))?;
        learner.save(&best)?;
        learner.save(&last)?;
    }
    let start = Instant::now();
    let first = learner.steps_done();
    let mut losses = Vec::new();
    while learner.steps_done() < recipe.steps() {
        // Drawn from the step's number, so that an interrupted training draws the same.
        let mut draws = Draws::new(recipe.seed, 1 + u64::from(learner.steps_done()));
        losses.push(step(recipe, learner, library, material, &mut draws)?);
        let done = learner.steps_done();
        if done.is_multiple_of(10) {
            let each = start.elapsed().as_secs_f64() / f64::from(done - first);
            say(&format!(
                "{}: step {done} of {}, loss {:.4}, {each:.1} s a step, {:.0} min left",
                recipe.name,
                recipe.steps(),
                mean(&losses),
                each * f64::from(recipe.steps() - done) / 60.0
            ));
        }
        if done.is_multiple_of(recipe.look) || done == recipe.steps() {
            let loss = Some(mean(&losses));
            losses.clear();
            let ndcg = look(recipe, learner, library, material, (&curve, loss))?;
            if ndcg >= best_so_far(&curve)? {
                learner.save(&best)?;
            }
            learner.save(&last)?;
        }
    }
    learner.resume(&best)?;
    say(&format!(
        "{}: step {} is best on the dev questions",
        recipe.name,
        learner.steps_done()
    ));
    Ok(())
}

/// One question's figures in three orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The question's language.
    pub lang: String,
    /// In the first stage's order.
    pub first: Figures,
    /// In the order of the scores.
    pub scored: Figures,
    /// In the order of the mean of both scores, brought to one scale.
    pub fused: Figures,
}

/// Which scores are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// Those that are trained.
    Trained,
    /// Late interaction in the model's own dimensions.
    Plain,
}

/// What is measured: set, split, how many candidates are scored, which scores.
pub type Part = (usize, Split, usize, Scores);

/// A first stage's list of a question.
pub type Route = fn(&Candidates) -> &[(u32, f64)];

/// Figures of a split of a set before and after its first candidates are reranked: rows for each of
/// `routes`. A passage that several of them name is scored once.
///
/// # Errors
/// A model that fails.
pub fn rerank(
    learner: &Learner,
    library: &mut Library,
    material: &Material<'_>,
    (set, split, depth, which): Part,
    routes: &[Route],
) -> Result<Vec<Vec<Row>>> {
    let of = material.sets.get(set).context("no such set")?;
    let candidates = material.candidates.get(set).context("no candidates")?;
    let mut rows: Vec<Vec<Row>> = routes.iter().map(|_| Vec::new()).collect();
    for (question, candidates) in of_split(of, candidates, split) {
        let lists: Vec<&[(u32, f64)]> = routes.iter().map(|route| route(candidates)).collect();
        let orders: Vec<Vec<u32>> = lists
            .iter()
            .map(|list| list.iter().map(|(id, _)| *id).collect())
            .collect();
        let head = |order: &[u32]| order.get(..depth).unwrap_or(order).to_vec();
        let scored: BTreeSet<u32> = orders.iter().flat_map(|order| head(order)).collect();
        let places = scored.iter().map(|&id| (set, id));
        library.fetch(learner, material.sets, places, [question.text.as_str()])?;
        let documents = scored
            .iter()
            .map(|&id| library.passage(set, id))
            .collect::<Result<Vec<_>>>()?;
        let asked = library.question(&question.text)?;
        let scores = match which {
            Scores::Trained => learner.scores(asked, &documents)?,
            Scores::Plain => learner.plain_scores(asked, &documents)?,
        };
        let scores: BTreeMap<u32, f32> = scored.into_iter().zip(scores).collect();
        for ((rows, order), list) in rows.iter_mut().zip(&orders).zip(lists) {
            let own: Vec<f32> = head(order)
                .iter()
                .filter_map(|id| scores.get(id).copied())
                .collect();
            let scored = reordered(order, &own);
            rows.push(Row {
                lang: question.lang.clone(),
                first: Figures::of(order, &question.gold)?,
                fused: Figures::of(&fused(list, &own)?, &question.gold)?,
                scored: Figures::of(&scored, &question.gold)?,
            });
        }
    }
    Ok(rows)
}

/// What an order of [`Row`]s gains over the first stage, over all rows or those of one language;
/// `None` where there is no row.
///
/// # Errors
/// Figures that are not finite.
pub fn summary(
    rows: &[Row],
    lang: Option<&str>,
    order: fn(&Row) -> Figures,
) -> Result<Option<(usize, Vec<Compared>)>> {
    let rows: Vec<&Row> = rows
        .iter()
        .filter(|row| lang.is_none_or(|lang| lang == row.lang))
        .collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let before: Vec<Figures> = rows.iter().map(|row| row.first).collect();
    let after: Vec<Figures> = rows.iter().map(|row| order(row)).collect();
    Ok(Some((rows.len(), compare(&before, &after)?)))
}

fn step(
    recipe: &Recipe,
    learner: &mut Learner,
    library: &mut Library,
    material: &Material<'_>,
    draws: &mut Draws,
) -> Result<f64> {
    let mut drawn = Vec::new();
    while drawn.len() < recipe.groups {
        let set = source(recipe, material.sets, draws.unit())?;
        let made = draws.unit() < recipe.made_share;
        let from = if made { material.made } else { material.asked };
        let lesson = from.get(set).and_then(|lessons| draws.pick(lessons));
        let lesson = lesson.context("a set without a question to train on")?;
        if let Some(passages) = group(lesson, recipe.negatives, draws) {
            drawn.push((lesson, passages));
        }
    }
    let places = drawn
        .iter()
        .flat_map(|(lesson, passages)| passages.iter().map(|&id| (lesson.set, id)));
    let questions = drawn.iter().map(|(lesson, _)| lesson.text.as_str());
    library.fetch(learner, material.sets, places, questions)?;
    let groups = drawn
        .iter()
        .map(|(lesson, passages)| {
            let documents = passages
                .iter()
                .map(|&id| library.passage(lesson.set, id))
                .collect::<Result<Vec<_>>>()?;
            let mut targets = vec![0.0; documents.len()];
            if let Some(first) = targets.first_mut() {
                *first = 1.0;
            }
            Ok(Group {
                query: library.question(&lesson.text)?,
                documents,
                targets,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    learner.step(&groups)
}

/// The set that a number from 0 to 1 falls to, by the shares.
fn source(recipe: &Recipe, sets: &[Set], at: f64) -> Result<usize> {
    let whole: f64 = recipe.train.iter().map(|(_, share)| share).sum();
    let mut left = at * whole;
    let mut chosen = None;
    for (name, share) in &recipe.train {
        chosen = Some(name);
        left -= share;
        if left < 0.0 {
            break;
        }
    }
    sets.iter()
        .position(|set| Some(&set.name) == chosen)
        .context("a recipe without training sets")
}

/// Measures the dev questions and adds a line to the curve. Gives their nDCG@10.
fn look(
    recipe: &Recipe,
    learner: &Learner,
    library: &mut Library,
    material: &Material<'_>,
    (curve, loss): (&Path, Option<f64>),
) -> Result<f64> {
    let mut rows = Vec::new();
    for (set, of) in material.sets.iter().enumerate() {
        if recipe.dev.contains(&of.name) {
            let part = (set, Split::Dev, recipe.look_depth, Scores::Trained);
            let hybrid: Route = |found| &found.hybrid;
            let found = rerank(learner, library, material, part, &[hybrid])?;
            rows.extend(found.into_iter().flatten());
        }
    }
    let (questions, compared) =
        summary(&rows, None, |row| row.scored)?.context("no dev questions")?;
    let (_, fused) = summary(&rows, None, |row| row.fused)?.context("no dev questions")?;
    // The order that a user is told to take.
    let ndcg = fused
        .iter()
        .find(|compared| compared.metric == "nDCG@10")
        .map_or(0.0, |compared| compared.reranked);
    let line = serde_json::json!({
        "step": learner.steps_done(), "loss": loss, "questions": questions, "ndcg10": ndcg,
        "dev": compared, "fused": fused,
    });
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(curve)?;
    writeln!(file, "{line}")?;
    Ok(ndcg)
}

fn best_so_far(curve: &Path) -> Result<f64> {
    let text = std::fs::read_to_string(curve)?;
    let values = text.lines().filter_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        line.get("ndcg10")?.as_f64()
    });
    Ok(values.fold(0.0, f64::max))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
