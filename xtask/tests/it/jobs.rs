//! `test`, `bench-tables` and `with-torch` on a workspace of one package, with a feature `torch`
//! that is only a name.

use std::fs;
use std::process::{Command, Output};

use crate::world::{World, text};

const MANIFEST: &str = r#"[workspace]
[package]
name = "tiny"
edition = "2024"
[features]
torch = []
[[bin]]
name = "tables"
path = "tables.rs"
[lib]
path = "lib.rs"
"#;

const LIBRARY: &str = r#"
#[test]
fn each_profile_has_what_it_should() {
    assert_eq!(cfg!(feature = "torch"), !cfg!(debug_assertions));
    assert!(option_env!("CARGO_PKG_NAME") == Some("tiny"));
    assert!(std::env::var_os("FAIL_WITH").is_none_or(|v| (v == "torch") != cfg!(feature = "torch")));
}
#[cfg(feature = "torch")]
#[test]
fn the_environment_is_whole() {
    let var = |name| std::path::PathBuf::from(std::env::var_os(name).expect(name));
    assert!(var("LIBTORCH").join("lib/libtorch_cpu.so").is_file());
    assert!(var("CORNU_MODELS").join("mini/model.safetensors").is_file());
    let loader = std::env::var_os("LD_LIBRARY_PATH").or_else(|| std::env::var_os("DYLD_LIBRARY_PATH")).unwrap();
    assert!(std::env::split_paths(&loader).any(|p| p == var("LIBTORCH").join("lib")));
    assert_eq!(var("CORNU_REQUIRE_MODELS").as_os_str(), "1");
    assert!(var("CORNU_DATA").ends_with("shared/data"));
    assert!(std::env::var_os("LIBTORCH_BYPASS_VERSION_CHECK").is_none());
    use std::io::Write;
    writeln!(std::io::stderr(), "SKIPPED a part: it is not there").unwrap();
}
"#;

const TABLES: &str = r#"
fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let models = std::env::var("CORNU_MODELS").is_ok();
    if args.contains(&"wrong".into()) {
        eprintln!("error: there is no table \"wrong\"; there are a, b");
        std::process::exit(2);
    }
    println!("tables {args:?} torch={} models={models}", cfg!(feature = "torch"));
    std::process::exit(if args.contains(&"--check".into()) { 4 } else { 0 });
}
"#;

fn tiny() -> World {
    let world = World::new();
    fs::create_dir_all(world.path("shared/data")).unwrap();
    fs::create_dir(world.path("checkout")).unwrap();
    for (name, content) in [
        ("Cargo.toml", MANIFEST),
        ("lib.rs", LIBRARY),
        ("tables.rs", TABLES),
    ] {
        fs::write(world.path("checkout").join(name), content).unwrap();
    }
    assert!(world.setup(&["--quiet"]).status.success());
    world
}

fn job(world: &World, args: &[&str]) -> Command {
    let (options, passed_on) = match args.iter().position(|a| *a == "--") {
        Some(at) => args.split_at(at),
        None => (args, &[][..]),
    };
    let mut command = world.xtask(options);
    command.args(passed_on).current_dir(world.path("checkout"));
    command
        .env("CARGO_MANIFEST_DIR", world.path("checkout"))
        .env("CARGO_NET_OFFLINE", "true");
    command
        .env_remove("CARGO_TARGET_DIR")
        .env("LIBTORCH_BYPASS_VERSION_CHECK", "1");
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

fn run(world: &World, args: &[&str]) -> Output {
    job(world, args).output().unwrap()
}

#[test]
fn test_runs_both_parts_in_their_profiles_and_counts() {
    let world = tiny();
    let output = run(&world, &["test"]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("$ cargo test --workspace\n"), "{said}");
    assert!(
        said.contains("$ cargo test --release -p tiny --features tiny/torch\n"),
        "{said}"
    );
    assert!(said.contains("1 tests passed, 0 ignored"), "{said}");
    assert!(said.contains("2 tests passed, 0 ignored"), "{said}");
    let last = |output: &Output| {
        let said = String::from_utf8(output.stdout.clone()).unwrap();
        said.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(last(&output), "3 passed, 0 failed, 1 skipped");

    let output = run(&world, &["test", "--no-torch"]);
    assert!(text(&output).contains("test, torch: skipped, --no-torch"));
    let output = run(&world, &["test", "--no-torch", "--", "no_such_test"]);
    assert!(
        text(&output).contains("0 tests passed, 0 ignored"),
        "{}",
        text(&output)
    );

    for (part, skipped) in [("plain", true), ("torch", false)] {
        let output = job(&world, &["test"])
            .env("FAIL_WITH", part)
            .output()
            .unwrap();
        let said = text(&output);
        assert_eq!(output.status.code(), Some(101), "{said}");
        assert!(said.contains("FAILED (exit code 101)"), "{said}");
        let sum = if skipped {
            "0 passed, 1 failed"
        } else {
            "2 passed, 1 failed, 1 skipped"
        };
        assert_eq!(last(&output), sum, "{said}");
        assert_eq!(
            said.contains("skipped, the tests before it failed"),
            skipped,
            "{said}"
        );
    }
}

#[test]
fn bench_tables_builds_with_torch_and_passes_its_flags_on() {
    let world = tiny();
    let output = run(
        &world,
        &["bench-tables", "--table", "a", "--table", "b", "--quick"],
    );
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    let build = "$ cargo build --release -p tiny --features tiny/torch --bin tables\n";
    assert!(said.contains(build), "{said}");
    let expected = r#"tables ["--table", "a", "--table", "b", "--quick"] torch=true models=true"#;
    assert!(said.contains(expected), "{said}");
    assert_eq!(
        run(&world, &["bench-tables", "--check"]).status.code(),
        Some(4)
    );
    assert_eq!(
        run(&world, &["bench-tables", "--check", "--list"])
            .status
            .code(),
        Some(2)
    );
    fs::remove_dir_all(world.cache()).unwrap();
    assert_eq!(
        run(&world, &["bench-tables", "--offline"]).status.code(),
        Some(2)
    );
}

#[test]
fn what_measures_nothing_needs_no_setup_and_no_torch() {
    let world = tiny();
    fs::remove_dir_all(world.cache()).unwrap();

    let output = run(&world, &["bench-tables", "--list"]);
    assert!(output.status.success(), "{}", text(&output));
    let listed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(listed, "tables [\"--list\"] torch=false models=false\n");

    let output = run(&world, &["bench-tables", "--render", "--table", "a"]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    let rendered = r#"tables ["--table", "a", "--render"] torch=false models=false"#;
    assert!(said.contains(rendered), "{said}");

    for flags in [&[][..], &["--list"], &["--render"], &["--check"]] {
        let args = [&["bench-tables", "--table", "a", "wrong"], flags].concat();
        let output = run(&world, &args);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("there are a, b"), "{said}");
        assert!(
            !said.contains("--release"),
            "nothing is compiled for it: {said}"
        );
    }
    assert!(!world.cache().exists(), "nothing was fetched");
    assert_eq!(world.fetches("torch"), 1, "by the setup of this test");
}

#[test]
fn with_torch_inserts_the_selection_and_passes_the_exit_code_on() {
    let world = tiny();
    let output = run(
        &world,
        &[
            "with-torch",
            "--all-torch",
            "--",
            "build",
            "--bin",
            "tables",
        ],
    );
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    let shown = "$ cargo build --release -p tiny --features tiny/torch --bin tables\n";
    assert!(said.contains(shown), "{said}");
    let output = run(&world, &["with-torch", "--", "no-such-command", "--", "-x"]);
    assert_eq!(output.status.code(), Some(101));
    assert!(text(&output).contains("$ cargo no-such-command -- -x\n"));
    let said = text(&run(&world, &["with-torch", "--print"]));
    assert!(
        said.contains("LIBTORCH=") && said.contains("CORNU_MODELS="),
        "{said}"
    );
}
