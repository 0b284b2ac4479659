//! The facts that an index is made of: how often which term stands in which text.

use std::collections::BTreeMap;

use cornu_text::Token;

use crate::error::SparseError;

/// How often each term stands in one text, and how many words the text has.
///
/// An identifier is one word with several terms: `zero_grad` gives the terms `zero_grad`, `zero`
/// and `grad`, each counted once, and adds 1 to the length. So a text does not become longer, and
/// its other words lighter, because its words have parts.
///
/// ```
/// use cornu_sparse::TermCounts;
/// use cornu_text::Tokenizer;
///
/// let counts = TermCounts::new(&Tokenizer::new().tokens("call zero_grad, then grad"));
/// assert_eq!(counts.length(), 4);
/// assert_eq!(counts.get("grad"), 2);
/// assert_eq!(counts.iter().count(), 5); // call, grad, then, zero, zero_grad
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermCounts {
    terms: BTreeMap<String, u32>,
    length: u32,
}

impl TermCounts {
    /// Counts the tokens of one text. O(n log n).
    #[must_use]
    pub fn new(tokens: &[Token]) -> Self {
        let mut counts = Self::default();
        for token in tokens {
            counts.add(&token.text, 1);
            let word = u32::from(token.part_of.is_none());
            counts.length = counts.length.saturating_add(word);
        }
        counts
    }

    /// Counts read back from a store; counts of the same term are added, those of 0 left out.
    ///
    /// # Errors
    /// [`SparseError::Length`] when there are terms and `length` is 0.
    pub fn from_pairs<S: AsRef<str>>(
        length: u32,
        pairs: impl IntoIterator<Item = (S, u32)>,
    ) -> Result<Self, SparseError> {
        let mut counts = Self {
            terms: BTreeMap::new(),
            length,
        };
        for (term, count) in pairs {
            counts.add(term.as_ref(), count);
        }
        match counts.terms.len() {
            terms if terms > 0 && length == 0 => Err(SparseError::Length { terms }),
            _ => Ok(counts),
        }
    }

    /// Number of words. A text without words is in no count of texts and in no average length.
    #[must_use]
    pub fn length(&self) -> u32 {
        self.length
    }

    /// How often a term stands in the text.
    #[must_use]
    pub fn get(&self, term: &str) -> u32 {
        self.terms.get(term).copied().unwrap_or(0)
    }

    /// The terms in byte order, with their counts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u32)> {
        self.terms
            .iter()
            .map(|(term, &count)| (term.as_str(), count))
    }

    fn add(&mut self, term: &str, count: u32) {
        if count == 0 {
            return;
        }
        match self.terms.get_mut(term) {
            Some(sum) => *sum = sum.saturating_add(count),
            None => {
                self.terms.insert(term.to_owned(), count);
            }
        }
    }
}

/// One row of an index: what is found (a chunk, say), and its terms.
///
/// See [`Bm25Index`](crate::Bm25Index) for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<I> {
    /// What a search returns.
    pub id: I,
    /// The terms of its text.
    pub counts: TermCounts,
}

/// A write: the rows of one document, in place of those it had.
///
/// See [`Bm25Index::apply`](crate::Bm25Index::apply) for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentRows<I> {
    /// The document's ordinal in the [`View`](cornu_core::View)s that the index is searched with.
    pub document: u32,
    /// Its rows; empty to remove the document.
    pub rows: Vec<Row<I>>,
}
