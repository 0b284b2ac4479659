//! Archives that lie.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use xtask::progress::{Mode, Progress, Task};
use xtask::setup::archive::extract;
use xtask::setup::digest::sha_of_bytes;
use xtask::setup::manifest::{FilePin, Part, TreePin};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::world::write_wheel;

fn task() -> Task {
    Progress::new(Mode::Quiet).task("test", 0)
}

fn one_file(content: &[u8]) -> Part {
    let sha256 = sha_of_bytes(content);
    let (from, to) = ("p/a".to_owned(), "sub/a".to_owned());
    let files = vec![FilePin {
        from,
        to,
        bytes: content.len() as u64,
        sha256,
    }];
    Part {
        wheel: "w".to_owned(),
        files,
        trees: vec![],
    }
}

fn refusal(wheel: &Path, part: &Part, into: &Path) -> String {
    format!("{:#}", extract(wheel, part, into, &task()).unwrap_err())
}

#[test]
fn a_name_that_leaves_the_folder_makes_the_archive_refused() {
    let dir = tempfile::tempdir().unwrap();
    let wheel = dir.path().join("w.whl");
    for name in [
        "../x",
        "/x",
        "p/../../x",
        "p//x",
        "p\\..\\x",
        "c:/x",
        "./x",
        "p/\u{7}x",
    ] {
        write_wheel(&wheel, &[("p/a", b"a"), (name, b"evil")]);
        let into = dir.path().join("into");
        let said = refusal(&wheel, &one_file(b"a"), &into);
        assert!(said.contains("leaves its folder"), "{name}: {said}");
        assert!(!into.exists(), "{name}: nothing was written");
    }
    assert!(!dir.path().join("x").exists());
}

#[test]
fn a_link_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let wheel = dir.path().join("w.whl");
    let mut zip = ZipWriter::new(File::create(&wheel).unwrap());
    zip.add_symlink("p/a", "/etc/passwd", SimpleFileOptions::default())
        .unwrap();
    zip.finish().unwrap();
    let said = refusal(&wheel, &one_file(b"/etc/passwd"), &dir.path().join("into"));
    assert!(said.contains("is a link"), "{said}");
}

#[test]
fn no_more_is_written_than_the_pin_allows() {
    let dir = tempfile::tempdir().unwrap();
    let wheel = dir.path().join("w.whl");
    write_wheel(&wheel, &[("p/a", &vec![0; 4 << 20])]);
    assert!(
        fs::metadata(&wheel).unwrap().len() < 64 << 10,
        "a bomb, if a small one"
    );
    let into = dir.path().join("into");
    let said = refusal(&wheel, &one_file(&[0; 10]), &into);
    assert!(said.contains("more than the 10 bytes"), "{said}");
    assert!(fs::metadata(into.join("sub/a")).unwrap().len() <= 11);
}

#[test]
fn sizes_in_headers_are_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let wheel = dir.path().join("w.whl");
    let content = b"ten bytes.";
    write_wheel(&wheel, &[("p/a", content)]);
    let honest = fs::read(&wheel).unwrap();
    let directory = honest.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    // The stated size before compression, in the local header and in the directory.
    for (field, size) in [
        (22, 0xFFFF_FFF0_u32),
        (22, 1),
        (directory + 24, 0xFFFF_FFF0),
        (directory + 24, 1),
    ] {
        let mut lying = honest.clone();
        lying[field..field + 4].copy_from_slice(&size.to_le_bytes());
        fs::write(&wheel, lying).unwrap();
        let into = dir.path().join(format!("into-{field}-{size}"));
        if let Ok(records) = extract(&wheel, &one_file(content), &into, &task()) {
            assert_eq!(records[0].bytes, 10);
        }
        if let Ok(written) = fs::read(into.join("sub/a")) {
            assert!(content.starts_with(&written), "at most the pinned bytes");
        }
    }
    for cut in 0..honest.len() {
        fs::write(&wheel, &honest[..cut]).unwrap();
        let into = dir.path().join(format!("cut-{cut}"));
        assert!(
            extract(&wheel, &one_file(content), &into, &task()).is_err(),
            "cut at {cut}"
        );
    }
}

#[test]
fn a_tree_must_be_the_pinned_one_to_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let wheel = dir.path().join("w.whl");
    let part = |files, bytes| {
        let (from, to) = ("p".to_owned(), "include".to_owned());
        let trees = vec![TreePin {
            from,
            to,
            files,
            bytes,
            sha256: sha_of_bytes(b""),
        }];
        Part {
            wheel: "w".to_owned(),
            files: vec![],
            trees,
        }
    };
    write_wheel(&wheel, &[("p/a", b"aa"), ("p/b/c", b"c"), ("q/d", b"d")]);
    let into = |n| dir.path().join(format!("into-{n}"));
    assert!(refusal(&wheel, &part(1, 9), &into(1)).contains("too many files"));
    assert!(refusal(&wheel, &part(9, 2), &into(2)).contains("more than the 0 bytes"));
    let said = refusal(&wheel, &part(2, 3), &into(3));
    assert!(said.contains("has 2 files, 3 bytes, sha256"), "{said}");
    assert!(!into(3).join("include/d").exists());
}

#[test]
fn what_is_no_archive_or_lacks_the_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let wheel = dir.path().join("w.whl");
    File::create(&wheel)
        .unwrap()
        .write_all(b"not a zip")
        .unwrap();
    assert!(refusal(&wheel, &one_file(b"a"), dir.path()).contains("w.whl is not a readable zip"));
    write_wheel(&wheel, &[("p/b", b"a")]);
    assert!(refusal(&wheel, &one_file(b"a"), dir.path()).contains("w.whl holds no `p/a`"));
    write_wheel(&wheel, &[("p/a", b"b")]);
    assert!(refusal(&wheel, &one_file(b"a"), dir.path()).contains("pinned are 1 and"));
}
