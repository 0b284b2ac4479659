//! `.ci/run` with a cargo and a Python that do nothing but end as a test wants.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn run(cargo: &str, python: &str) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/run");
    let dir = tempfile::tempdir().unwrap();
    for (name, script) in [("cargo", cargo), ("python3", python)] {
        let fake = dir.path().join(name);
        fs::write(&fake, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", dir.path().display());
    Command::new("bash")
        .arg(script)
        .env("PATH", path)
        .output()
        .unwrap()
}

#[test]
fn all_steps_run_in_order_and_are_summed_up() {
    let output = run("[ \"$2\" = list-libraries ] && echo a b; exit 0", "exit 0");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    let mut rest = said.as_str();
    for step in [
        "$ cargo fmt --all --check",
        "$ cargo xtask tidy\n",
        "$ cargo xtask test\n",
        "$ cargo clippy --workspace --all-targets -- -D warnings",
        "$ cargo xtask with-torch --all-torch -- clippy",
        "RUSTFLAGS=--cfg loom cargo test --package cornu-pool --lib",
        "RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps",
        "RUSTDOCFLAGS=-Dwarnings cargo xtask with-torch --all-torch -- doc --no-deps",
        "$ cargo check --package a --no-default-features",
        "$ cargo check --package b --no-default-features",
        "$ python3 bench-data/check.py",
        "$ cargo xtask bench-tables --check",
        "$ cargo xtask tidy --rule torch-once",
        "== summary",
        "CI passed in",
    ] {
        rest = rest
            .split_once(step)
            .unwrap_or_else(|| panic!("{step} is not in {said}"))
            .1;
    }
}

#[test]
fn the_first_failure_ends_the_run_and_is_named() {
    for (cargo, python, step, code) in [
        ("[ \"$1\" != clippy ] || exit 9", "exit 0", "clippy", 9),
        (
            "[ \"$2\" = list-libraries ] && echo a b; [ \"$1\" != check ]",
            "exit 0",
            "each library alone",
            1,
        ),
        (
            "[ \"$2\" != list-libraries ] || exit 3",
            "exit 0",
            "each library alone",
            3,
        ),
        ("exit 0", "exit 5", "bench-data", 5),
    ] {
        let output = run(cargo, python);
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(
            said.ends_with(&format!("CI FAILED in step: {step} (exit code {code})\n")),
            "{said}"
        );
        assert!(said.contains("  FAILED\n"), "{said}");
        assert!(
            !said.contains("bench-tables"),
            "nothing runs after it: {said}"
        );
    }
}
