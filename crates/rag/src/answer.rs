//! Questions to cited answers, or refusals.

use cornu_core::{Chunk, Principal, Trace};
use cornu_hop::HopDecision;
use cornu_store::Snapshot;

use crate::anchors::{Anchor, anchors, named, words_of};
use crate::chat::{ChatReport, Reply, Written};
use crate::error::RagError;
use crate::evidence::{Statement, choose, cosine};
use crate::explain;
use crate::index::LiveRagIndex;
use crate::multihop::Walked;
use crate::route::{self, AnswerRoute, Candidates};
use crate::search::{Hit, Routes};
use crate::threshold::Threshold;

/// How many of a question's names are looked up by themselves.
const MOST_NAMES: usize = 8;

/// An outcome, and how it came about.
///
/// See the [crate](crate) for an example.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Response {
    /// The answer, or why there is none.
    pub outcome: Outcome,
    /// Whether what the asker sees differs from what the threshold was fitted on, so that its error
    /// rates are not those that `calibrate` expected; `None` for a threshold by hand.
    pub corpus_moved: Option<bool>,
    /// What became of a chat model's reply; `None` where no model was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatReport>,
    /// What each step did.
    pub trace: Trace,
}

/// An answer or a refusal. Both are results; an error is something else.
///
/// ```
/// use cornu::{Outcome, Refusal, Reason};
/// let outcome = Outcome::Refused(Refusal { reason: Reason::NothingVisible });
/// assert!(outcome.answer().is_none());
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Sentences of the evidence.
    Answered(Answer),
    /// Sentences that a model wrote, and that the evidence holds.
    Written(Written),
    /// Not enough evidence.
    Refused(Refusal),
}

/// Sentences of the evidence, best first, each with its place. There is no word in it that is not
/// in a source.
///
/// As text, each sentence has the number of its citation behind it, and the citations follow:
///
/// ```
/// assert_eq!(cornu::Answer { statements: vec![] }.to_string(), "");
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Answer {
    /// The sentences.
    pub statements: Vec<Statement>,
}

/// That there is no answer, and why. It cites nothing.
///
/// As text it reads the same whatever else the index holds.
///
/// ```
/// use cornu::{Reason, Refusal};
/// let refusal = Refusal { reason: Reason::NothingVisible };
/// assert_eq!(refusal.to_string(), "No answer: nothing relevant enough was found.");
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
}

/// Why there is no answer.
///
/// ```
/// let reason = cornu::Reason::AnotherEntity { missing: vec!["LN-602".to_owned()] };
/// assert_eq!(reason.name(), "another entity");
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The asker sees no text at all.
    NothingVisible,
    /// No chunk is as similar to the question as the threshold asks.
    BelowThreshold {
        /// The best chunk's similarity.
        best: f64,
        /// The threshold.
        threshold: f64,
    },
    /// The evidence is near, but about something else: it does not name what the question names.
    AnotherEntity {
        /// What it does not name, as the question has it.
        missing: Vec<String>,
    },
    /// A chat model wrote nothing that its sources hold.
    NothingHeld {
        /// How many sentences it wrote.
        dropped: usize,
    },
    /// The chat model says that the sources do not answer.
    ModelDeclined,
}

impl LiveRagIndex {
    /// Answers with sentences of what the principal sees, or refuses.
    ///
    /// The best chunks of a [hybrid search](Self::search_hybrid) are the evidence, and with them
    /// the two that are best by BM25 for each of the question's [`anchors`](crate::anchors) alone
    /// (the first eight of them), for a fusion loses a chunk that only an exact name finds. Each is
    /// judged by itself: it stays when the cosine of its vector and the question's reaches the
    /// threshold, whichever route found it. When none stays, or those that stay do not name what
    /// the question names, there is no answer. Otherwise the sentences
    /// that fit best are the answer (see [`Statement::score`]).
    ///
    /// Costs a hybrid search and the embedding of at most 32 sentences. With a
    /// [chat model](crate::RagOptions::chat), a call of it in place of that embedding, and the
    /// answer is [`Outcome::Written`] or, where the model gives no text, as the options say.
    ///
    /// # Errors
    /// [`RagError::ForeignThreshold`] for a threshold of another model,
    /// [`RagError::AskerNotPublic`] and [`RagError::ChatAskerNotPublic`] where only public texts may
    /// be sent to a provider, [`RagError::Chat`], and as the searches. A refusal is no error.
    pub fn answer(
        &self,
        principal: &Principal,
        question: &str,
        threshold: &Threshold,
    ) -> Result<Response, RagError> {
        Ok(self
            .answer_by(AnswerRoute::Hybrid, principal, question, threshold)?
            .0)
    }

    /// As [`answer`](Self::answer), with the best chunks of a [walk](Self::search_hop) as the
    /// evidence in place of those of the hybrid search. Each is judged as there, by the similarity
    /// of its own text to the question. So a chunk in the middle of a path, which may not be like
    /// the question at all, is in the trace with its path, and in the answer only where it reaches
    /// the threshold.
    ///
    /// Costs what [`answer`](Self::answer) costs, and the walk.
    ///
    /// # Errors
    /// As [`answer`](Self::answer) and [`search_hop`](Self::search_hop).
    pub fn answer_hop(
        &self,
        principal: &Principal,
        question: &str,
        threshold: &Threshold,
    ) -> Result<Response, RagError> {
        Ok(self
            .answer_by(AnswerRoute::Hop, principal, question, threshold)?
            .0)
    }

    fn answer_by(
        &self,
        route: AnswerRoute,
        principal: &Principal,
        question: &str,
        threshold: &Threshold,
    ) -> Result<(Response, Routes), RagError> {
        let snapshot = self.snapshot(principal)?;
        self.answer_on(route, &snapshot, question, threshold)
    }

    /// What has to hold before a question is answered.
    fn check_may_answer(
        &self,
        principal: &Principal,
        threshold: &Threshold,
    ) -> Result<(), RagError> {
        threshold.check_provider(self.provider.fingerprint())?;
        self.check_disclosure(principal)?;
        match &self.options.chat {
            Some(chat) => chat.check_disclosure(principal),
            None => Ok(()),
        }
    }

    /// The answer, and the search that it rests on.
    pub(crate) fn answer_on(
        &self,
        route: AnswerRoute,
        snapshot: &Snapshot<'_>,
        question: &str,
        threshold: &Threshold,
    ) -> Result<(Response, Routes), RagError> {
        self.check_may_answer(snapshot.view().principal(), threshold)?;
        let judged = self.judge_by(route, snapshot, question)?;
        let corpus_moved = threshold.is_of_another_view(snapshot.view());
        let mut trace = Trace::new();
        explain::question(&mut trace, &self.options.tokenizer, question);
        self.note_vectors(snapshot, self.options.depth, &mut trace)?;
        judged.routes.note(&mut trace, self);
        if let Some(decision) = &judged.decision {
            route::note(&mut trace, decision);
        }
        if let Some(walked) = &judged.walked {
            walked.note(&mut trace);
        }
        let step = trace.step("threshold");
        step.note("metric", "cosine")
            .note("value", threshold.value())
            .note("set", threshold.origin().set.as_str());
        if let Some(moved) = corpus_moved {
            step.note("corpus_moved", moved);
        }
        judged.note(&mut trace, threshold.value());
        let decided = self.decide(snapshot, &judged, question, threshold.value(), &mut trace);
        let (outcome, chat) = decided?;
        outcome.note(&mut trace);
        let response = Response {
            outcome,
            corpus_moved,
            chat,
            trace,
        };
        Ok((response, judged.routes))
    }

    /// An answer embeds sentences of what the asker sees, so who asks a provider that may be sent
    /// public texts only has to be one who sees public texts only.
    fn check_disclosure(&self, principal: &Principal) -> Result<(), RagError> {
        let rule = self.options.disclosure;
        match rule.is_none_or(|rule| rule.permits_asker(principal)) {
            true => Ok(()),
            false => Err(RagError::AskerNotPublic),
        }
    }

    /// Everything that the decision needs but the threshold.
    pub(crate) fn judge(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
    ) -> Result<Judged, RagError> {
        self.judge_by(AnswerRoute::Hybrid, snapshot, question)
    }

    fn judge_by(
        &self,
        route: AnswerRoute,
        snapshot: &Snapshot<'_>,
        question: &str,
    ) -> Result<Judged, RagError> {
        let anchors = match self.options.entity_check {
            true => anchors(&self.options.tokenizer, question),
            false => Vec::new(),
        };
        let Candidates {
            routes,
            mut hits,
            walked,
            decision,
        } = self.candidates(route, snapshot, question)?;
        for anchor in anchors.iter().take(MOST_NAMES) {
            hits.extend(self.naming(snapshot, anchor.text(), &routes)?);
        }
        let mut evidence: Vec<Evidence> = Vec::new();
        for hit in hits {
            if evidence
                .iter()
                .any(|known| known.hit.chunk.id == hit.chunk.id)
            {
                continue;
            }
            let words = words_of(&self.options.tokenizer, &hit.chunk);
            let paths = match &walked {
                Some(walked) => walked.paths(snapshot, &hit.chunk.id)?,
                None => Vec::new(),
            };
            evidence.push(Evidence {
                paths,
                similarity: similarity(snapshot, &routes, &hit)?,
                names: named(&anchors, &words),
                hit,
            });
        }
        Ok(Judged {
            routes,
            decision,
            walked,
            anchors,
            evidence,
        })
    }

    fn decide(
        &self,
        snapshot: &Snapshot<'_>,
        judged: &Judged,
        question: &str,
        threshold: f64,
        trace: &mut Trace,
    ) -> Result<(Outcome, Option<ChatReport>), RagError> {
        let chunks = match judged.passages(threshold) {
            Ok(chunks) => chunks,
            Err(reason) => return Ok((Outcome::Refused(Refusal { reason }), None)),
        };
        let mut report = None;
        if let Some(chat) = &self.options.chat {
            match self.ask_chat(chat, snapshot, &chunks, question, trace)? {
                Reply::Given(outcome, report) => return Ok((outcome, Some(report))),
                Reply::Missing(why) => report = Some(why),
            }
        }
        let statements = choose(
            &chunks,
            question,
            &judged.routes.query.view(),
            &*self.provider,
            &self.options.tokenizer,
            self.options.sentences,
        )?;
        let outcome = if statements.is_empty() {
            // Chunks of white space alone, which no chunker of ours makes.
            let reason = Reason::BelowThreshold {
                best: -1.0,
                threshold,
            };
            Outcome::Refused(Refusal { reason })
        } else {
            Outcome::Answered(Answer { statements })
        };
        Ok((outcome, report))
    }
}

/// The evidence for a question, with what it is judged by.
pub(crate) struct Judged {
    routes: Routes,
    decision: Option<HopDecision>,
    walked: Option<Walked>,
    anchors: Vec<Anchor>,
    evidence: Vec<Evidence>,
}

struct Evidence {
    hit: Hit,
    /// Cosine of question and chunk.
    similarity: f64,
    /// For each anchor, whether the chunk names it.
    names: Vec<bool>,
    /// How a walk came to it.
    paths: Vec<String>,
}

impl Judged {
    /// The largest threshold with which the question would be answered; −∞ when it would not with
    /// any. It is the least of the best similarity and, for each anchor, the best similarity of a
    /// chunk that names it.
    pub(crate) fn confidence(&self) -> f64 {
        let named = (0..self.anchors.len()).map(|at| self.best_naming(at));
        let best = self.best().unwrap_or(f64::NEG_INFINITY);
        named.fold(best, f64::min)
    }

    /// The chunks that may answer, best first, or why there is no answer.
    fn passages(&self, threshold: f64) -> Result<Vec<&Chunk>, Reason> {
        let Some(best) = self.best() else {
            return Err(Reason::NothingVisible);
        };
        if best < threshold {
            return Err(Reason::BelowThreshold { best, threshold });
        }
        let missing: Vec<String> = self
            .anchors
            .iter()
            .enumerate()
            .filter(|(at, _)| self.best_naming(*at) < threshold)
            .map(|(_, anchor)| anchor.text().to_owned())
            .collect();
        if !missing.is_empty() {
            return Err(Reason::AnotherEntity { missing });
        }
        let kept = self
            .evidence
            .iter()
            .filter(|evidence| evidence.similarity >= threshold && evidence.names_something());
        Ok(once(kept.map(|evidence| &*evidence.hit.chunk)))
    }

    fn best(&self) -> Option<f64> {
        let all = self.evidence.iter().map(|evidence| evidence.similarity);
        all.max_by(f64::total_cmp)
    }

    fn best_naming(&self, anchor: usize) -> f64 {
        self.evidence
            .iter()
            .filter(|evidence| evidence.names.get(anchor).copied().unwrap_or(false))
            .map(|evidence| evidence.similarity)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    fn note(&self, trace: &mut Trace, threshold: f64) {
        for (at, evidence) in self.evidence.iter().enumerate() {
            let named: Vec<String> = self
                .anchors
                .iter()
                .zip(&evidence.names)
                .filter(|(_, named)| **named)
                .map(|(anchor, _)| anchor.text().to_owned())
                .collect();
            let verdict = if evidence.similarity < threshold {
                "out: below the threshold"
            } else if evidence.names_something() {
                "in"
            } else {
                "out: names nothing that the question names"
            };
            let step = explain::hit(trace, at + 1, &evidence.hit);
            step.note("similarity", evidence.similarity)
                .note("names", named)
                .note("verdict", verdict);
            if !evidence.paths.is_empty() {
                step.note("paths", evidence.paths.clone());
            }
        }
    }
}

impl Evidence {
    /// Whether the chunk names one of the anchors, if there are any.
    fn names_something(&self) -> bool {
        self.names.is_empty() || self.names.contains(&true)
    }
}

impl Outcome {
    /// The answer in sentences of the evidence, if it is one.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answered(answer) => Some(answer),
            Self::Written(_) | Self::Refused(_) => None,
        }
    }

    /// The answer that a model wrote, if it is one.
    #[must_use]
    pub fn written(&self) -> Option<&Written> {
        match self {
            Self::Written(written) => Some(written),
            Self::Answered(_) | Self::Refused(_) => None,
        }
    }

    /// The refusal, if it is one.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Answered(_) | Self::Written(_) => None,
            Self::Refused(refusal) => Some(refusal),
        }
    }

    fn note(&self, trace: &mut Trace) {
        match self {
            Self::Answered(answer) => {
                for statement in &answer.statements {
                    trace
                        .step("statement")
                        .note("citation", statement.citation.to_string())
                        .note("span", statement.citation.span.to_string())
                        .note("score", statement.score)
                        .note("similarity", statement.similarity)
                        .note("overlap", statement.overlap);
                }
                trace
                    .step("answer")
                    .note("statements", answer.statements.len());
            }
            Self::Written(written) => written.note(trace),
            Self::Refused(refusal) => {
                let step = trace.step("refuse");
                step.note("reason", refusal.reason.name());
                if let Reason::AnotherEntity { missing } = &refusal.reason {
                    step.note("missing", missing.clone());
                }
            }
        }
    }
}

impl Response {
    /// As JSON, the same bytes for the same view.
    #[must_use]
    pub fn to_json(&self) -> String {
        crate::json(self)
    }
}

impl Reason {
    /// A stable name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NothingVisible => "nothing visible",
            Self::BelowThreshold { .. } => "below threshold",
            Self::AnotherEntity { .. } => "another entity",
            Self::NothingHeld { .. } => "nothing held",
            Self::ModelDeclined => "model declined",
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Answered(answer) => answer.fmt(f),
            Self::Written(written) => written.fmt(f),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, statement) in self.statements.iter().enumerate() {
            writeln!(f, "{} [{}]", statement.citation.shown(), at + 1)?;
        }
        for (at, statement) in self.statements.iter().enumerate() {
            write!(f, "\n[{}] {}", at + 1, statement.citation)?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.reason {
            // One wording for both: whether there is anything else is nobody's business.
            Reason::NothingVisible | Reason::BelowThreshold { .. } => {
                f.write_str("No answer: nothing relevant enough was found.")
            }
            Reason::AnotherEntity { missing } => write!(
                f,
                "No answer: what was found does not mention {}.",
                missing.join(", ")
            ),
            Reason::NothingHeld { .. } => f.write_str(
                "No answer: the model wrote nothing that the sources it was given hold.",
            ),
            Reason::ModelDeclined => {
                f.write_str("No answer: the model finds none in what was found.")
            }
        }
    }
}

/// No bytes twice: of a column of a table and a chunk whose bytes it shows, the column alone, in the
/// better place of the two.
fn once<'a>(chunks: impl Iterator<Item = &'a Chunk>) -> Vec<&'a Chunk> {
    let holds = |outer: &Chunk, inner: &Chunk| {
        outer.is_column() && outer.doc == inner.doc && outer.span.contains(inner.span)
    };
    let mut kept: Vec<&Chunk> = Vec::new();
    for chunk in chunks {
        if kept.iter().any(|known| holds(known, chunk)) {
            continue;
        }
        match kept.iter().position(|known| holds(chunk, known)) {
            Some(at) => {
                kept.retain(|known| !holds(chunk, known));
                kept.insert(at, chunk);
            }
            None => kept.push(chunk),
        }
    }
    kept
}

/// The cosine of the question and a chunk, from the dense list or, where that was cut before it,
/// from the stored vector. O(chunks of the document) then.
fn similarity(snapshot: &Snapshot<'_>, routes: &Routes, hit: &Hit) -> Result<f64, RagError> {
    if let Some(place) = &hit.dense {
        return Ok(place.score);
    }
    let Some(facts) = snapshot.facts(&hit.chunk.doc)? else {
        return Ok(-1.0);
    };
    let place = facts.indexed().position(|chunk| chunk.id == hit.chunk.id);
    Ok(match place {
        Some(at) if at < facts.vectors.nrows() => {
            cosine(&routes.query.view(), &facts.vectors.row(at))
        }
        _ => -1.0,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cornu_chunk::{Chunker, TableRows, TableRowsOptions};
    use cornu_core::{Acl, DocId, Document};
    use cornu_text::WordCounter;

    use super::*;

    #[test]
    fn a_column_stands_for_the_rows_that_it_shows() {
        let source = "Ships.\n\n| Ship | Speed |\n|---|---|\n| Aster | 13 |\n| Bryony | 14 |\n";
        let chunks = |name: &str| {
            let options = TableRowsOptions {
                wide: Some(2),
                ..TableRowsOptions::default()
            };
            let document = Document::new(DocId::new(name).unwrap(), source, Acl::public());
            let chunker = TableRows::new(Arc::new(WordCounter::new()), options);
            chunker.chunk(&document).unwrap()
        };
        let (mine, other) = (chunks("a.md"), chunks("b.md"));
        let [prose, _table, names, speeds, first, second] = mine.as_slice() else {
            panic!("{mine:?}");
        };
        assert!(names.is_column() && speeds.is_column() && !first.is_column());
        let kept = |chunks: &[&Chunk]| {
            let kept = once(chunks.iter().copied());
            kept.iter().map(|chunk| chunk.id).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[second, prose, speeds, first]), [speeds.id, prose.id]);
        assert_eq!(
            kept(&[speeds, names, second]),
            [speeds.id],
            "one column of two"
        );
        assert_eq!(
            kept(&[first, prose, second]),
            [first.id, prose.id, second.id]
        );
        // The same bytes of another document are others.
        assert_eq!(kept(&[&other[3], second]), [other[3].id, second.id]);
    }
}
