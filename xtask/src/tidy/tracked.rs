//! What git tracks can be read.

use anyhow::Result;

use super::{Finding, Rule, Tree};

/// What is tracked is there.
pub const TRACKED: Rule = Rule {
    name: "tracked",
    about: "every tracked file is in the working tree, no symlink points nowhere",
    check: tracked,
};

/// Every Rust file is text, so that the other rules can look at it.
pub const RUST_TEXT: Rule = Rule {
    name: "rust-text",
    about: "every Rust file is UTF-8 text",
    check: rust_text,
};

fn tracked(tree: &Tree) -> Result<Vec<Finding>> {
    let findings = tree.lost.iter().map(|path| {
        let link = tree.root.join(path).symlink_metadata().is_ok();
        let (reason, remedy) = if link {
            (
                "it is a symlink that points nowhere",
                "Point it at a file of the checkout, or remove it",
            )
        } else {
            (
                "git tracks it and it is not there",
                "Bring it back (`git restore`), or remove it from git (`git rm`)",
            )
        };
        finding(path, TRACKED.name, reason, remedy)
    });
    Ok(findings.collect())
}

fn rust_text(tree: &Tree) -> Result<Vec<Finding>> {
    let files = tree.files.iter().filter(|f| f.ends_with(".rs"));
    let unread = files.filter(|f| tree.text(f).is_none());
    let remedy = "Save it as UTF-8, without NUL";
    let reason = "it is not UTF-8 text, so no rule can look at it";
    Ok(unread
        .map(|path| finding(path, RUST_TEXT.name, reason, remedy))
        .collect())
}

fn finding(path: &str, rule: &'static str, reason: &str, remedy: &str) -> Finding {
    let (path, reason, remedy) = (path.to_owned(), reason.to_owned(), remedy.to_owned());
    Finding {
        path,
        line: 1,
        rule,
        reason,
        remedy,
    }
}
