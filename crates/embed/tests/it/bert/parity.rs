//! Published weights against the implementations that people use: cosines with what
//! `tests/data/make_oracles.py` recorded.

use cornu_core::EmbeddingProvider;

use super::opened::{e5, minilm};
use super::{cosine, data, floats, json, oracle_texts};

#[test]
fn minilm_vectors_are_sentence_transformers() {
    let Some(provider) = minilm() else { return };
    let oracle = json(&data("minilm.json"));
    let theirs = floats(&oracle["vectors"]);
    let texts = oracle_texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert!(texts.len() >= 50);
    let embeddings = provider.embed_counted(&texts).unwrap();
    let width = provider.dimension();
    assert_eq!(theirs.len(), texts.len() * width);
    for ((text, ours), theirs) in texts
        .iter()
        .zip(embeddings.vectors.rows())
        .zip(theirs.chunks(width))
    {
        let cosine = cosine(ours.iter().copied(), theirs.iter().copied());
        assert!(cosine >= 0.99999, "{cosine} for {text:?}");
    }
    // Both were cut at 256 tokens: the texts that are longer are the last two, and ours says so.
    assert_eq!(embeddings.truncated().last(), Some(texts.len() - 1));
    assert!(embeddings.truncated().count() >= 2);
}

#[test]
fn e5_vectors_are_those_of_the_packages_engine() {
    let Some(provider) = e5() else { return };
    let oracle = json(&data("e5.json"));
    let (passages, queries) = (floats(&oracle["passages"]), floats(&oracle["queries"]));
    let texts = oracle_texts();
    let rows = oracle["ids"].as_array().unwrap();
    let width = provider.dimension();
    let mut compared = 0;
    for (at, (text, row)) in texts.iter().zip(rows).enumerate() {
        // The engine reads other tokens in a few texts (see `packed`), and slides a window over
        // those that are longer than the model takes.
        if row.get("engine").is_some() || row["ids"].as_array().unwrap().len() > 510 {
            continue;
        }
        compared += 1;
        let ours = provider.embed(&[text]).unwrap();
        let part = |of: &[f32]| of[at * width..(at + 1) * width].to_vec();
        let document = cosine(ours.row(0).iter().copied(), part(&passages));
        let query = cosine(provider.embed_query(text).unwrap(), part(&queries));
        assert!(document >= 0.999, "{document} for {text:?}");
        assert!(query >= 0.999, "{query} for {text:?}");
    }
    assert!(compared >= 60, "{compared}");
}
