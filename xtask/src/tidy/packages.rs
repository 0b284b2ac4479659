//! What every Cargo.toml and package folder holds.

use std::process::Command;

use anyhow::{Context, Result};

use super::{Finding, Rule, Tree, line_where};

/// Description, licence, README; edition, rust-version and lints from the workspace.
pub const MANIFEST: Rule = Rule {
    name: "manifest",
    about: "description, licence, README; edition, rust-version and lints from the workspace",
    check: manifest,
};

/// One integration test binary per package.
pub const ONE_TEST_BINARY: Rule = Rule {
    name: "one-test-binary",
    about: "one integration test binary per package: each more is another link",
    check: one_test_binary,
};

/// A reason beside each outside dependency.
pub const PINS: Rule = Rule {
    name: "pins",
    about: "a reason stands beside every outside crate in [workspace.dependencies]",
    check: pins,
};

/// The compiler is at least as new as the workspace says it must be.
pub const RUST_VERSION: Rule = Rule {
    name: "rust-version",
    about: "rust-version is no newer than the compiler that builds the workspace",
    check: rust_version,
};

fn manifest(tree: &Tree) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in &tree.workspace.packages {
        let path = tree.relative(&package.manifest_path);
        let text = tree.text(&path).unwrap_or_default();
        let parsed: toml::Table = toml::from_str(&text).with_context(|| path.clone())?;
        let mut found = |line: usize, reason: String, remedy: String| {
            let (path, rule) = (path.clone(), MANIFEST.name);
            findings.push(Finding {
                path,
                line,
                rule,
                reason,
                remedy,
            });
        };
        let inherited = |table: &str, key: Option<&str>| {
            let mut value = parsed.get(table);
            if let Some(key) = key {
                value = value.and_then(|v| v.get(key));
            }
            value
                .and_then(|v| v.get("workspace"))
                .and_then(toml::Value::as_bool)
                == Some(true)
        };
        for key in ["edition", "rust-version", "license", "version"] {
            if !inherited("package", Some(key)) {
                let line = line_where(&text, |l| l.starts_with(key));
                found(
                    line,
                    format!("{key} is its own"),
                    format!("Write {key}.workspace = true"),
                );
            }
        }
        if !inherited("lints", None) {
            let remedy = "Add [lints] with workspace = true".to_owned();
            found(1, "the workspace's lints do not apply".to_owned(), remedy);
        }
        let described = package.description.as_deref().unwrap_or_default();
        if described.trim().is_empty() || described.starts_with("PLACEHOLDER") {
            let line = line_where(&text, |l| l.starts_with("description"));
            let remedy = "Say in one line what the package is".to_owned();
            found(line, "it has no description".to_owned(), remedy);
        }
        if package.license.is_none() {
            let remedy = "Write license.workspace = true".to_owned();
            found(1, "it states no licence".to_owned(), remedy);
        }
        if !package.dir().join("README.md").is_file() {
            let remedy = "Write one: what it is, one example, cost".to_owned();
            found(1, "it has no README.md".to_owned(), remedy);
        }
    }
    Ok(findings)
}

fn one_test_binary(tree: &Tree) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in &tree.workspace.packages {
        let is_test = |t: &&crate::workspace::Target| t.kind.iter().any(|kind| kind == "test");
        for target in package.targets.iter().filter(is_test).skip(1) {
            findings.push(Finding {
                path: tree.relative(&target.src_path),
                line: 1,
                rule: ONE_TEST_BINARY.name,
                reason: format!("{} has more than one integration test binary", package.name),
                remedy: "Make it a module of tests/it/main.rs".to_owned(),
            });
        }
    }
    Ok(findings)
}

fn pins(tree: &Tree) -> Result<Vec<Finding>> {
    const PATH: &str = "Cargo.toml";
    let text = tree.text(PATH).unwrap_or_default();
    let mut findings = Vec::new();
    let mut section = String::new();
    let mut reason_above = false;
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with('[') && line == trimmed {
            section = trimmed.to_owned();
        }
        let comment = trimmed.starts_with('#') && !trimmed.starts_with("# ---");
        if section == "[workspace.dependencies]"
            && !trimmed.starts_with(['#', '['])
            && let Some((name, value)) = line.split_once('=')
            && line.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !value.contains("path =")
            && !reason_above
            && !has_comment(value)
        {
            findings.push(Finding {
                path: PATH.to_owned(),
                line: at + 1,
                rule: PINS.name,
                reason: format!("no reason stands beside {}", name.trim()),
                remedy: "Say behind a # why this crate, and why this version if it is exact"
                    .to_owned(),
            });
        }
        reason_above = comment;
    }
    Ok(findings)
}

/// Whether a `#` stands outside of quotes.
fn has_comment(value: &str) -> bool {
    let mut quoted = false;
    value.chars().any(|c| {
        quoted ^= c == '"';
        c == '#' && !quoted
    })
}

fn rust_version(tree: &Tree) -> Result<Vec<Finding>> {
    const PATH: &str = "Cargo.toml";
    let text = tree.text(PATH).unwrap_or_default();
    let parsed: toml::Table = toml::from_str(&text)?;
    let stated = parsed.get("workspace").and_then(|w| w.get("package"));
    let stated = stated
        .and_then(|p| p.get("rust-version"))
        .and_then(toml::Value::as_str);
    let output = Command::new("rustc")
        .arg("--version")
        .current_dir(&tree.root)
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let compiler = said.split_whitespace().nth(1).unwrap_or_default();
    let finding = |reason: String, remedy: &str| Finding {
        path: PATH.to_owned(),
        line: line_where(&text, |l| l.starts_with("rust-version")),
        rule: RUST_VERSION.name,
        reason,
        remedy: remedy.to_owned(),
    };
    Ok(match stated {
        None => vec![finding(
            "[workspace.package] states no rust-version".to_owned(),
            "State the oldest compiler that the tests pass with",
        )],
        Some(stated) if version(stated) > version(compiler) => vec![finding(
            format!("rust-version is {stated}, the compiler is {compiler}"),
            "Build with a newer compiler, or lower rust-version to what is tested",
        )],
        Some(_) => vec![],
    })
}

/// `1.95.0-nightly` as numbers.
fn version(text: &str) -> Vec<u64> {
    let plain = text.split(['-', '+', ' ']).next().unwrap_or_default();
    let mut numbers: Vec<_> = plain.split('.').map(|n| n.parse().unwrap_or(0)).collect();
    numbers.resize(3, 0);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(version("1.95") == version("1.95.0"));
        assert!(version("1.100") > version("1.95.1-nightly"));
        assert!(version("1.9") < version("1.95"));
    }

    #[test]
    fn a_comment_is_one_only_outside_of_quotes() {
        assert!(has_comment(r#" "1" # why"#));
        assert!(!has_comment(r##" { version = "1", features = ["#"] }"##));
    }
}
