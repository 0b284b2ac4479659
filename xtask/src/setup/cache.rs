//! The cache directory: where it is, its lock, its staging area.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::progress::Progress;

/// The user's cache of libtorch and models.
///
/// ```text
/// setup.lock                       held while something is being installed
/// tmp/                             staging, empty unless an install is running or was killed
/// libtorch-2.13.0-PLATFORM-PINS/   lib/, include/, build-version, manifest.json
/// models/NAME/                     the model's files, manifest.json
/// views/                           folders of links, one per choice of models of one's own
/// ```
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache at `CORNU_CACHE`, or at the place this system keeps caches.
    ///
    /// # Errors
    /// If neither `CORNU_CACHE` nor a home directory is known.
    pub fn from_env() -> Result<Self> {
        let var = |name: &str| {
            std::env::var_os(name)
                .filter(|v| !v.is_empty())
                .map(PathBuf::from)
        };
        let home = var("HOME");
        let root = if let Some(moved) = var("CORNU_CACHE") {
            moved
        } else if cfg!(target_os = "macos") {
            home.context(NO_HOME)?.join("Library/Caches/cornu")
        } else if let Some(xdg) = var("XDG_CACHE_HOME").filter(|p| p.is_absolute()) {
            xdg.join("cornu")
        } else {
            home.context(NO_HOME)?.join(".cache/cornu")
        };
        let root = std::path::absolute(&root).with_context(|| format!("{}", root.display()))?;
        Ok(Self::at(root))
    }

    /// A cache in a given folder, which need not exist yet.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the models lie, one folder each.
    #[must_use]
    pub fn models(&self) -> PathBuf {
        self.root.join("models")
    }

    /// A path inside the cache.
    #[must_use]
    pub fn join(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// Takes the lock that one install at a time holds, waiting for it if need be, and clears
    /// what a killed install left in staging: whoever holds the lock knows that nobody else
    /// is using it. The lock goes with the process, however it ends.
    ///
    /// # Errors
    /// If the cache cannot be written to, or its file system has no locks.
    pub fn lock(&self, progress: &Progress) -> Result<Locked<'_>> {
        let root = self.root.display();
        fs::create_dir_all(self.root.join("tmp"))
            .with_context(|| format!("cannot write to {root}; CORNU_CACHE names another place"))?;
        let path = self.root.join("setup.lock");
        let file = File::create(&path).with_context(|| path.display().to_string())?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                progress.note("another setup is running; waiting for it");
                file.lock().with_context(|| path.display().to_string())?;
            }
            Err(TryLockError::Error(error)) => bail!(
                "{} cannot be locked ({error}); CORNU_CACHE names a cache on another disk",
                path.display()
            ),
        }
        let locked = Locked {
            cache: self,
            _file: file,
        };
        locked.sweep()?;
        Ok(locked)
    }
}

/// The cache while this process alone may change it.
#[derive(Debug)]
pub struct Locked<'c> {
    cache: &'c Cache,
    _file: File,
}

impl Locked<'_> {
    /// A new, empty folder in staging, on the same file system as the places it is renamed to.
    ///
    /// # Errors
    /// What creating a folder gives.
    pub fn stage(&self, name: &str) -> Result<PathBuf> {
        let nanos = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        let unique = format!("{name}-{}-{nanos}", std::process::id());
        let path = self.cache.root.join("tmp").join(unique);
        fs::create_dir(&path).with_context(|| path.display().to_string())?;
        Ok(path)
    }

    /// Empties staging.
    ///
    /// # Errors
    /// If something in it cannot be removed.
    pub fn sweep(&self) -> Result<()> {
        let tmp = self.cache.root.join("tmp");
        for entry in fs::read_dir(&tmp).with_context(|| tmp.display().to_string())? {
            let path = entry?.path();
            let removed = if path.is_dir() {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
            removed.with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(())
    }

    /// Puts a finished folder in its place, by one rename. A damaged one that stood there is
    /// moved to staging first and removed.
    ///
    /// # Errors
    /// What the renames give.
    pub fn publish(&self, ready: &Path, place: &Path) -> Result<()> {
        let parent = place
            .parent()
            .context("a place in the cache has a parent")?;
        fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        if place.symlink_metadata().is_ok() {
            let aside = self.stage("old")?;
            fs::rename(place, aside.join("was"))
                .with_context(|| format!("cannot move {} away", place.display()))?;
        }
        fs::rename(ready, place)
            .with_context(|| format!("cannot move {} to {}", ready.display(), place.display()))?;
        sync_dir(parent)?;
        self.sweep()
    }
}

/// Makes a folder's entries durable.
///
/// # Errors
/// What opening or syncing gives.
pub fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir)
        .and_then(|d| d.sync_all())
        .with_context(|| format!("cannot sync {}", dir.display()))
}

const NO_HOME: &str = "no HOME is set; CORNU_CACHE says where to keep libtorch and models";
