//! One function a command.

mod answer;
mod calibrate;
mod config;
mod eval;
mod generate;
mod index;
mod owner;
mod search;
mod tables;

use anyhow::Result;
use cornu::Principal;

use crate::args::{Cli, Command};
use crate::config::Settings;
use crate::output::{Outcome, Terminal};

/// Runs a command.
pub(crate) fn run(cli: &Cli, settings: &Settings, terminal: &Terminal) -> Result<Outcome> {
    match &cli.command {
        Command::Index(args) => index::run(args, terminal),
        Command::Search(args) => search::run(args, terminal),
        Command::Ask(args) => answer::ask(args, terminal),
        Command::Explain(args) => answer::explain(args, terminal),
        Command::Calibrate(args) => calibrate::run(args, terminal),
        Command::Eval(args) => eval::run(args, terminal),
        Command::Remove(args) => owner::remove(args, terminal),
        Command::Doctor(args) => owner::doctor(args),
        Command::Stats(args) => owner::stats(args),
        Command::RebuildIndex(args) => owner::rebuild(args),
        Command::Config(args) => config::run(args, settings),
        Command::Completions(args) => generate::completions(args),
        Command::Man(args) => generate::man(args),
    }
}

/// Says why an asker without grants finds nothing. It depends on the command line alone.
fn note_grants(principal: &Principal, terminal: &Terminal) {
    if principal.grants().len() == 0 {
        terminal.note(
            "an asker without grants sees nothing, not even public documents; give --group \
             GRANT or --public",
        );
    }
}

/// The first characters of a chunk's id: enough to tell the chunks of an index apart.
fn short(id: &cornu::ChunkId) -> String {
    id.to_string().chars().take(12).collect()
}
