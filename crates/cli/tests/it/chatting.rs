//! `cornu ask --chat-endpoint`.

use cornu_remote::testing::{Reply, Server};
use serde_json::json;

use crate::program::Folder;

const QUESTION: &str = "When to call zero_grad?";
const HELD: &str = "Call `zero_grad` before each backward pass";

fn server(content: &str) -> Server {
    let reply = json!({
        "choices": [{ "message": { "content": content }, "finish_reason": "stop" }]
    });
    Server::scripted([Reply::json(&reply)]).unwrap()
}

fn flags(server: &Server, more: &str) -> String {
    let url = server.url();
    format!("--db all.db --public --chat-endpoint {url} --chat-model tiny {more}")
}

#[test]
fn a_model_writes_and_what_it_makes_up_is_left_out() {
    let folder = Folder::indexed();
    let server = server(&format!(
        "{HELD} [1]. It was invented in 1875 by Ada Moreno [1]."
    ));
    let run = folder.asks("ask", QUESTION, &flags(&server, "")).expect(0);
    assert!(run.out.starts_with(HELD), "{}", run.out);
    assert!(run.out.contains("\n[1] notes/"), "{}", run.out);
    assert!(!run.out.contains("1875"), "{}", run.out);
    assert!(
        run.err
            .contains("1 sentence of the model's reply was left out"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("1875"), "{}", run.err);
    let json = folder
        .asks("ask", QUESTION, &flags(&server, "--json"))
        .expect(0)
        .json();
    let written = &json["outcome"]["written"];
    assert_eq!(written["sentences"][0]["cites"], json!([1]));
    assert!(written["sources"][0]["citation"]["doc"].is_string());
    assert_eq!(json["chat"]["dropped"][0]["doubt"]["kind"], "missing");
    let sent = server.requests()[0].json();
    assert_eq!(
        (&sent["model"], &sent["max_tokens"]),
        (&json!("tiny"), &json!(512))
    );
    assert!(!sent.to_string().contains("salary"), "{sent}");
}

#[test]
fn a_refusal_does_not_reach_the_server() {
    let folder = Folder::indexed();
    let server = server("All is well [1].");
    let pay = "What is the salary band of senior engineers?";
    folder.asks("ask", pay, &flags(&server, "")).expect(3);
    assert_eq!(server.requests().len(), 0);
    let run = folder.asks("ask", QUESTION, &flags(&server, "")).expect(3);
    assert!(
        run.out.starts_with("No answer: the model wrote nothing"),
        "{}",
        run.out
    );
}

#[test]
fn a_server_that_fails_is_told() {
    let folder = Folder::indexed();
    let server = Server::scripted([Reply::status(401, "who are you?")]).unwrap();
    let run = folder.asks("ask", QUESTION, &flags(&server, "")).expect(2);
    assert!(run.err.contains("401"), "{}", run.err);
    // In the words of the flags, not of the library.
    assert!(run.err.contains("--chat-fallback"), "{}", run.err);
    assert!(!run.err.contains("OnFailure"), "{}", run.err);
    assert_eq!(run.out, "");
    let run = folder
        .asks("ask", QUESTION, &flags(&server, "--chat-fallback --quiet"))
        .expect(0);
    assert!(
        run.out.starts_with("The chat model gave no answer ("),
        "{}",
        run.out
    );
    assert!(run.out.contains(HELD), "{}", run.out);
    let run = folder
        .asks("ask", QUESTION, &flags(&server, "--chat-fallback --json"))
        .expect(0);
    let degraded = run.json()["chat"]["degraded"].as_str().unwrap().to_owned();
    assert!(degraded.contains("401"), "{degraded}");
}

#[test]
fn a_key_is_read_from_the_variable_that_is_named() {
    let folder = Folder::indexed();
    let server = server("NO ANSWER");
    let arguments = flags(&server, "--chat-key-env SOME_KEY");
    let run = folder.asks("ask", QUESTION, &arguments).expect(2);
    assert!(run.err.contains("SOME_KEY"), "{}", run.err);
    let mut command = folder.command();
    command.args(["ask", QUESTION]).args(arguments.split(' '));
    let output = command.env("SOME_KEY", "a-secret").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer a-secret"));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("a-secret"));
}

#[test]
fn what_leaves_the_machine_is_said() {
    let folder = Folder::indexed();
    let far = "--db all.db --chat-endpoint https://chat.example.invalid --chat-model tiny";
    let run = folder
        .asks("ask", QUESTION, &format!("{far} --public --group hr"))
        .expect(2);
    assert!(run.err.contains("--chat-send everything"), "{}", run.err);
    let plain = far.replace("https", "http");
    let run = folder
        .asks("ask", QUESTION, &format!("{plain} --public"))
        .expect(2);
    assert!(run.err.contains("plain HTTP"), "{}", run.err);
    for (half, other) in [
        ("--chat-endpoint http://localhost:9", "--chat-model"),
        ("--chat-model tiny", "--chat-endpoint"),
    ] {
        let run = folder
            .asks("ask", QUESTION, &format!("--db all.db --public {half}"))
            .expect(2);
        assert!(run.err.contains(other), "{}", run.err);
    }
}

#[test]
fn settings_name_a_model_and_a_file_in_the_folder_names_no_server() {
    let folder = Folder::indexed();
    let server = server("NO ANSWER");
    let settings = format!(
        "chat-endpoint = \"{}\"\nchat-model = \"tiny\"\n",
        server.url()
    );
    folder.write("chat.toml", &settings);
    folder
        .asks("ask", QUESTION, "--db all.db --public --config chat.toml")
        .expect(3);
    assert_eq!(server.requests()[0].json()["model"], "tiny");
    for line in [
        settings.lines().next().unwrap(),
        "chat-send = \"everything\"",
        "chat-key-env = \"AWS_SECRET_ACCESS_KEY\"",
    ] {
        folder.write("cornu.toml", line);
        let run = folder
            .asks("ask", QUESTION, "--db all.db --public")
            .expect(2);
        assert!(run.err.contains("--config"), "{}", run.err);
    }
    folder.write("cornu.toml", "chat-max-tokens = 64\nchat-fallback = true\n");
    folder.asks("ask", QUESTION, &flags(&server, "")).expect(3);
    assert_eq!(server.requests()[1].json()["max_tokens"], 64);
}
