//! `cornu eval`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use cornu::eval::beir::{read_qrels, read_queries};
use cornu::eval::questions;
use cornu::{LiveRagIndex, Principal};
use serde::Serialize;

use super::answer::{default_threshold, threshold};
use super::note_grants;
use crate::args::{EvalArgs, Route};
use crate::embedder::check_asker;
use crate::measure::{self, DEPTH, Difference, Mean, Names, Over, Refusals, Set, Values};
use crate::output::{self, Outcome, Terminal};

pub(super) fn run(args: &EvalArgs, terminal: &Terminal) -> Result<Outcome> {
    let principal = args.asker.principal()?;
    check_asker(&args.model.embedder, &principal)?;
    let ks = cuts(args)?;
    let pairs = pairs(args)?;
    let index = args.model.open(&args.index, None, terminal)?;
    note_grants(&principal, terminal);
    let names = Names::new(&index.documents(&principal)?);
    let set = read(args, &names, terminal)?;
    let (answerable, unanswerable) = measure::counts(&set)?;
    let wanted = set.documents();
    let unseen = wanted.iter().filter(|doc| !names.holds(doc)).count();
    ensure!(
        unseen < wanted.len(),
        "the asker sees none of the documents that the questions ask for, such as {}; documents \
         are named from the --root of `cornu index`, so index them from where these names start",
        wanted.first().copied().unwrap_or_default()
    );
    if unseen > 0 {
        terminal.note(&format!(
            "{unseen} of the documents that the questions ask for are not among those that the \
             asker sees; what is in them counts as not found"
        ));
    }
    let measured = by_route(args, &index, &principal, &set, &ks, terminal)?;
    let mut report = Report {
        set: set.name.clone(),
        answerable,
        unanswerable,
        depth: DEPTH,
        routes: Vec::new(),
        comparisons: Vec::new(),
        refusals: None,
    };
    for (route, values) in &measured {
        report.routes.push(RouteReport {
            route: route.name(),
            metrics: measure::means(&set, values)?,
        });
    }
    for (first, second) in pairs {
        let of = |route| measured.iter().find(|(other, _)| *other == route);
        let (Some((_, ours)), Some((_, theirs))) = (of(first), of(second)) else {
            bail!("--compare names a route that --routes leaves out");
        };
        report.comparisons.push(Comparison {
            first: first.name(),
            second: second.name(),
            metrics: measure::differences(ours, theirs)?,
        });
    }
    let all = report.comparisons.iter_mut();
    measure::correct(all.flat_map(|comparison| &mut comparison.metrics))?;
    report.refusals = refusals(args, &index, &principal, &set, terminal)?;
    if args.format.json {
        output::print_json(&report)?;
    } else {
        output::print_text(&report.text())?;
    }
    Ok(Outcome::Done)
}

fn by_route(
    args: &EvalArgs,
    index: &LiveRagIndex,
    principal: &Principal,
    set: &Set,
    ks: &[usize],
    terminal: &Terminal,
) -> Result<Vec<(Route, Values)>> {
    let mut out: Vec<(Route, Values)> = Vec::new();
    for &route in &args.routes {
        if out.iter().any(|(known, _)| *known == route) {
            continue;
        }
        let values = measure::by_route(index, principal, set, route, ks, |done| {
            let total = set.tasks.len();
            terminal.progress(&format!("{}: {done} of {total} questions", route.name()));
        })?;
        terminal.progress("");
        out.push((route, values));
    }
    Ok(out)
}

/// Without a threshold the refusals of the hash embedder are measured by its default, and those of
/// a model are not: there is no number that would do.
fn refusals(
    args: &EvalArgs,
    index: &LiveRagIndex,
    principal: &Principal,
    set: &Set,
    terminal: &Terminal,
) -> Result<Option<Refusals>> {
    let threshold = match &args.threshold {
        Some(given) => threshold(given, index)?,
        None if args.model.embedder.is_hash() => {
            default_threshold(&args.model.embedder, index, terminal)?
        }
        None => {
            terminal.note("no --threshold, so answers and refusals are not measured");
            return Ok(None);
        }
    };
    measure::refusals(index, principal, set, &threshold).map(Some)
}

fn read(args: &EvalArgs, names: &Names, terminal: &Terminal) -> Result<Set> {
    if let Some(path) = &args.questions {
        let mut all = questions::read(path)?;
        if let Some(split) = &args.split {
            all.retain(|question| question.split == *split);
        }
        let split = args.split.as_ref().map(|split| format!(" ({split})"));
        let name = name_of(path) + &split.unwrap_or_default();
        return Ok(Set::of_questions(name, all));
    }
    let folder = args
        .beir
        .as_deref()
        .context("there are no questions; name some with --questions or --beir")?;
    ensure!(
        args.split.is_none() || args.qrels.is_none(),
        "--qrels names the judgments; leave --split out"
    );
    let queries = read_queries(&folder.join("queries.jsonl"))?;
    let queries = queries.collect::<Result<Vec<_>, _>>()?;
    let path = judgments(args, folder)?;
    let qrels = read_qrels(&path)?;
    let set = Set::of_beir(name_of(folder), queries, &qrels, names)
        .with_context(|| path.display().to_string())?;
    let missing = qrels.len().saturating_sub(set.len());
    if missing > 0 {
        terminal.note(&format!(
            "{missing} of the {} queries that {} judges are not in queries.jsonl; they are not asked",
            qrels.len(),
            path.display()
        ));
    }
    Ok(set)
}

/// BEIR keeps judgments in `qrels/SPLIT.tsv`, and sets with one split in `qrels.tsv`.
fn judgments(args: &EvalArgs, folder: &Path) -> Result<PathBuf> {
    if let Some(path) = &args.qrels {
        return Ok(path.clone());
    }
    let split = args.split.as_deref().unwrap_or("test");
    let of_split = folder.join("qrels").join(format!("{split}.tsv"));
    let single = folder.join("qrels.tsv");
    [of_split.clone(), single]
        .into_iter()
        .find(|path| path.is_file())
        .with_context(|| {
            format!(
                "there is neither {} nor qrels.tsv beside it; name the judgments with --qrels",
                of_split.display()
            )
        })
}

fn name_of(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default();
    name.display().to_string()
}

fn cuts(args: &EvalArgs) -> Result<Vec<usize>> {
    let mut ks: Vec<usize> = args.k.iter().map(|k| k.get()).collect();
    ks.sort_unstable();
    ks.dedup();
    ensure!(
        ks.iter().all(|&k| k <= DEPTH),
        "each route is asked for {DEPTH} chunks; give -k at most {DEPTH}"
    );
    Ok(ks)
}

fn pairs(args: &EvalArgs) -> Result<Vec<(Route, Route)>> {
    let pair = |pair: &[Route]| match pair {
        [first, second] if first != second => Ok((*first, *second)),
        _ => bail!("--compare takes two different routes, such as hybrid,sparse"),
    };
    args.compare.chunks(2).map(pair).collect()
}

#[derive(Serialize)]
struct Report {
    set: String,
    answerable: usize,
    unanswerable: usize,
    depth: usize,
    routes: Vec<RouteReport>,
    comparisons: Vec<Comparison>,
    refusals: Option<Refusals>,
}

#[derive(Serialize)]
struct RouteReport {
    route: &'static str,
    metrics: Vec<Mean>,
}

#[derive(Serialize)]
struct Comparison {
    first: &'static str,
    second: &'static str,
    metrics: Vec<Difference>,
}

impl Report {
    /// Routes side by side. Writing to a string cannot fail.
    fn text(&self) -> String {
        let mut out = format!(
            "{}: {} questions with an answer, {} without\n\n",
            self.set, self.answerable, self.unanswerable
        );
        let _ = write!(out, "{:<12}", "");
        for route in &self.routes {
            let _ = write!(out, "  {:<22}", route.route);
        }
        out.push('\n');
        let metrics = self.routes.first().map_or(&[][..], |route| &route.metrics);
        for (at, Mean { metric, .. }) in metrics.iter().enumerate() {
            let _ = write!(out, "{metric:<12}");
            for route in &self.routes {
                let shown = route.metrics.get(at).map(Mean::text);
                let _ = write!(out, "  {:<22}", shown.unwrap_or_default());
            }
            out.push('\n');
        }
        out.push_str(match metrics.iter().any(|it| it.over == Over::Evidence) {
            true => "recall and mrr count pieces of evidence in chunks, ndcg counts documents\n",
            false => "all count documents\n",
        });
        for comparison in &self.comparisons {
            let (first, second) = (comparison.first, comparison.second);
            let _ = writeln!(out, "\n{first} less {second}");
            for it in &comparison.metrics {
                let bounds = bounds(it.low, it.high);
                let _ = writeln!(
                    out,
                    "{:<12}  {:+.3}{bounds}  p = {:.4}, corrected {:.4} ({} of {} questions differ)",
                    it.metric, it.difference, it.p, it.p_holm, it.differing, it.n
                );
            }
        }
        if let Some(refusals) = &self.refusals {
            let _ = writeln!(out, "\nasked with the threshold {}", refusals.threshold);
            for (name, rate) in [
                ("false answers", refusals.false_answers),
                ("false refusals", refusals.false_refusals),
            ] {
                let shown = rate.map_or("no such question".to_owned(), |rate| rate.to_string());
                let _ = writeln!(out, "{name:<14}  {shown}");
            }
        }
        let text: Vec<&str> = out.lines().map(str::trim_end).collect();
        text.join("\n")
    }
}

impl Mean {
    fn text(&self) -> String {
        format!("{:.3}{}", self.mean, bounds(self.low, self.high))
    }
}

fn bounds(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!(" [{low:.3}, {high:.3}]"),
        _ => String::new(),
    }
}
