//! Any history gives the graph of a fresh build, and hidden documents have no part in anything.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::testing::proptest::prelude::*;
use cornu_core::{Ranking, View};
use cornu_extract::{Questions, questions};
use cornu_hop::hoprag::{BySimilarity, EdgeRules, HopRag, HopRagOptions, HopRagPassage};
use cornu_hop::paper::{
    FirstHippoRag, FirstOptions, PaperHippoRag, PaperOptions, PaperPassage, SynonymOptions,
    WeightMode,
};
use cornu_hop::prop::{PropMode, PropOptions, PropPassage, PropRag};
use cornu_hop::{HopGraph, HopMemory, RecallOptions};

use ndarray::{Array2, arr1, arr2};

use crate::world::{Id, Source, Write, finally, put, question, view, writes};

/// A memory after the writes, one step each, and the documents with their ordinals.
fn grown(writes: &[Write]) -> (HopMemory<Id>, BTreeMap<u8, (u32, Source)>) {
    let mut memory = HopMemory::new(2);
    for (document, source) in writes {
        match source {
            Some(source) => put(&mut memory, u32::from(*document), *document, source),
            None => drop(memory.remove(u32::from(*document))),
        }
    }
    let documents = finally(writes);
    let numbered = |(document, source)| (document, (u32::from(document), source));
    (memory, documents.into_iter().map(numbered).collect())
}

/// A fresh memory of the documents, the last first, with ordinals of its own.
fn fresh(documents: BTreeMap<u8, Source>) -> (HopMemory<Id>, BTreeMap<u8, (u32, Source)>) {
    let mut memory = HopMemory::new(0);
    let mut out = BTreeMap::new();
    for (ordinal, (document, source)) in (40_u32..).zip(documents.into_iter().rev()) {
        put(&mut memory, ordinal, document, &source);
        out.insert(document, (ordinal, source));
    }
    (memory, out)
}

/// A vector that depends on the text alone.
fn vector(text: &str) -> [f32; 4] {
    let mut sums = [1.0_f32; 4];
    for (at, byte) in text.bytes().enumerate() {
        sums[(at + usize::from(byte)) % 4] += f32::from(byte % 7);
    }
    let norm = sums.iter().map(|x| x * x).sum::<f32>().sqrt();
    sums.map(|x| x / norm)
}

fn vectors<'a>(texts: impl Iterator<Item = &'a str>) -> Array2<f32> {
    let rows: Vec<[f32; 4]> = texts.map(vector).collect();
    Array2::from(rows)
}

/// Everything that an asker gets from the published methods, over what the view sees.
fn published(memory: &HopMemory<Id>, view: &View, question: &str) -> String {
    let passages = memory.visible(view);
    let dense = vectors(passages.iter().map(|passage| passage.text.as_str()));
    let question = arr1(&vector(question));
    let dense: Vec<f64> = dense.dot(&question).iter().map(|x| f64::from(*x)).collect();
    let triples = passages.iter().map(|passage| PaperPassage {
        triples: &passage.extraction.triples,
    });
    let propositions = passages.iter().map(|passage| PropPassage {
        propositions: &passage.extraction.propositions,
    });
    let (triples, propositions) = (
        triples.collect::<Vec<_>>(),
        propositions.collect::<Vec<_>>(),
    );
    let mut out = format!(
        "{:?}",
        passages
            .iter()
            .map(|passage| passage.id)
            .collect::<Vec<_>>()
    );
    for mode in [WeightMode::Published, WeightMode::Accumulated] {
        let index = PaperHippoRag::build(&triples, mode).unwrap();
        let phrases = vectors(index.phrases().iter().map(String::as_str));
        let index = index
            .with_synonyms(&phrases.view(), &SynonymOptions::default())
            .unwrap();
        let texts: Vec<String> = index.fact_texts().collect();
        let facts = vectors(texts.iter().map(String::as_str));
        let options = PaperOptions::default();
        let found = index.recall(&question.view(), &facts.view(), &dense, &options);
        out += &format!("{:?} {:?}", index.counts(), found.unwrap());
        let first = FirstHippoRag::new(&index).unwrap();
        let names = arr2(&[vector("Ada Stone"), vector("Holt")]);
        let options = FirstOptions {
            recognition: Some(0.9),
            ..FirstOptions::default()
        };
        let found = first.recall(&names.view(), &phrases.view(), &dense, &options);
        out += &format!("{:?}", found.unwrap());
    }
    for mode in [PropMode::Published, PropMode::Clean] {
        let index = PropRag::build(&propositions, mode).unwrap();
        let texts = vectors(index.propositions());
        let options = PropOptions::default();
        let found = index.recall(&question.view(), &texts.view(), &dense, None, &options);
        out += &format!("{:?} {:?}", index.entities(), found.unwrap());
    }
    let made: Vec<Questions> = passages
        .iter()
        .map(|passage| questions(passage.title.as_deref(), &passage.extraction))
        .collect();
    let nodes = passages
        .iter()
        .zip(&made)
        .map(|(passage, made)| HopRagPassage {
            document: u32::from(passage.id.0),
            keywords: passage.title.iter().cloned().collect(),
            answerable: made.answerable.len(),
            pending: made.pending.len(),
        });
    let answerable = made.iter().flat_map(|made| &made.answerable);
    let answerable = vectors(answerable.map(String::as_str));
    let pending = made.iter().flat_map(|made| &made.pending);
    let pending = vectors(pending.map(String::as_str));
    for rules in [EdgeRules::published(), EdgeRules::clean()] {
        let nodes = nodes.clone().collect();
        let index = HopRag::build(nodes, &answerable.view(), &pending.view(), &rules).unwrap();
        let (keywords, options) = (BTreeSet::new(), HopRagOptions { top: 2, hops: 3 });
        let (question, pending) = (question.view(), pending.view());
        let found = index.recall(
            &question,
            &keywords,
            &pending,
            &dense,
            &BySimilarity,
            &options,
        );
        out += &format!("{:?} {:?}", index.edges(), found.unwrap());
    }
    out
}

/// Everything that an asker gets.
fn all(graph: &HopGraph<Id>, question: &str) -> String {
    let near = graph.passages().enumerate();
    let near = near.map(|(at, id)| (*id, 1.0 / (at as f64 + 1.0)));
    let dense = Ranking::new(near).unwrap();
    let found = graph
        .recall(question, Some(&dense), &RecallOptions::default())
        .unwrap();
    let mut out = format!("{found:?}");
    for id in found.ranking.ids().take(3) {
        out += &format!("{:?}", graph.explain(&found, id).unwrap());
    }
    let facts: Vec<&str> = graph.facts().chain(graph.names()).collect();
    out + &facts.join("|")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_history_gives_the_graph_of_a_fresh_build(writes in writes(), question in question()) {
        let (grown, documents) = grown(&writes);
        let (fresh, again) = fresh(finally(&writes));
        for grant in ["public", "hr"] {
            let one = grown.graph(&view(&documents, grant)).unwrap();
            let other = fresh.graph(&view(&again, grant)).unwrap();
            prop_assert!(one.same_bits(&other));
            prop_assert_eq!(all(&one, &question), all(&other, &question));
            let one = published(&grown, &view(&documents, grant), &question);
            prop_assert_eq!(one, published(&fresh, &view(&again, grant), &question));
        }
    }

    #[test]
    fn hidden_documents_have_no_part_in_any_answer(writes in writes(), question in question()) {
        let (grown, documents) = grown(&writes);
        for grant in ["public", "hr"] {
            let mut seen = finally(&writes);
            seen.retain(|_, source| source.grant == grant);
            let (without, again) = fresh(seen);
            let one = grown.graph(&view(&documents, grant)).unwrap();
            let other = without.graph(&view(&again, grant)).unwrap();
            prop_assert!(one.same_bits(&other));
            prop_assert_eq!(all(&one, &question), all(&other, &question));
            let one = published(&grown, &view(&documents, grant), &question);
            prop_assert_eq!(one, published(&without, &view(&again, grant), &question));
        }
    }
}

#[test]
fn removing_a_document_takes_its_weight_along() {
    let source = |text: &str| Source {
        grant: "public",
        texts: vec![text.to_owned()],
    };
    let both = [
        (
            1,
            Some(source("Elm House\nElm House was built by Ada Stone.")),
        ),
        (2, Some(source("Ada Stone\nAda Stone lives in Elm House."))),
    ];
    let strength = |writes: &[Write]| {
        let (memory, documents) = grown(writes);
        let graph = memory.graph(&view(&documents, "public")).unwrap();
        let at = graph.names().position(|name| name == "Elm House").unwrap();
        let node = (graph.passages().len() + at) as u32;
        graph.adjacency().strength(node)
    };
    let mut removed = both.to_vec();
    removed.push((2, None));
    assert_eq!(strength(&both), 9.0);
    assert_eq!(strength(&removed), 8.0);
}

#[test]
fn a_view_that_sees_nothing_gets_nothing() {
    let memory: HopMemory<Id> = HopMemory::new(1);
    let graph = memory.graph(&view(&BTreeMap::new(), "public")).unwrap();
    let found = graph
        .recall("Who met Ada Stone?", None, &RecallOptions::default())
        .unwrap();
    assert!(found.ranking.is_empty() && found.seeds.is_empty());
}
