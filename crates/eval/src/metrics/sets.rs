//! What was judged, and what was retrieved.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// The grades of one query's documents.
///
/// A grade of 0 is "judged, not relevant"; 1 and above are relevant, and nDCG takes the grade as
/// its gain.
///
/// ```
/// use cornu_eval::metrics::Judgments;
///
/// let judgments: Judgments<&str> = [("d1", 2), ("d2", 0)].into_iter().collect();
/// assert_eq!(judgments.grade(&"d1"), 2);
/// assert_eq!(judgments.grade(&"unjudged"), 0);
/// assert_eq!(judgments.relevant(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgments<D> {
    grades: BTreeMap<D, u8>,
}

impl<D: Ord> Judgments<D> {
    /// No judgment yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            grades: BTreeMap::new(),
        }
    }

    /// Sets the grade of a document and returns the one it had.
    pub fn insert(&mut self, document: D, grade: u8) -> Option<u8> {
        self.grades.insert(document, grade)
    }

    /// The grade of a document, 0 where it was not judged.
    #[must_use]
    pub fn grade(&self, document: &D) -> u8 {
        self.grades.get(document).copied().unwrap_or(0)
    }

    /// Whether the document was judged at all.
    #[must_use]
    pub fn is_judged(&self, document: &D) -> bool {
        self.grades.contains_key(document)
    }

    /// How many documents are relevant (grade 1 or more).
    #[must_use]
    pub fn relevant(&self) -> usize {
        self.grades.values().filter(|&&grade| grade > 0).count()
    }

    /// Documents and grades, in the documents' order.
    pub fn iter(&self) -> impl Iterator<Item = (&D, u8)> {
        self.grades
            .iter()
            .map(|(document, &grade)| (document, grade))
    }
}

impl<D: Ord> Default for Judgments<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<D: Ord> FromIterator<(D, u8)> for Judgments<D> {
    /// The last grade of a document wins.
    fn from_iter<T: IntoIterator<Item = (D, u8)>>(grades: T) -> Self {
        Self {
            grades: grades.into_iter().collect(),
        }
    }
}

/// The judgments of a set of queries.
///
/// ```
/// use cornu_eval::metrics::Qrels;
///
/// let mut qrels = Qrels::new();
/// qrels.insert("q1", "d1", 1);
/// qrels.add_query("q2"); // judged, nothing relevant: tests refusal
/// assert_eq!(qrels.len(), 2);
/// assert_eq!(qrels.get("q2").map(|j| j.relevant()), Some(0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qrels<D = String> {
    queries: BTreeMap<String, Judgments<D>>,
}

impl<D: Ord> Qrels<D> {
    /// No query yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            queries: BTreeMap::new(),
        }
    }

    /// Sets the grade of a document for a query and returns the one it had.
    pub fn insert(&mut self, query: impl Into<String>, document: D, grade: u8) -> Option<u8> {
        self.queries
            .entry(query.into())
            .or_default()
            .insert(document, grade)
    }

    /// Adds a query that may have no judged document; what it already has stays.
    pub fn add_query(&mut self, query: impl Into<String>) {
        self.queries.entry(query.into()).or_default();
    }

    /// The judgments of a query.
    #[must_use]
    pub fn get(&self, query: &str) -> Option<&Judgments<D>> {
        self.queries.get(query)
    }

    /// Queries and their judgments, in the order of the query ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Judgments<D>)> {
        self.queries
            .iter()
            .map(|(query, judgments)| (query.as_str(), judgments))
    }

    /// How many queries were judged.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// Whether no query was judged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }
}

impl<D: Ord> Default for Qrels<D> {
    fn default() -> Self {
        Self::new()
    }
}

/// What a system returned: for each query its documents, best first, each once.
///
/// ```
/// use cornu_eval::metrics::{Run, RunError};
///
/// let mut run = Run::new();
/// run.insert("q1", vec!["d3", "d1"])?;
/// assert!(matches!(run.insert("q2", vec!["d1", "d1"]), Err(RunError::DuplicateDocument { .. })));
/// # Ok::<(), RunError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run<D = String> {
    queries: BTreeMap<String, Vec<D>>,
}

impl<D: Ord + Display> Run<D> {
    /// No query yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            queries: BTreeMap::new(),
        }
    }

    /// Adds the ranked list of a query, in the order the user sees. O(n log n).
    ///
    /// # Errors
    /// [`RunError::DuplicateDocument`] when the list names a document twice,
    /// [`RunError::DuplicateQuery`] when the query has a list already.
    pub fn insert(&mut self, query: impl Into<String>, ranked: Vec<D>) -> Result<(), RunError> {
        let query = query.into();
        check_unique(&query, &ranked)?;
        if self.queries.contains_key(&query) {
            return Err(RunError::DuplicateQuery { query });
        }
        self.queries.insert(query, ranked);
        Ok(())
    }
}

impl<D> Run<D> {
    /// The ranked list of a query.
    #[must_use]
    pub fn get(&self, query: &str) -> Option<&[D]> {
        self.queries.get(query).map(Vec::as_slice)
    }

    /// Queries and their ranked lists, in the order of the query ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[D])> {
        self.queries
            .iter()
            .map(|(query, ranked)| (query.as_str(), ranked.as_slice()))
    }

    /// How many queries have a list, empty lists included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// Whether no query has a list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }
}

impl<D: Ord + Display> Default for Run<D> {
    fn default() -> Self {
        Self::new()
    }
}

/// A ranked list that cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A document stands twice in one list.
    #[error(
        "query {query:?}: document {document:?} stands at ranks {first} and {second}; a ranked list \
         holds a document once (fold chunks to documents before scoring)"
    )]
    DuplicateDocument {
        /// The query's id.
        query: String,
        /// The document.
        document: String,
        /// Its first rank, from 1.
        first: usize,
        /// Its second rank, from 1.
        second: usize,
    },
    /// A query has two lists.
    #[error("query {query:?} has two ranked lists; merge them or give the second another id")]
    DuplicateQuery {
        /// The query's id.
        query: String,
    },
}

pub(super) fn check_unique<D: Ord + Display>(query: &str, ranked: &[D]) -> Result<(), RunError> {
    let mut seen = BTreeSet::new();
    for (index, document) in ranked.iter().enumerate() {
        if !seen.insert(document) {
            let first = ranked
                .iter()
                .position(|other| other == document)
                .unwrap_or(index);
            return Err(RunError::DuplicateDocument {
                query: query.to_owned(),
                document: document.to_string(),
                first: first + 1,
                second: index + 1,
            });
        }
    }
    Ok(())
}
