//! A language model that misbehaves, on a local server.

use cornu_core::{Extractor, ProviderError};
use cornu_extract::{ChatExtractor, ChatOptions};
use cornu_remote::testing::{Reply, Server};
use cornu_remote::{Endpoint, Policy};
use serde_json::{Value, json};

const GOOD: &str = r#"{"entities":["Rome","Rome"],"triples":[{"subject":"Rome","predicate":"is in",
    "object":"Italy"}],"propositions":[{"text":"Rome is in Italy.","entities":["Rome","Italy"]}]}"#;

fn says(content: &str) -> Reply {
    finishes(content, "stop")
}

fn finishes(content: &str, reason: &str) -> Reply {
    Reply::json(&json!({
        "choices": [{ "message": { "content": content }, "finish_reason": reason }],
        "usage": { "total_tokens": 100 },
    }))
}

fn extractor(server: &Server, options: ChatOptions) -> ChatExtractor {
    let options = ChatOptions {
        policy: Policy::once(),
        concurrency: 1,
        ..options
    };
    ChatExtractor::new(Endpoint::new(&server.url()).unwrap(), "m", options).unwrap()
}

#[test]
fn a_good_answer_is_kept_as_it_is() {
    let server = Server::scripted([says(GOOD)]).unwrap();
    let extractor = extractor(&server, ChatOptions::default());
    let found = extractor.extract(&["Rome is in Italy."]).unwrap();
    assert_eq!(found[0].entities, ["Rome"]); // repeats count once
    assert_eq!(found[0].triples[0].object, "Italy");
    let sent = server.requests()[0].json();
    assert_eq!(sent["response_format"]["json_schema"]["strict"], true);
    assert_eq!(sent["temperature"], 0.0);
    assert_eq!(sent["messages"][1]["content"], "Rome is in Italy.");
    assert_eq!(
        (extractor.usage().calls, extractor.usage().tokens),
        (1, 100)
    );
}

#[test]
fn what_breaks_the_schema_is_repaired_once() {
    let empty = r#"{"entities":[],"triples":[{"subject":"","predicate":"p","object":"o"}],"propositions":[]}"#;
    let fenced = format!("Here you are:\n```json\n{GOOD}\n```");
    for wrong in [
        "I cannot.",
        "{\"entities\":[]}",
        "{",
        empty,
        r#"{"entities":[1],"triples":[],"propositions":[]}"#,
    ] {
        let server = Server::scripted([says(wrong), says(&fenced)]).unwrap();
        let extractor = extractor(&server, ChatOptions::default());
        assert_eq!(
            extractor.extract(&["t"]).unwrap()[0].triples.len(),
            1,
            "{wrong}"
        );
        assert_eq!(extractor.usage().repairs, 1);
        let again = server.requests()[1].json();
        assert_eq!(again["messages"][2]["content"], *wrong); // it sees what it said
        let reason: &Value = &again["messages"][3]["content"];
        assert!(
            reason
                .as_str()
                .unwrap()
                .starts_with("That answer cannot be used: ")
        );
    }
}

#[test]
fn an_answer_that_is_cut_is_not_believed() {
    let server = Server::scripted([finishes(GOOD, "length")]).unwrap();
    let extractor = extractor(&server, ChatOptions::default());
    let refused = extractor.extract(&["t"]).unwrap_err();
    assert!(
        matches!(&refused, ProviderError::Protocol { reason, .. } if reason.contains("cut")),
        "{refused}"
    );
    assert_eq!(extractor.usage().calls, 2);
}

#[test]
fn a_run_that_breaks_off_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let cached = || ChatOptions {
        cache: Some(folder.path().to_owned()),
        ..ChatOptions::default()
    };
    let texts = ["one", "two", "three"];
    let server = Server::scripted([says(GOOD), Reply::status(500, "down")]).unwrap();
    let first = extractor(
        &server,
        ChatOptions {
            identity: Some("same".into()),
            ..cached()
        },
    );
    assert!(first.extract(&texts).is_err());

    let server = Server::scripted([says(GOOD)]).unwrap();
    let second = extractor(
        &server,
        ChatOptions {
            identity: Some("same".into()),
            ..cached()
        },
    );
    assert_eq!(second.extract(&texts).unwrap().len(), 3);
    assert_eq!((second.usage().cached, second.usage().calls), (1, 2));

    // A third asks nothing; with other settings it asks again.
    let third = extractor(
        &server,
        ChatOptions {
            identity: Some("same".into()),
            ..cached()
        },
    );
    third.extract(&texts).unwrap();
    assert_eq!((third.usage().cached, third.usage().calls), (3, 0));
    let other = ChatOptions {
        identity: Some("same".into()),
        max_tokens: 9,
        ..cached()
    };
    let other = extractor(&server, other);
    other.extract(&texts).unwrap();
    assert_eq!(other.usage().calls, 3);

    // A broken file is asked for again, and no temporary name is left behind.
    let files: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(
        files
            .iter()
            .all(|file| file.extension().is_some_and(|end| end == "json"))
    );
    for file in &files {
        std::fs::write(file, "{").unwrap();
    }
    let mended = extractor(
        &server,
        ChatOptions {
            identity: Some("same".into()),
            ..cached()
        },
    );
    mended.extract(&texts).unwrap();
    assert_eq!(mended.usage().calls, 3);
}

#[test]
fn the_budget_ends_the_run() {
    let server = Server::scripted([says(GOOD)]).unwrap();
    let options = ChatOptions {
        token_budget: Some(150),
        ..ChatOptions::default()
    };
    let extractor = extractor(&server, options);
    let refused = extractor.extract(&["a", "b", "c", "d"]).unwrap_err();
    assert!(
        matches!(&refused, ProviderError::Unavailable { reason, .. } if reason.contains("150"))
    );
    assert_eq!(extractor.usage().calls, 2); // 0 and 100 were below it, 200 is not
}

#[test]
fn answers_come_in_the_order_of_the_texts() {
    let server = Server::start(|_, request| {
        let text = request.json()["messages"][1]["content"]
            .as_str()
            .unwrap_or("")
            .to_owned();
        let slow = u64::from(text == "t0") * 60;
        let answer = json!({ "entities": [text], "triples": [], "propositions": [] });
        says(&answer.to_string()).after(std::time::Duration::from_millis(slow))
    })
    .unwrap();
    let options = ChatOptions {
        concurrency: 4,
        policy: Policy::once(),
        ..ChatOptions::default()
    };
    let extractor =
        ChatExtractor::new(Endpoint::new(&server.url()).unwrap(), "m", options).unwrap();
    let texts: Vec<String> = (0..12).map(|at| format!("t{at}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = extractor.extract(&texts).unwrap();
    let names: Vec<&str> = found
        .iter()
        .map(|found| found.entities[0].as_str())
        .collect();
    assert_eq!(names, texts);
    assert!(extractor.extract(&[]).unwrap().is_empty());
    assert!(!extractor.leaves_machine());
    assert!(format!("{extractor:?}").contains("ChatExtractor"));
}

#[test]
fn a_server_that_is_gone_is_an_error() {
    let server = Server::scripted([Reply::hang_up()]).unwrap();
    let extractor = extractor(&server, ChatOptions::default());
    assert!(extractor.extract(&["t"]).is_err());
    assert_eq!(extractor.usage().calls, 0);
}
