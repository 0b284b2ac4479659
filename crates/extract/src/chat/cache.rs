//! Answers on disk, one file each.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of answers, each under the hash of what was asked.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    /// Stands for model, prompt and settings.
    asker: [u8; 32],
    writes: AtomicU64,
}

impl Cache {
    pub(super) fn open(folder: &Path, asker: [u8; 32]) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            asker,
            writes: AtomicU64::new(0),
        })
    }

    fn path(&self, text: &str) -> PathBuf {
        let mut hasher = blake3::Hasher::new_derive_key("cornu extract answer v1");
        hasher.update(&self.asker);
        hasher.update(text.as_bytes());
        self.folder
            .join(format!("{}.json", hasher.finalize().to_hex()))
    }

    pub(super) fn get(&self, text: &str) -> Option<String> {
        std::fs::read_to_string(self.path(text)).ok()
    }

    /// All or nothing: a temporary name first, which no other writer uses.
    pub(super) fn put(&self, text: &str, answer: &str) -> io::Result<()> {
        let path = self.path(text);
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        let own = format!("tmp-{}-{number}", std::process::id());
        let temporary = path.with_extension(own);
        let written = write_new(&temporary, answer.as_bytes());
        let kept = written.and_then(|()| std::fs::rename(&temporary, &path));
        // A full disk should not fill further with what nobody reads.
        kept.inspect_err(|_| drop(std::fs::remove_file(&temporary)))
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
