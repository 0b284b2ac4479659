//! Published OpenIE files, read strictly.

use std::collections::BTreeSet;

use cornu_core::{Extraction, Triple};
use serde_json::Value;

/// One passage of an OpenIE file.
///
/// See [`read_openie`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedPassage {
    /// The file's own name of the passage (`_id` or `idx`), or its position.
    pub id: String,
    /// The text that the statements were read from, as it stands in the file.
    pub passage: String,
    /// What was read from it, without what the report says was left out.
    pub extraction: Extraction,
}

/// Which triples an import keeps.
///
/// ```
/// use cornu_extract::{ImportRules, read_openie};
/// let file = r#"{"passage":"p","extracted_entities":[],"extracted_triples":[["€","is","money"]]}"#;
/// let kept = |rules| read_openie(file, rules).map(|(_, report)| report.kept);
/// assert_eq!((kept(ImportRules::Strict)?, kept(ImportRules::Published)?), (0, 1));
/// # Ok::<(), cornu_extract::OpenIeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImportRules {
    /// Both ends hold a letter or a digit.
    #[default]
    Strict,
    /// Everything of length 3, as HippoRAG reads it: an end may be a mark, or empty.
    Published,
}

/// What an import kept and what it left out, with the reasons.
///
/// ```
/// let report = cornu_extract::ImportReport::default();
/// assert!(report.is_clean());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Passages kept.
    pub passages: usize,
    /// Passages left out because one of the same name and text came before.
    pub duplicate_passages: usize,
    /// Triples seen.
    pub triples: usize,
    /// Triples kept.
    pub kept: usize,
    /// Triples whose length is not 3, or that are no list.
    pub wrong_length: usize,
    /// Triples with a part that is neither string nor finite number (`null`, `NaN`, a list).
    pub not_text: usize,
    /// Triples whose subject or object has no letter and no digit.
    pub empty_end: usize,
    /// Triples that repeat one of the same passage.
    pub duplicates: usize,
    /// Entities that are no string, or have no letter and no digit.
    pub bad_entities: usize,
    /// The first of what was left out, with passage and reason: at most 20 lines.
    pub examples: Vec<String>,
}

impl ImportReport {
    /// Whether everything was kept.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.kept == self.triples && self.duplicate_passages == 0 && self.bad_entities == 0
    }

    fn note(&mut self, passage: &str, what: &str, value: &Value) {
        if self.examples.len() < 20 {
            let shown: String = value.to_string().chars().take(120).collect();
            self.examples.push(format!("{passage}: {what}: {shown}"));
        }
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenIeError {
    /// It is not JSON, nor one JSON object a line.
    #[error("line {line} of the OpenIE file is not JSON: {source}; mend the line or leave it out")]
    NotJson {
        /// From 1.
        line: usize,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// A passage lacks what makes it one.
    #[error(
        "passage {at} of the OpenIE file has no {field}; each needs `passage` (a string), \
         `extracted_entities` and `extracted_triples` (lists)"
    )]
    Missing {
        /// Position, from 0.
        at: usize,
        /// The field.
        field: &'static str,
    },
}

/// Reads an OpenIE file in either published form: one object `{"docs": [...]}`, or one passage a
/// line, each with `passage`, `extracted_entities` and `extracted_triples`.
///
/// A triple is kept when it has three parts, each a string or a finite number, and, with
/// [`ImportRules::Strict`], its ends hold a letter or a digit; what is left out is counted in the report, nothing is repaired. Numbers
/// become their text. `NaN` and `Infinity`, which are not JSON though Python writes them, are read
/// as `null`, so the triple that holds one is left out rather than the file refused. O(bytes) time
/// and memory.
///
/// # Errors
/// [`OpenIeError`] for what is no such file; then nothing is given.
///
/// ```
/// use cornu_extract::{ImportRules, read_openie};
/// let file = r#"{"passage":"Rome is in Italy.","extracted_entities":["Rome","Italy"],
///  "extracted_triples":[["Rome","is in","Italy"],["Rome","is"],["Rome","founded",NaN]]}"#;
/// let (passages, report) = read_openie(&file.replace('\n', ""), ImportRules::Strict)?;
/// assert_eq!(passages[0].extraction.triples.len(), 1);
/// assert_eq!((report.wrong_length, report.not_text), (1, 1));
/// # Ok::<(), cornu_extract::OpenIeError>(())
/// ```
pub fn read_openie(
    text: &str,
    rules: ImportRules,
) -> Result<(Vec<ImportedPassage>, ImportReport), OpenIeError> {
    let mut report = ImportReport::default();
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for (at, value) in records(&without_nan(text))?.into_iter().enumerate() {
        let passage = value
            .get("passage")
            .and_then(Value::as_str)
            .ok_or(OpenIeError::Missing {
                at,
                field: "passage",
            })?;
        let list = |field: &'static str| {
            value
                .get(field)
                .and_then(Value::as_array)
                .ok_or(OpenIeError::Missing { at, field })
        };
        let (entities, triples) = (list("extracted_entities")?, list("extracted_triples")?);
        let id = ["_id", "idx"]
            .iter()
            .find_map(|name| value.get(*name))
            .and_then(text_of)
            .unwrap_or_else(|| at.to_string());
        if !seen.insert((id.clone(), passage.to_owned())) {
            report.duplicate_passages += 1;
            continue;
        }
        report.passages += 1;
        let extraction = Extraction {
            entities: keep_entities(&id, entities, &mut report),
            triples: keep_triples(&id, triples, rules, &mut report),
            propositions: Vec::new(),
        };
        out.push(ImportedPassage {
            id,
            passage: passage.to_owned(),
            extraction,
        });
    }
    Ok((out, report))
}

/// One object with `docs`, a list, or one object a line.
fn records(text: &str) -> Result<Vec<Value>, OpenIeError> {
    if let Ok(whole) = serde_json::from_str::<Value>(text) {
        return Ok(match whole {
            Value::Array(list) => list,
            Value::Object(mut object) => match object.remove("docs") {
                Some(Value::Array(list)) => list,
                _ => vec![Value::Object(object)],
            },
            other => vec![other],
        });
    }
    let lines = text.lines().enumerate();
    let filled = lines.filter(|(_, line)| !line.trim().is_empty());
    filled
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|source| OpenIeError::NotJson {
                line: at + 1,
                source,
            })
        })
        .collect()
}

/// `NaN` and `Infinity` outside strings as `null`.
fn without_nan(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut in_string) = (text, false);
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '"' => {
                in_string = !in_string;
                1
            }
            '\\' if in_string => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            _ if in_string => c.len_utf8(),
            _ => {
                let word = ["-Infinity", "Infinity", "NaN"]
                    .into_iter()
                    .find(|word| rest.starts_with(word));
                if let Some(word) = word {
                    out.push_str("null");
                    rest = rest.get(word.len()..).unwrap_or_default();
                    continue;
                }
                c.len_utf8()
            }
        };
        out.push_str(rest.get(..taken).unwrap_or_default());
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

fn keep_entities(id: &str, values: &[Value], report: &mut ImportReport) -> Vec<String> {
    let mut kept = Vec::new();
    for value in values {
        match text_of(value).filter(|name| has_substance(name)) {
            Some(name) => kept.push(name),
            None => {
                report.bad_entities += 1;
                report.note(id, "no entity", value);
            }
        }
    }
    kept
}

fn keep_triples(
    id: &str,
    values: &[Value],
    rules: ImportRules,
    report: &mut ImportReport,
) -> Vec<Triple> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for value in values {
        report.triples += 1;
        let Some([subject, predicate, object]) = value.as_array().map(Vec::as_slice) else {
            report.wrong_length += 1;
            report.note(id, "not three parts", value);
            continue;
        };
        let parts = (text_of(subject), text_of(predicate), text_of(object));
        let (Some(subject), Some(predicate), Some(object)) = parts else {
            report.not_text += 1;
            report.note(id, "a part is no text", value);
            continue;
        };
        let empty = !has_substance(&subject) || !has_substance(&object);
        if empty && rules == ImportRules::Strict {
            report.empty_end += 1;
            report.note(id, "an end is empty", value);
            continue;
        }
        let triple = Triple {
            subject,
            predicate,
            object,
        };
        if seen.insert(triple.clone()) {
            report.kept += 1;
            kept.push(triple);
        } else {
            report.duplicates += 1;
        }
    }
    kept
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn has_substance(name: &str) -> bool {
    name.chars().any(char::is_alphanumeric)
}
