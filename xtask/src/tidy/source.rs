//! What source text may say where.

use anyhow::Result;

use super::rust_text::code_lines;
use super::{Finding, Rule, Tree};

/// Nothing unfinished.
pub const UNFINISHED: Rule = Rule {
    name: "unfinished",
    about: "no todo!, unimplemented! or dbg! anywhere",
    check: unfinished,
};

/// What is switched off says why.
pub const REASONS: Rule = Rule {
    name: "reasons",
    about: "an ignored test and an allowed lint say why",
    check: reasons,
};

/// Sockets are opened in one member.
pub const SOCKETS: Rule = Rule {
    name: "sockets",
    about: "only cornu-remote opens a socket",
    check: |tree| {
        Ok(words(
            tree,
            SOCKETS.name,
            &SOCKET_WORDS,
            "crates/remote/",
            SOCKET_REMEDY,
        ))
    },
};

/// torch is known to one member.
pub const TORCH: Rule = Rule {
    name: "torch",
    about: "only cornu-embed mentions tch",
    check: |tree| {
        Ok(words(
            tree,
            TORCH.name,
            &["tch"],
            "crates/embed/",
            TORCH_REMEDY,
        ))
    },
};

/// SQL is known to one member.
pub const SQL: Rule = Rule {
    name: "sql",
    about: "only cornu-store mentions rusqlite",
    check: |tree| {
        Ok(words(
            tree,
            SQL.name,
            &["rusqlite"],
            "crates/store/",
            SQL_REMEDY,
        ))
    },
};

/// No text names a place on one machine.
pub const MACHINE_PATHS: Rule = Rule {
    name: "machine-paths",
    about: "no text names a place on one machine (a home, a work folder)",
    check: machine_paths,
};

const SOCKET_WORDS: [&str; 7] = [
    "std::net",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ureq",
    "reqwest",
    "UnixStream",
];
const SOCKET_REMEDY: &str = "Take a provider of cornu-remote; only it opens sockets";
const TORCH_REMEDY: &str = "Take a provider trait of cornu-core; only cornu-embed knows torch";
const SQL_REMEDY: &str = "Go through the store's trait; only cornu-store knows SQL";

fn unfinished(tree: &Tree) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust() {
        for (at, line) in code_lines(&text).iter().enumerate() {
            for name in ["todo!", "unimplemented!", "dbg!"] {
                if has_word(line, name) {
                    findings.push(Finding {
                        path: path.to_owned(),
                        line: at + 1,
                        rule: UNFINISHED.name,
                        reason: format!("{name} is left in the code"),
                        remedy: "Finish it, or return an error that says what is not supported"
                            .to_owned(),
                    });
                }
            }
        }
    }
    Ok(findings)
}

fn reasons(tree: &Tree) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust() {
        let raw: Vec<_> = text.lines().collect();
        let code = code_lines(&text);
        let library = path.split('/').any(|part| part == "src");
        for (at, line) in code.iter().enumerate() {
            let compact: String = line.chars().filter(|c| !c.is_whitespace()).collect();
            let (reason, remedy) = if compact.contains("#[ignore]") {
                (
                    "a test is ignored without a reason",
                    "Write #[ignore = \"why\"]",
                )
            } else if library && (compact.contains("#[allow(") || compact.contains("#![allow(")) {
                let commented = |n: usize| raw.get(n).is_some_and(|l| l.contains("//"));
                let attribute = code.iter().skip(at).take(12);
                let mut closed = false;
                let explained = attribute
                    .take_while(|l| !std::mem::replace(&mut closed, l.contains(")]")))
                    .any(|l| l.contains("reason"));
                if explained || commented(at) || (at > 0 && commented(at - 1)) {
                    continue;
                }
                (
                    "a lint is allowed without a reason",
                    "Add reason = \"why\" to the attribute",
                )
            } else {
                continue;
            };
            findings.push(Finding {
                path: path.to_owned(),
                line: at + 1,
                rule: REASONS.name,
                reason: reason.to_owned(),
                remedy: remedy.to_owned(),
            });
        }
    }
    Ok(findings)
}

/// Findings for words in the sources (not the tests) of every member but one.
fn words(
    tree: &Tree,
    rule: &'static str,
    banned: &[&str],
    owner: &str,
    remedy: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust() {
        let source = path.split('/').any(|part| part == "src");
        if !source || path.starts_with(owner) || path.starts_with("xtask/") {
            continue;
        }
        for (at, line) in code_lines(&text).iter().enumerate() {
            if let Some(word) = banned.iter().find(|word| has_word(line, word)) {
                findings.push(Finding {
                    path: path.to_owned(),
                    line: at + 1,
                    rule,
                    reason: format!("`{word}` does not belong here"),
                    remedy: remedy.to_owned(),
                });
            }
        }
    }
    findings
}

/// Whether a word stands in a line, not as a part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

fn machine_paths(tree: &Tree) -> Result<Vec<Finding>> {
    // Put together here, so that this file is not a finding itself.
    let places = ["root", "home", "work", "tmp/dev"].map(|place| format!("/{place}/"));
    let mut findings = Vec::new();
    for path in &tree.files {
        let Some(text) = tree.text(path) else {
            continue;
        };
        for (at, line) in text.lines().enumerate() {
            let found = places.iter().find(|place| {
                let starts = |(n, _): (usize, &str)| {
                    !line[..n].ends_with(|c: char| c.is_ascii_alphanumeric())
                };
                line.match_indices(place.as_str()).any(starts)
            });
            if let Some(place) = found {
                findings.push(Finding {
                    path: path.clone(),
                    line: at + 1,
                    rule: MACHINE_PATHS.name,
                    reason: format!("it names a place on one machine ({place}…)"),
                    remedy: "Name it relative to the checkout, or by an environment variable"
                        .to_owned(),
                });
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_whole() {
        assert!(has_word("use tch::Tensor;", "tch"));
        assert!(has_word("tch", "tch"));
        assert!(!has_word("let batch = 1;", "tch"));
        assert!(!has_word("tch_like()", "tch"));
        assert!(has_word("  dbg!(x)", "dbg!"));
    }
}
