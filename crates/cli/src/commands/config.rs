//! `cornu config`.

use anyhow::Result;
use clap::CommandFactory;
use serde::Serialize;

use crate::args::{Cli, ConfigArgs};
use crate::config::{Origin, Settings};
use crate::output::{self, Outcome};

pub(super) fn run(args: &ConfigArgs, settings: &Settings) -> Result<Outcome> {
    let effective = settings.effective(&Cli::command());
    let shown: Vec<Shown> = effective
        .into_iter()
        .map(|(key, setting)| Shown {
            key,
            is_default: setting.origin == Origin::Default,
            values: setting.values,
            origin: setting.origin.to_string(),
        })
        .collect();
    if args.format.json {
        output::print_json(&shown)?;
    } else {
        let lines = shown.iter().map(|it| {
            let values = output::name(&it.values.join(", "));
            format!("{:<16}  {values:<24}  {}", it.key, it.origin)
        });
        output::print_text(&lines.collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Outcome::Done)
}

#[derive(Serialize)]
struct Shown {
    key: String,
    values: Vec<String>,
    origin: String,
    is_default: bool,
}
