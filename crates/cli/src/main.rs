//! `cornu`: index files, ask as somebody, get cited evidence or a refusal.
//!
//! - [`args`]: the command line, and with it the help, the completions and the man pages
//! - [`chat`]: the model that writes answers, where one is named
//! - [`chunker`]: how `index` cuts documents, and how an index says so
//! - [`commands`]: one function a command
//! - [`config`]: values for flags from a file and from the environment
//! - [`files`]: which files become documents, and under which names
//! - [`grants`]: who may see a document, and who asks
//! - [`embedder`]: the model that a name on the command line stands for
//! - [`measure`]: what `eval` measures
//! - [`reranker`]: the second look that `--rerank` asks for
//! - [`output`]: the one place that writes to standard output and standard error
//! - [`watch`]: which files have changed

mod args;
mod chat;
mod chunker;
mod commands;
mod config;
mod embedder;
mod files;
mod grants;
mod measure;
mod output;
mod reranker;
mod searching;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::args::Cli;
use crate::output::{Outcome, Terminal};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let terminal = Terminal::new(false);
    let (matches, settings) = match config::matches(Cli::command, &arguments) {
        Ok(read) => read,
        Err(error) => return refused(&error, &terminal),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return terminal.usage(&error),
    };
    let terminal = Terminal::new(cli.quiet);
    match commands::run(&cli, &settings, &terminal) {
        Ok(outcome) => outcome.into(),
        Err(error) => refused(&error, &terminal),
    }
}

fn refused(error: &anyhow::Error, terminal: &Terminal) -> ExitCode {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        return terminal.usage(usage);
    }
    terminal.error(&output::chain(error));
    Outcome::Failed.into()
}
