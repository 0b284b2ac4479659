//! What the comparisons share: a Python program that takes turns, and how turns are timed and judged.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A Python program that answers one line of JSON to each line that it gets: `peer.py`.
pub struct Python {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Python {
    /// Starts `peer.py` with the interpreter that `CORNU_PYTHON` names, `python3` unless set.
    ///
    /// # Errors
    /// When it does not start, or lacks a package.
    pub fn start(arguments: &[&str]) -> Result<Self> {
        let python = std::env::var("CORNU_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peer.py");
        let mut child = Command::new(&python)
            .arg(script)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {python}"))?;
        let to = child.stdin.take().context("a pipe")?;
        let from = BufReader::new(child.stdout.take().context("a pipe")?);
        Ok(Self { child, to, from })
    }

    /// Sends a line, waits for one.
    ///
    /// # Errors
    /// When the program ended.
    pub fn ask(&mut self, request: &Value) -> Result<Value> {
        writeln!(self.to, "{request}")?;
        self.to.flush()?;
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        ensure!(!line.is_empty(), "peer.py ended; its message stands above");
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The median of seconds, in microseconds.
#[must_use]
pub fn median_us(seconds: &mut [f64]) -> f64 {
    seconds.sort_unstable_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).map_or(0.0, |s| s * 1e6)
}

/// The seconds of one call.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed().as_secs_f64())
}

/// How many of the best `k` two lists share, as a part of the shorter one's.
#[must_use]
pub fn overlap(a: &[u32], b: &[u32]) -> f64 {
    let shared = a.iter().filter(|id| b.contains(id)).count();
    shared as f64 / a.len().min(b.len()).max(1) as f64
}
