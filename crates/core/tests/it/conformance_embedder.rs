//! The suite for embedders passes right ones, and rejects every broken one by the rule that the
//! fault breaks.

use std::collections::BTreeSet;

use cornu_core::testing::conformance::{EmbedderOptions, Rule, check_embedder};
use cornu_core::{EmbeddingProvider, normalise_rows};
use ndarray::ArrayView1;

use crate::broken_embedder::{BrokenEmbedder, Fault};

/// Each fault with the rule that has to name it.
const FAULTS: &[(Fault, Rule)] = &[
    (Fault::NotNormalised, Rule::UnitNorm),
    (Fault::MeanOfUnitWindows, Rule::UnitNorm),
    (Fault::NotANumber, Rule::Finite),
    (Fault::ZeroForBlank, Rule::UnitNorm),
    (Fault::WrongDimension, Rule::Shape),
    (Fault::RowForNoTexts, Rule::Shape),
    (Fault::MergesEqualTexts, Rule::Shape),
    (Fault::SortedByLength, Rule::Order),
    (Fault::CentredOnBatch, Rule::Neighbours),
    (Fault::PaddingCounts, Rule::Neighbours),
    (Fault::LossyCache, Rule::Repeatable),
    (Fault::BlankRefusedOnce, Rule::Repeatable),
    (Fault::OneThreadOnly, Rule::Concurrent),
    (Fault::SameForAll, Rule::Distinct),
    (Fault::EmbedForgetsPrefix, Rule::EmbedIsCounted),
    (Fault::NoTokenCounts, Rule::TokenCounts),
    (Fault::SilentCut, Rule::Truncation),
    (Fault::SilentCutInTheMiddle, Rule::Truncation),
    (Fault::LongIsUnavailable, Rule::TooLong),
    (Fault::LongAtWrongPlace, Rule::TooLong),
    (Fault::RefusesEmoji, Rule::Answers),
    (Fault::QueryAsMatrix, Rule::QueryShape),
    (Fault::QueryNotNormalised, Rule::UnitNorm),
    (Fault::QueryPrefixOnce, Rule::QueryRepeatable),
    (Fault::FingerprintCountsCalls, Rule::FingerprintStays),
    (Fault::DimensionFromLastCall, Rule::QueryShape),
    (Fault::ZeroDimension, Rule::DimensionStays),
];

fn options() -> EmbedderOptions {
    EmbedderOptions {
        long_characters: 2_000,
        ..EmbedderOptions::default()
    }
}

#[test]
fn right_embedders_pass_and_every_rule_is_checked() {
    let named: BTreeSet<Rule> = FAULTS.iter().map(|&(_, rule)| rule).collect();
    let mut checked = BTreeSet::from([Rule::CasesRun]);
    for fault in [Fault::None, Fault::Strict] {
        let report = check_embedder(&BrokenEmbedder::new(fault), &options()).unwrap();
        checked.extend(report.rules().map(|(rule, _)| rule));
    }
    checked.remove(&Rule::CasesRun);
    assert_eq!(
        checked, named,
        "each rule is checked, and broken by a variant"
    );
}

#[test]
fn every_broken_embedder_is_rejected_by_the_rule_it_breaks() {
    for &(fault, rule) in FAULTS {
        let violation = check_embedder(&BrokenEmbedder::new(fault), &options())
            .expect_err(&format!("{fault:?} passes"));
        assert_eq!(violation.rule, rule, "{fault:?}: {violation}");
        assert!(
            !violation.input.is_empty() && !violation.found.is_empty(),
            "{fault:?}"
        );
    }
}

/// The cost that the suite's documentation states.
#[test]
fn the_suite_costs_what_it_says() {
    let embedder = BrokenEmbedder::new(Fault::None);
    check_embedder(&embedder, &EmbedderOptions::default()).unwrap();
    let (calls, texts) = embedder.used();
    assert!((200..350).contains(&calls), "{calls} calls");
    assert!((400..600).contains(&texts), "{texts} texts");
}

/// The failure signal of the fault "no normalisation": similarity from a squared distance.
#[test]
fn without_normalisation_similarity_leaves_its_range() {
    let similarity = |a: ArrayView1<'_, f32>, b: ArrayView1<'_, f32>| {
        let squares = a.iter().zip(b).map(|(x, y)| f64::from(x - y).powi(2));
        1.0 - squares.sum::<f64>() / 2.0
    };
    let range = |fault: Fault, normalise: bool| {
        let texts = [
            "梯度",
            "a much longer text about gradients and graphs",
            "zero_grad",
        ];
        let mut vectors = BrokenEmbedder::new(fault).embed(&texts).unwrap();
        if normalise {
            normalise_rows(&mut vectors).unwrap();
        }
        let rows = || vectors.rows().into_iter();
        let all = rows().flat_map(|a| rows().map(move |b| similarity(a, b)));
        all.fold((f64::MAX, f64::MIN), |(low, high), s| {
            (low.min(s), high.max(s))
        })
    };
    let (low, _) = range(Fault::NotNormalised, false);
    assert!(low < -1.0, "the signal: {low}");
    for (low, high) in [range(Fault::None, false), range(Fault::NotNormalised, true)] {
        assert!((-1.0 - 1e-6..=1.0 + 1e-6).contains(&low), "{low}");
        assert!((high - 1.0).abs() < 1e-6, "{high}");
    }
    let violation = check_embedder(&BrokenEmbedder::new(Fault::NotNormalised), &options());
    assert_eq!(violation.unwrap_err().rule, Rule::UnitNorm);
}
