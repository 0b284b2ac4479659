//! What the documentation promises is there.

use std::collections::BTreeSet;

use anyhow::Result;

use super::{Finding, RULES, Rule, Tree, line_where};

/// The documents that readers are sent to.
pub const FILES: Rule = Rule {
    name: "docs-files",
    about: "README in both languages, CHANGELOG and the documents in docs/ are there",
    check: files,
};

/// Each invariant names a check that exists.
pub const INVARIANTS: Rule = Rule {
    name: "docs-invariants",
    about: "each invariant of ARCHITECTURE.md names a test or rule that exists",
    check: invariants,
};

/// The map shows every member.
pub const CRATES: Rule = Rule {
    name: "docs-crates",
    about: "ARCHITECTURE.md mentions every member's folder",
    check: crates,
};

/// Both languages carry the same tables.
pub const LANGUAGES: Rule = Rule {
    name: "docs-languages",
    about: "README.md and README.zh-CN.md hold the same marked blocks",
    check: languages,
};

/// The style guide stays short.
pub const STYLE: Rule = Rule {
    name: "docs-style",
    about: "STYLE.md has 1 to 25 numbered rules",
    check: style,
};

const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";
const README: &str = "README.md";
const README_ZH: &str = "README.zh-CN.md";
const STYLE_GUIDE: &str = "docs/STYLE.md";
const MOST_STYLE_RULES: usize = 25;

fn files(tree: &Tree) -> Result<Vec<Finding>> {
    let wanted = [
        README,
        README_ZH,
        "CHANGELOG.md",
        ARCHITECTURE,
        STYLE_GUIDE,
        "docs/LIMITS.md",
        "docs/METHODS.md",
    ];
    let absent = wanted
        .iter()
        .filter(|path| !tree.files.iter().any(|f| f == *path));
    Ok(absent
        .map(|path| finding(path, 1, FILES.name, "it is not there", "Write it"))
        .collect())
}

fn invariants(tree: &Tree) -> Result<Vec<Finding>> {
    let Some(text) = tree.text(ARCHITECTURE) else {
        return Ok(vec![]);
    };
    let mut findings = Vec::new();
    let found = |line: usize, reason: &str, remedy: &str| {
        finding(ARCHITECTURE, line, INVARIANTS.name, reason, remedy)
    };
    let mut numbers = BTreeSet::new();
    for (line, item) in items(&text) {
        let number = item.split("**").nth(1).unwrap_or_default();
        if !numbers.insert(number.to_owned()) {
            findings.push(found(
                line,
                &format!("{number} is there twice"),
                "Number it anew",
            ));
        }
        let held = item.split_once("Held by:").map(|(_, held)| held);
        let checks: Vec<_> = held
            .into_iter()
            .flat_map(|h| h.split('`').skip(1).step_by(2))
            .collect();
        if checks.is_empty() {
            let reason = format!("{number} names no check");
            let remedy = "End it with Held by: `path::test_name` or `xtask tidy: rule`";
            findings.push(found(line, &reason, remedy));
        }
        for check in checks {
            if !exists(tree, check) {
                let reason = format!("{number} is held by `{check}`, which does not exist");
                findings.push(found(line, &reason, "Name the test or rule that holds it"));
            }
        }
    }
    if numbers.is_empty() {
        let remedy = "State them as `- **INV-01** … Held by: `path::test_name``";
        findings.push(found(1, "it states no invariants", remedy));
    }
    Ok(findings)
}

/// The invariants with the lines they start at, each with its continuation lines joined.
fn items(text: &str) -> Vec<(usize, String)> {
    let mut items: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (at, line) in text.lines().enumerate() {
        if line.starts_with("- **INV-") {
            items.push((at + 1, line.to_owned()));
            open = true;
        } else if line.trim().is_empty() || !line.starts_with([' ', '\t']) {
            open = false;
        } else if let Some((_, item)) = items.last_mut().filter(|_| open) {
            item.push(' ');
            item.push_str(line.trim());
        }
    }
    items
}

/// Whether a check exists: a rule of tidy, or a test function, in the file that its path names if
/// it names one.
fn exists(tree: &Tree, check: &str) -> bool {
    let rule = ["xtask tidy:", "cargo xtask tidy:", "tidy:"];
    if let Some(name) = rule.iter().find_map(|prefix| check.strip_prefix(prefix)) {
        return RULES.iter().any(|rule| rule.name == name.trim());
    }
    let (module, test) = check.rsplit_once("::").unwrap_or(("", check));
    let place = module.contains('/').then_some(module);
    tree.rust().any(|(path, text)| {
        let here =
            place.is_none_or(|place| path == place || path.starts_with(&format!("{place}/")));
        here && super::rust_text::code_lines(&text)
            .iter()
            .any(|l| declares(l, test))
    })
}

fn declares(line: &str, function: &str) -> bool {
    let Some((_, rest)) = line.split_once("fn ") else {
        return false;
    };
    let rest = rest.trim_start().strip_prefix(function);
    rest.is_some_and(|rest| rest.trim_start().starts_with(['(', '<']))
}

fn crates(tree: &Tree) -> Result<Vec<Finding>> {
    let Some(text) = tree.text(ARCHITECTURE) else {
        return Ok(vec![]);
    };
    let mut findings = Vec::new();
    for package in &tree.workspace.packages {
        let folder = tree.relative(package.dir());
        if !text.contains(&folder) && !text.contains(&package.name) {
            let reason = format!("{folder} ({}) is not on the map", package.name);
            findings.push(finding(
                ARCHITECTURE,
                1,
                CRATES.name,
                &reason,
                "Say what it is for",
            ));
        }
    }
    Ok(findings)
}

fn languages(tree: &Tree) -> Result<Vec<Finding>> {
    let (Some(english), Some(chinese)) = (tree.text(README), tree.text(README_ZH)) else {
        return Ok(vec![]);
    };
    let remedy = "Put the same markers into both; `cargo xtask bench-tables` fills them";
    let mut findings = Vec::new();
    for (path, own, other) in [
        (README, &english, &chinese),
        (README_ZH, &chinese, &english),
    ] {
        let others = markers(other);
        for marker in markers(own).iter().filter(|m| !others.contains(m)) {
            let line = line_where(own, |l| l.contains(marker.as_str()));
            let reason = format!("the other language has no `{marker}`");
            findings.push(finding(path, line, LANGUAGES.name, &reason, remedy));
        }
    }
    Ok(findings)
}

/// The HTML comments of a Markdown file, in order; they mark what is spliced.
fn markers(text: &str) -> Vec<String> {
    let starts = text.match_indices("<!--");
    starts
        .filter_map(|(at, _)| Some(text[at..].split_once("-->")?.0.to_owned() + "-->"))
        .collect()
}

fn style(tree: &Tree) -> Result<Vec<Finding>> {
    let Some(text) = tree.text(STYLE_GUIDE) else {
        return Ok(vec![]);
    };
    let numbered = |line: &&str| {
        let line = line.trim_start_matches(['#', ' ']);
        line.split_once(". ")
            .is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let count = text.lines().filter(numbered).count();
    if (1..=MOST_STYLE_RULES).contains(&count) {
        return Ok(vec![]);
    }
    let reason = format!("it has {count} numbered rules; 1 to {MOST_STYLE_RULES} are kept in mind");
    Ok(vec![finding(
        STYLE_GUIDE,
        1,
        STYLE.name,
        &reason,
        "Merge rules, or drop the least used",
    )])
}

fn finding(path: &str, line: usize, rule: &'static str, reason: &str, remedy: &str) -> Finding {
    let (path, reason, remedy) = (path.to_owned(), reason.to_owned(), remedy.to_owned());
    Finding {
        path,
        line,
        rule,
        reason,
        remedy,
    }
}
