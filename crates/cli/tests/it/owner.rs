//! The owner's commands.

use crate::program::Folder;

#[test]
fn a_sound_index_is_found_sound_and_a_damaged_one_is_not() {
    let folder = Folder::indexed();
    let run = folder.run("doctor --db all.db").expect(0);
    assert_eq!(run.out, "everything holds\n");
    assert_eq!(
        folder.run("doctor --db all.db --json").expect(0).json()["healthy"],
        true
    );

    let vec = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains(".vec"))
        .expect("`index` leaves a file of vectors");
    let mut bytes = std::fs::read(&vec).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 0x40;
    std::fs::write(&vec, bytes).unwrap();
    let json = folder.run("doctor --db all.db --json").expect(1).json();
    assert_eq!(json["healthy"], false);
    assert_eq!(json["findings"][0]["remedy"], "run `rebuild-index`");
    folder.run("rebuild-index --db all.db").expect(0);
    folder.run("doctor --db all.db").expect(0);
}

#[test]
fn what_is_removed_is_gone() {
    let folder = Folder::indexed();
    let run = folder
        .run("remove hr/pay.md absent.md --db all.db --json")
        .expect(1);
    assert_eq!(
        run.out,
        "{\"removed\":[\"hr/pay.md\"],\"absent\":[\"absent.md\"]}\n"
    );
    assert!(
        run.err.contains("absent.md is not in the index"),
        "{}",
        run.err
    );
    folder.run("remove absent.md --db all.db").expect(3);
    folder
        .asks("search", "salary", "--db all.db --group hr")
        .expect(3);
    folder.run("remove a.md --db none.db").expect(2);
    assert!(!folder.path().join("none.db").exists());
    folder.run("rebuild-index --vacuum --db all.db").expect(0);
    folder.run("doctor --db all.db").expect(0);
}

#[test]
fn statistics_count_everything() {
    let folder = Folder::indexed();
    let json = folder.run("stats --db all.db --json").expect(0).json();
    assert_eq!(json["documents"], 3);
    assert_eq!(json["dimension"], 512);
    let run = folder.run("stats --db all.db").expect(0);
    assert!(run.out.starts_with("documents       3\n"), "{}", run.out);
}

/// Everything that takes an index, with what else it needs.
const COMMANDS: [&str; 12] = [
    "index notes --acl public",
    "index notes --acl public --prune --dry-run",
    "search q --public",
    "ask q --public",
    "explain q --public",
    "calibrate --public --questions q.jsonl -o t.json",
    "eval --public --questions q.jsonl",
    "remove notes/guide.md",
    "doctor",
    "stats",
    "rebuild-index",
    "rebuild-index --vacuum",
];

/// Of those, the commands that only read.
fn reads(command: &str) -> bool {
    !["index ", "remove", "rebuild"]
        .iter()
        .any(|it| command.starts_with(it))
}

/// No command takes another file for an index, and none changes it.
#[test]
fn what_is_no_index_is_named_by_every_command() {
    let folder = Folder::indexed();
    folder.write("q.jsonl", "");
    folder.write(
        "text.db",
        "This is no database, and it is not short either.\n",
    );
    folder.write("empty.db", "");
    // SQLite keeps the schema's number, big endian, in the header.
    let mut newer = std::fs::read(folder.path().join("all.db")).unwrap();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    folder.write("newer.db", &newer);
    let mut foreign = newer.clone();
    foreign[68..72].copy_from_slice(&[0; 4]);
    foreign[60..64].copy_from_slice(&[0; 4]);
    folder.write("foreign.db", &foreign);
    for (file, words) in [
        (
            "text.db",
            "text.db is damaged or no store: file is not a database",
        ),
        (
            "empty.db",
            "empty.db is damaged or no store: the file is empty",
        ),
        ("newer.db", "newer.db has schema 99, newer than 2"),
        (
            "foreign.db",
            "foreign.db is damaged or no store: it is an SQLite database, but not",
        ),
    ] {
        let before = std::fs::read(folder.path().join(file)).unwrap();
        for command in COMMANDS {
            let run = folder.run(&format!("{command} --db {file}")).expect(2);
            assert!(run.err.contains(words), "{command}: {}", run.err);
            assert_eq!(run.out, "");
        }
        assert_eq!(
            std::fs::read(folder.path().join(file)).unwrap(),
            before,
            "{file}"
        );
    }
}

/// A folder that may not be written: what to do is said in the words of the flags, and
/// `--immutable` does it.
#[cfg(unix)]
#[test]
fn an_index_where_nothing_may_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::indexed();
    let questions = "{\"id\": \"1\", \"type\": \"t\", \"split\": \"dev\", \"lang\": \"en\", \
        \"question\": \"When to call zero_grad?\", \"answer\": null, \"near_miss\": false, \
        \"evidence\": [[{\"doc\": \"notes/guide.md\", \"phrase\": \"each backward pass\"}]]}\n";
    folder.write("q.jsonl", questions);
    folder.write("box/a", "");
    for name in ["all.db", "all.db.vec", "all.db.postings"] {
        let from = folder.path().join(name);
        std::fs::copy(from, folder.path().join("box").join(name)).unwrap();
    }
    let closed = folder.path().join("box");
    let mode = |mode| {
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o555);
    let open = std::fs::write(closed.join("b"), "").is_ok();
    for command in COMMANDS {
        if reads(command) && !command.starts_with("calibrate") {
            let there = folder.run(&format!("{command} --db all.db"));
            let run = folder.run(&format!("{command} --db box/all.db --immutable"));
            if !command.starts_with("stats") {
                assert_eq!((&run.out, run.code), (&there.out, there.code), "{command}");
            }
            assert_ne!(run.code, 2, "{command}: {}", run.err);
            assert!(!closed.join("all.db-shm").exists());
        }
        if open {
            eprintln!("SKIPPED {command}: this user writes into folders that nobody may (root?)");
            continue;
        }
        let run = folder.run(&format!("{command} --db box/all.db")).expect(2);
        let words = "box/all.db cannot be written, or its folder cannot";
        assert!(run.err.contains(words), "{command}: {}", run.err);
        assert!(run.err.contains("--immutable"), "{command}: {}", run.err);
    }
    if !open {
        let run = folder
            .run("index notes --db box/new.db --acl public")
            .expect(2);
        let words = "box/new.db cannot be opened: Permission denied";
        assert!(run.err.contains(words), "{}", run.err);
    }
    mode(0o755);
}
