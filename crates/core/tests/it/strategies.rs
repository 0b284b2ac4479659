//! The strategies give what they promise, and the resemblances they promise are common.

use std::collections::{BTreeMap, BTreeSet};

use cornu_core::testing::strategies::{
    self, History, Operation, document_with_facts, history, principal,
};
use cornu_core::{ChunkId, ChunkIdParts, DocId, DocumentFacts, LineIndex, Principal};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

proptest! {
    #[test]
    fn facts_are_consistent_with_their_document((document, facts) in document_with_facts(5)) {
        let source = document.source();
        prop_assert_eq!(&facts.doc, document.id());
        prop_assert_eq!(&facts.content, &document.content_hash());
        prop_assert_eq!(&facts.acl, document.acl());
        prop_assert_eq!(facts.vectors.dim(), (facts.indexed().count(), 5));
        for row in facts.vectors.rows() {
            let norm = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            prop_assert!((norm - 1.0).abs() < 1e-6);
        }
        let index = LineIndex::new(source);
        let ids: BTreeSet<ChunkId> = facts.chunks.iter().map(|chunk| chunk.id).collect();
        prop_assert_eq!(ids.len(), facts.chunks.len());
        let mut owned = 0;
        for chunk in &facts.chunks {
            prop_assert_eq!(chunk.span.slice(source), Some(chunk.text.as_str()));
            prop_assert_eq!(index.lines_of(chunk.span), chunk.lines);
            prop_assert!(chunk.core.contains(chunk.span));
            prop_assert!(chunk.parent.is_none_or(|id| id != chunk.id && ids.contains(&id)));
            let derived = (0..10).any(|ordinal| chunk.id == ChunkId::derive(&ChunkIdParts {
                doc: &chunk.doc,
                chunker: "cornu-core testing blocks v1",
                kind: chunk.kind,
                heading_path: &chunk.heading_path,
                index_text: &chunk.index_text,
                text: &chunk.text,
                ordinal,
            }));
            prop_assert!(derived);
            if chunk.role.is_indexed() {
                prop_assert_eq!(chunk.core.start(), owned);
                owned = chunk.core.end();
            }
        }
        prop_assert!(facts.chunks.is_empty() || owned == source.len());
    }

    /// The definition: after every write, what the filtered history holds is what the asker sees.
    #[test]
    fn a_filtered_history_holds_what_is_seen_after_every_write(
        history in history(3),
        asker in principal(),
    ) {
        for length in 0..=history.operations().len() {
            let past = History::new(history.operations()[..length].iter().cloned());
            let filtered = past.without_hidden(&asker);
            let mut seen: BTreeMap<&DocId, &DocumentFacts> = past.finally();
            seen.retain(|_, facts| facts.acl.admits(&asker));
            prop_assert_eq!(filtered.finally(), seen);
            prop_assert!(filtered.facts().all(|facts| facts.acl.admits(&asker)));
            prop_assert_eq!(&filtered.without_hidden(&asker), &filtered);
            // What is known later is known already: filtering follows the writes.
            let whole = history.without_hidden(&asker);
            prop_assert!(whole.operations().starts_with(filtered.operations()));
        }
    }

    #[test]
    fn a_filtered_history_removes_only_what_was_inserted(
        history in history(3),
        asker in principal(),
    ) {
        let mut present = BTreeSet::new();
        for operation in history.without_hidden(&asker).operations() {
            match operation {
                Operation::Upsert(facts) => { present.insert(facts.doc.clone()); }
                Operation::Remove(doc) => prop_assert!(present.remove(doc)),
            }
        }
    }
}

/// How many of `cases` values have a property.
fn share<S: Strategy>(cases: u32, strategy: &S, holds: impl Fn(&S::Value) -> bool) -> u32 {
    let mut runner = TestRunner::deterministic();
    (0..cases)
        .filter(|_| holds(&strategy.new_tree(&mut runner).unwrap().current()))
        .count() as u32
}

/// The vectors of a seen and a hidden chunk, and their texts.
type Pair = (Vec<f32>, Vec<f32>, String, String);

/// Pairs of rows, one of a seen and one of a hidden document, with the texts of their chunks.
fn pairs(history: &History, asker: &Principal) -> Vec<Pair> {
    let state = history.finally();
    let (seen, hidden): (Vec<&DocumentFacts>, Vec<&DocumentFacts>) = state
        .into_values()
        .partition(|facts| facts.acl.admits(asker));
    let rows = |documents: &[&DocumentFacts]| -> Vec<(Vec<f32>, String)> {
        documents
            .iter()
            .flat_map(|facts| facts.indexed().zip(facts.vectors.rows()))
            .map(|(chunk, row)| (row.to_vec(), chunk.text.clone()))
            .collect()
    };
    let (seen, hidden) = (rows(&seen), rows(&hidden));
    let mut out = Vec::new();
    for (a, x) in &seen {
        for (b, y) in &hidden {
            out.push((a.clone(), b.clone(), x.clone(), y.clone()));
        }
    }
    out
}

#[test]
fn hidden_documents_resemble_seen_ones_often_enough_to_matter() {
    let asker = Principal::public();
    let near = |a: &[f32], b: &[f32]| {
        let square: f32 = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum();
        square > 0.0 && square < 1e-5
    };
    let word = |text: &str| ["zero_grad", "AdamW", "北辰科技"].map(|word| text.contains(word));
    let common = |x: &str, y: &str| word(x).iter().zip(word(y)).any(|(x, y)| *x && y);
    let mut runner = TestRunner::deterministic();
    let histories: Vec<_> = (0..128)
        .map(|_| pairs(&history(4).new_tree(&mut runner).unwrap().current(), &asker))
        .collect();
    let of = |test: &dyn Fn(&Pair) -> bool| {
        histories
            .iter()
            .filter(|pairs| pairs.iter().any(test))
            .count()
    };
    let ties = of(&|(a, b, ..)| a == b);
    let tied_texts = of(&|(a, b, x, y)| a == b && x == y);
    let near = of(&|(a, b, ..)| near(a, b));
    let words = of(&|(_, _, x, y)| common(x, y));
    assert!(ties > 32, "exact ties in {ties} of 128");
    assert!(tied_texts > 12, "ties of equal text in {tied_texts} of 128");
    assert!(near > 12, "near-duplicates in {near} of 128");
    assert!(words > 64, "shared words in {words} of 128");
}

#[test]
fn histories_change_grants_replace_and_remove() {
    let strategy = history(4);
    let asker = Principal::public();
    let hidden_again = share(96, &strategy, |history| {
        let mut known = BTreeSet::new();
        history
            .operations()
            .iter()
            .any(|operation| match operation {
                Operation::Upsert(facts) if facts.acl.admits(&asker) => {
                    known.insert(&facts.doc);
                    false
                }
                Operation::Upsert(facts) => known.contains(&facts.doc),
                Operation::Remove(doc) => {
                    known.remove(doc);
                    false
                }
            })
    });
    let nobody = share(96, &strategy, |history| {
        history.facts().any(|facts| facts.acl.is_empty())
    });
    let again = share(96, &strategy, |history| {
        history
            .operations()
            .windows(2)
            .any(|pair| pair[0] == pair[1])
            || {
                let facts: Vec<_> = history.facts().collect();
                facts
                    .iter()
                    .enumerate()
                    .any(|(at, one)| facts[..at].contains(one))
            }
    });
    assert!(
        hidden_again > 8,
        "seen, then hidden in {hidden_again} of 96"
    );
    assert!(nobody > 24, "an empty ACL in {nobody} of 96");
    assert!(again > 12, "an unchanged upsert in {again} of 96");
}

#[test]
fn grants_that_nearly_agree_are_common() {
    let two = (strategies::grant_name(), strategies::grant_name());
    let prefix = share(512, &two, |(a, b)| a != b && a.starts_with(b.as_str()));
    let twins = share(4096, &two, |(a, b)| {
        a != b && cornu_core::Grant::new(a) == cornu_core::Grant::new(b)
    });
    assert!(prefix > 8, "prefixes in {prefix} of 512 pairs");
    assert!(
        twins > 4,
        "NFC and NFD of one grant in {twins} of 4096 pairs"
    );
}
