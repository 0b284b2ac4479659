//! A hub on this machine, honest and not. Needs a real Python 3.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::Arc;

use xtask::setup::digest::sha_of_bytes;

use crate::world::{WEIGHTS, World, text};

/// git's blob sha1 of `{}`.
const GIT_OF_CONFIG: &str = "9e26dfeeb6e641a33dae4961196235bdb965b21b";

#[derive(Clone)]
struct Served {
    etag: String,
    /// Large files are described at a redirection, as hubs with a separate file store do.
    linked: bool,
    body: Vec<u8>,
    /// What the hub says the size is.
    stated: usize,
}

fn file(body: &[u8], etag: &str, linked: bool) -> Served {
    Served {
        etag: etag.to_owned(),
        linked,
        body: body.to_vec(),
        stated: body.len(),
    }
}

fn honest(model: &str) -> BTreeMap<String, Served> {
    let url = |name: &str| format!("/org/{model}/resolve/main/{name}");
    let weights = sha_of_bytes(WEIGHTS).to_string();
    BTreeMap::from([
        (url("config.json"), file(b"{}", GIT_OF_CONFIG, false)),
        (url("model.safetensors"), file(WEIGHTS, &weights, true)),
    ])
}

/// Serves files until the test process ends; gives the address.
fn serve(files: BTreeMap<String, Served>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let files = Arc::new(files);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let files = Arc::clone(&files);
            std::thread::spawn(move || answer(stream, &files));
        }
    });
    address
}

fn answer(mut stream: TcpStream, files: &BTreeMap<String, Served>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let request = lines.next().and_then(Result::ok).unwrap_or_default();
    for line in lines.by_ref() {
        if line.is_ok_and(|l| l.is_empty()) {
            break;
        }
    }
    let mut words = request.split(' ');
    let (method, url) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let stored = url.strip_prefix("/store");
    let head = match (url, files.get(stored.unwrap_or(url))) {
        ("/", _) => "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n".to_owned(),
        (_, None) => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n".to_owned(),
        (_, Some(f)) if f.linked && stored.is_none() => format!(
            "HTTP/1.1 302 Found\r\nLocation: /store{url}\r\nX-Linked-Etag: \"{}\"\r\n\
             X-Linked-Size: {}\r\nX-Repo-Commit: abc123\r\nContent-Length: 0\r\n",
            f.etag, f.stated
        ),
        (_, Some(f)) => format!(
            "HTTP/1.1 200 OK\r\nETag: W/\"{}\"\r\nContent-Length: {}\r\n",
            f.etag, f.stated
        ),
    };
    let body = match files.get(stored.unwrap_or(url)) {
        Some(f) if method == "GET" && (!f.linked || stored.is_some()) => f.body.clone(),
        _ => vec![],
    };
    let head = head + "Connection: close\r\n\r\n";
    // A client that hangs up early is one of the cases.
    let _ = stream.write_all(&[head.as_bytes(), &body].concat());
}

fn real_python() -> Option<String> {
    for name in ["python3", "python"] {
        let asked = Command::new(name)
            .args(["-c", "import sys; print(sys.executable)"])
            .output();
        if let Ok(output) = asked
            && output.status.success()
        {
            return Some(String::from_utf8(output.stdout).unwrap().trim().to_owned());
        }
    }
    let mut stderr = std::io::stderr(); // the test harness swallows `eprintln!` when a test passes
    writeln!(stderr, "SKIPPED the hub client: no Python 3 is on the PATH").unwrap();
    None
}

fn setup(world: &World, python: &str, hub: &str, args: &[&str]) -> Output {
    let mut command = world.xtask(&[&["setup"], args].concat());
    command
        .env("REAL_PYTHON", python)
        .env("HF_ENDPOINT", hub)
        .output()
        .unwrap()
}

#[test]
fn a_pinned_model_comes_from_a_hub_that_has_the_pinned_bytes() {
    let Some(python) = real_python() else { return };
    let world = World::new();
    let hub = serve(honest("mini"));
    let output = setup(&world, &python, &hub, &[]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("mini: hub 127.0.0.1:"), "{said}");
    assert!(said.contains("org/mini at abc123"), "{said}");
    assert_eq!(world.fetches("mini"), 0);
    let weights = std::fs::read(world.model("mini").join("model.safetensors")).unwrap();
    assert_eq!(weights, WEIGHTS);
    assert!(world.setup(&["--verify", "--offline"]).status.success());
}

#[test]
fn a_hub_with_other_bytes_is_passed_over_for_the_package() {
    let Some(python) = real_python() else { return };
    let weights = "/org/mini/resolve/main/model.safetensors";
    let lies: [(&str, Served); 4] = [
        // It says so itself.
        (
            "the hub has sha256",
            file(b"other!!", &sha_of_bytes(b"other!!").to_string(), true),
        ),
        // It states the pinned digest and sends something else.
        (
            "arrived, pinned is",
            file(b"other!!", &sha_of_bytes(WEIGHTS).to_string(), true),
        ),
        // It sends more than the pin allows.
        (
            "more than the 7 bytes",
            file(
                b"weights and more",
                &sha_of_bytes(WEIGHTS).to_string(),
                true,
            ),
        ),
        // It hangs up early.
        (
            "broke off",
            Served {
                stated: 7,
                ..file(b"wei", &sha_of_bytes(WEIGHTS).to_string(), true)
            },
        ),
    ];
    for (reason, lie) in lies {
        let world = World::new();
        let mut files = honest("mini");
        files.insert(weights.to_owned(), lie);
        let output = setup(&world, &python, &serve(files), &[]);
        let said = text(&output);
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains("mini: package mini 9.9 (hub 127.0.0.1:"),
            "{said}"
        );
        assert!(said.contains(reason), "{reason} is not in {said}");
        assert_eq!(world.fetches("mini"), 1);
    }
}

#[test]
fn an_optional_model_is_tried_only_when_asked_for_and_checked_against_the_hub() {
    let Some(python) = real_python() else { return };
    let world = World::new();
    let hub = serve(honest("extra"));
    assert!(setup(&world, &python, &hub, &["--quiet"]).status.success());
    assert!(!world.model("extra").exists());
    let output = setup(&world, &python, &hub, &["--with", "extra"]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(world.model("extra").join("config.json").is_file());

    let world = World::new();
    let mut files = honest("extra");
    let config = "/org/extra/resolve/main/config.json".to_owned();
    files.insert(config, file(b"[]", GIT_OF_CONFIG, false));
    let output = setup(&world, &python, &serve(files), &["--with", "extra"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the hub states 9e26dfee"), "{said}");
    assert!(said.contains("extra is nowhere to be had"), "{said}");
    assert!(!world.model("extra").exists());
}
