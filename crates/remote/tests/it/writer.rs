//! A chat server as a `ChatProvider`.

use std::time::Duration;

use cornu_core::{ChatEnd, ChatPrompt, ChatProvider, ProviderError};
use cornu_remote::testing::{Reply, Server};
use cornu_remote::{Endpoint, OpenAiChatOptions, OpenAiChatProvider, RemoteError};
use serde_json::{Value, json};

use crate::quick;

const PROMPT: ChatPrompt<'static> = ChatPrompt {
    system: "Be brief.",
    user: "清空梯度？",
    max_tokens: 64,
};

fn provider(url: &str) -> OpenAiChatProvider {
    let options = OpenAiChatOptions {
        policy: quick(),
        ..OpenAiChatOptions::default()
    };
    OpenAiChatProvider::new(Endpoint::new(url).unwrap(), "some-model", options).unwrap()
}

fn completion(content: &str, finish_reason: &Value) -> Reply {
    Reply::json(&json!({
        "choices": [{ "message": { "content": content }, "finish_reason": finish_reason }]
    }))
}

#[test]
fn what_is_sent_is_the_prompt_and_the_settings() {
    let server = Server::scripted([completion("Yes.", &json!("stop"))]).unwrap();
    let model = provider(&server.url());
    let reply = model.complete(&PROMPT).unwrap();
    assert_eq!((reply.text.as_str(), reply.end), ("Yes.", ChatEnd::Whole));
    assert_eq!(
        server.requests()[0].json(),
        json!({
            "model": "some-model",
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "清空梯度？" },
            ],
            "temperature": 0.0, "max_tokens": 64, "seed": 0,
        })
    );
    // The same prompt, the same bytes.
    model.complete(&PROMPT).unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].body, requests[1].body);
}

#[test]
fn a_server_may_be_left_its_own_settings() {
    let server = Server::scripted([completion("Yes.", &json!("stop"))]).unwrap();
    let options = OpenAiChatOptions {
        temperature: None,
        seed: None,
        ..OpenAiChatOptions::default()
    };
    let endpoint = Endpoint::new(&server.url()).unwrap();
    let model = OpenAiChatProvider::new(endpoint, "m", options).unwrap();
    model.complete(&PROMPT).unwrap();
    let sent = server.requests()[0].json();
    assert!(sent.get("temperature").is_none() && sent.get("seed").is_none());
    assert_ne!(
        model.fingerprint(),
        provider(&server.url()).fingerprint(),
        "the settings are part of the name"
    );
}

#[test]
fn why_a_reply_ended_is_told() {
    for (reason, end) in [
        (json!("stop"), ChatEnd::Whole),
        (Value::Null, ChatEnd::Whole),
        (json!("length"), ChatEnd::Length),
        (
            json!("content_filter"),
            ChatEnd::Stopped {
                reason: "content_filter".to_owned(),
            },
        ),
    ] {
        let server = Server::scripted([completion("", &reason)]).unwrap();
        let reply = provider(&server.url()).complete(&PROMPT).unwrap();
        assert_eq!((reply.text.as_str(), reply.end), ("", end));
    }
}

#[test]
fn failures_are_errors_of_a_provider() {
    let failed = |replies: Vec<Reply>| {
        let server = Server::scripted(replies).unwrap();
        let error = provider(&server.url()).complete(&PROMPT).unwrap_err();
        (error, server.requests().len())
    };
    let (error, _) = failed(vec![Reply::text("<html>not here</html>")]);
    assert!(matches!(error, ProviderError::Protocol { .. }), "{error}");
    let (error, _) = failed(vec![Reply::json(&json!({ "choices": [] }))]);
    assert!(matches!(error, ProviderError::Protocol { .. }), "{error}");
    for status in [429, 500] {
        let (error, asked) = failed(vec![Reply::status(status, "busy")]);
        let ProviderError::Failed { source, .. } = error else {
            panic!("{error}");
        };
        let source = source.downcast::<RemoteError>().unwrap();
        assert_eq!((source.status(), asked), (Some(status), 3));
    }
    let (error, asked) = failed(vec![Reply::text("{}").after(Duration::from_secs(3))]);
    assert!(error.to_string().contains("no answer within"), "{error}");
    assert_eq!(asked, 1, "a silent server is not asked twice");
    let mended = Server::scripted([
        Reply::status(503, "starting"),
        completion("Yes.", &json!("stop")),
    ])
    .unwrap();
    let reply = provider(&mended.url()).complete(&PROMPT).unwrap();
    assert_eq!(reply.text, "Yes.");
}

#[test]
fn what_cannot_be_used_is_told_before_anything_is_sent() {
    let options = OpenAiChatOptions::default;
    let far = Endpoint::new("https://chat.example.org/v1").unwrap();
    let far = OpenAiChatProvider::new(far, "m", options()).unwrap();
    assert!(far.leaves_machine());
    let plain = Endpoint::new("http://chat.example.org/v1").unwrap();
    let error = OpenAiChatProvider::new(plain, "m", options()).unwrap_err();
    assert!(
        matches!(error, ProviderError::Unavailable { .. }),
        "{error}"
    );
    let near = Endpoint::new("http://localhost:9").unwrap();
    assert!(OpenAiChatProvider::new(near, " ", options()).is_err());
    let keyed = Endpoint::new("https://chat.example.org/v1").unwrap();
    let keyed = keyed.with_key("a-secret").unwrap();
    let keyed = OpenAiChatProvider::new(keyed, "m", options()).unwrap();
    let shown = format!("{keyed:?} {}", keyed.fingerprint());
    assert!(!shown.contains("a-secret"), "{shown}");
}
