//! `cargo xtask bench-tables`: measure, render, splice; the measuring is in package `benches`.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::Args;

use super::steps::Steps;
use crate::cli::{Common, prepare};
use crate::workspace::{Workspace, cargo};

/// The program that measures and renders.
const PROGRAM: &str = "tables";

/// Measure and render the tables in the documentation, setup included.
///
/// Without flags: measures every table, writes its evidence, renders docs/tables and splices
/// README.md.
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
    /// Only render from the records that are there
    #[arg(long, conflicts_with = "list")]
    render: bool,
    /// List the tables and stop
    #[arg(long)]
    list: bool,
}

/// Runs the job.
///
/// # Errors
/// If the setup fails or a program cannot be started; a table that differs is an exit code.
pub fn run(args: &BenchTablesArgs) -> Result<ExitCode> {
    let workspace = Workspace::here()?;
    let builds = |p: &&crate::workspace::Package| {
        p.targets
            .iter()
            .any(|t| t.name == PROGRAM && t.kind.iter().any(|k| k == "bin"))
    };
    let owner = workspace.packages.iter().find(builds);
    let owner = owner.with_context(|| format!("no package of the workspace builds `{PROGRAM}`"))?;
    let mut steps = Steps::default();
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
        tables.current_dir(&workspace.root);
        for table in &args.tables {
            tables.args(["--table", table]);
        }
        let flags = [
            ("--check", args.check),
            ("--quick", args.quick),
            ("--resume", args.resume),
            ("--render", args.render),
            ("--list", args.list),
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
