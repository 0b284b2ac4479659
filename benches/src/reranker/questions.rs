//! What is trained on: the questions of the training sets, and questions made of their passages'
//! sentences, each with hard negatives of the first stage.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;
use serde::{Deserialize, Serialize};

use super::first_stage::FirstStage;
use super::sets::{Passage, Set, Split};

/// Candidates that negatives are drawn from.
const NEGATIVES: usize = 30;
/// The hardest of them, of which a group has most.
const HARDEST: usize = 10;
/// Gold passages among so many first candidates are taught.
const NAMED: usize = 10;
/// Share of the words of a made question that are left out.
const DROPPED: f64 = 0.25;

/// A question to train on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// Which set its passages are of.
    pub set: usize,
    /// The question.
    pub text: String,
    /// Passages that answer it: never negatives.
    pub gold: BTreeSet<u32>,
    /// Those of them that are taught: what the first stage has among its best ten, or the best of
    /// what it has. A passage of a later hop, which the question does not name, would teach that
    /// what has nothing to do with a question answers it.
    pub taught: Vec<u32>,
    /// The first stage's other candidates, best first.
    pub negatives: Vec<u32>,
}

/// Draws of a training, all from one seed (PCG64 XSL-RR).
#[derive(Clone, Debug)]
pub struct Draws(Pcg64);

impl Draws {
    /// The generator of a seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), u128::from(stream)))
    }

    /// Below `n`; 0 for 0. Multiplication without rejection: a bias below n / 2⁶⁴.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of a list.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// `count` of a list, each place at most once, in the order they were drawn.
    pub fn sample<T: Copy>(&mut self, of: &[T], count: usize) -> Vec<T> {
        let mut rest = of.to_vec();
        let mut taken = Vec::new();
        while taken.len() < count && !rest.is_empty() {
            taken.push(rest.swap_remove(self.below(rest.len())));
        }
        taken
    }
}

/// The questions of a set that may be trained on.
///
/// # Errors
/// A provider that fails.
pub fn asked(at: usize, set: &Set, stage: &FirstStage<'_>) -> Result<Vec<Lesson>> {
    set.of(Split::Train)
        .map(|question| lesson(at, &question.text, question.gold.clone(), stage))
        .collect()
}

/// `count` questions made of sentences: a stretch of a third to four fifths of a sentence, one word
/// in four left out. Gold is every passage that holds the sentence.
///
/// # Errors
/// A provider that fails, or a set without a sentence.
pub fn made(
    at: usize,
    set: &Set,
    stage: &FirstStage<'_>,
    count: usize,
    draws: &mut Draws,
) -> Result<Vec<Lesson>> {
    let mut lessons = Vec::with_capacity(count);
    let mut tries = 0;
    while lessons.len() < count {
        tries += 1;
        anyhow::ensure!(tries < 100 * count + 100, "{}: no sentences", set.name);
        let passage = draws
            .pick(&set.passages)
            .context("a set without passages")?;
        let Some((question, sentence)) = question_of(passage, draws) else {
            continue;
        };
        let holds = |(_, passage): &(u32, &Passage)| passage.text.contains(&sentence);
        let gold = (0..).zip(&set.passages).filter(holds).map(|(at, _)| at);
        lessons.push(lesson(at, &question, gold.collect(), stage)?);
    }
    Ok(lessons)
}

/// The passages of one group: a gold one first, then negatives, most of them among the hardest.
pub fn group(lesson: &Lesson, negatives: usize, draws: &mut Draws) -> Option<Vec<u32>> {
    let hardest = lesson.negatives.len().min(HARDEST);
    let (hard, rest) = lesson.negatives.split_at(hardest);
    let mut group = vec![*draws.pick(&lesson.taught)?];
    group.extend(draws.sample(hard, negatives.saturating_sub(2)));
    group.extend(draws.sample(rest, 2));
    (group.len() > 1).then_some(group)
}

fn lesson(set: usize, text: &str, gold: BTreeSet<u32>, stage: &FirstStage<'_>) -> Result<Lesson> {
    let candidates = stage.candidates(text, NEGATIVES)?.hybrid;
    let order: Vec<u32> = candidates.into_iter().map(|(id, _)| id).collect();
    let answers = |id: &&u32| gold.contains(id);
    let mut taught: Vec<u32> = order.iter().take(NAMED).filter(answers).copied().collect();
    if taught.is_empty() {
        let best = order.iter().find(answers).or(gold.first());
        taught.extend(best);
    }
    let negatives = order.iter().filter(|id| !gold.contains(id));
    Ok(Lesson {
        set,
        text: text.to_owned(),
        negatives: negatives.copied().collect(),
        taught,
        gold,
    })
}

fn question_of(passage: &Passage, draws: &mut Draws) -> Option<(String, String)> {
    let sentences: Vec<&str> = cornu_text::sentences(&passage.text)
        .filter_map(|span| span.slice(&passage.text))
        .map(str::trim)
        .filter(|sentence| (10..=400).contains(&sentence.chars().count()))
        .collect();
    let sentence = *draws.pick(&sentences)?;
    let words = words(sentence);
    if words.len() < 4 {
        return None;
    }
    let length = (words.len() as f64 * (0.33 + 0.47 * draws.unit())).ceil() as usize;
    let start = draws.below(words.len() - length.min(words.len()) + 1);
    let stretch = words.get(start..start + length.min(words.len()))?;
    let kept: Vec<&str> = stretch
        .iter()
        .copied()
        .filter(|_| draws.unit() >= DROPPED)
        .collect();
    if kept.len() < 2 {
        return None;
    }
    let between = if passage.lang == "zh" { "" } else { " " };
    Some((kept.join(between), sentence.to_owned()))
}

/// Runs of letters and digits, and pairs of Chinese characters; marks are left out.
fn words(sentence: &str) -> Vec<&str> {
    let chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '.';
    let mut words = Vec::new();
    let mut open: Option<(usize, usize, bool)> = None;
    let close = |words: &mut Vec<_>, open: Option<(usize, usize, bool)>, end: usize| {
        if let Some((start, _, _)) = open {
            words.extend(sentence.get(start..end));
        }
    };
    for (at, c) in sentence.char_indices() {
        let fits = open.is_some_and(|(_, count, zh)| zh == chinese(c) && !(zh && count >= 2));
        if !inside(c) {
            close(&mut words, open.take(), at);
        } else if fits {
            open = open.map(|(start, count, zh)| (start, count + 1, zh));
        } else {
            close(&mut words, open.take(), at);
            open = Some((at, 1, chinese(c)));
        }
    }
    close(&mut words, open, sentence.len());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_and_pairs() {
        assert_eq!(
            words("调用 zero_grad() 清空梯度。"),
            ["调用", "zero_grad", "清空", "梯度"]
        );
        assert_eq!(words("one, two-three"), ["one", "two-three"]);
    }

    #[test]
    fn a_sample_holds_each_once() {
        let mut draws = Draws::new(1, 0);
        let mut sample = draws.sample(&[1, 2, 3, 4], 9);
        sample.sort_unstable();
        assert_eq!(sample, [1, 2, 3, 4]);
    }
}
