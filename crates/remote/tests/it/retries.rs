//! What is tried again, how often, and after how long.

use std::time::{Duration, Instant, SystemTime};

use cornu_remote::testing::Reply;
use cornu_remote::{Policy, RemoteError};
use serde_json::json;

use crate::{call, last_of, quick};

#[test]
fn a_busy_server_is_asked_again_after_the_time_it_names() {
    let busy = Reply::status(429, "slow down").with_header("Retry-After", "1");
    let begun = Instant::now();
    let (result, requests) = call(vec![busy, Reply::text("7")], quick());
    assert_eq!(result.unwrap(), json!(7));
    assert_eq!(requests, 2);
    assert!(
        begun.elapsed() >= Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn retry_after_may_be_a_date() {
    let date = httpdate(SystemTime::now() + Duration::from_secs(2));
    let busy = Reply::status(503, "").with_header("Retry-After", &date);
    let begun = Instant::now();
    let (result, _) = call(vec![busy, Reply::text("7")], quick());
    assert_eq!(result.unwrap(), json!(7));
    assert!(
        begun.elapsed() >= Duration::from_millis(500),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_retry_after_beyond_the_cap_ends_the_call_at_once() {
    let busy = Reply::status(429, "quota").with_header("Retry-After", "3600");
    let begun = Instant::now();
    let (result, requests) = call(vec![busy], quick());
    let error = result.unwrap_err();
    assert!(
        error.to_string().contains("come back after 3600 s"),
        "{error}"
    );
    assert_eq!((error.status(), requests), (Some(429), 1));
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_wait_that_would_pass_the_total_is_not_begun() {
    let policy = Policy {
        total: Duration::from_millis(900),
        ..quick()
    };
    let busy = Reply::status(429, "").with_header("Retry-After", "1");
    let begun = Instant::now();
    let (result, requests) = call(vec![busy], policy);
    assert_eq!((result.unwrap_err().status(), requests), (Some(429), 1));
    assert!(
        begun.elapsed() < Duration::from_millis(900),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_server_in_trouble_for_good_is_given_up() {
    for code in [408, 429, 500, 502, 503, 504] {
        let (result, requests) = call(vec![Reply::status(code, "boom")], quick());
        let error = result.unwrap_err();
        assert!(
            matches!(&error, RemoteError::RetriesExhausted { attempts: 3, .. }),
            "{error:?}"
        );
        assert_eq!((error.status(), requests), (Some(code), 3));
        let RemoteError::Status { excerpt, .. } = last_of(error) else {
            panic!("no status")
        };
        assert_eq!(excerpt, "boom");
    }
}

#[test]
fn other_statuses_are_not_tried_again() {
    for code in [400, 401, 403, 404, 405, 409, 413, 422, 451, 501, 505] {
        let (result, requests) = call(vec![Reply::status(code, "no"), Reply::text("1")], quick());
        let error = result.unwrap_err();
        assert!(matches!(&error, RemoteError::Status { code: seen, .. } if *seen == code));
        assert_eq!(requests, 1, "{code}");
    }
}

#[test]
fn a_policy_without_retries_asks_once() {
    let policy = Policy {
        retries: 0,
        ..quick()
    };
    let (result, requests) = call(vec![Reply::status(500, "")], policy);
    assert!(matches!(
        result.unwrap_err(),
        RemoteError::Status { code: 500, .. }
    ));
    assert_eq!(requests, 1);
}

#[test]
fn an_error_after_a_retry_is_itself() {
    let (result, requests) = call(
        vec![Reply::status(500, ""), Reply::status(401, "")],
        quick(),
    );
    assert!(matches!(
        result.unwrap_err(),
        RemoteError::Status { code: 401, .. }
    ));
    assert_eq!(requests, 2);
}

/// IMF-fixdate by hand, so that the reader is not tested with its own writer.
fn httpdate(time: SystemTime) -> String {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    let mut year = 1970;
    let mut left = days;
    let leap = |y: u64| (y.is_multiple_of(4) && !y.is_multiple_of(100)) || y.is_multiple_of(400);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= months[month] {
        left -= months[month];
        month += 1;
    }
    let name = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let day = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7) as usize];
    format!(
        "{day}, {:02} {} {year} {:02}:{:02}:{:02} GMT",
        left + 1,
        name[month],
        clock / 3600,
        clock / 60 % 60,
        clock % 60
    )
}
