//! What was taken and why; what is missing and where it was looked for.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use super::Prepared;
use super::cache::Cache;
use super::digest::{FileRecord, Sha};
use super::install::{Artifact, Record};
use super::manifest::Model;
use crate::progress::bytes;

/// Something usable and where it lies.
#[derive(Debug, Clone, Serialize)]
pub struct Placed {
    /// `libtorch-2.13.0-linux-x86_64`, or a model's name.
    pub name: String,
    /// Where it lies.
    pub dir: PathBuf,
    /// Where it came from, and why not from elsewhere.
    pub source: String,
    /// Its single files.
    pub files: Vec<FileRecord>,
    /// Its folders that are pinned as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<Tree>,
}

/// A folder that is pinned as a whole.
#[derive(Debug, Clone, Serialize)]
pub struct Tree {
    path: String,
    files: u64,
    bytes: u64,
    sha256: Sha,
}

impl Placed {
    /// Something of the user's own.
    #[must_use]
    pub fn own(name: &str, dir: PathBuf, how: &str, files: Vec<FileRecord>) -> Self {
        let source = format!("a directory of your own: {how}");
        Self {
            name: name.to_owned(),
            dir,
            source,
            files,
            trees: Vec::new(),
        }
    }

    /// Something in the cache; `why` is given if it was fetched just now.
    #[must_use]
    pub fn cached(artifact: &Artifact<'_>, record: &Record, why: Option<&str>) -> Self {
        let pinned = artifact.parts.iter().flat_map(|p| &p.trees);
        let trees: Vec<_> = pinned
            .map(|t| Tree {
                path: t.to.clone(),
                files: t.files,
                bytes: t.bytes,
                sha256: t.sha256,
            })
            .collect();
        let in_tree = |path: &str| {
            trees.iter().any(|t| {
                path.strip_prefix(&t.path)
                    .is_some_and(|p| p.starts_with('/'))
            })
        };
        let files = record
            .files
            .iter()
            .filter(|f| !in_tree(&f.path))
            .cloned()
            .collect();
        let source = match why {
            None => format!("cache, from {}", record.source),
            Some("") => record.source.clone(),
            Some(why) => format!("{} ({why})", record.source),
        };
        let (name, dir) = (artifact.name.clone(), artifact.place.clone());
        Self {
            name,
            dir,
            source,
            files,
            trees,
        }
    }
}

impl Prepared {
    /// One line for each thing: what, from where and why, and its place.
    #[must_use]
    pub fn lines(&self) -> String {
        let all = std::iter::once(&self.libtorch).chain(&self.models);
        all.map(|p| format!("{}: {}\n    {}\n", p.name, p.source, p.dir.display()))
            .collect()
    }

    /// The same for programs, with the sha256 of every file.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        json!({
            "schema": "cornu.setup.v1",
            "libtorch": self.libtorch,
            "models_dir": self.models_dir,
            "models": self.models,
        })
    }
}

/// What an offline setup did not find.
#[derive(Debug)]
pub struct Missing {
    cache: PathBuf,
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    name: String,
    bytes: Option<u64>,
    damage: Option<String>,
    places: Vec<String>,
    remedy: String,
}

impl Missing {
    /// The artifacts that are absent or damaged.
    #[must_use]
    pub fn new(
        cache: &Cache,
        parent: Option<&Path>,
        absent: &[(Artifact<'_>, Option<&Model>, Option<String>)],
    ) -> Self {
        let items = absent.iter().map(|(artifact, model, damage)| {
            let mut places = Vec::new();
            let mut remedy = "or set LIBTORCH".to_owned();
            if let Some(model) = model {
                places.push(match parent {
                    Some(parent) => parent.join(&model.name).display().to_string(),
                    None => "CORNU_MODEL_DIR (not set)".to_owned(),
                });
                remedy = format!("or name a folder with {}", model.needs.join(", "));
                remedy += &format!(": --model {}=FOLDER", model.name);
            } else {
                places.push("LIBTORCH (not set)".to_owned());
            }
            places.push(artifact.place.display().to_string());
            let (name, bytes) = (artifact.name.clone(), artifact.bytes());
            Item {
                name,
                bytes,
                damage: damage.clone(),
                places,
                remedy,
            }
        });
        Self {
            cache: cache.root().to_path_buf(),
            items: items.collect(),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "offline, and {} missing:",
            match self.items.len() {
                1 => "one thing is".to_owned(),
                n => format!("{n} things are"),
            }
        )?;
        for item in &self.items {
            let size = item
                .bytes
                .map_or_else(|| "size not pinned".to_owned(), bytes);
            writeln!(f, "  {} ({size})", item.name)?;
            for place in &item.places {
                writeln!(f, "    looked for at {place}")?;
            }
            if let Some(damage) = &item.damage {
                writeln!(f, "    what is there is damaged: {damage}")?;
            }
            writeln!(f, "    {}", item.remedy)?;
        }
        write!(
            f,
            "Run `cargo xtask setup` without --offline and CORNU_OFFLINE, or carry {} over from a \
             machine where that was done",
            self.cache.display()
        )
    }
}

impl std::error::Error for Missing {}
