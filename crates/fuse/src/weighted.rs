//! A list with the weight that it has in a fusion.

use cornu_core::Ranking;

use crate::error::FuseError;

/// The largest weight. Only ratios of weights matter for the order, and below this bound no sum of
/// shares can overflow.
pub const MAX_WEIGHT: f64 = 1e9;

/// A list with its weight. Every fusion checks the weights: from 0 to [`MAX_WEIGHT`], not all 0.
///
/// ```
/// use cornu_core::Ranking;
/// use cornu_fuse::Weighted;
///
/// let list = Ranking::new([("a", 1.0)])?;
/// assert_eq!(Weighted::new(&list, 0.7).weight, 0.7);
/// # Ok::<(), cornu_core::RankingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted<T> {
    /// The list.
    pub list: T,
    /// How much it counts.
    pub weight: f64,
}

impl<T> Weighted<T> {
    /// A list with its weight.
    pub fn new(list: T, weight: f64) -> Self {
        Self { list, weight }
    }
}

/// A dense and a sparse list with weights α and 1 − α, in this order.
///
/// # Errors
/// [`FuseError::Alpha`] when `alpha` is no number from 0 to 1.
///
/// ```
/// use cornu_core::Ranking;
/// use cornu_fuse::dense_sparse;
///
/// let (dense, sparse) = (Ranking::new([(1, 0.5)])?, Ranking::new([(1, 7.0)])?);
/// assert_eq!(dense_sparse(&dense, &sparse, 0.75)?.map(|list| list.weight), [0.75, 0.25]);
/// assert!(dense_sparse(&dense, &sparse, 1.5).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dense_sparse<'a, I>(
    dense: &'a Ranking<I>,
    sparse: &'a Ranking<I>,
    alpha: f64,
) -> Result<[Weighted<&'a Ranking<I>>; 2], FuseError> {
    if !(0.0..=1.0).contains(&alpha) {
        return Err(FuseError::Alpha { alpha });
    }
    Ok([
        Weighted::new(dense, alpha),
        Weighted::new(sparse, 1.0 - alpha),
    ])
}

/// Checks the weights. No lists at all are no error: they fuse to nothing.
pub(crate) fn check<T>(lists: &[Weighted<T>]) -> Result<(), FuseError> {
    for (list, weighted) in lists.iter().enumerate() {
        let weight = weighted.weight;
        if !(0.0..=MAX_WEIGHT).contains(&weight) {
            return Err(FuseError::Weight { list, weight });
        }
    }
    if !lists.is_empty() && lists.iter().all(|weighted| weighted.weight == 0.0) {
        return Err(FuseError::NoWeight { lists: lists.len() });
    }
    Ok(())
}
