//! Running programs one after another, with the time of each and a summary.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
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
    /// Of a step that ran tests.
    counts: Option<Counts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
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
    /// Lines that begin with `SKIPPED`: what a test left out for want of something. The test
    /// itself counts as passed.
    pub skips: u64,
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
        self.push(name, started.elapsed(), outcome, None);
        result
    }

    /// Runs a program, its output passed through; whether it succeeded.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn run(&mut self, name: &str, command: &mut Command, env: &Environment) -> Result<bool> {
        self.spawn(name, command, env, |child| {
            let status = child.status()?;
            Ok((status.code().unwrap_or(1), None))
        })
    }

    /// Runs `cargo test`, its output passed through and its tests counted; whether it succeeded.
    ///
    /// # Errors
    /// If it cannot be started or read from.
    pub fn test(&mut self, name: &str, command: &mut Command, env: &Environment) -> Result<bool> {
        self.spawn(name, command, env, |command| {
            let colour = std::env::var_os("CARGO_TERM_COLOR").is_none();
            if colour && std::io::stderr().is_terminal() {
                // Through the pipe cargo no longer sees the terminal.
                command.env("CARGO_TERM_COLOR", "always");
            }
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn()?;
            let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
            let told = thread::spawn(move || count(stderr, |line| eprint!("{line}")));
            let results = count(stdout, |line| print!("{line}"));
            let told = told.join().map_err(|_| std::io::ErrorKind::Other)?;
            let counts = results?.and(told?);
            Ok((child.wait()?.code().unwrap_or(1), Some(counts)))
        })
    }

    /// Notes that a step was left out, and why.
    pub fn skip(&mut self, name: &str, why: &str) {
        println!("\n-- {name}: skipped, {why}");
        self.push(name, Duration::ZERO, Outcome::Skipped, None);
    }

    /// The closing table, on stdout, and the exit code: that of the first step that failed. If
    /// there were tests, the last line is their sum, `N passed, N failed`, with `, N skipped` where
    /// tests were ignored or left something out.
    #[must_use]
    pub fn finish(&self) -> ExitCode {
        print!("\n{}", self.summary());
        if let Some(sum) = self.sum() {
            println!("\n{sum}");
        }
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
            let outcome = match (step.outcome, step.counts) {
                (Outcome::Passed, None) => "done".to_owned(),
                (
                    Outcome::Passed,
                    Some(Counts {
                        passed, ignored, ..
                    }),
                ) => {
                    format!("{passed} tests passed, {ignored} ignored")
                }
                (Outcome::Failed(code), _) => format!("FAILED (exit code {code})"),
                (Outcome::Skipped, _) => "skipped".to_owned(),
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

    /// The tests of all steps. A step of tests that failed without a failing test (its build
    /// broke, or a test took the process down) counts as one failure.
    fn sum(&self) -> Option<String> {
        let counted = self.done.iter().filter_map(|step| {
            let mut counts = step.counts?;
            if matches!(step.outcome, Outcome::Failed(_)) {
                counts.failed = counts.failed.max(1);
            }
            Some(counts)
        });
        let all = counted.reduce(Counts::and)?;
        let skipped = match all.ignored + all.skips {
            0 => String::new(),
            some => format!(", {some} skipped"),
        };
        Some(format!(
            "{} passed, {} failed{skipped}",
            all.passed, all.failed
        ))
    }

    fn spawn(
        &mut self,
        name: &str,
        command: &mut Command,
        env: &Environment,
        run: impl FnOnce(&mut Command) -> std::io::Result<(i32, Option<Counts>)>,
    ) -> Result<bool> {
        println!("\n$ {}", shown(command));
        env.apply(command);
        command.stdin(Stdio::null());
        let started = Instant::now();
        let program = command.get_program().display().to_string();
        let (code, counts) = run(command).with_context(|| format!("cannot run {program}"))?;
        let outcome = if code == 0 {
            Outcome::Passed
        } else {
            Outcome::Failed(code)
        };
        self.push(name, started.elapsed(), outcome, counts);
        Ok(code == 0)
    }

    fn push(&mut self, name: &str, took: Duration, outcome: Outcome, counts: Option<Counts>) {
        self.done.push(Step {
            name: name.to_owned(),
            took,
            outcome,
            counts,
        });
    }
}

impl Counts {
    /// Adds a line such as `test result: ok. 7 passed; 0 failed; 1 ignored; …`, or one that begins
    /// with `SKIPPED`.
    pub fn add_line(&mut self, line: &str) {
        if line
            .strip_prefix("SKIPPED")
            .is_some_and(|rest| rest.starts_with([' ', ':']))
        {
            self.skips += 1;
        }
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

    fn and(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
            skips: self.skips + other.skips,
        }
    }
}

/// Passes a stream of lines on and counts what they say. By `print!`, not to the stream itself:
/// the harness holds back what a test of this function prints, or it would be counted in turn.
fn count(from: Option<impl Read>, show: impl Fn(&str)) -> std::io::Result<Counts> {
    let mut counts = Counts::default();
    let Some(from) = from else {
        return Ok(counts);
    };
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        show(&text);
        counts.add_line(&text);
        line.clear();
    }
    Ok(counts)
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
        counts.add_line("SKIPPED bert::parity: CORNU_MODELS is not set\n");
        counts.add_line("SKIPPED: no Python 3 on the PATH");
        counts.add_line("test a SKIPPED b");
        counts.add_line("SKIPPEDX");
        assert_eq!(
            counts,
            Counts {
                passed: 8,
                failed: 2,
                ignored: 1,
                skips: 2
            }
        );
    }

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["test", "-p", "a b", ""]);
        assert_eq!(shown(&command), "cargo test -p 'a b' ''");
    }

    fn sum_of(scripts: &[&str]) -> Option<String> {
        let mut steps = Steps::default();
        let env = Environment::default();
        steps
            .run("no test", &mut Command::new("true"), &env)
            .unwrap();
        for script in scripts {
            let mut command = Command::new("sh");
            steps
                .test("tests", command.args(["-c", script]), &env)
                .unwrap();
        }
        steps.sum()
    }

    #[test]
    fn the_tests_of_all_steps_are_summed_up_in_one_line() {
        let good = "echo 'test result: ok. 3 passed; 0 failed; 0 ignored'";
        let skips =
            "echo 'test result: ok. 4 passed; 0 failed; 1 ignored'; echo 'SKIPPED a: b' >&2";
        let fails = "echo 'test result: FAILED. 1 passed; 2 failed; 0 ignored'; exit 101";
        let broken = "echo 'error: could not compile' >&2; exit 101";
        for (scripts, sum) in [
            (&[][..], None),
            (&[good], Some("3 passed, 0 failed")),
            (&[good, skips], Some("7 passed, 0 failed, 2 skipped")),
            (&[good, fails], Some("4 passed, 2 failed")),
            (&[broken], Some("0 passed, 1 failed")),
        ] {
            assert_eq!(sum_of(scripts).as_deref(), sum, "{scripts:?}");
        }
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
