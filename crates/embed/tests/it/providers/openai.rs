//! What the provider for `/v1/embeddings` sends, and how it puts replies together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cornu_core::{EmbeddingProvider, ProviderError};
use cornu_embed::{OpenAiEmbeddingProvider, OpenAiOptions};
use cornu_remote::Endpoint;
use cornu_remote::testing::{Reply, Server};

use super::{KEY, answer, embedding_server, openai, options, sent_texts};

#[test]
fn texts_go_in_batches_and_rows_come_in_order() {
    // Early batches are answered late.
    let server = Server::start(|number, request| {
        Reply::json(&answer(request)).after(Duration::from_millis(60 - 10 * (number as u64).min(6)))
    })
    .unwrap();
    let texts: Vec<String> = (0..23)
        .map(|number| format!("text number {number}"))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let provider = openai(
        &server,
        OpenAiOptions {
            batch_size: 4,
            concurrency: 3,
            ..options()
        },
    );
    let together = provider.embed(&texts).unwrap();
    let mut sizes: Vec<usize> = sent_texts(&server).iter().map(Vec::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [3, 4, 4, 4, 4, 4]);
    let mut all: Vec<String> = sent_texts(&server).concat();
    all.sort();
    let mut expected: Vec<String> = texts
        .iter()
        .map(|text| format!("passage: {text}"))
        .collect();
    expected.sort();
    assert_eq!(all, expected);
    for (text, row) in texts.iter().zip(together.rows()) {
        assert_eq!(provider.embed(&[text]).unwrap().row(0), row, "{text}");
    }
    let one = openai(
        &server,
        OpenAiOptions {
            batch_size: 4,
            concurrency: 1,
            ..options()
        },
    );
    assert_eq!(one.embed(&texts).unwrap(), together);
}

#[test]
fn no_more_requests_are_in_flight_than_allowed() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let server = Server::start({
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        move |_, request| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(30));
            now.fetch_sub(1, Ordering::SeqCst);
            Reply::json(&answer(request))
        }
    })
    .unwrap();
    let provider = openai(
        &server,
        OpenAiOptions {
            batch_size: 1,
            concurrency: 3,
            ..options()
        },
    );
    provider.embed(&["a"; 12]).unwrap();
    let most = most.load(Ordering::SeqCst);
    assert!((2..=3).contains(&most), "{most} at a time");
}

#[test]
fn no_texts_are_no_request() {
    let server = embedding_server();
    assert_eq!(
        openai(&server, options()).embed(&[]).unwrap().dim(),
        (0, 64)
    );
    assert!(server.requests().is_empty());
}

#[test]
fn a_request_carries_model_key_and_no_dimensions_unless_asked() {
    let server = embedding_server();
    openai(&server, options()).embed(&["a", "b"]).unwrap();
    let shorten = OpenAiOptions {
        dimension: Some(32),
        shorten: true,
        ..options()
    };
    assert_eq!(
        openai(&server, shorten).embed(&["a"]).unwrap().dim(),
        (1, 32)
    );
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/embeddings");
    assert_eq!(
        requests[0].header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    let body = serde_json::json!({ "model": "test-model", "input": ["passage: a", "passage: b"] });
    assert_eq!(requests[0].json(), body);
    assert_eq!(requests[1].json()["dimensions"], 32);
}

#[test]
fn the_empty_text_is_sent_as_a_space() {
    let server = embedding_server();
    let bare = OpenAiOptions {
        query_prefix: String::new(),
        document_prefix: String::new(),
        ..options()
    };
    let provider = openai(&server, bare);
    provider.embed(&["", "a"]).unwrap();
    provider.embed_query("").unwrap();
    openai(&server, options()).embed(&[""]).unwrap();
    assert_eq!(
        sent_texts(&server),
        [vec![" ", "a"], vec![" "], vec!["passage: "]]
    );
}

#[test]
fn the_dimension_is_learnt_from_the_server() {
    let server = embedding_server();
    let connect = |options| {
        let endpoint = Endpoint::new(&server.url()).unwrap();
        OpenAiEmbeddingProvider::connect(endpoint, "m", options)
    };
    let learnt = connect(OpenAiOptions {
        dimension: None,
        ..options()
    })
    .unwrap();
    assert_eq!(learnt.dimension(), 64);
    assert_eq!(sent_texts(&server), [[OpenAiEmbeddingProvider::PROBE]]);
    let declared = connect(options()).unwrap();
    assert_eq!(learnt.fingerprint(), declared.fingerprint());
    let error = connect(OpenAiOptions {
        dimension: Some(65),
        ..options()
    })
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("64 dimensions, not the 65 declared"),
        "{error}"
    );
}

#[test]
fn options_that_make_no_sense_are_refused_before_anything_is_sent() {
    let server = embedding_server();
    for bad in [
        OpenAiOptions {
            dimension: None,
            ..options()
        },
        OpenAiOptions {
            dimension: Some(0),
            ..options()
        },
        OpenAiOptions {
            batch_size: 0,
            ..options()
        },
        OpenAiOptions {
            concurrency: 0,
            ..options()
        },
    ] {
        let endpoint = Endpoint::new(&server.url()).unwrap();
        let error = OpenAiEmbeddingProvider::new(endpoint, "m", bad).unwrap_err();
        assert!(
            matches!(error, ProviderError::Unavailable { .. }),
            "{error:?}"
        );
    }
    let endpoint = Endpoint::new(&server.url()).unwrap();
    let shorten = OpenAiOptions {
        dimension: None,
        shorten: true,
        ..options()
    };
    let error = OpenAiEmbeddingProvider::connect(endpoint, "m", shorten).unwrap_err();
    assert!(
        matches!(error, ProviderError::Unavailable { .. }),
        "{error:?}"
    );
    let far = Endpoint::new("http://example.org").unwrap();
    let error = OpenAiEmbeddingProvider::new(far, "m", options()).unwrap_err();
    assert!(
        matches!(error, ProviderError::Unavailable { .. }),
        "{error:?}"
    );
    assert!(server.requests().is_empty());
}

#[test]
fn whether_texts_leave_the_machine_is_told() {
    let at = |url: &str| {
        OpenAiEmbeddingProvider::new(Endpoint::new(url).unwrap(), "m", options())
            .unwrap()
            .leaves_machine()
    };
    assert!(!at("http://localhost:1"));
    assert!(at("https://example.org"));
}
