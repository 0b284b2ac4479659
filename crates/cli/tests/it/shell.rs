//! The program among others: pipes, help, completions, embedders.

use std::process::Stdio;

use crate::program::Folder;

#[test]
fn a_reader_who_has_gone_is_no_error() {
    let folder = Folder::indexed();
    for arguments in [
        &["search", "zero_grad", "--db", "all.db", "--public"][..],
        &[
            "search",
            "zero_grad",
            "--db",
            "all.db",
            "--public",
            "--json",
        ],
        &[
            "ask",
            "When to call zero_grad?",
            "--db",
            "all.db",
            "--public",
        ],
        &["stats", "--db", "all.db"],
        &["completions", "bash"],
        &["man"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = folder
            .command()
            .args(arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let err = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(0), "{arguments:?}: {err}");
        assert!(!err.contains("panic") && !err.contains("error"), "{err}");
    }
}

#[test]
fn the_help_tells_the_exit_codes_and_whose_commands_are_whose() {
    let folder = Folder::empty();
    let help = folder.run("--help").expect(0).out;
    for code in ["0  done", "1  done, but", "2  wrong usage", "3  refused"] {
        assert!(help.contains(code), "{help}");
    }
    for command in [
        "calibrate",
        "eval",
        "remove",
        "doctor",
        "stats",
        "rebuild-index",
    ] {
        let help = folder.run(&format!("{command} --help")).expect(0).out;
        assert!(help.starts_with("For the owner"), "{help}");
    }
    folder.run("").expect(2);
    folder.run("no-such-command").expect(2);
    folder.run("search q --db a.db -k 0").expect(2);
}

/// Each says which flag, which value, and what to give.
#[test]
fn values_that_are_none() {
    let folder = Folder::indexed();
    let db = ["--db", "all.db"];
    for (arguments, words) in [
        (
            &["search", "q", "-k"][..],
            "a value is required for '--top-k <K>'",
        ),
        (
            &["search", "q", "-k", "0"],
            "'0' for '--top-k <K>': give a whole number, at least 1",
        ),
        (
            &["search", "q", "-k", "-1"],
            "'-1' for '--top-k <K>': give a whole number, at least 1",
        ),
        (
            &["search", "q", "-k", "2.5"],
            "'2.5' for '--top-k <K>': give a whole number, at least 1",
        ),
        (
            &["explain", "q", "-k", "99999999999999999999"],
            "give a whole number, at most 18446744073709551615",
        ),
        (
            &["eval", "--questions", "q", "-k", "1,,5"],
            "'' for '--recall-at <K>': give a whole",
        ),
        (
            &["ask", "q", "--chat-timeout", "0"],
            "'0' for '--chat-timeout <SECONDS>': give a whole",
        ),
        (
            &["ask", "q", "--chat-context", "-3"],
            "'-3' for '--chat-context <N>': give a whole",
        ),
        (
            &[
                "calibrate",
                "--questions",
                "q",
                "-o",
                "t",
                "--false-answers",
                "1",
            ],
            "'1' for '--false-answers <RATE>': give a number between 0 and 1",
        ),
        (
            &[
                "calibrate",
                "--questions",
                "q",
                "-o",
                "t",
                "--false-refusals",
                "-0.1",
            ],
            "'-0.1' for '--false-refusals <RATE>': give a number between 0 and 1",
        ),
        (
            &["search", "q", "--as", ""],
            "'--group <GRANT>': a grant is empty",
        ),
        (
            &["ask", "q", "--group", " "],
            "the grant \" \" begins or ends with white space",
        ),
        (
            &["index", "notes", "--acl", ""],
            "'--acl <GRANT>': a grant is empty",
        ),
        (
            &["index", "notes", "--acl", "hr "],
            "the grant \"hr \" begins or ends with white space",
        ),
        (
            &["index", "notes", "--acl", "public", "--acl", "\t"],
            "'--acl <GRANT>': ",
        ),
    ] {
        let run = folder.run_all(&[arguments, &db].concat()).expect(2);
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
        assert_eq!(run.out, "");
    }
    // White space within is part of a name.
    folder
        .run_all(&["index", "notes", "--db", "b.db", "--acl", "a b"])
        .expect(0);
    folder
        .run_all(&["search", "zero_grad", "--db", "b.db", "--as", "a b"])
        .expect(0);
}

/// A huge number asks for all there is, and takes no memory for more.
#[test]
fn more_than_there_is() {
    let folder = Folder::with_sources();
    folder
        .run("index notes --db a.db --acl public --extract rules")
        .expect(0);
    let huge = usize::MAX.to_string();
    for command in [
        "search zero_grad --route dense",
        "search zero_grad --route sparse",
        "search zero_grad --route hybrid",
        "search zero_grad --route hop",
        "explain zero_grad",
        "explain zero_grad --route hop",
    ] {
        let run = |k: &str| folder.run(&format!("{command} --db a.db --public --json -k {k}"));
        let chunks = |json: &serde_json::Value| match json["hits"].as_array() {
            Some(hits) => hits.len(),
            None => json["trace"].to_string().matches("\"chunk\"").count(),
        };
        let all = chunks(&run(&huge).expect(0).json());
        assert_eq!(all, chunks(&run("100").expect(0).json()), "{command}");
        assert!(all > 0, "{command}");
    }
}

/// Every command that takes an index says of a folder that it is one.
#[test]
fn an_index_that_is_a_folder() {
    let folder = Folder::with_sources();
    for arguments in [
        "index notes --acl public",
        "index notes --acl public --prune --dry-run",
        "search q --public",
        "ask q --public",
        "explain q --public",
        "calibrate --public --questions q.jsonl -o t.json",
        "eval --public --questions q.jsonl",
        "remove a.md",
        "doctor",
        "stats",
        "rebuild-index",
    ] {
        folder.write("q.jsonl", "");
        let run = folder.run(&format!("{arguments} --db notes")).expect(2);
        assert!(
            run.err.contains("notes cannot be opened: it is a folder"),
            "{}",
            run.err
        );
    }
}

#[test]
fn there_are_no_colours() {
    let folder = Folder::indexed();
    let output = folder
        .command()
        .env("CLICOLOR_FORCE", "1")
        .args([
            "search",
            "zero_grad",
            "--db",
            "all.db",
            "--public",
            "--no-such",
        ])
        .output()
        .unwrap();
    assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b));
}

#[test]
fn completions_and_man_pages_are_made() {
    let folder = Folder::empty();
    let script = folder.run("completions bash").expect(0).out;
    assert!(script.contains("--acl-map"), "{script}");
    assert!(folder.run("man").expect(0).out.contains(".TH"));
    std::fs::create_dir(folder.path().join("man")).unwrap();
    folder.run("man --dir man").expect(0);
    assert!(folder.path().join("man/cornu-ask.1").exists());
    folder.run("man --dir absent").expect(2);
}

#[test]
fn embedders_that_cannot_be_used_say_why() {
    let folder = Folder::indexed();
    let error = |embedder: &str, rest: &str| {
        let arguments = format!("--db all.db --public --embedder {embedder} {rest}");
        folder.asks("search", "zero_grad", &arguments).expect(2).err
    };
    assert!(error("word2vec", "").contains("openai:URL#MODEL"));
    assert!(error("openai:http://localhost:9", "").contains("openai:URL#MODEL"));
    assert!(error("openai:http://localhost:9#m", "").contains("--send public"));
    assert!(error("hash", "--send public").contains("openai"));
    if cfg!(not(feature = "torch")) {
        assert!(error("bert:multilingual-e5-small", "").contains("feature `torch`"));
    }
    // Sentences of what the asker sees would be sent.
    let arguments = "--db all.db --group hr --embedder openai:http://localhost:9#m --send public";
    let run = folder.asks("ask", "zero_grad", arguments).expect(2);
    assert!(run.err.contains("--send everything"), "{}", run.err);
}

/// A server that gives every text a vector of two dimensions.
#[test]
fn an_index_of_another_embedder_is_refused() {
    use std::io::{BufRead, BufReader, Read, Write};
    let folder = Folder::indexed();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(&stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let reply = r#"{"data":[{"index":0,"embedding":[0.6,0.8]}],"usage":{"prompt_tokens":1}}"#;
        write!(
            &stream,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{reply}",
            reply.len()
        )
        .unwrap();
        String::from_utf8(body).unwrap()
    });
    let arguments =
        format!("--db all.db --public --embedder openai:http://{address}#tiny --send public");
    let run = folder.asks("search", "zero_grad", &arguments).expect(2);
    let sent = server.join().unwrap();
    assert!(run.err.contains("all.db"), "{}", run.err);
    // Opening sends a word of the program's, and nothing of the user's.
    assert!(!sent.contains("zero_grad"), "{sent}");
}
