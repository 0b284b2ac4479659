//! A text's vector has the same bits whatever stands beside it, in whatever order, in whatever
//! packs, on however many threads.

use std::num::NonZeroUsize;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::testing::proptest::test_runner::{Config, TestRunner};
use cornu_core::{EmbeddingProvider, Side, TokenEmbedder};
use cornu_embed::bert::{BertEmbeddingProvider, BertOptions, Truncation};

use super::opened::{minilm, open, tiny};
use super::{data, oracle_texts};

fn bits<'a>(vector: impl IntoIterator<Item = &'a f32>) -> Vec<u32> {
    vector.into_iter().map(|value| value.to_bits()).collect()
}

/// Random batches of `texts` give each text the bits that it has alone.
fn batches(provider: &BertEmbeddingProvider, texts: &[&str], cases: u32) {
    let alone: Vec<Vec<u32>> = texts
        .iter()
        .map(|text| bits(provider.embed(&[text]).unwrap().row(0)))
        .collect();
    let picks = proptest::collection::vec(0..texts.len(), 1..40);
    let mut runner = TestRunner::new(Config::with_cases(cases));
    runner
        .run(&picks, |picks| {
            let batch: Vec<&str> = picks.iter().map(|&at| texts[at]).collect();
            let vectors = provider.embed(&batch).unwrap();
            for (row, at) in vectors.rows().into_iter().zip(picks) {
                prop_assert_eq!(&bits(row), &alone[at]);
            }
            Ok(())
        })
        .unwrap();
}

use cornu_core::testing::proptest;

#[test]
fn random_batches_of_random_lengths_tiny() {
    let texts: Vec<String> = (0..38).map(|words| "the ".repeat(words)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    batches(tiny(), &texts, 60);
}

#[test]
fn random_batches_of_real_texts_minilm() {
    let Some(provider) = minilm() else { return };
    let texts = oracle_texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    // Where it does not, this test compares each text with itself, and texts take twice as long.
    assert!(
        provider.packs_texts(),
        "a row's bits depend on the rows beside it on this processor (see `FEWEST_ROWS`)"
    );
    batches(provider, &texts, 12);
}

#[test]
fn threads_and_packs_do_not_change_bits() {
    let texts: Vec<String> = (0..60)
        .map(|at| "大模型 the gradient ".repeat(1 + at % 5))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let expected = tiny().embed(&texts).unwrap();
    for threads in [1, 2, 3, 7] {
        for rows in [1, 17, 64, 100_000] {
            let options = BertOptions {
                threads: NonZeroUsize::new(threads),
                rows_per_pack: NonZeroUsize::new(rows).unwrap(),
                ..BertOptions::default()
            };
            let provider = open(&data("tiny-bge"), &options);
            let vectors = provider.embed(&texts).unwrap();
            for (ours, expected) in vectors.rows().into_iter().zip(expected.rows()) {
                assert_eq!(bits(ours), bits(expected), "{threads} threads, {rows} rows");
            }
        }
    }
}

#[test]
fn threads_share_one_provider() {
    let texts = ["短句", "what is the gradient", "大模型的训练目标是什么"];
    let expected = tiny().embed(&texts).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(tiny().embed(&texts).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn token_vectors_do_not_depend_on_neighbours_either() {
    let embedder = tiny().token_embedder();
    let texts = ["短句", "what is the gradient", ""];
    let together = embedder.embed_tokens(&texts, Side::Query).unwrap();
    for (text, together) in texts.iter().zip(&together) {
        let alone = embedder.embed_tokens(&[text], Side::Query).unwrap();
        assert_eq!(&alone[0], together);
    }
}

/// EM-07: the same text alone and beside a long one. Others promise a cosine of 0.999; ours is the
/// same vector.
#[test]
fn em_07_a_text_beside_a_long_one_is_the_same_vector() {
    let long = "很长的一段".repeat(60);
    let options = BertOptions {
        truncation: Truncation::Right,
        ..BertOptions::default()
    };
    let cut = open(&data("tiny-bge"), &options);
    let check = |provider: &BertEmbeddingProvider| {
        let alone = provider.embed(&["短句"]).unwrap();
        let batch = provider.embed(&["短句", &long]).unwrap();
        assert_eq!(bits(alone.row(0)), bits(batch.row(0)));
        assert!(batch.row(0) != batch.row(1));
    };
    check(&cut);
    minilm().into_iter().for_each(check);
}
