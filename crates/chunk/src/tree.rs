//! Documents from a folder.

use std::path::{Path, PathBuf};

use cornu_core::{Acl, DocId, Document, DocumentError};

/// What was read from a folder: the documents, and the files that are none.
///
/// See [`read_markdown_tree`] for an example.
#[derive(Debug, Default)]
pub struct Tree {
    /// The documents, ordered by id.
    pub documents: Vec<Document>,
    /// Files and folders that could not be read, each with the reason, ordered by path.
    pub failed: Vec<(PathBuf, DocumentError)>,
}

/// Reads every `.md` and `.markdown` file below `root`. A file that cannot be read, or is not UTF-8,
/// is reported and does not stop the others. Names that begin with a dot are passed over, and
/// symbolic links are not followed.
///
/// `acl` says who may see a document; nothing is public unless it says so. The order does not
/// depend on the file system. Memory: all documents.
///
/// ```
/// use cornu_chunk::read_markdown_tree;
/// use cornu_core::Acl;
///
/// let root = tempfile::tempdir()?;
/// std::fs::write(root.path().join("good.md"), "# 说明\n")?;
/// std::fs::write(root.path().join("gb18030.md"), [b'#', b' ', 0xCB, 0xB5, 0xC3, 0xF7])?;
/// let tree = read_markdown_tree(root.path(), |_| Acl::public());
/// assert_eq!(tree.documents.len(), 1);
/// assert!(tree.failed[0].0.ends_with("gb18030.md"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_markdown_tree(root: &Path, acl: impl Fn(&DocId) -> Acl) -> Tree {
    let mut tree = Tree::default();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if let Err(source) = visit(root, &folder, &acl, &mut folders, &mut tree) {
            tree.failed.push((folder.clone(), io(&folder, source)));
        }
    }
    tree.documents.sort_by(|a, b| a.id().cmp(b.id()));
    tree.failed.sort_by(|a, b| a.0.cmp(&b.0));
    tree
}

fn visit(
    root: &Path,
    folder: &Path,
    acl: &impl Fn(&DocId) -> Acl,
    folders: &mut Vec<PathBuf>,
    tree: &mut Tree,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            folders.push(path);
        } else if kind.is_file() && is_markdown(&path) {
            let read = DocId::from_path(root, &path)
                .map_err(DocumentError::from)
                .and_then(|id| Document::read(root, &path, acl(&id)));
            match read {
                Ok(document) => tree.documents.push(document),
                Err(error) => tree.failed.push((path, error)),
            }
        }
    }
    Ok(())
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
    })
}

fn io(path: &Path, source: std::io::Error) -> DocumentError {
    DocumentError::Io {
        path: path.display().to_string(),
        source,
    }
}
