//! The cases of the kind `tokenization` that concern ranking, each by its id.

use cornu_core::Ranking;
use cornu_sparse::{Bm25, Query, Variant};
use cornu_text::{StopWords, Tokenizer};

use crate::{index_texts, view};

fn search(texts: &[&str], question: &str, k: usize) -> Ranking<u32> {
    let tokenizer = Tokenizer::new();
    let index = index_texts(&tokenizer, texts);
    let view = view(texts.len() as u32, |_| true);
    let query = Query::new(&tokenizer, question);
    index
        .searcher(&view)
        .unwrap()
        .search(&query, &Bm25::default(), k)
        .unwrap()
}

fn ids(ranking: &Ranking<u32>) -> Vec<u32> {
    ranking.ids().copied().collect()
}

/// What a user types is text: no operators, no errors.
#[test]
fn tk_04_queries_are_literal_text() {
    let texts = [
        "a non-blocking call",
        "it isn't so",
        "Debian 12.5",
        "C++ templates",
        "90 req/s",
        "a AND b",
        "NOT this",
        "未闭合的引号",
        "col:x",
    ];
    for (at, question) in [
        (0, "non-blocking"),
        (1, "isn't"),
        (2, "Debian 12.5"),
        (3, "C++"),
        (4, "req/s"),
        (5, "a AND"),
        (6, "NOT"),
        (7, "\"未闭合"),
        (8, "col:x"),
    ] {
        assert_eq!(
            ids(&search(&texts, question, 9)).first(),
            Some(&at),
            "{question}"
        );
    }
    for nothing in ["*", ""] {
        assert!(search(&texts, nothing, 9).is_empty());
    }
    let literal = search(&texts, "( a", 9);
    assert!(ids(&literal).contains(&0), "the word a is a word");
}

#[test]
fn tk_05_exact_identifiers_stand_first_and_parts_are_found() {
    let texts = [
        "optimizer.zero_grad() 清空梯度",
        "loadTrainBatch 读取一批样本",
        "zero and grad are words, grad again",
        "train a batch, load it",
    ];
    assert_eq!(ids(&search(&texts, "zero_grad", 4)).first(), Some(&0));
    assert_eq!(ids(&search(&texts, "loadTrainBatch", 4)).first(), Some(&1));
    assert!(ids(&search(&texts, "grad", 4)).contains(&0));
    assert!(ids(&search(&texts, "train batch", 4)).contains(&1));
}

#[test]
fn tk_06_marks_of_names_decide() {
    let texts = [
        "C++ 模板",
        "C# 泛型",
        "C 指针",
        "版本 v1.5 发布",
        "版本 v1.6 发布",
    ];
    for (question, first) in [("C++", 0), ("C#", 1), ("C", 2), ("v1.5", 3), ("v1.6", 4)] {
        assert_eq!(
            ids(&search(&texts, question, 5)).first(),
            Some(&first),
            "{question}"
        );
    }
}

#[test]
fn tk_10_a_query_of_stop_words_finds_something_but_not_everything() {
    let tokenizer = Tokenizer::builder().stop_words(StopWords::Common).build();
    let texts = [
        "to be or not to be",
        "The Who",
        "我的 家",
        "是 不是",
        "completely different",
    ];
    let index = index_texts(&tokenizer, &texts);
    let view = view(5, |_| true);
    let searcher = index.searcher(&view).unwrap();
    for (at, question) in texts.iter().take(4).zip(0..).map(|(text, at)| (at, *text)) {
        let query = Query::new(&tokenizer, question);
        let found = searcher.search(&query, &Bm25::default(), 10).unwrap();
        assert_eq!(found.ids().next(), Some(&at), "{question}");
        assert!(found.len() < texts.len(), "{question}");
    }
}

#[test]
fn tk_12_a_term_in_every_document_still_counts() {
    let texts = ["梯度 梯度 下降", "梯度 裁剪", "梯度 累积"];
    let found = search(&texts, "梯度", 10);
    assert_eq!(ids(&found), [0, 1, 2]);
    assert!(found.iter().all(|hit| hit.score > 0.0));
    // The smoothed idf for N = n = 3 is ln(1 + 0.5 / 3.5) = 0.134; n counts documents.
    let view = view(3, |_| true);
    let tokenizer = Tokenizer::new();
    let index = index_texts(&tokenizer, &texts);
    let query = Query::new(&tokenizer, "梯度");
    let why = index
        .searcher(&view)
        .unwrap()
        .explain(&query, &Bm25::default(), &0)
        .unwrap()
        .unwrap();
    assert_eq!(why.terms[0].frequency, 3);
    assert!((why.terms[0].idf - 0.133_531_392_624_522_62).abs() < 1e-15);
    // No variant puts a document without the term above one with it.
    let mut mixed = texts.to_vec();
    mixed.push("别的 内容");
    let index = index_texts(&tokenizer, &mixed);
    let view = crate::view(4, |_| true);
    for variant in [
        Variant::Lucene,
        Variant::Robertson,
        Variant::Atire,
        Variant::Bm25L,
        Variant::Bm25Plus,
    ] {
        let bm25 = Bm25::new(variant, 1.2, 0.75).unwrap();
        let found = index
            .searcher(&view)
            .unwrap()
            .search(&query, &bm25, 10)
            .unwrap();
        assert_eq!(found.len(), 3, "{variant:?}");
        assert!(found.iter().all(|hit| hit.score >= 0.0 && hit.id < 3));
    }
}

#[test]
fn tk_13_a_term_in_half_of_a_tiny_corpus_scores_above_zero() {
    let found = search(&["潮汐 发电", "你好 世界"], "潮汐", 10);
    assert_eq!(ids(&found), [0]);
    // idf ln 2, one occurrence in a text of average length: 1 / (1.2 + 1).
    let expected = std::f64::consts::LN_2 / 2.2;
    assert!((found.as_slice()[0].score - expected).abs() < 1e-12);
}

/// On a handful of texts the scores still tell hits apart, by far more than rounding, and larger is
/// better: the order that every fusion takes.
#[test]
fn tk_14_scores_of_a_small_collection_are_apart_and_larger_is_better() {
    let texts = ["alpha beta", "alpha alpha gamma", "delta"];
    let tokenizer = Tokenizer::new();
    let index = index_texts(&tokenizer, &texts);
    let view = view(3, |_| true);
    let searcher = index.searcher(&view).unwrap();
    let query = Query::new(&tokenizer, "alpha");
    for variant in [
        Variant::Lucene,
        Variant::Robertson,
        Variant::Atire,
        Variant::Bm25L,
        Variant::Bm25Plus,
    ] {
        let bm25 = Bm25::new(variant, 1.2, 0.75).unwrap();
        let found = searcher.search(&query, &bm25, 10).unwrap();
        assert_eq!(found.len(), 2, "{variant:?}");
        assert!(!ids(&found).contains(&2), "{variant:?}");
        // Robertson's idf, ln((3 - 2 + 0.5) / (2 + 0.5)), is negative and taken as 0, which is why
        // it is not the default: both hits are level then, never the wrong way round.
        if variant == Variant::Robertson {
            assert!(found.iter().all(|hit| hit.score >= 0.0));
            continue;
        }
        assert_eq!(ids(&found), [1, 0], "{variant:?}");
        let [first, second] = [0, 1].map(|at| found.as_slice()[at].score);
        assert!(second > 0.05, "{variant:?}: {second}");
        assert!(first > 1.1 * second, "{variant:?}: {first}, {second}");
    }
    // Lucene's: idf ln 1.6, an average of 2 words a text; 2 of 3 words, and 1 of 2.
    let found = searcher.search(&query, &Bm25::default(), 10).unwrap();
    let idf = 1.6_f64.ln();
    for (hit, (count, length)) in found.iter().zip([(2.0, 3.0), (1.0, 2.0)]) {
        let expected = idf * count / (count + 1.2 * (0.25 + 0.75 * length / 2.0));
        assert!((hit.score - expected).abs() < 1e-12, "{}", hit.score);
    }
}

#[test]
fn tk_15_empty_documents_are_in_no_statistic() {
    assert!(search(&["", "", "", " "], "光合作用", 10).is_empty());
    let with = search(&["猫 狗", "", "鸟"], "猫", 10);
    let without = search(&["猫 狗", "鸟"], "猫", 10);
    assert_eq!(with, without);
    let tokenizer = Tokenizer::new();
    let index = index_texts(&tokenizer, &["", " "]);
    let view = view(2, |_| true);
    let searcher = index.searcher(&view).unwrap();
    assert_eq!((searcher.rows(), searcher.average_length()), (0, 0.0));
    let query = Query::new(&tokenizer, "猫");
    let why = searcher
        .explain(&query, &Bm25::default(), &0)
        .unwrap()
        .unwrap();
    assert_eq!((why.score, why.length), (0.0, 0));
}

#[test]
fn tk_16_at_most_k_and_no_padding() {
    let texts = ["one gradient", "two gradient", "three gradient"];
    for k in [3, 10, usize::MAX] {
        assert_eq!(search(&texts, "gradient", k).len(), 3);
    }
    assert_eq!(search(&texts, "gradient", 2).len(), 2);
    assert!(search(&texts, "gradient", 0).is_empty());
    assert!(search(&[], "gradient", 10).is_empty());
}
