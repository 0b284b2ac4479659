//! What an owner does: these commands see all documents. They need no model.

use std::fmt::Write;

use anyhow::{Context, Result};
use cornu::core::FactStore;
use cornu::store::{Access, SqliteVecStore};
use cornu::{DocId, upkeep};
use serde::Serialize;

use crate::args::{Database, OwnerArgs, RebuildArgs, RemoveArgs};
use crate::output::{self, Outcome, Terminal};
use crate::searching;

const SEARCHING_REMEDY: &str =
    "run `cornu index` over the same paths with both `--scan` and `--approximate`";

pub(super) fn remove(args: &RemoveArgs, terminal: &Terminal) -> Result<Outcome> {
    let documents = args
        .documents
        .iter()
        .map(|name| DocId::new(name).with_context(|| format!("{name:?} is no document's name")))
        .collect::<Result<Vec<_>>>()?;
    let store = open(&args.database, Access::ReadWrite)?;
    let mut report = Removed::default();
    for doc in documents {
        match store.remove(&doc)? {
            true => report.removed.push(doc),
            false => report.absent.push(doc),
        }
    }
    searching::renew(&store)?;
    upkeep::prepare(&store)?;
    for doc in &report.absent {
        terminal.error(&format!("{doc} is not in the index"));
    }
    if args.format.json {
        output::print_json(&report)?;
    } else {
        let mut out = String::new();
        for doc in &report.removed {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "removed {doc}");
        }
        if report.removed.is_empty() {
            out.push_str("nothing removed");
        }
        output::print_text(&out)?;
    }
    Ok(
        match (report.removed.is_empty(), report.absent.is_empty()) {
            (_, true) => Outcome::Done,
            (true, false) => Outcome::Nothing,
            (false, false) => Outcome::Partly,
        },
    )
}

pub(super) fn doctor(args: &OwnerArgs) -> Result<Outcome> {
    let (database, access) = (&args.index.database, args.index.access());
    // A graph or codes that cannot be asked for need no check.
    let (store, trouble) = searching::to_check(&database.path, access)?;
    let findings = upkeep::doctor(&store)?;
    let healthy = findings.is_empty() && trouble.is_none();
    if args.format.json {
        let of_store = findings.iter().map(|finding| Finding {
            check: format!("{:?}", finding.check),
            detail: &finding.detail,
            remedy: finding.check.remedy(),
        });
        let of_searching = trouble.as_deref().map(|detail| Finding {
            check: "Searching".to_owned(),
            detail,
            remedy: SEARCHING_REMEDY,
        });
        let findings = of_store.chain(of_searching).collect();
        output::print_json(&Health { healthy, findings })?;
    } else if healthy {
        output::print_text("everything holds")?;
    } else {
        let of_store = findings.iter().map(ToString::to_string);
        let of_searching = trouble.map(|detail| format!("Searching: {detail}; {SEARCHING_REMEDY}"));
        let lines: Vec<String> = of_store.chain(of_searching).collect();
        output::print_text(&lines.join("\n"))?;
    }
    Ok(match healthy {
        true => Outcome::Done,
        false => Outcome::Partly,
    })
}

pub(super) fn stats(args: &OwnerArgs) -> Result<Outcome> {
    let store = open(&args.index.database, args.index.access())?;
    let stats = store.stats()?;
    let (scan, approximate) = searching::shown(&store.kept_searching()?.unwrap_or_default());
    let shown = Stats {
        documents: stats.documents,
        without_grants: stats.without_grants,
        chunks: stats.chunks,
        vectors: stats.vectors,
        dimension: store.dimension(),
        database_bytes: stats.database_bytes,
        log_bytes: stats.log_bytes,
        vec_bytes: stats.vec_bytes,
        graph_bytes: stats.graph_bytes,
        postings_bytes: stats.postings_bytes,
        scan,
        approximate,
        model: store.fingerprint().to_string(),
    };
    if args.format.json {
        output::print_json(&shown)?;
    } else {
        output::print_text(&shown.text())?;
    }
    Ok(Outcome::Done)
}

pub(super) fn rebuild(args: &RebuildArgs) -> Result<Outcome> {
    let store = open(&args.database, Access::ReadWrite)?;
    if args.vacuum {
        store.vacuum()?;
    }
    upkeep::rebuild(&store)?;
    if args.format.json {
        output::print_json(&Rebuilt {
            rebuilt: true,
            vacuumed: args.vacuum,
        })?;
    } else {
        output::print_text("rebuilt")?;
    }
    Ok(Outcome::Done)
}

/// Opens an index that is there, whichever model it was built with.
fn open(database: &Database, access: Access) -> Result<SqliteVecStore> {
    let options = searching::options(&database.path, access)?;
    Ok(SqliteVecStore::open_existing(&database.path, &options)?)
}

#[derive(Default, Serialize)]
struct Removed {
    removed: Vec<DocId>,
    absent: Vec<DocId>,
}

#[derive(Serialize)]
struct Health<'a> {
    healthy: bool,
    findings: Vec<Finding<'a>>,
}

#[derive(Serialize)]
struct Finding<'a> {
    check: String,
    detail: &'a str,
    remedy: &'a str,
}

#[derive(Serialize)]
struct Rebuilt {
    rebuilt: bool,
    vacuumed: bool,
}

#[derive(Serialize)]
struct Stats {
    documents: u64,
    without_grants: u64,
    chunks: u64,
    vectors: u64,
    dimension: usize,
    database_bytes: u64,
    log_bytes: u64,
    vec_bytes: u64,
    graph_bytes: u64,
    postings_bytes: u64,
    scan: &'static str,
    approximate: &'static str,
    model: String,
}

impl Stats {
    fn text(&self) -> String {
        format!(
            "documents       {}\nwithout grants  {}\nchunks          {}\nvectors         {} of {} \
             dimensions\ndatabase        {} bytes\nlog             {} bytes\nvector file     {} \
             bytes\ngraph           {} bytes\npostings file   {} bytes\nscan            \
             {}\napproximate     {}\nmodel           {}",
            self.documents,
            self.without_grants,
            self.chunks,
            self.vectors,
            self.dimension,
            self.database_bytes,
            self.log_bytes,
            self.vec_bytes,
            self.graph_bytes,
            self.postings_bytes,
            self.scan,
            self.approximate,
            self.model
        )
    }
}
