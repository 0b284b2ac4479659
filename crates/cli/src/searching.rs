//! How the vectors of an index are searched: what `index` was told, kept in the index for all other
//! commands.

use std::path::Path;

use anyhow::Result;
use cornu::store::{
    Access, Approximate, Hnsw, Options, Scan, Searching, SqliteVecStore, StoreError,
};
use cornu::{LiveRagIndex, Principal};

use crate::args::{ApproximateArg, ScanArg, SearchingArgs};

/// Rows that are scored again for each hit of a scan by bits (table `store`).
const PER_HIT: usize = 16;

/// The options by which the index at this path is to be opened; those of a new one where there is
/// none, or none that can be read. Opening it tells what is wrong.
pub(crate) fn options(path: &Path, access: Access) -> Result<Options> {
    let options = new(access);
    let Ok(store) = SqliteVecStore::open_existing(path, &options) else {
        return Ok(options);
    };
    let kept = store.kept_searching()?.unwrap_or_default();
    Ok(kept.applied_to(&options))
}

/// The index as it is kept, or, where what is kept cannot be read, without it, and what is wrong.
pub(crate) fn to_check(path: &Path, access: Access) -> Result<(SqliteVecStore, Option<String>)> {
    let options = new(access);
    let store = SqliteVecStore::open_existing(path, &options)?;
    let kept = match store.kept_searching() {
        Ok(kept) => kept.unwrap_or_default(),
        Err(StoreError::Corrupted { detail, .. }) => return Ok((store, Some(detail))),
        Err(StoreError::Options { problem }) => return Ok((store, Some(problem))),
        Err(error) => return Err(error.into()),
    };
    let store = SqliteVecStore::open_existing(path, &kept.applied_to(&options))?;
    Ok((store, None))
}

fn new(access: Access) -> Options {
    Options {
        access,
        ..Options::default()
    }
}

/// Brings the kept centre up to date after a change, so that what is hidden or gone since has no part
/// in it.
pub(crate) fn renew(store: &SqliteVecStore) -> Result<()> {
    let Some(kept) = store.kept_searching()? else {
        return Ok(());
    };
    let renewed = Searching {
        centre: centre(store, kept.scan)?,
        ..kept.clone()
    };
    match renewed == kept {
        true => Ok(()),
        false => Ok(store.keep_searching(&renewed)?),
    }
}

/// The centre of a scan by bits: that of what everybody may see.
fn centre(store: &SqliteVecStore, scan: Scan) -> Result<Option<Vec<f32>>> {
    let Scan::Bits { .. } = scan else {
        return Ok(None);
    };
    let mean = store.snapshot(&Principal::public())?.mean()?;
    Ok(mean.map(|mean| mean.to_vec()))
}

impl SearchingArgs {
    /// Whether nothing of what is kept counts.
    pub(crate) fn say_all(&self) -> bool {
        self.scan.is_some() && self.approximate.is_some()
    }

    /// The options, with what the flags say in the place of theirs.
    pub(crate) fn applied_to(&self, options: Options) -> Options {
        Options {
            scan: self.scan.map_or(options.scan, Scan::from),
            approximate: self
                .approximate
                .map_or(options.approximate, Approximate::from),
            ..options
        }
    }

    /// Keeps in the index what the flags say; where they say nothing, what is kept stays, but for its
    /// centre.
    pub(crate) fn keep(&self, index: &LiveRagIndex) -> Result<()> {
        let (store, options) = (index.store(), &index.options().store);
        if self.scan.is_none() && self.approximate.is_none() {
            return renew(store);
        }
        let centre = centre(store, options.scan)?;
        let searching = Searching {
            scan: options.scan,
            centre,
            approximate: options.approximate,
        };
        // What cannot be read is written over.
        match store.kept_searching() {
            Ok(Some(kept)) if kept == searching => Ok(()),
            _ => Ok(store.keep_searching(&searching)?),
        }
    }
}

impl From<ScanArg> for Scan {
    fn from(scan: ScanArg) -> Self {
        match scan {
            ScanArg::F32 => Self::Full,
            ScanArg::Int8 => Self::Int8,
            ScanArg::Bits => Self::Bits { per_hit: PER_HIT },
        }
    }
}

impl From<ApproximateArg> for Approximate {
    fn from(approximate: ApproximateArg) -> Self {
        match approximate {
            ApproximateArg::Off => Self::Never,
            ApproximateArg::Hnsw => Self::Hnsw(Hnsw::default()),
        }
    }
}

/// In words, for `stats`.
pub(crate) fn shown(kept: &Searching) -> (&'static str, &'static str) {
    let scan = match kept.scan {
        Scan::Full => "f32",
        Scan::Int8 => "int8",
        Scan::Bits { .. } => "bits",
    };
    let approximate = match kept.approximate {
        Approximate::Never => "off",
        Approximate::Hnsw(_) => "hnsw",
    };
    (scan, approximate)
}
