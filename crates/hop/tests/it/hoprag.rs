//! HopRAG: edges are questions.

use std::collections::BTreeSet;

use cornu_core::ProviderError;
use cornu_hop::HopError;
use cornu_hop::hoprag::{
    BySimilarity, EdgeRules, HopChooser, HopRag, HopRagOptions, HopRagPassage, QuestionEdge,
};
use ndarray::{Array2, arr1, arr2};

fn words(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn passage(document: u32, keywords: &[&str], answerable: usize, pending: usize) -> HopRagPassage {
    HopRagPassage {
        document,
        keywords: words(keywords),
        answerable,
        pending,
    }
}

/// Passage 0 raises e1, which 1 answers; 1 raises e2, which 2 answers; 3 is of 0's document and
/// answers e3, which nobody raises.
fn chain() -> (Vec<HopRagPassage>, Array2<f32>, Array2<f32>) {
    let passages = vec![
        passage(0, &["film"], 1, 1),
        passage(1, &["person"], 1, 1),
        passage(2, &["town"], 1, 0),
        passage(0, &["film"], 1, 0),
    ];
    let answerable = Array2::eye(4);
    let pending = arr2(&[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
    (passages, answerable, pending)
}

fn ends(index: &HopRag) -> Vec<(u32, u32)> {
    index
        .edges()
        .iter()
        .map(|edge| (edge.from, edge.to))
        .collect()
}

fn build(rules: &EdgeRules) -> (HopRag, Array2<f32>) {
    let (passages, answerable, pending) = chain();
    let index = HopRag::build(passages, &answerable.view(), &pending.view(), rules).unwrap();
    (index, pending)
}

#[test]
fn the_best_answer_comes_first_and_carries_its_questions() {
    let (index, _) = build(&EdgeRules::clean());
    let first = index.edges_of(0)[0];
    assert_eq!((first.to, first.pending, first.answerable), (1, Some(0), 1));
    assert!((first.similarity - 0.5).abs() < 1e-9); // cosine 1, no keyword shared
    assert_eq!(index.edges_of(1)[0].to, 2);
    assert_eq!(index.edges_of(2), []);
    assert_eq!(index.edges_of(9), []);
    assert!(index.edges().iter().all(|edge| edge.from != edge.to));
}

#[test]
fn keywords_count_as_much_as_meaning() {
    let (mut passages, answerable, pending) = chain();
    passages[2].keywords = words(&["film"]);
    let index = HopRag::build(
        passages,
        &answerable.view(),
        &pending.view(),
        &EdgeRules::clean(),
    );
    let index = index.unwrap();
    // 0 raises what 1 answers (cosine 1), but 2 and 3 share all keywords.
    let edges = index.edges_of(0);
    assert!(
        edges
            .iter()
            .all(|edge| (edge.similarity - 0.5).abs() < 1e-9),
        "{edges:?}"
    );
}

#[test]
fn orphans_are_adopted_by_the_first_of_their_document_in_the_published_rules() {
    let only_best = |rules: EdgeRules| EdgeRules {
        elsewhere: 0,
        ..rules
    };
    let (published, _) = build(&only_best(EdgeRules::published()));
    let (clean, _) = build(&only_best(EdgeRules::clean()));
    assert_eq!(ends(&clean), [(0, 1), (1, 2)]);
    assert_eq!(ends(&published), [(0, 1), (0, 3), (1, 2)]);
    let adopted = published.edges()[1];
    assert_eq!((adopted.pending, adopted.similarity), (None, 0.0));
}

#[test]
fn the_paper_caps_edges_by_n_log_n() {
    // Two passages, each raising four questions: at most 2 · log₂ 2 = 2 edges.
    let passages = vec![
        passage(0, &[], 1, 4),
        passage(1, &[], 1, 4),
        passage(2, &[], 1, 4),
    ];
    let vectors = Array2::<f32>::ones((12, 1));
    let answers = Array2::<f32>::ones((3, 1));
    let capped = HopRag::build(
        passages.clone(),
        &answers.view(),
        &vectors.view(),
        &EdgeRules::clean(),
    );
    let all = HopRag::build(
        passages,
        &answers.view(),
        &vectors.view(),
        &EdgeRules::published(),
    );
    assert_eq!(all.unwrap().edges().len(), 6);
    assert_eq!(capped.unwrap().edges().len(), 5); // 3 · log₂ 3 = 4.75
}

#[test]
fn hops_reach_what_is_far_from_the_question() {
    let (index, pending) = build(&EdgeRules::clean());
    let question = arr1(&[0.2, 0.5, 0.6, 0.0]);
    let recall = |hops| {
        let options = HopRagOptions { top: 1, hops };
        let dense = [0.9, 0.1, 0.05, 0.3];
        index
            .recall(
                &question.view(),
                &words(&[]),
                &pending.view(),
                &dense,
                &BySimilarity,
                &options,
            )
            .unwrap()
    };
    let reached = |hops| -> Vec<u32> {
        recall(hops)
            .visits
            .iter()
            .map(|visit| visit.passage)
            .collect()
    };
    assert_eq!(reached(0), [0]);
    assert_eq!(reached(1), [0, 1]);
    assert_eq!(reached(4), [0, 1, 2]);
    let found = recall(4);
    assert_eq!(found.queue, [1, 1, 1, 0]);
    assert_eq!(found.visits[2].edge.map(|edge| edge.from), Some(1)); // it says by which question
    assert_eq!(found.ranking.len(), 1); // pruned to the most helpful
}

#[test]
fn who_is_visited_more_is_more_helpful() {
    // 0 and 1 both raise what 2 answers.
    let passages = vec![
        passage(0, &[], 0, 1),
        passage(1, &[], 0, 1),
        passage(2, &[], 1, 0),
    ];
    let (answerable, pending) = (arr2(&[[1.0_f32]]), arr2(&[[1.0_f32], [1.0]]));
    let index = HopRag::build(
        passages,
        &answerable.view(),
        &pending.view(),
        &EdgeRules::clean(),
    );
    let options = HopRagOptions { top: 2, hops: 1 };
    let found = index
        .unwrap()
        .recall(
            &arr1(&[1.0]).view(),
            &words(&[]),
            &pending.view(),
            &[0.5, 0.4, 0.1],
            &BySimilarity,
            &options,
        )
        .unwrap();
    // 0: (0.25 + 1/4) / 2; 2: (0.05 + 2/4) / 2; 1: (0.2 + 1/4) / 2.
    assert_eq!(found.ranking.ids().copied().collect::<Vec<_>>(), [2, 0]);
    assert!((found.ranking.as_slice()[0].score - 0.275).abs() < 1e-9);
}

/// A chooser of one's own: never leaves.
struct Stay;

impl HopChooser for Stay {
    fn choose(&self, _: &[QuestionEdge], _: &[f64]) -> Result<Option<usize>, ProviderError> {
        Ok(None)
    }
}

#[test]
fn the_chooser_decides_and_wrong_sizes_are_refused() {
    let (index, pending) = build(&EdgeRules::clean());
    let question = arr1(&[0.0, 1.0, 0.0, 0.0]);
    let options = HopRagOptions { top: 1, hops: 4 };
    let ask = |dense: &[f64]| {
        index.recall(
            &question.view(),
            &words(&[]),
            &pending.view(),
            dense,
            &Stay,
            &options,
        )
    };
    assert_eq!(ask(&[0.9, 0.1, 0.1, 0.1]).unwrap().visits.len(), 1);
    let refused = ask(&[0.9]).unwrap_err();
    assert!(matches!(
        refused,
        HopError::Vectors {
            what: "passages",
            ..
        }
    ));
    let (passages, answerable, _) = chain();
    let none = Array2::<f32>::zeros((0, 4));
    let refused = HopRag::build(
        passages,
        &answerable.view(),
        &none.view(),
        &EdgeRules::clean(),
    );
    assert!(matches!(
        refused.unwrap_err(),
        HopError::Vectors {
            what: "pending questions",
            ..
        }
    ));
}
