//! Refusal and calibration on questions that were not written for them.
//!
//! The hash provider knows no meaning, so these rates are no figures of quality: they show that the
//! rules separate what they should, and that a calibration keeps what it promises.

use std::path::Path;

use cornu::{Acl, Labelled, Principal, Rate, Target};

use crate::world::Home;

struct Asked {
    question: Labelled,
    near_miss: bool,
    dev: bool,
}

/// The corpus of `bench-data`, indexed, and its extended questions; `None` where they are not there.
fn set() -> Option<(Home, Vec<Asked>)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench-data");
    let corpus = data.join("corpus");
    let questions = std::fs::read_to_string(data.join("questions-ext.jsonl"));
    let (Ok(questions), true) = (questions, corpus.is_dir()) else {
        eprintln!("SKIPPED: {} has no corpus and questions", data.display());
        return None;
    };
    let home = Home::wide();
    let report = home
        .index
        .ingest_tree(&corpus, |_| Acl::public(), |_| {})
        .unwrap();
    assert!(report.failed.is_empty(), "{report:?}");
    let lines = questions.lines().filter(|line| !line.trim().is_empty());
    let read = lines.map(|line| {
        let question: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = question["question"].as_str().unwrap();
        Asked {
            question: Labelled::new(text, !question["answer"].is_null()),
            near_miss: question["near_miss"].as_bool().unwrap(),
            dev: question["split"] == "dev",
        }
    });
    Some((home, read.collect()))
}

/// How many of some questions are refused.
fn refused<'a>(
    home: &Home,
    threshold: &cornu::Threshold,
    questions: impl Iterator<Item = &'a Asked>,
) -> (usize, usize) {
    let (mut refused, mut of) = (0, 0);
    for asked in questions {
        let text = &asked.question.question;
        let response = home
            .index
            .answer(&Principal::public(), text, threshold)
            .unwrap();
        of += 1;
        if let Some(refusal) = response.outcome.refusal() {
            refused += 1;
            if std::env::var_os("CORNU_SHOW").is_some() {
                eprintln!("{}: {text}: {refusal}", asked.question.answerable);
            }
        }
    }
    (refused, of)
}

/// The rates are printed; what is asserted is that names alone, without a threshold, tell the two
/// kinds apart.
#[test]
fn names_separate_near_misses_from_questions_with_an_answer() {
    let Some((home, questions)) = set() else {
        return;
    };
    let threshold = home.threshold(-1.0);
    let near = questions.iter().filter(|asked| asked.near_miss);
    let near = refused(&home, &threshold, near);
    let answerable = questions.iter().filter(|asked| asked.question.answerable);
    let answerable = refused(&home, &threshold, answerable);
    let rate = |(refused, of): (usize, usize)| Rate::observed(refused, of);
    eprintln!(
        "near misses refused: {} of {}: {}",
        near.0,
        near.1,
        rate(near)
    );
    eprintln!(
        "answerable refused: {} of {}: {}",
        answerable.0,
        answerable.1,
        rate(answerable)
    );
    assert!(near.1 >= 30, "only {} near misses", near.1);
    assert!(rate(near).low > rate(answerable).high);
}

/// Fitted on the dev split, the rates of the test split lie where the calibration expects them.
#[test]
fn a_calibration_keeps_its_promise_on_other_questions() {
    let Some((home, questions)) = set() else {
        return;
    };
    let dev: Vec<Labelled> = questions
        .iter()
        .filter(|asked| asked.dev)
        .map(|asked| asked.question.clone())
        .collect();
    for target in [Target::FalseAnswers(0.25), Target::FalseRefusals(0.25)] {
        let fitted = home
            .index
            .calibrate(&Principal::public(), "questions-ext dev", &dev, target)
            .unwrap();
        let test = |answerable: bool| {
            let held_out = questions.iter().filter(|asked| !asked.dev);
            let kind = held_out.filter(|asked| asked.question.answerable == answerable);
            refused(&home, &fitted.threshold, kind)
        };
        let (with, without) = (test(true), test(false));
        let refusals = Rate::observed(with.0, with.1);
        let answers = Rate::observed(without.1 - without.0, without.1);
        eprintln!("{target:?}: threshold {:.3}", fitted.threshold.value());
        eprintln!(
            "  false refusals: expected {}, held out {refusals}",
            fitted.false_refusals
        );
        eprintln!(
            "  false answers: expected {}, held out {answers}",
            fitted.false_answers
        );
        for (expected, seen) in [
            (fitted.false_refusals, refusals),
            (fitted.false_answers, answers),
        ] {
            assert!(
                expected.low <= seen.high && seen.low <= expected.high,
                "{expected} {seen}"
            );
        }
    }
}
