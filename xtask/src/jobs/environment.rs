//! The environment of the programs that jobs run.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::setup::Prepared;

/// Variables that are set, and variables that are taken away.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    changes: BTreeMap<OsString, Option<OsString>>,
}

/// What torch-sys's build script looks at besides `LIBTORCH`. A change in any of them makes cargo
/// compile it again, so with a libtorch of ours they are all absent.
const TORCH_SYS: [&str; 7] = [
    "LIBTORCH_BYPASS_VERSION_CHECK",
    "LIBTORCH_CXX11_ABI",
    "LIBTORCH_INCLUDE",
    "LIBTORCH_LIB",
    "LIBTORCH_STATIC",
    "LIBTORCH_USE_PYTORCH",
    "TORCH_CUDA_VERSION",
];

/// What `cargo run` tells this program about itself and must not reach other builds.
const FROM_CARGO_RUN: [&str; 4] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_CRATE_NAME",
    "CARGO_PRIMARY_PACKAGE",
];

impl Environment {
    /// What every job's programs get: nothing of this program's own, and `CORNU_DATA`, if the
    /// user set it or a folder `shared/data` lies beside the checkout.
    #[must_use]
    pub fn plain(checkout: &Path) -> Self {
        let mut plain = Self::default();
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("CARGO_PKG_") {
                plain.remove(name);
            }
        }
        for name in FROM_CARGO_RUN {
            plain.remove(name);
        }
        let beside = checkout.parent().map(|p| p.join("shared").join("data"));
        if let Some(data) = beside.filter(|d| d.is_dir() && env::var_os("CORNU_DATA").is_none()) {
            plain.set("CORNU_DATA", data);
        }
        plain
    }

    /// The same with libtorch and the models: `LIBTORCH`, the loader's path, `CORNU_MODELS` (the
    /// folder under which every model has its own), and `CORNU_REQUIRE_MODELS`.
    ///
    /// # Errors
    /// If a path cannot stand in a list of paths.
    pub fn with_torch(checkout: &Path, prepared: &Prepared) -> Result<Self> {
        let mut torch = Self::plain(checkout);
        let dir = &prepared.libtorch.dir;
        torch.set("LIBTORCH", dir);
        if !prepared.own_libtorch {
            for name in TORCH_SYS {
                torch.remove(name);
            }
        }
        let loader = if cfg!(target_os = "macos") {
            "DYLD_LIBRARY_PATH"
        } else {
            "LD_LIBRARY_PATH"
        };
        torch.set(
            loader,
            prepend(dir.join("lib"), env::var_os(loader).as_ref())?,
        );
        torch.set("CORNU_MODELS", &prepared.models_dir);
        // The weights are there: a test that skips for want of them would hide something.
        torch.set("CORNU_REQUIRE_MODELS", "1");
        Ok(torch)
    }

    /// Changes a command's environment.
    pub fn apply(&self, command: &mut Command) {
        for (name, value) in &self.changes {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }

    /// What is set, for people.
    #[must_use]
    pub fn lines(&self) -> String {
        let set = self
            .changes
            .iter()
            .filter_map(|(n, v)| Some((n, v.as_ref()?)));
        set.map(|(name, value)| format!("{}={}\n", name.display(), value.display()))
            .collect()
    }

    /// Sets `CORNU_OFFLINE`, so that programs that could use a network do without as well.
    pub fn set_offline(&mut self) {
        self.set("CORNU_OFFLINE", "1");
    }

    fn set(&mut self, name: impl Into<OsString>, value: impl AsRef<OsStr>) {
        self.changes
            .insert(name.into(), Some(value.as_ref().to_owned()));
    }

    fn remove(&mut self, name: impl Into<OsString>) {
        self.changes.insert(name.into(), None);
    }
}

/// A list of paths with one in front, each once.
fn prepend(first: PathBuf, list: Option<&OsString>) -> Result<OsString> {
    let rest: Vec<_> = list
        .iter()
        .flat_map(env::split_paths)
        .filter(|p| *p != first)
        .collect();
    Ok(env::join_paths(std::iter::once(first).chain(rest))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_first_and_once() {
        assert_eq!(prepend("/l".into(), None).unwrap(), "/l");
        assert_eq!(
            prepend("/l".into(), Some(&"/a:/b".into())).unwrap(),
            "/l:/a:/b"
        );
        assert_eq!(
            prepend("/l".into(), Some(&"/a:/l".into())).unwrap(),
            "/l:/a"
        );
        assert!(prepend("/l:x".into(), None).is_err());
    }
}
