//! What `eval` measures: each route's results, scored by `cornu-eval`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use cornu::chunk::html;
use cornu::eval::beir::Query;
use cornu::eval::metrics::{Gain, Metric, Qrels, Run, evaluate};
use cornu::eval::questions::{Alternative, Question, Ranks};
use cornu::eval::significance::{Bootstrap, Randomization, Scale, holm};
use cornu::{Hit, LiveRagIndex, Principal, Rate, Threshold};
use serde::Serialize;

use crate::args::Route;

/// How many chunks each route is asked for.
pub(crate) const DEPTH: usize = 100;

const NDCG: Metric = Metric::Ndcg(Some(10), Gain::Linear);

/// A set of questions, each with what counts as found.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) tasks: Vec<Task>,
}

/// One question.
pub(crate) struct Task {
    id: String,
    text: String,
    wanted: Wanted,
}

enum Wanted {
    /// Pieces of evidence: phrases in the text of chunks, and the documents that they stand in.
    Evidence(Vec<Vec<Alternative>>, Sought),
    /// Documents, with their grades.
    Documents(Vec<(String, u8)>),
}

impl Set {
    pub(crate) fn of_questions(name: String, questions: Vec<Question>) -> Self {
        let task = |question: Question| Task {
            id: question.id,
            text: question.question,
            wanted: Wanted::evidence(question.evidence),
        };
        Self {
            name,
            tasks: questions.into_iter().map(task).collect(),
        }
    }

    /// Queries that were judged; one without a relevant document has no answer. Judgments name
    /// documents as citations do, or without their endings.
    ///
    /// # Errors
    /// A name without an ending that two documents have.
    pub(crate) fn of_beir(
        name: String,
        queries: Vec<Query>,
        qrels: &Qrels,
        known: &Names,
    ) -> Result<Self> {
        let mut tasks = Vec::new();
        for query in queries {
            let Some(judged) = qrels.get(&query.id) else {
                continue;
            };
            let mut wanted = BTreeMap::new();
            for (doc, grade) in judged.iter().filter(|(_, grade)| *grade > 0) {
                let doc = known.of(doc);
                let doc = doc.with_context(|| format!("the judgments of query {}", query.id))?;
                let best = wanted.entry(doc).or_insert(grade);
                *best = grade.max(*best);
            }
            let wanted = wanted.into_iter().collect();
            tasks.push(Task {
                id: query.id,
                text: query.text,
                wanted: Wanted::Documents(wanted),
            });
        }
        Ok(Self { name, tasks })
    }

    /// How many questions are measured.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// The documents that any question wants.
    pub(crate) fn documents(&self) -> BTreeSet<&str> {
        let wanted = self.tasks.iter().flat_map(|task| match &task.wanted {
            Wanted::Evidence(pieces, _) => {
                let docs = pieces.iter().flatten();
                docs.map(|it| it.doc.as_str()).collect::<Vec<_>>()
            }
            Wanted::Documents(docs) => docs.iter().map(|(doc, _)| doc.as_str()).collect(),
        });
        wanted.collect()
    }
}

impl Task {
    fn is_answerable(&self) -> bool {
        match &self.wanted {
            Wanted::Evidence(pieces, _) => !pieces.is_empty(),
            Wanted::Documents(docs) => !docs.is_empty(),
        }
    }

    fn grades(&self) -> Vec<(String, u8)> {
        match &self.wanted {
            Wanted::Documents(docs) => docs.clone(),
            Wanted::Evidence(_, sought) => sought.wanted().map(|doc| (doc.to_owned(), 1)).collect(),
        }
    }

    /// The documents of the hits, each at its best place.
    fn documents(&self, hits: &[Hit]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let docs = hits.iter().map(|hit| hit.chunk.doc.as_str());
        let docs = docs.map(|doc| match &self.wanted {
            Wanted::Documents(_) => doc,
            Wanted::Evidence(_, sought) => sought.stands_for(doc),
        });
        docs.filter(|doc| seen.insert(*doc))
            .map(str::to_owned)
            .collect()
    }
}

impl Wanted {
    fn evidence(mut pieces: Vec<Vec<Alternative>>) -> Self {
        for alternative in pieces.iter_mut().flatten() {
            alternative.doc = as_id(&alternative.doc);
        }
        let docs = pieces.iter().map(|piece| {
            let docs = piece.iter().map(|it| it.doc.as_str());
            docs.collect::<BTreeSet<_>>()
        });
        let sought = Sought::new(&docs.collect::<Vec<_>>());
        Self::Evidence(pieces, sought)
    }
}

/// The documents that pieces of evidence make relevant. One that a piece stands in alone is wanted for
/// itself. Those that are alternatives of a piece count as one, also through a third; unless one
/// of them is wanted for itself, which answers this piece, too: then the others are not relevant.
struct Sought(BTreeMap<String, String>);

impl Sought {
    /// Of each piece, the documents that it stands in.
    fn new(pieces: &[BTreeSet<&str>]) -> Self {
        let alone = pieces.iter().filter(|docs| docs.len() == 1).flatten();
        let alone: BTreeSet<&str> = alone.copied().collect();
        let mut groups: Vec<BTreeSet<&str>> = Vec::new();
        for docs in pieces.iter().filter(|docs| docs.is_disjoint(&alone)) {
            let (joined, apart) = groups.into_iter().partition(|it| !it.is_disjoint(docs));
            groups = apart;
            let joined: Vec<BTreeSet<&str>> = joined;
            groups.push(
                joined
                    .into_iter()
                    .flatten()
                    .chain(docs.iter().copied())
                    .collect(),
            );
        }
        groups.extend(alone.iter().map(|doc| BTreeSet::from([*doc])));
        let mut stands_for = BTreeMap::new();
        for group in &groups {
            for doc in group {
                let first = group.first().unwrap_or(doc);
                stands_for.insert((*doc).to_owned(), (*first).to_owned());
            }
        }
        Self(stands_for)
    }

    /// One for each group.
    fn wanted(&self) -> impl Iterator<Item = &str> {
        let firsts = self.0.iter().filter(|(doc, first)| doc == first);
        firsts.map(|(doc, _)| doc.as_str())
    }

    fn stands_for<'a>(&'a self, doc: &'a str) -> &'a str {
        self.0.get(doc).map_or(doc, String::as_str)
    }
}

/// A document's name as ids have it, in NFC: a list of files may have it otherwise. What is no id
/// stays, and is no document's.
fn as_id(name: &str) -> String {
    cornu::DocId::new(name).map_or_else(|_| name.to_owned(), String::from)
}

/// The documents that the asker sees, by their names and by their names without endings.
#[derive(Default)]
pub(crate) struct Names {
    known: BTreeMap<String, String>,
    /// Names without endings that several documents have.
    shared: BTreeMap<String, Vec<String>>,
}

impl Names {
    pub(crate) fn new(docs: &[cornu::DocId]) -> Self {
        let (mut known, mut shared) = (BTreeMap::new(), BTreeMap::new());
        for doc in docs {
            if let Some((stem, _)) = doc.as_str().rsplit_once('.') {
                let all: &mut Vec<String> = shared.entry(stem.to_owned()).or_default();
                all.push(doc.to_string());
                known.insert(stem.to_owned(), doc.to_string());
            }
        }
        for doc in docs {
            shared.remove(doc.as_str());
            known.insert(doc.to_string(), doc.to_string());
        }
        shared.retain(|_, docs| docs.len() > 1);
        Self { known, shared }
    }

    fn of(&self, name: &str) -> Result<String> {
        let name = as_id(name);
        if let Some(docs) = self.shared.get(&name) {
            bail!(
                "{name:?} may be {}; name the document with its ending",
                docs.join(" or ")
            );
        }
        Ok(self.known.get(&name).cloned().unwrap_or(name))
    }

    pub(crate) fn holds(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }
}

/// Each metric's values, one a question that has an answer, in the order of the questions.
pub(crate) type Values = BTreeMap<Metric, Vec<f64>>;

/// Asks all questions with an answer by one route.
pub(crate) fn by_route(
    index: &LiveRagIndex,
    principal: &Principal,
    set: &Set,
    route: Route,
    ks: &[usize],
    mut progress: impl FnMut(usize),
) -> Result<Values> {
    let mut values = Values::new();
    let (mut qrels, mut run) = (Qrels::new(), Run::new());
    for (done, task) in set.tasks.iter().enumerate() {
        if !task.is_answerable() {
            continue;
        }
        let found = match route {
            Route::Dense => index.search_dense(principal, &task.text, DEPTH),
            Route::Sparse => index.search_sparse(principal, &task.text, DEPTH),
            Route::Hybrid => index.search_hybrid(principal, &task.text, DEPTH),
            Route::Hop => index.search_hop(principal, &task.text, DEPTH),
            Route::Auto => index.search_auto(principal, &task.text, DEPTH),
        };
        let hits = found.with_context(|| format!("question {}", task.id))?.hits;
        if let Wanted::Evidence(pieces, _) = &task.wanted {
            for (metric, value) in of_evidence(pieces, &hits, ks) {
                values.entry(metric).or_default().push(value);
            }
        }
        for (doc, grade) in task.grades() {
            qrels.insert(task.id.clone(), doc, grade);
        }
        run.insert(task.id.clone(), task.documents(&hits))?;
        progress(done + 1);
    }
    let of_documents: Vec<Metric> = ks.iter().map(|&k| Metric::Recall(k)).collect();
    let metrics = [&of_documents[..], &[NDCG, Metric::Mrr(None)]].concat();
    let evaluation = evaluate(&qrels, &run, &metrics);
    for metric in metrics {
        if Over::of(metric, set) == Over::Documents {
            let scored = evaluation.values(metric).unwrap_or_default();
            values.insert(metric, scored);
        }
    }
    Ok(values)
}

/// Recall of the pieces, and the rank of the first one. What a page shows is its text.
fn of_evidence(pieces: &[Vec<Alternative>], hits: &[Hit], ks: &[usize]) -> Vec<(Metric, f64)> {
    let shown: Vec<_> = hits
        .iter()
        .map(|hit| {
            (
                hit.chunk.doc.as_str(),
                html::shown(&hit.chunk, &hit.chunk.text),
            )
        })
        .collect();
    let retrieved: Vec<(&str, &str)> = shown.iter().map(|(doc, text)| (*doc, &**text)).collect();
    let ranks = Ranks::find(pieces, &retrieved);
    let recalls = ks.iter().map(|&k| (Metric::Recall(k), ranks.recall(k)));
    recalls
        .chain([(Metric::Mrr(None), ranks.reciprocal_rank())])
        .filter_map(|(metric, value)| Some((metric, value?)))
        .collect()
}

/// A mean with its 95 % interval.
#[derive(Debug, Serialize)]
pub(crate) struct Mean {
    pub(crate) metric: String,
    pub(crate) over: Over,
    pub(crate) mean: f64,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) n: usize,
}

/// What a metric counts as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Over {
    /// Pieces of evidence in chunks.
    Evidence,
    /// Documents.
    Documents,
}

impl Over {
    fn of(metric: Metric, set: &Set) -> Self {
        let evidence = set
            .tasks
            .iter()
            .any(|task| matches!(task.wanted, Wanted::Evidence(..)));
        match evidence && metric != NDCG {
            true => Self::Evidence,
            false => Self::Documents,
        }
    }
}

pub(crate) fn means(set: &Set, values: &Values) -> Result<Vec<Mean>> {
    let bootstrap = Bootstrap {
        scale: Scale::Rate,
        ..Bootstrap::default()
    };
    let mean = |(metric, values): (&Metric, &Vec<f64>)| {
        let interval = bootstrap.mean(values)?;
        Ok(Mean {
            metric: metric.to_string(),
            over: Over::of(*metric, set),
            mean: interval.mean,
            low: interval.bounds.map(|(low, _)| low),
            high: interval.bounds.map(|(_, high)| high),
            n: interval.n,
        })
    };
    values.iter().map(mean).collect()
}

/// A paired comparison of two routes by one metric.
#[derive(Debug, Serialize)]
pub(crate) struct Difference {
    pub(crate) metric: String,
    /// Mean of the first less mean of the second.
    pub(crate) difference: f64,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// Of the paired randomisation test, two-sided.
    pub(crate) p: f64,
    /// p after Holm's correction for all comparisons of the run.
    pub(crate) p_holm: f64,
    pub(crate) n: usize,
    /// Questions on which the two differ.
    pub(crate) differing: usize,
}

pub(crate) fn differences(a: &Values, b: &Values) -> Result<Vec<Difference>> {
    let mut out = Vec::new();
    for (metric, ours) in a {
        let theirs = b.get(metric).context("two routes with other metrics")?;
        let test = Randomization::default().test(ours, theirs)?;
        let interval = Bootstrap::default().mean_difference(ours, theirs)?;
        out.push(Difference {
            metric: metric.to_string(),
            difference: test.mean_difference,
            low: interval.bounds.map(|(low, _)| low),
            high: interval.bounds.map(|(_, high)| high),
            p: test.p,
            p_holm: test.p,
            n: test.n,
            differing: test.differing,
        });
    }
    Ok(out)
}

/// Corrects the p-values of all comparisons of a run together.
pub(crate) fn correct<'a>(all: impl Iterator<Item = &'a mut Difference>) -> Result<()> {
    let all: Vec<&mut Difference> = all.collect();
    let raw: Vec<f64> = all.iter().map(|it| it.p).collect();
    for (difference, p) in all.into_iter().zip(holm(&raw)?) {
        difference.p_holm = p;
    }
    Ok(())
}

/// How often `ask` answers what has no answer, and refuses what has one.
#[derive(Debug, Serialize)]
pub(crate) struct Refusals {
    pub(crate) threshold: f64,
    pub(crate) answerable: usize,
    pub(crate) unanswerable: usize,
    /// Of the questions without an answer; `None` where there are none.
    pub(crate) false_answers: Option<Rate>,
    /// Of the questions with one.
    pub(crate) false_refusals: Option<Rate>,
}

pub(crate) fn refusals(
    index: &LiveRagIndex,
    principal: &Principal,
    set: &Set,
    threshold: &Threshold,
) -> Result<Refusals> {
    let (mut answerable, mut refused, mut unanswerable, mut answered) = (0, 0, 0, 0);
    for task in &set.tasks {
        let response = index.answer(principal, &task.text, threshold)?;
        let answers = response.outcome.refusal().is_none();
        if task.is_answerable() {
            answerable += 1;
            refused += usize::from(!answers);
        } else {
            unanswerable += 1;
            answered += usize::from(answers);
        }
    }
    let rate = |count, of| (of > 0).then(|| Rate::observed(count, of));
    Ok(Refusals {
        threshold: threshold.value(),
        answerable,
        unanswerable,
        false_answers: rate(answered, unanswerable),
        false_refusals: rate(refused, answerable),
    })
}

/// How many questions have an answer, and how many have none.
pub(crate) fn counts(set: &Set) -> Result<(usize, usize)> {
    let answerable = set.tasks.iter().filter(|task| task.is_answerable()).count();
    ensure!(
        answerable > 0,
        "none of the {} questions has an answer, so there is nothing to find; is it the right \
         --split, and do the judgments name these questions?",
        set.tasks.len()
    );
    Ok((answerable, set.tasks.len() - answerable))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sought(pieces: &[&[&str]]) -> Sought {
        let pieces: Vec<BTreeSet<&str>> = pieces
            .iter()
            .map(|docs| docs.iter().copied().collect())
            .collect();
        Sought::new(&pieces)
    }

    fn wanted(pieces: &[&[&str]]) -> Vec<String> {
        sought(pieces).wanted().map(str::to_owned).collect()
    }

    #[test]
    fn a_document_is_wanted_once() {
        assert_eq!(wanted(&[&["a"], &["a"], &["b"]]), ["a", "b"]);
        // Alternatives count as one, also through a third, in whatever order they are told.
        assert_eq!(wanted(&[&["b", "a"], &["c"]]), ["a", "c"]);
        for pieces in [
            [&["c", "d"][..], &["a", "b"], &["b", "c"]],
            [&["b", "c"], &["c", "d"], &["a", "b"]],
        ] {
            assert_eq!(wanted(&pieces), ["a"]);
            for doc in ["a", "b", "c", "d"] {
                assert_eq!(sought(&pieces).stands_for(doc), "a");
            }
        }
        assert_eq!(sought(&[&["a"]]).stands_for("z"), "z");
    }

    /// The other alternative does not make up for the document that is needed anyway.
    #[test]
    fn what_is_wanted_for_itself_is_no_alternative() {
        for pieces in [[&["b", "a"][..], &["b"]], [&["b"], &["a", "b"]]] {
            assert_eq!(wanted(&pieces), ["b"]);
            assert_eq!(sought(&pieces).stands_for("a"), "a");
        }
    }
}
