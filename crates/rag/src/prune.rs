//! Documents whose files have vanished.
//!
//! A file that is not found where a run looked is no proof that its document is to go: the index
//! may hold documents of other folders under names of the same form, the run may have looked at a
//! part of its folder only, a disk may not be mounted. So a document is taken for vanished only
//! when all of these hold:
//! 1. it was ingested [from](LiveRagIndex::ingest_from) this root, and not written anew by anybody else since;
//! 2. its name lies below one of the paths that were looked at, and each of these can be read now;
//! 3. the file system says that there is no file of its name, rather than that it may not tell.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cornu_core::{DocId, Document};

use crate::error::RagError;
use crate::index::LiveRagIndex;
use crate::ingest::{IngestReport, Progress};

impl LiveRagIndex {
    /// As [`ingest_all`](Self::ingest_all), for documents that are files below the folder `root`,
    /// named from it: the index remembers that, so that [`prune`](Self::prune) can tell them from
    /// documents of other folders. A document that is later ingested from another root, or written
    /// anew without one, is no longer this one's; one that has not changed stays this one's when it
    /// is ingested without a root.
    ///
    /// # Errors
    /// As [`ingest_all`](Self::ingest_all), and [`RagError::Unreadable`] when `root` is not there.
    pub fn ingest_from(
        &self,
        root: &Path,
        documents: &[Document],
        progress: impl FnMut(Progress),
    ) -> Result<IngestReport, RagError> {
        let origin = origin(&canonical(root)?);
        self.ingest_noting(Some(&origin), documents, progress)
    }

    /// The documents ingested [from](Self::ingest_from) `root` whose files have vanished, as far as
    /// their names lie below one of the folders (or are one of the files) `below`, in order of name.
    /// `present` may know of files under another form of their names; documents that it holds are
    /// not looked for. For the owner: it tells about documents whoever may see them.
    ///
    /// Costs a look at the file system for each document of the root.
    ///
    /// # Errors
    /// [`RagError::Unreadable`] when `root` or one of `below` cannot be read: then nothing is known
    /// about what lies in it, and nothing is taken for vanished.
    pub fn vanished(
        &self,
        root: &Path,
        below: &[PathBuf],
        present: impl Fn(&DocId) -> bool,
    ) -> Result<Vec<DocId>, RagError> {
        let root = canonical(root)?;
        readable(&root)?;
        let mut parts = Vec::new();
        for path in below {
            let path = canonical(path)?;
            readable(&path)?;
            parts.push(if path == root {
                String::new()
            } else {
                DocId::from_path(&root, &path)
                    .map_err(|error| unreadable(&path, io::Error::other(error)))?
                    .to_string()
            });
        }
        let mut documents = self.store.documents_from(&origin(&root))?;
        documents.retain(|doc| {
            parts.iter().any(|part| lies_below(doc, part)) && !present(doc) && is_gone(&root, doc)
        });
        Ok(documents)
    }

    /// Removes what [`vanished`](Self::vanished) gives, in one commit, and says what it was.
    ///
    /// # Errors
    /// As [`vanished`](Self::vanished), and [`RagError::Store`]; then nothing is removed.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use std::fs;
    /// use cornu::{Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, RagOptions};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let index = LiveRagIndex::open(
    /// #     folder.path().join("index.db"), Arc::new(HashEmbeddingProvider::default()), RagOptions::default())?;
    /// # let root = folder.path().join("notes");
    /// # fs::create_dir(&root)?;
    /// fs::write(root.join("a.md"), "# A\n\nA text.\n")?;
    /// index.ingest_tree(&root, |_| Acl::public(), |_| {})?;
    /// // This one is of no folder, so no folder can lose it.
    /// index.ingest(&Document::new(DocId::new("b.md")?, "# B\n\nAnother.\n", Acl::public()))?;
    ///
    /// fs::remove_file(root.join("a.md"))?;
    /// let removed = index.prune(&root, &[root.clone()], |_| false)?;
    /// assert_eq!(removed, [DocId::new("a.md")?]);
    /// assert_eq!(index.store().all_documents()?, [DocId::new("b.md")?]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prune(
        &self,
        root: &Path,
        below: &[PathBuf],
        present: impl Fn(&DocId) -> bool,
    ) -> Result<Vec<DocId>, RagError> {
        let mut documents = self.vanished(root, below, present)?;
        if documents.is_empty() {
            return Ok(documents);
        }
        let removed: Vec<bool> = self.store.batch(|batch| {
            let each = documents.iter().map(|doc| batch.remove(doc));
            each.collect::<Result<_, _>>()
        })?;
        let mut removed = removed.into_iter();
        // Another process may have been faster.
        documents.retain(|_| removed.next().unwrap_or(false));
        Ok(documents)
    }
}

/// A root's name in the index. `{:?}` writes a path that is not Unicode so that no two look alike.
pub(crate) fn origin(root: &Path) -> String {
    match root.to_str() {
        Some(name) => name.to_owned(),
        None => format!("{root:?}"),
    }
}

pub(crate) fn canonical(path: &Path) -> Result<PathBuf, RagError> {
    fs::canonicalize(path).map_err(|source| unreadable(path, source))
}

/// A folder that can be listed, or a file that is there.
fn readable(path: &Path) -> Result<(), RagError> {
    let looked = fs::metadata(path).and_then(|kind| match kind.is_dir() {
        true => fs::read_dir(path).map(drop),
        false => Ok(()),
    });
    looked.map_err(|source| unreadable(path, source))
}

fn unreadable(path: &Path, source: io::Error) -> RagError {
    RagError::Unreadable {
        path: path.display().to_string(),
        source,
    }
}

/// In whole names: `hr` holds `hr/a.md`, and `hr-news/a.md` it does not.
fn lies_below(doc: &DocId, part: &str) -> bool {
    let rest = doc.as_str().strip_prefix(part);
    part.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether the file system says that there is no such file. Where it will not tell, there may be.
fn is_gone(root: &Path, doc: &DocId) -> bool {
    let looked = fs::symlink_metadata(root.join(doc.as_str()));
    let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    looked.is_err_and(|error| absent.contains(&error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_whole_names() {
        let doc = DocId::new("hr/pay/a.md").unwrap();
        for part in ["", "hr", "hr/pay", "hr/pay/a.md"] {
            assert!(lies_below(&doc, part), "{part}");
        }
        for part in ["h", "hr/p", "hr/pay/a", "pay", "hr/pay/a.md/b"] {
            assert!(!lies_below(&doc, part), "{part}");
        }
    }
}
