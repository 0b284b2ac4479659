//! `cornu`: index files, ask as somebody, get cited evidence or a refusal.
//!
//! - [`args`]: the command line, and with it the help, the completions and the man pages
//! - [`commands`]: one function a command
//! - [`files`]: which files become documents, and under which names
//! - [`grants`]: who may see a document, and who asks
//! - [`embedder`]: the model that a name on the command line stands for
//! - [`reranker`]: the second look that `--rerank` asks for
//! - [`output`]: the one place that writes to standard output and standard error

mod args;
mod commands;
mod embedder;
mod files;
mod grants;
mod output;
mod reranker;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::output::{Outcome, Terminal};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let terminal = Terminal::new(cli.quiet);
    match commands::run(&cli, &terminal) {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            terminal.error(&output::chain(&error));
            Outcome::Failed.into()
        }
    }
}
