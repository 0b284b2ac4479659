//! The non-interference property catches leaks: a reference search without any passes it, and each
//! one that is planted in it fails.

use cornu_core::testing::proptest::test_runner::{Config, TestError, TestRng, TestRunner};
use cornu_core::testing::strategies::History;
use cornu_core::{ChunkId, Principal};
use cornu_sparse::{Query, TermCounts};

use crate::interference::{asked, ordinals, tokenizer};
use crate::naive::{Leak, NaiveRow, naive};

#[test]
fn no_leak_passes() {
    assert_eq!(caught(None, 300), None);
}

#[test]
fn document_frequencies_of_the_whole_index_are_caught() {
    assert!(caught(Some(Leak::Frequencies), 2000).is_some());
}

#[test]
fn the_document_count_of_the_whole_index_is_caught() {
    assert!(caught(Some(Leak::Count), 2000).is_some());
}

#[test]
fn the_average_length_of_the_whole_index_is_caught() {
    assert!(caught(Some(Leak::AverageLength), 2000).is_some());
}

#[test]
fn filtering_after_the_cut_is_caught() {
    assert!(caught(Some(Leak::PostFilter), 2000).is_some());
}

#[test]
fn ties_by_row_number_are_caught() {
    assert!(caught(Some(Leak::RowOrder), 4000).is_some());
}

#[test]
fn scaling_by_a_hidden_score_is_caught() {
    assert!(caught(Some(Leak::Scale), 2000).is_some());
}

/// Runs the property over at most `cases` histories; the message of the first that fails.
fn caught(leak: Option<Leak>, cases: u32) -> Option<String> {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 0,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, random);
    let outcome = runner.run(&asked(), |(history, principal, query, k)| {
        let whole = search(&history, &principal, &query, k, leak);
        let alone = search(
            &history.without_hidden(&principal),
            &principal,
            &query,
            k,
            leak,
        );
        cornu_core::testing::proptest::prop_assert_eq!(whole, alone);
        Ok(())
    });
    match outcome {
        Ok(()) => None,
        Err(TestError::Fail(why, _)) => Some(why.to_string()),
        Err(other) => panic!("{other}"),
    }
}

fn search(
    history: &History,
    principal: &Principal,
    query: &Query,
    k: usize,
    leak: Option<Leak>,
) -> Vec<(ChunkId, u64)> {
    let tokenizer = tokenizer();
    let ordinals = ordinals(history);
    let mut documents: Vec<_> = history.finally().into_iter().collect();
    documents.sort_by_key(|(doc, _)| ordinals[*doc]);
    let rows: Vec<NaiveRow<ChunkId>> = documents
        .into_iter()
        .flat_map(|(_, facts)| facts.indexed().map(move |chunk| (facts, chunk)))
        .map(|(facts, chunk)| {
            let counts = TermCounts::new(&tokenizer.tokens(&chunk.index_text));
            NaiveRow {
                id: chunk.id,
                seen: facts.acl.admits(principal),
                length: counts.length(),
                terms: counts
                    .iter()
                    .map(|(term, count)| (term.to_owned(), count))
                    .collect(),
            }
        })
        .collect();
    let query: Vec<(String, f64)> = query.iter().map(|(t, w)| (t.to_owned(), w)).collect();
    naive(&rows, &query, k, leak)
}
