//! The workspace as `cargo metadata` describes it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The members of the workspace and where things lie.
#[derive(Debug, Clone, Deserialize)]
pub struct Workspace {
    /// The checkout.
    #[serde(rename = "workspace_root")]
    pub root: PathBuf,
    /// Where cargo builds.
    #[serde(rename = "target_directory")]
    pub target: PathBuf,
    /// The members, by name.
    pub packages: Vec<Package>,
}

/// One member.
#[derive(Debug, Clone, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its Cargo.toml.
    pub manifest_path: PathBuf,
    /// What it depends on.
    pub dependencies: Vec<Dependency>,
    /// What it builds.
    pub targets: Vec<Target>,
    /// Its features.
    pub features: std::collections::BTreeMap<String, Vec<String>>,
    /// Its description.
    pub description: Option<String>,
    /// Its licence.
    pub license: Option<String>,
}

/// One dependency.
#[derive(Debug, Clone, Deserialize)]
pub struct Dependency {
    /// The package's name.
    pub name: String,
    /// `dev`, `build`, or nothing for a normal one.
    pub kind: Option<String>,
    /// Where it lies, if it is a member of the workspace.
    pub path: Option<PathBuf>,
}

/// One target.
#[derive(Debug, Clone, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// `lib`, `bin`, `test`, `bench`, `example`, `custom-build`.
    pub kind: Vec<String>,
    /// Its root file.
    pub src_path: PathBuf,
}

impl Workspace {
    /// The workspace around a folder.
    ///
    /// # Errors
    /// If cargo cannot be run there.
    pub fn load(dir: &Path) -> Result<Self> {
        let output = cargo()
            .args([
                "metadata",
                "--no-deps",
                "--offline",
                "--format-version",
                "1",
            ])
            .current_dir(dir)
            .stdin(Stdio::null())
            .output()
            .context("cannot run cargo")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "cargo metadata failed: {}",
            said.trim()
        );
        let mut workspace: Self = serde_json::from_slice(&output.stdout)?;
        workspace.packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(workspace)
    }

    /// The workspace that this program was built in, or the one around the current folder.
    ///
    /// # Errors
    /// If there is none.
    pub fn here() -> Result<Self> {
        let dir = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| ".".into(), PathBuf::from);
        Self::load(&dir)
    }

    /// The member that builds a program.
    ///
    /// # Errors
    /// If none does.
    pub fn builds(&self, program: &str) -> Result<&Package> {
        let is_program = |target: &Target| {
            target.name == program && target.kind.iter().any(|kind| kind == "bin")
        };
        let owner = self
            .packages
            .iter()
            .find(|p| p.targets.iter().any(is_program));
        owner.with_context(|| format!("no package of the workspace builds `{program}`"))
    }

    /// The members that can be built with torch: those that have a feature of that name.
    #[must_use]
    pub fn torch_packages(&self) -> Vec<&Package> {
        self.packages
            .iter()
            .filter(|p| p.features.contains_key("torch"))
            .collect()
    }

    /// The arguments that select every member with torch, in the one profile that torch is built
    /// in. Always the same set: another set may unify features differently, and then cargo
    /// compiles torch-sys again, for minutes.
    #[must_use]
    pub fn torch_selection(&self) -> Vec<OsString> {
        let packages = self.torch_packages();
        let mut selection: Vec<OsString> = vec!["--release".into()];
        for package in &packages {
            selection.extend(["-p".into(), package.name.clone().into()]);
        }
        let features: Vec<_> = packages
            .iter()
            .map(|p| format!("{}/torch", p.name))
            .collect();
        selection.extend(["--features".into(), features.join(",").into()]);
        selection
    }
}

impl Package {
    /// Its folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new(""))
    }

    /// Whether it builds a library.
    #[must_use]
    pub fn is_library(&self) -> bool {
        self.targets
            .iter()
            .any(|t| t.kind.iter().any(|kind| kind == "lib"))
    }
}

/// The cargo that runs this program, or the one on the PATH.
#[must_use]
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
