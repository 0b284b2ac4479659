//! The two ways of choosing, against their definitions.

use cornu_segment::SegmentError;
use cornu_segment::select::{Limits, Pick, STEP, Selection, Values, greedy, optimal};
use proptest::prelude::*;

/// The greedy as it is defined, without any shortcut: look at everything for each pick.
fn naive(rows: &[Vec<f64>], lengths: &[usize], limits: &Limits) -> Vec<(usize, usize, usize)> {
    let document: Vec<usize> = lengths
        .iter()
        .enumerate()
        .flat_map(|(doc, &length)| std::iter::repeat_n(doc, length))
        .collect();
    let mut taken = vec![false; document.len()];
    let mut active = vec![true; rows.len()];
    let mut picks = Vec::new();
    let mut query = 0;
    while active.contains(&true) && taken.iter().filter(|t| **t).count() < limits.total {
        if active[query] {
            let mut best: Option<(f64, usize, usize)> = None;
            for start in 0..document.len() {
                for end in start + 1..=document.len() {
                    let used = taken.iter().filter(|t| **t).count();
                    let allowed = end - start <= limits.segment
                        && end - start + used <= limits.total
                        && document[start] == document[end - 1]
                        && rows[query][start] >= 0.0
                        && rows[query][end - 1] >= 0.0
                        && !taken[start..end].contains(&true);
                    let value: f64 = rows[query][start..end].iter().sum();
                    if allowed && best.is_none_or(|(most, ..)| value > most) {
                        best = Some((value, start, end));
                    }
                }
            }
            match best {
                Some((value, start, end)) if value >= limits.minimum => {
                    taken[start..end].fill(true);
                    picks.push((query, start, end));
                }
                _ => active[query] = false,
            }
        }
        query = (query + 1) % rows.len();
    }
    picks
}

/// Every set of disjoint segments, the best by the rules of ties.
fn brute(rows: &[Vec<f64>], lengths: &[usize], limits: &Limits) -> Vec<Pick> {
    let chunks: usize = lengths.iter().sum();
    let mut ends_of = vec![0; chunks];
    let mut at = 0;
    for &length in lengths {
        ends_of[at..at + length].fill(at + length);
        at += length;
    }
    let mut segments = Vec::new();
    for end in 1..=chunks {
        for start in 0..end {
            if end - start > limits.segment || end > ends_of[start] {
                continue;
            }
            for (query, row) in rows.iter().enumerate() {
                let value: f64 = row[start..end].iter().sum();
                if row[start] >= 0.0 && row[end - 1] >= 0.0 && value >= limits.minimum {
                    segments.push(Pick {
                        query,
                        start,
                        end,
                        value,
                    });
                }
            }
        }
    }
    let mut best: Vec<Pick> = Vec::new();
    let mut open = vec![Vec::<Pick>::new()];
    while let Some(set) = open.pop() {
        if better(&set, &best, limits.price) {
            best.clone_from(&set);
        }
        let from = set.last().map_or(0, |pick| pick.end);
        let used: usize = set.iter().map(Pick::len).sum();
        for pick in &segments {
            if pick.start >= from && used + pick.len() <= limits.total {
                let mut longer = set.clone();
                longer.push(*pick);
                open.push(longer);
            }
        }
    }
    best
}

/// More value less prices, then fewer chunks, then the last segment that ends first, begins first, is for the
/// first query, then so on towards the front.
fn better(a: &[Pick], b: &[Pick], price: f64) -> bool {
    let value = |set: &[Pick]| set.iter().map(|pick| pick.value - price).sum::<f64>();
    let chunks = |set: &[Pick]| set.iter().map(Pick::len).sum::<usize>();
    let key = |set: &[Pick]| -> Vec<(usize, usize, usize)> {
        let back = set.iter().rev();
        back.map(|pick| (pick.end, pick.start, pick.query))
            .collect()
    };
    if value(a) != value(b) {
        return value(a) > value(b);
    }
    if chunks(a) != chunks(b) {
        return chunks(a) < chunks(b);
    }
    key(a) < key(b)
}

fn triples(selection: &Selection) -> Vec<(usize, usize, usize)> {
    let picks = selection.picks.iter();
    picks
        .map(|pick| (pick.query, pick.start, pick.end))
        .collect()
}

/// What both ways of choosing promise.
fn keeps_to_the_rules(
    selection: &Selection,
    rows: &[Vec<f64>],
    lengths: &[usize],
    limits: &Limits,
) -> Result<(), TestCaseError> {
    let mut used = vec![false; lengths.iter().sum()];
    for pick in &selection.picks {
        prop_assert!(pick.len() <= limits.segment && pick.start < pick.end);
        prop_assert!(!used[pick.start..pick.end].contains(&true), "disjoint");
        used[pick.start..pick.end].fill(true);
        let mut from = 0;
        let within = lengths.iter().any(|length| {
            let inside = from <= pick.start && pick.end <= from + length;
            from += length;
            inside
        });
        prop_assert!(within, "within one document");
        let sum: f64 = rows[pick.query][pick.start..pick.end].iter().sum();
        prop_assert_eq!(pick.value, sum);
        prop_assert!(pick.value >= limits.minimum);
    }
    prop_assert!(selection.chunks() <= limits.total);
    Ok(())
}

/// Values in eighths, so that there are ties of all kinds.
fn instance(chunks: usize) -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<usize>, Limits)> {
    let eighth = prop_oneof![2 => -4_i8..=8, 1 => Just(-2_i8), 1 => Just(0_i8)];
    (1..=3_usize, proptest::collection::vec(1..=5_usize, 1..=3)).prop_flat_map(
        move |(queries, mut lengths)| {
            let mut total: usize = lengths.iter().sum();
            while total > chunks {
                total -= lengths.pop().unwrap_or(0);
            }
            let row =
                proptest::collection::vec(eighth.clone().prop_map(|e| f64::from(e) / 8.0), total);
            (
                proptest::collection::vec(row, queries),
                Just(lengths),
                (1..=5_usize, 1..=8_usize, -4_i8..=8, 0_i8..=6).prop_map(
                    |(segment, total, minimum, price)| Limits {
                        segment,
                        total,
                        minimum: f64::from(minimum) / 8.0,
                        price: f64::from(price) / 8.0,
                    },
                ),
            )
        },
    )
}

proptest! {
    #[test]
    fn the_greedy_is_its_definition((rows, lengths, limits) in instance(15)) {
        let values = Values::new(rows.clone(), &lengths).unwrap();
        let found = greedy(&values, &limits).unwrap();
        prop_assert_eq!(triples(&found), naive(&rows, &lengths, &limits));
        keeps_to_the_rules(&found, &rows, &lengths, &limits)?;
    }

    #[test]
    fn the_optimum_is_the_best_of_all_sets((rows, lengths, limits) in instance(9)) {
        let values = Values::new(rows.clone(), &lengths).unwrap();
        let found = optimal(&values, &limits).unwrap();
        prop_assert_eq!(&found.picks, &brute(&rows, &lengths, &limits));
        keeps_to_the_rules(&found, &rows, &lengths, &limits)?;
    }

    /// With values of any size, not only those of ties.
    #[test]
    fn the_optimum_is_never_below_the_greedy(
        rows in (1..=3_usize, 1..=40_usize).prop_flat_map(|(queries, chunks)| {
            let value = prop_oneof![3 => Just(-0.18), 2 => -0.18..1.0_f64];
            proptest::collection::vec(proptest::collection::vec(value, chunks), queries)
        }),
        cut in 0..40_usize,
        segment in 1..=15_usize,
        total in 1..=30_usize,
        minimum in -0.2..0.8_f64,
        price in prop_oneof![Just(0.0), 0.0..0.6_f64],
    ) {
        let chunks = rows[0].len();
        let lengths = [cut.min(chunks), chunks - cut.min(chunks)];
        let values = Values::new(rows, &lengths).unwrap();
        let rounded: Vec<Vec<f64>> = (0..values.queries()).map(|q| values.row(q).to_vec()).collect();
        let limits = Limits { segment, total, minimum, price };
        let (exact, first) = (optimal(&values, &limits).unwrap(), greedy(&values, &limits).unwrap());
        let (best, reached) = (exact.objective(&limits), first.objective(&limits));
        prop_assert!(best >= reached, "{:?} {:?}", exact, first);
        prop_assert!(price > 0.0 || exact.value() >= first.value());
        keeps_to_the_rules(&exact, &rounded, &lengths, &limits)?;
        keeps_to_the_rules(&first, &rounded, &lengths, &limits)?;
        prop_assert_eq!(triples(&first), naive(&rounded, &lengths, &limits));
    }
}

/// The best single segment may leave no room for something better.
#[test]
fn the_optimum_can_be_better() {
    let rows = vec![vec![1.0, -0.25, -0.25, 1.0, -1.0, 1.25]];
    let values = Values::new(rows, &[6]).unwrap();
    let limits = Limits {
        segment: 4,
        total: 4,
        minimum: 0.5,
        price: 0.0,
    };
    let (first, exact) = (
        greedy(&values, &limits).unwrap(),
        optimal(&values, &limits).unwrap(),
    );
    assert_eq!(triples(&first), [(0, 0, 4)]);
    assert_eq!(triples(&exact), [(0, 0, 1), (0, 3, 4), (0, 5, 6)]);
    assert_eq!((first.value(), exact.value()), (1.5, 3.25));
}

/// At price 0 what lies between two good chunks is always left out; a price makes a run of them.
#[test]
fn the_price_of_a_segment_decides_which_gaps_are_bridged() {
    let values = Values::new(vec![vec![1.0, -0.25, 1.0]], &[3]).unwrap();
    let runs = |price| {
        let limits = Limits {
            segment: 3,
            total: 3,
            minimum: 0.5,
            price,
        };
        triples(&optimal(&values, &limits).unwrap())
    };
    let (parted, bridged) = (vec![(0, 0, 1), (0, 2, 3)], vec![(0, 0, 3)]);
    assert_eq!(runs(0.0), parted);
    assert_eq!(runs(0.25), parted, "equal: fewer chunks");
    assert_eq!(runs(0.375), bridged);
    assert!(runs(2.0).is_empty(), "no segment is worth that");
}

/// Sums that rounding would part: ten times 0.1 is 1.0, in any order.
#[test]
fn equal_sums_are_equal() {
    let values = Values::new(vec![vec![0.3, 0.1, 0.2, 0.1, 0.2, 0.3]], &[3, 3]).unwrap();
    let limits = Limits {
        segment: 3,
        total: 3,
        minimum: 0.0,
        price: 0.0,
    };
    let found = greedy(&values, &limits).unwrap();
    assert_eq!(triples(&found), [(0, 0, 3)], "the first of two equal ones");
    let row = values.row(0);
    assert_eq!(row[0] + row[1] + row[2], row[3] + row[4] + row[5]);
    assert!(row.iter().all(|value| (value / STEP).fract() == 0.0));
}

#[test]
fn nothing_gives_nothing() {
    let limits = Limits {
        segment: 3,
        total: 3,
        minimum: 0.0,
        price: 0.0,
    };
    for (rows, lengths) in [
        (vec![], vec![]),
        (vec![vec![]], vec![0, 0]),
        (vec![], vec![2]),
    ] {
        let values = Values::new(rows, &lengths).unwrap();
        assert_eq!(greedy(&values, &limits).unwrap(), Selection::default());
        assert_eq!(optimal(&values, &limits).unwrap(), Selection::default());
    }
}

#[test]
fn limits_and_values_that_make_no_sense_are_refused() {
    let values = Values::new(vec![vec![1.0]], &[1]).unwrap();
    let good = Limits {
        segment: 1,
        total: 1,
        minimum: 0.0,
        price: 0.0,
    };
    for bad in [
        Limits { segment: 0, ..good },
        Limits {
            segment: 70_000,
            ..good
        },
        Limits { total: 0, ..good },
        Limits {
            minimum: f64::NAN,
            ..good
        },
        Limits {
            price: -0.5,
            ..good
        },
        Limits {
            price: f64::NAN,
            ..good
        },
    ] {
        assert!(matches!(
            greedy(&values, &bad),
            Err(SegmentError::Option { .. })
        ));
        assert!(matches!(
            optimal(&values, &bad),
            Err(SegmentError::Option { .. })
        ));
    }
    for bad in [f64::NAN, f64::INFINITY, 1e9] {
        let refused = Values::new(vec![vec![bad]], &[1]);
        assert!(matches!(refused, Err(SegmentError::Value { at: 0, .. })));
    }
    assert!(matches!(
        Values::new(vec![vec![1.0, 2.0]], &[1]),
        Err(SegmentError::Shape {
            query: 0,
            found: 2,
            expected: 1
        })
    ));
    let wide = Values::new(vec![vec![1.0; 30_000]], &[30_000]).unwrap();
    let limits = Limits {
        segment: 10,
        total: 30_000,
        minimum: 0.0,
        price: 0.0,
    };
    assert!(matches!(
        optimal(&wide, &limits),
        Err(SegmentError::TooLarge { .. })
    ));
    assert_eq!(greedy(&wide, &limits).unwrap().chunks(), 30_000);
}
