//! The model card of an adapter, written from what was measured.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use cornu_embed::bert::Adapter;
use serde::{Deserialize, Serialize};

use super::first_stage::write_whole;
use super::quality::Compared;
use super::recipe::{Kind, Recipe};

/// One comparison of a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Question set.
    pub set: String,
    /// Which first stage: `hybrid` or `dense`.
    pub first_stage: String,
    /// Whose order: `scores`, `fused` (the mean of the first stage's scores and its own, each from 0 to 1), or
    /// `all dimensions` (late interaction without the projection).
    pub order: String,
    /// `all`, `zh` or `en`.
    pub lang: String,
    /// Questions.
    pub questions: usize,
    /// Candidates that were scored.
    pub depth: usize,
    /// The metrics.
    pub metrics: Vec<Compared>,
}

/// Writes `measured.json` and `README.md` into the adapter's folder.
///
/// # Errors
/// A file that cannot be written.
pub fn write(
    folder: &Path,
    recipe: &Recipe,
    adapter: &Adapter,
    measured: &[Measured],
) -> Result<()> {
    let json = serde_json::to_string_pretty(measured)?;
    write_whole(
        &folder.join("measured.json"),
        format!("{json}\n").as_bytes(),
    )?;
    write_whole(
        &folder.join("README.md"),
        text(recipe, adapter, measured)?.as_bytes(),
    )
}

fn text(recipe: &Recipe, adapter: &Adapter, measured: &[Measured]) -> Result<String> {
    let manifest = adapter.manifest();
    let mut out = format!("# {}\n\n", recipe.name);
    match &recipe.kind {
        Kind::Pair(options) => writeln!(
            out,
            "A cross-encoder: an adapter of rank {} and a head on `{}` (weights with sha256 `{}`). \
             The first {} layers read question and passage apart, the others read them together. It \
             scores passages of up to {} tokens; what is longer loses its end.\n",
            options.rank,
            manifest.base.name,
            manifest.base.weights_sha256,
            options.split,
            options.document_tokens,
        )?,
        Kind::Tokens(options) => writeln!(
            out,
            "A projection of the token vectors of `{}` (weights with sha256 `{}`) to {} dimensions, \
             for late interaction.\n",
            manifest.base.name, manifest.base.weights_sha256, options.dimension,
        )?,
    }
    out.push_str(
        "Written by `cargo xtask train-reranker`, figures included; edits are lost.\n\n\
         ## Quality\n\n\
         Each first stage's candidates before and after reranking, on questions that had no part in \
         training or in any choice. In brackets the 95 % interval of the mean difference (BCa \
         bootstrap over questions). Orders: `scores` is the adapter's own, `fused` that of the \
         mean of the first stage's scores and its own (each from 0 to 1 over the candidates), `all dimensions` late interaction without the \
         projection.\n\n\
         | set | language | first stage | order | questions | scored | metric | before | after | difference |\n\
         |---|---|---|---|---:|---:|---|---:|---:|---:|\n",
    );
    for row in measured {
        for metric in &row.metrics {
            let interval = metric.interval.map_or_else(String::new, |(low, high)| {
                format!(" [{low:+.3}, {high:+.3}]")
            });
            writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} | {:.3} | {:.3} | {:+.3}{interval} |",
                row.set,
                row.lang,
                row.first_stage,
                row.order,
                row.questions,
                row.depth,
                metric.metric,
                metric.first_stage,
                metric.reranked,
                metric.difference,
            )?;
        }
    }
    writeln!(
        out,
        "\n## Training\n\nQuestions of {}, and {} questions made of the sentences of each one's \
         passages (a stretch of a sentence, a quarter of its words left out). Negatives are the other \
         candidates of the hybrid search. Steps: {} planned, the best by nDCG@10 of the fused order on the dev questions \
         of {} kept; {} groups a step, one positive and {} negatives each; loss {:?}. The recipe, \
         seeds included, is in `adapter.json`.\n",
        recipe
            .train
            .iter()
            .map(|(name, share)| format!("`{name}` ({:.0} % of the groups)", share * 100.0))
            .collect::<Vec<_>>()
            .join(", "),
        recipe.made,
        recipe.steps(),
        recipe.dev.join(", "),
        recipe.groups,
        recipe.negatives,
        match &recipe.kind {
            Kind::Pair(options) => options.loss,
            Kind::Tokens(options) => options.loss,
        },
    )?;
    if let Some(tree) = manifest.training.get("tree").and_then(|tree| tree.as_str()) {
        writeln!(
            out,
            "Trained by the program as it stands in the tree with the hash `{tree}` (`measured_tree` \
             in the records of the tables says what that is).\n",
        )?;
    }
    out.push_str(LIMITS);
    Ok(out)
}

const LIMITS: &str = "## Limits\n\n\
- Small: trained on a few hundred questions, on one processor. A published cross-encoder, where its \
  weights can be had, is the better choice.\n\
- The gold passages of `2wiki-500` are derived from evidence triples. Many of its questions need a \
  passage that the question does not name; no reranker finds that from the question alone.\n\
- `bench-data` is small, written by one hand, and its dev questions are on the same documents as its \
  test questions: the figures say how it does on documents that it has seen with other questions.\n\
- Scores order the candidates of one question. They are no probabilities and have no common zero.\n\n\
## Licence\n\n\
The adapter is under the repository's licence (MIT OR Apache-2.0). Base models: all-MiniLM-L6-v2 \
(Apache-2.0), multilingual-e5-small (MIT). Texts: MuSiQue (CC BY 4.0), HotpotQA (CC BY-SA 4.0), \
bench-data (CC BY 4.0); none of them is in the adapter.\n";
