//! Counts, queries and parameters.

use cornu_sparse::{Bm25, Query, SparseError, TermCounts, Variant};
use cornu_text::Tokenizer;

use crate::{index_texts, view};

#[test]
fn a_words_parts_do_not_make_a_text_longer() {
    let tokenizer = Tokenizer::new();
    let counts = TermCounts::new(&tokenizer.tokens("torch.optim.zero_grad now"));
    assert_eq!(counts.length(), 2);
    assert_eq!(
        (counts.get("grad"), counts.get("now"), counts.get("then")),
        (1, 1, 0)
    );
    // Beside a text with a plain word in the identifier's place, other words weigh the same.
    let index = index_texts(&tokenizer, &["zero_grad now", "gradient now"]);
    let view = view(2, |_| true);
    let found = index
        .searcher(&view)
        .unwrap()
        .search(&Query::new(&tokenizer, "now"), &Bm25::default(), 2)
        .unwrap();
    assert_eq!(found.as_slice()[0].score, found.as_slice()[1].score);
}

#[test]
fn a_repeated_word_weighs_twice_in_its_first_place() {
    let query = Query::new(&Tokenizer::new(), "b a b");
    assert_eq!(query.iter().collect::<Vec<_>>(), [("b", 2.0), ("a", 1.0)]);
}

#[test]
fn parts_can_weigh_less_or_nothing() {
    let tokenizer = Tokenizer::new();
    let light = Query::with_part_weight(&tokenizer, "zero_grad now", 0.5).unwrap();
    let weights = [
        ("zero_grad", 1.0),
        ("zero", 0.5),
        ("grad", 0.5),
        ("now", 1.0),
    ];
    assert_eq!(light.iter().collect::<Vec<_>>(), weights);
    let none = Query::with_part_weight(&tokenizer, "zero_grad now", 0.0).unwrap();
    assert_eq!(none.iter().count(), 2);
    assert!(Query::with_part_weight(&tokenizer, "zero_grad", f64::NAN).is_err());
    assert!(Query::with_part_weight(&tokenizer, "zero_grad", -1.0).is_err());
}

#[test]
fn weights_and_parameters_out_of_range_are_refused() {
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7] {
        let error = Query::weighted([("a".to_owned(), weight)]).unwrap_err();
        assert!(matches!(error, SparseError::QueryWeight { .. }), "{error}");
    }
    for (k1, b, wrong) in [
        (-0.1, 0.5, "k1"),
        (f64::NAN, 0.5, "k1"),
        (f64::INFINITY, 0.5, "k1"),
        (1.2, 1.1, "b"),
        (1.2, -0.1, "b"),
    ] {
        match Bm25::new(Variant::Lucene, k1, b).unwrap_err() {
            SparseError::Parameter { name, .. } => assert_eq!(name, wrong),
            other => panic!("{other}"),
        }
    }
    let bm25 = Bm25::new(Variant::Bm25L, 1.2, 0.5).unwrap();
    assert!(bm25.with_delta(-1.0).is_err());
}

/// The ends of every parameter's range give finite scores that no variant makes negative.
#[test]
fn parameters_at_the_ends_of_their_ranges_stay_finite() {
    let tokenizer = Tokenizer::new();
    let index = index_texts(&tokenizer, &["a", "a a a b", "b c"]);
    let view = view(3, |_| true);
    let searcher = index.searcher(&view).unwrap();
    let query = Query::new(&tokenizer, "a b");
    for variant in [
        Variant::Lucene,
        Variant::Robertson,
        Variant::Atire,
        Variant::Bm25L,
        Variant::Bm25Plus,
    ] {
        for (k1, b, delta) in [
            (0.0, 0.0, 0.0),
            (0.0, 1.0, 1e6),
            (1e6, 1.0, 0.0),
            (1e6, 0.0, 1e6),
        ] {
            let bm25 = Bm25::new(variant, k1, b)
                .unwrap()
                .with_delta(delta)
                .unwrap();
            let found = searcher.search(&query, &bm25, 3).unwrap();
            assert_eq!(found.len(), 3, "{variant:?}");
            assert!(
                found
                    .iter()
                    .all(|hit| hit.score >= 0.0 && hit.score.is_finite())
            );
        }
    }
}
