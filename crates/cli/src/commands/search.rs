//! `cornu search`.

use std::fmt::Write;

use anyhow::{Result, ensure};
use cornu::Hit;
use cornu::chunk::html;

use super::{note_grants, short};
use crate::args::{Route, SearchArgs};
use crate::output::{self, Outcome, Terminal};

pub(super) fn run(args: &SearchArgs, terminal: &Terminal) -> Result<Outcome> {
    let principal = args.asker.principal()?;
    ensure!(
        args.route == Route::Hybrid || args.model.rerank.is_none(),
        "--rerank looks again at what the hybrid search found; give --route hybrid"
    );
    let index = args.model.open(&args.index, None, terminal)?;
    let (query, k) = (args.query.as_str(), args.k.get());
    let found = match args.route {
        Route::Dense => index.search_dense(&principal, query, k),
        Route::Sparse => index.search_sparse(&principal, query, k),
        Route::Hybrid => index.search_hybrid(&principal, query, k),
        Route::Hop => index.search_hop(&principal, query, k),
        Route::Auto => index.search_auto(&principal, query, k),
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
        if let Some(second) = &hit.second {
            let said = match (second.score, second.scale, second.unscored) {
                (Some(score), Some(scale), _) => match second.blended {
                    Some(blended) => format!("{score:.4} ({scale}), {blended:.4} with the first"),
                    None => format!("{score:.4} ({scale})"),
                },
                (.., why) => why.unwrap_or("not scored").to_owned(),
            };
            let then = second
                .earlier
                .map(|earlier| format!(", then {}", earlier.rank));
            let then = then.unwrap_or_default();
            let _ = writeln!(out, "   reranked from {}{then}: {said}", second.first_rank);
        }
        for line in html::shown(&hit.chunk, &hit.chunk.text).trim_end().lines() {
            let _ = writeln!(out, "   {line}");
        }
    }
    out
}
