//! Integration tests of `cornu-remote`, in one binary. The server is local and misbehaves.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod calls;
mod faults;
mod proxy;
mod retries;
mod secrets;
mod tls;
mod writer;

use std::time::{Duration, Instant};

use cornu_remote::testing::{Reply, Server};
use cornu_remote::{Client, Endpoint, Policy, RemoteError};
use serde_json::{Value, json};

/// Small waits, so that the tests are quick.
fn quick() -> Policy {
    Policy {
        connect: Duration::from_secs(2),
        read: Duration::from_millis(300),
        total: Duration::from_secs(5),
        retries: 2,
        backoff: Duration::from_millis(10),
        backoff_cap: Duration::from_millis(40),
        retry_after_cap: Duration::from_secs(2),
        max_reply_bytes: 1 << 20,
        seed: 1,
    }
}

fn client_of(server: &Server, policy: Policy) -> Client {
    Client::new(Endpoint::new(&server.url()).unwrap(), policy).unwrap()
}

/// What a client makes of these replies, and how many requests it made.
fn call(replies: Vec<Reply>, policy: Policy) -> (Result<Value, RemoteError>, usize) {
    let server = Server::scripted(replies).unwrap();
    let begun = Instant::now();
    let result = client_of(&server, policy).post_json("/x", &json!({ "a": 1 }));
    assert!(
        begun.elapsed() < Duration::from_secs(6),
        "took {:?}",
        begun.elapsed()
    );
    (result, server.requests().len())
}

fn last_of(error: RemoteError) -> RemoteError {
    match error {
        RemoteError::RetriesExhausted { last, .. } => *last,
        other => panic!("{other:?} is not RetriesExhausted"),
    }
}
