//! libtorch: the user's own, or the pinned one in the cache.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::cache::Cache;
use super::install::Artifact;
use super::manifest::{Libtorch, Manifest};

/// The user's own libtorch, if `LIBTORCH` is set, after a look at it.
///
/// # Errors
/// If it is set but no libtorch of the right version is there.
pub fn from_env(version: &str) -> Result<Option<PathBuf>> {
    match std::env::var_os("LIBTORCH").filter(|v| !v.is_empty()) {
        Some(dir) => check_own(Path::new(&dir), version).map(Some),
        None => Ok(None),
    }
}

/// Checks a libtorch that the user names: the CPU library, the headers and, where the folder
/// states one, the version.
///
/// # Errors
/// Says what is missing or which version was found.
pub fn check_own(dir: &Path, version: &str) -> Result<PathBuf> {
    const REMEDY: &str = "Correct LIBTORCH, or unset it to have xtask fetch one";
    let shown = dir.display();
    let dir = std::path::absolute(dir).with_context(|| shown.to_string())?;
    let library = ["libtorch_cpu.so", "libtorch_cpu.dylib"];
    let found = library
        .iter()
        .any(|name| dir.join("lib").join(name).is_file());
    ensure!(
        found,
        "LIBTORCH is {shown}, but lib/{} is not there. {REMEDY}",
        library[0]
    );
    let headers = dir.join("include/torch").is_dir();
    ensure!(
        headers,
        "LIBTORCH is {shown}, but include/torch is not there. {REMEDY}"
    );
    if let Ok(text) = fs::read_to_string(dir.join("build-version")) {
        let stated = text.trim().split('+').next().unwrap_or_default();
        ensure!(
            stated == version,
            "LIBTORCH is {shown}, a {stated}; tch wants {version}. {REMEDY}"
        );
    }
    Ok(dir)
}

/// The pinned libtorch of a platform as an artifact of the cache.
///
/// # Errors
/// If the pins are inconsistent.
pub fn artifact<'m>(
    manifest: &'m Manifest,
    libtorch: &'m Libtorch,
    cache: &Cache,
) -> Result<Artifact<'m>> {
    let name = format!("libtorch-{}-{}", libtorch.version, libtorch.platform);
    let (parts, texts) = (&libtorch.parts, &libtorch.texts);
    let mut artifact = Artifact::pinned(manifest, &name, PathBuf::new(), parts, texts, &[])?;
    let pins = artifact.pins.map(|sha| sha.short()).unwrap_or_default();
    artifact.place = cache.join(format!("{name}-{pins}"));
    Ok(artifact)
}
