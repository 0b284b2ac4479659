//! Each way in which a server can fail has its error, within a bounded time.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use cornu_remote::error::Phase;
use cornu_remote::testing::Reply;
use cornu_remote::{Client, Endpoint, Policy, RemoteError};
use serde_json::{Value, json};

use crate::{call, last_of, quick};

#[test]
fn a_silent_server_times_out_and_is_not_asked_again() {
    let slow = Reply::text("{}").after(Duration::from_secs(30));
    let (result, requests) = call(vec![slow], quick());
    let error = result.unwrap_err();
    assert!(
        matches!(
            error,
            RemoteError::Timeout {
                phase: Phase::Read,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(error.to_string().contains("Policy::read"), "{error}");
    assert_eq!(requests, 1);
}

#[test]
fn a_server_that_drips_is_ended_by_the_total() {
    let policy = Policy {
        total: Duration::from_millis(700),
        ..quick()
    };
    let drip = Reply::text("[1,2,3,4,5,6,7,8,9]".repeat(9)).dripping(Duration::from_millis(50));
    let begun = Instant::now();
    let (result, _) = call(vec![drip], policy);
    let error = result.unwrap_err();
    assert!(
        matches!(
            error,
            RemoteError::Timeout {
                phase: Phase::Total,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(
        begun.elapsed() < Duration::from_secs(3),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_reply_cut_off_is_asked_for_again() {
    let whole = json!({ "ok": true });
    let (result, requests) = call(
        vec![Reply::json(&whole).cut_after(5), Reply::json(&whole)],
        quick(),
    );
    assert_eq!(result.unwrap(), whole);
    assert_eq!(requests, 2);
}

#[test]
fn a_reply_always_cut_off_is_truncated() {
    let (result, requests) = call(vec![Reply::json(&json!([1, 2, 3])).cut_after(4)], quick());
    let error = last_of(result.unwrap_err());
    assert!(
        matches!(error, RemoteError::Truncated { received: 4, .. }),
        "{error:?}"
    );
    assert_eq!(requests, 3);
}

#[test]
fn an_announced_length_that_is_too_large_is_truncated() {
    let (result, _) = call(vec![Reply::text("[1]").announcing(100)], quick());
    let error = last_of(result.unwrap_err());
    assert!(
        matches!(error, RemoteError::Truncated { received: 3, .. }),
        "{error:?}"
    );
}

#[test]
fn an_announced_length_that_is_too_small_is_truncated_json() {
    let (result, _) = call(vec![Reply::text("[1,2]").announcing(3)], quick());
    let error = last_of(result.unwrap_err());
    assert!(
        matches!(error, RemoteError::Truncated { received: 3, .. }),
        "{error:?}"
    );
}

#[test]
fn a_huge_reply_is_refused_by_its_announced_length() {
    let (result, requests) = call(vec![Reply::text("x").announcing(usize::MAX >> 1)], quick());
    let error = result.unwrap_err();
    assert!(
        matches!(
            error,
            RemoteError::TooLarge {
                limit: 1_048_576,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(requests, 1);
}

#[test]
fn an_endless_reply_is_refused_at_the_limit() {
    let begun = Instant::now();
    let (result, requests) = call(vec![Reply::endless()], quick());
    let error = result.unwrap_err();
    assert!(
        matches!(
            error,
            RemoteError::TooLarge {
                limit: 1_048_576,
                ..
            }
        ),
        "{error:?}"
    );
    // Far before the total: nothing beyond the limit is read.
    assert!(
        begun.elapsed() < Duration::from_secs(3),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(requests, 1);
}

#[test]
fn a_reply_of_exactly_the_limit_is_taken() {
    let policy = |limit| Policy {
        max_reply_bytes: limit,
        ..quick()
    };
    assert!(call(vec![Reply::text("[1,2]")], policy(5)).0.is_ok());
    let error = call(vec![Reply::text("[1,2]")], policy(4)).0.unwrap_err();
    assert!(
        matches!(error, RemoteError::TooLarge { limit: 4, .. }),
        "{error:?}"
    );
}

#[test]
fn a_web_page_is_not_json() {
    let page = format!("<html>{}</html>", "welcome ".repeat(500));
    let (result, requests) = call(vec![Reply::text(page)], quick());
    let error = result.unwrap_err();
    let RemoteError::Json { excerpt, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(excerpt.starts_with("<html>welcome"));
    assert_eq!(excerpt.chars().count(), RemoteError::EXCERPT_CHARS);
    assert_eq!(requests, 1);
}

#[test]
fn an_empty_reply_is_not_json() {
    let (result, requests) = call(vec![Reply::text("")], quick());
    assert!(matches!(result.unwrap_err(), RemoteError::Json { .. }));
    assert_eq!(requests, 1);
}

#[test]
fn nan_is_not_json() {
    let (result, _) = call(vec![Reply::text("[NaN]")], quick());
    assert!(matches!(result.unwrap_err(), RemoteError::Json { .. }));
}

#[test]
fn a_redirect_is_not_followed() {
    for code in [301, 302, 303, 307, 308] {
        let elsewhere =
            Reply::status(code, "").with_header("Location", "http://u:p@127.0.0.1:9/y?k=v");
        let (result, requests) = call(vec![elsewhere], quick());
        let error = result.unwrap_err();
        let RemoteError::Redirect {
            code: seen,
            location,
            ..
        } = &error
        else {
            panic!("{error:?}")
        };
        assert_eq!((*seen, location.as_str()), (code, "http://127.0.0.1:9/y"));
        assert_eq!(requests, 1);
    }
}

#[test]
fn a_refused_connection_is_tried_again_and_then_named() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let endpoint = Endpoint::new(&format!("http://{address}")).unwrap();
    let client = Client::new(endpoint, quick()).unwrap();
    let error = client.post_json::<_, Value>("/x", &json!(1)).unwrap_err();
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    assert!(
        matches!(&error, RemoteError::RetriesExhausted { attempts: 3, .. }),
        "{error:?}"
    );
    assert!(matches!(
        last_of(error),
        RemoteError::Connection {
            transient: true,
            ..
        }
    ));
}

#[test]
fn a_server_that_hangs_up_is_a_broken_connection() {
    let (result, requests) = call(vec![Reply::hang_up(), Reply::text("1")], quick());
    assert_eq!(result.unwrap(), json!(1));
    assert_eq!(requests, 2);
    let (result, _) = call(vec![Reply::hang_up()], quick());
    assert!(matches!(
        last_of(result.unwrap_err()),
        RemoteError::Connection { .. }
    ));
}

#[test]
fn what_is_not_http_is_not_tried_again() {
    let (result, requests) = call(vec![Reply::raw("SSH-2.0-OpenSSH_9.2\r\n\r\n")], quick());
    let error = result.unwrap_err();
    assert!(
        matches!(
            error,
            RemoteError::Connection {
                transient: false,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(requests, 1);
}

#[test]
fn plain_http_needs_this_machine_or_consent() {
    let far = || Endpoint::new("http://example.org").unwrap();
    let error = Client::new(far(), quick()).unwrap_err();
    assert!(matches!(error, RemoteError::Insecure { .. }), "{error:?}");
    let client = Client::new(far().allow_insecure(), quick()).unwrap();
    assert!(client.leaves_machine());
    let near = Client::new(Endpoint::new("http://[::1]:9").unwrap(), quick()).unwrap();
    assert!(!near.leaves_machine());
}

#[test]
fn addresses_that_cannot_be_used_are_refused_at_once() {
    for url in [
        "",
        "localhost:8080",
        "host/v1",
        "ftp://host",
        "http://",
        "https://u:p@host",
        "https://host/#x",
        "https://ho st",
    ] {
        let error = Endpoint::new(url).unwrap_err();
        assert!(matches!(error, RemoteError::Url { .. }), "{url}: {error:?}");
        assert!(!error.to_string().contains("u:p"), "{error}");
    }
}

#[test]
fn a_path_that_would_change_the_query_is_refused() {
    let client = Client::new(Endpoint::new("http://localhost:9").unwrap(), quick()).unwrap();
    for path in ["x", "/x?y", "/x#y"] {
        let error = client.post_json::<_, Value>(path, &json!(1)).unwrap_err();
        assert!(
            matches!(error, RemoteError::Request { .. }),
            "{path}: {error:?}"
        );
    }
}
