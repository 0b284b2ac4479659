//! Which file a path names.

use std::fs;
use std::io;
use std::path::Path;

/// What a file is to the system, whatever it is called. Who has it open keeps the number from being given
/// to another. Where the system has no such number, any file that is there is taken for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    #[cfg(unix)]
    device_and_number: (u64, u64),
}

impl Place {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            Ok(Self {
                device_and_number: (found.dev(), found.ino()),
            })
        }
        #[cfg(not(unix))]
        {
            let _ = found;
            Ok(Self {})
        }
    }
}
