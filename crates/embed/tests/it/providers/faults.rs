//! A server that misbehaves: each fault has its error or is mended, in bounded time, and none
//! shows the key.

use std::time::{Duration, Instant};

use cornu_core::{EmbeddingProvider, Embeddings, ProviderError};
use cornu_embed::OpenAiOptions;
use cornu_remote::RemoteError;
use cornu_remote::testing::{Reply, Server};
use serde_json::{Value, json};

use super::{KEY, answer, gemini, openai, options};

fn ask(replies: impl IntoIterator<Item = Reply>) -> Result<Embeddings, ProviderError> {
    let server = Server::scripted(replies).unwrap();
    let small = OpenAiOptions {
        dimension: Some(2),
        ..options()
    };
    let provider = openai(&server, small);
    let begun = Instant::now();
    let result = provider.embed_counted(&["a", "b"]);
    assert!(
        begun.elapsed() < Duration::from_secs(6),
        "{:?}",
        begun.elapsed()
    );
    if let Err(error) = &result {
        let said = format!("{error} {error:?} {error:#?}");
        assert!(!said.contains(KEY), "{said}");
    }
    assert!(!format!("{provider:?}").contains(KEY));
    result
}

fn items(items: &[(usize, Value)]) -> Reply {
    let data = items
        .iter()
        .map(|(index, vector)| json!({ "index": index, "embedding": vector }));
    Reply::json(&json!({ "data": data.collect::<Vec<_>>() }))
}

fn good() -> Reply {
    items(&[(0, json!([3.0, 4.0])), (1, json!([0.0, 2.0]))])
}

fn source(error: ProviderError) -> RemoteError {
    match error {
        ProviderError::Failed { source, .. } => *source.downcast::<RemoteError>().unwrap(),
        other => panic!("{other:?} is not Failed"),
    }
}

fn last(error: ProviderError) -> RemoteError {
    match source(error) {
        RemoteError::RetriesExhausted { last, .. } => *last,
        other => panic!("{other:?} is not RetriesExhausted"),
    }
}

#[test]
fn a_shuffled_reply_is_put_in_order() {
    let shuffled = items(&[(1, json!([0.0, 2.0])), (0, json!([3.0, 4.0]))]);
    let embeddings = ask([shuffled]).unwrap();
    assert_eq!(embeddings.vectors, ndarray::arr2(&[[0.6, 0.8], [0.0, 1.0]]));
    assert_eq!(embeddings, ask([good()]).unwrap());
}

#[test]
fn wrong_replies_are_refused_whole() {
    let unit = || json!([1.0, 0.0]);
    for (reply, what) in [
        (items(&[(0, unit())]), "1 vectors for 2 texts"),
        (
            items(&[(0, unit()), (1, unit()), (2, unit())]),
            "3 vectors for 2 texts",
        ),
        (items(&[(0, unit()), (0, unit())]), "two vectors for text 0"),
        (
            items(&[(0, unit()), (7, unit())]),
            "a vector for text 7 of 2",
        ),
        (
            items(&[(0, unit()), (1, json!([1.0, 0.0, 0.0]))]),
            "text 1 has 3 dimensions, not 2",
        ),
        (
            items(&[(0, json!([])), (1, unit())]),
            "text 0 has 0 dimensions, not 2",
        ),
        (
            items(&[(0, unit()), (1, json!([1.0, null]))]),
            "not the JSON expected",
        ),
        (
            Reply::text(r#"{"data":[{"index":0,"embedding":[NaN,1.0]}]}"#),
            "not the JSON expected",
        ),
        (Reply::text("<html>nginx</html>"), "<html>nginx"),
        (
            Reply::json(&json!({ "detail": "no such model" })),
            "no such model",
        ),
    ] {
        let error = ask([reply]).unwrap_err();
        assert!(matches!(error, ProviderError::Protocol { .. }), "{error:?}");
        assert!(error.to_string().contains(what), "{what}: {error}");
    }
}

#[test]
fn vectors_without_a_direction_are_refused() {
    let error = ask([items(&[(0, json!([1.0, 0.0])), (1, json!([0.0, 0.0]))])]).unwrap_err();
    assert!(
        matches!(
            error,
            ProviderError::BadVector {
                row: 1,
                what: "zero"
            }
        ),
        "{error:?}"
    );
    // A number that no f32 holds is refused while the reply is read.
    let error = ask([items(&[(0, json!([1e39, 0.0])), (1, json!([1.0, 0.0]))])]).unwrap_err();
    assert!(matches!(error, ProviderError::Protocol { .. }), "{error:?}");
    assert!(error.to_string().contains("out of range"), "{error}");
}

#[test]
fn a_position_is_that_in_the_call_and_not_in_the_batch() {
    let server = Server::start(|_, request| {
        let text = request.json()["input"][0]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let x = if text.ends_with("bad") { 0.0 } else { 1.0 };
        items(&[(0, json!([x, 0.0]))])
    })
    .unwrap();
    let one = OpenAiOptions {
        dimension: Some(2),
        batch_size: 1,
        ..options()
    };
    let error = openai(&server, one)
        .embed(&["a", "b", "bad", "c", "bad"])
        .unwrap_err();
    assert!(
        matches!(error, ProviderError::BadVector { row: 2, .. }),
        "{error:?}"
    );
}

#[test]
fn a_failure_ends_the_sending() {
    let server = Server::scripted([Reply::status(401, "no")]).unwrap();
    let one = OpenAiOptions {
        batch_size: 1,
        concurrency: 2,
        ..options()
    };
    assert!(openai(&server, one).embed(&["a"; 100]).is_err());
    let requests = server.requests().len();
    assert!(requests <= 4, "{requests} requests after the first failure");
}

#[test]
fn a_busy_server_is_waited_for() {
    let busy = Reply::status(429, "slow down").with_header("Retry-After", "1");
    let begun = Instant::now();
    assert_eq!(ask([busy, good()]).unwrap(), ask([good()]).unwrap());
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[test]
fn a_server_in_trouble_for_good_is_given_up() {
    let error = last(ask([Reply::status(500, "boom")]).unwrap_err());
    assert!(
        matches!(error, RemoteError::Status { code: 500, .. }),
        "{error:?}"
    );
}

#[test]
fn a_wrong_key_is_said_at_once_and_not_repeated() {
    let error = source(ask([Reply::status(401, &format!("bad key {KEY}"))]).unwrap_err());
    assert!(
        matches!(&error, RemoteError::Status { code: 401, excerpt, .. } if excerpt == "bad key [secret]")
    );
}

#[test]
fn a_slow_server_times_out() {
    let error = source(ask([good().after(Duration::from_secs(60))]).unwrap_err());
    assert!(matches!(error, RemoteError::Timeout { .. }), "{error:?}");
}

#[test]
fn a_reply_cut_off_is_asked_for_again() {
    assert!(ask([good().cut_after(20), good()]).is_ok());
    let error = last(ask([good().cut_after(20)]).unwrap_err());
    assert!(
        matches!(error, RemoteError::Truncated { received: 20, .. }),
        "{error:?}"
    );
    assert!(ask([Reply::hang_up(), good()]).is_ok());
}

#[test]
fn a_redirect_is_refused() {
    let error =
        ask([Reply::status(308, "").with_header("Location", "https://example.org/v1/embeddings")]);
    let error = source(error.unwrap_err());
    assert!(
        matches!(error, RemoteError::Redirect { code: 308, .. }),
        "{error:?}"
    );
}

#[test]
fn an_endless_reply_is_refused() {
    let server = Server::scripted([Reply::endless()]).unwrap();
    let mut small = options();
    small.policy.max_reply_bytes = 100_000;
    let error = source(openai(&server, small).embed(&["a"]).unwrap_err());
    assert!(
        matches!(error, RemoteError::TooLarge { limit: 100_000, .. }),
        "{error:?}"
    );
}

#[test]
fn a_server_that_is_gone_is_named() {
    let server = Server::scripted([good()]).unwrap();
    let url = server.url();
    let provider = openai(&server, options());
    drop(server);
    let error = provider.embed_query("a").unwrap_err();
    assert!(error.to_string().contains(&url), "{error}");
    assert!(matches!(last(error), RemoteError::Connection { .. }));
}

#[test]
fn gemini_faults_have_the_same_errors() {
    for (reply, what) in [
        (json!({ "embeddings": [] }), "0 vectors for 1 texts"),
        (
            json!({ "embeddings": [{ "values": [1.0] }] }),
            "text 0 has 1 dimensions, not 128",
        ),
        (
            json!({ "embeddings": [{ "values": vec![0.0; 128] }] }),
            "is zero",
        ),
        (
            json!({ "embeddings": [{ "values": ["x"] }] }),
            "not the JSON expected",
        ),
    ] {
        let server = Server::scripted([Reply::json(&reply)]).unwrap();
        let provider = gemini(&server, 128);
        let error = provider.embed(&["a"]).unwrap_err();
        assert!(error.to_string().contains(what), "{what}: {error}");
        assert!(!format!("{error:?} {provider:?}").contains(KEY));
    }
    let server = Server::start(|number, request| match number {
        0 => Reply::status(503, "busy").with_header("Retry-After", "0"),
        1 => Reply::json(&answer(request)).cut_after(30),
        _ => Reply::json(&answer(request)),
    })
    .unwrap();
    assert!(gemini(&server, 128).embed(&["a"]).is_ok());
    let server =
        Server::scripted([Reply::status(400, &format!("API key not valid: {KEY}"))]).unwrap();
    let error = gemini(&server, 128).embed(&["a"]).unwrap_err();
    assert!(!format!("{error} {error:?}").contains(KEY));
    assert!(matches!(
        source(error),
        RemoteError::Status { code: 400, .. }
    ));
}
