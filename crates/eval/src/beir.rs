//! Readers of the BEIR layout: `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`.
//!
//! Corpus and queries are streamed, one line in memory at a time (plus the ids seen, so that an id
//! that comes twice is an error). Empty lines are skipped. Files are UTF-8.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::metrics::Qrels;
use crate::read::{Lines, ReadError};

/// Streams the passages of a `corpus.jsonl`.
///
/// # Errors
/// [`ReadError::Io`] when the file cannot be opened; each item can be [`ReadError::Line`].
pub fn read_corpus(path: &Path) -> Result<Records<Passage, BufReader<File>>, ReadError> {
    Ok(Records::of(Lines::open(path)?))
}

/// Streams the passages of a reader; `file` is its name in errors.
///
/// ```
/// use cornu_eval::beir::corpus_from;
///
/// let lines = r#"{"_id": "7", "title": "Ammonis", "text": "A horn."}"#;
/// for passage in corpus_from(lines.as_bytes(), "corpus.jsonl") {
///     let passage = passage?;
///     assert_eq!(passage.titled(), "Ammonis\nA horn.");
/// }
/// # Ok::<(), cornu_eval::ReadError>(())
/// ```
pub fn corpus_from<R: BufRead>(reader: R, file: &str) -> Records<Passage, R> {
    Records::of(Lines::new(reader, file))
}

/// Streams the queries of a `queries.jsonl`.
///
/// # Errors
/// [`ReadError::Io`] when the file cannot be opened; each item can be [`ReadError::Line`].
pub fn read_queries(path: &Path) -> Result<Records<Query, BufReader<File>>, ReadError> {
    Ok(Records::of(Lines::open(path)?))
}

/// Streams the queries of a reader; `file` is its name in errors.
///
/// ```
/// use cornu_eval::beir::queries_from;
///
/// let lines = r#"{"_id": "q1", "text": "What is a horn?", "type": "bridge"}"#;
/// let query = queries_from(lines.as_bytes(), "queries.jsonl").next().expect("one line")?;
/// assert_eq!(query.label("type"), Some("bridge"));
/// # Ok::<(), cornu_eval::ReadError>(())
/// ```
pub fn queries_from<R: BufRead>(reader: R, file: &str) -> Records<Query, R> {
    Records::of(Lines::new(reader, file))
}

/// Reads a `qrels.tsv`: a header, then query id, document id and grade between tabs. A grade below 0
/// is not relevant, as 0 is: so trec_eval counts it.
///
/// # Errors
/// [`ReadError::Io`]; [`ReadError::Line`] for a missing header, another number of fields, a grade
/// that is no integer from -255 to 255, or a pair of query and document that comes twice.
pub fn read_qrels(path: &Path) -> Result<Qrels, ReadError> {
    collect_qrels(Lines::open(path)?)
}

/// Reads judgments from a reader; `file` is its name in errors.
///
/// ```
/// let lines = "query-id\tcorpus-id\tscore\nq1\td1\t1\n";
/// let qrels = cornu_eval::beir::qrels_from(lines.as_bytes(), "qrels.tsv")?;
/// assert_eq!(qrels.len(), 1);
/// # Ok::<(), cornu_eval::ReadError>(())
/// ```
///
/// # Errors
/// As [`read_qrels`].
pub fn qrels_from<R: BufRead>(reader: R, file: &str) -> Result<Qrels, ReadError> {
    collect_qrels(Lines::new(reader, file))
}

/// A passage of a corpus. See [`corpus_from`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Passage {
    /// Its id.
    #[serde(rename = "_id")]
    pub id: String,
    /// Its title; empty where there is none.
    #[serde(default)]
    pub title: String,
    /// Its text.
    pub text: String,
}

impl Passage {
    /// Title and text with a line feed between; the text alone where there is no title.
    #[must_use]
    pub fn titled(&self) -> String {
        if self.title.is_empty() {
            self.text.clone()
        } else {
            format!("{}\n{}", self.title, self.text)
        }
    }
}

/// A query. See [`queries_from`] for an example.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Query {
    /// Its id.
    #[serde(rename = "_id")]
    pub id: String,
    /// The question.
    pub text: String,
    /// Whatever else the line holds: an answer, a type, metadata.
    #[serde(flatten)]
    pub fields: BTreeMap<String, Value>,
}

impl Query {
    /// A further field that is a string.
    #[must_use]
    pub fn label(&self, field: &str) -> Option<&str> {
        self.fields.get(field)?.as_str()
    }
}

/// An iterator over the lines of a JSONL file. It ends after the first error.
///
/// See [`corpus_from`] for an example.
pub struct Records<T, R> {
    lines: Lines<R>,
    seen: HashSet<String>,
    done: bool,
    item: std::marker::PhantomData<fn() -> T>,
}

impl<T, R> Records<T, R> {
    fn of(lines: Lines<R>) -> Self {
        Self {
            lines,
            seen: HashSet::new(),
            done: false,
            item: std::marker::PhantomData,
        }
    }
}

impl<T, R> std::fmt::Debug for Records<T, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records")
            .field("seen", &self.seen.len())
            .finish_non_exhaustive()
    }
}

impl<T: Identified + DeserializeOwned, R: BufRead> Iterator for Records<T, R> {
    type Item = Result<T, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.read_next();
        self.done = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

impl<T: Identified + DeserializeOwned, R: BufRead> Records<T, R> {
    fn read_next(&mut self) -> Result<Option<T>, ReadError> {
        let remedy = "each line is a JSON object with the strings \"_id\" and \"text\"";
        let Some(item) = self.lines.next_json::<T>(remedy)? else {
            return Ok(None);
        };
        if item.id().is_empty() {
            return Err(self
                .lines
                .error("empty id", item.id(), "give each line its own \"_id\""));
        }
        if !self.seen.insert(item.id().to_owned()) {
            let remedy = "give each line its own \"_id\"";
            return Err(self.lines.error("id seen before", item.id(), remedy));
        }
        Ok(Some(item))
    }
}

/// What has an id of its own: a passage or a query.
///
/// ```
/// use cornu_eval::beir::{Identified, corpus_from};
///
/// let lines = r#"{"_id": "7", "text": "A horn."}"#;
/// let ids: Result<Vec<_>, _> =
///     corpus_from(lines.as_bytes(), "corpus.jsonl").map(|p| p.map(|p| p.id().to_owned())).collect();
/// assert_eq!(ids?, ["7"]);
/// # Ok::<(), cornu_eval::ReadError>(())
/// ```
pub trait Identified: sealed::Sealed {
    /// The id.
    fn id(&self) -> &str;
}

impl Identified for Passage {
    fn id(&self) -> &str {
        &self.id
    }
}

impl Identified for Query {
    fn id(&self) -> &str {
        &self.id
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Passage {}
    impl Sealed for super::Query {}
}

fn collect_qrels<R: BufRead>(mut lines: Lines<R>) -> Result<Qrels, ReadError> {
    const HEADER: &str = "the first line is the header query-id<TAB>corpus-id<TAB>score";
    let mut qrels = Qrels::new();
    match lines.next_line()? {
        None => return Err(lines.error("empty file", "", HEADER)),
        Some(header)
            if header
                .split('\t')
                .map(str::trim)
                .ne(["query-id", "corpus-id", "score"]) =>
        {
            return Err(lines.error("no header", &header, HEADER));
        }
        Some(_) => {}
    }
    while let Some(line) = lines.next_line()? {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[query, document, grade] = fields.as_slice() else {
            let remedy = "write query id, document id and grade with one tab between";
            return Err(lines.error(&format!("{} fields", fields.len()), &line, remedy));
        };
        if query.is_empty() || document.is_empty() {
            return Err(lines.error("empty id", &line, "name a query and a document"));
        }
        let number = grade.trim().parse::<i16>().ok();
        let number = number.filter(|number| (-255..=255).contains(number));
        let grade = number.ok_or_else(|| {
            let remedy = "a grade is an integer up to 255, and not relevant from 0 downwards";
            lines.error("not a grade", grade, remedy)
        })?;
        // Junk and spam in TREC's files.
        let grade = grade.clamp(0, 255) as u8;
        if qrels.insert(query, document.to_owned(), grade).is_some() {
            return Err(lines.error("judged before", &line, "keep one line of the two"));
        }
    }
    Ok(qrels)
}
