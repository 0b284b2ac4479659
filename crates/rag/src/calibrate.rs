//! A threshold from questions that have an answer, and questions that have none.

use cornu_core::Principal;

use crate::error::RagError;
use crate::index::LiveRagIndex;
use crate::interval::Rate;
use crate::threshold::{Metric, Origin, Threshold, hexadecimal};

/// With fewer questions of a kind than this, a calibration says how little they tell.
const FEW: usize = 100;

/// A question of which is known whether the documents answer it.
///
/// ```
/// let question = cornu::Labelled::new("Who wrote it?", false);
/// assert!(!question.answerable);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// The question.
    pub question: String,
    /// Whether there is an answer in what the principal sees.
    pub answerable: bool,
}

impl Labelled {
    /// A question with its label.
    pub fn new(question: impl Into<String>, answerable: bool) -> Self {
        Self {
            question: question.into(),
            answerable,
        }
    }
}

/// Which error a threshold keeps to a rate.
///
/// ```
/// assert_eq!(cornu::Target::default(), cornu::Target::FalseAnswers(0.1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Target {
    /// Questions without an answer that are answered all the same, as a part of all questions
    /// without an answer; between 0 and 1.
    FalseAnswers(f64),
    /// Questions with an answer that are refused, as a part of all questions with an answer;
    /// between 0 and 1.
    FalseRefusals(f64),
}

impl Default for Target {
    fn default() -> Self {
        Self::FalseAnswers(0.1)
    }
}

/// A threshold, and what it is expected to do to questions like those it was fitted on.
///
/// See [`LiveRagIndex::calibrate`].
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Calibration {
    /// The threshold.
    pub threshold: Threshold,
    /// Number of questions with an answer.
    pub answerable: usize,
    /// Number of questions without.
    pub unanswerable: usize,
    /// Questions with an answer that will be refused.
    pub false_refusals: Rate,
    /// Questions without an answer that will be answered.
    pub false_answers: Rate,
    /// What the numbers do not show.
    pub notes: Vec<String>,
}

impl LiveRagIndex {
    /// Fits the threshold at which the targeted error is as rare as asked, by split conformal
    /// prediction: on the one kind of questions the threshold is fitted, on the other the price is
    /// counted.
    ///
    /// A question's confidence is the largest threshold at which it would be
    /// [answered](Self::answer), its anchors included. With u₁ ≤ … ≤ uₙ the confidences of the
    /// questions without an answer and a target of α, the threshold lies just above the
    /// ⌈(1 − α)(n + 1)⌉-th: a new question of their kind is answered with a probability of at most
    /// α, whatever the distribution (Vovk, Gammerman and Shafer 2005). How far the rate of this one
    /// threshold may be from that, the interval says. The other error is a plain rate with Clopper
    /// and Pearson's interval, since the threshold does not depend on those questions.
    ///
    /// All of this holds for questions like the given ones, over the documents that `principal`
    /// sees now; the threshold says which these were. It is for the index's owner: hand the
    /// threshold only to askers who may see what it was fitted on.
    ///
    /// # Errors
    /// [`RagError::Calibration`] when a kind of questions is missing, the target is no rate, or the
    /// similarities leave no room; and as [`search_hybrid`](Self::search_hybrid).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use cornu::*;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// # let index = LiveRagIndex::open(path, Arc::new(HashEmbeddingProvider::default()), RagOptions::default())?;
    /// # index.ingest(&Document::new(DocId::new("a.md")?, "Gradients are cleared by zero_grad.", Acl::public()))?;
    /// let questions = [
    ///     Labelled::new("How are gradients cleared?", true),
    ///     Labelled::new("Who won the race?", false),
    /// ];
    /// let public = Principal::public();
    /// let fitted = index.calibrate(&public, "two", &questions, Target::FalseAnswers(0.5))?;
    /// assert!(fitted.notes[0].contains("1 question"));
    /// assert!(index.answer(&public, "Who won the race?", &fitted.threshold)?.outcome.answer().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn calibrate(
        &self,
        principal: &Principal,
        set: &str,
        questions: &[Labelled],
        target: Target,
    ) -> Result<Calibration, RagError> {
        let snapshot = self.snapshot(principal)?;
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for labelled in questions {
            let confidence = self.judge(&snapshot, &labelled.question)?.confidence();
            match labelled.answerable {
                true => with.push(confidence),
                false => without.push(confidence),
            }
        }
        with.sort_by(f64::total_cmp);
        without.sort_by(f64::total_cmp);
        let fitted = fit(&with, &without, target)?;
        let origin = Origin {
            metric: Metric::Cosine,
            set: set.to_owned(),
            view: Some(hexadecimal(snapshot.view().digest())),
            provider: self.provider.fingerprint().clone(),
        };
        Ok(Calibration {
            threshold: Threshold::checked(fitted.value, origin)?,
            answerable: with.len(),
            unanswerable: without.len(),
            false_refusals: fitted.false_refusals,
            false_answers: fitted.false_answers,
            notes: fitted.notes,
        })
    }
}

struct Fitted {
    value: f64,
    false_refusals: Rate,
    false_answers: Rate,
    notes: Vec<String>,
}

/// Both lists ascending.
fn fit(with: &[f64], without: &[f64], target: Target) -> Result<Fitted, RagError> {
    let problem = |problem: &str| RagError::Calibration {
        problem: problem.to_owned(),
    };
    let (Some(highest), Some(lowest)) = (without.last(), with.first()) else {
        return Err(problem(
            "it takes questions with an answer and questions without; give some of each",
        ));
    };
    let (Target::FalseAnswers(rate) | Target::FalseRefusals(rate)) = target;
    if !(rate > 0.0 && rate < 1.0) {
        return Err(problem(
            "the target is no rate; give a number between 0 and 1",
        ));
    }
    let mut notes = Vec::new();
    let refused = |value: f64| with.iter().filter(|&&score| score < value).count();
    let answered = |value: f64| without.iter().filter(|&&score| score >= value).count();
    let (value, false_refusals, false_answers) = match target {
        Target::FalseAnswers(rate) => {
            let n = without.len();
            let wanted = ((1.0 - rate) * (n + 1) as f64).ceil() as usize;
            let rank = wanted.clamp(1, n);
            if wanted > n {
                notes.push(unattainable(n, "without", rate));
            }
            let bound = without.get(rank - 1).copied().unwrap_or(*highest);
            let value = bound.next_up().max(-1.0);
            if value > 1.0 {
                return Err(problem(
                    "a question without an answer is as similar to a text as can be; check its label",
                ));
            }
            let conformal = Rate::beyond(n + 1 - rank, n);
            (value, Rate::observed(refused(value), with.len()), conformal)
        }
        Target::FalseRefusals(rate) => {
            let m = with.len();
            let wanted = (rate * (m + 1) as f64).floor() as usize;
            let rank = wanted.clamp(1, m);
            if wanted == 0 {
                notes.push(unattainable(m, "with", rate));
            }
            let value = with.get(rank - 1).copied().unwrap_or(*lowest);
            let never = refused(-1.0);
            let conformal = if value < -1.0 {
                notes.push(format!(
                    "{never} of {m} questions with an answer are refused at any threshold, since \
                     no evidence names what they name; the rate cannot be kept to {rate}"
                ));
                Rate::observed(never, m)
            } else {
                Rate::beyond(rank, m)
            };
            let value = value.clamp(-1.0, 1.0);
            let price = Rate::observed(answered(value), without.len());
            (value, conformal, price)
        }
    };
    for (count, kind, of, rate) in [
        (without.len(), "without", "false answers", false_answers),
        (with.len(), "with", "false refusals", false_refusals),
    ] {
        if count < FEW {
            notes.push(format!(
                "{count} question{} {kind} an answer {} little: the rate of {of} may lie anywhere \
                 from {:.1} to {:.1} %",
                if count == 1 { "" } else { "s" },
                if count == 1 { "tells" } else { "tell" },
                rate.low * 100.0,
                rate.high * 100.0
            ));
        }
    }
    Ok(Fitted {
        value,
        false_refusals,
        false_answers,
        notes,
    })
}

fn unattainable(count: usize, kind: &str, rate: f64) -> String {
    format!(
        "{count} question{} {kind} an answer cannot promise a rate of {rate}: the least that they \
         can is {:.3}; give {} or more",
        if count == 1 { "" } else { "s" },
        1.0 / (count + 1) as f64,
        (1.0 / rate).ceil() as usize - 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(range: std::ops::Range<i32>) -> Vec<f64> {
        range.map(|at| f64::from(at) / 100.0).collect()
    }

    #[test]
    fn the_threshold_is_the_conformal_quantile() {
        // 19 unanswerable at 0.00 … 0.18: the 18th of 19 for a rate of a tenth.
        let fitted = fit(&scores(15..35), &scores(0..19), Target::FalseAnswers(0.1)).unwrap();
        assert!(fitted.value > 0.17 && fitted.value < 0.170_001);
        assert!((fitted.false_answers.expected - 0.1).abs() < 1e-12);
        assert_eq!(fitted.false_refusals, Rate::observed(3, 20)); // 0.15, 0.16, 0.17
    }

    #[test]
    fn refusals_can_be_the_target() {
        let fitted = fit(&scores(15..34), &scores(0..30), Target::FalseRefusals(0.1)).unwrap();
        assert_eq!(fitted.value, 0.16);
        assert!((fitted.false_refusals.expected - 0.1).abs() < 1e-12);
        assert_eq!(fitted.false_answers, Rate::observed(14, 30));
    }

    #[test]
    fn few_questions_say_so_and_the_bound_is_their_best() {
        let fitted = fit(&[0.9], &[0.1, 0.2, 0.3], Target::FalseAnswers(0.01)).unwrap();
        assert!(fitted.value > 0.3 && fitted.value < 0.300_001);
        assert_eq!(fitted.false_answers.expected, 0.25);
        assert!(
            fitted.notes[0].contains("give 99 or more"),
            "{:?}",
            fitted.notes
        );
    }

    #[test]
    fn questions_that_are_never_answered_are_counted() {
        let never = f64::NEG_INFINITY;
        let fitted = fit(
            &[never, never, 0.5],
            &[never, 0.1],
            Target::FalseRefusals(0.3),
        )
        .unwrap();
        assert_eq!(fitted.value, -1.0);
        assert_eq!(fitted.false_refusals, Rate::observed(2, 3));
        assert_eq!(fitted.false_answers, Rate::observed(1, 2));
        let fitted = fit(&[0.5], &[never], Target::FalseAnswers(0.5)).unwrap();
        assert_eq!(fitted.value, -1.0);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(fit(&[], &[0.1], Target::default()).is_err());
        assert!(fit(&[0.1], &[], Target::default()).is_err());
        for rate in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(fit(&[0.1], &[0.1], Target::FalseAnswers(rate)).is_err());
        }
        assert!(fit(&[0.1], &[1.0], Target::default()).is_err());
    }
}
