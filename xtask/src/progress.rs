//! Progress on stderr: a redrawn bar on a terminal, a line now and then anywhere else.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// One line, redrawn in place.
    Bar,
    /// A plain line every few seconds, for logs.
    Lines,
    /// Nothing.
    Quiet,
}

impl Mode {
    /// Silent if asked for; otherwise a bar on a terminal and plain lines elsewhere.
    #[must_use]
    pub fn detect(quiet: bool) -> Self {
        if quiet {
            Self::Quiet
        } else if std::io::stderr().is_terminal() {
            Self::Bar
        } else {
            Self::Lines
        }
    }

    fn interval(self) -> Duration {
        match self {
            Self::Bar => Duration::from_millis(100),
            Self::Lines | Self::Quiet => Duration::from_secs(5),
        }
    }
}

/// Where notes and tasks report to.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    mode: Mode,
}

impl Progress {
    /// Progress shown in one way.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode }
    }

    /// A line for the reader, unless silent.
    pub fn note(&self, text: &str) {
        if self.mode != Mode::Quiet {
            eprintln!("{text}");
        }
    }

    /// Starts a job of `total` bytes. [`Task::finish`] prints its last line.
    #[must_use]
    pub fn task(&self, name: &str, total: u64) -> Task {
        let now = Instant::now();
        let shown = Shown { done: 0, last: now };
        Task {
            name: name.to_owned(),
            total,
            mode: self.mode,
            started: now,
            shown: Mutex::new(shown),
        }
    }
}

/// One job with a known number of bytes.
#[derive(Debug)]
pub struct Task {
    name: String,
    total: u64,
    mode: Mode,
    started: Instant,
    shown: Mutex<Shown>,
}

#[derive(Debug)]
struct Shown {
    done: u64,
    last: Instant,
}

impl Task {
    /// `more` bytes were done.
    pub fn add(&self, more: u64) {
        self.update(|done| done.saturating_add(more));
    }

    /// `done` bytes are done in all.
    pub fn set(&self, done: u64) {
        self.update(|_| done);
    }

    /// Prints the job's last line: bytes, time, rate.
    pub fn finish(self) {
        let elapsed = self.started.elapsed();
        let text = format!(
            "{}: {} in {} ({}/s)",
            self.name,
            bytes(self.total),
            duration(elapsed),
            bytes(rate(self.total, elapsed))
        );
        match self.mode {
            Mode::Bar => eprintln!("\r\x1b[K{text}"),
            Mode::Lines => eprintln!("{text}"),
            Mode::Quiet => {}
        }
    }

    fn update(&self, change: impl FnOnce(u64) -> u64) {
        let Ok(mut shown) = self.shown.lock() else {
            return;
        };
        shown.done = change(shown.done).min(self.total);
        if self.mode == Mode::Quiet || shown.last.elapsed() < self.mode.interval() {
            return;
        }
        shown.last = Instant::now();
        let text = line(&self.name, shown.done, self.total, self.started.elapsed());
        if self.mode == Mode::Bar {
            // A line wider than the terminal is cut, not wrapped: a wrapped one could not be redrawn.
            eprint!(
                "\x1b[?7l\r\x1b[K{} {text}\x1b[?7h",
                bar(shown.done, self.total)
            );
            // A terminal that cannot be written to is no reason to stop a download.
            let _ = std::io::stderr().flush();
        } else {
            eprintln!("{text}");
        }
    }
}

fn line(name: &str, done: u64, total: u64, elapsed: Duration) -> String {
    let speed = rate(done, elapsed);
    // The first bytes say nothing about the rate of the rest.
    let known = done >= total / 256;
    let left = match total.saturating_sub(done).checked_div(speed) {
        Some(seconds) if known => format!("{} left", duration(Duration::from_secs(seconds))),
        _ => "starting".to_owned(),
    };
    format!(
        "{name}: {} of {}, {}/s, {left}",
        bytes(done),
        bytes(total),
        bytes(speed)
    )
}

fn bar(done: u64, total: u64) -> String {
    const WIDTH: u64 = 24;
    let filled = (done
        .saturating_mul(WIDTH)
        .checked_div(total)
        .unwrap_or(WIDTH))
    .min(WIDTH);
    let cells = |n: u64, cell: &str| cell.repeat(usize::try_from(n).unwrap_or(0));
    format!("[{}{}]", cells(filled, "="), cells(WIDTH - filled, " "))
}

fn rate(done: u64, elapsed: Duration) -> u64 {
    let millis = u64::try_from(elapsed.as_millis())
        .unwrap_or(u64::MAX)
        .max(1);
    done.saturating_mul(1000) / millis
}

/// Bytes as people read them: `512 B`, `1.5 MiB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut tenths = u128::from(count) * 10 / 1024;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1024;
        unit = next;
    }
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// A span of time as people read it: `0.4 s`, `1 m 05 s`, `2 h 03 m`.
#[must_use]
pub fn duration(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => format!("{seconds}.{} s", span.subsec_millis() / 100),
        60..3600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} m", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_durations_read_well() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1.0 KiB");
        assert_eq!(bytes(526_574_961), "502.1 MiB");
        assert_eq!(bytes(u64::MAX), "16777215.9 TiB");
        assert_eq!(duration(Duration::from_millis(420)), "0.4 s");
        assert_eq!(duration(Duration::from_secs(65)), "1 m 05 s");
        assert_eq!(duration(Duration::from_secs(7380)), "2 h 03 m");
    }

    #[test]
    fn a_line_names_bytes_rate_and_time_left() {
        let text = line("torch", 50 << 20, 100 << 20, Duration::from_secs(5));
        let first = line("torch", 1, 1000, Duration::from_secs(1));
        assert_eq!(first, "torch: 1 B of 1000 B, 1 B/s, starting");
        assert_eq!(text, "torch: 50.0 MiB of 100.0 MiB, 10.0 MiB/s, 5.0 s left");
        assert_eq!(
            line("torch", 0, 10, Duration::ZERO),
            "torch: 0 B of 10 B, 0 B/s, starting"
        );
        assert_eq!(bar(1, 2), format!("[{}{}]", "=".repeat(12), " ".repeat(12)));
        assert_eq!(bar(0, 0), format!("[{}]", "=".repeat(24)));
    }
}
