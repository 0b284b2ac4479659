//! torch-sys is built once.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Finding, Rule, Tree};

/// One built torch-sys below the target directory, whatever the profile.
pub const TORCH_ONCE: Rule = Rule {
    name: "torch-once",
    about: "at most one torch-sys lies built in the target directory",
    check: torch_once,
};

fn torch_once(tree: &Tree) -> Result<Vec<Finding>> {
    let target = &tree.workspace.target;
    let mut built = Vec::new();
    // target/PROFILE/build, and target/TRIPLE/PROFILE/build when cross-compiling.
    for profile in folders(target) {
        collect(&profile, &mut built);
        for inner in folders(&profile)
            .iter()
            .filter(|d| d.join("build").is_dir())
        {
            collect(inner, &mut built);
        }
    }
    built.sort();
    let finding = |dir: &PathBuf| Finding {
        path: tree.relative(dir),
        line: 1,
        rule: TORCH_ONCE.name,
        reason: format!(
            "torch-sys was built {} times; each takes minutes",
            built.len()
        ),
        remedy: "Build what needs torch through xtask (`test`, `bench-tables`, `with-torch \
                 --all-torch`); then delete this folder if it is stale"
            .to_owned(),
    };
    Ok(if built.len() > 1 {
        built.iter().map(finding).collect()
    } else {
        vec![]
    })
}

fn collect(profile: &Path, built: &mut Vec<PathBuf>) {
    for unit in folders(&profile.join("build")) {
        let name = unit
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with("torch-sys-") && unit.join("out/libtch.a").is_file() {
            built.push(unit);
        }
    }
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}
