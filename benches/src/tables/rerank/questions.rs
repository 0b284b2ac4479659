//! Questions with the candidates of the first stage: none of them was seen in training.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context, Result};
use cornu_core::{ChunkId, Document};
use cornu_eval::questions::Question;
use cornu_rerank::TokenSpace;

use crate::external::PublicSet;
use crate::keeping::token_vectors;
use crate::kept::Kept;
use crate::live::Live;
use crate::reranker::sets::{DEV, Split, by_hash};
use crate::second_look::{Asked, Held};

/// Candidates of a question.
pub(super) const DEPTH: usize = 50;

/// The answerable questions, each with the chunks that hold a piece of its evidence. One whose
/// evidence is in no chunk is left out: no order could show it.
pub(super) fn own(live: &Live, questions: &[&Question]) -> Result<Vec<Asked>> {
    let mut all = Vec::new();
    for question in questions {
        let gold: BTreeSet<ChunkId> = live.gold(question).into_iter().flatten().collect();
        if !gold.is_empty() {
            let found = candidates(live, &question.question, |_| true)?;
            all.push(Asked {
                text: question.question.clone(),
                found,
                gold,
            });
        }
    }
    Ok(all)
}

/// The questions of a public set's split, as the rerankers' training has it: the first by the hash
/// of their ids are for choices, the others for the final figures. A passage that was cut into several chunks stands once among the
/// candidates, with its best chunk, so that no gold passage counts twice.
pub(super) fn public(live: &Live, set: &PublicSet, split: Split) -> Result<Vec<Asked>> {
    let mut first_chunk: BTreeMap<&str, ChunkId> = BTreeMap::new();
    for (id, chunk) in &live.chunks {
        first_chunk.entry(chunk.doc.as_str()).or_insert(*id);
    }
    let order = by_hash(set.queries.iter().map(|query| query.id.as_str()));
    let of_split = |rank: usize| match split {
        Split::Dev => rank < DEV,
        Split::Test => rank >= DEV,
        Split::Train => false,
    };
    let order = order.into_iter().enumerate();
    let order = order.filter_map(|(rank, at)| of_split(rank).then_some(at));
    let mut all = Vec::new();
    for query in order.filter_map(|at| set.queries.get(at)) {
        let mut seen: BTreeMap<String, ChunkId> = BTreeMap::new();
        let found = candidates(live, &query.text, |(id, doc)| {
            let new = !seen.contains_key(doc);
            if new {
                seen.insert(doc.to_owned(), id);
            }
            new
        })?;
        let judged = set.qrels.get(&query.id);
        let relevant = judged
            .into_iter()
            .flat_map(cornu_eval::metrics::Judgments::iter);
        let gold: BTreeSet<ChunkId> = relevant
            .filter(|(_, grade)| *grade > 0)
            .filter_map(|(doc, _)| {
                // Not found: any chunk of it stands for it, so that it counts as missed.
                seen.get(doc)
                    .or_else(|| first_chunk.get(doc.as_str()))
                    .copied()
            })
            .collect();
        if !gold.is_empty() {
            all.push(Asked {
                text: query.text.clone(),
                found,
                gold,
            });
        }
    }
    Ok(all)
}

/// The hybrid search's best, as many as are taken, in its order.
fn candidates(
    live: &Live,
    question: &str,
    mut take: impl FnMut((ChunkId, &str)) -> bool,
) -> Result<Vec<Held>> {
    let found = live
        .index
        .search_hybrid(&live.everybody, question, 2 * DEPTH)?;
    let kept = found
        .hits
        .iter()
        .filter(|hit| take((hit.chunk.id, hit.chunk.doc.as_str())))
        .take(DEPTH);
    let held = kept.map(|hit| Held {
        id: hit.chunk.id,
        text: Arc::from(hit.chunk.index_text.as_str()),
        score: hit.score,
        tokens: None,
    });
    Ok(held.collect())
}

/// Gives every candidate its token vectors, each text embedded once.
pub(super) fn with_tokens(questions: &mut [Asked], space: &TokenSpace, kept: &Kept) -> Result<()> {
    let held = questions.iter().flat_map(|asked| &asked.found);
    let texts: BTreeSet<Arc<str>> = held.map(|held| Arc::clone(&held.text)).collect();
    let texts: Vec<Arc<str>> = texts.into_iter().collect();
    let known = token_vectors(space, &texts, kept)?;
    for held in questions.iter_mut().flat_map(|asked| &mut asked.found) {
        let tokens = known.get(&held.text).context("every text was embedded")?;
        held.tokens = Some(Arc::clone(tokens));
    }
    Ok(())
}

/// The first `count` by the hash of their text: some of every set.
pub(super) fn sample(questions: &[Asked], count: usize) -> Vec<Asked> {
    let order = by_hash(questions.iter().map(|asked| asked.text.as_str()));
    let chosen = order.into_iter().take(count);
    chosen.filter_map(|at| questions.get(at).cloned()).collect()
}

/// The same questions, token vectors in another precision.
pub(super) fn in_precision(questions: &[Asked], to: cornu_rerank::Precision) -> Vec<Asked> {
    let asked = |asked: &Asked| Asked {
        text: asked.text.clone(),
        gold: asked.gold.clone(),
        found: asked
            .found
            .iter()
            .map(|held| Held {
                id: held.id,
                text: Arc::clone(&held.text),
                score: held.score,
                tokens: held
                    .tokens
                    .as_ref()
                    .map(|own| Arc::new(own.to_precision(to))),
            })
            .collect(),
    };
    questions.iter().map(asked).collect()
}

/// All documents of a set, for an index.
pub(super) fn documents(set: &PublicSet) -> Vec<&Document> {
    set.passages.iter().collect()
}

#[cfg(test)]
mod tests {
    use cornu::{HashEmbeddingProvider, RagOptions};
    use cornu_core::{Acl, DocId};
    use cornu_eval::beir::queries_from;
    use cornu_eval::metrics::Qrels;

    use super::*;

    fn set() -> PublicSet {
        let long = "The horn is curved and hollow. ".repeat(120);
        let texts = [
            ("1", format!("# Horn\n\n{long}\n")),
            ("2", "# Bridge\n\nA bridge spans the river.\n".to_owned()),
            ("3", "# Rain\n\nRain falls on the river.\n".to_owned()),
        ];
        let passages = texts
            .into_iter()
            .map(|(id, text)| Document::new(DocId::new(id).unwrap(), text, Acl::public()));
        let mut qrels = Qrels::new();
        for (query, passage) in [("a", "1"), ("a", "2"), ("b", "3")] {
            qrels.insert(query, passage.to_owned(), 1);
        }
        let lines = "{\"_id\": \"a\", \"text\": \"the curved horn and the bridge\"}\n\
                     {\"_id\": \"b\", \"text\": \"where rain falls\"}\n\
                     {\"_id\": \"c\", \"text\": \"nobody judged this\"}\n";
        PublicSet {
            passages: passages.collect(),
            queries: queries_from(lines.as_bytes(), "queries.jsonl")
                .collect::<Result<_, _>>()
                .unwrap(),
            qrels,
        }
    }

    fn live(set: &PublicSet) -> Live {
        let provider = Arc::new(HashEmbeddingProvider::default());
        Live::build(&documents(set), RagOptions::default().chunker, provider).unwrap()
    }

    #[test]
    fn a_passage_stands_once_and_gold_is_its_best_chunk() {
        let set = set();
        let live = live(&set);
        assert!(live.chunks.len() > 4, "the long passage is cut");
        // So few are all for choices.
        assert!(public(&live, &set, Split::Test).unwrap().is_empty());
        let all = public(&live, &set, Split::Dev).unwrap();
        assert_eq!(all.len(), 2, "what nobody judged is not asked");
        for asked in &all {
            let docs: Vec<&str> = asked
                .found
                .iter()
                .map(|held| live.chunks[&held.id].doc.as_str())
                .collect();
            let different: BTreeSet<&str> = docs.iter().copied().collect();
            assert_eq!(docs.len(), different.len(), "{docs:?}");
            assert!(
                asked
                    .gold
                    .iter()
                    .all(|id| asked.found.iter().any(|held| held.id == *id))
            );
            assert!(
                asked
                    .found
                    .windows(2)
                    .all(|pair| pair[0].score >= pair[1].score)
            );
        }
        assert_eq!(all.iter().map(|asked| asked.gold.len()).sum::<usize>(), 3);
        let sampled = |count: usize| sample(&all, count).into_iter().map(|asked| asked.text);
        assert_eq!(sampled(9).count(), 2);
        assert_eq!(
            sampled(1).collect::<Vec<_>>(),
            sampled(2).take(1).collect::<Vec<_>>()
        );
    }
}
