//! What the Gemini provider sends, and what it refuses.

use std::process::Command;

use cornu_core::{EmbeddingProvider, ProviderError};
use cornu_embed::{GeminiEmbeddingProvider, GeminiOptions};

use super::{KEY, embedding_server, gemini, sent_texts};

#[test]
fn the_key_is_in_a_header_and_not_in_the_address() {
    let server = embedding_server();
    gemini(&server, 256).embed(&["a"]).unwrap();
    let request = &server.requests()[0];
    assert_eq!(request.header("x-goog-api-key"), Some(KEY));
    assert_eq!(
        request.path,
        "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    );
    assert_eq!(request.header("authorization"), None);
    assert!(!String::from_utf8_lossy(&request.body).contains(KEY));
}

#[test]
fn tasks_and_dimensions_are_named() {
    let server = embedding_server();
    let provider = gemini(&server, 256);
    provider.embed(&["a", "b"]).unwrap();
    provider.embed_query("c").unwrap();
    let requests = server.requests();
    for (at, task) in [(0, "RETRIEVAL_DOCUMENT"), (1, "RETRIEVAL_QUERY")] {
        let body = requests[at].json();
        assert_eq!(body["requests"][0]["taskType"], task);
        assert_eq!(body["requests"][0]["outputDimensionality"], 256);
        assert_eq!(body["requests"][0]["model"], "models/gemini-embedding-001");
    }
    assert_eq!(sent_texts(&server), [vec!["a", "b"], vec!["c"]]);
}

#[test]
fn a_hundred_texts_go_at_once_and_no_more() {
    let server = embedding_server();
    gemini(&server, 128).embed(&["a"; 250]).unwrap();
    let mut sizes: Vec<usize> = sent_texts(&server).iter().map(Vec::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [50, 100, 100]);
}

#[test]
fn truncated_vectors_are_normalised_again() {
    let server = embedding_server();
    let provider = gemini(&server, 128);
    let norm = provider
        .embed_query("梯度")
        .unwrap()
        .mapv(|x| f64::from(x).powi(2))
        .sum()
        .sqrt();
    assert!((norm - 1.0).abs() < 1e-6, "{norm}");
    assert!((provider.server_norm_error() - 2.0).abs() < 1e-5);
}

#[test]
fn options_that_the_api_does_not_take_are_refused() {
    for bad in [
        GeminiOptions {
            dimension: 127,
            ..GeminiOptions::default()
        },
        GeminiOptions {
            dimension: 3073,
            ..GeminiOptions::default()
        },
        GeminiOptions {
            batch_size: 101,
            ..GeminiOptions::default()
        },
        GeminiOptions {
            batch_size: 0,
            ..GeminiOptions::default()
        },
        GeminiOptions {
            base_url: "http://example.org".into(),
            ..GeminiOptions::default()
        },
    ] {
        let error = GeminiEmbeddingProvider::new(KEY, bad).unwrap_err();
        assert!(
            matches!(error, ProviderError::Unavailable { .. }),
            "{error:?}"
        );
    }
    for key in ["", " ", "a\nb"] {
        let error = GeminiEmbeddingProvider::new(key, GeminiOptions::default()).unwrap_err();
        assert!(
            matches!(error, ProviderError::Unavailable { .. }),
            "{error:?}"
        );
    }
    let real = GeminiEmbeddingProvider::new(KEY, GeminiOptions::default()).unwrap();
    assert!(real.leaves_machine());
    assert!(!format!("{real:?}").contains(KEY));
}

/// The environment cannot be changed within a process safely, so this runs itself again in one
/// that has no key, and in one that has one.
#[test]
fn without_a_key_there_is_an_error_and_no_vector() {
    let run = |key: Option<&str>, test: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--ignored", "--exact", test])
            .env_remove("GEMINI_API_KEY");
        if let Some(key) = key {
            command.env("GEMINI_API_KEY", key);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
    };
    run(None, "providers::gemini::child_without_a_key");
    run(Some(" "), "providers::gemini::child_without_a_key");
    run(Some(KEY), "providers::gemini::child_with_a_key");
}

#[test]
#[ignore = "run by without_a_key_there_is_an_error_and_no_vector"]
fn child_without_a_key() {
    let error = GeminiEmbeddingProvider::from_env(GeminiOptions::default()).unwrap_err();
    assert!(
        matches!(error, ProviderError::Unavailable { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("GEMINI_API_KEY"), "{error}");
}

#[test]
#[ignore = "run by without_a_key_there_is_an_error_and_no_vector"]
fn child_with_a_key() {
    let server = embedding_server();
    let options = GeminiOptions {
        base_url: server.url(),
        ..GeminiOptions::default()
    };
    GeminiEmbeddingProvider::from_env(options)
        .unwrap()
        .embed_query("a")
        .unwrap();
    assert_eq!(server.requests()[0].header("x-goog-api-key"), Some(KEY));
}
