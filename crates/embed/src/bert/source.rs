//! Bounded reads from an untrusted file: every offset and length is checked against the real size
//! of the file before a byte is allocated.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::ModelError;

/// A seekable file whose size is known, and a position in it.
pub(crate) struct Source<R> {
    inner: R,
    file: String,
    len: u64,
    at: u64,
}

impl Source<BufReader<File>> {
    pub(crate) fn open(path: &Path, remedy: &str) -> Result<Self, ModelError> {
        let file = File::open(path).map_err(|source| open_error(path, source, remedy))?;
        Self::new(BufReader::with_capacity(1 << 18, file), file_name(path))
    }
}

impl<R: Read + Seek> Source<R> {
    pub(crate) fn new(mut inner: R, file: impl Into<String>) -> Result<Self, ModelError> {
        let file = file.into();
        let len = inner.seek(SeekFrom::End(0)).and_then(|len| {
            inner.seek(SeekFrom::Start(0))?;
            Ok(len)
        });
        match len {
            Ok(len) => Ok(Self {
                inner,
                file,
                len,
                at: 0,
            }),
            Err(source) => Err(ModelError::Io { file, source }),
        }
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Moves on to `offset`, which must lie within the file.
    pub(crate) fn seek(&mut self, offset: u64) -> Result<(), ModelError> {
        if offset > self.len {
            return Err(self.past_end(offset, 0));
        }
        if offset != self.at {
            self.inner
                .seek(SeekFrom::Start(offset))
                .map_err(|source| ModelError::Io {
                    file: self.file.clone(),
                    source,
                })?;
            self.at = offset;
        }
        Ok(())
    }

    /// The next `count` bytes. Allocates only what the file really holds.
    pub(crate) fn take(&mut self, count: u64) -> Result<Vec<u8>, ModelError> {
        if count > self.len - self.at {
            return Err(self.past_end(self.at, count));
        }
        let size = usize::try_from(count).map_err(|_| self.past_end(self.at, count))?;
        let mut bytes = vec![0; size];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        if N as u64 > self.len - self.at {
            return Err(self.past_end(self.at, N as u64));
        }
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), ModelError> {
        self.inner
            .read_exact(bytes)
            .map_err(|source| ModelError::Io {
                file: self.file.clone(),
                source,
            })?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ModelError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ModelError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ModelError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, ModelError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn f32(&mut self) -> Result<f32, ModelError> {
        self.array().map(f32::from_le_bytes)
    }

    fn past_end(&self, offset: u64, count: u64) -> ModelError {
        ModelError::malformed(
            &self.file,
            format!(
                "{count} bytes at offset {offset} lie outside its {} bytes",
                self.len
            ),
        )
    }
}

/// A whole text file of at most `limit` bytes.
pub(crate) fn read_small(path: &Path, limit: u64, remedy: &str) -> Result<Vec<u8>, ModelError> {
    let mut source = Source::open(path, remedy)?;
    if source.len() > limit {
        return Err(ModelError::TooLarge {
            file: file_name(path),
            what: "size in bytes".into(),
            value: source.len(),
            limit,
        });
    }
    source.take(source.len())
}

/// sha256 of a file in hexadecimal. Reads it once, in constant memory.
pub(crate) fn sha256(path: &Path) -> Result<String, ModelError> {
    let io = |source| ModelError::Io {
        file: file_name(path),
        source,
    };
    let mut file = File::open(path).map_err(io)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let count = file.read(&mut buffer).map_err(io)?;
        if count == 0 {
            return Ok(hexadecimal(&hasher.finalize()));
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
    }
}

pub(crate) fn sha256_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn file_name(path: &Path) -> String {
    path.display().to_string()
}

fn open_error(path: &Path, source: std::io::Error, remedy: &str) -> ModelError {
    if source.kind() == std::io::ErrorKind::NotFound {
        ModelError::Missing {
            path: path.to_owned(),
            remedy: remedy.to_owned(),
        }
    } else {
        ModelError::Io {
            file: file_name(path),
            source,
        }
    }
}
