//! `cargo xtask train-reranker`: train and evaluate rerankers; the work is a program of
//! package `benches`.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::Args;

use super::steps::Steps;
use crate::cli::{Common, prepare};
use crate::workspace::{Workspace, cargo};

/// The program that trains.
const PROGRAM: &str = "train-reranker";

/// Train rerankers, those that the library carries among them, and measure them on questions they
/// have not seen.
///
/// Needs the question sets (`CORNU_DATA`) and the packaged weights, which its setup fetches. What
/// follows `--` goes to the program: `cargo xtask train-reranker -- --help` names its stages. An
/// interrupted training goes on where it stopped.
#[derive(Debug, Args)]
pub struct TrainRerankerArgs {
    #[command(flatten)]
    common: Common,
    /// The program's arguments
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// Runs the job.
///
/// # Errors
/// If the setup fails or a program cannot be started; a training that fails is an exit code.
pub fn run(args: &TrainRerankerArgs) -> Result<ExitCode> {
    let workspace = Workspace::here()?;
    workspace.builds(PROGRAM)?;
    let mut steps = Steps::default();
    let prepared = steps.call("setup", || prepare(&args.common, &args.common.options()))?;
    let env = args.common.environment(&workspace.root, &prepared)?;
    // The selection of the tests, so that torch-sys is compiled once for all.
    let mut build = cargo();
    build.current_dir(&workspace.root).arg("build");
    build.args(workspace.torch_selection());
    if steps.run("build", build.args(["--bin", PROGRAM]), &env)? {
        let program = workspace.target.join("release").join(PROGRAM);
        let mut train = Command::new(program);
        train.current_dir(&workspace.root).args(&args.arguments);
        steps.run(PROGRAM, &mut train, &env)?;
    }
    Ok(steps.finish())
}
