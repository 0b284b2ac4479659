//! Question sets whose relevance is evidence in the text: any chunking can be scored with them.
//!
//! # The format
//! One JSON object a line:
//! `{"id", "type", "split", "lang", "question", "answer", "evidence", "near_miss"}`.
//! `evidence` is a list of *pieces*, all of which the answer needs; a piece is a list of
//! alternatives `{"doc", "phrase"}`, one of which is enough. A question without pieces has no
//! answer in the documents; `near_miss` marks those whose topic the documents do treat.
//!
//! # When a chunk satisfies a piece
//! When, for one alternative, the chunk comes from that document and its text contains the phrase.
//! Matching is byte for byte after one folding, on both sides: each run of white space (Unicode
//! `White_Space`) becomes one space, and the phrase loses white space at its ends. So a line break
//! in the source does not hide a phrase, and nothing else is forgiven: no case, no width, no
//! punctuation, no space that only one side has.

use std::collections::HashSet;
use std::io::BufRead;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::read::{Lines, ReadError};

/// Reads and checks a question set.
///
/// # Errors
/// [`ReadError::Io`]; [`ReadError::Line`] for a line that is not of the format, an id that is empty
/// or comes twice, an empty piece, document or phrase, or a near miss that has evidence.
pub fn read(path: &Path) -> Result<Vec<Question>, ReadError> {
    collect(Lines::open(path)?)
}

/// As [`read`], from a reader; `file` is its name in errors.
///
/// ```
/// let line = r#"{"id": "q1", "type": "paraphrase", "split": "dev", "lang": "en",
///     "question": "Which call clears gradients?", "answer": "zero_grad",
///     "evidence": [[{"doc": "04-autograd.md", "phrase": "call `zero_grad`"}]]}"#;
/// let questions = cornu_eval::questions::read_from(line.replace('\n', " ").as_bytes(), "q.jsonl")?;
/// assert!(questions[0].is_answerable());
/// # Ok::<(), cornu_eval::ReadError>(())
/// ```
///
/// # Errors
/// As [`read`].
pub fn read_from<R: BufRead>(reader: R, file: &str) -> Result<Vec<Question>, ReadError> {
    collect(Lines::new(reader, file))
}

/// A question with its evidence. See [`read_from`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Its id, unique in the set.
    pub id: String,
    /// What it tests, such as `paraphrase` or `table-cell`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `dev` or `test`.
    pub split: String,
    /// Its language, such as `zh`, `en` or `mixed`.
    pub lang: String,
    /// The question.
    pub question: String,
    /// The expected answer; `None` (null) where there is none.
    #[serde(default)]
    pub answer: Option<String>,
    /// The pieces the answer needs, each a list of alternatives.
    #[serde(default)]
    pub evidence: Vec<Vec<Alternative>>,
    /// Whether it has no answer although its topic is in the documents.
    #[serde(default)]
    pub near_miss: bool,
}

impl Question {
    /// Whether the documents hold an answer.
    #[must_use]
    pub fn is_answerable(&self) -> bool {
        !self.evidence.is_empty()
    }
}

/// One accepted form of a piece of evidence. See [`Ranks::find`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// The document that holds it.
    pub doc: String,
    /// The phrase in that document.
    pub phrase: String,
}

/// The share of pieces that the first k retrieved chunks satisfy; `None` without pieces, where
/// nothing is measured. See [`Ranks`] for many k at once.
///
/// `retrieved` holds document and text of each chunk in the order the user sees. Unlike documents,
/// chunks may repeat: a piece is satisfied once.
///
/// ```
/// use cornu_eval::questions::{Alternative, evidence_recall};
///
/// let piece = |phrase: &str| vec![Alternative { doc: "a.md".into(), phrase: phrase.into() }];
/// let pieces = [piece("gradients add up"), piece("call zero_grad")];
/// let retrieved = [("a.md", "Gradients\ngradients add\n  up over calls.")];
/// assert_eq!(evidence_recall(&pieces, &retrieved, 5), Some(0.5));
/// ```
#[must_use]
pub fn evidence_recall(
    pieces: &[Vec<Alternative>],
    retrieved: &[(&str, &str)],
    k: usize,
) -> Option<f64> {
    Ranks::find(pieces, retrieved.get(..k).unwrap_or(retrieved)).recall(k)
}

/// For each piece the rank at which it is first satisfied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks {
    /// Ranks from 1, in the order of the pieces; `None` where no chunk satisfies the piece.
    pub ranks: Vec<Option<usize>>,
}

impl Ranks {
    /// Looks for the pieces in the retrieved chunks. O(phrases · text) time.
    ///
    /// ```
    /// use cornu_eval::questions::{Alternative, Ranks};
    ///
    /// let alternative = Alternative { doc: "a.md".into(), phrase: "反向 传播".into() };
    /// let retrieved = [("b.md", "反向 传播"), ("a.md", "图中的反向\n传播")];
    /// let ranks = Ranks::find(&[vec![alternative]], &retrieved);
    /// assert_eq!(ranks.ranks, [Some(2)]);
    /// assert_eq!((ranks.recall(1), ranks.recall(2)), (Some(0.0), Some(1.0)));
    /// ```
    #[must_use]
    pub fn find(pieces: &[Vec<Alternative>], retrieved: &[(&str, &str)]) -> Self {
        let folded: Vec<(&str, String)> = retrieved
            .iter()
            .map(|&(doc, text)| (doc, fold_white_space(text)))
            .collect();
        let rank_of = |piece: &Vec<Alternative>| {
            let phrases: Vec<(&str, String)> = piece
                .iter()
                .map(|a| (a.doc.as_str(), fold_white_space(a.phrase.trim())))
                .collect();
            let satisfies = |(doc, text): &(&str, String)| {
                phrases.iter().any(|(wanted, phrase)| {
                    wanted == doc && !phrase.is_empty() && text.contains(phrase.as_str())
                })
            };
            folded.iter().position(satisfies).map(|index| index + 1)
        };
        Self {
            ranks: pieces.iter().map(rank_of).collect(),
        }
    }

    /// The share of pieces satisfied within the first k; `None` without pieces.
    #[must_use]
    pub fn recall(&self, k: usize) -> Option<f64> {
        let found = self
            .ranks
            .iter()
            .flatten()
            .filter(|&&rank| rank <= k)
            .count();
        (!self.ranks.is_empty()).then(|| found as f64 / self.ranks.len() as f64)
    }

    /// 1 when all pieces are satisfied within the first k, else 0; `None` without pieces.
    #[must_use]
    pub fn hit(&self, k: usize) -> Option<f64> {
        let all = self
            .ranks
            .iter()
            .all(|rank| rank.is_some_and(|rank| rank <= k));
        (!self.ranks.is_empty()).then_some(if all { 1.0 } else { 0.0 })
    }

    /// 1 over the rank of the first chunk that satisfies any piece, 0 when there is none; `None`
    /// without pieces.
    #[must_use]
    pub fn reciprocal_rank(&self) -> Option<f64> {
        let first = self.ranks.iter().flatten().min();
        (!self.ranks.is_empty()).then(|| first.map_or(0.0, |&rank| 1.0 / rank as f64))
    }
}

/// The text with each run of white space (Unicode `White_Space`) as one space.
///
/// ```
/// assert_eq!(cornu_eval::questions::fold_white_space("a\r\n\u{3000}b "), "a b ");
/// ```
#[must_use]
pub fn fold_white_space(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut in_space = false;
    for character in text.chars() {
        if !character.is_whitespace() {
            folded.push(character);
        } else if !in_space {
            folded.push(' ');
        }
        in_space = character.is_whitespace();
    }
    folded
}

fn collect<R: BufRead>(mut lines: Lines<R>) -> Result<Vec<Question>, ReadError> {
    let remedy = "each line is a JSON object with \"id\", \"type\", \"split\", \"lang\", \
                  \"question\", \"answer\", \"evidence\" and \"near_miss\"";
    let mut questions = Vec::new();
    let mut seen = HashSet::new();
    while let Some(question) = lines.next_json::<Question>(remedy)? {
        check(&question, &lines)?;
        if !seen.insert(question.id.clone()) {
            let remedy = "give each question its own \"id\"";
            return Err(lines.error("id seen before", &question.id, remedy));
        }
        questions.push(question);
    }
    Ok(questions)
}

fn check<R: BufRead>(question: &Question, lines: &Lines<R>) -> Result<(), ReadError> {
    let id = &question.id;
    if id.is_empty() {
        return Err(lines.error(
            "empty id",
            &question.question,
            "give each question an \"id\"",
        ));
    }
    if question.question.trim().is_empty() {
        return Err(lines.error("empty question", id, "write the question"));
    }
    if !matches!(question.split.as_str(), "dev" | "test") {
        return Err(lines.error("unknown split", &question.split, "use \"dev\" or \"test\""));
    }
    if question.near_miss && question.is_answerable() {
        let remedy = "a near miss has no answer: empty its \"evidence\" or drop \"near_miss\"";
        return Err(lines.error("near miss with evidence", id, remedy));
    }
    let empty = |a: &Alternative| a.doc.is_empty() || a.phrase.trim().is_empty();
    if question
        .evidence
        .iter()
        .any(|piece| piece.is_empty() || piece.iter().any(empty))
    {
        let remedy = "each piece names at least one \"doc\" and \"phrase\", neither empty";
        return Err(lines.error("empty evidence", id, remedy));
    }
    Ok(())
}
