//! Non-interference: under a view, everything an asker gets is the same bytes as from an index
//! that never held what the view does not hold.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cornu_core::testing::proptest::prelude::*;
use cornu_core::testing::proptest::sample::Index;
use cornu_core::testing::strategies::{self, History, Operation};
use cornu_core::{ChunkId, DocId, Fingerprint, Principal, View, ViewEntry};
use cornu_sparse::{Bm25, Bm25Index, DocumentRows, Query, Row, TermCounts, Variant};
use cornu_text::{Han, Tokenizer};

/// Bigrams: the same property, without loading a dictionary.
pub(crate) fn tokenizer() -> Tokenizer {
    Tokenizer::builder().han(Han::Bigrams).build()
}

/// A history, who asks, a question in words of its texts, and k.
pub(crate) fn asked() -> impl Strategy<Value = (History, Principal, Query, usize)> {
    let words = (any::<Index>(), any::<Index>(), 1_usize..=5);
    let all = (
        strategies::history(2),
        strategies::principal(),
        words,
        1_usize..=4,
    );
    all.prop_map(|(history, principal, (text, from, many), k)| {
        let texts: Vec<&str> = history
            .facts()
            .flat_map(|facts| facts.indexed().map(|chunk| chunk.index_text.as_str()))
            .collect();
        let text = texts
            .get(text.index(texts.len().max(1)))
            .copied()
            .unwrap_or("");
        let tokens = tokenizer().tokens(text);
        let from = from.index(tokens.len().max(1));
        let words = tokens.into_iter().skip(from).take(many);
        let query = Query::weighted(words.map(|token| (token.text, 1.0))).unwrap();
        (history, principal, query, k)
    })
}

/// The numbers that an index gives documents: in the order in which they first came.
pub(crate) fn ordinals(history: &History) -> BTreeMap<&DocId, u32> {
    let mut ordinals = BTreeMap::new();
    for operation in history.operations() {
        let next = ordinals.len() as u32;
        ordinals.entry(operation.doc()).or_insert(next);
    }
    ordinals
}

/// The index after a history, one step a write.
fn index(history: &History) -> Bm25Index<ChunkId> {
    let tokenizer = tokenizer();
    let ordinals = ordinals(history);
    let mut index = Bm25Index::build(Fingerprint::new("test"), [], 0).unwrap();
    for operation in history.operations() {
        let document = ordinals[operation.doc()];
        let rows = match operation {
            Operation::Remove(_) => vec![],
            Operation::Upsert(facts) => facts
                .indexed()
                .map(|chunk| Row {
                    id: chunk.id,
                    counts: TermCounts::new(&tokenizer.tokens(&chunk.index_text)),
                })
                .collect(),
        };
        index.apply([DocumentRows { document, rows }], 1).unwrap();
    }
    index
}

/// What a principal sees of the last state.
fn view(history: &History, principal: &Principal) -> View {
    let ordinals = ordinals(history);
    let state = history.finally();
    let entries = state.iter().map(|(doc, facts)| ViewEntry {
        ordinal: ordinals[*doc],
        id: &facts.doc,
        content: &facts.content,
        acl: &facts.acl,
    });
    View::resolve(principal, u64::from(!ordinals.is_empty()), entries)
}

/// All that an asker can get, as text.
fn answers(
    index: &Bm25Index<ChunkId>,
    view: &View,
    query: &Query,
    bm25: &Bm25,
    k: usize,
    ids: &[ChunkId],
) -> String {
    let mut out = String::new();
    // The second time from kept statistics.
    for _ in 0..2 {
        let searcher = index.searcher(view).unwrap();
        let size = (searcher.rows(), searcher.average_length());
        writeln!(out, "{size:?}").unwrap();
        for k in [k, usize::MAX] {
            writeln!(out, "{:?}", searcher.search(query, bm25, k).unwrap()).unwrap();
        }
        for id in ids {
            writeln!(out, "{:?}", searcher.explain(query, bm25, id).unwrap()).unwrap();
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn hidden_documents_have_no_part_in_any_answer(
        (history, principal, query, k) in asked(),
        other in strategies::principal(),
        variant in prop::sample::select(vec![
            Variant::Lucene, Variant::Robertson, Variant::Atire, Variant::Bm25L, Variant::Bm25Plus,
        ]),
    ) {
        let bm25 = Bm25::new(variant, 1.2, 0.75).unwrap();
        let known = history.without_hidden(&principal);
        let (whole, alone) = (index(&history), index(&known));
        // Every id there ever was, hidden and gone ones among them.
        let ids: Vec<ChunkId> = history
            .facts()
            .flat_map(|facts| facts.chunks.iter().map(|chunk| chunk.id))
            .collect();
        // Somebody else has asked the same before, so that their statistics are kept.
        answers(&whole, &view(&history, &other), &query, &bm25, k, &ids);
        prop_assert_eq!(
            answers(&whole, &view(&history, &principal), &query, &bm25, k, &ids),
            answers(&alone, &view(&known, &principal), &query, &bm25, k, &ids)
        );
    }

    #[test]
    fn what_a_search_finds_is_seen_and_explained((history, principal, query, k) in asked()) {
        let (index, view) = (index(&history), view(&history, &principal));
        let searcher = index.searcher(&view).unwrap();
        let bm25 = Bm25::default();
        for hit in &searcher.search(&query, &bm25, k).unwrap() {
            let facts = history.finally().into_values().find(|facts| {
                facts.acl.admits(&principal) && facts.indexed().any(|chunk| chunk.id == hit.id)
            });
            prop_assert!(facts.is_some());
            let why = searcher.explain(&query, &bm25, &hit.id).unwrap().unwrap();
            prop_assert_eq!(why.score.to_bits(), hit.score.to_bits());
            let sum = why.terms.iter().fold(0.0, |sum, term| sum + term.share);
            prop_assert_eq!(sum.to_bits(), hit.score.to_bits());
            prop_assert!(why.terms.iter().any(|term| term.count > 0) && why.score > 0.0);
        }
    }
}
