//! Scores beside those of bm25s and rank_bm25 on the same tokens (tests/data/make_oracles.py).

use std::collections::BTreeMap;

use cornu_sparse::{Bm25, Bm25Index, Query, TermCounts, Variant};
use serde_json::Value;

use crate::{index_of, view};

struct Oracles {
    json: Value,
    index: Bm25Index<u32>,
    docs: Vec<Vec<String>>,
    queries: Vec<Vec<String>>,
}

fn oracles() -> Oracles {
    let json: Value = serde_json::from_str(include_str!("../data/oracles.json")).unwrap();
    let texts = |name: &str| -> Vec<Vec<String>> {
        let tokens = |text: &Value| {
            let tokens = text.as_array().unwrap().iter();
            tokens
                .map(|token| token.as_str().unwrap().to_owned())
                .collect()
        };
        json[name].as_array().unwrap().iter().map(tokens).collect()
    };
    let (docs, queries) = (texts("docs"), texts("queries"));
    let index = index_of(docs.iter().map(|tokens| {
        let pairs = tokens.iter().map(|token| (token, 1));
        TermCounts::from_pairs(tokens.len() as u32, pairs).unwrap()
    }));
    Oracles {
        json,
        index,
        docs,
        queries,
    }
}

/// What the library adds for a term that a document lacks.
type Absent = fn(&Bm25, f64) -> f64;

/// Compares every score of every query for which `comparable` says so; returns how many.
fn compare(
    library: &str,
    name: &str,
    variant: Variant,
    absent: Absent,
    scale: f64,
    comparable: impl Fn(&Oracles, &Query, &BTreeMap<&str, u64>, usize) -> bool,
) -> usize {
    let oracles = oracles();
    let oracle = &oracles.json[library][name];
    let number = |value: &Value| value.as_f64().unwrap();
    let bm25 = Bm25::new(variant, number(&oracle["k1"]), number(&oracle["b"])).unwrap();
    let bm25 = bm25.with_delta(number(&oracle["delta"])).unwrap();
    let view = view(oracles.docs.len() as u32, |_| true);
    let searcher = oracles.index.searcher(&view).unwrap();
    let mut compared = 0;
    for (query, scores) in oracles
        .queries
        .iter()
        .zip(oracle["scores"].as_array().unwrap())
    {
        let query = Query::weighted(query.iter().map(|term| (term.clone(), 1.0))).unwrap();
        for (id, expected) in (0..).zip(scores.as_array().unwrap()) {
            let why = searcher.explain(&query, &bm25, &id).unwrap().unwrap();
            let frequencies = why
                .terms
                .iter()
                .map(|t| (t.term.as_str(), t.frequency))
                .collect();
            if !comparable(&oracles, &query, &frequencies, id as usize) {
                continue;
            }
            let missing = why.terms.iter().filter(|term| term.count == 0);
            let given: f64 = missing.map(|t| t.weight * absent(&bm25, t.idf)).sum();
            let (ours, expected) = (scale * why.score + given, number(expected));
            assert!(
                (ours - expected).abs() < 1e-9,
                "{library} {name} {id}: {ours} {expected}"
            );
            compared += 1;
        }
    }
    compared
}

/// Every document of every query.
const ALL: usize = 60 * 24;

#[test]
fn bm25s_lucene_robertson_atire() {
    for (name, variant) in [
        ("lucene", Variant::Lucene),
        ("robertson", Variant::Robertson),
        ("atire", Variant::Atire),
    ] {
        assert_eq!(
            compare("bm25s", name, variant, |_, _| 0.0, 1.0, |_, _, _, _| true),
            ALL
        );
    }
}

/// bm25s gives a document that lacks a term the formula's value at tf = 0; the papers, and we, give
/// it nothing. With that added, all scores agree.
#[test]
fn bm25s_l_and_plus_with_their_value_for_absent_terms() {
    let l: Absent = |bm25, idf| idf * (bm25.k1() + 1.0) * bm25.delta() / (bm25.k1() + bm25.delta());
    assert_eq!(
        compare("bm25s", "bm25l", Variant::Bm25L, l, 1.0, |_, _, _, _| true),
        ALL
    );
    let plus: Absent = |bm25, idf| idf * bm25.delta();
    assert_eq!(
        compare(
            "bm25s",
            "bm25+",
            Variant::Bm25Plus,
            plus,
            1.0,
            |_, _, _, _| true
        ),
        ALL
    );
}

/// rank_bm25's BM25+ gives δ to absent terms, too. Its Okapi is Robertson's idf with ATIRE's k1 + 1
/// and replaces negative idfs by a quarter of the mean idf of the vocabulary: comparable where no
/// term stands in half of the documents. Its BM25L multiplies by tf once more than the paper:
/// comparable where no term of the query stands in the document more than once.
#[test]
fn rank_bm25_where_it_follows_the_formulas() {
    let plus: Absent = |bm25, idf| idf * bm25.delta();
    assert_eq!(
        compare(
            "rank_bm25",
            "bm25+",
            Variant::Bm25Plus,
            plus,
            1.0,
            |_, _, _, _| true
        ),
        ALL
    );

    let okapi = compare(
        "rank_bm25",
        "okapi",
        Variant::Robertson,
        |_, _| 0.0,
        2.5,
        |oracles, _, terms, _| terms.values().all(|&df| 2 * df < oracles.docs.len() as u64),
    );
    assert!(okapi > ALL / 2, "{okapi}");

    let l = compare(
        "rank_bm25",
        "bm25l",
        Variant::Bm25L,
        |_, _| 0.0,
        1.0,
        |oracles, query, _, id| {
            let count = |term: &str| {
                oracles.docs[id]
                    .iter()
                    .filter(|token| *token == term)
                    .count()
            };
            query.iter().all(|(term, _)| count(term) <= 1)
        },
    );
    assert!(l > ALL / 2, "{l}");
}

/// A search gives what explain says, in the order of the oracle's scores.
#[test]
fn search_orders_as_the_oracle_does() {
    let oracles = oracles();
    let view = view(oracles.docs.len() as u32, |_| true);
    let searcher = oracles.index.searcher(&view).unwrap();
    let bm25 = Bm25::new(Variant::Lucene, 1.5, 0.75).unwrap();
    let scores = oracles.json["bm25s"]["lucene"]["scores"]
        .as_array()
        .unwrap();
    for (query, scores) in oracles.queries.iter().zip(scores) {
        let query = Query::weighted(query.iter().map(|term| (term.clone(), 1.0))).unwrap();
        let found = searcher.search(&query, &bm25, 100).unwrap();
        let score = |id: u32| scores[id as usize].as_f64().unwrap();
        let positive = (0..60).filter(|&id| score(id) > 0.0).count();
        assert_eq!(found.len(), positive);
        for pair in found.as_slice().windows(2) {
            assert!(score(pair[0].id) >= score(pair[1].id) - 1e-12);
        }
    }
}
