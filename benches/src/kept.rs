//! What models have computed, kept in the user's cache from run to run.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use cornu_core::Fingerprint;

use crate::models::libtorch_version;

const KEY: usize = 32;
/// Key, length, check.
const HEAD: usize = KEY + 4 + 8;

/// Results by the texts that they were computed of, in a file for each kind and model.
///
/// A file may be deleted at any time. One that was cut off in the middle of a record is read up to
/// there. Nothing is kept where no cache folder is known, or where another run holds the file.
pub struct Kept(Option<Mutex<Open>>);

struct Open {
    file: File,
    places: HashMap<[u8; KEY], (u64, usize)>,
    end: u64,
}

impl Kept {
    /// Of a kind of result and the model that computes it: another model, another libtorch and
    /// another processor have files of their own.
    ///
    /// # Errors
    /// A file that is there and cannot be read.
    pub fn open(kind: &str, model: &Fingerprint) -> Result<Self> {
        let Some(folder) = folder() else {
            return Ok(Self::nothing());
        };
        let name = key(&[
            &model.to_string(),
            &libtorch_version().unwrap_or_default(),
            &cornu_eval::evidence::Environment::detect(&Default::default()).cpu,
        ]);
        let name = blake3::Hash::from(name).to_hex();
        Self::at(&folder.join(format!("{kind}-{}.kept", &name[..16])))
    }

    /// Keeps nothing and knows nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Self(None)
    }

    pub(crate) fn at(path: &Path) -> Result<Self> {
        let context = || format!("{} cannot be used; delete it", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(context)?;
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false);
        let file = file.open(path).with_context(context)?;
        if file.try_lock().is_err() {
            crate::run::say(&format!("  {} is in use: not read", path.display()));
            return Ok(Self::nothing());
        }
        let mut open = Open {
            places: HashMap::new(),
            end: 0,
            file,
        };
        open.read_places().with_context(context)?;
        Ok(Self(Some(Mutex::new(open))))
    }

    /// What is kept of these texts.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn get(&self, texts: &[&str]) -> Result<Option<Vec<u8>>> {
        let Some(open) = &self.0 else {
            return Ok(None);
        };
        let open = open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(&(at, length)) = open.places.get(&key(texts)) else {
            return Ok(None);
        };
        let mut bytes = vec![0; length];
        open.file.read_exact_at(&mut bytes, at)?;
        Ok(Some(bytes))
    }

    /// Keeps a result of these texts.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn put(&self, texts: &[&str], bytes: &[u8]) -> Result<()> {
        let Some(open) = &self.0 else {
            return Ok(());
        };
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(texts);
        let mut record = Vec::with_capacity(HEAD + bytes.len());
        record.extend(key);
        record.extend(u32::try_from(bytes.len())?.to_le_bytes());
        record.extend(check(bytes));
        record.extend(bytes);
        let end = open.end;
        open.file.write_all_at(&record, end)?;
        open.places.insert(key, (end + HEAD as u64, bytes.len()));
        open.end += record.len() as u64;
        Ok(())
    }
}

impl Open {
    /// Where the records lie; what is behind the last whole one is cut off.
    fn read_places(&mut self) -> Result<()> {
        let mut reader = BufReader::with_capacity(1 << 20, &self.file);
        let mut head = [0; HEAD];
        let mut bytes = Vec::new();
        while reader.read_exact(&mut head).is_ok() {
            let (key, rest) = head.split_at(KEY);
            let (length, checked) = rest.split_at(4);
            let length = u32::from_le_bytes(length.try_into()?) as usize;
            bytes.clear();
            let read = (&mut reader).take(length as u64).read_to_end(&mut bytes)?;
            if read < length || check(&bytes) != *checked {
                break;
            }
            let at = self.end + HEAD as u64;
            self.places.insert(key.try_into()?, (at, length));
            self.end = at + length as u64;
        }
        self.file.set_len(self.end)?;
        (&self.file).flush()?;
        Ok(())
    }
}

fn key(texts: &[&str]) -> [u8; KEY] {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

fn check(bytes: &[u8]) -> [u8; 8] {
    let hash = blake3::hash(bytes);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    first
}

/// `tables` below the cache that `cargo xtask` uses.
fn folder() -> Option<PathBuf> {
    let var = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    let root = var("CORNU_CACHE")
        .or_else(|| var("XDG_CACHE_HOME").map(|cache| cache.join("cornu")))
        .or_else(|| var("HOME").map(|home| home.join(".cache/cornu")));
    root.map(|root| root.join("tables"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_there_in_the_next_run_and_a_torn_end_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/one.kept");
        let open = || Kept::at(&path).unwrap();
        let kept = open();
        assert_eq!(kept.get(&["a", "b"]).unwrap(), None);
        kept.put(&["a", "b"], b"first").unwrap();
        kept.put(&["ab", ""], b"").unwrap();
        kept.put(&["c"], b"third").unwrap();
        assert_eq!(kept.get(&["a", "b"]).unwrap().unwrap(), b"first");
        // While it is open here, another run does without.
        open().put(&["a", "b"], b"other").unwrap();
        drop(kept);
        let length = std::fs::metadata(&path).unwrap().len();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(length - 1).unwrap();
        let kept = open();
        assert_eq!(kept.get(&["a", "b"]).unwrap().unwrap(), b"first");
        assert_eq!(kept.get(&["ab", ""]).unwrap().unwrap(), b"");
        assert_eq!(kept.get(&["c"]).unwrap(), None);
        kept.put(&["c"], b"again").unwrap();
        drop(kept);
        // A flipped bit ends what is believed.
        assert_eq!(open().get(&["c"]).unwrap().unwrap(), b"again");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[HEAD] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(open().get(&["c"]).unwrap(), None);
        assert_eq!(Kept::nothing().get(&["c"]).unwrap(), None);
    }
}
