//! File sizes and names.

use std::fs;

use anyhow::Result;

use super::{Finding, Rule, Tree};

/// No Rust file is long, most are short.
pub const FILE_SIZE: Rule = Rule {
    name: "file-size",
    about: "no Rust file above 800 lines, half of them under 250",
    check: file_size,
};

/// Names say what is inside.
pub const NAMES: Rule = Rule {
    name: "names",
    about: "no file, folder or module is called utils, helpers, common or misc",
    check: names,
};

/// The repository holds text and small fixtures.
pub const LARGE_FILES: Rule = Rule {
    name: "large-files",
    about: "no tracked file above 1 MiB, no weights above 256 kB but for the shipped adapters",
    check: large_files,
};

const LONGEST: usize = 800;
const MEDIAN: usize = 250;
const LARGEST: u64 = 1 << 20;
const LARGEST_WEIGHTS: u64 = 256_000;
/// Adapters that the project trains itself: no package carries them.
const ADAPTERS: &str = "crates/embed/adapters/";
const WEIGHTS: [&str; 6] = ["safetensors", "pt", "pth", "onnx", "bin", "gguf"];
const BANNED: [&str; 6] = ["utils", "util", "helpers", "helper", "common", "misc"];

fn file_size(tree: &Tree) -> Result<Vec<Finding>> {
    let mut lengths: Vec<_> = tree
        .rust()
        .map(|(f, text)| (text.lines().count(), f))
        .collect();
    lengths.sort_unstable();
    let finding = |path: &str, line: usize, reason: String, remedy: &str| Finding {
        path: path.to_owned(),
        line,
        rule: FILE_SIZE.name,
        reason,
        remedy: remedy.to_owned(),
    };
    let long = lengths
        .iter()
        .filter(|(lines, _)| *lines > LONGEST)
        .map(|(lines, path)| {
            let reason = format!("{lines} lines; {LONGEST} is the most");
            finding(
                path,
                LONGEST + 1,
                reason,
                "Split it where its subjects part",
            )
        });
    let mut findings: Vec<_> = long.collect();
    if let Some((median, path)) = lengths.get(lengths.len() / 2).filter(|(m, _)| *m >= MEDIAN) {
        let reason = format!("half of the Rust files have {median} lines or more (this is one)");
        let remedy = format!("Split the long ones until the median is under {MEDIAN}");
        findings.push(finding(path, 1, reason, &remedy));
    }
    Ok(findings)
}

fn names(tree: &Tree) -> Result<Vec<Finding>> {
    let finding = |path: &str, line: usize, name: &str| Finding {
        path: path.to_owned(),
        line,
        rule: NAMES.name,
        reason: format!("`{name}` says nothing about what is inside"),
        remedy: "Name it after what it does, or put the parts where they are used".to_owned(),
    };
    let mut findings = Vec::new();
    for (path, text) in tree.rust() {
        let plain = path.strip_suffix(".rs").unwrap_or(path);
        if let Some(name) = plain.split('/').find(|part| BANNED.contains(part)) {
            findings.push(finding(path, 1, name));
        }
        for (at, line) in super::rust_text::code_lines(&text).iter().enumerate() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            if words.any(|word| word == "mod")
                && line.trim_end().ends_with('{')
                && let Some(name) = words.find(|w| BANNED.contains(w))
            {
                findings.push(finding(path, at + 1, name));
            }
        }
    }
    Ok(findings)
}

fn large_files(tree: &Tree) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in &tree.files {
        let bytes = fs::metadata(tree.root.join(path))?.len();
        let weights = path
            .rsplit_once('.')
            .is_some_and(|(_, ext)| WEIGHTS.contains(&ext));
        let fetched = weights && !path.starts_with(ADAPTERS);
        let limit = if fetched { LARGEST_WEIGHTS } else { LARGEST };
        if bytes > limit {
            findings.push(Finding {
                path: path.clone(),
                line: 1,
                rule: LARGE_FILES.name,
                reason: format!("{bytes} bytes; {limit} is the most"),
                remedy: "Fetch it in setup with a pinned sha256, or make the fixture smaller"
                    .to_owned(),
            });
        }
    }
    Ok(findings)
}
