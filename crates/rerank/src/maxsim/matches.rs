//! Which token of a document answers which token of a query.

use cornu_core::{ByteSpan, Side};
use ndarray::ArrayView1;

use super::space::TokenSpace;
use crate::error::RerankError;

/// A query token and the document token nearest to it.
///
/// ```
/// use cornu_rerank::TokenMatch;
/// let pair = TokenMatch { query: None, document: None, similarity: 0.5 };
/// assert!(pair.query.is_none()); // a special token
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenMatch {
    /// The query token's bytes in the query; `None` for a special token.
    pub query: Option<ByteSpan>,
    /// The document token's bytes in the candidate's text; `None` for a special token.
    pub document: Option<ByteSpan>,
    /// Their inner product: the query token's part of the score.
    pub similarity: f64,
}

/// For each query token that counts, its match; of equal ones the first. Both texts are embedded
/// anew, so similarities are those before rounding to the stored precision. O(T_q · T_d · d).
pub(super) fn matches(
    space: &TokenSpace,
    query: &str,
    document: &str,
) -> Result<Vec<TokenMatch>, RerankError> {
    let queries = space.embed(&[query], Side::Query)?;
    let documents = space.embed(&[document], Side::Document)?;
    let (Some(query), Some(document)) = (queries.first(), documents.first()) else {
        return Ok(Vec::new());
    };
    let (asked, held) = (space.counting(query)?, space.counting(document)?);
    let mut matches = Vec::new();
    let counted = query
        .vectors
        .rows()
        .into_iter()
        .zip(&query.spans)
        .zip(asked);
    for ((row, span), _) in counted.filter(|(_, counts)| *counts) {
        let mut best: Option<TokenMatch> = None;
        let tokens = document
            .vectors
            .rows()
            .into_iter()
            .zip(&document.spans)
            .zip(&held);
        for ((other, found), _) in tokens.filter(|(_, counts)| **counts) {
            let similarity = inner_product(&row, &other);
            if best.is_none_or(|best| similarity > best.similarity) {
                best = Some(TokenMatch {
                    query: *span,
                    document: *found,
                    similarity,
                });
            }
        }
        matches.extend(best);
    }
    Ok(matches)
}

fn inner_product(a: &ArrayView1<'_, f32>, b: &ArrayView1<'_, f32>) -> f64 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| f64::from(a) * f64::from(b))
        .sum()
}
