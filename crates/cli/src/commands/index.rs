//! `cornu index`.

use std::path::Path;

use anyhow::{Result, anyhow};
use cornu::store::Access;
use cornu::{DocId, Document, IngestReport, LiveRagIndex, RagOptions};
use serde::Serialize;

use crate::args::IndexArgs;
use crate::files::{Failed, Files};
use crate::grants::Grants;
use crate::output::{self, Outcome, Terminal};
use crate::reranker::token_space;

/// As many documents, or bytes of them, are in memory at a time: what the library commits at once.
const BATCH_DOCUMENTS: usize = 256;
const BATCH_BYTES: usize = 1 << 20;

pub(super) fn run(args: &IndexArgs, terminal: &Terminal) -> Result<Outcome> {
    let grants = Grants::new(&args.acl, args.acl_map.as_deref())?;
    let files = Files::find(&args.paths, args.root.as_deref())?;
    for prefix in grants.unused(files.found.keys()) {
        terminal.note(&format!("no document has the prefix {prefix:?} of the map"));
    }
    let options = RagOptions {
        tokens: args.tokens.as_deref().map(token_space).transpose()?,
        ..RagOptions::default()
    };
    let index = args
        .embedder
        .open(&args.database, Access::ReadWrite, terminal, options)?;
    let summary = write(&index, files, &grants, terminal)?;
    if args.tokens.is_some() {
        // For what was in the index before; what was written just now has them.
        let written = index
            .complete_tokens(|so_far| terminal.note(&format!("token vectors: {so_far} more")))?;
        terminal.note(&format!(
            "{written} chunks that had no token vectors got them"
        ));
    }
    // Now, rather than at the first question.
    index.store().prepare()?;
    summary.show(args, terminal)
}

fn write(
    index: &LiveRagIndex,
    mut files: Files,
    grants: &Grants,
    terminal: &Terminal,
) -> Result<Summary> {
    let total = files.found.len();
    let mut summary = Summary {
        links_not_followed: files.links,
        failed: std::mem::take(&mut files.failed),
        ..Summary::default()
    };
    let mut batch: Vec<Document> = Vec::new();
    let mut bytes = 0;
    let found = std::mem::take(&mut files.found);
    for (done, (id, path)) in found.into_iter().enumerate() {
        match read(&files, &id, &path, grants) {
            Ok(document) => {
                bytes += document.source().len();
                batch.push(document);
            }
            Err(error) => summary.fail(id.as_str(), &output::chain(&error)),
        }
        if batch.len() >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES {
            summary.add(index.ingest_all(&batch, |_| {})?);
            batch.clear();
            bytes = 0;
            terminal.progress(&format!("{} of {total} documents", done + 1));
        }
    }
    summary.add(index.ingest_all(&batch, |_| {})?);
    terminal.progress("");
    summary.failed.sort_by(|a, b| a.file.cmp(&b.file));
    summary
        .truncated
        .sort_by(|a, b| a.document.cmp(&b.document));
    Ok(summary)
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

    fn fail(&mut self, file: &str, error: &str) {
        self.failed.push(Failed {
            file: file.to_owned(),
            error: error.to_owned(),
        });
    }

    fn show(&self, args: &IndexArgs, terminal: &Terminal) -> Result<Outcome> {
        for failed in &self.failed {
            terminal.error(&format!("{}: {}", failed.file, failed.error));
        }
        if !self.failed.is_empty() {
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
            output::print_text(&format!(
                "{} ({} new, {} changed, {} as before), {}, {} failed",
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
        } else if written == 0 {
            terminal.note("no file ends in .md, .markdown or .txt");
            Outcome::Nothing
        } else {
            Outcome::Done
        })
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
