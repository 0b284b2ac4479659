//! The audit across documents: who stands behind a company, where no document says it.

use cornu_core::Ranking;
use cornu_hop::{HopGraph, Passage, RecallOptions, SeedReason, Step};

use crate::world::passage;

const QUESTION: &str = "Alpha 资本的最终实控人是否涉足对 Gamma 科技的投资与跨境制裁名单？";
const A: &str =
    "Alpha 资本由开曼注册的 Cayman 星辰基金全资控股，主要布局亚太半导体硬科技基础设施。";
const B: &str =
    "Cayman 星辰基金的最大受益人为实控人张某设立的 Horizon 家族信托，管理资产规模超十亿美元。";
const C: &str =
    "Horizon 家族信托持有 Gamma 科技 65% 的控股股权。此外，其委托人张某已被列入近期跨境制裁名单。";

/// The three documents (0, 1, 2; 1 is the bridge) among 200 of the same trade, in which other
/// funds hold other companies.
fn audit() -> Vec<Passage<u32>> {
    let mut out = vec![passage(0, A), passage(1, B), passage(2, C)];
    for at in 0..200_u32 {
        let (one, two) = (at % 25, (at * 7 + 3) % 40);
        let text = match at % 4 {
            0 => format!("Orion{one} 资本由开曼注册的 Vega{two} 基金控股，布局东南亚物流设施。"),
            1 => format!("Vega{two} 基金的受益人为 Lyra{one} 家族信托，管理资产超过五亿美元。"),
            2 => format!("Lyra{one} 家族信托持有 Draco{two} 科技 51% 的股权，投资金额 2 亿元。"),
            _ => format!("Draco{two} 科技的实控人被列入制裁名单，跨境投资已中止。"),
        };
        out.push(passage(at + 3, &text));
    }
    out
}

/// Similarity as vectors of words see it: by shared characters, so that the bridge, which shares
/// two of them with the question and no name, is far below those that speak of investments and
/// sanctions.
fn near(passages: &[Passage<u32>]) -> Ranking<u32> {
    let asked: Vec<char> = QUESTION.chars().filter(|c| c.is_alphabetic()).collect();
    let scored = passages.iter().map(|passage| {
        let shared = passage.text.chars().filter(|c| asked.contains(c)).count();
        (
            passage.id,
            shared as f64 / passage.text.chars().count() as f64,
        )
    });
    Ranking::new(scored).unwrap()
}

#[test]
fn hippocampal_ppr_multi_hop_retrieval() {
    let passages = audit();
    let graph = HopGraph::build(&passages).unwrap();
    let dense = near(&passages);
    let found = graph
        .recall(QUESTION, Some(&dense), &RecallOptions::default())
        .unwrap();
    // The chapter has the bridge among the first two.
    let mut first: Vec<u32> = found.ranking.ids().take(3).copied().collect();
    assert!(first[..2].contains(&1), "{first:?}");
    first.sort_unstable();
    assert_eq!(first, [0, 1, 2], "the chain is whole");

    // It says why: it stands between the names of the question, to which names lead that it shares
    // with the document of each.
    let why = graph.explain(&found, &1).unwrap().unwrap();
    let SeedReason::Between { names } = &why.parts[0].reason else {
        panic!("{:?}", why.parts);
    };
    assert_eq!(names, &["Alpha 资本", "Gamma 科技"]);
    let shown = format!("{:?}", why.parts);
    for name in ["Cayman 星辰基金", "Horizon 家族信托"] {
        assert!(shown.contains(&format!("name: \"{name}\"")), "{shown}");
    }
    assert!(why.parts.iter().any(|part| {
        part.path
            .iter()
            .any(|step| matches!(step, Step::Name { fact: Some(_), .. }))
    }));
    let shares: f64 = why.parts.iter().map(|part| part.share).sum();
    assert!((shares - 1.0).abs() < 1e-9);
}

/// The fault: by vectors alone the bridge is lost.
#[test]
fn by_vectors_alone_the_bridge_is_lost() {
    let dense = near(&audit());
    assert!(dense.rank_of(&1).unwrap() > 50, "{:?}", dense.rank_of(&1));
}

/// The walk needs the chain: without the document at its other end the bridge falls.
#[test]
fn without_links_no_bridge() {
    let passages = audit();
    let named: Vec<Passage<u32>> = passages
        .into_iter()
        .map(|mut passage| {
            if passage.id == 1 {
                passage.text = "某基金的受益人为某信托。".to_owned();
                passage.extraction = cornu_core::Extraction::default();
            }
            passage
        })
        .collect();
    let graph = HopGraph::build(&named).unwrap();
    let found = graph
        .recall(QUESTION, None, &RecallOptions::default())
        .unwrap();
    assert_eq!(found.ranking.rank_of(&1), None);
}
