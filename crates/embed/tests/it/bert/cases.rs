//! Cases that other projects' users ran into.

use std::num::NonZeroUsize;

use cornu_core::{EmbeddingProvider, ProviderError, Side};
use cornu_embed::bert::{BertEmbeddingProvider, BertOptions, Truncation};

use super::configuration::copy;
use super::data;
use super::opened::{e5, minilm, open, tiny};

/// EM-01: two texts that differ behind the limit do not get one vector unnoticed.
#[test]
fn em_01_truncation_is_an_error_or_counted() {
    // The small vocabulary knows the endings' characters.
    let filler = "填充句子。".repeat(300);
    let (a, b) = (
        format!("{filler}密码是大模型。"),
        format!("{filler}密码是目标何。"),
    );
    match tiny().embed(&["短句", &a, &b]) {
        Err(ProviderError::TooLong {
            index: 1,
            tokens,
            limit: 190,
        }) => assert!(tokens > 1000),
        other => panic!("{other:?}"),
    }
    let error = tiny().embed_query(&a).unwrap_err();
    assert!(
        matches!(
            error,
            ProviderError::TooLong {
                index: 0,
                limit: 189,
                ..
            }
        ),
        "{error}"
    );

    let with = |truncation| {
        let options = BertOptions {
            truncation,
            ..BertOptions::default()
        };
        open(&data("tiny-bge"), &options)
            .embed_counted(&[&a, &b])
            .unwrap()
    };
    let right = with(Truncation::Right);
    assert_eq!(right.vectors.row(0), right.vectors.row(1)); // what the count is there to tell
    assert_eq!(right.truncated().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(right.tokens[0].kept, 190);
    let left = with(Truncation::Left);
    assert_ne!(left.vectors.row(0), left.vectors.row(1));
    assert_eq!(left.truncated().collect::<Vec<_>>(), [0, 1]);
}

/// EM-01, with the case's own texts.
#[test]
fn em_01_the_tail_is_not_lost_unnoticed_by_e5() {
    let Some(provider) = e5() else { return };
    let filler = "填充句子。".repeat(300);
    let (a, b) = (
        format!("{filler}密码是甲乙丙。"),
        format!("{filler}密码是子丑寅。"),
    );
    let embeddings = provider.embed_counted(&["短句", &a, &b]).unwrap();
    assert_eq!(embeddings.vectors.row(1), embeddings.vectors.row(2));
    assert_eq!(embeddings.truncated().collect::<Vec<_>>(), [1, 2]);
}

/// EM-01, with the limit that all-MiniLM-L6-v2 has in its own files: 256, not 512.
#[test]
fn em_01_the_models_own_limit_holds() {
    let Some(provider) = minilm() else { return };
    assert_eq!(provider.max_tokens(), 256);
    let embeddings = provider.embed_counted(&[&"word ".repeat(300)]).unwrap();
    assert_eq!(
        (embeddings.tokens[0].kept, embeddings.tokens[0].total),
        (254, 300)
    );
}

/// EM-02: 128 and 202 tokens in one batch, with a tokenizer file that pads to 128.
#[test]
fn em_02_lengths_beyond_a_files_fixed_padding() {
    let texts = ["the ".repeat(10), "the ".repeat(30)]; // the committed file pads to 8
    let embeddings = tiny().embed_counted(&[&texts[0], &texts[1]]).unwrap();
    assert_eq!(
        [10, 30].map(Some),
        [0, 1].map(|at| Some(embeddings.tokens[at].kept))
    );
    assert!(embeddings.vectors.row(0) != embeddings.vectors.row(1));
    let Some(provider) = minilm() else { return }; // its file pads and cuts at 128
    let texts = ["word ".repeat(126), "word ".repeat(200)];
    let embeddings = provider.embed_counted(&[&texts[0], &texts[1]]).unwrap();
    assert_eq!([126, 200], [0, 1].map(|at| embeddings.tokens[at].kept));
}

/// EM-03: `embed_query` and `embed` differ where the model has prefixes, and the fingerprint says
/// which.
#[test]
fn em_03_queries_and_documents_get_their_own_prefix() {
    let check = |provider: &BertEmbeddingProvider, query: &str, document: &str| {
        let text = "如何清空梯度";
        let as_query = provider.embed_query(text).unwrap();
        let as_document = provider.embed(&[text]).unwrap();
        assert_ne!(as_query, as_document.row(0));
        assert_eq!(provider.prefix(Side::Query), query);
        assert_eq!(provider.fingerprint().get("query_prefix"), Some(query));
        assert_eq!(
            provider.fingerprint().get("document_prefix"),
            Some(document)
        );
    };
    check(tiny(), "query ", "");
    // The preset's instruction is used where the model's files name none.
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("bge-small-zh-v1.5");
    copy(&data("tiny-bge"), &model);
    std::fs::remove_file(model.join("config_sentence_transformers.json")).unwrap();
    let options = BertOptions {
        models: Some(folder.path().to_owned()),
        ..BertOptions::default()
    };
    let bge = BertEmbeddingProvider::open("bge-small-zh-v1.5", &options).unwrap();
    check(&bge, "为这个句子生成表示以用于检索相关文章：", "");
    if let Some(provider) = e5() {
        check(provider, "query: ", "passage: ");
    }
}

/// EM-11: what changes vectors changes the fingerprint, although the dimension stays.
#[test]
fn em_11_fingerprints_tell_models_and_settings_apart() {
    let base = tiny().fingerprint().clone();
    let with = |options: BertOptions| open(&data("tiny-bge"), &options).fingerprint().clone();
    assert_eq!(base, with(BertOptions::default()));
    let same = BertOptions {
        threads: NonZeroUsize::new(1),
        rows_per_pack: NonZeroUsize::MIN,
        ..BertOptions::default()
    };
    assert_eq!(base, with(same));
    let changes = [
        BertOptions {
            query_prefix: Some("q ".into()),
            ..BertOptions::default()
        },
        BertOptions {
            document_prefix: Some("d ".into()),
            ..BertOptions::default()
        },
        BertOptions {
            truncation: Truncation::Left,
            ..BertOptions::default()
        },
        BertOptions {
            max_tokens: NonZeroUsize::new(20),
            ..BertOptions::default()
        },
        BertOptions {
            pooling: Some(cornu_embed::bert::Pooling::Mean),
            ..BertOptions::default()
        },
    ];
    for options in changes {
        assert_eq!(
            base.differences(&with(options.clone())).len(),
            1,
            "{options:?}"
        );
    }
    // Other weights under the same name.
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("tiny-bge");
    copy(&data("tiny-bge"), &model);
    let weights = model.join("model.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&weights, bytes).unwrap();
    let other = open(&model, &BertOptions::default()).fingerprint().clone();
    let differences = base.differences(&other);
    assert!(differences.len() == 1 && differences[0].starts_with("weights_sha256"));
    assert_ne!(base, *token_fingerprint());
}

fn token_fingerprint() -> Box<cornu_core::Fingerprint> {
    use cornu_core::TokenEmbedder;
    Box::new(tiny().token_embedder().fingerprint().clone())
}

#[test]
fn a_preset_that_is_not_there_says_how_to_get_it() {
    let empty = tempfile::tempdir().unwrap();
    let options = BertOptions {
        models: Some(empty.path().to_owned()),
        ..BertOptions::default()
    };
    let error = BertEmbeddingProvider::open("bge-small-en-v1.5", &options)
        .err()
        .unwrap();
    assert!(matches!(error, ProviderError::Unavailable { .. }));
    assert!(error.to_string().contains("cargo xtask setup"), "{error}");
}
