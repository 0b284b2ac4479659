//! Properties of both fusions over random lists.

use std::collections::BTreeSet;

use cornu_core::Ranking;
use cornu_fuse::{
    FuseError, Fused, MAX_RANK_CONSTANT, Normalisation, RrfOptions, Weighted, convex_fuse, rrf_fuse,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::{ids, places};

type Lists = Vec<(Ranking<u8>, f64)>;

/// One to four lists over few ids, with many ties, some empty, and weights of which one is positive.
fn lists() -> impl Strategy<Value = Lists> {
    let score = prop_oneof![
        3 => (-4_i8..=4).prop_map(f64::from),
        1 => -1e3..1e3_f64,
        1 => proptest::num::f64::NORMAL,
    ];
    let list = btree_map(0_u8..10, score, 0..8).prop_map(|scores| Ranking::new(scores).unwrap());
    let weight = prop_oneof![Just(0.0), Just(1.0), 0.0..3.0_f64];
    vec((list, weight), 1..=4).prop_map(|mut lists| {
        lists[0].1 += 0.5;
        lists
    })
}

/// What both fusions do; the minima lie below every score.
fn fusions(lists: &[(Ranking<u8>, f64)]) -> Vec<Fused<u8>> {
    let weighted: Vec<_> = lists
        .iter()
        .map(|(list, w)| Weighted::new(list, *w))
        .collect();
    let minima = vec![f64::MIN; lists.len()];
    let mut all: Vec<_> = [
        Normalisation::default(),
        Normalisation::MinMax { epsilon: 0.0 },
        Normalisation::ZScore,
        Normalisation::TheoreticalMin { minima },
    ]
    .iter()
    .map(|normalisation| convex_fuse(&weighted, normalisation).unwrap())
    .collect();
    all.push(rrf_fuse(&weighted, RrfOptions::default()).unwrap());
    all
}

proptest! {
    #[test]
    fn ids_are_the_union_and_shares_sum_to_the_score(lists in lists()) {
        let union: BTreeSet<u8> = lists.iter().flat_map(|(list, _)| list.ids().copied()).collect();
        for fused in fusions(&lists) {
            prop_assert_eq!(&fused.ranking().ids().copied().collect::<BTreeSet<_>>(), &union);
            prop_assert_eq!(fused.iter().len(), union.len());
            for (hit, shares) in fused.iter() {
                prop_assert_eq!(shares.len(), lists.len());
                prop_assert_eq!(fused.shares(&hit.id), Some(shares));
                let mut values: Vec<f64> = shares.iter().flatten().map(|s| s.value).collect();
                values.sort_by(f64::total_cmp);
                prop_assert_eq!(values.iter().sum::<f64>(), hit.score);
                for (share, (list, _)) in shares.iter().zip(&lists) {
                    prop_assert_eq!(share.map(|share| share.rank), list.rank_of(&hit.id));
                    prop_assert!(share.is_none_or(|s| s.value.is_finite() && s.value >= 0.0));
                }
            }
        }
    }

    #[test]
    fn permuting_the_lists_permutes_the_shares(lists in lists(), turn in 0_usize..4) {
        let turn = turn % lists.len();
        let mut turned = lists.clone();
        turned.rotate_left(turn);
        for (fused, other) in fusions(&lists).iter().zip(fusions(&turned)) {
            prop_assert_eq!(fused.ranking(), other.ranking());
            for (hit, shares) in fused.iter() {
                let mut shares = shares.to_vec();
                shares.rotate_left(turn);
                prop_assert_eq!(Some(shares.as_slice()), other.shares(&hit.id));
            }
        }
    }

    #[test]
    fn a_better_score_never_has_a_smaller_share(lists in lists()) {
        for fused in fusions(&lists) {
            for (at, (list, _)) in lists.iter().enumerate() {
                let values: Vec<f64> = list
                    .ids()
                    .map(|id| fused.shares(id).unwrap()[at].unwrap().value)
                    .collect();
                prop_assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
            }
        }
    }

    /// Found higher in one list, all else equal: never a smaller score under reciprocal ranks.
    #[test]
    fn moving_up_never_hurts(order in Just((0_u8..8).collect::<Vec<_>>()).prop_shuffle(),
                             other in Just((0_u8..8).collect::<Vec<_>>()).prop_shuffle(),
                             from in 1_usize..8) {
        let mut moved = order.clone();
        moved.swap(from - 1, from);
        let id = order[from];
        let fuse = |first: &[u8]| {
            let first = crate::places(first.iter().copied());
            let other = crate::places(other.iter().copied());
            crate::score(crate::equal_rrf(&[&first, &other]).ranking(), id)
        };
        prop_assert!(fuse(&moved) > fuse(&order));
    }

    /// Shares depend on the lists alone, so a list within a view gives what that view gives; and
    /// one hidden entry that is let in changes what others get. Callers have to search in a view.
    #[test]
    fn a_hidden_entry_let_in_changes_the_others(scores in vec(1.0..9.0_f64, 3..8)) {
        let seen = Ranking::new(scores.iter().copied().enumerate()).unwrap();
        let leaked = Ranking::new(scores.iter().copied().enumerate().chain([(99, 10.0)])).unwrap();
        let fused = |list| {
            let lists = [Weighted::new(list, 1.0)];
            (convex_fuse(&lists, &Normalisation::default()).unwrap().into_ranking(),
             rrf_fuse(&lists, RrfOptions::default()).unwrap().into_ranking())
        };
        let ((convex, rrf), (leaked_convex, leaked_rrf)) = (fused(&seen), fused(&leaked));
        let best = seen.as_slice()[0].id;
        prop_assert!(crate::score(&leaked_convex, best) < crate::score(&convex, best));
        prop_assert!(crate::score(&leaked_rrf, best) < crate::score(&rrf, best));
    }
}

/// Beyond 2^53 the constant and the one after it are the same float, and ranks would be lost.
#[test]
fn the_largest_constant_still_tells_ranks_apart() {
    let list = places(["d", "c", "b", "a"]);
    let fuse = |k| rrf_fuse(&[Weighted::new(&list, 1.0)], RrfOptions { k });
    for k in [0.0, 60.0, MAX_RANK_CONSTANT] {
        let fused = fuse(k).unwrap();
        assert_eq!(ids(fused.ranking()), ["d", "c", "b", "a"], "{k}");
    }
    for k in [-1.0, 2.0 * MAX_RANK_CONSTANT, 1e300, f64::NAN] {
        let error = fuse(k).unwrap_err();
        assert!(matches!(error, FuseError::RankConstant { .. }), "{error}");
    }
}
