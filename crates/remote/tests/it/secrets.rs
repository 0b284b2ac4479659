//! Keys go into a header and nowhere else.

use cornu_remote::testing::{Reply, Server};
use cornu_remote::{Client, Endpoint, RemoteError};
use serde_json::{Value, json};

use crate::{last_of, quick};

const KEY: &str = "sk-live-0123456789abcdef";
const TENANT: &str = "tenant-9d1c";
const QUERY: &str = "query-77aa";

fn endpoint(server: &Server) -> Endpoint {
    Endpoint::new(&format!("{}/v1?sig={QUERY}", server.url()))
        .unwrap()
        .with_key(KEY)
        .unwrap()
        .with_header("x-tenant", TENANT)
        .unwrap()
}

fn assert_silent(shown: &str) {
    for secret in [KEY, TENANT, QUERY] {
        assert!(!shown.contains(secret), "{secret} is in {shown}");
    }
}

/// `Display` and `Debug` of an error and of everything it was caused by.
fn everything_said(error: &RemoteError) -> String {
    let mut out = format!("{error} {error:?} {error:#?}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        out.push_str(&format!(" {error} {error:?}"));
        cause = error.source();
    }
    out
}

#[test]
fn the_key_is_sent_and_not_shown() {
    let server = Server::scripted([Reply::text("1")]).unwrap();
    let client = Client::new(endpoint(&server), quick()).unwrap();
    let _: Value = client.post_json("/x", &json!({})).unwrap();
    let request = &server.requests()[0];
    assert_eq!(
        request.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(request.header("x-tenant"), Some(TENANT));
    assert_eq!(request.path, format!("/v1/x?sig={QUERY}"));
    assert_silent(&format!(
        "{client:?} {client:#?} {:?} {}",
        client.endpoint(),
        client.endpoint()
    ));
}

#[test]
fn no_error_shows_the_key_even_where_the_server_repeats_it() {
    let echo = format!("{{\"error\": \"bad key {KEY} of {TENANT}, {QUERY}\"");
    let replies = [
        Reply::status(401, &echo),
        Reply::status(400, &format!("{}{echo}", "x".repeat(290))),
        Reply::text(format!("<p>{echo}")),
        Reply::text(format!("\"{KEY}\" {KEY}")),
        Reply::status(307, "").with_header(
            "Location",
            &format!("https://elsewhere.example/{KEY}?a={QUERY}"),
        ),
        Reply::raw(format!("{KEY}\r\n\r\n")),
        Reply::text(&*echo).cut_after(60),
        Reply::status(503, &echo),
        Reply::hang_up(),
    ];
    for reply in replies {
        let server = Server::scripted([reply.clone()]).unwrap();
        let client = Client::new(endpoint(&server), quick()).unwrap();
        let error = client
            .post_json::<_, Vec<u8>>("/x", &json!({}))
            .unwrap_err();
        assert_silent(&everything_said(&error));
        let provider = error.into_provider("test");
        assert_silent(&format!("{provider} {provider:?}"));
    }
}

#[test]
fn a_value_of_the_query_is_struck_out_however_the_server_decodes_it() {
    let server = Server::scripted([Reply::status(
        401,
        "sent abc%2Bdef+1%2F, decoded abc+def+1/, as a form abc+def 1/",
    )])
    .unwrap();
    let url = format!("{}/v1?sig=abc%2Bdef+1%2F", server.url());
    let client = Client::new(Endpoint::new(&url).unwrap(), quick()).unwrap();
    let error = client.post_json::<_, Value>("/x", &json!({})).unwrap_err();
    let RemoteError::Status { excerpt, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(
        excerpt,
        "sent [secret], decoded [secret], as a form [secret]"
    );
    assert!(!everything_said(&error).contains("abc"), "{error:?}");
}

#[test]
fn a_401_is_not_tried_again_and_says_what_to_check() {
    let server = Server::scripted([Reply::status(401, &format!("no {KEY}"))]).unwrap();
    let client = Client::new(endpoint(&server), quick()).unwrap();
    let error = client.post_json::<_, Value>("/x", &json!({})).unwrap_err();
    let RemoteError::Status {
        code: 401, excerpt, ..
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!(excerpt, "no [secret]");
    assert!(error.to_string().contains("check the key"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_redirect_does_not_carry_the_key_to_another_host() {
    let thief = Server::scripted([Reply::text("1")]).unwrap();
    let server =
        Server::scripted([Reply::status(307, "").with_header("Location", &thief.url())]).unwrap();
    let client = Client::new(endpoint(&server), quick()).unwrap();
    let error = client.post_json::<_, Value>("/x", &json!({})).unwrap_err();
    assert!(
        matches!(error, RemoteError::Redirect { code: 307, .. }),
        "{error:?}"
    );
    assert!(thief.requests().is_empty());
}

#[test]
fn a_refused_connection_does_not_show_the_key() {
    let server = Server::scripted([Reply::text("1")]).unwrap();
    let endpoint = endpoint(&server);
    drop(server);
    let client = Client::new(endpoint, quick()).unwrap();
    let error = client.post_json::<_, Value>("/x", &json!({})).unwrap_err();
    assert_silent(&everything_said(&error));
    assert!(matches!(last_of(error), RemoteError::Connection { .. }));
}

#[test]
fn keys_that_cannot_be_sent_are_refused_and_not_shown() {
    let fresh = || Endpoint::new("https://host").unwrap();
    for bad in [
        format!("{KEY}\n"),
        format!("{KEY}\r\nX-Evil: 1"),
        String::new(),
        "  ".to_owned(),
    ] {
        let error = fresh().with_key(&bad).unwrap_err();
        assert!(matches!(error, RemoteError::Credential { .. }), "{error:?}");
        assert_silent(&everything_said(&error));
        let error = fresh().with_key_in("api-key", &bad).unwrap_err();
        assert_silent(&everything_said(&error));
    }
    for name in ["", "a b", "Host", "content-length"] {
        assert!(matches!(
            fresh().with_header(name, "v"),
            Err(RemoteError::Credential { .. })
        ));
    }
}

#[test]
fn a_key_may_come_from_the_environment() {
    // Cargo sets this one for every test.
    let set = Endpoint::new("https://host")
        .unwrap()
        .with_key_from_env("CARGO_PKG_NAME");
    assert!(format!("{:?}", set.unwrap()).contains("authorization"));
    let missing = "CORNU_TEST_VARIABLE_THAT_NOBODY_SETS";
    let error = Endpoint::new("https://host")
        .unwrap()
        .with_key_from_env(missing)
        .unwrap_err();
    assert!(error.to_string().contains(missing), "{error}");
}
