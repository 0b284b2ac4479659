//! Written answers over a socket, from a server that misbehaves.

use std::sync::Arc;
use std::time::Duration;

use cornu::chat::{Chat, Doubt, OnFailure};
use cornu::remote::{Endpoint, OpenAiChatOptions, OpenAiChatProvider, Policy};
use cornu::{Principal, RagError, Reason, Response};
use cornu_remote::testing::{Reply, Server};
use serde_json::{Value, json};

use crate::chat::{Desk, QUESTION, corpus};

fn completion(content: &Value, finish_reason: &str) -> Reply {
    Reply::json(&json!({
        "choices": [{ "message": { "content": content }, "finish_reason": finish_reason }]
    }))
}

fn chat(server: &Server, on_failure: OnFailure) -> Chat {
    let options = OpenAiChatOptions {
        policy: Policy {
            read: Duration::from_millis(300),
            total: Duration::from_secs(3),
            retries: 1,
            backoff: Duration::from_millis(5),
            ..Policy::default()
        },
        ..OpenAiChatOptions::default()
    };
    let endpoint = Endpoint::new(&server.url()).unwrap();
    let provider = OpenAiChatProvider::new(endpoint, "m", options).unwrap();
    Chat {
        on_failure,
        ..Chat::new(Arc::new(provider))
    }
}

/// What comes of a server's replies, and how often it was asked.
fn asked(replies: Vec<Reply>, on_failure: OnFailure) -> (Result<Response, RagError>, usize) {
    let server = Server::scripted(replies).unwrap();
    let desk = Desk::with(chat(&server, on_failure));
    let response = desk.ask(&Principal::public(), QUESTION);
    (response, server.requests().len())
}

#[test]
fn a_server_that_fails_is_an_error_or_a_visible_stand_in() {
    let slow = || completion(&json!("Late [1]."), "stop").after(Duration::from_secs(5));
    for (replies, requests, told) in [
        (vec![Reply::status(429, "slow down")], 2, "429"),
        (vec![Reply::status(500, "oops")], 2, "500"),
        (vec![Reply::status(401, "who?")], 1, "401"),
        (vec![Reply::text("<html>hello</html>")], 1, "JSON"),
        (vec![Reply::json(&json!({ "choices": [] }))], 1, "no choice"),
        (vec![completion(&Value::Null, "stop")], 1, "without content"),
        (
            vec![Reply::text(r#"{"choices":[{"message":{"content":"Each"#)],
            2,
            "cut off",
        ),
        (vec![slow()], 1, "no answer within"),
        (vec![Reply::hang_up()], 2, "gave up"),
    ] {
        let (response, asked_times) = asked(replies.clone(), OnFailure::Error);
        let error = response.unwrap_err();
        assert!(matches!(error, RagError::Chat { .. }), "{error}");
        assert!(error.to_string().contains(told), "{told}: {error}");
        assert_eq!(asked_times, requests, "{told}");
        let (response, _) = asked(replies, OnFailure::Extract);
        let response = response.unwrap();
        assert!(response.outcome.answer().is_some());
        let why = response.chat.unwrap().degraded.unwrap();
        assert!(why.contains(told), "{told}: {why}");
    }
}

#[test]
fn a_busy_server_is_asked_again() {
    let (response, requests) = asked(
        vec![
            Reply::status(429, "slow down"),
            completion(&json!("Each replica needs 24 GB of memory [1]."), "stop"),
        ],
        OnFailure::Error,
    );
    assert!(response.unwrap().outcome.written().is_some());
    assert_eq!(requests, 2);
}

#[test]
fn an_empty_or_a_cut_reply_is_no_failure() {
    let (response, _) = asked(vec![completion(&json!(""), "stop")], OnFailure::Error);
    let response = response.unwrap();
    let reason = &response.outcome.refusal().unwrap().reason;
    assert_eq!(*reason, Reason::NothingHeld { dropped: 0 });
    let text = "Each replica needs 24 GB of memory [1]. Lantern serves the Retr";
    let (response, _) = asked(vec![completion(&json!(text), "length")], OnFailure::Error);
    let response = response.unwrap();
    let answer = response.outcome.written().unwrap();
    assert_eq!(answer.text(), "Each replica needs 24 GB of memory [1].");
    let report = response.chat.unwrap();
    assert!(report.cut);
    assert_eq!(report.dropped[0].doubt, Doubt::Cut);
    assert_eq!(report.dropped[0].text, "Lantern serves the Retr");
}

#[test]
fn the_bytes_on_the_wire_are_those_of_an_index_without_the_hidden_document() {
    let reply = || completion(&json!("NO ANSWER"), "stop");
    let sent = |hidden: bool| {
        let server = Server::scripted([reply()]).unwrap();
        let mut documents = corpus();
        if !hidden {
            documents.retain(|one| one.acl().admits(&Principal::public()));
        }
        let desk = Desk::holding(&documents, chat(&server, OnFailure::Error));
        for question in [QUESTION, "What is the salary of the Lantern lead?"] {
            desk.ask(&Principal::public(), question).unwrap();
        }
        let requests = server.requests();
        requests
            .iter()
            .map(|one| one.body.clone())
            .collect::<Vec<_>>()
    };
    let whole = sent(true);
    assert!(!whole.is_empty());
    assert_eq!(whole, sent(false));
    for body in whole {
        assert!(!String::from_utf8(body).unwrap().contains("90000"));
    }
}
