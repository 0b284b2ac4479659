//! Where Markdown points to is there.

use anyhow::Result;
use pulldown_cmark::{Event, Options, Parser, Tag};

use super::{Finding, Rule, Tree};

/// Links and paths in the documentation lead somewhere.
pub const LINKS: Rule = Rule {
    name: "docs-links",
    about: "relative links in Markdown, and repository paths that docs and READMEs name, exist",
    check: links,
};

/// Documents written to be retrieved from; they point to whatever they like.
const CORPUS: &str = "bench-data/corpus/";

/// A piece of code that begins so is a path from the checkout's root.
const FOLDERS: [&str; 5] = ["crates/", "benches/", "xtask/", "docs/", "bench-data/"];

/// What stands in a path for something that varies.
const PLACEHOLDERS: [&str; 6] = ["NAME", "FILE", "TABLE", "CRATE", "N", "X"];

fn links(tree: &Tree) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let markdown = |f: &&String| f.ends_with(".md") && !f.starts_with(CORPUS);
    for path in tree.files.iter().filter(markdown) {
        let Some(text) = tree.text(path) else {
            continue;
        };
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let names_paths = path.starts_with("docs/") || name.starts_with("README");
        let events = Parser::new_ext(&text, Options::ENABLE_GFM | Options::ENABLE_TABLES);
        for (event, span) in events.into_offset_iter() {
            let (reason, remedy) = match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. })
                    if !leads_somewhere(tree, folder, &dest_url) =>
                {
                    (
                        format!("it links to `{dest_url}`, which does not exist"),
                        "Link to a file or folder of the checkout, or drop the link",
                    )
                }
                Event::Code(code) if names_paths => {
                    let Some(missing) = missing(tree, folder, &code) else {
                        continue;
                    };
                    (
                        format!("it names `{code}`, and there is no `{missing}`"),
                        "Name what is there; for what varies write NAME or *",
                    )
                }
                _ => continue,
            };
            let before = text.get(..span.start).unwrap_or_default();
            findings.push(Finding {
                path: path.clone(),
                line: before.matches('\n').count() + 1,
                rule: LINKS.name,
                reason,
                remedy: remedy.to_owned(),
            });
        }
    }
    Ok(findings)
}

/// Whether a link is none of ours (a scheme, an anchor on the same page) or leads to something.
fn leads_somewhere(tree: &Tree, folder: &str, link: &str) -> bool {
    let path = link.split(['#', '?']).next().unwrap_or_default();
    let scheme = path.split_once(':').is_some_and(|(scheme, _)| {
        let known = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        !scheme.is_empty() && scheme.chars().all(known)
    });
    if scheme || path.starts_with("//") || path.is_empty() {
        return true;
    }
    let resolved = match path.strip_prefix('/') {
        Some(from_root) => resolve("", from_root),
        None => resolve(folder, path),
    };
    resolved.is_some_and(|resolved| is_there(tree, &resolved))
}

/// What does not exist of a piece of code that is a path of the repository: neither from the root
/// nor from the document's own folder. Of one with a placeholder, the folder before it has to
/// exist; of `path::item` and `path:line`, the path.
fn missing(tree: &Tree, folder: &str, code: &str) -> Option<String> {
    let path = code.split(':').next().unwrap_or_default();
    if !FOLDERS.iter().any(|f| path.starts_with(f)) || path.contains(char::is_whitespace) {
        return None;
    }
    let fixed: Vec<_> = path.split('/').take_while(|part| !varies(part)).collect();
    let fixed = fixed.join("/");
    let found = ["", folder].iter().any(|base| {
        let resolved = resolve(base, &fixed);
        resolved.is_some_and(|resolved| is_there(tree, &resolved))
    });
    (!found).then_some(fixed)
}

/// Whether a part of a path stands for something that varies.
fn varies(part: &str) -> bool {
    let mut words = part.split(|c: char| !c.is_ascii_alphanumeric());
    part.contains(['*', '{', '<', '…']) || words.any(|word| PLACEHOLDERS.contains(&word))
}

/// A path relative to the root, without `.` and `..`; nothing if it leaves the checkout.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether git knows a file or folder of this path; the empty path is the checkout itself.
fn is_there(tree: &Tree, path: &str) -> bool {
    let below = format!("{path}/");
    path.is_empty()
        || tree
            .files
            .iter()
            .any(|f| f == path || f.starts_with(&below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_inside_the_checkout() {
        for (folder, path, resolved) in [
            ("docs", "../README.md", Some("README.md")),
            ("docs", "./a//b/", Some("docs/a/b")),
            ("", ".", Some("")),
            ("docs", "../..", None),
        ] {
            assert_eq!(
                resolve(folder, path).as_deref(),
                resolved,
                "{folder} {path}"
            );
        }
    }

    #[test]
    fn a_placeholder_is_a_word_of_its_own() {
        for part in ["NAME", "NAME.json", "cornu-NAME", "*.rs", "{a,b}", "<x>"] {
            assert!(varies(part), "{part}");
        }
        for part in ["README.md", "METHODS.md", "lib.rs", "NAMES.md"] {
            assert!(!varies(part), "{part}");
        }
    }
}
