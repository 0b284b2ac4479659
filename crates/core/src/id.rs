//! Names that stay: of documents, of chunks, of contents.

use std::fmt;
use std::path::{Component, Path};
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;

use crate::chunk::ChunkKind;

/// The longest document id, in bytes of UTF-8 after normalisation.
pub const MAX_DOC_ID_BYTES: usize = 1024;

/// A document's name: the path relative to the index root with `/` as separator, or whatever
/// the caller names it. Always NFC, never empty, without control characters.
///
/// ```
/// use cornu_core::DocId;
/// use std::path::Path;
///
/// let id = DocId::from_path(Path::new("notes"), Path::new("notes/ml/04-autograd.md"))?;
/// assert_eq!(id.as_str(), "ml/04-autograd.md");
/// assert!(DocId::from_path(Path::new("notes"), Path::new("notes/../secret.md")).is_err());
/// assert!(DocId::new("").is_err());
/// # Ok::<(), cornu_core::IdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct DocId(String);

impl DocId {
    /// A document id of the caller's choice, normalised to NFC.
    ///
    /// # Errors
    /// [`IdError`] when it is empty, longer than [`MAX_DOC_ID_BYTES`] or holds a control character.
    pub fn new(name: &str) -> Result<Self, IdError> {
        // ASCII is in NFC; a view is read name by name, so this is worth asking.
        let name: String = match name.is_ascii() {
            true => name.to_owned(),
            false => name.nfc().collect(),
        };
        if name.is_empty() {
            return Err(IdError::Empty);
        }
        if name.len() > MAX_DOC_ID_BYTES {
            return Err(IdError::TooLong { bytes: name.len() });
        }
        if name.chars().any(char::is_control) {
            return Err(IdError::ControlCharacter {
                name: name.escape_debug().to_string(),
            });
        }
        Ok(Self(name))
    }

    /// The id of the file at `path` below the index root `root`: the same on every platform.
    ///
    /// Looks at the names alone; the file system is not asked. `a.md` and `./a.md` are the same.
    ///
    /// # Errors
    /// [`IdError`] when the path does not lie below the root, climbs with `..`, is not UTF-8, or is
    /// no id.
    pub fn from_path(root: &Path, path: &Path) -> Result<Self, IdError> {
        let outside = || IdError::OutsideRoot {
            path: path.display().to_string(),
            root: root.display().to_string(),
        };
        let mut below = plain(path);
        if !plain(root).all(|part| below.next() == Some(part)) {
            return Err(outside());
        }
        let mut parts = Vec::new();
        for component in below {
            let Component::Normal(name) = component else {
                return Err(outside());
            };
            let name = name.to_str().ok_or_else(|| IdError::NotUnicode {
                path: path.display().to_string(),
            })?;
            parts.push(name);
        }
        Self::new(&parts.join("/"))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DocId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for DocId {
    type Error = IdError;
    fn try_from(name: String) -> Result<Self, IdError> {
        Self::new(&name)
    }
}

impl From<DocId> for String {
    fn from(id: DocId) -> Self {
        id.0
    }
}

/// blake3 of some bytes: equal contents, equal hash.
///
/// ```
/// use cornu_core::ContentHash;
/// assert_eq!(ContentHash::of(b"a"), ContentHash::of(b"a"));
/// assert_eq!(ContentHash::of(b"a").to_string().len(), 64);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Hashes the bytes. O(bytes).
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash with these 32 bytes, as read back from a store.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// The name of a chunk: blake3 over what makes it *this* chunk of *this* document.
///
/// It stays when other parts of the document change, between runs and between machines. It
/// changes when the chunker's settings, the heading path, the evidence or the indexed text change.
///
/// ```
/// use cornu_core::{ChunkId, ChunkIdParts, ChunkKind, DocId};
///
/// let doc = DocId::new("hr_fin")?;
/// let other = DocId::new("hr")?;
/// let parts = ChunkIdParts {
///     doc: &doc, chunker: "sentence/v1", kind: ChunkKind::Prose,
///     heading_path: &["A".to_owned()], index_text: "A\ntext", text: "text", ordinal: 0,
/// };
/// let id = ChunkId::derive(&parts);
/// assert_ne!(id, ChunkId::derive(&ChunkIdParts { doc: &other, ..parts }));
/// assert_ne!(id, ChunkId::derive(&ChunkIdParts { ordinal: 1, ..parts }));
/// assert_eq!(id.to_string().parse::<ChunkId>()?, id);
/// # Ok::<(), cornu_core::IdError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct ChunkId([u8; 32]);

/// What a [`ChunkId`] is made of.
///
/// See [`ChunkId`] for an example.
#[derive(Clone, Copy, Debug)]
pub struct ChunkIdParts<'a> {
    /// The document that holds the chunk.
    pub doc: &'a DocId,
    /// The chunker's fingerprint: strategy, version, sizes, token counter.
    pub chunker: &'a str,
    /// Prose, code, table.
    pub kind: ChunkKind,
    /// Titles of the sections around the chunk, outermost first.
    pub heading_path: &'a [String],
    /// What is embedded and matched.
    pub index_text: &'a str,
    /// What is shown as evidence.
    pub text: &'a str,
    /// Position among the chunks of the document that agree in all of the above, from 0.
    pub ordinal: u32,
}

impl ChunkId {
    /// Hashes the parts, each with its length before it, so that no two different tuples can meet
    /// in the same bytes. O(bytes).
    #[must_use]
    pub fn derive(parts: &ChunkIdParts<'_>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("cornu chunk id v1");
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(parts.doc.as_str().as_bytes());
        part(parts.chunker.as_bytes());
        part(parts.kind.as_str().as_bytes());
        part(&(parts.heading_path.len() as u64).to_le_bytes());
        for title in parts.heading_path {
            part(title.as_bytes());
        }
        part(parts.index_text.as_bytes());
        part(parts.text.as_bytes());
        part(&parts.ordinal.to_le_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The id with these 32 bytes, as read back from a store.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// How a hash of 32 bytes is written and read: 64 hexadecimal digits.
macro_rules! as_hex {
    ($($name:ident),*) => {$(
        impl FromStr for $name {
            type Err = IdError;
            fn from_str(hex: &str) -> Result<Self, IdError> {
                parse_hex(hex).map(Self)
            }
        }
        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(hex: String) -> Result<Self, IdError> {
                hex.parse()
            }
        }
        impl From<$name> for String {
            fn from(hash: $name) -> Self {
                hash.to_string()
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // Ids stand in every trace: digit by digit it was a sixteenth of a short search.
                f.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    )*};
}
as_hex!(ChunkId, ContentHash);

/// The components of a path without `.`.
fn plain(path: &Path) -> impl Iterator<Item = Component<'_>> {
    path.components().filter(|part| *part != Component::CurDir)
}

fn parse_hex(hex: &str) -> Result<[u8; 32], IdError> {
    blake3::Hash::from_hex(hex)
        .map(|hash| *hash.as_bytes())
        .map_err(|_| IdError::NotHex {
            value: hex.chars().take(80).collect(),
        })
}

/// Why a string or a path is no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// No characters.
    #[error("a document id is empty; give the document a name")]
    Empty,
    /// Longer than [`MAX_DOC_ID_BYTES`].
    #[error("a document id has {bytes} bytes, more than {MAX_DOC_ID_BYTES}; use a shorter name")]
    TooLong {
        /// Length after normalisation.
        bytes: usize,
    },
    /// Holds a control character.
    #[error("the document id \"{name}\" holds a control character; rename the document")]
    ControlCharacter {
        /// The name, escaped.
        name: String,
    },
    /// Not below the index root.
    #[error(
        "{path} does not lie below the index root {root}; index it from a folder that holds it"
    )]
    OutsideRoot {
        /// The file.
        path: String,
        /// The root.
        root: String,
    },
    /// A file name that is not Unicode.
    #[error("the file name of {path} is not valid Unicode; rename the file")]
    NotUnicode {
        /// The path, lossily shown.
        path: String,
    },
    /// Not 64 hexadecimal digits.
    #[error("{value:?} is not 64 hexadecimal digits; copy the whole id")]
    NotHex {
        /// The value, cut at 80 characters.
        value: String,
    },
}
