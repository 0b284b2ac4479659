//! What is looked for.

use std::collections::BTreeMap;

use cornu_text::{Token, Tokenizer};

use crate::error::SparseError;

/// The heaviest weight of a query's term.
const HEAVIEST: f64 = 1e6;

/// Terms with weights, in the order in which they first stand in the question. Scores are added
/// in that order.
///
/// A term that stands twice in the question weighs twice. The parts of an identifier are terms of
/// their own, so that `zero_grad` also finds `grad`; a text that holds the whole identifier holds
/// its parts, too, and stands above one that holds the parts alone.
///
/// ```
/// use cornu_sparse::Query;
/// use cornu_text::Tokenizer;
///
/// let query = Query::new(&Tokenizer::new(), "Where is zero_grad?");
/// let terms: Vec<&str> = query.iter().map(|(term, _)| term).collect();
/// assert_eq!(terms, ["where", "is", "zero_grad", "zero", "grad"]);
///
/// // Any text is literal: there is no query syntax.
/// assert_eq!(Query::new(&Tokenizer::new(), "\"( a AND *").iter().count(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    terms: Vec<(String, f64)>,
}

impl Query {
    /// The words of a question and their parts, each with weight 1; without the tokenizer's stop
    /// words, as [`Tokenizer::query`] has it.
    ///
    /// The tokenizer has to have the fingerprint of the one that the index was counted with; see
    /// [`Bm25Index::fingerprint`](crate::Bm25Index::fingerprint).
    #[must_use]
    pub fn new(tokenizer: &Tokenizer, question: &str) -> Self {
        Self::merge(weigh(tokenizer.query(question), 1.0))
    }

    /// As [`new`](Self::new), with another weight for the parts of words. Below 1, a question's
    /// identifiers count less beside its plain words; at 0 the parts are left out.
    ///
    /// # Errors
    /// [`SparseError::QueryWeight`] when the weight is not from 0 to 1e6.
    pub fn with_part_weight(
        tokenizer: &Tokenizer,
        question: &str,
        weight: f64,
    ) -> Result<Self, SparseError> {
        let tokens = tokenizer.query(question);
        if weight == 0.0 {
            let words = tokens.into_iter().filter(|token| token.part_of.is_none());
            return Ok(Self::merge(weigh(words, 1.0)));
        }
        Self::weighted(weigh(tokens, weight))
    }

    /// Terms with weights of the caller's choice; weights of the same term are added.
    ///
    /// # Errors
    /// [`SparseError::QueryWeight`] for the first weight that is not above 0, or above 1e6.
    pub fn weighted(terms: impl IntoIterator<Item = (String, f64)>) -> Result<Self, SparseError> {
        let query = Self::merge(terms);
        let wrong = |weight: f64| !(weight > 0.0 && weight <= HEAVIEST);
        match query.terms.iter().find(|(_, weight)| wrong(*weight)) {
            Some((term, weight)) => Err(SparseError::QueryWeight {
                term: term.clone(),
                weight: *weight,
            }),
            None => Ok(query),
        }
    }

    /// The terms with their weights.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        self.terms
            .iter()
            .map(|(term, weight)| (term.as_str(), *weight))
    }

    /// Whether there is no term.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    fn merge(terms: impl IntoIterator<Item = (String, f64)>) -> Self {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut merged: Vec<(String, f64)> = Vec::new();
        for (term, weight) in terms {
            let place = *places.entry(term.clone()).or_insert(merged.len());
            match merged.get_mut(place) {
                Some((_, sum)) => *sum += weight,
                None => merged.push((term, weight)),
            }
        }
        Self { terms: merged }
    }
}

fn weigh(
    tokens: impl IntoIterator<Item = Token>,
    part: f64,
) -> impl Iterator<Item = (String, f64)> {
    tokens.into_iter().map(move |token| {
        let weight = if token.part_of.is_some() { part } else { 1.0 };
        (token.text, weight)
    })
}
