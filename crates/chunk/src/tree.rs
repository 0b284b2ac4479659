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
    pub failed: Vec<(PathBuf, TreeError)>,
}

/// Why a file of a folder gave no document.
///
/// ```
/// use cornu_chunk::TreeError;
/// let error = TreeError::SameId { path: "b.md".into(), other: "a.md".into() };
/// assert!(error.to_string().contains("rename one"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The file is no document by itself.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Another file has the same id: the names differ in their Unicode form only.
    #[error(
        "{path} has the document id of {other}, since ids are compared in Unicode's form NFC; \
         rename one of the two"
    )]
    SameId {
        /// The file that was left out.
        path: String,
        /// The file that was read.
        other: String,
    },
}

/// Reads every `.md` and `.markdown` file below `root`. A file that cannot be read, or is not UTF-8,
/// is reported and does not stop the others. Names that begin with a dot are passed over, and
/// symbolic links are not followed.
///
/// Ids are in Unicode's form NFC: of files whose names differ in their form only, the first by path
/// is read and the others are reported.
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
    let mut found: Vec<(Document, PathBuf)> = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let visited = visit(&folder, &mut folders, |path| {
            match read(root, &path, &acl) {
                Ok(document) => found.push((document, path)),
                Err(error) => tree.failed.push((path, error.into())),
            }
        });
        if let Err(source) = visited {
            tree.failed
                .push((folder.clone(), io(&folder, source).into()));
        }
    }
    found.sort_by(|(a, a_path), (b, b_path)| a.id().cmp(b.id()).then_with(|| a_path.cmp(b_path)));
    let mut before = PathBuf::new();
    for (document, path) in found {
        let same = tree
            .documents
            .last()
            .is_some_and(|last| last.id() == document.id());
        if same {
            let error = TreeError::SameId {
                path: path.display().to_string(),
                other: before.display().to_string(),
            };
            tree.failed.push((path, error));
        } else {
            tree.documents.push(document);
            before = path;
        }
    }
    tree.failed.sort_by(|a, b| a.0.cmp(&b.0));
    tree
}

/// Gives the Markdown files of a folder to `file`, and adds its folders to `folders`.
fn visit(
    folder: &Path,
    folders: &mut Vec<PathBuf>,
    mut file: impl FnMut(PathBuf),
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
            file(path);
        }
    }
    Ok(())
}

fn read(root: &Path, path: &Path, acl: &impl Fn(&DocId) -> Acl) -> Result<Document, DocumentError> {
    let id = DocId::from_path(root, path)?;
    Document::read(root, path, acl(&id))
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
