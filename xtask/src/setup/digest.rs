//! sha256 of bytes, files and folders.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::progress::Task;

/// A sha256, written as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha([u8; 32]);

impl Sha {
    /// The first eight hexadecimal digits, for names of folders.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Sha {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a sha256 (64 hexadecimal digits)");
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut digest = [0; 32];
        for (byte, place) in digest.iter_mut().zip((0..64).step_by(2)) {
            let pair = text.get(place..place + 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Self(digest))
    }
}

impl TryFrom<String> for Sha {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Sha> for String {
    fn from(sha: Sha) -> Self {
        sha.to_string()
    }
}

/// One file of an artifact as it lies on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Path relative to the artifact, with `/`.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// sha256 of the content.
    pub sha256: Sha,
}

/// sha256 of bytes in memory.
#[must_use]
pub fn sha_of_bytes(bytes: &[u8]) -> Sha {
    Sha(Sha256::digest(bytes).into())
}

/// Size and sha256 of a file, read once in pieces. `task` is told of every piece.
///
/// # Errors
/// What reading the file gives.
pub fn sha_of_file(path: &Path, task: Option<&Task>) -> io::Result<(u64, Sha)> {
    copy_hashed(&mut File::open(path)?, &mut io::sink(), u64::MAX, task)
}

/// Copies at most `limit` bytes from one to the other and gives their number and sha256; what
/// stands behind the limit stays unread.
///
/// # Errors
/// What reading or writing gives.
pub fn copy_hashed(
    from: &mut impl Read,
    to: &mut impl Write,
    limit: u64,
    task: Option<&Task>,
) -> io::Result<(u64, Sha)> {
    let mut from = from.take(limit);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    let mut total = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = &buffer[..read];
        hasher.update(piece);
        to.write_all(piece)?;
        total += read as u64;
        if let Some(task) = task {
            task.add(read as u64);
        }
    }
    Ok((total, Sha(hasher.finalize().into())))
}

/// sha256 over the lines `SHA256  BYTES  PATH\n` of a folder's files, sorted by path; paths are
/// relative to the folder.
#[must_use]
pub fn tree_sha(records: &[FileRecord]) -> Sha {
    let mut lines: Vec<_> = records.iter().map(|r| (r.path.as_bytes(), r)).collect();
    lines.sort_by_key(|(path, _)| *path);
    let mut hasher = Sha256::new();
    for (_, record) in lines {
        hasher.update(format!(
            "{}  {}  {}\n",
            record.sha256, record.bytes, record.path
        ));
    }
    Sha(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_of_abc_is_the_published_one() {
        let sha = sha_of_bytes(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha.to_string(), text);
        assert_eq!(text.parse::<Sha>().unwrap(), sha);
        assert_eq!(sha.short(), "ba7816bf");
        assert!("ba78".parse::<Sha>().is_err());
        assert!("+".repeat(64).parse::<Sha>().is_err());
    }

    #[test]
    fn a_copy_stops_at_its_limit_and_hashes_what_it_copied() {
        let mut out = Vec::new();
        let (bytes, sha) = copy_hashed(&mut &b"abcdef"[..], &mut out, 3, None).unwrap();
        assert_eq!(
            (bytes, sha, out.as_slice()),
            (3, sha_of_bytes(b"abc"), &b"abc"[..])
        );
    }

    #[test]
    fn a_trees_digest_ignores_order_and_sees_every_change() {
        let record = |path: &str, content: &[u8]| FileRecord {
            path: path.to_owned(),
            bytes: content.len() as u64,
            sha256: sha_of_bytes(content),
        };
        let tree = [record("a", b"1"), record("b/c", b"2")];
        let turned = [tree[1].clone(), tree[0].clone()];
        assert_eq!(tree_sha(&tree), tree_sha(&turned));
        assert_ne!(tree_sha(&tree), tree_sha(&tree[..1]));
        assert_ne!(
            tree_sha(&tree),
            tree_sha(&[record("a", b"1"), record("b/d", b"2")])
        );
        assert_ne!(
            tree_sha(&tree),
            tree_sha(&[record("a", b"1"), record("b/c", b"3")])
        );
    }
}
