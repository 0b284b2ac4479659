//! A query's token vectors, laid out for the kernel.

use ndarray::ArrayView2;

use super::kernel::LANES;
use super::tokens::is_usable;
use crate::error::TokensError;

/// The token vectors of a query that count, in the kernel's layout: panels of 16 tokens,
/// component after component, the last panel filled up with zeros that are never summed.
///
/// Rows that are padding, or that are masked for another reason, are left out of the sum and of
/// the number of tokens alike. Positions that a model fills with `[MASK]` on purpose (ColBERT's
/// query augmentation) are the model's choice: keep them in.
///
/// ```
/// use cornu_rerank::QueryTokens;
///
/// let rows = ndarray::arr2(&[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]);
/// let query = QueryTokens::masked(rows.view(), &[true, true, false, false])?;
/// assert_eq!(query.len(), 2);
/// # Ok::<(), cornu_rerank::TokensError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTokens {
    tokens: usize,
    dimension: usize,
    panels: Vec<f32>,
}

impl QueryTokens {
    /// The rows of a matrix of shape (T, d), all of which count.
    ///
    /// # Errors
    /// [`TokensError::NotFinite`], also for a component above 65504.
    #[expect(clippy::needless_pass_by_value, reason = "a view is a reference")]
    pub fn new(rows: ArrayView2<'_, f32>) -> Result<Self, TokensError> {
        let all = vec![true; rows.nrows()];
        Self::masked(rows, &all)
    }

    /// The rows whose place in `keep` is true.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`TokensError::Mask`].
    #[expect(clippy::needless_pass_by_value, reason = "a view is a reference")]
    pub fn masked(rows: ArrayView2<'_, f32>, keep: &[bool]) -> Result<Self, TokensError> {
        let (tokens, dimension) = rows.dim();
        if keep.len() != tokens {
            return Err(TokensError::Mask {
                mask: keep.len(),
                tokens,
            });
        }
        let kept: Vec<usize> = (0..tokens)
            .filter(|&at| keep.get(at) == Some(&true))
            .collect();
        let mut panels = Vec::with_capacity(kept.len().next_multiple_of(LANES) * dimension);
        for panel in kept.chunks(LANES) {
            for component in 0..dimension {
                let column = panel
                    .iter()
                    .filter_map(|&token| rows.get((token, component)));
                panels.extend(column);
                panels.resize(panels.len().next_multiple_of(LANES), 0.0);
            }
        }
        if panels.iter().any(|&x| !is_usable(x)) {
            let bad = |&&token: &&usize| !rows.row(token).iter().all(|&x| is_usable(x));
            let token = kept.iter().find(bad).copied().unwrap_or_default();
            return Err(TokensError::NotFinite {
                token,
                precision: "f32",
            });
        }
        Ok(Self {
            tokens: kept.len(),
            dimension,
            panels,
        })
    }

    /// How many tokens count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens
    }

    /// Whether none does.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens == 0
    }

    /// The length of each vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The panels: `dimension · LANES` values each.
    #[inline(always)]
    pub(super) fn panels(&self) -> std::slice::ChunksExact<'_, f32> {
        self.panels.chunks_exact((self.dimension * LANES).max(1))
    }
}
