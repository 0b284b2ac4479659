//! `cornu index --watch`: a process of its own, and files that change under it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::Folder;

/// However slow the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

struct Watching {
    child: Child,
    out: Receiver<String>,
    err: Receiver<String>,
}

/// Lines as they come.
fn lines(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

impl Watching {
    /// Started, and past its first pass.
    fn start(folder: &Folder, arguments: &str) -> Self {
        let mut child = folder
            .command()
            .args(arguments.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = lines(child.stdout.take().unwrap());
        let err = lines(child.stderr.take().unwrap());
        let watching = Self { child, out, err };
        watching.says("watching for changes");
        watching
    }

    /// Waits for a line on standard error.
    #[track_caller]
    fn says(&self, words: &str) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            match self.err.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(words) => return,
                Ok(_) => {}
                Err(error) => panic!("{error}: it never said {words:?}"),
            }
        }
        panic!("it never said {words:?}");
    }

    /// The reports of changes until they add up to what is `wanted` of inserted, replaced and
    /// removed documents.
    #[track_caller]
    fn reports(&self, wanted: (u64, u64, &[&str])) {
        let (mut inserted, mut replaced, mut removed) = (0, 0, Vec::new());
        loop {
            let line = match self.out.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(error) => panic!("{error}: {inserted} {replaced} {removed:?} of {wanted:?}"),
            };
            let report: Value = serde_json::from_str(&line).unwrap();
            inserted += report["inserted"].as_u64().unwrap();
            replaced += report["replaced"].as_u64().unwrap();
            let names = report["removed"].as_array().unwrap();
            removed.extend(names.iter().map(|name| name.as_str().unwrap().to_owned()));
            removed.sort();
            if (inserted, replaced) == (wanted.0, wanted.1) && removed == wanted.2 {
                return;
            }
        }
    }

    /// Ends it as Ctrl-C does.
    #[track_caller]
    fn interrupt(mut self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert_eq!(status.code(), Some(0));
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Watching {
    /// When a test fails, nothing is left running.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const WATCH: &str = "index notes --db notes/a.db --acl public --watch --json";

#[cfg(unix)]
#[test]
fn what_is_written_renamed_and_deleted_is_followed_and_ctrl_c_ends_it() {
    let folder = Folder::with_sources();
    let watching = Watching::start(&folder, WATCH);
    watching.reports((2, 0, &[]));
    let notes = folder.path().join("notes");

    folder.write("notes/new.md", "# New\n\nTurbines turn at noon.\n");
    watching.reports((1, 0, &[]));
    let run = folder
        .asks(
            "search",
            "turbines",
            "--db notes/a.db --public --route sparse",
        )
        .expect(0);
    assert!(run.out.starts_with("1. notes/new.md"), "{}", run.out);

    // As editors save: a file beside it, renamed over the old one.
    folder.write("notes/.new.md.swp", "no document");
    folder.write("notes/new.md~", "# New\n\nPumps rest.\n");
    fs::rename(notes.join("new.md~"), notes.join("new.md")).unwrap();
    watching.reports((0, 1, &[]));

    // A folder that is moved takes its documents along, one that is deleted takes them away.
    fs::rename(notes.join("zh"), notes.join("cn")).unwrap();
    watching.reports((1, 0, &["notes/zh/handbook.md"]));
    fs::remove_dir_all(notes.join("cn")).unwrap();
    fs::remove_file(notes.join("new.md")).unwrap();
    watching.reports((0, 0, &["notes/cn/handbook.md", "notes/new.md"]));

    // A new folder, filled at once.
    folder.write("notes/deep/er/one.txt", "One.\n");
    folder.write("notes/deep/two.html", "<p>Two.</p>");
    watching.reports((2, 0, &[]));
    watching.interrupt("-INT");
    folder.run("doctor --db notes/a.db").expect(0);
}

/// What was deleted while it watched has no part in what vectors are compared with.
#[cfg(unix)]
#[test]
fn the_centre_of_a_scan_by_bits_follows() {
    let folder = Folder::with_sources();
    let watching = Watching::start(&folder, &format!("{WATCH} --scan bits"));
    watching.reports((2, 0, &[]));
    fs::remove_file(folder.path().join("notes/zh/handbook.md")).unwrap();
    watching.reports((0, 0, &["notes/zh/handbook.md"]));
    watching.interrupt("-INT");
    folder
        .run("index notes --db fresh.db --acl public --scan bits")
        .expect(0);
    assert_eq!(folder.centre("notes/a.db"), folder.centre("fresh.db"));
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_reported_and_survived() {
    let folder = Folder::with_sources();
    let watching = Watching::start(&folder, WATCH);
    watching.reports((2, 0, &[]));
    folder.write("notes/bad.md", [b'#', 0xff]);
    watching.says("notes/bad.md is not UTF-8");
    folder.write("notes/bad.md", "# Good\n\nNow it is text.\n");
    watching.reports((1, 0, &[]));
    watching.interrupt("-TERM");
}

#[cfg(unix)]
#[test]
fn a_watched_folder_that_goes_away_takes_nothing_along() {
    let folder = Folder::with_sources();
    let arguments = "index notes hr/pay.md --db a.db --acl public --watch --json";
    let watching = Watching::start(&folder, arguments);
    watching.reports((3, 0, &[]));
    let notes = folder.path().join("notes");
    fs::rename(&notes, folder.path().join("elsewhere")).unwrap();
    watching.says("notes: it has gone");
    // A single file that is watched may be replaced, and others beside it do not matter.
    folder.write("hr/other.md", "Not watched.\n");
    folder.write("hr/pay.md.new", "# Pay\n\nAnother salary.\n");
    let hr = folder.path().join("hr");
    fs::rename(hr.join("pay.md.new"), hr.join("pay.md")).unwrap();
    watching.reports((0, 1, &[]));
    watching.interrupt("-INT");
    let stats = folder.run("stats --db a.db --json").expect(0).json();
    assert_eq!(stats["documents"], 3);
}

/// As without --watch: what is in the index already is read as well.
#[cfg(unix)]
#[test]
fn what_was_indexed_without_extractions_gets_them() {
    let folder = Folder::with_sources();
    let index = "index notes --db a.db --acl public";
    folder.run(index).expect(0);
    let watching = Watching::start(&folder, &format!("{index} --watch --extract rules"));
    let search = "--db a.db --public --route hop";
    folder.asks("search", "zero_grad", search).expect(0);
    watching.interrupt("-INT");
}

#[test]
fn nothing_to_watch_is_an_error() {
    let folder = Folder::empty();
    folder
        .run("index absent --db a.db --acl public --watch")
        .expect(2);
    folder
        .run("index . --db a.db --acl public --watch --prune --dry-run")
        .expect(2);
}

#[cfg(unix)]
#[test]
fn a_database_that_is_deleted_ends_it() {
    let folder = Folder::with_sources();
    let mut watching = Watching::start(&folder, "index notes --db a.db --acl public --watch");
    for file in ["a.db", "a.db-wal", "a.db-shm"] {
        let _ = fs::remove_file(folder.path().join(file));
    }
    folder.write("notes/new.md", "# New\n\nTurbines turn at noon.\n");
    watching.says("a.db was deleted or replaced");
    assert_eq!(watching.child.wait().unwrap().code(), Some(2));
    assert!(!folder.path().join("a.db").exists());
}
