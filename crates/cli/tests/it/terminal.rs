//! What a source, a name or an argument holds cannot steer the terminal.

use std::ffi::OsStr;
use std::process::Stdio;

use crate::program::{Folder, Run};

/// Clears the screen, in both forms; rings; turns the direction of writing; overwrites the line.
const NASTY: &str = "\u{1b}[2J \u{9b}2J \u{7} \u{7f} \u{202e}live \u{2066}iso \u{2028}x";

fn steers(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

#[track_caller]
fn tame(run: Run) -> Run {
    for text in [&run.out, &run.err] {
        let found: Vec<char> = text.chars().filter(|c| steers(*c)).collect();
        assert!(found.is_empty(), "{found:?} in {text:?}");
    }
    run
}

/// A document whose text, heading and table, and a name that turns around, are made to deceive.
fn trapped() -> Folder {
    let folder = Folder::empty();
    let text = format!(
        "---\ntitle: T {NASTY}\n---\n\n# Pumps {NASTY}\n\nThe pump rests at noon {NASTY} and \
         zero_grad.\rOVERWRITTEN\r\nNext.\n\n| pump | pressure {NASTY} |\n|---|---|\n\
         | P-1 {NASTY} | 3 |\n| P-2 | 12 |\n"
    );
    folder.write("n/a\u{202e}dm.md", &text);
    let page = format!("<h1>Valve {NASTY}</h1><p>The valve rests at noon &#27;[2J {NASTY}.</p>");
    folder.write("n/b.html", page);
    let index = "index n --db a.db --acl public --extract rules --context summary";
    tame(folder.run(index).expect(0));
    folder
}

#[test]
fn what_the_sources_hold() {
    let folder = trapped();
    let db = "--db a.db --public";
    for (command, question, options) in [
        ("search", "pump rests at noon", ""),
        ("search", "valve rests at noon", ""),
        ("search", "pump", "--json"),
        ("ask", "When does the pump rest?", "--segments balanced"),
        ("ask", "When does the valve rest?", "--segments find-all"),
        (
            "ask",
            "When does the pump rest?",
            "--json --segments find-all",
        ),
        (
            "ask",
            "Which pump has the highest pressure?",
            "--threshold 0.9",
        ),
        ("explain", "pump rests at noon", "--segments balanced"),
        ("explain", "pump rests at noon", "--json --threshold 0.1"),
        ("explain", "pump rests at noon", "--route hop"),
    ] {
        let run = tame(folder.asks(command, question, &format!("{db} {options}")));
        assert!(run.code == 0 || run.code == 3, "{}", run.err);
        assert!(!run.out.is_empty());
    }
    let shown = folder
        .asks("search", "pump rests at noon", db)
        .expect(0)
        .out;
    // Seen, not swallowed; what only ends a line in Windows' way is no news.
    for seen in [r"\u{1b}[2J", r"\u{9b}2J", r"\u{202e}live", r"\rOVERWRITTEN"] {
        assert!(shown.contains(seen), "{seen} in {shown}");
    }
    assert!(!shown.contains(r"OVERWRITTEN\r"), "{shown}");
    assert!(shown.contains(r"1. n/a\u{202e}dm.md"), "{shown}");
    // A program gets what is there.
    let json = folder.asks("search", "pump rests at noon", &format!("{db} --json"));
    let hits = json.json()["hits"].to_string();
    assert!(
        hits.contains("\u{202e}live") && hits.contains('\u{9b}'),
        "{hits}"
    );
}

#[test]
fn what_the_arguments_say() {
    let folder = trapped();
    for arguments in [
        &["ask", NASTY, "--db", "a.db", "--public"][..],
        &["search", "q", "--db", NASTY, "--public"],
        &["search", "q", "--db", "a.db", "--group", NASTY],
        &["search", "q", "--db", "a.db", "--route", NASTY],
        &["search", "q", "--db", "a.db", "--embedder", NASTY],
        &["ask", "q", "--db", "a.db", "--threshold", NASTY],
        &["index", NASTY, "--db", "b.db", "--acl", "public"],
        &[
            "index",
            "n",
            "--db",
            "b.db",
            "--acl",
            "public",
            "--acl-map",
            NASTY,
        ],
        &[
            "index", "n", "--db", "b.db", "--acl", "public", "--root", NASTY,
        ],
        &["remove", NASTY, "--db", "a.db"],
        &["eval", "--db", "a.db", "--public", "--questions", NASTY],
        &["stats", "--db", NASTY],
        &["stats", "--config", NASTY],
        &["stats", NASTY],
        &[NASTY],
    ] {
        let run = tame(folder.run_all(arguments));
        assert_ne!(run.err, "", "{arguments:?}");
    }
    // Not even a sequence that is swallowed whole: it is shown.
    let run = folder.run_all(&["in\u{1b}[2Jdex"]).expect(2);
    assert!(run.err.contains(r"'in\u{1b}[2Jdex'"), "{}", run.err);
    folder.write(
        "cornu.toml",
        "db = \"a\\u001b[2J\\u202e\"\n\"k\\u001b\" = 1\n",
    );
    let run = tame(folder.run("stats").expect(2));
    assert!(run.err.contains(r"cornu.toml:2: `k\u{1b}`"), "{}", run.err);
    folder.write("cornu.toml", "db = \"a\\u001b[2J\\u202e\\nnote: x\"\n");
    let run = tame(folder.run("config").expect(0));
    assert!(
        run.out.contains(r"a\u{1b}[2J\u{202e}\nnote: x"),
        "{}",
        run.out
    );
}

/// A name of several lines does not pass for several messages, wherever it stands.
#[test]
fn a_message_is_one_message() {
    let folder = Folder::empty();
    let name = "a\nerror: all is lost\nnote: really";
    for arguments in [
        &["stats", "--db", name][..],
        &["search", "q", "--db", name, "--public"],
        &[
            "index", name, "--db", "b.db", "--acl", "public", "--root", name,
        ],
    ] {
        let run = folder.run_all(arguments).expect(2);
        let starts = |line: &&str| line.starts_with("error: ") || line.starts_with("note: ");
        assert_eq!(run.err.lines().filter(starts).count(), 1, "{}", run.err);
    }
}

/// Help goes to standard output, and a reader who has gone is no error.
#[test]
fn the_help_is_a_result() {
    let folder = Folder::empty();
    for arguments in [
        &["--help"][..],
        &["ask", "-h"],
        &["help", "index"],
        &["--version"],
    ] {
        let run = tame(folder.run_all(arguments).expect(0));
        assert_eq!(run.err, "");
        assert!(run.out.starts_with(char::is_alphabetic), "{}", run.out);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = folder.command();
        let output = command
            .args(arguments)
            .stdout(writer)
            .stderr(Stdio::piped());
        assert_eq!(output.status().unwrap().code(), Some(0));
    }
}

/// File names that are not Unicode are refused by name; their bytes do not get out.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_unicode() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::with_sources();
    let name = OsStr::from_bytes(b"notes/\xff\x1b[2J.md");
    std::fs::write(folder.path().join(name), "# A\n\nText.\n").unwrap();
    let run = tame(folder.run("index notes --db a.db --acl public").expect(1));
    assert!(run.err.contains(r"\u{1b}[2J.md"), "{}", run.err);
}
