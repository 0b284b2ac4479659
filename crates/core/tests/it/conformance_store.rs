//! The suite for stores passes the reference, and rejects every broken store by the rule that the
//! fault breaks.

use std::collections::BTreeSet;

use cornu_core::testing::MemoryStore;
use cornu_core::testing::conformance::{
    Report, Rule, StoreOptions, Violation, check_store, check_store_examples, check_store_histories,
};
use cornu_core::{FactStore, Principal};

use crate::broken_store::{BrokenStore, Fault};

const DIMENSION: usize = 4;

/// Each fault with the rule that has to name it.
const FAULTS: &[(Fault, Rule)] = &[
    (Fault::EmptyAclIsPublic, Rule::EmptyAcl),
    (Fault::GrantPrefixes, Rule::GrantsWhole),
    (Fault::GrantCases, Rule::GrantsWhole),
    (Fault::AllGrantsNeeded, Rule::Documents),
    (Fault::DocumentsByInsertion, Rule::Documents),
    (Fault::EmptyViewIsAnError, Rule::EmptyView),
    (Fault::EmptyViewIsNoFilter, Rule::HiddenHit),
    (Fault::DigestCountsHidden, Rule::ViewDigest),
    (Fault::ChunkLeaksHidden, Rule::HiddenChunk),
    (Fault::KnnWithoutFilter, Rule::HiddenHit),
    (Fault::OldViewOnNewState, Rule::Snapshot),
    (Fault::FilterAfterCut, Rule::Complete),
    (Fault::KAboveLimitIsAnError, Rule::Accepts),
    (Fault::KAboveLimitFilledLate, Rule::Complete),
    (Fault::TiesByInsertion, Rule::Ties),
    (Fault::TieCutDependsOnHidden, Rule::Ties),
    (Fault::ScoresFollowTotal, Rule::NonInterference),
    (Fault::ScoresFollowFirstSeen, Rule::FreshBuild),
    (Fault::ScoresFollowK, Rule::Prefix),
    (Fault::InnerProduct, Rule::Scores),
    (Fault::Distance, Rule::Scores),
    (Fault::FarthestFirst, Rule::Nearest),
    (Fault::BadQueryIsEmpty, Rule::BadQuery),
    (Fault::StaleChunks, Rule::ReplacesAll),
    (Fault::KeepsRemoved, Rule::Removes),
    (Fault::RemovesByVector, Rule::Documents),
    (Fault::UnchangedByContent, Rule::Changes),
    (Fault::AlwaysReplaced, Rule::Changes),
    (Fault::AcceptsNotFinite, Rule::RefusesNotFinite),
    (Fault::AcceptsNotUnit, Rule::RefusesNotUnit),
    (Fault::AcceptsDimension, Rule::RefusesDimension),
    (Fault::AcceptsRowCount, Rule::RefusesRowCount),
    (Fault::AcceptsStrangeChunks, Rule::RefusesChunks),
    (Fault::ClearsBeforeChecking, Rule::NothingWritten),
];

fn options() -> StoreOptions {
    StoreOptions::new(DIMENSION)
}

fn memory() -> Result<Report, Violation> {
    check_store(|| MemoryStore::new(DIMENSION), &options())
}

#[test]
fn the_reference_store_passes_and_every_rule_is_checked() {
    let report = memory().unwrap();
    let named: BTreeSet<Rule> = FAULTS.iter().map(|&(_, rule)| rule).collect();
    for rule in &named {
        assert!(report.checked(*rule) > 0, "{rule} was never checked");
    }
    // And every rule that the suite checks has a store that breaks it.
    let unbroken: Vec<Rule> = report
        .rules()
        .map(|(rule, _)| rule)
        .filter(|rule| !named.contains(rule))
        .collect();
    assert_eq!(unbroken, [Rule::CasesRun], "no broken store trips these");
}

#[test]
fn the_same_seed_checks_the_same() {
    let of = |seed| {
        let options = StoreOptions {
            seed,
            cases: 16,
            ..options()
        };
        check_store_histories(|| MemoryStore::new(DIMENSION), &options).unwrap()
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn a_right_store_of_another_make_passes() {
    check_store(|| BrokenStore::new(DIMENSION, Fault::None), &options()).unwrap();
    let small = StoreOptions {
        cases: 16,
        crowd: 50,
        ..StoreOptions::new(2)
    };
    check_store(|| BrokenStore::new(2, Fault::None), &small).unwrap();
    let wide = StoreOptions {
        cases: 4,
        crowd: 50,
        ..StoreOptions::new(384)
    };
    check_store(|| BrokenStore::new(384, Fault::None), &wide).unwrap();
}

#[test]
fn every_broken_store_is_rejected_by_the_rule_it_breaks() {
    for &(fault, rule) in FAULTS {
        let broken = || BrokenStore::new(DIMENSION, fault);
        let violation = check_store_examples(broken, &options())
            .expect_err(&format!("{fault:?} passes the examples"));
        assert_eq!(violation.rule, rule, "{fault:?}: {violation}");
        assert!(
            !violation.input.is_empty() && !violation.found.is_empty(),
            "{fault:?}"
        );
        assert_eq!(check_store(broken, &options()).unwrap_err(), violation);
    }
}

/// The cost that the suite's documentation states.
#[test]
fn the_suite_costs_what_it_says() {
    let stores = std::cell::Cell::new(0);
    let make = || {
        stores.set(stores.get() + 1);
        MemoryStore::new(DIMENSION)
    };
    let report = check_store(make, &options()).unwrap();
    let (stores, writes) = (stores.get(), report.checked(Rule::Changes));
    let rankings = 3 * report.checked(Rule::Prefix); // of the store and its two twins
    assert!((500..700).contains(&stores), "{stores} stores");
    assert!((1_200..1_800).contains(&writes), "{writes} writes");
    assert!((20_000..27_000).contains(&rankings), "{rankings} rankings");
}

/// Without the scripts that were written with these faults in mind.
#[test]
fn random_histories_find_the_faults_by_themselves() {
    for fault in [
        Fault::EmptyAclIsPublic,
        Fault::GrantPrefixes,
        Fault::GrantCases,
        Fault::AllGrantsNeeded,
        Fault::DocumentsByInsertion,
        Fault::EmptyViewIsAnError,
        Fault::EmptyViewIsNoFilter,
        Fault::DigestCountsHidden,
        Fault::ChunkLeaksHidden,
        Fault::KnnWithoutFilter,
        Fault::FilterAfterCut,
        Fault::TiesByInsertion,
        Fault::TieCutDependsOnHidden,
        Fault::ScoresFollowTotal,
        Fault::ScoresFollowFirstSeen,
        Fault::ScoresFollowK,
        Fault::Distance,
        Fault::FarthestFirst,
        Fault::ParentsAreHits,
        Fault::StaleChunks,
        Fault::KeepsRemoved,
        Fault::RemovesByVector,
        Fault::UnchangedByContent,
        Fault::AlwaysReplaced,
        Fault::LosesChunksWithoutVectors,
    ] {
        let found = check_store_histories(|| BrokenStore::new(DIMENSION, fault), &options());
        assert!(found.is_err(), "{fault:?} passes 64 random histories");
    }
}

#[test]
fn a_store_that_panics_is_a_violation_with_the_history() {
    let broken = || BrokenStore::new(DIMENSION, Fault::PanicsOnSeventhWrite);
    let violation = check_store_histories(broken, &options()).unwrap_err();
    assert_eq!(violation.rule, Rule::CasesRun);
    assert!(violation.found.contains("seventh write"), "{violation}");
}

#[test]
fn a_violation_of_a_random_history_is_shrunk_to_a_few_writes() {
    let broken = || BrokenStore::new(DIMENSION, Fault::EmptyAclIsPublic);
    let violation = check_store_histories(broken, &options()).unwrap_err();
    assert_eq!(violation.rule, Rule::EmptyAcl, "{violation}");
    assert!(
        violation.input.matches("upsert").count() <= 2,
        "{violation}"
    );
}

/// The failure signal of the fault "filter after the nearest k were taken", for k = 2.
#[test]
fn a_filter_after_the_cut_loses_a_visible_chunk_to_nearer_forbidden_ones() {
    let hits = |fault| {
        let store = BrokenStore::new(DIMENSION, fault);
        for facts in crate::memory_store::guides() {
            store.upsert(&facts).unwrap();
        }
        let reader = store.view(&Principal::public()).unwrap();
        store
            .knn(&reader, ndarray::aview1(&[1.0, 0.0, 0.0, 0.0]), 2)
            .unwrap()
            .len()
    };
    assert_eq!(hits(Fault::None), 2);
    assert_eq!(hits(Fault::FilterAfterCut), 0);
}

#[test]
fn options_without_a_plane_are_refused() {
    for dimension in [0, 1] {
        let refused = check_store(
            || MemoryStore::new(dimension),
            &StoreOptions::new(dimension),
        );
        assert!(
            refused.unwrap_err().found.contains("dimension"),
            "{dimension}"
        );
    }
}
