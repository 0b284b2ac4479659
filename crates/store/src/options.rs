//! How a store is opened.

use std::time::Duration;

use crate::error::StoreError;

/// What has a default when a store is opened.
///
/// ```
/// use cornu_store::{Access, Options, Route};
/// let options = Options { access: Access::ReadOnly, ..Options::default() };
/// assert_eq!(options.route, Route::Auto);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Default [`Access::ReadWrite`].
    pub access: Access,
    /// How nearest neighbours are found. Default [`Route::Auto`].
    pub route: Route,
    /// Connections that read at the same time. Default: the number of cores; more only wait.
    pub readers: usize,
    /// How long another process's lock is waited for. Default 5 s.
    pub busy_timeout: Duration,
    /// How long a free connection is waited for; longer than `busy_timeout`, so that the inner
    /// wait ends first and names the true cause. Default 15 s.
    pub pool_timeout: Duration,
    /// How much of the file each connection maps into memory. Default 4 GiB of address space; the
    /// pages are shared, and the system may drop them.
    pub mmap_bytes: u64,
    /// What a commit survives. Default [`Durability::PowerLoss`].
    pub durability: Durability,
    /// The largest the file may become, in pages of 8 KiB. Default: no limit but SQLite's.
    pub max_pages: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            access: Access::ReadWrite,
            route: Route::Auto,
            readers: std::thread::available_parallelism().map_or(2, std::num::NonZero::get),
            busy_timeout: Duration::from_secs(5),
            pool_timeout: Duration::from_secs(15),
            mmap_bytes: 4 << 30,
            durability: Durability::PowerLoss,
            max_pages: None,
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.readers == 0 {
            return Err(StoreError::Options {
                problem: "0 readers answer nothing; give at least 1".to_owned(),
            });
        }
        if self.pool_timeout <= self.busy_timeout {
            return Err(StoreError::Options {
                problem: format!(
                    "the pool timeout ({:?}) has to be longer than the busy timeout ({:?}), or a \
                     locked file would be reported as a busy pool",
                    self.pool_timeout, self.busy_timeout
                ),
            });
        }
        Ok(())
    }
}

/// What may be done with the file.
///
/// ```
/// assert_eq!(cornu_store::Access::default(), cornu_store::Access::ReadWrite);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing; the file is created when it is not there.
    #[default]
    ReadWrite,
    /// Reading only, while others may write. SQLite keeps a `-shm` file beside the database, so
    /// the folder has to be writable, or the file already there.
    ReadOnly,
    /// Reading only, and nobody writes as long as the store is open: a file on read-only media.
    /// Nothing is created or locked. If somebody does write, answers are undefined.
    Immutable,
}

impl Access {
    pub(crate) fn may_write(self) -> bool {
        matches!(self, Self::ReadWrite)
    }
}

/// How nearest neighbours are found. All routes are exact and give the same bits.
///
/// ```
/// assert_eq!(cornu_store::Route::default(), cornu_store::Route::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// The store chooses by the size of the view and by what is at hand.
    #[default]
    Auto,
    /// `vec0`, with the visible chunks inside the statement. The table is brought up to date
    /// first. Where its distances cannot prove the cut (k above 4,096, more ties than that), the
    /// vectors of record are scanned.
    Sql,
    /// The resident vectors: those of the `.vec` file, mapped, and those written since.
    Resident,
    /// The vectors of record of the view's documents, read through SQL. No artifact is needed.
    Facts,
}

/// What a commit survives.
///
/// ```
/// assert_eq!(cornu_store::Durability::default(), cornu_store::Durability::PowerLoss);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Everything that leaves the disk whole: one `fsync` a commit.
    #[default]
    PowerLoss,
    /// A killed process. After a power loss the newest commits may be gone; what remains is a
    /// state that was committed.
    ProcessKill,
}
