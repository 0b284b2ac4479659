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
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Default [`Access::ReadWrite`].
    pub access: Access,
    /// How nearest neighbours are found. Default [`Route::Auto`].
    pub route: Route,
    /// What the resident vectors are scanned in. Default [`Scan::Full`].
    pub scan: Scan,
    /// What [`Scan::Bits`] takes away from each vector before it keeps signs, of shape (D). Models
    /// whose vectors all lie to one side, as those of e5 do, need it: their signs hardly differ
    /// otherwise. Default: nothing.
    ///
    /// It has a part in which rows are found, so take it from what all askers may see, such as the
    /// [`mean`](crate::Snapshot::mean) of the public documents, or from texts that are in no index.
    pub centre: Option<Vec<f32>>,
    /// Whether an approximate index may be used. Default [`Approximate::Never`].
    pub approximate: Approximate,
    /// Connections that read at the same time. Default: twice as many as there are cores, so that
    /// connections may be on their way from one thread to the next while all cores search. At most
    /// 65,536.
    pub readers: usize,
    /// How long another process's lock is waited for. Default 5 s. SQLite waits no longer than 24
    /// days; more counts as so many.
    pub busy_timeout: Duration,
    /// How long a free connection is waited for; longer than `busy_timeout`, so that the inner
    /// wait ends first and names the true cause. Default 15 s.
    pub pool_timeout: Duration,
    /// How much of the file each connection maps into memory. Default 4 GiB of address space; the
    /// pages are shared, and the system may drop them.
    pub mmap_bytes: u64,
    /// How much of the chunks that searches found is kept in memory, in bytes, so that a search does
    /// not read again what others have read, also after commits, as long as the version of the document
    /// is the same. Default 32 MiB; 0 keeps nothing.
    pub chunk_bytes: u64,
    /// What a commit survives. Default [`Durability::PowerLoss`].
    pub durability: Durability,
    /// The largest the file may become, in pages of 8 KiB; at least 1. Default: no limit but
    /// SQLite's.
    pub max_pages: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            access: Access::ReadWrite,
            route: Route::Auto,
            scan: Scan::Full,
            centre: None,
            approximate: Approximate::Never,
            readers: 2 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            busy_timeout: Duration::from_secs(5),
            pool_timeout: Duration::from_secs(15),
            mmap_bytes: 4 << 30,
            chunk_bytes: 32 << 20,
            durability: Durability::PowerLoss,
            max_pages: None,
        }
    }
}

impl Options {
    /// Whether every answer is that of an exact search.
    pub(crate) fn is_exact(&self) -> bool {
        self.scan.is_exact() && self.approximate == Approximate::Never
    }

    pub(crate) fn scanning(&self) -> Scanning<'_> {
        Scanning {
            scan: self.scan,
            centre: self.centre.as_deref(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.readers == 0 {
            return Err(StoreError::Options {
                problem: "0 readers answer nothing; give at least 1".to_owned(),
            });
        }
        if self.scan == (Scan::Bits { per_hit: 0 }) {
            return Err(StoreError::Options {
                problem: "0 rows scored again for each hit find nothing; give at least 1"
                    .to_owned(),
            });
        }
        if let Approximate::Hnsw(hnsw) = self.approximate {
            hnsw.check()?;
        }
        if self.max_pages == Some(0) {
            return Err(StoreError::Options {
                problem: "a file of 0 pages holds nothing, and SQLite would take that for no \
                          limit; give at least 1, or none for no limit"
                    .to_owned(),
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

/// How nearest neighbours are found. All routes are exact and give the same bits, unless a
/// [`Scan`] that is not exact or an [`Approximate`] index was asked for.
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
    /// vectors of record are scanned. Not for more than 8,192 dimensions.
    Sql,
    /// The resident vectors: those of the `.vec` file, mapped, and those written since.
    Resident,
    /// The vectors of record of the view's documents, read through SQL. No artifact is needed.
    Facts,
}

/// What the resident vectors are scanned in. Codes are derived from the f32 rows in memory, when
/// they are first needed, row by row: a function of that row alone, so nothing that is hidden has a
/// part in them. What a scan by codes finds is scored again with the f32 rows: scores are exact,
/// with every bit, whichever is chosen.
///
/// ```
/// use cornu_store::{Options, Scan};
/// let options = Options { scan: Scan::Bits { per_hit: 16 }, ..Options::default() };
/// assert!(!options.scan.is_exact() && Scan::Int8.is_exact());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scan {
    /// The f32 rows. Exact. 4·D bytes are read for each visible row.
    #[default]
    Full,
    /// Codes of 8 bits, D + 8 bytes a row. **Exact**, ties included: beside the code of each row
    /// stands the norm of what its rounding lost, which bounds the error of its score; every row
    /// that may be among the best k is scored again.
    Int8,
    /// One bit a component, D/8 + 8 bytes a row, met by the query in 4 bits. *Approximate*: the
    /// best `per_hit` · k rows of the view by this measure are scored again, those that tie with
    /// the last of them included. With `per_hit` · k no less than the rows of the view the answer
    /// is the exact one; so it is for up to 2,048 visible rows, which are scanned in full. What is
    /// hidden has no part in the answer.
    Bits {
        /// Rows that are scored again for each hit that is asked for; at least 1.
        per_hit: usize,
    },
}

/// How the resident vectors are scanned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanning<'o> {
    pub(crate) scan: Scan,
    pub(crate) centre: Option<&'o [f32]>,
}

impl Scan {
    /// Whether answers are those of an exact search.
    #[must_use]
    pub fn is_exact(self) -> bool {
        !matches!(self, Self::Bits { .. })
    }
}

/// Whether an approximate index may be used where the store chooses the route, or goes by the
/// resident vectors.
///
/// ```
/// use cornu_store::{Approximate, Hnsw, Options};
/// assert_eq!(Options::default().approximate, Approximate::Never);
/// let hnsw = Hnsw { recall_per_mille: 990, ..Hnsw::default() };
/// let options = Options { approximate: Approximate::Hnsw(hnsw), ..Options::default() };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approximate {
    /// Answers are exact.
    #[default]
    Never,
    /// A graph, where it reaches the recall that is asked for and the view is broad.
    ///
    /// **This gives up non-interference.** The view is a predicate inside the search, so nothing
    /// hidden is returned and no score depends on it; but the graph is one over all rows, so hidden
    /// ones have a part in *which* visible ones are found. It also gives up that answers depend on
    /// the facts alone: a graph of an older state may find others than a fresh one.
    Hnsw(Hnsw),
}

/// A hierarchical navigable small world graph: how it is built, and when it is used.
///
/// What a search finds is scored again with the f32 rows, so scores are exact. It is used when the
/// view holds at least a share of the rows, and when some breadth of search reached the recall that
/// is asked for, as [measured](crate::SqliteVecStore::graph_ladder) on the graph itself: where
/// vectors have no structure none does, and all answers are exact. It is measured with rows that were
/// held back while the graph was built and put in afterwards. Real questions may lie elsewhere, so
/// [calibrate](crate::SqliteVecStore::calibrate_graph) with questions where you have some.
///
/// ```
/// let hnsw = cornu_store::Hnsw::default();
/// assert_eq!((hnsw.links, hnsw.recall_per_mille), (16, 950));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hnsw {
    /// M: links of a node in each upper layer, and half of those in the lowest. From 2 to 1,024;
    /// default 16.
    pub links: usize,
    /// efConstruction: breadth of the searches by which neighbours are found. Default 128.
    pub build_ef: usize,
    /// Thousandths of recall@10 that the mean search has to reach. Default 950.
    pub recall_per_mille: u16,
    /// efSearch, for who knows it: a search is as broad as that, whatever was measured. Default
    /// `None`: the least breadth that reaches the recall.
    pub ef: Option<usize>,
    /// Thousandths of all rows that a view has to hold; narrower ones are scanned, and so are all of
    /// up to 2,048 rows. Default 200, on the safe side: in table `hnsw` the scan wins at a hundredth
    /// of the rows, and at a tenth from a breadth of 64 on. With 0 the graph is walked however narrow
    /// the view is.
    pub narrow_per_mille: u16,
}

impl Default for Hnsw {
    fn default() -> Self {
        Self {
            links: 16,
            build_ef: 128,
            recall_per_mille: 950,
            ef: None,
            narrow_per_mille: 200,
        }
    }
}

impl Hnsw {
    fn check(&self) -> Result<(), StoreError> {
        let problem = if !(2..=1024).contains(&self.links) {
            "a graph has from 2 to 1024 links a node"
        } else if self.build_ef < self.links {
            "a graph is built with a breadth no less than its links"
        } else if self.ef == Some(0) {
            "a search has a breadth of at least 1"
        } else if self.recall_per_mille > 1000 {
            "recall is at most 1000 thousandths"
        } else {
            return Ok(());
        };
        Err(StoreError::Options {
            problem: problem.to_owned(),
        })
    }
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
