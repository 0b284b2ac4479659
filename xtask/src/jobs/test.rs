//! `cargo xtask test`: all tests, those with torch in their own profile.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::environment::Environment;
use super::steps::Steps;
use crate::cli::{Common, prepare};
use crate::workspace::{Workspace, cargo};

/// Run all tests of the workspace, setup included.
///
/// First everything without torch, in the dev profile (`cargo test --workspace`); then the
/// packages that have a feature `torch`, with it, in the release profile. The programs get
/// LIBTORCH, the loader's path, CORNU_MODELS (the folder under which each model has its own) and,
/// where it is known, CORNU_DATA.
///
/// The last line sums up both parts: `N passed, N failed`, and `, N skipped` where tests were
/// ignored or a line of theirs begins with SKIPPED. A part that breaks without a failing test
/// counts as one failed.
#[derive(Debug, Args)]
pub struct TestArgs {
    #[command(flatten)]
    common: Common,
    /// Only the first part: nothing is fetched, nothing needs torch
    #[arg(long)]
    no_torch: bool,
    /// Arguments for both runs of `cargo test`, for example a test's name
    #[arg(last = true, value_name = "ARGS")]
    extra: Vec<OsString>,
}

/// Runs the job.
///
/// # Errors
/// If the setup fails or a program cannot be started; a failing test is an exit code.
pub fn run(args: &TestArgs) -> Result<ExitCode> {
    let workspace = Workspace::here()?;
    let mut steps = Steps::default();
    let env = if args.no_torch {
        Environment::plain(&workspace.root)
    } else {
        let prepared = steps.call("setup", || prepare(&args.common, &args.common.options()))?;
        print!("{}", prepared.lines());
        args.common.environment(&workspace.root, &prepared)?
    };
    let mut command = cargo();
    command
        .current_dir(&workspace.root)
        .args(["test", "--workspace"])
        .args(&args.extra);
    let passed = steps.test("test, no torch", &mut command, &env)?;

    const TORCH: &str = "test, torch";
    if args.no_torch {
        steps.skip(TORCH, "--no-torch");
    } else if !passed {
        steps.skip(TORCH, "the tests before it failed");
    } else if workspace.torch_packages().is_empty() {
        steps.skip(TORCH, "no package has a feature `torch`");
    } else {
        let mut command = cargo();
        command.current_dir(&workspace.root).arg("test");
        command.args(workspace.torch_selection()).args(&args.extra);
        steps.test(TORCH, &mut command, &env)?;
    }
    Ok(steps.finish())
}
