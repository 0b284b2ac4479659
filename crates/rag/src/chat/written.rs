//! What is left of a reply, and what is not.

use std::fmt;

use cornu_core::{Fingerprint, Trace};

use super::{Doubt, Judgement, Unsupported};
use crate::evidence::Citation;

/// An answer that a model wrote, of which every sentence was checked.
///
/// ```
/// use cornu::chat::{Sentence, Written};
/// let sentence = Sentence { text: "It needs 24 GB [2].".to_owned(), cites: vec![2], doubt: None };
/// let written = Written { sentences: vec![sentence], sources: vec![] };
/// assert_eq!(written.text(), "It needs 24 GB [2].");
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Written {
    /// The sentences, in the order of the reply.
    pub sentences: Vec<Sentence>,
    /// What they cite, in order of number.
    pub sources: Vec<Cited>,
}

/// One sentence of a written answer.
///
/// ```
/// let held = cornu::chat::Sentence { text: "Yes [1].".to_owned(), cites: vec![1], doubt: None };
/// assert!(held.doubt.is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Sentence {
    /// As the model wrote it, markers included.
    pub text: String,
    /// The numbers of its sources.
    pub cites: Vec<usize>,
    /// Why it is not held; only where doubtful sentences were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
}

/// A source of a written answer, under the number by which the model was shown it.
///
/// ```
/// fn first(written: &cornu::chat::Written) -> Option<String> {
///     let cited = written.sources.first()?;
///     Some(format!("[{}] {}", cited.number, cited.citation))
/// }
/// assert_eq!(first(&cornu::chat::Written { sentences: vec![], sources: vec![] }), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Cited {
    /// What stands in a marker.
    pub number: usize,
    /// The passage and its place.
    pub citation: Citation,
}

/// What became of a model's reply.
///
/// ```
/// fn warning(response: &cornu::Response) -> Option<&str> {
///     response.chat.as_ref()?.degraded.as_deref()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ChatReport {
    /// The model's name.
    pub model: String,
    /// The sentences that are not part of the answer. **Nobody vouches for them**: they are for
    /// logs and for the curious, not for a reader.
    pub dropped: Vec<Dropped>,
    /// Whether the reply ended for another reason than that the model was done.
    pub cut: bool,
    /// Whether the answer is, by its letters, in another language than the question.
    pub other_language: bool,
    /// Why the model gave no text, and the sentences of the evidence stand in for it. It may tell
    /// how long was waited, so it is the one thing here that is not the same each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
}

/// A sentence that was dropped.
///
/// ```
/// use cornu::chat::{Doubt, Dropped};
/// let dropped = Dropped { text: "Trust me.".to_owned(), doubt: Doubt::Uncited };
/// assert_eq!(dropped.doubt.to_string(), "cites nothing");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Dropped {
    /// As the model wrote it.
    pub text: String,
    /// Why.
    pub doubt: Doubt,
}

impl Written {
    /// The held sentences, with those that may be shown in doubt; what is dropped goes to the report.
    /// `None` when no sentence is held.
    pub(super) fn of(
        judged: Vec<Judgement>,
        citations: Vec<Citation>,
        unsupported: Unsupported,
        report: &mut ChatReport,
    ) -> Option<Self> {
        let any_held = judged.iter().any(|one| one.doubt.is_none());
        let mut sentences = Vec::new();
        for Judgement { text, cites, doubt } in judged {
            let flagged = unsupported == Unsupported::Flag && any_held;
            match doubt {
                Some(doubt) if doubt.is_final() || !flagged => {
                    report.dropped.push(Dropped { text, doubt });
                }
                doubt => {
                    let cites = cites.into_iter().map(|at| at + 1).collect();
                    sentences.push(Sentence { text, cites, doubt });
                }
            }
        }
        let cited = |number: usize| sentences.iter().any(|one| one.cites.contains(&number));
        let sources = (1..)
            .zip(citations)
            .filter(|(number, _)| cited(*number))
            .map(|(number, citation)| Cited { number, citation })
            .collect();
        any_held.then_some(Self { sentences, sources })
    }

    /// The sentences, one space between them; a doubtful one says so.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for sentence in &self.sentences {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&sentence.text);
            if let Some(doubt) = &sentence.doubt {
                out.push_str(&format!(" (not held: {doubt})"));
            }
        }
        out
    }

    pub(crate) fn note(&self, trace: &mut Trace) {
        for sentence in &self.sentences {
            let cites: Vec<u64> = sentence.cites.iter().map(|&at| at as u64).collect();
            let step = trace.step("claim");
            step.note("text", sentence.text.as_str())
                .note("cites", cites);
            match &sentence.doubt {
                Some(doubt) => step.note("flagged", doubt.to_string()),
                None => step.note("verdict", "held"),
            };
        }
        for cited in &self.sources {
            trace
                .step("source")
                .note("number", cited.number)
                .note("citation", cited.citation.to_string())
                .note("span", cited.citation.span.to_string());
        }
        trace
            .step("answer")
            .note("sentences", self.sentences.len())
            .note("sources", self.sources.len());
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text())?;
        for cited in &self.sources {
            write!(f, "\n[{}] {}", cited.number, cited.citation)?;
        }
        Ok(())
    }
}

impl ChatReport {
    pub(super) fn of(fingerprint: &Fingerprint) -> Self {
        Self {
            model: fingerprint.model().to_owned(),
            dropped: Vec::new(),
            cut: false,
            other_language: false,
            degraded: None,
        }
    }

    pub(super) fn note(&self, trace: &mut Trace) {
        for dropped in &self.dropped {
            trace
                .step("dropped")
                .note("text", dropped.text.as_str())
                .note("why", dropped.doubt.to_string());
        }
        trace
            .step("review")
            .note("dropped", self.dropped.len())
            .note("cut", self.cut)
            .note("other_language", self.other_language);
    }
}
