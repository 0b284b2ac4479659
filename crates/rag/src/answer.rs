//! Questions to cited answers, or refusals.

use cornu_core::{Grant, Principal, Trace};
use cornu_remote::Disclosure;
use cornu_store::Snapshot;

use crate::anchors::{Anchor, anchors, named, words_of};
use crate::error::RagError;
use crate::evidence::{Statement, choose, cosine};
use crate::explain;
use crate::index::LiveRagIndex;
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
    /// Costs a hybrid search and the embedding of at most 32 sentences.
    ///
    /// # Errors
    /// [`RagError::ForeignThreshold`] for a threshold of another model,
    /// [`RagError::AskerNotPublic`] where only public texts may be sent to the provider, and as the
    /// searches. A refusal is no error.
    pub fn answer(
        &self,
        principal: &Principal,
        question: &str,
        threshold: &Threshold,
    ) -> Result<Response, RagError> {
        self.check_may_answer(principal, threshold)?;
        let snapshot = self.snapshot(principal)?;
        Ok(self.answer_on(&snapshot, question, threshold)?.0)
    }

    /// What has to hold before a question is answered.
    pub(crate) fn check_may_answer(
        &self,
        principal: &Principal,
        threshold: &Threshold,
    ) -> Result<(), RagError> {
        threshold.check_provider(self.provider.fingerprint())?;
        self.check_disclosure(principal)
    }

    /// The answer, and the search that it rests on.
    pub(crate) fn answer_on(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        threshold: &Threshold,
    ) -> Result<(Response, Routes), RagError> {
        let judged = self.judge(snapshot, question)?;
        let corpus_moved = threshold.is_of_another_view(snapshot.view());
        let mut trace = Trace::new();
        explain::question(&mut trace, &self.options.tokenizer, question);
        judged.routes.note(&mut trace, self);
        let step = trace.step("threshold");
        step.note("metric", "cosine")
            .note("value", threshold.value())
            .note("set", threshold.origin().set.as_str());
        if let Some(moved) = corpus_moved {
            step.note("corpus_moved", moved);
        }
        judged.note(&mut trace, threshold.value());
        let outcome = self.decide(&judged, question, threshold.value())?;
        outcome.note(&mut trace);
        let response = Response {
            outcome,
            corpus_moved,
            trace,
        };
        Ok((response, judged.routes))
    }

    /// An answer embeds sentences of what the asker sees, so who asks a provider that may be sent
    /// public texts only has to be one who sees public texts only.
    fn check_disclosure(&self, principal: &Principal) -> Result<(), RagError> {
        let public_only = self.options.disclosure == Some(Disclosure::PublicOnly);
        let sees_more = principal
            .grants()
            .any(|grant| grant.as_str() != Grant::PUBLIC);
        if public_only && sees_more {
            Err(RagError::AskerNotPublic)
        } else {
            Ok(())
        }
    }

    /// Everything that the decision needs but the threshold.
    pub(crate) fn judge(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
    ) -> Result<Judged, RagError> {
        let routes = self.routes(snapshot, question, self.options.evidence)?;
        let anchors = match self.options.entity_check {
            true => anchors(&self.options.tokenizer, question),
            false => Vec::new(),
        };
        let mut hits = routes.hits(snapshot)?;
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
            evidence.push(Evidence {
                similarity: similarity(snapshot, &routes, &hit)?,
                names: named(&anchors, &words),
                hit,
            });
        }
        Ok(Judged {
            routes,
            anchors,
            evidence,
        })
    }

    fn decide(&self, judged: &Judged, question: &str, threshold: f64) -> Result<Outcome, RagError> {
        let refused = |reason| Ok(Outcome::Refused(Refusal { reason }));
        let Some(best) = judged.best() else {
            return refused(Reason::NothingVisible);
        };
        if best < threshold {
            return refused(Reason::BelowThreshold { best, threshold });
        }
        let missing: Vec<String> = judged
            .anchors
            .iter()
            .enumerate()
            .filter(|(at, _)| judged.best_naming(*at) < threshold)
            .map(|(_, anchor)| anchor.text().to_owned())
            .collect();
        if !missing.is_empty() {
            return refused(Reason::AnotherEntity { missing });
        }
        let chunks: Vec<_> = judged
            .evidence
            .iter()
            .filter(|evidence| evidence.similarity >= threshold && evidence.names_something())
            .map(|evidence| &evidence.hit.chunk)
            .collect();
        let statements = choose(
            &chunks,
            question,
            &judged.routes.query.view(),
            &*self.provider,
            &self.options.tokenizer,
            self.options.sentences,
        )?;
        if statements.is_empty() {
            // Chunks of white space alone, which no chunker of ours makes.
            return refused(Reason::BelowThreshold {
                best: -1.0,
                threshold,
            });
        }
        Ok(Outcome::Answered(Answer { statements }))
    }
}

/// The evidence for a question, with what it is judged by.
pub(crate) struct Judged {
    routes: Routes,
    anchors: Vec<Anchor>,
    evidence: Vec<Evidence>,
}

struct Evidence {
    hit: Hit,
    /// Cosine of question and chunk.
    similarity: f64,
    /// For each anchor, whether the chunk names it.
    names: Vec<bool>,
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
            explain::hit(trace, at + 1, &evidence.hit)
                .note("similarity", evidence.similarity)
                .note("names", named)
                .note("verdict", verdict);
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
    /// The answer, if there is one.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answered(answer) => Some(answer),
            Self::Refused(_) => None,
        }
    }

    /// The refusal, if it is one.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Answered(_) => None,
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
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Answered(answer) => answer.fmt(f),
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
        }
    }
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
