//! Why nothing was reranked.

use cornu_core::{ChunkId, ProviderError};

use crate::score::Scale;

/// Why a reranker gave no result. The first stage's order is at hand then; whether to fall back to
/// it is the caller's decision.
///
/// ```
/// use cornu_rerank::{CascadeOptions, RerankError};
/// let error = CascadeOptions { floor: 9, ceiling: 4, ..CascadeOptions::default() }.check().unwrap_err();
/// assert!(matches!(error, RerankError::Options { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RerankError {
    /// The model failed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// A scorer gave another number of scores than it was given pairs, so that none of them can be
    /// told to belong to a candidate.
    #[error(
        "{scorer} gave {found} scores for {sent} documents; they cannot be told apart, so nothing \
         was reranked; mend the scorer or rerank with another"
    )]
    Rows {
        /// Which scorer.
        scorer: String,
        /// Documents that it was given.
        sent: usize,
        /// Scores that it gave.
        found: usize,
    },
    /// A number that the scale it was declared with does not hold.
    #[error("{value} is no {scale}; open the model with the scale that its head has")]
    OffScale {
        /// The number.
        value: f64,
        /// The declared scale.
        scale: Scale,
    },
    /// A threshold and a score on scales that cannot be compared.
    #[error("a threshold in {cutoff} says nothing about a {score}; give one on the same scale")]
    Scales {
        /// The threshold's scale.
        cutoff: Scale,
        /// The score's scale.
        score: Scale,
    },
    /// A first-stage score that is NaN or infinite.
    #[error("the first stage's score of chunk {id} is {score}; a route has to give finite scores")]
    FirstStage {
        /// The candidate.
        id: ChunkId,
        /// The score.
        score: f64,
    },
    /// Options that contradict one another.
    #[error("{problem}")]
    Options {
        /// What is wrong, and what to give.
        problem: String,
    },
    /// Token vectors that are not usable.
    #[error(transparent)]
    Tokens(#[from] TokensError),
}

/// Why token vectors are not usable.
///
/// ```
/// use cornu_rerank::{TokenMatrix, TokensError};
/// assert!(matches!(TokenMatrix::from_bytes(b"no"), Err(TokensError::Bytes { .. })));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// A value is NaN or infinite, or too large for the precision.
    #[error(
        "token vector {token} is not finite in {precision}; the model is broken, nothing was kept"
    )]
    NotFinite {
        /// Position of the token, from 0.
        token: usize,
        /// The precision it was to be kept in.
        precision: &'static str,
    },
    /// Query and document have vectors of different lengths.
    #[error(
        "the query's tokens have {query} dimensions, the document's {document}; embed both with \
         one model, or index again"
    )]
    Dimension {
        /// The query's.
        query: usize,
        /// The document's.
        document: usize,
    },
    /// More dimensions or tokens than the format holds.
    #[error("{tokens} tokens of {dimension} dimensions are more than the format holds; use fewer")]
    TooLarge {
        /// Tokens.
        tokens: usize,
        /// Dimensions.
        dimension: usize,
    },
    /// A mask whose length is not the number of tokens.
    #[error("a mask of {mask} places was given for {tokens} tokens; give one place a token")]
    Mask {
        /// Its length.
        mask: usize,
        /// The tokens.
        tokens: usize,
    },
    /// Stored bytes that are not of this format.
    #[error("stored token vectors cannot be read: {problem}; index the document again")]
    Bytes {
        /// What is wrong.
        problem: &'static str,
    },
}
