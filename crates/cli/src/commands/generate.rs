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

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use clap::{Arg, Command};
    use clap_complete::Shell;

    use super::*;

    fn commands() -> Vec<Command> {
        let mut root = Cli::command();
        root.build();
        let shown = root.get_subcommands().filter(|it| it.get_name() != "help");
        std::iter::once(&root).chain(shown).cloned().collect()
    }

    /// All that may be written for a flag: `--group`, `--as`, `-k`.
    fn spellings(arg: &Arg) -> Vec<String> {
        let longs = arg.get_long_and_visible_aliases().unwrap_or_default();
        let shorts = arg.get_short_and_visible_aliases().unwrap_or_default();
        let longs = longs.into_iter().map(|it| format!("--{it}"));
        longs
            .chain(shorts.into_iter().map(|it| format!("-{it}")))
            .collect()
    }

    #[test]
    fn the_man_pages_hold_every_flag_and_every_value() {
        for command in commands() {
            let mut page = Vec::new();
            Man::new(command.clone()).render(&mut page).unwrap();
            let page = String::from_utf8(page).unwrap().replace("\\-", "-");
            for arg in command.get_arguments() {
                let name = command.get_name();
                for spelling in spellings(arg) {
                    assert!(page.contains(&spelling), "{name} {spelling}");
                }
                assert!(arg.get_help().is_some(), "{name} {arg}");
                for value in arg.get_possible_values() {
                    let shown = arg.get_num_args().is_some_and(|it| it.takes_values());
                    assert!(!shown || page.contains(value.get_name()), "{name} {arg}");
                }
            }
        }
    }

    #[test]
    fn the_completions_of_every_shell_hold_every_command_and_flag() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "cornu", &mut script);
            let script = String::from_utf8(script).unwrap();
            for command in commands() {
                assert!(script.contains(command.get_name()), "{shell} {command}");
                for spelling in command.get_arguments().flat_map(spellings) {
                    // fish has them without dashes.
                    let held = match spelling.strip_prefix("--") {
                        Some(long) => [spelling.clone(), format!("-l {long}")],
                        None => [spelling.clone(), spelling.replace('-', "-s ")],
                    };
                    assert!(
                        held.iter().any(|it| script.contains(it)),
                        "{shell} {spelling}"
                    );
                }
            }
        }
    }

    /// As a shell would part it: quotes hold words together, and what is behind `>` is not ours.
    fn words(line: &str) -> Vec<String> {
        let line = line.split(" > ").next().unwrap_or_default();
        let mut words = Vec::new();
        for (at, part) in line.split('"').enumerate() {
            match at % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        words
    }

    #[test]
    fn every_command_has_examples_that_it_understands() {
        for command in commands() {
            let name = command.get_name();
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let examples: Vec<&str> = help
                .lines()
                .filter(|line| line.starts_with("  cornu "))
                .collect();
            assert!(!examples.is_empty(), "{name}");
            for example in examples {
                let parsed = Cli::command().try_get_matches_from(words(example));
                let parsed = parsed.unwrap_or_else(|error| panic!("{example}: {error}"));
                let own = name == "cornu" || parsed.subcommand_name() == Some(name);
                assert!(own, "{example}");
            }
        }
    }
}
