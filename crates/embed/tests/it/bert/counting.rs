//! Counting and fitting in a model's tokens.

use cornu_core::TokenCounter;
use cornu_core::testing::proptest::prelude::*;
use cornu_embed::bert::{BertTokenizer, EncodeError, HfTokenCounter, Truncation};

use super::data;

fn wordpiece() -> BertTokenizer {
    BertTokenizer::open(&data("tiny-bge/tokenizer.json")).unwrap()
}

fn unigram() -> BertTokenizer {
    BertTokenizer::open(&data("tiny-xlmr-pair/tokenizer.json")).unwrap()
}

/// The trait's promises, for texts made of what these vocabularies know and do not know.
fn check(counter: &HfTokenCounter, text: &str, limit: usize) {
    assert_eq!(counter.count(""), 0);
    let whole = counter.count(text);
    let end = counter.fit(text, limit);
    assert!(text.is_char_boundary(end));
    assert!(counter.count(&text[..end]) <= limit);
    if let Some(next) = text[end..].chars().next() {
        assert!(
            counter.count(&text[..end + next.len_utf8()]) > limit,
            "{text:?} {limit} {end}"
        );
    }
    for (at, _) in text.char_indices() {
        let part = counter.count(&text[..at]);
        assert!(part <= whole + counter.slack(), "{part} > {whole}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn fit_holds_as_much_as_it_can(
        text in "([a-z]{1,9}| |gradient|gradients|大模型|梯度|，|\n|☃|é){0,40}",
        limit in 0_usize..50,
    ) {
        for tokenizer in [wordpiece(), unigram()] {
            check(&HfTokenCounter::new(tokenizer.into()), &text, limit);
        }
    }
}

#[test]
fn a_word_that_is_too_long_is_one_token_and_its_start_is_not() {
    let counter = HfTokenCounter::new(wordpiece().into());
    let word = "q".repeat(101);
    assert_eq!(counter.count(&word), 1);
    assert_eq!(counter.count(&word[..100]), 100);
    assert!(100 <= 1 + counter.slack());
    check(&counter, &word, 7);
}

/// EM-02: this file asks for padding and truncation to 8 tokens. Neither is taken over.
#[test]
fn em_02_padding_and_truncation_of_the_file_are_switched_off() {
    let text = std::fs::read_to_string(data("tiny-bge/tokenizer.json")).unwrap();
    assert!(text.contains(r#""padding":{"strategy":{"Fixed":8}"#));
    assert!(text.contains(r#""truncation":{"direction":"Right","max_length":8"#));
    let tokenizer = wordpiece();
    assert_eq!(tokenizer.ids("the").unwrap().len(), 1);
    assert_eq!(tokenizer.ids(&"the ".repeat(20)).unwrap().len(), 20);
}

#[test]
fn truncation_keeps_the_prefix_and_the_side_that_was_asked_for() {
    let tokenizer = wordpiece();
    let encode = |truncation| tokenizer.encode("the model is 大", "query ", 6, truncation);
    let refused = encode(Truncation::Error);
    assert!(matches!(
        refused,
        Err(EncodeError::TooLong { total: 4, room: 3 })
    ));
    let right = encode(Truncation::Right).unwrap();
    let left = encode(Truncation::Left).unwrap();
    let ids = |text: &str| tokenizer.ids(text).unwrap();
    let around = |text: &str| [vec![2], ids("query"), ids(text), vec![3]].concat();
    assert_eq!(right.ids, around("the model is"));
    assert_eq!(left.ids, around("model is 大"));
    assert_eq!((left.count.kept, left.count.total), (3, 4));
    // Spans are of the text, not of what was put before it.
    let spans: Vec<_> = left
        .spans
        .iter()
        .flatten()
        .map(|span| span.start()..span.end())
        .collect();
    assert_eq!(spans, [4..9, 10..12, 13..16]);
    assert_eq!(left.spans.iter().filter(|span| span.is_none()).count(), 3);
    let no_room = tokenizer.encode("the", "query ", 3, Truncation::Right);
    assert!(matches!(no_room, Err(EncodeError::NoRoom { limit: 3 })));
}

#[test]
fn a_pair_loses_the_end_of_its_document_and_never_of_its_query() {
    let tokenizer = wordpiece();
    let pair = tokenizer
        .encode_pair("what is", "the model the model", 8)
        .unwrap();
    let ids = |text: &str| tokenizer.ids(text).unwrap();
    let expected = [
        vec![2],
        ids("what is"),
        vec![3],
        ids("the model the"),
        vec![3],
    ]
    .concat();
    assert_eq!(pair.ids, expected);
    assert_eq!(pair.types, [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!((pair.count.kept, pair.count.total), (3, 4));
    let refused = tokenizer.encode_pair("what is the model the", "the", 8);
    assert!(matches!(refused, Err(EncodeError::TooLong { .. })));
}
