//! Which files become documents, and under which names.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use cornu::DocId;

const ENDINGS: [&str; 5] = ["md", "markdown", "txt", "html", "htm"];

/// The files of a run, before any is read.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The folder that names start from.
    pub(crate) root: PathBuf,
    /// Each document's file, in order of name.
    pub(crate) found: BTreeMap<DocId, PathBuf>,
    /// Files and folders that cannot become documents, each with the reason.
    pub(crate) failed: Vec<Failed>,
    /// Symbolic links that were not followed.
    pub(crate) links: usize,
    /// The paths that could be looked at: what is not found below them is not there.
    pub(crate) looked_at: Vec<PathBuf>,
}

/// A file that failed.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Failed {
    pub(crate) file: String,
    pub(crate) error: String,
}

impl Files {
    /// Looks at names only. Links inside folders are not followed, so that loops cannot be entered
    /// and a folder cannot bring in what lies outside it; a path that is named itself may be one.
    ///
    /// # Errors
    /// When the root is no folder, or a path lies outside it: then the user has to say what the
    /// documents are to be called.
    pub(crate) fn find(paths: &[PathBuf], root: Option<&Path>) -> Result<Self> {
        let root = root.unwrap_or(Path::new("."));
        let mut files = Self {
            root: fs::canonicalize(root)
                .with_context(|| format!("cannot use the root {}", root.display()))?,
            ..Self::default()
        };
        for path in paths {
            match fs::canonicalize(path) {
                Err(error) => files.fail(path, &error),
                Ok(full) => {
                    ensure!(
                        full.starts_with(&files.root),
                        "{} lies outside {}, the folder that documents are named from; name \
                         another with --root",
                        path.display(),
                        files.root.display()
                    );
                    match fs::metadata(&full) {
                        Err(error) => files.fail(path, &error),
                        Ok(kind) if kind.is_dir() => files.walk(full),
                        Ok(kind) if kind.is_file() => {
                            files.looked_at.push(full.clone());
                            files.add(full);
                        }
                        Ok(_) => files.fail(path, "it is neither a file nor a folder"),
                    }
                }
            }
        }
        files.failed.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(files)
    }

    /// The files of some paths that have changed, below `watched`: folders and files that were named
    /// at first, in canonical form. What has gone leaves the nearest folder that is still there to
    /// be looked at; a watched path that has gone itself is reported, and leaves nothing.
    pub(crate) fn changed(
        root: &Path,
        watched: &[PathBuf],
        paths: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        let mut files = Self {
            root: root.to_owned(),
            ..Self::default()
        };
        for path in paths {
            let Some(top) = watched.iter().find(|top| path.starts_with(top)) else {
                continue; // beside a file that is watched
            };
            let below = path.strip_prefix(top).unwrap_or(&path);
            let hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
            if below.iter().any(hidden) {
                continue;
            }
            match fs::symlink_metadata(&path) {
                Ok(kind) if kind.is_symlink() && path != *top => {}
                Ok(kind) if kind.is_dir() => files.walk(path),
                Ok(_) if path == *top || is_text(&path) => {
                    files.looked_at.push(path.clone());
                    files.add(path);
                }
                Ok(_) => {}
                Err(_) => match path.ancestors().find(|it| it.exists()) {
                    Some(there) if there.starts_with(top) => {
                        files.looked_at.push(there.to_owned());
                    }
                    _ if path == *top && top.parent().is_some_and(Path::exists) => {
                        let error = "it has gone; its documents stay until it is back, or `cornu \
                                     remove`";
                        files.fail(&path, error);
                    }
                    _ => {}
                },
            }
        }
        files
    }

    fn walk(&mut self, top: PathBuf) {
        let mut folders = vec![top.clone()];
        let mut readable = true;
        while let Some(folder) = folders.pop() {
            if let Err(error) = self.visit(&folder, &mut folders) {
                self.fail(&folder, &error);
                readable &= folder != top;
            }
        }
        if readable {
            self.looked_at.push(top);
        }
    }

    fn visit(&mut self, folder: &Path, folders: &mut Vec<PathBuf>) -> io::Result<()> {
        let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        let mut paths: Vec<_> = entries
            .into_iter()
            .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
            .collect();
        paths.sort_by_key(fs::DirEntry::path);
        for entry in paths {
            let kind = entry.file_type()?;
            let path = entry.path();
            if kind.is_symlink() {
                self.links += 1;
            } else if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && is_text(&path) {
                self.add(path);
            }
        }
        Ok(())
    }

    fn add(&mut self, path: PathBuf) {
        let id = match DocId::from_path(&self.root, &path) {
            Ok(id) => id,
            Err(error) => return self.fail(&path, &error),
        };
        match self.found.get(&id) {
            Some(same) if *same == path => {}
            // Names that differ in their Unicode form only.
            Some(other) => {
                let error = format!("it has the name of {}; rename one", self.shown(other));
                self.fail(&path, &error);
            }
            None => {
                self.found.insert(id, path);
            }
        }
    }

    fn fail(&mut self, path: &Path, error: &(impl ToString + ?Sized)) {
        self.failed.push(Failed {
            file: self.shown(path),
            error: error.to_string(),
        });
    }

    /// A path as a reader knows it: below the root where it lies there.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        below.display().to_string()
    }
}

fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|ending| {
        ENDINGS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    })
}
