//! The machine of a measurement, without anything that names its owner.

use std::fs;
use std::process::Command;
use std::thread;

use serde::{Deserialize, Serialize};

/// The machine and the versions behind a measurement: no host name, user name or path.
///
/// ```
/// use cornu_eval::evidence::{Environment, Versions};
///
/// let versions = Versions { libtorch: Some("2.13.0".into()), ..Versions::default() };
/// let environment = Environment::detect(&versions);
/// assert!(environment.cores >= 1);
/// assert_eq!(environment.libtorch.as_deref(), Some("2.13.0"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Model of the processor, as the system names it.
    pub cpu: String,
    /// Instruction set, such as `x86_64`.
    pub arch: String,
    /// Cores that this process may use.
    pub cores: u64,
    /// Main memory in bytes; null where the system does not say.
    pub memory_bytes: Option<u64>,
    /// Operating system and its version.
    pub os: String,
    /// What `rustc --version` prints; null where there is none to run.
    pub rustc: Option<String>,
    /// Version of libtorch, where it took part.
    pub libtorch: Option<String>,
    /// Version of SQLite, where it took part.
    pub sqlite: Option<String>,
    /// Threads that the measurement used.
    pub threads: u64,
    /// Load average of the last minute before the measurement; null where there is none.
    pub load: Option<f64>,
}

/// What only the caller knows. See [`Environment`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Versions {
    /// Version of libtorch, where it takes part.
    pub libtorch: Option<String>,
    /// Version of SQLite, where it takes part.
    pub sqlite: Option<String>,
    /// Threads that the measurement uses; as many as cores when `None`.
    pub threads: Option<u64>,
}

impl Environment {
    /// Looks at the machine: `/proc` on Linux, `sysctl` on macOS; elsewhere what the standard
    /// library knows. Runs `rustc --version`. Never fails: what is not to be had is `None` or
    /// `unknown`. Tens of milliseconds.
    #[must_use]
    pub fn detect(versions: &Versions) -> Self {
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        let machine = Machine::detect();
        Self {
            cpu: machine.cpu.unwrap_or_else(|| "unknown".to_owned()),
            arch: std::env::consts::ARCH.to_owned(),
            cores,
            memory_bytes: machine.memory_bytes,
            os: machine
                .os
                .unwrap_or_else(|| std::env::consts::OS.to_owned()),
            rustc: output_of("rustc", &["--version"]),
            libtorch: versions.libtorch.clone(),
            sqlite: versions.sqlite.clone(),
            threads: versions.threads.unwrap_or(cores),
            load: machine.load,
        }
    }
}

#[derive(Default)]
struct Machine {
    cpu: Option<String>,
    memory_bytes: Option<u64>,
    os: Option<String>,
    load: Option<f64>,
}

impl Machine {
    fn detect() -> Self {
        match std::env::consts::OS {
            "linux" => Self::of_linux(
                &text_of("/proc/cpuinfo"),
                &text_of("/proc/meminfo"),
                &text_of("/proc/loadavg"),
                &text_of("/etc/os-release"),
            ),
            "macos" => Self::of_macos(
                output_of("sysctl", &["-n", "machdep.cpu.brand_string"]),
                output_of("sysctl", &["-n", "hw.memsize"]),
                output_of("sysctl", &["-n", "vm.loadavg"]),
                output_of("sw_vers", &["-productVersion"]),
            ),
            _ => Self::default(),
        }
    }

    fn of_linux(cpuinfo: &str, meminfo: &str, loadavg: &str, os_release: &str) -> Self {
        let kibibytes = field(meminfo, "MemTotal", ':')
            .and_then(|value| value.split_whitespace().next()?.parse::<u64>().ok());
        Self {
            // ARM kernels give no model name; "Hardware" or the part number is all there is.
            cpu: ["model name", "Hardware", "CPU part"]
                .iter()
                .find_map(|name| field(cpuinfo, name, ':'))
                .map(str::to_owned),
            memory_bytes: kibibytes.map(|kibibytes| kibibytes * 1024),
            os: field(os_release, "PRETTY_NAME", '=')
                .map(|name| format!("Linux, {}", name.trim_matches('"'))),
            load: first_number(loadavg),
        }
    }

    fn of_macos(
        brand: Option<String>,
        memory: Option<String>,
        loadavg: Option<String>,
        version: Option<String>,
    ) -> Self {
        Self {
            cpu: brand,
            memory_bytes: memory.and_then(|bytes| bytes.parse().ok()),
            os: version.map(|version| format!("macOS {version}")),
            // "{ 1.50 1.62 1.70 }"
            load: loadavg.and_then(|text| first_number(text.trim_start_matches(['{', ' ']))),
        }
    }
}

/// The value of the first line `name<separator>value`.
fn field<'a>(text: &'a str, name: &str, separator: char) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(separator)?;
        (key.trim() == name && !value.trim().is_empty()).then(|| value.trim())
    })
}

fn first_number(text: &str) -> Option<f64> {
    text.split_whitespace()
        .next()?
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

fn text_of(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_is_read_from_proc() {
        let machine = Machine::of_linux(
            "processor\t: 0\nmodel name\t: Some CPU @ 2.5GHz\nprocessor\t: 1\n",
            "MemTotal:        8000 kB\nMemFree: 1 kB\n",
            "0.25 0.50 1.00 1/100 7\n",
            "NAME=\"X\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n",
        );
        assert_eq!(machine.cpu.as_deref(), Some("Some CPU @ 2.5GHz"));
        assert_eq!(machine.memory_bytes, Some(8_192_000));
        assert_eq!(machine.load, Some(0.25));
        assert_eq!(machine.os.as_deref(), Some("Linux, Debian GNU/Linux 12"));
    }

    #[test]
    fn macos_is_read_from_sysctl() {
        let some = |text: &str| Some(text.to_owned());
        let machine = Machine::of_macos(
            some("Apple M2"),
            some("17179869184"),
            some("{ 1.50 1.62 1.70 }"),
            some("15.1"),
        );
        assert_eq!(machine.memory_bytes, Some(1 << 34));
        assert_eq!(machine.load, Some(1.5));
        assert_eq!(machine.os.as_deref(), Some("macOS 15.1"));
    }

    #[test]
    fn nothing_known_is_nothing_claimed() {
        let machine = Machine::of_linux("", "MemTotal: many", "busy", "");
        assert!(machine.cpu.is_none() && machine.memory_bytes.is_none());
        assert!(machine.load.is_none() && machine.os.is_none());
    }
}
