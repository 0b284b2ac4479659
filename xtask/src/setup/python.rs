//! Python as a client of the package index: pip fetches wheels, the standard library talks to
//! hubs. No address of an index is written here; pip knows the one the machine is set up for.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::digest::sha_of_file;
use super::manifest::Wheel;
use crate::progress::{Progress, Task};

/// Something that can fetch a wheel.
pub trait Fetch {
    /// Fetches a wheel into the (empty) folder `into` and gives its path, once size and sha256
    /// are the pinned ones.
    ///
    /// # Errors
    /// If it cannot be fetched or differs from its pin.
    fn wheel(&self, wheel: &Wheel, into: &Path, progress: &Progress) -> Result<PathBuf>;
}

/// A Python 3 that has pip.
#[derive(Debug, Clone)]
pub struct Python {
    program: OsString,
}

impl Python {
    /// `python3`, or else `python`, whichever is a Python 3.
    ///
    /// # Errors
    /// If there is none.
    pub fn find() -> Result<Self> {
        for name in ["python3", "python"] {
            let asked = Command::new(name)
                .args(["-c", "import sys; sys.exit(sys.version_info < (3, 9))"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            if asked.is_ok_and(|status| status.success()) {
                return Ok(Self {
                    program: name.into(),
                });
            }
        }
        bail!(
            "no Python 3.9 or newer is on the PATH (tried python3, python). It is needed once, to \
             fetch packages through pip: install python3 and python3-pip, or set LIBTORCH and \
             CORNU_MODEL_DIR to copies of your own"
        )
    }

    /// A Python that the caller knows.
    pub fn at(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
        }
    }

    /// A command that runs this Python, with no input.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.stdin(Stdio::null());
        command
    }

    fn ensure_pip(&self) -> Result<()> {
        let asked = self.command().args(["-m", "pip", "--version"]).output()?;
        ensure!(
            asked.status.success(),
            "{} has no pip ({}). Install it: `apt install python3-pip`, `brew install python`, or \
             `{} -m ensurepip`",
            self.program.display(),
            String::from_utf8_lossy(&asked.stderr).trim(),
            self.program.display()
        );
        Ok(())
    }
}

impl Fetch for Python {
    fn wheel(&self, wheel: &Wheel, into: &Path, progress: &Progress) -> Result<PathBuf> {
        self.ensure_pip()?;
        let requirement = into.join("requirement.txt");
        let line = format!(
            "{}=={} --hash=sha256:{}\n",
            wheel.package, wheel.version, wheel.sha256
        );
        fs::write(&requirement, line).with_context(|| requirement.display().to_string())?;
        let partial = into.join("partial");
        fs::create_dir(&partial).with_context(|| partial.display().to_string())?;

        let mut pip = self.command();
        pip.args([
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
        ])
        .args([
            "--no-cache-dir",
            "--disable-pip-version-check",
            "--no-input",
        ])
        .args(["--progress-bar", "off", "--python-version", "3.11"])
        .args(["--implementation", "cp", "--abi", "cp311", "--abi", "none"]);
        for platform in &wheel.platforms {
            pip.args(["--platform", platform]);
        }
        pip.arg("--dest")
            .arg(into)
            .arg("--requirement")
            .arg(&requirement)
            .env("TMPDIR", &partial);
        let what = format!("{} {}", wheel.package, wheel.version);
        let task = progress.task(&format!("fetch {what}"), wheel.bytes);
        let log = into.join("pip.log");
        let status = run_watched(&mut pip, &log, into, &task)?;
        if !status.success() {
            bail!(
                "pip could not fetch {what} ({status}). It said:\n{}\n\
                 If the machine has no way to the index, run `cargo xtask setup` where there is \
                 one and carry the cache over (CORNU_CACHE)",
                tail(&log, 12)
            );
        }
        task.finish();

        let path = into.join(&wheel.file);
        let found = path.exists();
        ensure!(
            found,
            "pip fetched another file than {} for {what}",
            wheel.file
        );
        check(wheel, &path, progress)?;
        Ok(path)
    }
}

/// Checks a wheel's size and sha256 against its pin.
///
/// # Errors
/// If either differs; the message gives both values.
pub fn check(wheel: &Wheel, path: &Path, progress: &Progress) -> Result<()> {
    let task = progress.task(
        &format!("check {} {}", wheel.package, wheel.version),
        wheel.bytes,
    );
    let (bytes, sha) =
        sha_of_file(path, Some(&task)).with_context(|| path.display().to_string())?;
    ensure!(
        (bytes, sha) == (wheel.bytes, wheel.sha256),
        "{} has {bytes} bytes and sha256 {sha}; pinned are {} and {}. It is not used. Either the \
         index serves another file under this name, or the transfer was damaged: try again",
        wheel.file,
        wheel.bytes,
        wheel.sha256
    );
    task.finish();
    Ok(())
}

/// Runs a command whose output goes to a log, and reports the growth of a folder as progress.
///
/// # Errors
/// If the command cannot be started or waited for.
pub fn run_watched(
    command: &mut Command,
    log: &Path,
    growing: &Path,
    task: &Task,
) -> Result<ExitStatus> {
    let out = File::create(log).with_context(|| log.display().to_string())?;
    let err = out.try_clone()?;
    let mut child = command
        .stdout(out)
        .stderr(err)
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        task.set(size_below(growing));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Bytes of all files below a folder; what vanishes meanwhile counts nothing.
fn size_below(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size_below(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

/// The last lines of a log.
#[must_use]
pub fn tail(log: &Path, lines: usize) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let all: Vec<_> = text.lines().collect();
    let from = all.len().saturating_sub(lines);
    all.get(from..).unwrap_or_default().join("\n")
}
