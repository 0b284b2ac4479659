//! `cornu completions` and `cornu man`: made from the definition of the command line.

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::output::{self, Outcome};

pub(super) fn completions(args: &CompletionsArgs) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cornu", &mut script);
    output::print(&String::from_utf8(script)?)?;
    Ok(Outcome::Done)
}

pub(super) fn man(args: &ManArgs) -> Result<Outcome> {
    if let Some(folder) = &args.dir {
        clap_mangen::generate_to(Cli::command(), folder)
            .with_context(|| format!("cannot write man pages into {}", folder.display()))?;
        return Ok(Outcome::Done);
    }
    let mut page = Vec::new();
    Man::new(Cli::command()).render(&mut page)?;
    output::print(&String::from_utf8(page)?)?;
    Ok(Outcome::Done)
}
