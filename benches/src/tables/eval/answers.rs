//! Answers and refusals: who answers what, and what the citations hold.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use cornu::{Answer, Threshold};
use cornu_core::ChunkId;
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::questions::{Question, Ranks};
use cornu_text::Tokenizer;

use super::Set;
use crate::live::{Live, ranks_of};
use crate::paired::{self, Samples, put};

/// What a question got.
enum Reply {
    Refused,
    /// The cited chunks and what was said with each, best first.
    Cited(Vec<(ChunkId, String)>),
}

/// The rows of `teaching` and of `live` with both thresholds.
pub(super) fn rows(set: &Set<'_>, dataset: &str, questions: &[&Question]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut teaching = Samples::new();
    for question in questions {
        let ranking = set.teaching.ask(&question.question)?.sparse;
        let ranks = ranks_of(&ranking, &set.teaching.gold(question));
        retrieved(&mut teaching, &ranks);
        // Its answer is its best window, cited whole; there is none where no word is found.
        let best = ranking.ids().next().map(|id| {
            let chunk = set
                .teaching
                .chunks
                .get(id)
                .context("a chunk of the index")?;
            Ok::<_, anyhow::Error>((*id, chunk.text.clone()))
        });
        let reply = match best.transpose()? {
            None => Reply::Refused,
            Some(cited) => Reply::Cited(vec![cited]),
        };
        judge(&mut teaching, &set.teaching, question, &reply)?;
    }
    rows.push(row(dataset, "teaching", &teaching, set.seed)?);
    for (system, fitted) in [("live-strict", &set.strict), ("live-lenient", &set.lenient)] {
        let mut samples = Samples::new();
        for question in questions {
            let ranking = set.live.ask(&question.question)?.ranking(set.route())?;
            retrieved(&mut samples, &ranks_of(&ranking, &set.live.gold(question)));
            let reply = ask(&set.live, &question.question, &fitted.threshold)?;
            judge(&mut samples, &set.live, question, &reply)?;
        }
        rows.push(row(dataset, system, &samples, set.seed)?);
    }
    Ok(rows)
}

/// With the number of questions of either kind.
fn row(dataset: &str, system: &str, samples: &Samples, seed: u64) -> Result<Row> {
    let mut row = paired::row(dataset, system, samples, seed)?;
    for (name, of) in [
        ("answerable", "refused_answerable"),
        ("unanswerable", "refused_unanswerable"),
    ] {
        let n = samples.get(of).map_or(0, Vec::len) as u64;
        let count = Measure::exact(n as f64, "count", n);
        row.metrics.insert(name.to_owned(), count);
    }
    Ok(row)
}

fn ask(live: &Live, question: &str, threshold: &Threshold) -> Result<Reply> {
    let response = live.index.answer(&live.everybody, question, threshold)?;
    let cited = |answer: &Answer| {
        let statements = answer.statements.iter();
        statements
            .map(|statement| (statement.citation.chunk, statement.citation.quote.clone()))
            .collect()
    };
    let answer = response.outcome.answer();
    Ok(answer.map_or(Reply::Refused, |answer| Reply::Cited(cited(answer))))
}

/// Recall, whatever is answered afterwards.
fn retrieved(samples: &mut Samples, ranks: &Ranks) {
    put(samples, "recall@1", ranks.recall(1));
    put(samples, "recall@5", ranks.recall(5));
}

/// What of a reply is right. Citations are looked at where there is an answer to cite.
fn judge(samples: &mut Samples, live: &Live, question: &Question, reply: &Reply) -> Result<()> {
    let refused = Some(f64::from(u8::from(matches!(reply, Reply::Refused))));
    match (question.is_answerable(), question.near_miss) {
        (true, _) => put(samples, "refused_answerable", refused),
        (false, near) => {
            put(samples, "refused_unanswerable", refused);
            put(samples, "refused_near_miss", refused.filter(|_| near));
        }
    }
    let Reply::Cited(statements) = reply else {
        return Ok(());
    };
    put(samples, "unsupported", Some(unsupported(live, statements)?));
    if !question.is_answerable() {
        return Ok(());
    }
    let gold: BTreeSet<ChunkId> = live.gold(question).into_iter().flatten().collect();
    let holding = statements
        .iter()
        .filter(|(id, _)| gold.contains(id))
        .count();
    put(
        samples,
        "citations_with_evidence",
        Some(holding as f64 / statements.len() as f64),
    );
    put(
        samples,
        "answers_citing_evidence",
        Some(f64::from(u8::from(holding > 0))),
    );
    Ok(())
}

/// The share of an answer's words that its cited chunks do not hold.
fn unsupported(live: &Live, statements: &[(ChunkId, String)]) -> Result<f64> {
    let tokenizer = Tokenizer::new();
    let words = |text: &str| -> Vec<String> {
        let tokens = tokenizer.tokens(text).into_iter();
        tokens.map(|token| token.text).collect()
    };
    let mut held = BTreeSet::new();
    for (id, _) in statements {
        let chunk = live.chunks.get(id).context("a cited chunk")?;
        held.extend(words(&chunk.text));
    }
    let said: Vec<String> = statements
        .iter()
        .flat_map(|(_, quote)| words(quote))
        .collect();
    let lacking = said.iter().filter(|word| !held.contains(*word)).count();
    Ok(lacking as f64 / said.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cornu::{HashEmbeddingProvider, RagOptions};
    use cornu_core::{Acl, DocId, Document};
    use cornu_eval::questions::Alternative;

    use super::*;

    fn live() -> Live {
        let source = "# Gradients\n\nGradients add up.\n\n# Steps\n\nCall zero_grad first.\n";
        let document = Document::new(DocId::new("a.md").unwrap(), source, Acl::public());
        let provider = Arc::new(HashEmbeddingProvider::default());
        Live::build(&[&document], RagOptions::default().chunker, provider).unwrap()
    }

    fn question(evidence: &[&str], near_miss: bool) -> Question {
        let piece = |phrase: &&str| {
            vec![Alternative {
                doc: "a.md".to_owned(),
                phrase: (*phrase).to_owned(),
            }]
        };
        Question {
            id: "q".to_owned(),
            kind: "paraphrase".to_owned(),
            split: "test".to_owned(),
            lang: "en".to_owned(),
            question: "?".to_owned(),
            answer: None,
            evidence: evidence.iter().map(piece).collect(),
            near_miss,
        }
    }

    #[test]
    fn citations_count_where_there_is_an_answer_and_refusals_by_kind_of_question() {
        let live = live();
        let id = |phrase: &str| {
            let mut chunks = live.chunks.values();
            chunks.find(|chunk| chunk.text.contains(phrase)).unwrap().id
        };
        let mut samples = Samples::new();
        let mut judge = |question: &Question, reply: &Reply| {
            judge(&mut samples, &live, question, reply).unwrap();
        };
        let answerable = question(&["Gradients add up"], false);
        let both = Reply::Cited(vec![
            (id("add up"), "Gradients add up.".to_owned()),
            (id("zero_grad"), "Call zero_grad first, please.".to_owned()),
        ]);
        judge(&answerable, &both);
        judge(&answerable, &Reply::Refused);
        judge(&question(&[], true), &Reply::Refused);
        judge(&question(&[], false), &both);
        let expected = [
            ("answers_citing_evidence", vec![1.0]),
            ("citations_with_evidence", vec![0.5]),
            ("refused_answerable", vec![0.0, 1.0]),
            ("refused_near_miss", vec![1.0]),
            ("refused_unanswerable", vec![1.0, 0.0]),
        ];
        for (name, values) in expected {
            assert_eq!(samples[name], values, "{name}");
        }
        // "please" stands in no chunk.
        assert!(
            samples["unsupported"]
                .iter()
                .all(|&share| share > 0.0 && share < 0.2)
        );
    }

    #[test]
    fn extracts_hold_no_word_of_their_own() {
        let live = live();
        let threshold = Threshold::by_hand(-1.0, live.index.provider()).unwrap();
        let Reply::Cited(statements) = ask(&live, "What adds up?", &threshold).unwrap() else {
            panic!("refused at a threshold that refuses nothing");
        };
        assert_eq!(unsupported(&live, &statements).unwrap(), 0.0);
        let threshold = Threshold::by_hand(1.0, live.index.provider()).unwrap();
        let reply = ask(&live, "What adds up?", &threshold).unwrap();
        assert!(matches!(reply, Reply::Refused));
    }
}
