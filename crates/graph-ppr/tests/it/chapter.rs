//! The course chapter's audit case: three documents, of which the middle one shares no word with
//! the question.

use cornu_core::Ranking;
use cornu_graph_ppr::{EntityGraph, PprError, hippocampal_ppr_retrieval};

const ALPHA: &str = "Alpha 资本";
const STAR: &str = "Cayman 星辰基金";
const HORIZON: &str = "Horizon 家族信托";
const ZHANG: &str = "张某";
const GAMMA: &str = "Gamma 科技";
const SANCTIONS: &str = "跨境制裁名单";

const DOC_A: &str =
    "Alpha 资本由开曼注册的 Cayman 星辰基金全资控股，主要布局亚太半导体硬科技基础设施。";
const DOC_B: &str =
    "Cayman 星辰基金的最大受益人为实控人张某设立的 Horizon 家族信托，管理资产规模超十亿美元。";
const DOC_C: &str =
    "Horizon 家族信托持有 Gamma 科技 65% 的控股股权。此外，其委托人张某已被列入近期跨境制裁名单。";

fn audit() -> EntityGraph<'static> {
    EntityGraph {
        entities: &[ALPHA, STAR, HORIZON, ZHANG, GAMMA, SANCTIONS],
        edges: &[
            (ALPHA, STAR, 1.0),
            (STAR, HORIZON, 1.0),
            (HORIZON, ZHANG, 1.0),
            (HORIZON, GAMMA, 1.0),
            (ZHANG, SANCTIONS, 1.0),
        ],
        documents: &[
            ("doc_A", &[ALPHA, STAR]),
            ("doc_B", &[STAR, HORIZON, ZHANG]),
            ("doc_C", &[HORIZON, GAMMA, ZHANG, SANCTIONS]),
        ],
    }
}

#[test]
fn hippocampal_ppr_multi_hop_retrieval() {
    let found = hippocampal_ppr_retrieval(&audit(), &[(ALPHA, 1.0), (GAMMA, 1.0)], 0.85).unwrap();
    let order: Vec<&str> = found.documents.ids().map(String::as_str).collect();
    assert_eq!(order, ["doc_B", "doc_C", "doc_A"]);
    assert!(
        found.documents.rank_of(&"doc_B".to_owned()).unwrap() <= 2,
        "the bridge"
    );
    assert!((found.entities.iter().map(|item| item.score).sum::<f64>() - 1.0).abs() < 1e-12);
    // The chapter's function, run on this graph to a tolerance of 1e-14.
    for (item, expected) in found.documents.iter().zip(CHAPTER) {
        assert_eq!(item.id, expected.0);
        assert!(
            (item.score - expected.1).abs() < 1e-9,
            "{} {}",
            item.score,
            expected.1
        );
    }
}

/// The chapter prints scores (0.448, 0.286, 0.266) and not the graph that they belong to; this is
/// the graph that its text describes.
const CHAPTER: [(&str, f64); 3] = [
    ("doc_B", 0.6241117953576503),
    ("doc_C", 0.6071639469334507),
    ("doc_A", 0.39283605306654923),
];

/// The chapter's fault: the same question by likeness alone. Bags of character pairs stand for the
/// vectors, so that nothing here depends on a model; the bridge shares no name with the question.
#[test]
fn fault_likeness_alone_loses_the_bridge_that_the_walk_finds() {
    let question = "Alpha 资本的最终实控人是否涉足对 Gamma 科技的投资与跨境制裁名单？";
    let mut documents = vec![("doc_A", DOC_A), ("doc_B", DOC_B), ("doc_C", DOC_C)];
    // Distractors of the same trade, which repeat the question's words and hold no link.
    let distractors: Vec<(String, String)> = (0..200)
        .map(|at| {
            let firm = ["Alpha 资本", "Gamma 科技"][at % 2];
            let text = format!("{firm}第{at}期简报：投资与跨境制裁名单的最终核查由实控人签署。");
            (format!("news_{at:03}"), text)
        })
        .collect();
    documents.extend(
        distractors
            .iter()
            .map(|(id, text)| (id.as_str(), text.as_str())),
    );
    let likeness = documents
        .iter()
        .map(|&(id, text)| (id.to_owned(), cosine(question, text)));
    let likeness = Ranking::new(likeness).unwrap();
    let bridge = "doc_B".to_owned();
    assert!(
        likeness.rank_of(&bridge).unwrap() > 200,
        "{:?}",
        likeness.rank_of(&bridge)
    );

    let graph = audit();
    let mut with_news: Vec<(&str, &[&str])> = graph.documents.to_vec();
    for (at, (id, _)) in distractors.iter().enumerate() {
        with_news.push((id, [&[ALPHA][..], &[GAMMA]][at % 2]));
    }
    let graph = EntityGraph {
        documents: &with_news,
        ..graph
    };
    let found = hippocampal_ppr_retrieval(&graph, &[(ALPHA, 1.0), (GAMMA, 1.0)], 0.85).unwrap();
    assert!(
        found.documents.rank_of(&bridge).unwrap() <= 2,
        "{:?}",
        found.documents.rank_of(&bridge)
    );
}

fn cosine(a: &str, b: &str) -> f64 {
    let pairs = |text: &str| {
        let chars: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).collect();
        let mut pairs: Vec<[char; 2]> = chars.windows(2).map(|pair| [pair[0], pair[1]]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    };
    let (a, b) = (pairs(a), pairs(b));
    let shared = a
        .iter()
        .filter(|pair| b.binary_search(pair).is_ok())
        .count();
    shared as f64 / ((a.len() * b.len()) as f64).sqrt()
}

#[test]
fn what_names_no_entity_is_left_out_and_counted() {
    let graph = EntityGraph {
        entities: &["a", "b", "lonely"],
        edges: &[("a", "b", 1.0), ("a", "nobody", 1.0)],
        documents: &[
            ("one", &["b", "b", "nobody"]),
            ("two", &["lonely"]),
            ("three", &[]),
        ],
    };
    let found = hippocampal_ppr_retrieval(&graph, &[("a", 1.0), ("who", 3.0)], 0.5).unwrap();
    assert_eq!(
        (
            found.ignored_seeds,
            found.ignored_edges,
            found.ignored_mentions
        ),
        (1, 1, 1)
    );
    // A repeated entity counts once; no path leads to "lonely".
    assert_eq!(found.documents.ids().collect::<Vec<_>>(), ["one"]);
    assert!((found.documents.as_slice()[0].score - 1.0 / 3.0).abs() < 1e-9);

    let none = hippocampal_ppr_retrieval(&graph, &[("who", 3.0)], 0.5);
    assert_eq!(none, Err(PprError::NoKnownSeed { unknown: 1 }));
    let alone = hippocampal_ppr_retrieval(&graph, &[("lonely", 1.0)], 0.5).unwrap();
    assert_eq!(alone.documents.ids().collect::<Vec<_>>(), ["two"]);
    assert!((alone.documents.as_slice()[0].score - 1.0).abs() < 1e-12);
}
