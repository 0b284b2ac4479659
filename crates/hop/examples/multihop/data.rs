//! Question sets in the layout of BEIR, and vectors made before.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::{Extraction, Ranking};
use cornu_extract::{ImportRules, RuleExtractor, read_openie};
use cornu_hop::Passage;
use ndarray::Array2;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Whatever went wrong.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// A question with its gold passages, by position.
pub(crate) struct Question {
    /// Its text.
    pub(crate) text: String,
    /// Its type, where the set has types.
    pub(crate) kind: String,
    /// The passages that answer it.
    pub(crate) gold: BTreeSet<usize>,
    /// Its vector's row.
    pub(crate) row: usize,
}

/// A set.
pub(crate) struct Set {
    /// Title and text of each passage.
    pub(crate) passages: Vec<(String, String)>,
    /// The questions of the part that was asked for.
    pub(crate) questions: Vec<Question>,
}

impl Set {
    /// Reads a set. The development part are the 150 questions with the smallest SHA-256 of their
    /// id, the test part are the others.
    pub(crate) fn read(folder: &str, part: &str) -> Result<Self, Failure> {
        let corpus = lines(&format!("{folder}/corpus.jsonl"))?;
        let queries = lines(&format!("{folder}/queries.jsonl"))?;
        let position: BTreeMap<&str, usize> = corpus
            .iter()
            .enumerate()
            .map(|(at, passage)| (text(passage, "_id"), at))
            .collect();
        let mut gold: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for line in std::fs::read_to_string(format!("{folder}/qrels.tsv"))?
            .lines()
            .skip(1)
        {
            let fields: Vec<&str> = line.split('\t').collect();
            let [query, passage, ..] = fields.as_slice() else {
                return Err("a line of qrels has fewer than two fields".into());
            };
            let at = position
                .get(passage)
                .ok_or("qrels name an unknown passage")?;
            gold.entry((*query).to_owned()).or_default().insert(*at);
        }
        let mut order: Vec<usize> = (0..queries.len()).collect();
        order.sort_by_key(|&at| -> Option<[u8; 32]> {
            queries
                .get(at)
                .map(|query| Sha256::digest(text(query, "_id").as_bytes()).into())
        });
        match part {
            "dev" => order.truncate(150),
            "test" => drop(order.drain(..order.len().min(150))),
            _ => {}
        }
        let mut questions = Vec::new();
        for row in order {
            let query = queries.get(row).ok_or("a question")?;
            questions.push(Question {
                text: text(query, "text").to_owned(),
                kind: text(query, "type").to_owned(),
                gold: gold
                    .remove(text(query, "_id"))
                    .ok_or("a question without gold")?,
                row,
            });
        }
        let passages = corpus
            .iter()
            .map(|passage| {
                (
                    text(passage, "title").to_owned(),
                    text(passage, "text").to_owned(),
                )
            })
            .collect();
        Ok(Self {
            passages,
            questions,
        })
    }

    /// The passages with what the rules read, or what an OpenIE file says.
    pub(crate) fn facts(&self, openie: Option<&str>) -> Result<Vec<Passage<usize>>, Failure> {
        let rules = RuleExtractor::new();
        let imported: Option<Vec<Extraction>> = match openie {
            Some(path) => {
                let file = std::fs::read_to_string(path)?;
                let (read, _) = read_openie(&file, ImportRules::Published)?;
                Some(read.into_iter().map(|passage| passage.extraction).collect())
            }
            None => None,
        };
        let passages = self.passages.iter().enumerate();
        passages
            .map(|(at, (title, body))| {
                let whole = format!("{title}\n{body}");
                let extraction = match &imported {
                    Some(all) => all.get(at).cloned().ok_or("the OpenIE file is too short")?,
                    None => rules.read(&whole),
                };
                Ok(Passage::new(at, &whole, extraction))
            })
            .collect()
    }
}

/// The passages by the dot product of their vectors with the question's.
pub(crate) fn dense(passages: &Array2<f32>, questions: &Array2<f32>, row: usize) -> Vec<f64> {
    passages
        .dot(&questions.row(row))
        .iter()
        .map(|score| f64::from(*score))
        .collect()
}

/// Sums of recall by type of question.
#[derive(Default)]
pub(crate) struct Table(BTreeMap<String, [f64; 4]>);

impl Table {
    /// Adds a question's ranking.
    pub(crate) fn add(&mut self, question: &Question, ranking: &Ranking<usize>) {
        let recall = |k: usize| {
            let hits = ranking
                .ids()
                .take(k)
                .filter(|at| question.gold.contains(at));
            hits.count() as f64 / question.gold.len() as f64
        };
        let (two, five) = (recall(2), recall(5));
        let whole = f64::from(u8::from(five == 1.0));
        for kind in [question.kind.as_str(), "all"] {
            let sums = self.0.entry(kind.to_owned()).or_default();
            for (sum, value) in sums.iter_mut().zip([1.0, two, five, whole]) {
                *sum += value;
            }
        }
    }

    /// One line a type.
    pub(crate) fn lines(&self, name: &str) -> String {
        let line = |(kind, [n, two, five, whole]): (&String, &[f64; 4])| {
            format!(
                "{name:8} {kind:18} n {n:3}  R@2 {:.1}  R@5 {:.1}  all-gold@5 {:.1}\n",
                100.0 * two / n,
                100.0 * five / n,
                100.0 * whole / n
            )
        };
        self.0.iter().map(line).collect()
    }
}

/// Little-endian f32, rows of a dimension.
pub(crate) fn vectors(path: &str, dimension: usize) -> Result<Array2<f32>, Failure> {
    let bytes = std::fs::read(path)?;
    let values: Vec<f32> = bytes
        .chunks_exact(4)
        .filter_map(|four| four.try_into().ok().map(f32::from_le_bytes))
        .collect();
    Ok(Array2::from_shape_vec(
        (values.len() / dimension, dimension),
        values,
    )?)
}

fn lines(path: &str) -> Result<Vec<Value>, Failure> {
    let read = std::fs::read_to_string(path)?;
    Ok(read
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or("-")
}
