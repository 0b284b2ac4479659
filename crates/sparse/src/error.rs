use cornu_core::View;

use crate::file::Damaged;

/// Why an index was not built, changed or read.
///
/// ```
/// use cornu_sparse::{Bm25, SparseError, Variant};
/// let error = Bm25::new(Variant::Lucene, -1.0, 0.75).unwrap_err();
/// assert!(matches!(error, SparseError::Parameter { name: "k1", .. }));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SparseError {
    /// A parameter of BM25 is out of its range.
    #[error("{name} of BM25 is {value}; give a number from {least} to {most}")]
    Parameter {
        /// `k1`, `b` or `delta`.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The smallest that is taken.
        least: f64,
        /// The largest that is taken.
        most: f64,
    },
    /// The weight of a query's term is out of its range.
    #[error(
        "the weight of the query term {term:?} is {weight}; give a number above 0, at most 1e6"
    )]
    QueryWeight {
        /// The term.
        term: String,
        /// Its weight.
        weight: f64,
    },
    /// A row holds terms but has length 0.
    #[error("{terms} terms were counted in a text of length 0; the length counts words")]
    Length {
        /// Number of different terms.
        terms: usize,
    },
    /// Two rows have one id.
    #[error("two rows have the same id, the second one in document {document}; ids are unique")]
    DuplicateRow {
        /// The ordinal of the second one's document.
        document: u32,
    },
    /// The same document was written twice in one step.
    #[error("document {document} comes twice in one step; hand in its last state alone")]
    DuplicateDocument {
        /// The document's ordinal.
        document: u32,
    },
    /// The view's documents are not known to have stood in the state of the index's facts: it is
    /// a later one than the view's, or one before the view's [`since`](View::since).
    #[error(
        "the view is of epoch {view} and the term counts are of epoch {index}; bring the index up \
         to date and resolve the view again"
    )]
    Epoch {
        /// The last state in which the view's documents are known to stand.
        view: u64,
        /// The index's epoch.
        index: u64,
    },
    /// The file that the index is read from is not as it was written.
    #[error("the file of the index is damaged; delete it and build the index from the term counts")]
    Damaged,
    /// More rows, terms or blocks than an index can number.
    #[error("an index numbers at most 2^32 - 1 rows, terms and blocks; split the collection")]
    TooLarge,
}

impl SparseError {
    pub(crate) fn check_epoch(view: &View, index: u64) -> Result<(), Self> {
        match view.stood_at(index) {
            true => Ok(()),
            false => Err(Self::Epoch {
                view: view.epoch(),
                index,
            }),
        }
    }
}

impl From<Damaged> for SparseError {
    fn from(Damaged: Damaged) -> Self {
        Self::Damaged
    }
}
