//! What tells a question that has an answer from one that has none: signals that could be judged by.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use cornu_core::ChunkId;
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::questions::Question;
use cornu_text::Tokenizer;

use super::Set;
use crate::models::PINNED;
use crate::table::Bench;

pub(super) const DATASET: &str = "signals";

/// Passages of the fused list whose words and cosines count, and those that a cross-encoder reads.
const BEST: usize = 5;
const READ: usize = 10;

/// A row for each signal, over the same questions.
pub(super) fn rows(bench: &Bench<'_>, set: &Set<'_>, questions: &[&Question]) -> Result<Vec<Row>> {
    let mut own: [Vec<f64>; 3] = Default::default();
    let mut read = Vec::with_capacity(questions.len());
    let words = Words::of(set);
    for question in questions {
        let routes = set.live.ask(&question.question)?;
        let fused = routes.ranking(set.route())?;
        let best: Vec<ChunkId> = fused.ids().take(READ).copied().collect();
        let few = &best[..best.len().min(BEST)];
        let cosines = routes.dense.iter().filter(|one| few.contains(&one.id));
        let [cosine, bm25, share] = &mut own;
        cosine.push(cosines.map(|one| one.score).fold(-1.0, f64::max));
        bm25.push(routes.sparse.iter().next().map_or(0.0, |one| one.score));
        share.push(words.share(&question.question, few));
        read.push(best);
    }
    let [cosine, bm25, share] = &own;
    let mut rows = vec![
        row("cosine", questions, cosine),
        row("bm25", questions, bm25),
        row("words", questions, share),
    ];
    let name = "cross-encoder";
    rows.push(match bench.models.second_look(PINNED)? {
        Err(reason) => Row::gated(DATASET, name, reason),
        Ok(look) => {
            let mut scores = Vec::with_capacity(questions.len());
            for (question, best) in questions.iter().zip(&read) {
                let text = |id: &ChunkId| {
                    let chunk = set.live.chunks.get(id).context("a chunk of the index")?;
                    anyhow::Ok(chunk.index_text.as_str())
                };
                let texts: Vec<&str> = best.iter().map(text).collect::<Result<_>>()?;
                let found = look.keeping.score(&question.question, &texts)?;
                let best = found.into_iter().map(f64::from);
                scores.push(best.fold(f64::NEG_INFINITY, f64::max));
            }
            row(name, questions, &scores)
        }
    });
    Ok(rows)
}

/// How well a signal sets questions with an answer above all others, above those that are about
/// something else, and above near misses.
fn row(system: &str, questions: &[&Question], signal: &[f64]) -> Row {
    let of = |wanted: &dyn Fn(&Question) -> bool| -> Vec<f64> {
        let both = questions.iter().zip(signal);
        both.filter(|(question, _)| wanted(question))
            .map(|(_, &value)| value)
            .collect()
    };
    let answerable = of(&|question| question.is_answerable());
    let mut row = Row::measured(DATASET, system);
    for (name, near) in [
        ("auc", None),
        ("auc_unrelated", Some(false)),
        ("auc_near_miss", Some(true)),
    ] {
        let without = of(&|question| {
            !question.is_answerable() && near.is_none_or(|near| question.near_miss == near)
        });
        if let Some(measure) = area(&answerable, &without) {
            row.metrics.insert(name.to_owned(), measure);
        }
    }
    row
}

/// The area under the ROC curve: how often one with an answer lies above one without, ties half. The
/// interval is that of DeLong, DeLong and Clarke-Pearson (1988), over questions of both kinds.
fn area(with: &[f64], without: &[f64]) -> Option<Measure> {
    let above = |a: f64, b: f64| match a.total_cmp(&b) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let share = |value: f64, others: &[f64], higher: bool| {
        let wins = others.iter().map(|&other| match higher {
            true => above(value, other),
            false => above(other, value),
        });
        mean(&wins.collect::<Vec<f64>>())
    };
    if with.len() < 2 || without.len() < 2 {
        return None;
    }
    let wins: Vec<f64> = with.iter().map(|&a| share(a, without, true)).collect();
    let lost: Vec<f64> = without.iter().map(|&b| share(b, with, false)).collect();
    let variance = |values: &[f64]| {
        let middle = mean(values);
        let squares = values.iter().map(|value| (value - middle).powi(2));
        squares.sum::<f64>() / (values.len() - 1) as f64 / values.len() as f64
    };
    let (value, spread) = (
        mean(&wins),
        1.96 * (variance(&wins) + variance(&lost)).sqrt(),
    );
    let n = (with.len() + without.len()) as u64;
    let mut measure = Measure::exact(value, "fraction", n);
    if spread > 0.0 {
        measure.lo = Some((value - spread).max(0.0));
        measure.hi = Some((value + spread).min(1.0));
    }
    Some(measure)
}

/// The words of all passages, and in how many each stands.
struct Words {
    tokenizer: Tokenizer,
    of: BTreeMap<ChunkId, BTreeSet<String>>,
    within: BTreeMap<String, usize>,
}

impl Words {
    fn of(set: &Set<'_>) -> Self {
        let texts = set.live.chunks.iter();
        Self::count(texts.map(|(id, chunk)| (*id, chunk.index_text.as_str())))
    }

    fn count<'a>(texts: impl Iterator<Item = (ChunkId, &'a str)>) -> Self {
        let tokenizer = Tokenizer::new();
        let (mut of, mut within) = (BTreeMap::new(), BTreeMap::new());
        for (id, text) in texts {
            let words = words(&tokenizer, text);
            for word in &words {
                *within.entry(word.clone()).or_insert(0) += 1;
            }
            of.insert(id, words);
        }
        Self {
            tokenizer,
            of,
            within,
        }
    }

    /// The share of a question's words that stand in some of the passages, each weighed by
    /// ln((N + 1) / (n + 0.5)) where n of N passages have it.
    fn share(&self, question: &str, passages: &[ChunkId]) -> f64 {
        let all = self.of.len() as f64 + 1.0;
        let (mut found, mut total) = (0.0, 0.0);
        for word in words(&self.tokenizer, question) {
            let within = self.within.get(&word).copied().unwrap_or(0) as f64;
            let weight = (all / (within + 0.5)).ln();
            let holds = |id: &ChunkId| self.of.get(id).is_some_and(|words| words.contains(&word));
            total += weight;
            if passages.iter().any(holds) {
                found += weight;
            }
        }
        if total > 0.0 { found / total } else { 0.0 }
    }
}

fn words(tokenizer: &Tokenizer, text: &str) -> BTreeSet<String> {
    let tokens = tokenizer.tokens(text).into_iter();
    tokens.map(|token| token.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: six of nine pairs and a tie; DeLong's variance from the placements of each.
    #[test]
    fn the_area_counts_pairs_and_its_interval_both_kinds() {
        let measure = area(&[0.9, 0.7, 0.4], &[0.8, 0.4, 0.1]).unwrap();
        let wins: [f64; 3] = [1.0, 2.0 / 3.0, 0.5];
        let lost: [f64; 3] = [1.0 / 3.0, 2.5 / 3.0, 1.0];
        assert!((measure.value - 6.5 / 9.0).abs() < 1e-12);
        let variance = |values: [f64; 3]| {
            values
                .iter()
                .map(|value| (value - 6.5 / 9.0).powi(2))
                .sum::<f64>()
                / 2.0
                / 3.0
        };
        let spread = 1.96 * (variance(wins) + variance(lost)).sqrt();
        assert_eq!(measure.lo, Some((6.5 / 9.0 - spread).max(0.0)));
        assert_eq!(measure.hi, Some((6.5 / 9.0 + spread).min(1.0)));
        assert_eq!(measure.n, 6);

        let apart = area(&[2.0, 3.0], &[0.0, 1.0]).unwrap();
        assert_eq!((apart.value, apart.lo), (1.0, None));
        assert!(area(&[1.0], &[0.0, 0.5]).is_none());
    }

    #[test]
    fn rare_words_weigh_more_and_those_of_no_passage_most() {
        let id = |at: u8| ChunkId::from_bytes([at; 32]);
        let texts = [(id(1), "call zero_grad first"), (id(2), "call backward")];
        let words = Words::count(texts.into_iter());
        assert_eq!(words.share("call zero_grad", &[id(1)]), 1.0);
        let (rare, common) = (
            words.share("call zero_grad", &[id(1)]) - words.share("call zero_grad", &[id(2)]),
            words.share("call zero_grad", &[id(2)]),
        );
        assert!(rare > common, "{rare} {common}");
        assert!(words.share("call France", &[id(1), id(2)]) < 0.5);
        assert_eq!(words.share("", &[id(1)]), 0.0);
    }
}
