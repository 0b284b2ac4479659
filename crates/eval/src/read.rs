//! Reading of line-based files: where a line is wrong, and what to do about it.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::de::DeserializeOwned;

/// Why a file of queries, passages, judgments or questions could not be read.
///
/// ```
/// use cornu_eval::{ReadError, beir};
///
/// let error = beir::qrels_from("q1\td1\t1\n".as_bytes(), "qrels.tsv").unwrap_err();
/// assert!(matches!(error, ReadError::Line { line: 1, .. }));
/// assert!(error.to_string().starts_with("qrels.tsv, line 1: "));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file could not be opened or read.
    #[error("{file}: {source}; check that the file is there and readable")]
    Io {
        /// The file as it was named.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A line does not hold what it must.
    #[error("{file}, line {line}: {problem}: {value:?}; {remedy}")]
    Line {
        /// The file as it was named.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        problem: String,
        /// The value at fault, cut to 80 characters.
        value: String,
        /// What to do.
        remedy: &'static str,
    },
}

/// The non-empty lines of a reader with their numbers, one in memory at a time.
pub(crate) struct Lines<R> {
    reader: R,
    file: String,
    line: u64,
}

impl Lines<BufReader<File>> {
    pub(crate) fn open(path: &Path) -> Result<Self, ReadError> {
        let file = path.display().to_string();
        match File::open(path) {
            Ok(opened) => Ok(Self::new(BufReader::new(opened), &file)),
            Err(source) => Err(ReadError::Io { file, source }),
        }
    }
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R, file: &str) -> Self {
        Self {
            reader,
            file: file.to_owned(),
            line: 0,
        }
    }

    /// The next line that is more than white space, without its end and a byte order mark.
    pub(crate) fn next_line(&mut self) -> Result<Option<String>, ReadError> {
        loop {
            let mut bytes = Vec::new();
            let read = self.reader.read_until(b'\n', &mut bytes);
            let read = read.map_err(|source| ReadError::Io {
                file: self.file.clone(),
                source,
            })?;
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            let text = String::from_utf8(bytes).map_err(|error| {
                let value = String::from_utf8_lossy(error.as_bytes()).into_owned();
                self.error("not UTF-8", &value, "convert the file to UTF-8")
            })?;
            let text = text.trim_end_matches(['\n', '\r']);
            let text = if self.line == 1 {
                text.strip_prefix('\u{feff}').unwrap_or(text)
            } else {
                text
            };
            if !text.trim().is_empty() {
                return Ok(Some(text.to_owned()));
            }
        }
    }

    /// The next line as JSON.
    pub(crate) fn next_json<T: DeserializeOwned>(
        &mut self,
        remedy: &'static str,
    ) -> Result<Option<T>, ReadError> {
        let Some(text) = self.next_line()? else {
            return Ok(None);
        };
        match serde_json::from_str(&text) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(self.error(&error.to_string(), &text, remedy)),
        }
    }

    /// An error at the line read last.
    pub(crate) fn error(&self, problem: &str, value: &str, remedy: &'static str) -> ReadError {
        let mut shown: String = value.chars().take(80).collect();
        if shown.len() < value.len() {
            shown.push('…');
        }
        ReadError::Line {
            file: self.file.clone(),
            line: self.line,
            problem: problem.to_owned(),
            value: shown,
            remedy,
        }
    }
}
