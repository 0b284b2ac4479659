//! One order: score descending, then id ascending, no id twice, all finite.

use cornu_core::{Ranking, RankingError};
use proptest::prelude::*;

fn scores() -> impl Strategy<Value = Vec<(u8, f64)>> {
    let score = prop::sample::select(vec![1.0, 0.5, 0.0, -0.0, -1.0, f64::MIN_POSITIVE, 1e300]);
    prop::collection::btree_map(any::<u8>(), score, 0..24).prop_map(|map| map.into_iter().collect())
}

proptest! {
    #[test]
    fn the_order_is_total_and_independent_of_the_input_order(
        (pairs, shuffled) in scores().prop_flat_map(|pairs| {
            (Just(pairs.clone()), Just(pairs).prop_shuffle())
        }),
    ) {
        let ranking = Ranking::new(pairs.clone()).unwrap();
        prop_assert_eq!(&ranking, &Ranking::new(shuffled).unwrap());
        prop_assert_eq!(ranking.len(), pairs.len());
        for pair in ranking.as_slice().windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            prop_assert!(a.score > b.score || (a.score == b.score && a.id < b.id));
        }
        for (at, hit) in ranking.iter().enumerate() {
            prop_assert!(hit.score.to_bits() != (-0.0_f64).to_bits());
            prop_assert_eq!(ranking.rank_of(&hit.id), Some(at + 1));
        }
    }

    #[test]
    fn a_shorter_ranking_is_a_prefix(pairs in scores(), k in 0_usize..30) {
        let whole = Ranking::new(pairs).unwrap();
        let top = whole.clone().top(k);
        prop_assert_eq!(top.len(), k.min(whole.len()));
        prop_assert_eq!(top.as_slice(), &whole.as_slice()[..top.len()]);
    }

    #[test]
    fn what_is_not_finite_is_refused_with_its_place(
        pairs in scores(),
        bad in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
        place in any::<prop::sample::Index>(),
    ) {
        let at = place.index(pairs.len() + 1);
        let mut pairs: Vec<(u16, f64)> =
            pairs.into_iter().map(|(id, score)| (u16::from(id), score)).collect();
        pairs.insert(at, (999, bad));
        let error = Ranking::new(pairs).unwrap_err();
        let refused = matches!(error, RankingError::NotFinite { position, .. } if position == at);
        prop_assert!(refused, "{error}");
    }

    #[test]
    fn an_id_that_comes_twice_is_refused(pairs in scores(), score in -1.0_f64..1.0) {
        prop_assume!(!pairs.is_empty());
        let twice = pairs.iter().copied().chain([(pairs[0].0, score)]);
        let error = Ranking::new(twice).unwrap_err();
        let refused = matches!(error, RankingError::Duplicate { .. });
        prop_assert!(refused, "{error}");
    }
}

#[test]
fn vs_12_ties_come_in_order_of_id() {
    let ids = |k| {
        let ranking = Ranking::new([(7, 1.0), (3, 1.0), (5, 1.0)]).unwrap().top(k);
        ranking.ids().copied().collect::<Vec<_>>()
    };
    assert_eq!(ids(3), [3, 5, 7]);
    assert_eq!(ids(2), [3, 5]);
}

/// The place in the message is the one that the field says, counted the same way.
#[test]
fn the_place_of_a_second_id_is_told_as_the_field_has_it() {
    let error = Ranking::new([("a", 3.0), ("b", 2.0), ("a", 1.0)]).unwrap_err();
    assert_eq!(error, RankingError::Duplicate { position: 2 });
    assert!(error.to_string().contains("position 2"), "{error}");
}
