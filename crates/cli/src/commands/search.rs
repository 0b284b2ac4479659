//! `cornu search`.

use std::fmt::Write;

use anyhow::Result;
use cornu::Hit;
use cornu::chunk::html;
use cornu::store::Access;

use super::{note_grants, short};
use crate::args::{Route, SearchArgs};
use crate::output::{self, Outcome, Terminal};

pub(super) fn run(args: &SearchArgs, terminal: &Terminal) -> Result<Outcome> {
    let principal = args.asker.principal()?;
    let index = args
        .embedder
        .open(&args.database, Access::ReadOnly, terminal)?;
    let (query, k) = (args.query.as_str(), args.k.get());
    let found = match args.route {
        Route::Dense => index.search_dense(&principal, query, k),
        Route::Sparse => index.search_sparse(&principal, query, k),
        Route::Hybrid => index.search_hybrid(&principal, query, k),
    }?;
    note_grants(&principal, terminal);
    if args.format.json {
        output::print_json(&found)?;
    } else if found.hits.is_empty() {
        output::print_text("Nothing found.")?;
    } else {
        output::print_text(&text(&found.hits))?;
    }
    Ok(match found.hits.is_empty() {
        true => Outcome::Nothing,
        false => Outcome::Done,
    })
}

fn text(hits: &[Hit]) -> String {
    let mut out = String::new();
    for (at, hit) in hits.iter().enumerate() {
        let gap = if at == 0 { "" } else { "\n" };
        let (rank, id) = (at + 1, short(&hit.chunk.id));
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{gap}{rank}. {} ({:.4}, chunk {id})",
            hit.citation, hit.score
        );
        for line in html::shown(&hit.chunk, &hit.chunk.text).trim_end().lines() {
            let _ = writeln!(out, "   {line}");
        }
    }
    out
}
