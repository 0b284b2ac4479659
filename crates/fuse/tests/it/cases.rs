//! The cases of the kind `fusion`, each by its id.

use cornu_core::{Ranking, RankingError};
use cornu_fuse::{
    FuseError, Normalisation, RrfOptions, Weighted, best_per, convex_fuse, dense_sparse, rrf_fuse,
};

use crate::{equal_rrf, ids, places, score, scored};

/// Two chunks of A in one list: A counts once, with its best rank.
#[test]
fn fu_04_a_document_counts_once_a_list() {
    let chunks = [("A", 1), ("A", 2), ("B", 1)];
    let repeated = chunks.map(|(doc, _)| doc).into_iter().zip([3.0, 2.0, 1.0]);
    assert!(matches!(
        Ranking::new(repeated),
        Err(RankingError::Duplicate { .. })
    ));

    let first = best_per(&places(chunks), |chunk| chunk.0);
    assert_eq!(first, scored([("A", 100.0), ("B", 98.0)]), "the best score");
    let fused = equal_rrf(&[&first, &places(["B"])]).into_ranking();
    assert_eq!(ids(&fused), ["B", "A"]);
    assert_eq!(score(&fused, "A"), 1.0 / 61.0);
    assert_eq!(score(&fused, "B"), 1.0 / 61.0 + 1.0 / 62.0);
}

#[test]
fn fu_05_flat_lists_are_finite_and_do_not_move_the_order() {
    let zeros = scored([("a", 0.0), ("b", 0.0), ("c", 0.0)]);
    let vector = scored([("a", 0.8), ("b", 0.7), ("c", 0.1)]);
    let one = scored([("a", 3.2)]);
    let flat = scored([("a", 2.0), ("b", 2.0), ("c", 2.0)]);
    for normalisation in [Normalisation::default(), Normalisation::ZScore] {
        let fuse =
            |list| convex_fuse(&dense_sparse(&vector, list, 0.5).unwrap(), &normalisation).unwrap();
        let share = |list, id| fuse(list).shares(&id).unwrap()[1].unwrap().value;
        for id in ["a", "b", "c"] {
            assert_eq!(share(&zeros, id), 0.0, "all-zero stays zero");
            assert_eq!(share(&flat, id), 0.5, "one constant for flat lists");
        }
        assert_eq!(share(&one, "a"), 0.5, "the same for a single hit");
        for list in [&zeros, &one, &flat] {
            assert_eq!(ids(fuse(list).ranking()), ["a", "b", "c"]);
        }
    }
}

#[test]
fn fu_06_what_a_list_does_not_hold_gets_zero_not_less() {
    let bm25 = scored([("a", 2.0), ("b", 6.0)]);
    let vector = scored([("c", 0.9), ("a", 0.1), ("b", 0.1)]);
    let exact = Normalisation::MinMax { epsilon: 0.0 };
    let fused = convex_fuse(&dense_sparse(&vector, &bm25, 0.5).unwrap(), &exact).unwrap();
    assert_eq!(fused.shares(&"a").unwrap()[1].unwrap().value, 0.0);
    assert_eq!(fused.shares(&"b").unwrap()[1].unwrap().value, 0.5);
    assert_eq!(fused.shares(&"c").unwrap()[1], None);
    assert_eq!(score(fused.ranking(), "c"), 0.5);
}

#[test]
fn fu_07_negative_cosines_come_to_the_scale_first() {
    let cosines = scored([("a", -0.6), ("b", -0.1)]);
    let words = scored([("a", 0.4), ("b", 0.0)]);
    // The fault: raw sums put b first.
    let raw = ["a", "b"].map(|id| (id, 0.5 * score(&cosines, id) + 0.5 * score(&words, id)));
    assert_eq!(ids(&scored(raw)), ["b", "a"]);
    let lists = dense_sparse(&cosines, &words, 0.5).unwrap();
    let minima = vec![-1.0, 0.0];
    let fused = convex_fuse(&lists, &Normalisation::TheoreticalMin { minima }).unwrap();
    assert_eq!(ids(fused.ranking()), ["a", "b"]);
    // (1 + cos) / 2 is 0.2 and 0.45: in the same proportion after division by the best.
    let share = |id| fused.shares(&id).unwrap()[0].unwrap().value;
    assert!((share("a") / share("b") - 0.2 / 0.45).abs() < 1e-12);
    assert!(fused.ranking().iter().all(|hit| hit.score >= 0.0));
}

#[test]
fn fu_09_weights_are_finite_positive_in_sum_and_never_negative() {
    let list = scored([("a", 1.0)]);
    let huge = f64::MAX;
    for [first, second] in [
        [-0.5, 1.5],
        [f64::NAN, 0.5],
        [0.0, 0.0],
        [f64::INFINITY, 1.0],
        [huge, huge],
    ] {
        let lists = [Weighted::new(&list, first), Weighted::new(&list, second)];
        let by_rank = rrf_fuse(&lists, RrfOptions::default()).unwrap_err();
        let by_score = convex_fuse(&lists, &Normalisation::default()).unwrap_err();
        for error in [by_rank, by_score] {
            match error {
                FuseError::NoWeight { lists } => assert_eq!((lists, first), (2, 0.0)),
                FuseError::Weight { list, .. } => assert_eq!(list, 0),
                other => panic!("{other}"),
            }
        }
    }
    for alpha in [-0.1, 1.1, f64::NAN] {
        let error = dense_sparse(&list, &list, alpha).unwrap_err();
        assert!(matches!(error, FuseError::Alpha { .. }), "{error}");
    }
}

/// NaN does not get as far as a fusion: the route that made it is refused, by position.
#[test]
fn fu_10_nan_never_enters() {
    let error = Ranking::new([("a", 1.0), ("b", f64::NAN), ("c", 0.5)]).unwrap_err();
    assert!(matches!(error, RankingError::NotFinite { position: 1, .. }));
    let fused = equal_rrf(&[&scored([("a", 1.0), ("c", 0.5)])]);
    assert_eq!(ids(fused.ranking()), ["a", "c"]);
}

#[test]
fn fu_11_fuse_then_cut() {
    let (vector, text) = (places(["a", "b"]), places(["c", "b"]));
    let fused = equal_rrf(&[&vector, &text]).top(1);
    assert_eq!(ids(fused.ranking()), ["b"]);
    assert_eq!(score(fused.ranking(), "b"), 2.0 / 62.0);
    assert_eq!(fused.iter().count(), 1);
    // The fault: cut first, and b is gone.
    let cut = equal_rrf(&[&vector.top(1), &text.top(1)]);
    assert!(!ids(cut.ranking()).contains(&"b"));
}

#[test]
fn fu_12_ties_stand_by_id_every_time() {
    let (one, two) = (places(["b", "a"]), places(["a", "b"]));
    let first = equal_rrf(&[&one, &two]);
    for _ in 0..1000 {
        let again = equal_rrf(&[&one, &two]);
        let swapped = equal_rrf(&[&two, &one]);
        assert_eq!(ids(again.ranking()), ["a", "b"]);
        assert_eq!(again, first);
        assert_eq!(swapped.ranking(), first.ranking());
    }
    assert_eq!(score(first.ranking(), "a"), 1.0 / 61.0 + 1.0 / 62.0);
    assert_eq!(score(first.ranking(), "a"), score(first.ranking(), "b"));
}

#[test]
fn fu_13_an_empty_list_moves_nothing() {
    let (full, empty) = (places(["a", "b", "c"]), Ranking::empty());
    for lists in [[&full, &empty], [&empty, &full]] {
        assert_eq!(ids(equal_rrf(&lists).ranking()), ["a", "b", "c"]);
        let weighted = lists.map(|list| Weighted::new(list, 0.5));
        for normalisation in [
            Normalisation::default(),
            Normalisation::ZScore,
            Normalisation::TheoreticalMin {
                minima: vec![0.0, 0.0],
            },
        ] {
            let fused = convex_fuse(&weighted, &normalisation).unwrap();
            assert_eq!(ids(fused.ranking()), ["a", "b", "c"]);
        }
    }
    let none: [Weighted<&Ranking<u32>>; 0] = [];
    assert!(
        rrf_fuse(&none, RrfOptions::default())
            .unwrap()
            .ranking()
            .is_empty()
    );
    let fused = equal_rrf(&[&Ranking::<u32>::empty()]);
    assert_eq!((fused.iter().count(), fused.shares(&1)), (0, None));
}
