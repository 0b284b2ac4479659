//! A document: source text, name, and who may see it.

use std::path::Path;

use crate::acl::Acl;
use crate::id::{ContentHash, DocId};

/// A source text with its name and its grants. Two audiences, two documents.
///
/// ```
/// use cornu_core::{Acl, DocId, Document};
///
/// let doc = Document::new(DocId::new("a.md")?, "# A\n", Acl::public());
/// assert_eq!(doc.source(), "# A\n");
///
/// // Bytes that are not UTF-8 are refused, never replaced.
/// let gb18030 = [b'#', b' ', 0xCB, 0xB5, 0xC3, 0xF7];
/// let error = Document::from_bytes(DocId::new("b.md")?, &gb18030, Acl::public()).unwrap_err();
/// assert!(error.to_string().contains("b.md"));
/// # Ok::<(), cornu_core::IdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    id: DocId,
    source: String,
    acl: Acl,
}

impl Document {
    /// A document of text that is already decoded.
    pub fn new(id: DocId, source: impl Into<String>, acl: Acl) -> Self {
        Self {
            id,
            source: source.into(),
            acl,
        }
    }

    /// A document of the bytes of a file. A byte order mark stays part of the source, so that
    /// offsets are those of the file.
    ///
    /// # Errors
    /// [`DocumentError::NotUtf8`] names the document and the first offending byte.
    pub fn from_bytes(id: DocId, bytes: &[u8], acl: Acl) -> Result<Self, DocumentError> {
        match std::str::from_utf8(bytes) {
            Ok(source) => Ok(Self {
                id,
                source: source.to_owned(),
                acl,
            }),
            Err(error) => Err(DocumentError::NotUtf8 {
                doc: id,
                at: error.valid_up_to(),
            }),
        }
    }

    /// Reads the file at `path`, below the index root `root`.
    ///
    /// # Errors
    /// [`DocumentError`] when the path is no id, the file cannot be read or is not UTF-8.
    pub fn read(root: &Path, path: &Path, acl: Acl) -> Result<Self, DocumentError> {
        let id = DocId::from_path(root, path)?;
        let bytes = std::fs::read(path).map_err(|source| DocumentError::Io {
            path: path.display().to_string(),
            source,
        })?;
        Self::from_bytes(id, &bytes, acl)
    }

    /// The document's name.
    #[must_use]
    pub fn id(&self) -> &DocId {
        &self.id
    }

    /// The source text, exactly as read.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Who may see the document, and with it all that is derived from it.
    #[must_use]
    pub fn acl(&self) -> &Acl {
        &self.acl
    }

    /// blake3 of the source bytes. O(bytes).
    #[must_use]
    pub fn content_hash(&self) -> ContentHash {
        ContentHash::of(self.source.as_bytes())
    }
}

/// Why a file is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The bytes are not UTF-8.
    #[error(
        "{doc} is not UTF-8 (first bad byte at offset {at}); convert it, for example with \
         `iconv -f GB18030 -t UTF-8`"
    )]
    NotUtf8 {
        /// The document.
        doc: DocId,
        /// Offset of the first byte that is not UTF-8.
        at: usize,
    },
    /// The path is no document id.
    #[error(transparent)]
    Id(#[from] crate::id::IdError),
    /// The file cannot be read.
    #[error("cannot read {path}: {source}; check that it exists and that you may read it")]
    Io {
        /// The path.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}
