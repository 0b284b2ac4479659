//! `cornu index`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use cornu::extract::RuleExtractor;
use cornu::store::{Access, Options, StoreError};
use cornu::{DocId, Document, IngestReport, LiveRagIndex, RagError, RagOptions};
use serde::Serialize;

use crate::args::{Extract, IndexArgs};
use crate::files::{Failed, Files};
use crate::grants::Grants;
use crate::output::{self, Outcome, Terminal};
use crate::reranker::token_space;
use crate::searching;
use crate::watch::{Change, Changes, Stop};

/// As many documents, or bytes of them, are in memory at a time: what the library commits at once.
const BATCH_DOCUMENTS: usize = 256;
const BATCH_BYTES: usize = 1 << 20;

const NO_FILES: &str = "no file ends in .md, .markdown, .txt, .html or .htm";

/// After a change that could not be written.
const RETRY: Duration = Duration::from_secs(1);

pub(super) fn run(args: &IndexArgs, terminal: &Terminal) -> Result<Outcome> {
    ensure!(
        args.prune || !args.dry_run,
        "--dry-run says what --prune would do; give both"
    );
    let grants = Grants::new(&args.acl, args.acl_map.as_deref())?;
    let files = Files::find(&args.paths, args.root.as_deref())?;
    // Before an index is made: it would hold nothing, and look like one that was built.
    if files.looked_at.is_empty() {
        tell(&files.failed, terminal);
        bail!("none of the paths can be read, so the index is left as it was");
    }
    for prefix in grants.unused(files.found.keys()) {
        terminal.note(&format!("no document has the prefix {prefix:?} of the map"));
    }
    if args.dry_run {
        return dry_run(args, &files, terminal);
    }
    if args.watch {
        return watch(args, files, &grants, terminal);
    }
    if files.found.is_empty() && !args.database.path.exists() {
        terminal.note("there is nothing to index, so no index is made");
        let summary = Summary {
            links_not_followed: files.links,
            failed: files.failed,
            ..Summary::default()
        };
        return summary.show(args, terminal);
    }
    let index = open(args, Access::ReadWrite, terminal)?;
    let pass = Pass {
        index: &index,
        grants: &grants,
        stop: None,
        terminal,
    };
    let summary = pass.write(files, args.prune)?;
    complete(args, &index, terminal)?;
    prepare(args, &index)?;
    summary.show(args, terminal)
}

/// Token vectors, names and statements for what was in the index before; what was written just now
/// has them.
fn complete(args: &IndexArgs, index: &LiveRagIndex, terminal: &Terminal) -> Result<()> {
    let tell = |written, what: &str| {
        terminal.progress("");
        if written > 0 {
            let chunks = counted(written, "chunk");
            terminal.note(&format!("{what} of {chunks} that had none"));
        }
    };
    if args.tokens.is_some() {
        let shown = |done| terminal.progress(&format!("token vectors of {done} chunks"));
        tell(index.complete_tokens(shown)?, "token vectors");
    }
    if args.extract == Extract::Rules {
        let shown = |done| terminal.progress(&format!("names and statements of {done} chunks"));
        tell(index.complete_extractions(shown)?, "names and statements");
    }
    Ok(())
}

/// What follows from the documents, after each pass: now, rather than at the first question.
fn prepare(args: &IndexArgs, index: &LiveRagIndex) -> Result<()> {
    args.searching.keep(index)?;
    Ok(index.prepare()?)
}

fn open(args: &IndexArgs, access: Access, terminal: &Terminal) -> Result<LiveRagIndex> {
    let path = &args.database.path;
    let kept = match args.searching.say_all() {
        true => Options::default(),
        false => searching::options(path, Access::ReadOnly)?,
    };
    let options = RagOptions {
        store: args.searching.applied_to(kept),
        tokens: args.tokens.as_deref().map(token_space).transpose()?,
        extractor: match args.extract {
            Extract::Off => None,
            Extract::Rules => Some(Arc::new(RuleExtractor::new())),
        },
        ..RagOptions::default()
    };
    let chunking = args.chunker.chunking(path)?;
    args.embedder
        .open_cutting(&args.database, access, terminal, chunking, options)
}

/// Indexes until the user ends it.
fn watch(args: &IndexArgs, files: Files, grants: &Grants, terminal: &Terminal) -> Result<Outcome> {
    let index = open(args, Access::ReadWrite, terminal)?;
    let mut changes = Changes::new(&args.database.path)?;
    let (root, watched) = (files.root.clone(), files.looked_at.clone());
    // Before the first pass, so that no change falls between the two.
    for path in &watched {
        changes.watch(path)?;
    }
    let pass = Pass {
        index: &index,
        grants,
        stop: Some(changes.stop()),
        terminal,
    };
    let first = pass.write(files, args.prune)?;
    complete(args, &index, terminal)?;
    prepare(args, &index)?;
    first.show(args, terminal)?;
    terminal.note("watching for changes; Ctrl-C ends it");
    loop {
        let (paths, files) = match changes.next() {
            Change::Stop => return Ok(Outcome::Done),
            Change::All => match Files::find(&args.paths, args.root.as_deref()) {
                Ok(files) => (args.paths.iter().cloned().collect(), files),
                Err(error) => {
                    terminal.error(&output::chain(&error));
                    continue;
                }
            },
            Change::Paths(paths) => {
                let files = Files::changed(&root, &watched, paths.iter().cloned());
                (paths, files)
            }
        };
        let written = pass.write(files, true).and_then(|summary| {
            if summary.changed() {
                prepare(args, &index)?;
                summary.show(args, terminal)?;
            }
            Ok(())
        });
        if let Err(error) = written {
            if is_moved(&error) {
                return Err(error);
            }
            // Such as a database that another program holds too long: the next try may be better.
            terminal.error(&output::chain(&error));
            std::thread::sleep(RETRY);
            changes.retry(paths);
        }
    }
}

/// Whether the database has lost its name: no further try of this process can be better.
fn is_moved(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| match cause.downcast_ref() {
        Some(RagError::Store(error)) => matches!(error, StoreError::Moved { .. }),
        _ => matches!(cause.downcast_ref(), Some(StoreError::Moved { .. })),
    })
}

/// One run over files.
struct Pass<'a> {
    index: &'a LiveRagIndex,
    grants: &'a Grants,
    stop: Option<Stop>,
    terminal: &'a Terminal,
}

impl Pass<'_> {
    fn write(&self, mut files: Files, prune: bool) -> Result<Summary> {
        let total = files.found.len();
        let mut summary = Summary {
            links_not_followed: files.links,
            failed: std::mem::take(&mut files.failed),
            ..Summary::default()
        };
        let mut batch: Vec<Document> = Vec::new();
        let mut bytes = 0;
        for (done, (id, path)) in files.found.iter().enumerate() {
            match read(&files, id, path, self.grants) {
                Ok(document) => {
                    bytes += document.source().len();
                    batch.push(document);
                }
                Err(error) => summary.fail(id.as_str(), &output::chain(&error)),
            }
            if batch.len() >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES {
                summary.add(self.index.ingest_from(&files.root, &batch, |_| {})?);
                batch.clear();
                bytes = 0;
                self.terminal
                    .progress(&format!("{} of {total} documents", done + 1));
                if self.stop.as_ref().is_some_and(Stop::is_asked) {
                    break;
                }
            }
        }
        summary.add(self.index.ingest_from(&files.root, &batch, |_| {})?);
        self.terminal.progress("");
        if prune {
            let present = |doc: &DocId| files.found.contains_key(doc);
            match self.index.prune(&files.root, &files.looked_at, present) {
                Ok(removed) => summary.removed = removed,
                // Written is written; what became of the rest is told below.
                Err(error) => summary.fail("--prune", &output::chain(&error.into())),
            }
        }
        summary.failed.sort_by(|a, b| a.file.cmp(&b.file));
        summary
            .truncated
            .sort_by(|a, b| a.document.cmp(&b.document));
        Ok(summary)
    }
}

/// What `--prune` would remove. It reads the index, and writes nothing.
fn dry_run(args: &IndexArgs, files: &Files, terminal: &Terminal) -> Result<Outcome> {
    let index = open(args, Access::ReadOnly, terminal)?;
    let present = |doc: &DocId| files.found.contains_key(doc);
    let report = DryRun {
        would_remove: index.vanished(&files.root, &files.looked_at, present)?,
        failed: &files.failed,
    };
    tell(report.failed, terminal);
    if args.format.json {
        output::print_json(&report)?;
    } else {
        let lines = report.would_remove.iter();
        let mut out: String = lines.map(|doc| format!("would remove {doc}\n")).collect();
        if report.would_remove.is_empty() {
            out.push_str("nothing would be removed");
        }
        output::print_text(&out)?;
    }
    Ok(match report.failed.is_empty() {
        true => Outcome::Done,
        false => Outcome::Partly,
    })
}

#[derive(Serialize)]
struct DryRun<'a> {
    would_remove: Vec<DocId>,
    failed: &'a [Failed],
}

fn read(files: &Files, id: &DocId, path: &Path, grants: &Grants) -> Result<Document> {
    let acl = grants.of(id).ok_or_else(|| {
        anyhow!("no prefix of the map is one of it; add one, or give --acl for the rest")
    })?;
    Ok(Document::read(&files.root, path, acl.clone())?)
}

/// What became of the files.
#[derive(Debug, Default, Serialize)]
struct Summary {
    inserted: usize,
    replaced: usize,
    unchanged: usize,
    chunks: usize,
    removed: Vec<DocId>,
    links_not_followed: usize,
    truncated: Vec<Truncated>,
    failed: Vec<Failed>,
}

/// A document of which the model saw only a part.
#[derive(Debug, Serialize)]
struct Truncated {
    document: String,
    chunks: usize,
}

impl Summary {
    fn add(&mut self, report: IngestReport) {
        self.inserted += report.inserted;
        self.replaced += report.replaced;
        self.unchanged += report.unchanged;
        self.chunks += report.chunks;
        for (document, chunks) in report.truncated {
            self.truncated.push(Truncated {
                document: document.to_string(),
                chunks,
            });
        }
        for (file, error) in report.failed {
            self.fail(&file, &output::chain(&error.into()));
        }
    }

    /// Whether there is anything to tell.
    fn changed(&self) -> bool {
        self.inserted + self.replaced + self.removed.len() + self.failed.len() > 0
    }

    fn fail(&mut self, file: &str, error: &str) {
        self.failed.push(Failed {
            file: file.to_owned(),
            error: error.to_owned(),
        });
    }

    fn show(&self, args: &IndexArgs, terminal: &Terminal) -> Result<Outcome> {
        tell(&self.failed, terminal);
        if !self.failed.is_empty() && args.database.path.exists() {
            terminal.note(
                "what failed stays in the index as it was, its grants too; `cornu remove` takes \
                 it out",
            );
        }
        for cut in &self.truncated {
            terminal.note(&format!(
                "{}: the model saw only the beginning of {}",
                cut.document,
                counted(cut.chunks, "chunk")
            ));
        }
        if self.links_not_followed > 0 {
            let links = counted(self.links_not_followed, "symbolic link");
            terminal.note(&format!("not followed: {links}"));
        }
        let written = self.inserted + self.replaced + self.unchanged;
        if args.format.json {
            output::print_json(self)?;
        } else {
            let removed = self.removed.iter();
            let removed: String = removed.map(|doc| format!("removed {doc}\n")).collect();
            output::print_text(&format!(
                "{removed}{} ({} new, {} changed, {} as before), {}, {} failed",
                counted(written, "document"),
                self.inserted,
                self.replaced,
                self.unchanged,
                counted(self.chunks, "chunk"),
                self.failed.len()
            ))?;
        }
        Ok(if !self.failed.is_empty() {
            Outcome::Partly
        } else if written == 0 && self.removed.is_empty() {
            terminal.note(NO_FILES);
            Outcome::Nothing
        } else {
            Outcome::Done
        })
    }
}

/// What failed, a line each.
fn tell(failed: &[Failed], terminal: &Terminal) {
    for Failed { file, error } in failed {
        let shown = output::name(file);
        // Many errors name the file themselves.
        match *file == shown && error.starts_with(file.as_str()) {
            true => terminal.error(error),
            false => terminal.error(&format!("{shown}: {error}")),
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
