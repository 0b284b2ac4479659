//! Summaries by the hash of what was summarised.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cornu_core::{ContentHash, Fingerprint, ProviderError, Summariser};
use parking_lot::Mutex;

/// Where summaries are kept.
///
/// A key is a hash over the summariser's fingerprint, the size that was asked for and the text; a
/// value under a key is always the same.
pub trait SummaryStore: Send + Sync {
    /// The summary under a key; `None` when there is none that can be read.
    fn get(&self, key: &ContentHash) -> Option<String>;

    /// Keeps a summary.
    ///
    /// # Errors
    /// When it cannot be kept; the summary is then used all the same.
    fn put(&self, key: &ContentHash, summary: &str) -> std::io::Result<()>;
}

/// A summariser that asks another one once a text.
///
/// It has the other one's fingerprint. Failures are not kept. Two threads that ask for the same
/// text at the same time may both reach the summariser.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::Summariser;
/// use cornu_segment::{CachedSummariser, ExtractiveSummariser, MemoryStore};
///
/// let cached = CachedSummariser::new(
///     Arc::new(ExtractiveSummariser::default()), Arc::new(MemoryStore::new(1000)));
/// let once = cached.summarise("One sentence of five words.", 16)?;
/// assert_eq!(cached.summarise("One sentence of five words.", 16)?, once);
/// assert_eq!((cached.hits(), cached.misses()), (1, 1));
/// # Ok::<(), cornu_core::ProviderError>(())
/// ```
pub struct CachedSummariser {
    inner: Arc<dyn Summariser>,
    store: Arc<dyn SummaryStore>,
    hits: AtomicU64,
    misses: AtomicU64,
    unkept: AtomicU64,
}

impl CachedSummariser {
    /// Asks `inner` for what `store` does not have.
    #[must_use]
    pub fn new(inner: Arc<dyn Summariser>, store: Arc<dyn SummaryStore>) -> Self {
        Self {
            inner,
            store,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            unkept: AtomicU64::new(0),
        }
    }

    /// Summaries that were there.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Summaries that had to be made.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// Summaries that were made and could not be kept.
    #[must_use]
    pub fn unkept(&self) -> u64 {
        self.unkept.load(Ordering::Relaxed)
    }

    fn key(&self, text: &str, max_tokens: usize) -> ContentHash {
        let mut bytes = Vec::with_capacity(text.len() + 40);
        bytes.extend_from_slice(&self.inner.fingerprint().digest());
        bytes.extend_from_slice(&(max_tokens as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        ContentHash::of(&bytes)
    }
}

impl Summariser for CachedSummariser {
    fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }

    fn summarise(&self, text: &str, max_tokens: usize) -> Result<String, ProviderError> {
        let key = self.key(text, max_tokens);
        if let Some(summary) = self.store.get(&key) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(summary);
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let summary = self.inner.summarise(text, max_tokens)?;
        if self.store.put(&key, &summary).is_err() {
            self.unkept.fetch_add(1, Ordering::Relaxed);
        }
        Ok(summary)
    }
}

impl fmt::Debug for CachedSummariser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedSummariser")
            .field("inner", self.inner.fingerprint())
            .finish_non_exhaustive()
    }
}

/// Summaries in memory: so many, the oldest go first.
///
/// ```
/// use cornu_core::ContentHash;
/// use cornu_segment::{MemoryStore, SummaryStore};
///
/// let store = MemoryStore::new(1);
/// let [one, two] = [ContentHash::of(b"1"), ContentHash::of(b"2")];
/// store.put(&one, "first")?;
/// store.put(&two, "second")?;
/// assert_eq!((store.get(&one), store.get(&two)), (None, Some("second".to_owned())));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MemoryStore {
    capacity: usize,
    kept: Mutex<(BTreeMap<ContentHash, String>, VecDeque<ContentHash>)>,
}

impl MemoryStore {
    /// At most `capacity` summaries.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            kept: Mutex::new((BTreeMap::new(), VecDeque::new())),
        }
    }
}

impl SummaryStore for MemoryStore {
    fn get(&self, key: &ContentHash) -> Option<String> {
        self.kept.lock().0.get(key).cloned()
    }

    fn put(&self, key: &ContentHash, summary: &str) -> std::io::Result<()> {
        let mut kept = self.kept.lock();
        let (summaries, order) = &mut *kept;
        if summaries.insert(*key, summary.to_owned()).is_none() {
            order.push_back(*key);
        }
        while summaries.len() > self.capacity {
            let Some(oldest) = order.pop_front() else {
                break;
            };
            summaries.remove(&oldest);
        }
        Ok(())
    }
}

/// Summaries in a folder, one file each, named by its key: they outlive the process. Files can be
/// deleted at any time.
///
/// **A file holds what its document says.** The folder is for the index's owner alone.
///
/// ```
/// use cornu_core::ContentHash;
/// use cornu_segment::{FolderStore, SummaryStore};
/// # let folder = tempfile::tempdir()?;
/// let store = FolderStore::new(folder.path().join("summaries"))?;
/// let key = ContentHash::of(b"text");
/// store.put(&key, "概要。")?;
/// assert_eq!(store.get(&key).as_deref(), Some("概要。"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct FolderStore {
    folder: PathBuf,
    written: AtomicU64,
}

impl FolderStore {
    /// Keeps them in `folder`, which is made when it is not there.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn new(folder: impl Into<PathBuf>) -> std::io::Result<Self> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder)?;
        Ok(Self {
            folder,
            written: AtomicU64::new(0),
        })
    }
}

impl SummaryStore for FolderStore {
    fn get(&self, key: &ContentHash) -> Option<String> {
        std::fs::read_to_string(self.folder.join(format!("{key}.txt"))).ok()
    }

    /// Under a temporary name first, so that a file is whole or not there.
    fn put(&self, key: &ContentHash, summary: &str) -> std::io::Result<()> {
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let partial = self
            .folder
            .join(format!("{key}.{process}-{number}.partial"));
        let written = write_new(&partial, summary.as_bytes());
        let whole = self.folder.join(format!("{key}.txt"));
        let kept = written.and_then(|()| std::fs::rename(&partial, whole));
        // A full disk should not fill further with what nobody reads.
        kept.inspect_err(|_| drop(std::fs::remove_file(&partial)))
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
