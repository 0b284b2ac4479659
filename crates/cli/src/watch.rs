//! Which files have changed, told when it is quiet again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// Editors write a file in several steps: changes are told when none has come for this long …
const QUIET: Duration = Duration::from_millis(250);
/// … or when the first of them is this old.
const LONGEST: Duration = Duration::from_secs(2);

/// What is to be looked at again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// These paths: written, renamed, or gone.
    Paths(BTreeSet<PathBuf>),
    /// Everything: the system lost count.
    All,
    /// Nothing more: the user has ended it.
    Stop,
}

/// Whether the user has asked to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

enum Message {
    Event(notify::Result<Event>),
    Stop,
}

/// Watches folders until the user ends it.
pub(crate) struct Changes {
    watcher: RecommendedWatcher,
    messages: Receiver<Message>,
    stop: Stop,
    /// The index itself: what is written there is no change of a source.
    own: PathBuf,
    again: BTreeSet<PathBuf>,
}

impl Changes {
    /// From now on Ctrl-C, and the signals to end and to hang up, no longer end the program but
    /// become [`Change::Stop`].
    pub(crate) fn new(database: &Path) -> Result<Self> {
        let (sender, messages) = mpsc::channel();
        let stop = Stop::default();
        on_signal(stop.clone(), sender.clone())?;
        let handler = move |event| {
            // Nobody listens any more: the program ends.
            let _ = sender.send(Message::Event(event));
        };
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(handler, config)
            .context("this system does not tell about changed files")?;
        let own = std::fs::canonicalize(database).unwrap_or_else(|_| database.to_owned());
        Ok(Self {
            watcher,
            messages,
            stop,
            own,
            again: BTreeSet::new(),
        })
    }

    /// Tells about a folder and all below it, or about one file.
    pub(crate) fn watch(&mut self, path: &Path) -> Result<()> {
        let (watched, mode) = match path.parent() {
            // Whoever replaces a file by renaming another leaves a watch on the file behind.
            Some(folder) if path.is_file() => (folder, RecursiveMode::NonRecursive),
            _ => (path, RecursiveMode::Recursive),
        };
        self.watcher.watch(watched, mode).with_context(|| {
            format!(
                "cannot watch {}; a system has a limit of watched folders (on Linux \
                 fs.inotify.max_user_watches)",
                watched.display()
            )
        })
    }

    pub(crate) fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Tells about these paths once more with the next change, or in a while.
    pub(crate) fn retry(&mut self, paths: BTreeSet<PathBuf>) {
        self.again.extend(paths);
    }

    /// Waits for changes, and until it is quiet again.
    pub(crate) fn next(&mut self) -> Change {
        let mut paths = std::mem::take(&mut self.again);
        let mut all = false;
        let mut first = (!paths.is_empty()).then(Instant::now);
        loop {
            let wait = match first {
                None => Duration::from_secs(3600),
                Some(first) => QUIET.min(LONGEST.saturating_sub(first.elapsed())),
            };
            match self.messages.recv_timeout(wait) {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return Change::Stop,
                Ok(Message::Event(Ok(event))) => {
                    all |= event.need_rescan();
                    if !matches!(event.kind, EventKind::Access(_)) {
                        let news = event.paths.into_iter().filter(|path| !self.is_own(path));
                        paths.extend(news);
                    }
                }
                // What was missed is not known.
                Ok(Message::Event(Err(_))) => all = true,
                Err(RecvTimeoutError::Timeout) if all => return Change::All,
                Err(RecvTimeoutError::Timeout) if first.is_some() => return Change::Paths(paths),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if all || !paths.is_empty() {
                first.get_or_insert_with(Instant::now);
            }
        }
    }

    /// The database, and what stands beside it under names that begin with its own.
    fn is_own(&self, path: &Path) -> bool {
        let name = |path: &Path| {
            path.file_name()
                .map(|name| name.as_encoded_bytes().to_vec())
        };
        match (name(path), name(&self.own)) {
            (Some(name), Some(own)) => path.parent() == self.own.parent() && name.starts_with(&own),
            _ => false,
        }
    }
}

fn on_signal(stop: Stop, sender: Sender<Message>) -> Result<()> {
    let handler = move || {
        stop.0.store(true, Ordering::SeqCst);
        let _ = sender.send(Message::Stop);
    };
    ctrlc::set_handler(handler).context("cannot listen for Ctrl-C")
}
