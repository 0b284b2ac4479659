//! The program in a folder of its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use cornu::store::{Options, SqliteVecStore};
use tempfile::TempDir;

pub(crate) const GUIDE: &str = "# Training\n\n## Gradients\n\nCall `zero_grad` before each backward \
     pass, since gradients add up. Then take a step.\n";
pub(crate) const HANDBOOK: &str =
    "# 自动微分\n\n## 清空梯度\n\n梯度会累加，所以每步之前要调用 zero_grad 清空梯度。\n";
pub(crate) const PAY: &str = "# Salaries\n\nThe salary band of senior engineers is 7 to 9. Gradients \
     between bands are small; zero_grad is no band.\n";

/// A folder with sources, in which the program runs.
pub(crate) struct Folder(TempDir);

/// What a run gave.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    /// What an index keeps as the centre of a scan by bits.
    pub(crate) fn centre(&self, database: &str) -> Vec<f32> {
        let path = self.path().join(database);
        let store = SqliteVecStore::open_existing(path, &Options::default()).unwrap();
        store.kept_searching().unwrap().unwrap().centre.unwrap()
    }

    pub(crate) fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// `notes` for all, `hr` for some.
    pub(crate) fn with_sources() -> Self {
        let folder = Self::empty();
        folder.write("notes/guide.md", GUIDE);
        folder.write("notes/zh/handbook.md", HANDBOOK);
        folder.write("hr/pay.md", PAY);
        folder
    }

    /// Both folders indexed, each with its grants.
    pub(crate) fn indexed() -> Self {
        let folder = Self::with_sources();
        folder.run("index notes --db all.db --acl public").expect(0);
        folder.run("index hr --db all.db --acl hr").expect(0);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs with arguments that hold no spaces.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.run_all(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs with one argument in front that may hold spaces, behind the command's name.
    pub(crate) fn asks(&self, command: &str, question: &str, arguments: &str) -> Run {
        let mut all = vec![command, question];
        all.extend(arguments.split_whitespace());
        self.run_all(&all)
    }

    pub(crate) fn run_all(&self, arguments: &[&str]) -> Run {
        self.command().args(arguments).output().unwrap().into()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cornu"));
        command
            .current_dir(self.path())
            .env_remove("OPENAI_API_KEY");
        command
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("it ended by itself"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}
