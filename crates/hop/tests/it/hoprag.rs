//! HopRAG: edges are questions.

use std::collections::{BTreeMap, BTreeSet};

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

/// The definition, one pending question after another.
fn defined(
    passages: &[HopRagPassage],
    answerable: &Array2<f32>,
    pending: &Array2<f32>,
    elsewhere: usize,
) -> Vec<QuestionEdge> {
    let owners = |count: fn(&HopRagPassage) -> usize| {
        let each = (0_u32..).zip(passages);
        let owners = each.flat_map(|(at, passage)| std::iter::repeat_n(at, count(passage)));
        owners.collect::<Vec<u32>>()
    };
    let (answerers, askers) = (
        owners(|passage| passage.answerable),
        owners(|passage| passage.pending),
    );
    let mut best: BTreeMap<(u32, u32), QuestionEdge> = BTreeMap::new();
    for (row, &from) in (0_u32..).zip(&askers) {
        let asker = &passages[from as usize];
        let shared = passages.iter().map(|passage| {
            let either = asker.keywords.union(&passage.keywords).count();
            let both = asker.keywords.intersection(&passage.keywords).count();
            both as f64 / either.max(1) as f64
        });
        let shared: Vec<f64> = shared.collect();
        let mut edges: Vec<QuestionEdge> = (0_u32..)
            .zip(&answerers)
            .filter(|(_, to)| **to != from)
            .map(|(answer, &to)| {
                let cosine = pending
                    .row(row as usize)
                    .dot(&answerable.row(answer as usize));
                QuestionEdge {
                    from,
                    to,
                    pending: Some(row),
                    answerable: answer,
                    similarity: (f64::from(cosine) + shared[to as usize]) / 2.0,
                }
            })
            .collect();
        edges.sort_by(|a, b| b.similarity.total_cmp(&a.similarity)); // stable: by answer
        let is_elsewhere =
            |edge: &&QuestionEdge| passages[edge.to as usize].document != asker.document;
        let elsewhere = edges.iter().filter(is_elsewhere).take(elsewhere);
        for edge in edges.first().into_iter().chain(elsewhere) {
            let kept = best.entry((from, edge.to)).or_insert(*edge);
            if edge.similarity > kept.similarity {
                *kept = *edge;
            }
        }
    }
    let mut edges: Vec<QuestionEdge> = best.into_values().collect();
    edges.sort_by(|a, b| {
        let by_similarity = b.similarity.total_cmp(&a.similarity);
        a.from
            .cmp(&b.from)
            .then(by_similarity)
            .then(a.to.cmp(&b.to))
    });
    edges
}

/// Small integers as components, so that every sum is exact and many are equal.
#[test]
fn edges_are_those_of_the_definition_in_blocks_of_any_number() {
    let mut state = 11_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    // The last has several blocks of both kinds of questions.
    for (count, most, dimension, numbers) in [
        (1, 2, 2, &[2][..]),
        (7, 3, 1, &[0, 1, 2, 5]),
        (60, 5, 3, &[0, 2, 5]),
        (310, 30, 6, &[2]),
    ] {
        let passages: Vec<HopRagPassage> = (0..count)
            .map(|at| HopRagPassage {
                document: at as u32 / 2,
                keywords: (0..next(4)).map(|_| next(count).to_string()).collect(),
                answerable: next(most + 1),
                pending: next(3),
            })
            .collect();
        let rows = |of: fn(&HopRagPassage) -> usize| passages.iter().map(of).sum::<usize>();
        let mut vectors = |rows| Array2::from_shape_fn((rows, dimension), |_| next(5) as f32 - 2.0);
        let answerable = vectors(rows(|passage| passage.answerable));
        let pending = vectors(rows(|passage| passage.pending));
        if count == 310 {
            assert!(answerable.nrows() > 4096 && pending.nrows() > 280);
        }
        for &elsewhere in numbers {
            let rules = EdgeRules {
                elsewhere,
                adopt_orphans: false,
                cap: false,
            };
            let (answers, asks) = (answerable.view(), pending.view());
            let index = HopRag::build(passages.clone(), &answers, &asks, &rules).unwrap();
            let expected = defined(&passages, &answerable, &pending, elsewhere);
            assert_eq!(index.edges(), expected, "{count} {elsewhere}");
        }
    }
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
