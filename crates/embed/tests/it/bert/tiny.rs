//! Small random checkpoints as transformers writes them, against transformers: CLS pooling in the
//! file layout of BGE, token vectors, and the classification heads of both families.

use cornu_core::{EmbeddingProvider, PairScorer, ProviderError, Side, TokenEmbedder};
use cornu_embed::bert::{BertEmbeddingProvider, BertOptions, BertPairScorer, Pooling};

use super::configuration::copy;
use super::opened::{open, tiny};
use super::{data, floats, json};

const TOLERANCE: f32 = 1e-5;

fn rows(folder: &str) -> Vec<serde_json::Value> {
    json(&data(folder).join("oracle.json"))["rows"]
        .as_array()
        .unwrap()
        .clone()
}

fn text(row: &serde_json::Value, field: &str) -> String {
    row[field].as_str().unwrap().to_owned()
}

fn close<'a>(ours: impl IntoIterator<Item = &'a f32>, theirs: &[f32], what: &str) {
    let ours: Vec<f32> = ours.into_iter().copied().collect();
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!(
            (ours - theirs).abs() <= TOLERANCE,
            "{what}: {ours} for {theirs}"
        );
    }
}

#[test]
fn bge_layout_with_cls_pooling_gives_transformers_vectors() {
    let rows = rows("tiny-bge");
    let texts: Vec<String> = rows.iter().map(|row| text(row, "text")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let embeddings = tiny().embed_counted(&texts).unwrap();
    for ((row, ours), count) in rows
        .iter()
        .zip(embeddings.vectors.rows())
        .zip(&embeddings.tokens)
    {
        close(ours, &floats(&row["cls"]), &row["text"].to_string());
        assert_eq!(count.total + 2, row["ids"].as_array().unwrap().len());
    }
}

/// The same weights with the other pooling: right shape, right norm, wrong vectors.
#[test]
fn em_05_the_other_pooling_would_be_noticed() {
    let options = BertOptions {
        pooling: Some(Pooling::Mean),
        ..BertOptions::default()
    };
    let mean = open(&data("tiny-bge"), &options);
    let text = "大模型的训练目标是什么";
    let (mean, cls) = (mean.embed(&[text]).unwrap(), tiny().embed(&[text]).unwrap());
    assert!(mean.row(0).dot(&cls.row(0)) < 0.99);
}

#[test]
fn token_vectors_are_transformers_hidden_states() {
    let embedder = tiny().token_embedder();
    for row in rows("tiny-bge") {
        let text = text(&row, "text");
        let tokens = embedder
            .embed_tokens(&[&text], Side::Document)
            .unwrap()
            .remove(0);
        close(&tokens.vectors, &floats(&row["tokens"]), &text);
        assert_eq!(tokens.vectors.nrows(), tokens.spans.len());
        assert!(tokens.spans[0].is_none() && tokens.spans.last().unwrap().is_none());
        for span in tokens.spans.iter().flatten() {
            assert!(span.slice(&text).is_some_and(|part| !part.is_empty()));
        }
    }
}

fn pair_scores(folder: &str) {
    let scorer = BertPairScorer::open(data(folder).to_str().unwrap(), &BertOptions::default());
    let scorer = scorer.unwrap();
    let rows = rows(folder);
    let query = text(&rows[0], "query");
    let documents: Vec<String> = rows.iter().map(|row| text(row, "document")).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let scores = scorer.score(&query, &documents).unwrap();
    for (row, score) in rows.iter().zip(&scores) {
        let theirs = row["score"].as_f64().unwrap() as f32;
        assert!(
            (score - theirs).abs() <= TOLERANCE * theirs.abs().max(1.0),
            "{score} {theirs}"
        );
    }
    assert!(
        scores
            .windows(2)
            .any(|pair| (pair[0] - pair[1]).abs() > 0.01)
    );
    // One by one, the same bits.
    for (document, score) in documents.iter().zip(&scores) {
        assert_eq!(scorer.score(&query, &[document]).unwrap(), [*score]);
    }
    assert!(scorer.score(&query, &[]).unwrap().is_empty());
    // The document is cut, the query is not.
    let long = "the model is ".repeat(100);
    let cut = scorer
        .score(&query, &[&long, &format!("{long} train")])
        .unwrap();
    assert_eq!(cut[0], cut[1]);
    let error = scorer.score(&long, &["a"]).unwrap_err();
    assert!(matches!(error, ProviderError::TooLong { .. }), "{error}");
}

#[test]
fn bert_pair_scores_are_transformers_logits() {
    pair_scores("tiny-bert-pair");
}

#[test]
fn xlm_roberta_pair_scores_are_transformers_logits() {
    pair_scores("tiny-xlmr-pair");
}

/// Gates half open, changes in every linear layer, a head of random values: the whole formula.
#[test]
fn adapter_scores_are_those_of_transformers_layers() {
    let options = BertOptions::default();
    let (base, adapter) = (data("tiny-bge"), data("tiny-adapter"));
    let scorer = BertPairScorer::load_with_adapter(&base, &adapter, &options).unwrap();
    let rows = rows("tiny-adapter");
    let query = text(&rows[0], "query");
    let documents: Vec<String> = rows.iter().map(|row| text(row, "document")).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let scores = scorer.score(&query, &documents).unwrap();
    for (row, score) in rows.iter().zip(&scores) {
        let theirs = row["score"].as_f64().unwrap() as f32;
        assert!(
            (score - theirs).abs() <= TOLERANCE * theirs.abs().max(1.0),
            "{score} {theirs}"
        );
    }
    let apart = |pair: &[f32]| (pair[0] - pair[1]).abs() > 0.01;
    assert!(scores.windows(2).any(apart));
}

#[test]
fn weights_of_another_shape_and_ids_without_a_row_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    copy(&data("tiny-bge"), folder.path());
    let open = || BertEmbeddingProvider::open(folder.path().to_str().unwrap(), &Default::default());
    let config = folder.path().join("config.json");
    let original = std::fs::read_to_string(&config).unwrap();
    std::fs::write(
        &config,
        original.replace(r#""vocab_size": 97"#, r#""vocab_size": 98"#),
    )
    .unwrap();
    let error = open().err().unwrap().to_string();
    assert!(
        error.contains("word_embeddings") && error.contains("[98, 32]"),
        "{error}"
    );
    std::fs::write(&config, original).unwrap();
    let tokenizer = folder.path().join("tokenizer.json");
    let json = std::fs::read_to_string(&tokenizer).unwrap();
    assert!(json.contains(r#""gradient":"#));
    let at = json.find(r#""gradient":"#).unwrap() + r#""gradient":"#.len();
    std::fs::write(&tokenizer, format!("{}9{}", &json[..at], &json[at..])).unwrap();
    let error = open()
        .unwrap()
        .embed(&["gradient"])
        .unwrap_err()
        .to_string();
    assert!(error.contains("different models"), "{error}");
}
