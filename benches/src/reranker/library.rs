//! Sets with their first stages' candidates and the lower states of their texts, computed once.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use cornu_core::Side;
use cornu_embed::bert::States;

use super::first_stage::{Candidates, FirstStage, write_whole};
use super::learner::Learner;
use super::sets::{Asked, Set, Split};

/// Candidates that are reranked.
pub const DEPTH: usize = 50;
/// Texts whose states are computed at a time.
const STEP: usize = 256;

/// The candidates of a set's questions, in their order. Kept in `cache` under `key`.
///
/// # Errors
/// A provider that fails; a cache that cannot be read or written.
pub fn candidates(set: &Set, stage: &FirstStage<'_>, cache: &Path) -> Result<Vec<Candidates>> {
    let mut key = blake3::Hasher::new();
    key.update(stage.key().as_bytes());
    for question in &set.questions {
        key.update(question.text.as_bytes());
        key.update(&[0]);
    }
    let key = key.finalize().to_hex();
    let file = cache.join(format!("{}-{}.candidates.json", set.name, &key[..16]));
    if let Ok(bytes) = std::fs::read(&file) {
        let damaged = || format!("{} is damaged; delete it", file.display());
        return serde_json::from_slice(&bytes).with_context(damaged);
    }
    let all = set
        .questions
        .iter()
        .map(|question| stage.candidates(&question.text, DEPTH))
        .collect::<Result<Vec<_>>>()?;
    write_whole(&file, &serde_json::to_vec(&all)?)?;
    Ok(all)
}

/// The lower states of one recipe's texts, computed when they are first asked for.
#[derive(Default)]
pub struct Library {
    passages: BTreeMap<(usize, u32), States>,
    questions: BTreeMap<String, States>,
}

impl Library {
    /// Sees to it that the states of these passages and questions are there.
    ///
    /// # Errors
    /// A model that fails.
    pub fn fetch<'a>(
        &mut self,
        learner: &Learner,
        sets: &[Set],
        passages: impl IntoIterator<Item = (usize, u32)>,
        questions: impl IntoIterator<Item = &'a str>,
    ) -> Result<()> {
        let mut missing: Vec<(usize, u32)> = passages
            .into_iter()
            .filter(|place| !self.passages.contains_key(place))
            .collect();
        missing.sort_unstable();
        missing.dedup();
        for part in missing.chunks(STEP) {
            let texts = part
                .iter()
                .map(|&(set, id)| text_of(sets, set, id))
                .collect::<Result<Vec<_>>>()?;
            let states = learner.states(&texts, Side::Document)?;
            self.passages.extend(part.iter().copied().zip(states));
        }
        let mut missing: Vec<&str> = questions
            .into_iter()
            .filter(|text| !self.questions.contains_key(*text))
            .collect();
        missing.sort_unstable();
        missing.dedup();
        for part in missing.chunks(STEP) {
            let states = learner.states(part, Side::Query)?;
            let names = part.iter().map(ToString::to_string);
            self.questions.extend(names.zip(states));
        }
        Ok(())
    }

    /// The states of a passage that was fetched.
    ///
    /// # Errors
    /// It was not.
    pub fn passage(&self, set: usize, id: u32) -> Result<&States> {
        self.passages
            .get(&(set, id))
            .with_context(|| format!("passage {id} of set {set} was not fetched"))
    }

    /// The states of a question that was fetched.
    ///
    /// # Errors
    /// It was not.
    pub fn question(&self, text: &str) -> Result<&States> {
        self.questions
            .get(text)
            .with_context(|| format!("the question {text:?} was not fetched"))
    }
}

/// Questions of one split with their candidates.
pub fn of_split<'a>(
    set: &'a Set,
    candidates: &'a [Candidates],
    split: Split,
) -> impl Iterator<Item = (&'a Asked, &'a Candidates)> {
    set.questions
        .iter()
        .zip(candidates)
        .filter(move |(question, _)| question.split == split)
}

fn text_of(sets: &[Set], set: usize, id: u32) -> Result<&str> {
    let passage = sets.get(set).and_then(|set| set.passages.get(id as usize));
    let passage = passage.with_context(|| format!("no passage {id} in set {set}"))?;
    Ok(&passage.text)
}
