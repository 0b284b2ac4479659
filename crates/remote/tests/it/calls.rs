//! What is sent, and what is made of the replies.

use cornu_remote::gemini::{BatchRequest, TaskType};
use cornu_remote::openai::{ChatRequest, EmbeddingsRequest, Message, Role};
use cornu_remote::testing::{Reply, Server};
use cornu_remote::{Client, Endpoint, RemoteError};
use serde_json::{Value, json};

use crate::{client_of, quick};

fn embed(reply: &Value, texts: &[&str]) -> Result<Vec<Vec<f32>>, RemoteError> {
    let server = Server::scripted([Reply::json(reply)]).unwrap();
    let request = EmbeddingsRequest::new("m", texts.iter().copied());
    let reply = client_of(&server, quick()).embeddings(&request)?;
    Ok(reply.vectors)
}

fn item(index: usize, embedding: &Value) -> Value {
    json!({ "object": "embedding", "index": index, "embedding": embedding })
}

#[test]
fn an_embeddings_request_is_what_the_api_names() {
    let body = json!({ "data": [item(0, &json!([1.0, 0.0]))], "usage": { "prompt_tokens": 5 } });
    let server = Server::scripted([Reply::json(&body)]).unwrap();
    let mut request = EmbeddingsRequest::new("some-model", ["梯度\n\"清空\""]);
    request.dimensions = Some(2);
    let reply = client_of(&server, quick()).embeddings(&request).unwrap();
    assert_eq!(
        (reply.vectors, reply.prompt_tokens),
        (vec![vec![1.0, 0.0]], Some(5))
    );
    let sent = &server.requests()[0];
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str()),
        ("POST", "/v1/embeddings")
    );
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.header("accept"), Some("application/json"));
    assert!(sent.header("user-agent").unwrap().starts_with("cornu/"));
    assert_eq!(sent.header("authorization"), None);
    assert_eq!(
        sent.json(),
        json!({ "model": "some-model", "input": ["梯度\n\"清空\""], "dimensions": 2 })
    );
}

#[test]
fn vectors_come_in_the_order_of_the_request() {
    let shuffled =
        json!({ "data": [item(2, &json!([3.0])), item(0, &json!([1.0])), item(1, &json!([2.0]))] });
    assert_eq!(
        embed(&shuffled, &["a", "b", "c"]).unwrap(),
        [[1.0], [2.0], [3.0]]
    );
}

#[test]
fn a_wrong_count_or_number_is_a_wrong_reply() {
    let one = || json!([1.0]);
    for (data, what) in [
        (json!([item(0, &one())]), "1 vectors for 2 texts"),
        (json!([]), "0 vectors for 2 texts"),
        (
            json!([item(0, &one()), item(1, &one()), item(2, &one())]),
            "3 vectors for 2 texts",
        ),
        (
            json!([item(1, &one()), item(1, &one())]),
            "two vectors for text 1",
        ),
        (
            json!([item(0, &one()), item(2, &one())]),
            "a vector for text 2 of 2",
        ),
    ] {
        let error = embed(&json!({ "data": data }), &["a", "b"]).unwrap_err();
        assert!(matches!(error, RemoteError::Reply { .. }), "{error:?}");
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn null_text_and_base64_are_no_vectors() {
    for bad in [
        json!([1.0, null]),
        json!(["1.0"]),
        json!("AACAPw=="),
        json!(null),
    ] {
        let error = embed(&json!({ "data": [item(0, &bad)] }), &["a"]).unwrap_err();
        assert!(
            matches!(error, RemoteError::Json { .. }),
            "{bad}: {error:?}"
        );
    }
    let error = embed(
        &json!({ "error": { "message": "model not found" } }),
        &["a"],
    )
    .unwrap_err();
    assert!(error.to_string().contains("model not found"), "{error}");
}

#[test]
fn a_path_of_the_address_is_kept() {
    let body = json!({ "data": [item(0, &json!([1.0]))] });
    let server = Server::scripted([Reply::json(&body)]).unwrap();
    for (base, path) in [
        ("/", "/v1/embeddings"),
        ("/v1/", "/v1/embeddings"),
        ("/api/v3", "/api/v3/embeddings"),
    ] {
        let endpoint = Endpoint::new(&format!("{}{base}", server.url())).unwrap();
        let client = Client::new(endpoint, quick()).unwrap();
        client
            .embeddings(&EmbeddingsRequest::new("m", ["a"]))
            .unwrap();
        assert_eq!(server.requests().last().unwrap().path, path);
    }
}

#[test]
fn a_chat_is_sent_and_its_answer_read() {
    let server = Server::scripted([Reply::json(&json!({
        "id": "c1",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "清空梯度。" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13 },
    }))])
    .unwrap();
    let mut request = ChatRequest::new(
        "some-model",
        vec![
            Message::new(Role::System, "Be brief."),
            Message::new(Role::User, "zero_grad？"),
        ],
    );
    request.temperature = Some(0.0);
    request.max_tokens = Some(64);
    request.seed = Some(7);
    let reply = client_of(&server, quick()).chat(&request).unwrap();
    assert_eq!(
        (reply.content.as_str(), reply.tokens, reply.is_cut()),
        ("清空梯度。", Some(13), false)
    );
    let sent = &server.requests()[0];
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(
        sent.json(),
        json!({
            "model": "some-model",
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "zero_grad？" },
            ],
            "temperature": 0.0, "max_tokens": 64, "seed": 7,
        })
    );
}

#[test]
fn a_chat_without_an_answer_is_a_wrong_reply() {
    for body in [
        json!({ "choices": [] }),
        json!({ "choices": [{ "message": { "content": null } }] }),
        json!({ "choices": [{ "message": { "content": null, "refusal": "I would rather not." } }] }),
    ] {
        let server = Server::scripted([Reply::json(&body)]).unwrap();
        let request = ChatRequest::new("m", vec![Message::new(Role::User, "?")]);
        let error = client_of(&server, quick()).chat(&request).unwrap_err();
        assert!(matches!(error, RemoteError::Reply { .. }), "{error:?}");
    }
}

#[test]
fn a_gemini_batch_is_what_the_api_names() {
    let server = Server::scripted([Reply::json(
        &json!({ "embeddings": [{ "values": [1.0] }, { "values": [2.0] }] }),
    )])
    .unwrap();
    let request = BatchRequest {
        model: "gemini-embedding-001".into(),
        texts: vec!["a".into(), "b".into()],
        task: TaskType::RetrievalDocument,
        dimension: 128,
    };
    let vectors = client_of(&server, quick())
        .batch_embed_contents(&request)
        .unwrap();
    assert_eq!(vectors, [[1.0], [2.0]]);
    let sent = &server.requests()[0];
    assert_eq!(
        sent.path,
        "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    );
    let one = |text: &str| {
        json!({
            "model": "models/gemini-embedding-001",
            "content": { "parts": [{ "text": text }] },
            "taskType": "RETRIEVAL_DOCUMENT",
            "outputDimensionality": 128,
        })
    };
    assert_eq!(sent.json(), json!({ "requests": [one("a"), one("b")] }));
}

#[test]
fn a_gemini_reply_that_does_not_fit_is_refused() {
    let request = |model: &str| BatchRequest {
        model: model.into(),
        texts: vec!["a".into()],
        task: TaskType::RetrievalQuery,
        dimension: 128,
    };
    let server = Server::scripted([Reply::json(&json!({}))]).unwrap();
    let client = client_of(&server, quick());
    let error = client.batch_embed_contents(&request("m")).unwrap_err();
    assert!(
        error.to_string().contains("0 vectors for 1 texts"),
        "{error}"
    );
    for model in ["", "../x", "a:b", "a?b", "models/a"] {
        let error = client.batch_embed_contents(&request(model)).unwrap_err();
        assert!(
            matches!(error, RemoteError::Request { .. }),
            "{model}: {error:?}"
        );
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn connections_are_used_again() {
    let server = Server::scripted([Reply::text("1")]).unwrap();
    let client = client_of(&server, quick());
    for _ in 0..20 {
        let _: Value = client.post_json("/x", &json!({})).unwrap();
    }
    assert_eq!(server.requests().len(), 20);
    assert_eq!(server.connections(), 1);
}
