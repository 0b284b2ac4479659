//! `cornu index --prune`.

use std::fs;

use serde_json::json;

use crate::program::Folder;

const INDEX: &str = "--db a.db --acl public --prune --json";

fn documents(folder: &Folder) -> u64 {
    let stats = folder.run("stats --db a.db --json").expect(0).json();
    stats["documents"].as_u64().unwrap()
}

#[test]
fn what_has_vanished_goes_and_the_rest_stays() {
    let folder = Folder::with_sources();
    let first = folder.run(&format!("index notes hr {INDEX}")).expect(0);
    assert_eq!(first.json()["removed"], json!([]));
    fs::remove_file(folder.path().join("notes/guide.md")).unwrap();
    fs::remove_file(folder.path().join("hr/pay.md")).unwrap();

    let dry = "index notes --db a.db --acl public --prune --dry-run";
    let run = folder.run(dry).expect(0);
    assert_eq!(run.out, "would remove notes/guide.md\n");
    let run = folder.run(&format!("{dry} --json")).expect(0);
    assert_eq!(
        run.out,
        "{\"would_remove\":[\"notes/guide.md\"],\"failed\":[]}\n"
    );
    assert_eq!(documents(&folder), 3);

    // Only below the paths that were named.
    let run = folder
        .run("index notes --db a.db --acl public --prune")
        .expect(0);
    assert!(
        run.out
            .starts_with("removed notes/guide.md\n1 document (0 new")
    );
    assert_eq!(documents(&folder), 2);
    let run = folder.run(&format!("index hr {INDEX}")).expect(0);
    assert_eq!(run.json()["removed"], json!(["hr/pay.md"]));
    folder.run("doctor --db a.db").expect(0);
    folder
        .asks(
            "search",
            "senior engineers",
            "--db a.db --public --route sparse",
        )
        .expect(3);
}

#[test]
fn a_folder_cannot_remove_what_another_brought() {
    let folder = Folder::empty();
    folder.write("one/a.md", "Turbines turn.\n");
    folder.write("one/sub/b.md", "Pumps pump.\n");
    folder.write("two/c.md", "Valves close.\n");
    folder
        .run(&format!("index one --root one {INDEX}"))
        .expect(0);
    let run = folder
        .run(&format!("index two --root two {INDEX}"))
        .expect(0);
    assert_eq!(run.json()["removed"], json!([]));
    assert_eq!(documents(&folder), 3);
    // The same files from another root are other documents; the old names stay the old root's.
    let run = folder.run(&format!("index one {INDEX}")).expect(0);
    assert_eq!(
        (&run.json()["inserted"], &run.json()["removed"]),
        (&json!(2), &json!([]))
    );
    // A document that both roots have belongs to the last that brought it.
    folder.write("two/a.md", "Turbines of another kind.\n");
    folder
        .run(&format!("index two --root two {INDEX}"))
        .expect(0);
    fs::remove_file(folder.path().join("one/a.md")).unwrap();
    let run = folder
        .run(&format!("index one --root one {INDEX}"))
        .expect(0);
    assert_eq!(run.json()["removed"], json!([]));
}

#[test]
fn a_root_that_is_not_there_has_not_vanished() {
    let folder = Folder::with_sources();
    folder.run(&format!("index notes hr {INDEX}")).expect(0);
    fs::rename(folder.path().join("notes"), folder.path().join("elsewhere")).unwrap();
    let run = folder.run(&format!("index notes hr {INDEX}")).expect(1);
    assert_eq!(run.json()["removed"], json!([]));
    assert_eq!(run.json()["failed"][0]["file"], "notes");
    assert_eq!(documents(&folder), 3);
    // The root itself: nothing is done at all.
    folder
        .run(&format!("index notes --root absent {INDEX}"))
        .expect(2);
    // A folder below a root that is there is another matter.
    folder.write("notes/zh/new.md", "Something new.\n");
    let run = folder.run(&format!("index notes {INDEX}")).expect(0);
    assert_eq!(
        run.json()["removed"],
        json!(["notes/guide.md", "notes/zh/handbook.md"])
    );
}

#[test]
fn a_file_that_is_there_has_not_vanished_whatever_ails_it() {
    let folder = Folder::with_sources();
    folder.write("notes/code.rs", "fn main() {}\n");
    folder
        .run(&format!("index notes notes/code.rs {INDEX}"))
        .expect(0);
    // Not found by its ending this time, and not UTF-8 any more: both are there.
    folder.write("notes/guide.md", [b'#', 0xff]);
    let run = folder.run(&format!("index notes {INDEX}")).expect(1);
    assert_eq!(run.json()["removed"], json!([]));
    assert_eq!(documents(&folder), 3);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_has_not_vanished() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_sources();
    folder.run(&format!("index notes {INDEX}")).expect(0);
    let closed = folder.path().join("notes/zh");
    let mode = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o000);
    if fs::read_dir(&closed).is_ok() {
        eprintln!("SKIPPED: this user reads folders that nobody may read (root?)");
        mode(0o755);
        return;
    }
    let run = folder.run(&format!("index notes {INDEX}"));
    mode(0o755);
    let run = run.expect(1);
    assert_eq!(run.json()["removed"], json!([]));
    assert_eq!(run.json()["failed"][0]["file"], "notes/zh");
    assert_eq!(documents(&folder), 2);
}

#[test]
fn a_name_in_another_unicode_form_is_the_same_file() {
    let folder = Folder::empty();
    folder.write("notes/cafe\u{301}.md", "Coffee is served at nine.\n");
    folder.run(&format!("index notes {INDEX}")).expect(0);
    let run = folder.run(&format!("index notes {INDEX}")).expect(0);
    assert_eq!(run.json()["removed"], json!([]));
    assert_eq!(run.json()["unchanged"], 1);
}

#[test]
fn a_dry_run_is_one_of_pruning() {
    let folder = Folder::with_sources();
    let run = folder
        .run("index notes --db a.db --acl public --dry-run")
        .expect(2);
    assert!(run.err.contains("--prune"), "{}", run.err);
}
