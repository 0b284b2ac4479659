//! Measures, renders and checks the comparison tables. Called by `cargo xtask bench-tables`, which
//! sets up what it needs.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use cornu_benches::run::{self, Command};

/// Measure, render and check the comparison tables.
///
/// Without flags every table is measured, its record written to docs/evidence/, its page to
/// docs/tables/, and the READMEs are spliced.
#[derive(Parser)]
#[command(name = "tables")]
struct Arguments {
    /// Only these tables.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    table: Vec<String>,
    /// Render all again and measure the quick parts again; fail on any difference, write nothing.
    #[arg(long, conflicts_with_all = ["quick", "resume", "list"])]
    check: bool,
    /// Measure the quick parts only and print them; write nothing.
    #[arg(long, conflicts_with_all = ["resume", "list"])]
    quick: bool,
    /// Go on with an interrupted run of the same tree.
    #[arg(long, conflicts_with = "list")]
    resume: bool,
    /// Only render from the records that are there.
    #[arg(long, conflicts_with_all = ["check", "quick", "resume", "list"])]
    render: bool,
    /// Name the tables.
    #[arg(long)]
    list: bool,
    /// The checkout.
    #[arg(long, default_value = ".", value_name = "DIR")]
    root: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let command = if arguments.list {
        Command::List
    } else if arguments.check {
        Command::Check
    } else if arguments.quick {
        Command::Quick
    } else if arguments.render {
        Command::Render
    } else {
        Command::Measure {
            resume: arguments.resume,
        }
    };
    match run::run(&arguments.root, &arguments.table, command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            run::say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}
