//! Each rule finds a broken tree and passes the good one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use xtask::tidy::{Finding, RULES, Tree};
use xtask::workspace::Workspace;

const ROOT: &str = r#"[workspace]
resolver = "3"
members = ["crates/*"]

[workspace.package]
version = "0.1.0"
edition = "2024"
rust-version = "1.85"
license = "MIT"

[workspace.dependencies]
cornu-core = { path = "crates/core" }
cornu-text = { path = "crates/text" }
cornu-embed = { path = "crates/embed" }
serde = "1" # a reason

[workspace.lints.rust]
missing_docs = "warn"
"#;

fn member(name: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"cornu-{name}\"\ndescription = \"What it is\"\nversion.workspace = true\n\
         edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\n\
         [lints]\nworkspace = true\n\n{dependencies}"
    )
}

/// A small workspace that keeps every rule.
struct Good {
    dir: TempDir,
}

impl Good {
    fn new() -> Self {
        let good = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        good.write("Cargo.toml", ROOT);
        for name in ["core", "text", "embed"] {
            let uses = "[dependencies]\ncornu-core.workspace = true\n";
            let dependencies = if name == "core" { "" } else { uses };
            good.write(
                &format!("crates/{name}/Cargo.toml"),
                &member(name, dependencies),
            );
            good.write(&format!("crates/{name}/README.md"), "# It\n");
            good.write(&format!("crates/{name}/src/lib.rs"), "//! It.\n");
        }
        good.write(
            "crates/core/tests/it/main.rs",
            "#[test]\nfn it_holds() {}\n",
        );
        let architecture = "# Map\ncrates/core, crates/text, `cornu-embed`\n\n\
             - **INV-01** It holds,\n  always. Held by: `crates/core/tests/it::it_holds`, `xtask tidy: layers`\n\
             - **INV-02** Too. Held by: `it_holds`\n";
        good.write("docs/ARCHITECTURE.md", architecture);
        good.write("docs/STYLE.md", "1. **One.** Why.\n2. **Two.** Why.\n");
        for name in ["docs/LIMITS.md", "docs/METHODS.md", "CHANGELOG.md"] {
            good.write(name, "# Text\n");
        }
        for name in ["README.md", "README.zh-CN.md"] {
            good.write(name, "# Cornu\n<!-- begin a -->\ntext\n<!-- end a -->\n");
        }
        good
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn check(&self) -> Vec<Finding> {
        let mut workspace = Workspace::load(self.root()).unwrap();
        workspace.target = self.root().join("target");
        Tree::load(workspace).unwrap().check(&[]).unwrap()
    }

    /// The only finding's rule, place and reason.
    fn only(&self) -> (String, String) {
        let findings = self.check();
        let [finding] = &findings[..] else {
            panic!("one finding expected: {findings:#?}")
        };
        assert!(!finding.remedy.is_empty());
        let Finding {
            path,
            line,
            rule,
            reason,
            ..
        } = finding;
        (format!("{rule} {path}:{line}"), reason.clone())
    }
}

/// What one change to the good tree makes tidy find.
fn found(path: &str, text: &str) -> (String, String) {
    let good = Good::new();
    good.write(path, text);
    good.only()
}

/// Where one change to the good tree makes tidy find something.
fn place(path: &str, text: &str) -> String {
    found(path, text).0
}

#[test]
fn the_good_tree_has_no_finding() {
    assert_eq!(Good::new().check(), []);
}

#[test]
fn rules_have_names_of_their_own() {
    let names: BTreeSet<_> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), RULES.len());
    assert!(RULES.iter().all(|rule| !rule.about.is_empty()));
    let tree = Tree::load(Workspace::load(Good::new().root()).unwrap()).unwrap();
    assert!(tree.check(&["no-such-rule".to_owned()]).is_err());
}

#[test]
fn an_edge_that_the_design_does_not_list_is_found() {
    for (section, ok) in [
        ("dependencies", false),
        ("build-dependencies", false),
        ("dev-dependencies", true),
    ] {
        let good = Good::new();
        let extra = format!(
            "[dependencies]\ncornu-core.workspace = true\n[{section}]\ncornu-text.workspace = true\n"
        );
        let text = member("embed", &extra.replace("[dependencies]\n[", "["));
        let text = text.replace("true\n[dependencies]\ncornu-text", "true\ncornu-text");
        good.write("crates/embed/Cargo.toml", &text);
        if ok {
            assert_eq!(good.check(), [], "{section}");
        } else {
            let (at, reason) = good.only();
            assert!(at.starts_with("layers crates/embed/Cargo.toml:"), "{at}");
            assert!(!at.ends_with(":1"), "the line of the dependency: {at}");
            assert!(
                reason.contains("cornu-embed depends on cornu-text"),
                "{reason}"
            );
        }
    }
}

#[test]
fn a_member_or_folder_outside_of_the_design_is_found() {
    let good = Good::new();
    good.write("crates/extra/Cargo.toml", &member("extra", ""));
    good.write("crates/extra/README.md", "# crates/extra\n");
    good.write("crates/extra/src/lib.rs", "");
    let architecture = fs::read_to_string(good.root().join("docs/ARCHITECTURE.md")).unwrap();
    good.write(
        "docs/ARCHITECTURE.md",
        &architecture.replace("crates/core,", "crates/core, crates/extra,"),
    );
    assert_eq!(good.only().1, "cornu-extra is not in the design");
    good.write("docs/ARCHITECTURE.md", &architecture);
    let rules: Vec<_> = good.check().iter().map(|f| f.rule).collect();
    assert_eq!(rules, ["layers", "docs-crates"]);
}

#[test]
fn sockets_torch_and_sql_come_in_through_their_owners() {
    for (dependency, why) in [
        ("ureq", "only cornu-remote opens a socket"),
        ("rusqlite", "only cornu-store knows SQL"),
        ("tch", "only cornu-embed knows torch"),
    ] {
        let text = member("text", &format!("[dependencies]\n{dependency} = \"1\"\n"));
        let (at, reason) = found("crates/text/Cargo.toml", &text);
        assert!(
            at.starts_with("outside-crates crates/text/Cargo.toml:"),
            "{at}"
        );
        assert!(reason.contains(why), "{reason}");
    }
    for (line, rule) in [
        ("use std::net::TcpStream;", "sockets"),
        ("fn f(t: &tch::Tensor) {}", "torch"),
        ("use rusqlite::Connection;", "sql"),
    ] {
        let at = place(
            "crates/text/src/net.rs",
            &format!("//! std::net, tch, rusqlite\n{line}\n"),
        );
        assert_eq!(at, format!("{rule} crates/text/src/net.rs:2"));
    }
    let good = Good::new();
    good.write("crates/embed/src/t.rs", "use tch::Tensor;\n");
    good.write(
        "crates/text/tests/it/main.rs",
        "use std::net::TcpListener;\n",
    );
    assert_eq!(good.check(), []);
}

#[test]
fn a_package_lacks_nothing() {
    let whole = member("text", "");
    let at = "manifest crates/text/Cargo.toml:";
    for (from, to, expected) in [
        (
            "edition.workspace = true",
            "edition = \"2021\"",
            "edition is its own",
        ),
        (
            "rust-version.workspace = true",
            "rust-version = \"1.85\"",
            "rust-version is its own",
        ),
        (
            "[lints]\nworkspace = true",
            "",
            "the workspace's lints do not apply",
        ),
        ("description = \"What it is\"", "", "it has no description"),
        (
            "\"What it is\"",
            "\"PLACEHOLDER text\"",
            "it has no description",
        ),
    ] {
        let (place, reason) = found("crates/text/Cargo.toml", &whole.replace(from, to));
        assert!(place.starts_with(at), "{place}");
        assert_eq!(reason, expected);
    }
    let good = Good::new();
    fs::remove_file(good.root().join("crates/text/README.md")).unwrap();
    assert_eq!(good.only().1, "it has no README.md");
    let good = Good::new();
    good.write(
        "crates/text/Cargo.toml",
        &whole.replace("license.workspace = true\n", ""),
    );
    let reasons: Vec<_> = good.check().into_iter().map(|f| f.reason).collect();
    assert_eq!(reasons, ["it states no licence", "license is its own"]);
}

#[test]
fn one_test_binary_per_package() {
    let at = place("crates/core/tests/more.rs", "#[test]\nfn more() {}\n");
    assert_eq!(at, "one-test-binary crates/core/tests/more.rs:1");
}

#[test]
fn every_pin_has_a_reason() {
    let bare = ROOT.replace("serde = \"1\" # a reason", "serde = \"1\"");
    assert_eq!(
        found("Cargo.toml", &bare).1,
        "no reason stands beside serde"
    );
    let above = ROOT.replace("serde = \"1\" # a reason", "# a reason\nserde = \"1\"");
    let good = Good::new();
    good.write("Cargo.toml", &above);
    assert_eq!(good.check(), []);
    let heading = ROOT.replace("serde = \"1\" # a reason", "# --- text ---\nserde = \"1\"");
    assert_eq!(place("Cargo.toml", &heading), "pins Cargo.toml:16");
}

#[test]
fn the_compiler_is_new_enough() {
    // Cargo itself refuses to build with such a version, but describes the workspace.
    let future = ROOT.replace("\"1.85\"", "\"1.9999\"");
    let (at, reason) = found("Cargo.toml", &future);
    assert_eq!(at, "rust-version Cargo.toml:8");
    assert!(
        reason.contains("rust-version is 1.9999, the compiler is 1."),
        "{reason}"
    );
}

#[test]
fn files_are_short_and_named_after_their_subject() {
    let long = "// line\n".repeat(801);
    assert_eq!(
        place("crates/text/src/long.rs", &long),
        "file-size crates/text/src/long.rs:801"
    );
    let good = Good::new();
    for n in 0..6 {
        good.write(
            &format!("crates/text/src/m{n}.rs"),
            &"// line\n".repeat(251),
        );
    }
    assert!(
        good.only()
            .1
            .contains("half of the Rust files have 251 lines")
    );
    for name in ["utils", "helpers", "common", "misc"] {
        let file = format!("crates/text/src/{name}.rs");
        assert_eq!(place(&file, "//! It.\n"), format!("names {file}:1"));
        let folder = format!("crates/text/src/{name}/mod.rs");
        assert_eq!(place(&folder, "//! It.\n"), format!("names {folder}:1"));
        let inline = format!("//! mod {name} {{\npub mod {name} {{}}\nmod {name} {{\n}}\n");
        assert_eq!(
            place("crates/text/src/x.rs", &inline),
            "names crates/text/src/x.rs:3"
        );
    }
}

#[test]
fn large_files_and_weights_stay_out() {
    let at = place("data/big.txt", &"x".repeat((1 << 20) + 1));
    assert_eq!(at, "large-files data/big.txt:1");
    for ext in ["safetensors", "pt", "onnx", "bin"] {
        let (at, reason) = found(&format!("data/w.{ext}"), &"x".repeat(256_001));
        assert_eq!(at, format!("large-files data/w.{ext}:1"));
        assert!(reason.contains("256000 is the most"));
    }
    let good = Good::new();
    good.write("data/small.safetensors", "x");
    let adapter = "crates/embed/adapters/a/adapter.safetensors";
    good.write(adapter, &"x".repeat(256_001));
    assert_eq!(good.check(), []);
    let at = place(adapter, &"x".repeat((1 << 20) + 1));
    assert_eq!(at, format!("large-files {adapter}:1"));
}

#[test]
fn nothing_is_unfinished_or_switched_off_without_a_reason() {
    let source = "crates/text/src/x.rs";
    for line in [
        "fn f() { todo!() }",
        "fn f() { unimplemented!() }",
        "fn f() { dbg!(1); }",
    ] {
        assert_eq!(
            place(source, &format!("// todo!()\n{line}\n")),
            format!("unfinished {source}:2")
        );
    }
    for line in [
        "#[ignore]",
        "#![allow(dead_code)]",
        "#[allow(\n    dead_code\n)]\nfn reason() {}",
    ] {
        assert_eq!(
            place(source, &format!("\n{line}\n")),
            format!("reasons {source}:2")
        );
    }
    let good = Good::new();
    good.write(
        source,
        "#[ignore = \"why\"]\n#[allow(a, reason = \"why\")]\n// Why.\n#[allow(b)]\n\
         #[allow(\n    a,\n    reason = \"why\"\n)]\nfn f() {}\n",
    );
    good.write("crates/text/tests/it/main.rs", "#![allow(dead_code)]\n");
    assert_eq!(good.check(), []);
}

#[test]
fn no_text_names_a_place_on_one_machine() {
    for folder in ["root", "home", "work", "tmp/dev"] {
        let (at, _) = found("docs/METHODS.md", &format!("a\nsee /{folder}/x\n"));
        assert_eq!(at, "machine-paths docs/METHODS.md:2");
    }
    let good = Good::new();
    good.write(
        "docs/METHODS.md",
        &format!("the net{}\n", "work".replace('w', "/w") + "/x"),
    );
    good.write(
        "docs/LIMITS.md",
        &format!("tidy: allow(machine-paths): an example\n/{}/x\n", "home"),
    );
    assert_eq!(good.check(), []);
    let unexplained = format!("tidy: allow(machine-paths):\n/{}/x\n", "home");
    assert_eq!(
        place("docs/LIMITS.md", &unexplained),
        "machine-paths docs/LIMITS.md:2"
    );
}

#[test]
fn torch_sys_is_built_once() {
    let good = Good::new();
    good.write("target/release/build/torch-sys-1/out/libtch.a", "");
    good.write("target/debug/build/torch-sys-2/output", "");
    assert_eq!(good.check(), []);
    good.write("target/debug/build/torch-sys-2/out/libtch.a", "");
    good.write(
        "target/x86_64-unknown-linux-gnu/release/build/torch-sys-3/out/libtch.a",
        "",
    );
    let findings = good.check();
    assert_eq!(findings.len(), 3, "each of them: {findings:#?}");
    assert!(
        findings
            .iter()
            .all(|f| f.rule == "torch-once" && f.reason.contains("3 times"))
    );
}

#[test]
fn links_and_named_paths_lead_somewhere() {
    let good = Good::new();
    good.write("docs/tables/chunking.md", "# T\n");
    good.write("crates/core/benches/peer.py", "");
    good.write(
        "docs/METHODS.md",
        "[a](../README.md) [b](tables) [c](tables/chunking.md#t) [d](#here) [e](/crates/core/)\n\
         [f](https://host/x) [g](mailto:a@b) <https://host/y> [h](./LIMITS.md?x=1) [i][r]\n\n\
         [r]: STYLE.md\n\n`[x](gone.md)` `crates/core/src/` `crates/core/src/lib.rs:3`\n\
         `crates/core/tests/it::it_holds` `docs/tables/NAME.md` `crates/*/README.md` `src/gone.rs`\n\
         `cargo run crates/gone`\n\n```text\n[x](gone.md)\ncrates/gone\n```\n\n    [x](gone.md)\n",
    );
    good.write("crates/core/README.md", "# It\n`benches/peer.py`\n");
    good.write("crates/core/NOTES.md", "# It\n`crates/gone`\n");
    good.write("bench-data/corpus/a.md", "[x](gone.md)\n");
    assert_eq!(good.check(), []);

    for (path, text, what) in [
        (
            "CHANGELOG.md",
            "[x](gone.md)",
            "links to `gone.md`, which does not exist",
        ),
        (
            "docs/LIMITS.md",
            "[x](README.md)",
            "links to `README.md`, which does not exist",
        ),
        (
            "docs/LIMITS.md",
            "[x](readme.md#a)",
            "links to `readme.md#a`, which does not exist",
        ),
        (
            "docs/LIMITS.md",
            "[x](../../a.md)",
            "links to `../../a.md`, which does not exist",
        ),
        (
            "docs/LIMITS.md",
            "![x](a.png)",
            "links to `a.png`, which does not exist",
        ),
        (
            "docs/LIMITS.md",
            "[x][r]\n\n[r]: gone.md",
            "links to `gone.md`, which does not exist",
        ),
        (
            "docs/LIMITS.md",
            "| a |\n|---|\n| `docs/G.md` |",
            "names `docs/G.md`, and there is no `docs/G.md`",
        ),
        (
            "docs/LIMITS.md",
            "`crates/core/src/gone.rs::f`",
            "names `crates/core/src/gone.rs::f`, and there is no `crates/core/src/gone.rs`",
        ),
        (
            "docs/LIMITS.md",
            "`crates/gone/*.rs`",
            "names `crates/gone/*.rs`, and there is no `crates/gone`",
        ),
        (
            "docs/LIMITS.md",
            "`crates/gone/NAME.md`",
            "names `crates/gone/NAME.md`, and there is no `crates/gone`",
        ),
        (
            "crates/core/README.md",
            "`benches/gone.py`",
            "names `benches/gone.py`, and there is no `benches/gone.py`",
        ),
    ] {
        let (at, reason) = found(path, &format!("# It\n\n{text}\n"));
        let line = if text.starts_with('|') { 5 } else { 3 };
        assert_eq!(at, format!("docs-links {path}:{line}"), "{text}");
        assert_eq!(reason, format!("it {what}"));
    }
    let good = Good::new();
    good.write(
        "docs/LIMITS.md",
        "<!-- tidy: allow(docs-links): written by a command -->\n[x](gone.md)\n",
    );
    assert_eq!(good.check(), []);
}

#[test]
fn what_is_tracked_is_there_and_rust_is_text() {
    let good = Good::new();
    std::os::unix::fs::symlink("nowhere.rs", good.root().join("crates/text/src/l.rs")).unwrap();
    let dangling = (
        "tracked crates/text/src/l.rs:1".to_owned(),
        "it is a symlink that points nowhere".to_owned(),
    );
    assert_eq!(good.only(), dangling, "without git");
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        let git = git
            .args(args)
            .current_dir(good.root())
            .env_remove("GIT_DIR");
        assert!(git.output().unwrap().status.success(), "git {args:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    assert_eq!(good.only(), dangling, "with git");
    good.write("crates/text/src/nowhere.rs", "//! It.\n");
    assert_eq!(good.check(), []);
    fs::remove_file(good.root().join("crates/text/src/l.rs")).unwrap();
    let (at, reason) = good.only();
    assert_eq!(at, "tracked crates/text/src/l.rs:1");
    assert_eq!(reason, "git tracks it and it is not there");

    for bytes in [&b"//! caf\xe9\n"[..], b"//! It.\0\n"] {
        let good = Good::new();
        fs::write(good.root().join("crates/text/src/latin.rs"), bytes).unwrap();
        let (at, reason) = good.only();
        assert_eq!(at, "rust-text crates/text/src/latin.rs:1");
        assert!(reason.contains("not UTF-8"), "{reason}");
    }
}

#[test]
fn documents_are_there_and_keep_their_promises() {
    let good = Good::new();
    fs::remove_file(good.root().join("docs/METHODS.md")).unwrap();
    assert_eq!(good.only().0, "docs-files docs/METHODS.md:1");

    let map = "crates/core crates/text crates/embed\n";
    let invariant = |text: &str| found("docs/ARCHITECTURE.md", &format!("{map}\n{text}\n"));
    for (text, reason) in [
        ("Nothing.", "it states no invariants"),
        ("- **INV-01** It holds.", "INV-01 names no check"),
        (
            "- **INV-01** X. Held by: `gone`",
            "INV-01 is held by `gone`, which does not exist",
        ),
        (
            "- **INV-01** X. Held by: `xtask tidy: gone`",
            "INV-01 is held by `xtask tidy: gone`, which does not exist",
        ),
        (
            "- **INV-01** X. Held by: `crates/text/src/lib.rs::it_holds`",
            "INV-01 is held by `crates/text/src/lib.rs::it_holds`, which does not exist",
        ),
        (
            "- **INV-01** X. Held by: `it_holds`\n- **INV-01** Y. Held by: `it_holds`",
            "INV-01 is there twice",
        ),
    ] {
        let (at, found) = invariant(text);
        assert!(
            at.starts_with("docs-invariants docs/ARCHITECTURE.md:"),
            "{at}"
        );
        assert_eq!(found, reason);
    }
    let less = "crates/core crates/embed\n- **INV-01** X. Held by: `it_holds`\n";
    assert_eq!(
        found("docs/ARCHITECTURE.md", less).1,
        "crates/text (cornu-text) is not on the map"
    );

    let (at, reason) = found(
        "README.zh-CN.md",
        "<!-- begin a -->\n<!-- end a -->\n<!-- begin b -->\n",
    );
    assert_eq!(at, "docs-languages README.zh-CN.md:3");
    assert_eq!(reason, "the other language has no `<!-- begin b -->`");

    let many: String = (1..=26).map(|n| format!("{n}. **Rule.** Why.\n")).collect();
    assert!(
        found("docs/STYLE.md", &many)
            .1
            .contains("it has 26 numbered rules")
    );
    assert!(
        found("docs/STYLE.md", "none\n")
            .1
            .contains("it has 0 numbered rules")
    );
}
