//! A file as memory.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Maps a file that nobody writes to.
#[expect(unsafe_code, reason = "a map can be made in no other way")]
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the bytes of a map must not change while it lives. An artifact is written under
    // another name, synchronised, and renamed into place; from then on nothing in this crate
    // writes to it, and replacing it gives the name to another file while the map keeps the old
    // one. A scratch file has lost its name before it is written, and its one handle after. A
    // foreign program that writes into or truncates the file breaks this, as it would break
    // an open database.
    unsafe { Mmap::map(file) }
}
