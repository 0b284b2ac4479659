//! The training of one adapter: steps, looks at the dev questions, checkpoints.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use cornu_embed::bert::{Group, PairTrainer};

use super::first_stage::Candidates;
use super::library::{Library, of_split};
use super::quality::{Compared, Figures, compare, reordered};
use super::questions::{Draws, Lesson, group};
use super::recipe::Recipe;
use super::sets::{Set, Split};

/// What a training works on.
pub struct Material<'a> {
    /// All sets.
    pub sets: &'a [Set],
    /// Their candidates, in the order of the sets and their questions.
    pub candidates: &'a [Vec<Candidates>],
    /// Questions of the training sets.
    pub asked: &'a [Lesson],
    /// Questions made of sentences.
    pub made: &'a [Lesson],
}

/// Trains to the last step, going on where an earlier run of the same recipe stopped, and leaves
/// the best checkpoint (by nDCG@10 on the dev questions) in the trainer.
///
/// Writes `curve.jsonl` (one line a look: step, loss, dev figures), `last.safetensors` and
/// `best.safetensors` into `work`.
///
/// # Errors
/// A model that fails, or a file that cannot be written.
pub fn train(
    recipe: &Recipe,
    trainer: &mut PairTrainer,
    library: &mut Library,
    material: &Material<'_>,
    work: &Path,
    say: &dyn Fn(&str),
) -> Result<()> {
    let (last, best) = (work.join("last.safetensors"), work.join("best.safetensors"));
    let curve = work.join("curve.jsonl");
    if last.is_file() {
        trainer.resume(&last)?;
        say(&format!("{}: going on after step {}", recipe.name, trainer.steps_done()));
    } else {
        let _ = std::fs::remove_file(&curve);
        look(recipe, trainer, library, material, (&curve, None))?;
        trainer.save(&best)?;
        trainer.save(&last)?;
    }
    let start = Instant::now();
    let first = trainer.steps_done();
    let mut losses = Vec::new();
    while trainer.steps_done() < recipe.options.steps {
        // Drawn from the step's number, so that an interrupted training draws the same.
        let mut draws = Draws::new(recipe.seed, 1 + u64::from(trainer.steps_done()));
        losses.push(step(recipe, trainer, library, material, &mut draws)?);
        let done = trainer.steps_done();
        if done.is_multiple_of(10) {
            let each = start.elapsed().as_secs_f64() / f64::from(done - first);
            say(&format!(
                "{}: step {done} of {}, loss {:.4}, {each:.1} s a step, {:.0} min left",
                recipe.name,
                recipe.options.steps,
                mean(&losses),
                each * f64::from(recipe.options.steps - done) / 60.0
            ));
        }
        if done.is_multiple_of(recipe.look) || done == recipe.options.steps {
            let loss = Some(mean(&losses));
            losses.clear();
            let ndcg = look(recipe, trainer, library, material, (&curve, loss))?;
            if ndcg >= best_so_far(&curve)? {
                trainer.save(&best)?;
            }
            trainer.save(&last)?;
        }
    }
    trainer.resume(&best)?;
    say(&format!("{}: step {} is best on the dev questions", recipe.name, trainer.steps_done()));
    Ok(())
}

/// Figures of a split of a set before and after reranking the first `depth` candidates, with each
/// question's language.
///
/// # Errors
/// A model that fails.
pub fn rerank(
    trainer: &PairTrainer,
    library: &mut Library,
    material: &Material<'_>,
    (set, split, depth): (usize, Split, usize),
    route: fn(&Candidates) -> &[(u32, f64)],
) -> Result<Vec<(String, Figures, Figures)>> {
    let of = material.sets.get(set).context("no such set")?;
    let candidates = material.candidates.get(set).context("no candidates")?;
    let mut rows = Vec::new();
    for (question, candidates) in of_split(of, candidates, split) {
        let order: Vec<u32> = route(candidates).iter().map(|(id, _)| *id).collect();
        let head = order.get(..depth).unwrap_or(&order);
        let places = head.iter().map(|&id| (set, id));
        library.fetch(trainer, material.sets, places, [question.text.as_str()])?;
        let documents = head
            .iter()
            .map(|&id| library.passage(set, id))
            .collect::<Result<Vec<_>>>()?;
        let scores = trainer.scores(library.question(&question.text)?, &documents)?;
        rows.push((
            question.lang.clone(),
            Figures::of(&order, &question.gold)?,
            Figures::of(&reordered(&order, &scores), &question.gold)?,
        ));
    }
    Ok(rows)
}

/// The comparison over all rows, or those of one language; `None` where there is no row.
///
/// # Errors
/// Figures that are not finite.
pub fn summary(
    rows: &[(String, Figures, Figures)],
    lang: Option<&str>,
) -> Result<Option<(usize, Vec<Compared>)>> {
    let rows: Vec<_> = rows
        .iter()
        .filter(|(of, _, _)| lang.is_none_or(|lang| lang == of))
        .collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let before: Vec<Figures> = rows.iter().map(|row| row.1).collect();
    let after: Vec<Figures> = rows.iter().map(|row| row.2).collect();
    Ok(Some((rows.len(), compare(&before, &after)?)))
}

fn step(
    recipe: &Recipe,
    trainer: &mut PairTrainer,
    library: &mut Library,
    material: &Material<'_>,
    draws: &mut Draws,
) -> Result<f64> {
    let mut drawn = Vec::new();
    while drawn.len() < recipe.groups {
        let made = draws.unit() < recipe.made_share;
        let from = if made { material.made } else { material.asked };
        let lesson = draws.pick(from).context("no question to train on")?;
        if let Some(passages) = group(lesson, recipe.negatives, draws) {
            drawn.push((lesson, passages));
        }
    }
    let places = drawn
        .iter()
        .flat_map(|(lesson, passages)| passages.iter().map(|&id| (lesson.set, id)));
    let questions = drawn.iter().map(|(lesson, _)| lesson.text.as_str());
    library.fetch(trainer, material.sets, places, questions)?;
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
    Ok(trainer.step(&groups)?)
}

/// Measures the dev questions and adds a line to the curve. Gives their nDCG@10.
fn look(
    recipe: &Recipe,
    trainer: &PairTrainer,
    library: &mut Library,
    material: &Material<'_>,
    (curve, loss): (&Path, Option<f64>),
) -> Result<f64> {
    let mut rows = Vec::new();
    for (set, of) in material.sets.iter().enumerate() {
        if recipe.dev.contains(&of.name) {
            let part = (set, Split::Dev, recipe.look_depth);
            rows.extend(rerank(trainer, library, material, part, |found| &found.hybrid)?);
        }
    }
    let (questions, compared) = summary(&rows, None)?.context("no dev questions")?;
    let ndcg = compared
        .iter()
        .find(|compared| compared.metric == "nDCG@10")
        .map_or(0.0, |compared| compared.reranked);
    let line = serde_json::json!({
        "step": trainer.steps_done(), "loss": loss, "questions": questions, "ndcg10": ndcg,
        "dev": compared,
    });
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(curve)?;
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
