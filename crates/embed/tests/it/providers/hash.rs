//! The hash provider against its definition in Python, and what it can and cannot do.

use std::collections::BTreeMap;

use cornu_core::{EmbeddingProvider, ProviderError};
use cornu_embed::HashEmbeddingProvider;
use serde_json::Value;

/// Made by `tests/data/hash_reference.py`.
const ORACLE: &str = include_str!("../../data/hash_oracle.json");

#[test]
fn vectors_have_the_bits_of_the_python_definition() {
    let cases: Vec<Value> = serde_json::from_str(ORACLE).unwrap();
    assert!(cases.len() >= 200, "{} cases", cases.len());
    for case in &cases {
        let text = case["text"].as_str().unwrap();
        let dimension = case["dimension"].as_u64().unwrap() as usize;
        let bits = case["bits"].as_object().unwrap().iter();
        let bits: BTreeMap<usize, u32> = bits
            .map(|(at, bits)| (at.parse().unwrap(), bits.as_u64().unwrap() as u32))
            .collect();
        let provider = HashEmbeddingProvider::new(dimension).unwrap();
        let embeddings = provider.embed_counted(&[text]).unwrap();
        assert_eq!(
            embeddings.tokens[0].total as u64,
            case["tokens"].as_u64().unwrap(),
            "{text:?}"
        );
        for (at, x) in embeddings.vectors.row(0).iter().enumerate() {
            let expected = bits.get(&at).copied().unwrap_or(0);
            assert_eq!(x.to_bits(), expected, "{text:?} of {dimension} at {at}");
        }
    }
}

#[test]
fn what_has_no_token_or_cancels_is_the_empty_token() {
    let provider = HashEmbeddingProvider::default();
    let empty = provider.embed_query("").unwrap();
    for text in [" ", "。！", "🙂", "w6 w48"] {
        assert_eq!(provider.embed_query(text).unwrap(), empty, "{text:?}");
    }
    assert_ne!(provider.embed_query("w6").unwrap(), empty);
    assert_eq!(empty.iter().filter(|x| x.abs() == 1.0).count(), 1);
}

#[test]
fn nothing_is_cut_however_long() {
    let filler = "填充句子。".repeat(20_000);
    let texts = [
        format!("{filler}密码是甲乙丙。"),
        format!("{filler}密码是子丑寅。"),
    ];
    let provider = HashEmbeddingProvider::default();
    let embeddings = provider.embed_counted(&[&texts[0], &texts[1]]).unwrap();
    assert_ne!(embeddings.vectors.row(0), embeddings.vectors.row(1));
    assert_eq!(embeddings.truncated().count(), 0);
}

#[test]
fn signs_and_places_are_spread() {
    // 2,000 one-word texts: each place and each sign about as often as chance has it.
    let provider = HashEmbeddingProvider::new(8).unwrap();
    let mut counts = [[0_usize; 2]; 8];
    for number in 0..2_000 {
        let vector = provider.embed_query(&format!("word{number}")).unwrap();
        let place = vector.iter().position(|x| *x != 0.0).unwrap();
        counts[place][usize::from(vector[place] < 0.0)] += 1;
    }
    // Binomial(2000, 1/16): mean 125, standard deviation 10.8; five of them either way.
    let all = counts.iter().flatten();
    assert!(
        all.clone().all(|count| (71..=179).contains(count)),
        "{counts:?}"
    );
}

#[test]
fn synonyms_share_nothing_and_shared_words_do() {
    let provider = HashEmbeddingProvider::default();
    let cosine = |a: &str, b: &str| {
        provider
            .embed_query(a)
            .unwrap()
            .dot(&provider.embed_query(b).unwrap())
    };
    assert!(cosine("大模型", "LLM").abs() < 0.3);
    assert!(cosine("LLM 的训练目标", "llm 训练目标") > 0.8);
}

#[test]
fn too_few_dimensions_are_refused() {
    for dimension in [0, 1, 7] {
        let error = HashEmbeddingProvider::new(dimension).unwrap_err();
        assert!(
            matches!(error, ProviderError::Unavailable { .. }),
            "{error:?}"
        );
    }
    assert_eq!(
        HashEmbeddingProvider::new(8)
            .unwrap()
            .embed(&["a"])
            .unwrap()
            .dim(),
        (1, 8)
    );
}
