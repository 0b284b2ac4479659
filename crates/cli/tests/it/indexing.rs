//! `cornu index`.

use serde_json::json;

use crate::program::{Folder, GUIDE};

#[test]
fn nobody_is_let_in_by_default() {
    let folder = Folder::with_sources();
    let run = folder.run("index notes --db a.db").expect(2);
    assert!(run.err.contains("--acl"), "{}", run.err);
    assert!(!folder.path().join("a.db").exists());
    folder.write("empty.toml", "");
    let run = folder
        .run("index notes --db a.db --acl-map empty.toml")
        .expect(2);
    assert!(run.err.contains("--acl public"), "{}", run.err);
}

#[test]
fn a_second_run_finds_nothing_to_do_and_a_changed_file_is_replaced() {
    let folder = Folder::with_sources();
    let index = || {
        folder
            .run("index notes --db a.db --acl public --json")
            .expect(0)
            .json()
    };
    let first = index();
    assert_eq!(
        (&first["inserted"], &first["unchanged"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(index()["unchanged"], 2);
    folder.write("notes/guide.md", "# Training\n\nEverything is new.\n");
    let third = index();
    assert_eq!(
        (&third["replaced"], &third["unchanged"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn files_that_cannot_be_read_do_not_stop_the_others() {
    let folder = Folder::with_sources();
    folder.write("notes/gb18030.md", [b'#', b' ', 0xCB, 0xB5, 0xC3, 0xF7]);
    let run = folder
        .run("index notes absent.md --db a.db --acl public --json")
        .expect(1);
    let report = run.json();
    assert_eq!(report["inserted"], 2);
    let failed = report["failed"].as_array().unwrap();
    assert_eq!(failed.len(), 2);
    assert_eq!(failed[0]["file"], "absent.md");
    assert_eq!(failed[1]["file"], "notes/gb18030.md");
    assert!(failed[1]["error"].as_str().unwrap().contains("not UTF-8"));
    let words = "error: notes/gb18030.md is not UTF-8 (first bad byte at offset 4)";
    assert!(run.err.contains(words), "{}", run.err);
    // Nobody looks: no progress.
    assert!(!run.err.contains('\r'), "{:?}", run.err);
    folder
        .asks("ask", "When to call zero_grad?", "--db a.db --public")
        .expect(0);
}

#[test]
fn a_path_that_is_not_there_leaves_no_index() {
    let folder = Folder::empty();
    for more in ["", "--json", "--watch", "--extract rules"] {
        let run = folder
            .run(&format!("index nothere --db a.db --acl public {more}"))
            .expect(2);
        assert!(run.err.contains("nothere: "), "{}", run.err);
        assert_eq!(run.out, "");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // An index that is there stays as it was.
    let folder = Folder::indexed();
    folder
        .run("index nothere --db all.db --acl public --prune")
        .expect(2);
    let stats = folder.run("stats --db all.db --json").expect(0).json();
    assert_eq!(stats["documents"], 3);
}

/// A name of several lines does not pass for several messages.
#[cfg(unix)]
#[test]
fn a_name_with_control_characters_stays_on_its_line() {
    let folder = Folder::with_sources();
    folder.write("notes/a\nerror: all is lost\u{1b}[2J.md", GUIDE);
    let index = "index notes --db a.db --acl public";
    let dry = format!("{index} --prune --dry-run");
    for run in [folder.run(index).expect(1), folder.run(&dry).expect(1)] {
        let errors = run.err.lines().filter(|line| line.starts_with("error: "));
        assert_eq!(errors.count(), 1, "{:?}", run.err);
        let shown = r"error: notes/a\nerror: all is lost\u{1b}[2J.md: ";
        assert!(run.err.contains(shown), "{:?}", run.err);
    }
    // A program gets the name as it is.
    let report = folder.run(&format!("{index} --json")).expect(1).json();
    assert_eq!(
        report["failed"][0]["file"],
        "notes/a\nerror: all is lost\u{1b}[2J.md"
    );
}

#[cfg(unix)]
#[test]
fn loops_of_links_end_and_links_do_not_lead_outside() {
    use std::os::unix::fs::symlink;
    let folder = Folder::with_sources();
    symlink("..", folder.path().join("notes/zh/up")).unwrap();
    symlink("../hr/pay.md", folder.path().join("notes/pay.md")).unwrap();
    let report = folder
        .run("index notes --db a.db --acl public --json")
        .expect(0)
        .json();
    assert_eq!(report["inserted"], 2);
    assert_eq!(report["links_not_followed"], 2);
}

#[test]
fn text_is_read_and_hidden_and_other_files_are_not() {
    let folder = Folder::empty();
    folder.write("a/one.txt", "Plain words about turbines.\n");
    folder.write("a/two.MARKDOWN", GUIDE);
    folder.write("a/three.rs", "fn main() {}\n");
    folder.write("a/.git/four.md", GUIDE);
    let report = folder
        .run("index a --db a.db --acl public --json")
        .expect(0)
        .json();
    assert_eq!(report["inserted"], 2);
    let run = folder
        .asks("search", "turbines", "--db a.db --public")
        .expect(0);
    assert!(run.out.starts_with("1. a/one.txt"), "{}", run.out);
    // A file that is named itself is read whatever its ending.
    let report = folder
        .run("index a/three.rs --db a.db --acl public --json")
        .expect(0)
        .json();
    assert_eq!(report["inserted"], 1);
}

#[test]
fn a_folder_without_documents_says_so() {
    let folder = Folder::empty();
    folder.write("a/b.rs", "fn main() {}\n");
    let run = folder.run("index a --db a.db --acl public").expect(3);
    assert!(run.err.contains(".md"), "{}", run.err);
    // An index that holds nothing would look like one that was built.
    assert!(!folder.path().join("a.db").exists());
    let run = folder
        .run("index a absent --db a.db --acl public --json")
        .expect(1);
    assert_eq!(run.json()["failed"][0]["file"], "absent");
    assert!(!run.err.contains("stays in the index"), "{}", run.err);
    assert!(!folder.path().join("a.db").exists());
    // One that is there may lose its last document.
    folder.write("a/one.md", GUIDE);
    folder.run("index a --db a.db --acl public").expect(0);
    std::fs::remove_file(folder.path().join("a/one.md")).unwrap();
    let run = folder
        .run("index a --db a.db --acl public --prune")
        .expect(0);
    assert!(run.out.starts_with("removed a/one.md\n"), "{}", run.out);
}

#[test]
fn documents_are_named_from_one_root() {
    let folder = Folder::with_sources();
    let other = Folder::with_sources();
    let outside = other.path().join("notes");
    let arguments = [
        "index",
        outside.to_str().unwrap(),
        "--db",
        "a.db",
        "--acl",
        "public",
    ];
    let run = folder.run_all(&arguments).expect(2);
    assert!(run.err.contains("--root"), "{}", run.err);
    let root = ["--root", other.path().to_str().unwrap()];
    folder.run_all(&[&arguments[..], &root].concat()).expect(0);
    let run = folder
        .asks("search", "zero_grad", "--db a.db --public")
        .expect(0);
    assert!(
        run.out.contains(" notes/guide.md § Training"),
        "{}",
        run.out
    );
}

#[test]
fn a_map_gives_each_prefix_its_grants() {
    let folder = Folder::with_sources();
    folder.write("other/a.md", "Nobody was named for turbines.\n");
    folder.write(
        "map.toml",
        "notes = [\"public\"]\n\"hr/\" = [\"hr\"]\nhrr = [\"hr\"]\n",
    );
    let run = folder
        .run("index notes hr other --db a.db --acl-map map.toml --json")
        .expect(1);
    assert_eq!(run.json()["inserted"], 3);
    assert_eq!(run.json()["failed"][0]["file"], "other/a.md");
    assert!(run.err.contains("\"hrr\""), "{}", run.err);
    let hits = |grants: &str| {
        let arguments = format!("--db a.db --json {grants}");
        let found = folder
            .asks("search", "zero_grad", &arguments)
            .expect(0)
            .json();
        let hits = found["hits"].as_array().unwrap().clone();
        hits.iter().any(|hit| hit["chunk"]["doc"] == "hr/pay.md")
    };
    assert!(!hits("--public"));
    assert!(hits("--public --group hr"));
}

#[test]
fn a_map_that_cannot_be_read_is_named() {
    let folder = Folder::with_sources();
    folder.write("map.toml", "hr = \"hr\"\n");
    let run = folder
        .run("index notes --db a.db --acl-map map.toml")
        .expect(2);
    assert!(run.err.contains("map.toml"), "{}", run.err);
    let run = folder
        .run("index notes --db a.db --acl-map absent.toml")
        .expect(2);
    assert!(run.err.contains("absent.toml"), "{}", run.err);
}

#[test]
fn a_database_that_cannot_be_written_is_named() {
    let folder = Folder::with_sources();
    let run = folder
        .run("index notes --db absent/a.db --acl public")
        .expect(2);
    let words = "error: absent/a.db cannot be opened: No such file or directory";
    assert!(run.err.contains(words), "{}", run.err);
    folder.write(
        "text.db",
        "This is no database, and it is not short either.\n",
    );
    let run = folder
        .run("index notes --db text.db --acl public")
        .expect(2);
    assert!(run.err.contains("text.db"), "{}", run.err);
}

/// As many files as a large project's documentation has, and what else lies in such folders.
#[cfg(unix)]
#[test]
fn ten_thousand_files_loops_and_what_cannot_be_read() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::empty();
    for at in 0..10_000 {
        let (part, chapter) = (at / 1_000, at / 100 % 10);
        let text = format!("Part {at} is in bin {}.\n", at % 97);
        folder.write(&format!("all/{part}/{chapter}/{at}.md"), text);
    }
    symlink("../..", folder.path().join("all/3/up")).unwrap();
    symlink("loop", folder.path().join("all/loop")).unwrap();
    folder.write("all/bad.md", [0xff]);
    folder.write("all/closed/secret.md", "Nobody reads this.\n");
    let closed = folder.path().join("all/closed");
    let mode = |mode| {
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o000);
    let readable = std::fs::read_dir(&closed).is_ok();
    if readable {
        eprintln!(
            "SKIPPED the closed folder: this user reads folders that nobody may read (root?)"
        );
    }
    let arguments = "index all --db a.db --acl public --prune --json";
    let first = folder.run(arguments);
    let second = folder.run(arguments);
    mode(0o755);
    let report = first.expect(1).json();
    let open = u64::from(readable);
    assert_eq!(report["inserted"], 10_000 + open);
    assert_eq!(report["links_not_followed"], 2);
    let failed = report["failed"].as_array().unwrap();
    assert_eq!(failed.len() as u64, 2 - open);
    assert_eq!(failed[0]["file"], "all/bad.md");
    let report = second.expect(1).json();
    assert_eq!(report["unchanged"], 10_000 + open);
    assert_eq!(
        (&report["inserted"], &report["removed"]),
        (&json!(0), &json!([]))
    );
    let run = folder
        .asks(
            "search",
            "part 7777",
            "--db a.db --public --route sparse -k 1",
        )
        .expect(0);
    assert!(run.out.starts_with("1. all/7/7/7777.md"), "{}", run.out);
}

/// Names that mean something else to SQLite are names of files here.
#[test]
fn a_database_is_the_file_that_is_named() {
    let folder = Folder::empty();
    folder.write("notes/a.md", "# Turbines\n\nTurbines turn at noon.\n");
    for name in [":memory:", "file:x.db", "file:y.db?mode=memory", "a%20b.db"] {
        folder
            .run(&format!("index notes --db {name} --acl public"))
            .expect(0);
        assert!(folder.path().join(name).is_file(), "{name}");
        for more in ["", " --immutable"] {
            let search = format!("--db {name} --public{more}");
            let run = folder.asks("search", "turbines", &search).expect(0);
            assert!(run.out.contains("notes/a.md"), "{name}: {}", run.out);
        }
    }
    assert!(!folder.path().join("x.db").exists());
}
