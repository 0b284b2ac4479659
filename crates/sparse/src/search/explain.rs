//! Where a score comes from.

use super::Searcher;
use crate::error::SparseError;
use crate::formula::Bm25;
use crate::query::Query;

/// A row's score, term by term. Every number is the view's.
///
/// See [`Bm25Index`](crate::Bm25Index) for an example.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What a search gives the row; 0 when it holds no term of the query (a search leaves it out).
    pub score: f64,
    /// The row's words.
    pub length: u32,
    /// Rows that are seen and not empty.
    pub rows: u64,
    /// Mean number of words of these rows.
    pub average_length: f64,
    /// One entry for each term of the query, in its order.
    pub terms: Vec<TermShare>,
}

/// What one term of a query gives to a row's score.
///
/// ```
/// use cornu_sparse::TermShare;
/// let share = TermShare {
///     term: "grad".to_owned(), weight: 2.0, frequency: 1, idf: 0.5, count: 3, part: 0.5, share: 0.5,
/// };
/// assert_eq!(share.share, share.weight * share.idf * share.part);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TermShare {
    /// The term.
    pub term: String,
    /// Its weight in the query.
    pub weight: f64,
    /// Number of seen rows that hold it.
    pub frequency: u64,
    /// Its weight by rarity; 0 when no row that is seen holds it.
    pub idf: f64,
    /// How often it stands in the row.
    pub count: u32,
    /// What count and length make of it; 0 when it does not stand in the row.
    pub part: f64,
    /// weight · idf · part: added up in the order of the terms they are the score, to the bit.
    pub share: f64,
}

impl<I: Ord + Clone> Searcher<'_, I> {
    /// Why a row has the score it has. `None` alike when it does not exist and when it is not seen.
    ///
    /// # Errors
    /// [`SparseError::Damaged`], of an index that stands in a file.
    pub fn explain(
        &self,
        query: &Query,
        bm25: &Bm25,
        id: &I,
    ) -> Result<Option<Explanation>, SparseError> {
        let place = self
            .segments()
            .enumerate()
            .find_map(|(at, ((_, rows), view))| {
                let row = rows.row_of(id)?;
                let seen = view.visible.contains(row as usize);
                seen.then_some((at, row, rows.length(row)))
            });
        let Some((at, row, length)) = place else {
            return Ok(None);
        };
        let average_length = self.average_length();
        let saturation = bm25.saturation(average_length);
        let shares = query.iter().zip(self.terms(query, bm25)?);
        let terms: Vec<TermShare> = shares
            .map(|((name, weight), term)| {
                let count = term.postings.get(at).and_then(|postings| {
                    let place = postings.rows.binary_search(&row).ok()?;
                    postings.counts.get(place).copied()
                });
                let count = count.unwrap_or(0);
                let part = match count {
                    0 => 0.0,
                    _ => saturation.of(count, length),
                };
                TermShare {
                    term: name.to_owned(),
                    weight,
                    frequency: term.frequency,
                    idf: term.idf,
                    count,
                    part,
                    share: weight * term.idf * part,
                }
            })
            .collect();
        let held = terms.iter().filter(|term| term.count > 0);
        Ok(Some(Explanation {
            score: held.fold(0.0, |sum, term| sum + term.share),
            length,
            rows: self.stats.rows(),
            average_length,
            terms,
        }))
    }
}
