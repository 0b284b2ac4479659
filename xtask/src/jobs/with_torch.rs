//! `cargo xtask with-torch`: any cargo command in the environment of the torch builds.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use super::steps::Steps;
use crate::cli::{Common, prepare};
use crate::workspace::{Workspace, cargo};

/// Run cargo with libtorch and the models at hand.
///
/// For example `cargo xtask with-torch --all-torch -- clippy --all-targets -- -D warnings`. Use
/// `--all-torch` (or `--release` and the same packages): another profile or another selection of
/// packages makes cargo compile torch-sys again, which takes minutes.
#[derive(Debug, Args)]
pub struct WithTorchArgs {
    #[command(flatten)]
    common: Common,
    /// Insert, after cargo's subcommand, `--release` and every package that has a feature `torch`,
    /// with that feature
    #[arg(long)]
    all_torch: bool,
    /// Print the environment and run nothing
    #[arg(long)]
    print: bool,
    /// Cargo's arguments
    #[arg(
        last = true,
        value_name = "CARGO ARGS",
        required_unless_present = "print"
    )]
    cargo: Vec<OsString>,
}

/// Runs the job.
///
/// # Errors
/// If the setup fails or cargo cannot be started; its failure is an exit code.
pub fn run(args: &WithTorchArgs) -> Result<ExitCode> {
    let workspace = Workspace::here()?;
    let prepared = prepare(&args.common, &args.common.options())?;
    let env = args.common.environment(&workspace.root, &prepared)?;
    if args.print {
        print!("{}", env.lines());
        return Ok(ExitCode::SUCCESS);
    }
    let (subcommand, rest) = args
        .cargo
        .split_first()
        .context("cargo wants a subcommand")?;
    let mut command = cargo();
    command.arg(subcommand);
    if args.all_torch {
        anyhow::ensure!(
            !workspace.torch_packages().is_empty(),
            "no package of the workspace has a feature `torch`"
        );
        command.args(workspace.torch_selection());
    }
    let mut steps = Steps::default();
    steps.run(&subcommand.to_string_lossy(), command.args(rest), &env)?;
    Ok(steps.finish())
}
