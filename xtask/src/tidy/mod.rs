//! `cargo xtask tidy`: the rules of the workspace as checks.
//!
//! Each rule is a function from the [`Tree`] to findings, listed in [`RULES`]; a finding says
//! where, which rule, why it is one and what to do.
//!
//! - [`graph`]: who may depend on whom;
//! - [`packages`]: what every Cargo.toml and package folder holds;
//! - [`sizes`]: file sizes, names, weights;
//! - [`source`]: what source text may say where;
//! - [`torch_once`]: torch-sys is built once;
//! - [`docs`]: what the documentation promises is there;
//! - [`links`]: where Markdown points to is there;
//! - [`tracked`]: what git tracks can be read.

pub mod docs;
pub mod graph;
pub mod links;
pub mod packages;
pub mod rust_text;
pub mod sizes;
pub mod source;
pub mod torch_once;
pub mod tracked;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::workspace::Workspace;

/// Check the rules of the workspace.
///
/// Every finding names the file and line, the rule, the reason and the remedy. A line that must
/// be as it is carries, on it or above it, a comment `tidy: allow(RULE): REASON`. Exit code 1 if
/// there is a finding.
#[derive(Debug, Args)]
pub struct TidyArgs {
    /// Findings as JSON on stdout
    #[arg(long)]
    json: bool,
    /// List the rules and stop
    #[arg(long)]
    list: bool,
    /// Only these rules (repeatable)
    #[arg(long = "rule", value_name = "NAME")]
    rules: Vec<String>,
}

/// Something that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// Relative to the checkout.
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    /// The rule's name.
    pub rule: &'static str,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub remedy: String,
}

/// One rule.
pub struct Rule {
    /// What findings call it.
    pub name: &'static str,
    /// What it holds, in one line.
    pub about: &'static str,
    check: fn(&Tree) -> Result<Vec<Finding>>,
}

/// All rules, in the order they are checked.
pub const RULES: &[Rule] = &[
    graph::LAYERS,
    graph::OUTSIDE,
    packages::MANIFEST,
    packages::ONE_TEST_BINARY,
    packages::PINS,
    packages::RUST_VERSION,
    sizes::FILE_SIZE,
    sizes::NAMES,
    sizes::LARGE_FILES,
    source::UNFINISHED,
    source::REASONS,
    source::SOCKETS,
    source::TORCH,
    source::SQL,
    source::MACHINE_PATHS,
    torch_once::TORCH_ONCE,
    docs::FILES,
    docs::INVARIANTS,
    docs::CRATES,
    docs::LANGUAGES,
    docs::STYLE,
    links::LINKS,
    tracked::TRACKED,
    tracked::RUST_TEXT,
];

/// What the rules look at.
#[derive(Debug)]
pub struct Tree {
    /// The checkout.
    pub root: PathBuf,
    /// Every file that git tracks or would, relative, with `/`, sorted.
    pub files: Vec<String>,
    /// What git tracks and is not there, and symlinks that point nowhere, likewise.
    pub lost: Vec<String>,
    /// What cargo knows.
    pub workspace: Workspace,
}

impl Tree {
    /// The checkout around a workspace. Without git (an unpacked archive) every file counts that
    /// is not below the target directory.
    ///
    /// # Errors
    /// If cargo cannot describe the workspace or files cannot be listed.
    pub fn load(workspace: Workspace) -> Result<Self> {
        let root = workspace.root.clone();
        let listed = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
                "--deduplicate",
            ])
            .current_dir(&root)
            .stdin(Stdio::null())
            .output();
        let mut names = Vec::new();
        match listed {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout);
                let listed = text.split('\0').filter(|n| !n.is_empty());
                names.extend(listed.map(str::to_owned));
            }
            _ => walk(&root, &root, &workspace.target, &mut names)?,
        }
        names.sort();
        let (there, lost): (Vec<_>, _) = names.into_iter().partition(|n| root.join(n).exists());
        // A folder in the list is a submodule or a symlink to one; its files are not ours.
        let files = there.into_iter().filter(|n| root.join(n).is_file());
        Ok(Self {
            files: files.collect(),
            root,
            lost,
            workspace,
        })
    }

    /// A file's text; nothing for one that is not UTF-8 text.
    #[must_use]
    pub fn text(&self, file: &str) -> Option<String> {
        let text = String::from_utf8(fs::read(self.root.join(file)).ok()?).ok()?;
        (!text.contains('\0')).then_some(text)
    }

    /// The Rust files, with their text.
    pub fn rust(&self) -> impl Iterator<Item = (&str, String)> {
        let files = self.files.iter().filter(|f| f.ends_with(".rs"));
        files.filter_map(|f| Some((f.as_str(), self.text(f)?)))
    }

    /// A path relative to the checkout, with `/`.
    #[must_use]
    pub fn relative(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        inside
            .components()
            .map(|c| c.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/")
    }

    /// Checks the rules with the given names, or all; findings come sorted.
    ///
    /// # Errors
    /// If a rule cannot be checked at all, or a name is not known.
    pub fn check(&self, names: &[String]) -> Result<Vec<Finding>> {
        for name in names {
            let known = RULES.iter().any(|rule| rule.name == name);
            anyhow::ensure!(
                known,
                "no rule `{name}`; `cargo xtask tidy --list` lists them"
            );
        }
        let mut findings = Vec::new();
        for rule in RULES
            .iter()
            .filter(|r| names.is_empty() || names.iter().any(|n| n == r.name))
        {
            findings.extend((rule.check)(self).with_context(|| format!("rule {}", rule.name))?);
        }
        findings.retain(|finding| !self.allows(finding));
        findings.sort();
        Ok(findings)
    }

    /// Whether the finding's line or the one above it says `tidy: allow(RULE): REASON`.
    fn allows(&self, finding: &Finding) -> bool {
        let Some(text) = self.text(&finding.path) else {
            return false;
        };
        let mark = format!("tidy: allow({}):", finding.rule);
        let lines = text
            .lines()
            .skip(finding.line.saturating_sub(2))
            .take(2.min(finding.line));
        lines
            .filter_map(|l| l.split_once(&mark))
            .any(|(_, reason)| !reason.trim().is_empty())
    }
}

/// Runs the command.
///
/// # Errors
/// If the workspace cannot be read; findings are an exit code.
pub fn run(args: &TidyArgs) -> Result<ExitCode> {
    if args.list {
        for rule in RULES {
            println!("{:16} {}", rule.name, rule.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let findings = Tree::load(Workspace::here()?)?.check(&args.rules)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&findings)?);
    } else {
        for Finding {
            path,
            line,
            rule,
            reason,
            remedy,
        } in &findings
        {
            println!("{path}:{line}: {rule}: {reason}\n    {remedy}");
        }
        println!("tidy: {} rules, {} findings", RULES.len(), findings.len());
    }
    Ok(if findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The line (from 1) of the first line for which `is` holds; 1 if none does.
fn line_where(text: &str, is: impl Fn(&str) -> bool) -> usize {
    text.lines().position(is).map_or(1, |at| at + 1)
}

fn walk(root: &Path, dir: &Path, target: &Path, files: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        if path == target || path.file_name().is_some_and(|n| n == ".git") {
            continue;
        }
        if path.is_dir() {
            walk(root, &path, target, files)?;
        } else if let Ok(inside) = path.strip_prefix(root) {
            let parts = inside.components().map(|c| c.as_os_str().to_string_lossy());
            files.push(parts.collect::<Vec<_>>().join("/"));
        }
    }
    Ok(())
}
