//! Who may depend on whom.

use anyhow::Result;

use super::{Finding, Rule, Tree, line_where};
use crate::workspace::{Dependency, Package};

/// Members depend only on the members that the design lists for them.
pub const LAYERS: Rule = Rule {
    name: "layers",
    about: "members depend only on the members that the design lists for them",
    check: layers,
};

/// Some outside crates belong to one member only.
pub const OUTSIDE: Rule = Rule {
    name: "outside-crates",
    about: "sockets, torch and SQL come in through one member each",
    check: outside,
};

/// A member: package, folder, the members it may use. Lower layers come first.
struct Layer {
    package: &'static str,
    folder: &'static str,
    uses: &'static [&'static str],
}

const fn layer(
    package: &'static str,
    folder: &'static str,
    uses: &'static [&'static str],
) -> Layer {
    Layer {
        package,
        folder,
        uses,
    }
}

/// The whole dependency graph. Tests may use any member further up in this list, so they make no
/// cycle either.
const DESIGN: &[Layer] = &[
    layer("cornu-core", "crates/core", &[]),
    layer("cornu-text", "crates/text", &["cornu-core"]),
    layer("cornu-remote", "crates/remote", &["cornu-core"]),
    layer("cornu-fuse", "crates/fuse", &["cornu-core"]),
    layer("cornu-eval", "crates/eval", &["cornu-core"]),
    layer("cornu-pool", "crates/pool", &["cornu-core"]),
    layer("cornu-graph-ppr", "crates/graph-ppr", &["cornu-core"]),
    layer(
        "cornu-rerank",
        "crates/rerank",
        &["cornu-core", "cornu-fuse"],
    ),
    layer("cornu-chunk", "crates/chunk", &["cornu-core", "cornu-text"]),
    layer(
        "cornu-sparse",
        "crates/sparse",
        &["cornu-core", "cornu-text"],
    ),
    layer(
        "cornu-embed",
        "crates/embed",
        &["cornu-core", "cornu-remote"],
    ),
    layer(
        "cornu-extract",
        "crates/extract",
        &["cornu-core", "cornu-text", "cornu-remote"],
    ),
    layer(
        "cornu-segment",
        "crates/segment",
        &["cornu-core", "cornu-text"],
    ),
    layer("cornu-store", "crates/store", &["cornu-core", "cornu-pool"]),
    layer(
        "cornu-hop",
        "crates/hop",
        &["cornu-core", "cornu-graph-ppr", "cornu-extract"],
    ),
    layer("cornu", "crates/rag", ABOVE),
    layer("cornu-cli", "crates/cli", &["cornu"]),
    layer("cornu-benches", "benches", ABOVE),
    layer("xtask", "xtask", &["cornu-eval"]),
];

/// May use everything above it in the list.
const ABOVE: &[&str] = &["*"];

/// Outside crates that only some members may depend on, tests included; why.
const OWNED: &[(&[&str], &[&str], &str)] = &[
    (
        &[
            "ureq",
            "reqwest",
            "hyper",
            "isahc",
            "attohttpc",
            "curl",
            "minreq",
        ],
        &["cornu-remote", "xtask"],
        "only cornu-remote opens a socket",
    ),
    (
        &["tch", "torch-sys"],
        &["cornu-embed"],
        "only cornu-embed knows torch",
    ),
    (
        &["rusqlite", "sqlite-vec", "libsqlite3-sys", "sqlx", "sqlite"],
        &["cornu-store"],
        "only cornu-store knows SQL",
    ),
];

fn layers(tree: &Tree) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in &tree.workspace.packages {
        let Some(at) = DESIGN.iter().position(|l| l.package == package.name) else {
            findings.push(finding(
                tree,
                package,
                LAYERS.name,
                &package.name,
                format!("{} is not in the design", package.name),
                "Add it to DESIGN in xtask/src/tidy/graph.rs and to docs/ARCHITECTURE.md, or drop it",
            ));
            continue;
        };
        let folder = tree.relative(package.dir());
        if folder != DESIGN[at].folder {
            findings.push(finding(
                tree,
                package,
                LAYERS.name,
                &package.name,
                format!("{} lies in {folder}", package.name),
                &format!("It belongs in {}", DESIGN[at].folder),
            ));
        }
        for dependency in package.dependencies.iter().filter(|d| d.path.is_some()) {
            if let Some(reason) = forbidden(at, dependency) {
                findings.push(finding(
                    tree,
                    package,
                    LAYERS.name,
                    &dependency.name,
                    reason,
                    "Move what is needed to a lower member, or take the provider as a trait of core",
                ));
            }
        }
    }
    Ok(findings)
}

/// Why the member at a place in the design may not have a dependency, if it may not.
fn forbidden(at: usize, dependency: &Dependency) -> Option<String> {
    let layer = &DESIGN[at];
    let above = DESIGN[..at].iter().any(|l| l.package == dependency.name);
    let listed = layer.uses.contains(&dependency.name.as_str())
        || (std::ptr::eq(layer.uses, ABOVE) && above);
    let test = dependency.kind.as_deref() == Some("dev");
    // A package's tests may turn on its own features by a dependency on itself.
    let itself = dependency.name == layer.package;
    if listed || (test && (above || itself)) {
        return None;
    }
    let kind = match dependency.kind.as_deref() {
        Some("dev") => "its tests may use only lower members",
        _ => "the design does not list this edge",
    };
    Some(format!(
        "{} depends on {}: {kind}",
        layer.package, dependency.name
    ))
}

fn outside(tree: &Tree) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in &tree.workspace.packages {
        for dependency in &package.dependencies {
            for (crates, owners, why) in OWNED {
                let owned = crates.contains(&dependency.name.as_str());
                if owned && !owners.contains(&package.name.as_str()) {
                    findings.push(finding(
                        tree,
                        package,
                        OUTSIDE.name,
                        &dependency.name,
                        format!("{} depends on {}: {why}", package.name, dependency.name),
                        &format!("Go through {}", owners[0]),
                    ));
                }
            }
        }
    }
    Ok(findings)
}

fn finding(
    tree: &Tree,
    package: &Package,
    rule: &'static str,
    word: &str,
    reason: String,
    remedy: &str,
) -> Finding {
    let path = tree.relative(&package.manifest_path);
    let text = tree.text(&path).unwrap_or_default();
    let starts =
        |line: &str| line.starts_with(word) || line.starts_with(&format!("name = \"{word}"));
    Finding {
        line: line_where(&text, starts),
        path,
        rule,
        reason,
        remedy: remedy.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_design_has_no_cycle_and_names_only_itself() {
        for (at, layer) in DESIGN.iter().enumerate() {
            for used in layer.uses.iter().filter(|u| **u != "*") {
                let above = DESIGN[..at].iter().any(|l| l.package == *used);
                assert!(
                    above,
                    "{} uses {used}, which is not above it",
                    layer.package
                );
            }
        }
    }

    #[test]
    fn edges_are_judged_by_kind() {
        let edge = |name: &str, kind: Option<&str>| Dependency {
            name: name.to_owned(),
            kind: kind.map(str::to_owned),
            path: Some("x".into()),
        };
        let at = |name: &str| DESIGN.iter().position(|l| l.package == name).unwrap();
        assert_eq!(
            forbidden(at("cornu-chunk"), &edge("cornu-text", None)),
            None
        );
        assert!(forbidden(at("cornu-chunk"), &edge("cornu-eval", None)).is_some());
        assert!(forbidden(at("cornu-chunk"), &edge("cornu-eval", Some("build"))).is_some());
        assert_eq!(
            forbidden(at("cornu-chunk"), &edge("cornu-eval", Some("dev"))),
            None
        );
        assert!(forbidden(at("cornu-eval"), &edge("cornu-chunk", Some("dev"))).is_some());
        assert_eq!(
            forbidden(at("cornu-benches"), &edge("cornu-hop", None)),
            None
        );
        assert!(forbidden(at("cornu-benches"), &edge("xtask", None)).is_some());
        assert!(forbidden(at("xtask"), &edge("cornu-core", None)).is_some());
        assert_eq!(
            forbidden(at("cornu-core"), &edge("cornu-core", Some("dev"))),
            None
        );
    }
}
