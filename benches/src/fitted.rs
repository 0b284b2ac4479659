//! What is fitted, on the dev questions of `questions-ext` alone.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use cornu::{Calibration, Labelled, Target};
use cornu_core::ChunkId;
use cornu_eval::questions::Question;
use cornu_fuse::{DevQuery, FitOptions, FittedAlpha, fit_alpha};

use crate::live::{Live, ranks_of};

/// The name under which a fit remembers its questions.
pub const SET: &str = "questions-ext dev";

/// The chunks that satisfy each piece of a question.
type Gold = Vec<BTreeSet<ChunkId>>;

/// α of the convex fusion: the value of the grid with the best recall@5 on the answerable dev
/// questions.
///
/// # Errors
/// A question of another split; what the searches and the fit say.
pub fn alpha(live: &Live, questions: &[Question], seed: u64) -> Result<FittedAlpha> {
    let mut dev: Vec<DevQuery<ChunkId, Gold>> = Vec::new();
    for question in dev_only(questions)?.filter(|question| question.is_answerable()) {
        let routes = live.ask(&question.question)?;
        dev.push(DevQuery {
            dense: routes.dense,
            sparse: routes.sparse,
            relevant: live.gold(question),
        });
    }
    let options = FitOptions {
        seed,
        ..FitOptions::default()
    };
    Ok(fit_alpha(&dev, &options, |fused, gold| {
        ranks_of(fused, gold).recall(5).unwrap_or(0.0)
    })?)
}

/// The threshold at which the targeted error is as rare as asked.
///
/// # Errors
/// A question of another split; what the calibration says.
pub fn threshold(live: &Live, questions: &[Question], target: Target) -> Result<Calibration> {
    let labelled: Vec<Labelled> = dev_only(questions)?
        .map(|question| Labelled::new(&question.question, question.is_answerable()))
        .collect();
    Ok(live
        .index
        .calibrate(&live.everybody, SET, &labelled, target)?)
}

/// A fit that saw a test question would flatter every figure after it.
fn dev_only(questions: &[Question]) -> Result<impl Iterator<Item = &Question>> {
    let foreign = questions.iter().find(|question| question.split != "dev");
    foreign.map_or(Some(()), |_| None).with_context(|| {
        let id = foreign.map_or("", |question| question.id.as_str());
        format!("{id} is no dev question; fit on dev only")
    })?;
    Ok(questions.iter())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cornu::{HashEmbeddingProvider, RagOptions};
    use cornu_core::{Acl, DocId, Document};
    use cornu_eval::questions::Alternative;

    use super::*;

    fn question(id: &str, split: &str, text: &str, phrase: Option<&str>) -> Question {
        let alternative = |phrase: &str| Alternative {
            doc: "a.md".to_owned(),
            phrase: phrase.to_owned(),
        };
        Question {
            id: id.to_owned(),
            kind: "paraphrase".to_owned(),
            split: split.to_owned(),
            lang: "en".to_owned(),
            question: text.to_owned(),
            answer: None,
            evidence: phrase
                .map(|phrase| vec![alternative(phrase)])
                .into_iter()
                .collect(),
            near_miss: false,
        }
    }

    #[test]
    fn nothing_is_fitted_on_a_test_question() {
        let source = "# Gradients\n\nGradients add up.\n\n# Steps\n\nCall zero_grad first.\n";
        let document = Document::new(DocId::new("a.md").unwrap(), source, Acl::public());
        let provider = Arc::new(HashEmbeddingProvider::default());
        let live = Live::build(&[&document], RagOptions::default().chunker, provider).unwrap();
        let mut questions = vec![
            question("d1", "dev", "What adds up?", Some("Gradients add up")),
            question("d2", "dev", "Who won the race?", None),
        ];
        let fitted = alpha(&live, &questions, 1).unwrap();
        assert_eq!((fitted.queries, fitted.dev_mean), (1, 1.0));
        let target = Target::FalseAnswers(0.5);
        let calibrated = threshold(&live, &questions, target).unwrap();
        assert_eq!((calibrated.answerable, calibrated.unanswerable), (1, 1));
        assert_eq!(calibrated.threshold.origin().set, SET);

        questions.push(question(
            "t1",
            "test",
            "What first?",
            Some("Call zero_grad"),
        ));
        for error in [
            alpha(&live, &questions, 1).err().unwrap(),
            threshold(&live, &questions, target).err().unwrap(),
        ] {
            assert!(
                error.to_string().contains("t1 is no dev question"),
                "{error}"
            );
        }
    }
}
