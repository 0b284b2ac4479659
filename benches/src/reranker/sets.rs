//! Question sets over passages, and which questions may be trained on.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use cornu_chunk::{Chunker, SentencePacked, SentencePackedOptions};
use cornu_eval::beir;
use cornu_eval::metrics::Judgments;
use cornu_eval::questions::{Question, Ranks};
use cornu_text::WordCounter;
use serde::{Deserialize, Serialize};

use crate::corpus::BenchData;

/// Questions of `2wiki-500` on which choices are made, the first in [`by_hash`]; the rest is for the
/// final figures alone.
pub const DEV: usize = 150;

/// What a question may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// Gradients.
    Train,
    /// Choices: steps, rates, weights.
    Dev,
    /// The figures that are published, and nothing before them.
    Test,
}

/// A question set over passages.
#[derive(Clone, Debug)]
pub struct Set {
    /// Its name, as in the tables.
    pub name: String,
    /// Its passages; a candidate is a position here.
    pub passages: Vec<Passage>,
    /// Its questions.
    pub questions: Vec<Asked>,
}

/// What is retrieved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The title, or the heading path.
    pub title: String,
    /// What is embedded, matched and scored, the title included.
    pub text: String,
    /// `zh` or `en`, by its letters.
    pub lang: String,
}

/// A question with the passages that answer it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Its id.
    pub id: String,
    /// `zh` or `en`.
    pub lang: String,
    /// The question.
    pub text: String,
    /// Positions of its gold passages.
    pub gold: BTreeSet<u32>,
    /// What it may be used for.
    pub split: Split,
}

impl Set {
    /// A folder in the BEIR layout. Questions of `2wiki-500` are split by the blake3 hash of their
    /// ids, 150 for choices and the rest for the final figures; of other sets all are for training.
    ///
    /// # Errors
    /// A file that is missing or malformed.
    pub fn beir(folder: &Path, name: &str) -> Result<Self> {
        let folder = folder.join(name);
        let context = || format!("question set {}", folder.display());
        let read = beir::read_corpus(&folder.join("corpus.jsonl")).with_context(context)?;
        let corpus = read.collect::<Result<Vec<_>, _>>().with_context(context)?;
        let place = |id: &String| corpus.iter().position(|passage| passage.id == *id);
        let qrels = beir::read_qrels(&folder.join("qrels.tsv")).with_context(context)?;
        let queries = beir::read_queries(&folder.join("queries.jsonl")).with_context(context)?;
        let mut questions = Vec::new();
        for query in queries {
            let query = query.with_context(context)?;
            let judged = qrels.get(&query.id);
            let relevant = judged.into_iter().flat_map(Judgments::iter);
            let gold = relevant
                .filter(|(_, grade)| *grade > 0)
                .map(|(id, _)| {
                    let at = place(id).with_context(|| format!("no passage {id}"))?;
                    Ok(u32::try_from(at)?)
                })
                .collect::<Result<BTreeSet<_>>>()
                .with_context(context)?;
            questions.push(Asked {
                id: query.id,
                lang: "en".to_owned(),
                text: query.text,
                gold,
                split: Split::Train,
            });
        }
        questions.retain(|question| !question.gold.is_empty());
        if name.starts_with("2wiki") {
            split_by_hash(&mut questions);
        }
        let passages = corpus.iter().map(|passage| Passage {
            title: passage.title.clone(),
            text: passage.titled(),
            lang: "en".to_owned(),
        });
        Ok(Self {
            name: name.to_owned(),
            passages: passages.collect(),
            questions,
        })
    }

    /// The chunks of `bench-data` as the library cuts them unless told otherwise, with the
    /// answerable questions of `questions-ext`: its dev questions for training, one of four of them
    /// (by hash) for choices, its test questions for the final figures.
    ///
    /// # Errors
    /// A file that is malformed.
    pub fn bench_data(data: &BenchData) -> Result<Self> {
        let chunker = SentencePacked::new(
            Arc::new(WordCounter::new()),
            SentencePackedOptions::default(),
        );
        let mut chunks = Vec::new();
        for document in data.documents() {
            chunks.extend(chunker.chunk(document)?);
        }
        let mut questions = Vec::new();
        for question in data.questions("questions-ext.jsonl")? {
            if !question.is_answerable() {
                continue;
            }
            let mut gold = BTreeSet::new();
            for (at, chunk) in chunks.iter().enumerate() {
                let shown = [(chunk.doc.as_str(), chunk.text.as_str())];
                let ranks = Ranks::find(&question.evidence, &shown).ranks;
                if ranks.iter().any(Option::is_some) {
                    gold.insert(u32::try_from(at)?);
                }
            }
            if gold.is_empty() {
                // Its evidence is in no chunk's text (front matter): no order can show it.
                continue;
            }
            let split = own_split(&question);
            questions.push(Asked {
                id: question.id,
                lang: language(&question.question),
                text: question.question,
                gold,
                split,
            });
        }
        let passages = chunks.iter().map(|chunk| Passage {
            title: chunk.heading_path.join(" › "),
            lang: language(&chunk.text),
            text: chunk.index_text.clone(),
        });
        Ok(Self {
            name: "bench-data".to_owned(),
            passages: passages.collect(),
            questions,
        })
    }

    /// The questions of one split, with their positions.
    pub fn of(&self, split: Split) -> impl Iterator<Item = &Asked> {
        self.questions
            .iter()
            .filter(move |question| question.split == split)
    }
}

/// What a question of `bench-data` may be used for: one in four of its dev questions, by the hash of
/// the id, is for choices.
#[must_use]
pub fn own_split(question: &Question) -> Split {
    let held_out = blake3::hash(question.id.as_bytes()).as_bytes()[0].is_multiple_of(4);
    match (question.split.as_str(), held_out) {
        ("test", _) => Split::Test,
        (_, true) => Split::Dev,
        (_, false) => Split::Train,
    }
}

fn split_by_hash(questions: &mut [Asked]) {
    let order = by_hash(questions.iter().map(|question| question.id.as_str()));
    for (rank, at) in order.into_iter().enumerate() {
        if let Some(question) = questions.get_mut(at) {
            question.split = if rank < DEV { Split::Dev } else { Split::Test };
        }
    }
}

/// The positions of ids in the order of their blake3 hashes.
pub fn by_hash<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let hashes: Vec<[u8; 32]> = ids
        .map(|id| *blake3::hash(id.as_bytes()).as_bytes())
        .collect();
    let mut order: Vec<usize> = (0..hashes.len()).collect();
    order.sort_by_key(|&at| (hashes[at], at));
    order
}

/// `zh` where a text has Chinese characters, one to ten letters at least; else `en`.
fn language(text: &str) -> String {
    let chinese = text
        .chars()
        .filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c))
        .count();
    let letters = text.chars().filter(char::is_ascii_alphabetic).count();
    if chinese * 10 > letters { "zh" } else { "en" }.to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What the card promises: the figures are on questions that nothing was learned from.
    #[test]
    fn test_questions_of_bench_data_stay_test_questions() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench-data");
        let data = BenchData::load(&folder).unwrap();
        let questions = data.questions("questions-ext.jsonl").unwrap();
        let said: BTreeMap<&str, &str> = questions
            .iter()
            .map(|question| (question.id.as_str(), question.split.as_str()))
            .collect();
        let set = Set::bench_data(&data).unwrap();
        for question in &set.questions {
            let tested = question.split == Split::Test;
            assert_eq!(tested, said[question.id.as_str()] == "test", "{question:?}");
        }
        let counts = [Split::Train, Split::Dev, Split::Test].map(|split| set.of(split).count());
        assert!(counts[0] > 2 * counts[1] && counts[1] > 20, "{counts:?}");
        assert_eq!(counts[2], 160, "one has its evidence in front matter");
    }

    #[test]
    fn the_split_of_2wiki_goes_by_the_hash_of_the_id_and_not_by_the_order() {
        let asked = |id: usize| Asked {
            id: format!("q{id}"),
            lang: "en".to_owned(),
            text: "?".to_owned(),
            gold: BTreeSet::from([0]),
            split: Split::Train,
        };
        let split = |ids: &mut dyn Iterator<Item = usize>| {
            let mut questions: Vec<Asked> = ids.map(asked).collect();
            split_by_hash(&mut questions);
            let dev = questions.into_iter().filter(|one| one.split == Split::Dev);
            dev.map(|one| one.id).collect::<BTreeSet<_>>()
        };
        let dev = split(&mut (0..200));
        assert_eq!(dev.len(), DEV);
        assert_eq!(dev, split(&mut (0..200).rev()));
        let largest = dev
            .iter()
            .map(|id| *blake3::hash(id.as_bytes()).as_bytes())
            .max();
        for id in (0..200).map(|id| format!("q{id}")) {
            let hash = *blake3::hash(id.as_bytes()).as_bytes();
            assert_eq!(dev.contains(&id), Some(hash) <= largest, "{id}");
        }
    }
}
