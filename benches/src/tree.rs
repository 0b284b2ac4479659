//! The hash of the tree that was measured.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// What rendering writes, and what therefore cannot be part of the hash.
const RENDERED: [&str; 3] = ["docs/", "README.md", "README.zh-CN.md"];

/// blake3 over the names and contents of all files that git tracks or would add, in order of name,
/// without `docs/` and the READMEs.
///
/// # Errors
/// When `root` is no git checkout or a file cannot be read.
pub fn hash(root: &Path) -> Result<String> {
    let listing = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .context("cannot run git; the record names the tree that was measured")?;
    ensure!(
        listing.status.success(),
        "git ls-files failed in {}: {}",
        root.display(),
        String::from_utf8_lossy(&listing.stderr).trim()
    );
    let listing = String::from_utf8(listing.stdout).context("a file name is not UTF-8")?;
    let mut names: Vec<&str> = listing
        .split('\0')
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !RENDERED.iter().any(|rendered| name.starts_with(rendered)));

    let mut hasher = blake3::Hasher::new_derive_key("cornu measured tree v1");
    for name in names {
        let path = root.join(name);
        // A file that was removed and not yet committed is still listed.
        let Ok(bytes) = std::fs::read(&path) else {
            continue;
        };
        for part in [name.as_bytes(), &bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}
