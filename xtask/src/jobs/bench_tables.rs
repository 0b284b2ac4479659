//! `cargo xtask bench-tables`: measure, render, splice; the measuring is in package `benches`.

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use clap::Args;

use super::environment::Environment;
use super::steps::Steps;
use crate::cli::{Common, prepare};
use crate::workspace::{Package, Workspace, cargo};

/// The program that measures and renders.
const PROGRAM: &str = "tables";

/// Measure and render the tables in the documentation, setup included.
///
/// Without flags: measures every table, writes its evidence, renders docs/tables and splices
/// README.md. `--list` and `--render` measure nothing, so they need no setup and no torch; names
/// given with `--table` are looked at before anything is fetched. Exit code 2 for a name that
/// there is no table of.
#[derive(Debug, Args)]
pub struct BenchTablesArgs {
    #[command(flatten)]
    common: Common,
    /// Only these tables
    #[arg(long = "table", value_name = "NAME", num_args = 1..)]
    tables: Vec<String>,
    /// Re-render everything from the recorded evidence and re-measure the quality of the quick
    /// parts; fail on any difference
    #[arg(long, conflicts_with_all = ["quick", "resume", "render", "list"])]
    check: bool,
    /// Measure the small fixed part of each table only, and write nothing
    #[arg(long, conflicts_with_all = ["resume", "render", "list"])]
    quick: bool,
    /// Go on with an earlier, interrupted run of the same tree
    #[arg(long, conflicts_with_all = ["render", "list"])]
    resume: bool,
    /// Only render from the records that are there; needs no setup
    #[arg(long, conflicts_with = "list")]
    render: bool,
    /// List the tables and stop; needs no setup
    #[arg(long)]
    list: bool,
}

/// Runs the job.
///
/// # Errors
/// If the setup fails or a program cannot be started; a table that differs is an exit code.
pub fn run(args: &BenchTablesArgs) -> Result<ExitCode> {
    let workspace = Workspace::here()?;
    let owner = workspace.builds(PROGRAM)?;
    if args.list {
        return list(args, &workspace, owner);
    }
    let mut steps = Steps::default();
    let plain = Environment::plain(&workspace.root);
    if args.render {
        let mut render = without_torch(args, &workspace, owner);
        steps.run("render", render.arg("--render"), &plain)?;
        return Ok(steps.finish());
    }
    if !args.tables.is_empty() {
        let mut names = without_torch(args, &workspace, owner);
        names.arg("--list").stdout(Stdio::null());
        if !steps.run("names", &mut names, &plain)? {
            return Ok(steps.finish());
        }
    }
    let prepared = steps.call("setup", || prepare(&args.common, &args.common.options()))?;
    print!("{}", prepared.lines());
    let env = args.common.environment(&workspace.root, &prepared)?;

    // Built with the same selection of packages and features as the tests, then run: `cargo run`
    // selects one package alone, and that can be enough to compile torch-sys again.
    let mut build = cargo();
    build.current_dir(&workspace.root).arg("build");
    if owner.features.contains_key("torch") {
        build.args(workspace.torch_selection());
    } else {
        build.args(["--release", "-p", &owner.name]);
    }
    if steps.run("build", build.args(["--bin", PROGRAM]), &env)? {
        let program = workspace.target.join("release").join(PROGRAM);
        let mut tables = Command::new(program);
        tables.current_dir(&workspace.root).args(args.names());
        let flags = [
            ("--check", args.check),
            ("--quick", args.quick),
            ("--resume", args.resume),
        ];
        tables.args(
            flags
                .iter()
                .filter(|(_, given)| *given)
                .map(|(flag, _)| flag),
        );
        steps.run(PROGRAM, &mut tables, &env)?;
    }
    Ok(steps.finish())
}

/// Names the tables on stdout, and nothing else there.
fn list(args: &BenchTablesArgs, workspace: &Workspace, owner: &Package) -> Result<ExitCode> {
    let mut list = without_torch(args, workspace, owner);
    Environment::plain(&workspace.root).apply(&mut list);
    let status = list.arg("--list").status().context("cannot run cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(1).into())
}

/// The program for what it can do without measuring: the dev profile and no torch, so an answer
/// costs a minute or two of Rust the first time, well under a second later, and no download.
fn without_torch(args: &BenchTablesArgs, workspace: &Workspace, owner: &Package) -> Command {
    let mut run = cargo();
    run.current_dir(&workspace.root).stdin(Stdio::null());
    run.args(["run", "--package", &owner.name, "--bin", PROGRAM, "--"]);
    run.args(args.names());
    run
}

impl BenchTablesArgs {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.tables
            .iter()
            .flat_map(|table| ["--table", table.as_str()])
    }
}
