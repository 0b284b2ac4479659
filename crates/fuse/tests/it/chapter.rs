//! What the course chapter states about fusion.

use std::collections::BTreeMap;

use cornu_core::Ranking;
use cornu_fuse::{Normalisation, convex_fuse, dense_sparse};

use crate::{equal_rrf, ids, scored};

/// Contract "RRF takes the two routes' ranks": ranks are fused, scores are not.
#[test]
fn contract_rrf_fuses_ranks_and_never_scores() {
    let dense = scored([("a", 0.842), ("b", 0.841), ("c", 0.1)]);
    let sparse = scored([("c", 8.45), ("a", 1.2)]);
    let fused = equal_rrf(&[&dense, &sparse]);
    // The same order under wholly other scores.
    let other_dense = scored([("a", 1e300), ("b", -3.0), ("c", -1e300)]);
    let other_sparse = scored([("c", 1e-300), ("a", 0.0)]);
    let other = equal_rrf(&[&other_dense, &other_sparse]);
    assert_eq!(fused.ranking(), other.ranking());
}

/// Formula: score(d) = Σ 1 / (k + rank), k = 60, for the three kinds of query of the table.
#[test]
fn table_of_query_types_reciprocal_ranks() {
    for (dense_rank, sparse_rank, printed) in [(1, 5, "0.032"), (7, 1, "0.031"), (2, 2, "0.032")] {
        let list = |rank: usize, mark: u32| {
            let others = (1..rank).map(|at| mark + at as u32);
            crate::places(others.chain([0]))
        };
        let fused = equal_rrf(&[&list(dense_rank, 100), &list(sparse_rank, 200)]);
        let best = fused.ranking().as_slice()[0];
        assert_eq!(best.id, 0, "what both routes found comes first");
        // The chapter prints 0.033 for ranks 2 and 2; 2/62 is 0.0323.
        assert_eq!(format!("{:.3}", best.score), printed);
    }
}

/// Formula: S_norm = (S − min) / (max − min + ε), S = α · dense + (1 − α) · sparse.
#[test]
fn formula_of_the_convex_combination() {
    let dense = [("a", 0.842), ("b", 0.412), ("c", 0.680)];
    let sparse = [("a", 1.20), ("b", 8.45), ("d", 4.10)];
    let (alpha, epsilon) = (0.6, 1e-6);
    let lists = (scored(dense), scored(sparse));
    let lists = dense_sparse(&lists.0, &lists.1, alpha).unwrap();
    let fused = convex_fuse(&lists, &Normalisation::MinMax { epsilon }).unwrap();
    let part = |list: [(&str, f64); 3], id: &str| {
        let scores = list.map(|(_, score)| score);
        let (min, max) = (
            scores.iter().copied().fold(f64::INFINITY, f64::min),
            scores.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        let found = list.iter().find(|(name, _)| *name == id);
        found.map_or(0.0, |(_, score)| (score - min) / (max - min + epsilon))
    };
    assert_eq!(fused.ranking().len(), 4);
    for hit in fused.ranking() {
        let expected = alpha * part(dense, hit.id) + (1.0 - alpha) * part(sparse, hit.id);
        assert!((hit.score - expected).abs() < 1e-15, "{hit:?} {expected}");
    }
}

/// Fault injection: scores of different scale are added as they are. BM25 then decides alone, and
/// the dense list might as well not be there. Ours keeps both.
#[test]
fn fault_raw_scores_of_different_scale_added() {
    let dense = scored([("a", 0.95), ("b", 0.90), ("c", 0.30), ("d", 0.10)]);
    let sparse = scored([("d", 21.0), ("c", 17.0), ("b", 16.0), ("a", 2.0)]);
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for hit in dense.iter().chain(&sparse) {
        *sums.entry(hit.id).or_default() += hit.score;
    }
    let broken = Ranking::new(sums).unwrap();
    assert_eq!(ids(&broken), ids(&sparse), "degenerates to one list");

    for normalisation in [
        Normalisation::default(),
        Normalisation::ZScore,
        Normalisation::TheoreticalMin {
            minima: vec![-1.0, 0.0],
        },
    ] {
        let lists = dense_sparse(&dense, &sparse, 0.5).unwrap();
        let fused = convex_fuse(&lists, &normalisation).unwrap();
        assert_eq!(fused.ranking().as_slice()[0].id, "b", "good in both");
        // And no unit matters: a hundredfold BM25 gives the same order.
        let larger = Ranking::new(sparse.iter().map(|hit| (hit.id, 100.0 * hit.score))).unwrap();
        let lists = dense_sparse(&dense, &larger, 0.5).unwrap();
        let scaled = convex_fuse(&lists, &normalisation).unwrap();
        assert_eq!(ids(scaled.ranking()), ids(fused.ranking()));
    }
}
