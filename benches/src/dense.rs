//! Exact nearest neighbours among the rows of a matrix.

use cornu_core::{Ranking, RankingError};
use ndarray::{Array2, ArrayView1};

/// Ranks the rows of `vectors`, shape (N, D), by their dot product with `query`, shape (D), under
/// the ids of `ids` (N). All vectors have norm 1, so this is the cosine. O(N·D), sums in f64.
///
/// # Errors
/// A score that is not finite, or an id that comes twice.
pub fn rank<I: Ord + Copy>(
    vectors: &Array2<f32>,
    ids: &[I],
    query: &ArrayView1<'_, f32>,
) -> Result<Ranking<I>, RankingError> {
    let scores = vectors.rows().into_iter().map(|row| {
        row.iter()
            .zip(query)
            .map(|(&a, &b)| f64::from(a) * f64::from(b))
            .sum::<f64>()
    });
    Ranking::new(ids.iter().copied().zip(scores))
}

#[cfg(test)]
mod tests {
    use ndarray::{arr1, arr2};

    #[test]
    fn equal_rows_are_ordered_by_id() {
        let vectors = arr2(&[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]);
        let ranking = super::rank(&vectors, &[7, 1, 3], &arr1(&[1.0, 0.0]).view()).unwrap();
        assert_eq!(ranking.ids().copied().collect::<Vec<_>>(), [3, 7, 1]);
    }
}
