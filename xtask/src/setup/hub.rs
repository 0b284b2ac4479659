//! Model hubs: Hugging Face or a mirror of it (`HF_ENDPOINT`), and ModelScope.
//!
//! The transfer itself is a script for Python's standard library (`hub.py`): Python is needed for
//! pip anyway, and this program stays free of a TLS stack.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::json;

use super::digest::{FileRecord, Sha};
use super::manifest::{Model, is_inside};
use super::python::{Python, run_watched, tail};
use crate::progress::Progress;

/// What a model on a hub may have besides the files it needs.
const OPTIONAL: [&str; 9] = [
    "1_Pooling/config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
    "vocab.txt",
    "README.md",
    "LICENSE",
];

/// No file of a model is larger than this.
const LIMIT: u64 = 8 << 30;

/// One hub, asked at most once per run whether it answers.
#[derive(Debug)]
pub struct Hub {
    endpoint: String,
    revision: &'static str,
    models: &'static str,
    reachable: OnceCell<Result<(), String>>,
}

/// A model's files as a hub sent them.
#[derive(Debug)]
pub struct Fetched {
    /// Where from, with the commit where the hub names one.
    pub source: String,
    /// What was written.
    pub files: Vec<FileRecord>,
}

impl Hub {
    /// The hubs in the order they are asked.
    #[must_use]
    pub fn from_env() -> Vec<Self> {
        let var = |name| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
        let with_scheme = |host: String| {
            if host.contains("://") {
                host
            } else {
                format!("https://{host}")
            }
        };
        let hugging_face =
            var("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
        let model_scope =
            var("MODELSCOPE_DOMAIN").unwrap_or_else(|| "www.modelscope.cn".to_owned());
        vec![
            Self::new(&with_scheme(hugging_face), "", "main"),
            Self::new(&with_scheme(model_scope), "models/", "master"),
        ]
    }

    fn new(endpoint: &str, models: &'static str, revision: &'static str) -> Self {
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        Self {
            endpoint,
            revision,
            models,
            reachable: OnceCell::new(),
        }
    }

    /// The host, for messages.
    #[must_use]
    pub fn host(&self) -> &str {
        let after = self.endpoint.split("://").nth(1).unwrap_or(&self.endpoint);
        after.split('/').next().unwrap_or(after)
    }

    /// Whether the hub answers within five seconds; asked once.
    ///
    /// # Errors
    /// The reason in words if it does not.
    pub fn reachable(&self, python: &Python, scratch: &Path) -> Result<(), String> {
        let ask = || {
            let job = json!({ "do": "probe", "url": format!("{}/", self.endpoint) });
            let answer: Probe = match run(python, scratch, &job, None) {
                Ok(answer) => answer,
                Err(error) => return Err(format!("{error:#}")),
            };
            if answer.reachable {
                Ok(())
            } else {
                Err(answer.why.unwrap_or_default())
            }
        };
        self.reachable.get_or_init(ask).clone()
    }

    /// Fetches a model into a folder. A pinned model is fetched only if the hub has, by its own
    /// statement, the pinned bytes, and kept only if they arrive; for another one the hub's own
    /// digests are checked and the sha256 recorded.
    ///
    /// # Errors
    /// If a needed file is not there, differs from its pin or from the hub's own statement.
    pub fn fetch(
        &self,
        python: &Python,
        model: &Model,
        into: &Path,
        progress: &Progress,
    ) -> Result<Fetched> {
        let name = model
            .hub
            .as_ref()
            .with_context(|| format!("{} is on no hub", model.name))?;
        let wanted = wanted(model);
        let url = |file: &str| {
            format!(
                "{}/{}{name}/resolve/{}/{file}",
                self.endpoint, self.models, self.revision
            )
        };
        let urls: Vec<_> = wanted.iter().map(|w| url(&w.path)).collect();
        let plan: Answer<Stated> = run(python, into, &json!({ "do": "plan", "urls": urls }), None)?;
        ensure!(
            plan.files.len() == wanted.len(),
            "the hub script answered for other files"
        );
        let mut chosen = Vec::new();
        for (want, stated) in wanted.iter().zip(&plan.files) {
            if stated.status != 200 && !want.needed {
                continue;
            }
            want.accept(stated)?;
            chosen.push((want, stated));
        }

        let limit = |want: &Wanted, stated: &Stated| {
            want.pin
                .map(|(bytes, _)| bytes)
                .or(stated.bytes)
                .unwrap_or(LIMIT)
                .min(LIMIT)
        };
        let total = chosen.iter().filter_map(|(_, stated)| stated.bytes).sum();
        let task = progress.task(&format!("fetch {} from {}", model.name, self.host()), total);
        let job: Vec<_> = chosen
            .iter()
            .map(|(w, s)| json!({ "url": url(&w.path), "to": into.join(&w.path), "limit": limit(w, s) }))
            .collect();
        let job = json!({ "do": "fetch", "files": job });
        let arrived: Answer<Arrived> = run(python, into, &job, Some(&task))?;
        ensure!(
            arrived.files.len() == chosen.len(),
            "the hub script answered for other files"
        );
        task.finish();

        let mut files = Vec::new();
        for ((want, stated), arrived) in chosen.iter().zip(&arrived.files) {
            files.push(want.confirm(stated, arrived)?);
        }
        let commit = plan
            .files
            .iter()
            .find_map(|f| f.commit.as_deref())
            .unwrap_or(self.revision);
        Ok(Fetched {
            source: format!("hub {} {name} at {commit}", self.host()),
            files,
        })
    }
}

#[derive(Debug)]
struct Wanted {
    path: String,
    needed: bool,
    pin: Option<(u64, Sha)>,
}

impl Wanted {
    fn accept(&self, stated: &Stated) -> Result<()> {
        ensure!(
            stated.status == 200,
            "{}: the hub answers {}",
            self.path,
            stated.status
        );
        if let (Some((_, pinned)), Some(sha)) = (self.pin, stated.sha256()) {
            ensure!(
                sha == pinned,
                "{}: the hub has sha256 {sha}, pinned is {pinned}",
                self.path
            );
        }
        Ok(())
    }

    fn confirm(&self, stated: &Stated, arrived: &Arrived) -> Result<FileRecord> {
        let path = &self.path;
        ensure!(
            arrived.status == 200,
            "{path}: the hub answers {}",
            arrived.status
        );
        let sha256 = arrived
            .sha256
            .with_context(|| format!("{path}: no sha256"))?;
        if let Some(pin) = self.pin {
            let found = (arrived.bytes, sha256);
            ensure!(
                found == pin,
                "{path}: sha256 {sha256} arrived, pinned is {}",
                pin.1
            );
        }
        if let Some(stated) = stated.sha256() {
            ensure!(
                sha256 == stated,
                "{path}: sha256 {sha256} arrived, the hub states {stated}"
            );
        }
        if let (Some(stated), Some(git)) = (stated.git(), &arrived.git) {
            ensure!(
                git == stated,
                "{path}: git blob {git} arrived, the hub states {stated}"
            );
        }
        if let Some(stated) = stated.bytes {
            let bytes = arrived.bytes;
            ensure!(
                bytes == stated,
                "{path}: {bytes} bytes arrived, the hub states {stated}"
            );
        }
        Ok(FileRecord {
            path: path.clone(),
            bytes: arrived.bytes,
            sha256,
        })
    }
}

fn wanted(model: &Model) -> Vec<Wanted> {
    if let Some(part) = &model.part {
        let pinned = |f: &super::manifest::FilePin| Wanted {
            path: f.to.clone(),
            needed: true,
            pin: Some((f.bytes, f.sha256)),
        };
        return part.files.iter().map(pinned).collect();
    }
    let needed = model.needs.iter().map(|f| (f.clone(), true));
    let optional = OPTIONAL.iter().map(|f| ((*f).to_owned(), false));
    needed
        .chain(optional)
        .map(|(path, needed)| Wanted {
            path,
            needed,
            pin: None,
        })
        .collect()
}

#[derive(Debug, Deserialize)]
struct Probe {
    reachable: bool,
    why: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Answer<T> {
    files: Vec<T>,
}

#[derive(Debug, Deserialize)]
struct Stated {
    status: u16,
    bytes: Option<u64>,
    etag: Option<String>,
    commit: Option<String>,
}

impl Stated {
    fn sha256(&self) -> Option<Sha> {
        self.etag.as_deref()?.parse().ok()
    }

    fn git(&self) -> Option<&str> {
        let hex = |etag: &&str| etag.len() == 40 && etag.bytes().all(|b| b.is_ascii_hexdigit());
        self.etag.as_deref().filter(hex)
    }
}

#[derive(Debug, Deserialize)]
struct Arrived {
    status: u16,
    bytes: u64,
    sha256: Option<Sha>,
    git: Option<String>,
}

/// Runs the script on one job. Job, log and answer are files in `scratch`, removed afterwards.
fn run<T: for<'de> Deserialize<'de>>(
    python: &Python,
    scratch: &Path,
    job: &serde_json::Value,
    task: Option<&crate::progress::Task>,
) -> Result<T> {
    let own = |name: &str| {
        debug_assert!(is_inside(name));
        scratch.join(name)
    };
    let (job_path, log, answer) = (own(".job.json"), own(".hub.log"), own(".answer.json"));
    fs::write(&job_path, serde_json::to_vec(job)?)
        .with_context(|| job_path.display().to_string())?;
    let mut command = python.command();
    command.args(["-c", include_str!("hub.py")]).arg(&answer);
    command.stdin(Stdio::from(File::open(&job_path)?));
    let silent = Progress::new(crate::progress::Mode::Quiet).task("", 0);
    let status = run_watched(&mut command, &log, scratch, task.unwrap_or(&silent))?;
    if !status.success() {
        bail!("{}", tail(&log, 3));
    }
    let text = fs::read(&answer).context("the hub script gave no answer")?;
    for path in [&job_path, &log, &answer] {
        fs::remove_file(path).with_context(|| path.display().to_string())?;
    }
    serde_json::from_slice(&text).context("the hub script gave an unreadable answer")
}
