//! Running programs one after another, with the time of each and a summary.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::environment::Environment;
use crate::progress::duration;

/// The steps of a job, as far as they have run.
#[derive(Debug, Default)]
pub struct Steps {
    done: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    name: String,
    took: Duration,
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Tests(Counts),
    Failed(i32),
    Skipped,
}

/// What `cargo test` said it ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests that were ignored.
    pub ignored: u64,
}

impl Steps {
    /// Does something in this process as a step.
    ///
    /// # Errors
    /// What it gives.
    pub fn call<T>(&mut self, name: &str, what: impl FnOnce() -> Result<T>) -> Result<T> {
        let started = Instant::now();
        let result = what();
        let outcome = if result.is_ok() {
            Outcome::Passed
        } else {
            Outcome::Failed(1)
        };
        self.push(name, started.elapsed(), outcome);
        result
    }

    /// Runs a program, its output passed through; whether it succeeded.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn run(&mut self, name: &str, command: &mut Command, env: &Environment) -> Result<bool> {
        self.spawn(name, command, env, |child| {
            let status = child.status()?;
            Ok((status.code().unwrap_or(1), Outcome::Passed))
        })
    }

    /// Runs `cargo test`, its output passed through and its tests counted; whether it succeeded.
    ///
    /// # Errors
    /// If it cannot be started or read from.
    pub fn test(&mut self, name: &str, command: &mut Command, env: &Environment) -> Result<bool> {
        self.spawn(name, command, env, |command| {
            let mut child = command.stdout(Stdio::piped()).spawn()?;
            let mut counts = Counts::default();
            if let Some(stdout) = child.stdout.take() {
                for line in BufReader::new(stdout).split(b'\n') {
                    let line = line?;
                    let line = String::from_utf8_lossy(&line);
                    println!("{line}");
                    counts.add_line(&line);
                }
            }
            Ok((child.wait()?.code().unwrap_or(1), Outcome::Tests(counts)))
        })
    }

    /// Notes that a step was left out, and why.
    pub fn skip(&mut self, name: &str, why: &str) {
        println!("\n-- {name}: skipped, {why}");
        self.push(name, Duration::ZERO, Outcome::Skipped);
    }

    /// The closing table, on stdout, and the exit code: that of the first step that failed.
    #[must_use]
    pub fn finish(&self) -> ExitCode {
        print!("\n{}", self.summary());
        let failed = self.done.iter().find_map(|step| match step.outcome {
            Outcome::Failed(code) => Some(code),
            _ => None,
        });
        failed.map_or(ExitCode::SUCCESS, |code| {
            u8::try_from(code).unwrap_or(1).max(1).into()
        })
    }

    fn summary(&self) -> String {
        let width = self
            .done
            .iter()
            .map(|s| s.name.chars().count())
            .max()
            .unwrap_or(0);
        let row = |step: &Step| {
            let outcome = match step.outcome {
                Outcome::Passed => "done".to_owned(),
                Outcome::Tests(Counts {
                    passed,
                    failed: _,
                    ignored,
                }) => {
                    format!("{passed} tests passed, {ignored} ignored")
                }
                Outcome::Failed(code) => format!("FAILED (exit code {code})"),
                Outcome::Skipped => "skipped".to_owned(),
            };
            format!(
                "  {:width$}  {:>9}  {outcome}\n",
                step.name,
                duration(step.took)
            )
        };
        let total = self.done.iter().map(|s| s.took).sum();
        let rows: String = self.done.iter().map(row).collect();
        format!("{rows}  {:width$}  {:>9}\n", "all", duration(total))
    }

    fn spawn(
        &mut self,
        name: &str,
        command: &mut Command,
        env: &Environment,
        run: impl FnOnce(&mut Command) -> std::io::Result<(i32, Outcome)>,
    ) -> Result<bool> {
        println!("\n$ {}", shown(command));
        env.apply(command);
        command.stdin(Stdio::null());
        let started = Instant::now();
        let program = command.get_program().display().to_string();
        let (code, outcome) = run(command).with_context(|| format!("cannot run {program}"))?;
        let outcome = if code == 0 {
            outcome
        } else {
            Outcome::Failed(code)
        };
        self.push(name, started.elapsed(), outcome);
        Ok(code == 0)
    }

    fn push(&mut self, name: &str, took: Duration, outcome: Outcome) {
        self.done.push(Step {
            name: name.to_owned(),
            took,
            outcome,
        });
    }
}

impl Counts {
    /// Adds a line such as `test result: ok. 7 passed; 0 failed; 1 ignored; …`.
    pub fn add_line(&mut self, line: &str) {
        let Some(rest) = line.trim_start().strip_prefix("test result: ") else {
            return;
        };
        for part in rest.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(count), Some(what)) = (words.next(), words.next()) else {
                continue;
            };
            let Ok(count) = count.parse::<u64>() else {
                continue;
            };
            match what {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
        }
    }
}

/// A command as one would type it.
fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program
        .file_name()
        .unwrap_or(command.get_program())
        .to_string_lossy()
        .into_owned();
    let args = command.get_args().map(|arg| {
        let arg = arg.to_string_lossy();
        if arg.is_empty() || arg.contains([' ', '\'', '"', '*', '$']) {
            format!("'{}'", arg.replace('\'', r"'\''"))
        } else {
            arg.into_owned()
        }
    });
    std::iter::once(name)
        .chain(args)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_from_what_cargo_prints() {
        let mut counts = Counts::default();
        counts
            .add_line("test result: ok. 7 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out");
        counts.add_line("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured");
        counts.add_line("test text::result: ok");
        assert_eq!(
            counts,
            Counts {
                passed: 8,
                failed: 2,
                ignored: 1
            }
        );
    }

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["test", "-p", "a b", ""]);
        assert_eq!(shown(&command), "cargo test -p 'a b' ''");
    }

    #[test]
    fn a_failing_program_is_reported_with_its_exit_code() {
        let mut steps = Steps::default();
        let env = Environment::default();
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "echo 'test result: ok. 3 passed; 0 failed; 0 ignored'",
        ]);
        assert!(steps.test("good", &mut command, &env).unwrap());
        let mut command = Command::new("sh");
        assert!(
            !steps
                .run("bad", command.args(["-c", "exit 7"]), &env)
                .unwrap()
        );
        steps.skip("later", "nothing to do");
        let summary = steps.summary();
        assert!(summary.contains("3 tests passed, 0 ignored"), "{summary}");
        assert!(summary.contains("FAILED (exit code 7)"), "{summary}");
        assert!(summary.contains("skipped"), "{summary}");
        assert_eq!(
            format!("{:?}", steps.finish()),
            format!("{:?}", ExitCode::from(7))
        );
        assert!(
            steps
                .run("none", &mut Command::new("no-such-program"), &env)
                .is_err()
        );
    }
}
