//! HippoRAG 2 by the published rules.

use cornu_core::Triple;
use cornu_extract::{ImportRules, read_openie};
use cornu_hop::HopError;
use cornu_hop::paper::{
    FirstHippoRag, FirstOptions, PaperCounts, PaperHippoRag, PaperOptions, PaperPassage,
    SynonymOptions, WeightMode,
};
use ndarray::{Array2, arr1, arr2};

fn triple(subject: &str, predicate: &str, object: &str) -> Triple {
    Triple {
        subject: subject.to_owned(),
        predicate: predicate.to_owned(),
        object: object.to_owned(),
    }
}

/// The counts that an index by HippoRAG 2's rules has on the published triples.
#[test]
fn the_published_triples_give_the_golden_counts() {
    let folder = std::env::var("CORNU_DATA").ok();
    let path = folder.map(|folder| format!("{folder}/musique-train-100/openie.jsonl"));
    let Some(text) = path.and_then(|path| std::fs::read_to_string(path).ok()) else {
        let message = "SKIPPED: set CORNU_DATA to the folder of the question sets to check the \
                       golden counts";
        std::io::Write::write_all(&mut std::io::stderr(), message.as_bytes()).unwrap();
        return;
    };
    let (passages, _) = read_openie(&text, ImportRules::Published).unwrap();
    let triples = passages.iter().map(|passage| PaperPassage {
        triples: &passage.extraction.triples,
    });
    let triples: Vec<_> = triples.collect();
    let index = PaperHippoRag::build(&triples, WeightMode::Published).unwrap();
    let golden = PaperCounts {
        passages: 1890,
        facts: 17_036,
        phrases: 16_235,
        pairs: 33_018,
        self_loops: 20,
        passage_edges: 19_755,
        long_phrases: 16_179,
        synonyms: 0,
    };
    assert_eq!(index.counts(), golden);
    assert_eq!(index.phrases()[0], "");
}

#[test]
fn fact_texts_are_python_tuples_of_normal_forms() {
    let triples = [
        triple("Men's Press", "is-in", "Éire"),
        triple("B", "of", "A"),
    ];
    let passages = [PaperPassage { triples: &triples }];
    let index = PaperHippoRag::build(&passages, WeightMode::Published).unwrap();
    let texts: Vec<String> = index.fact_texts().collect();
    assert_eq!(
        texts,
        ["('b', 'of', 'a')", "('men s press', 'is in', 'ire')"]
    );
}

/// Passage 0 says A–B twice (by different predicates), passage 1 says B–C.
fn chain() -> [Vec<Triple>; 3] {
    [
        vec![
            triple("alpha", "owns", "beta"),
            triple("alpha", "runs", "beta"),
        ],
        vec![triple("beta", "owns", "gamma")],
        vec![triple("delta", "met", "epsilon")],
    ]
}

fn index(mode: WeightMode) -> PaperHippoRag {
    let chain = chain();
    let passages: Vec<_> = chain
        .iter()
        .map(|triples| PaperPassage { triples })
        .collect();
    PaperHippoRag::build(&passages, mode).unwrap()
}

#[test]
fn synonyms_are_near_long_and_not_themselves() {
    let index = index(WeightMode::Published);
    assert_eq!(
        index.phrases(),
        ["alpha", "beta", "delta", "epsilon", "gamma"]
    );
    // delta is near gamma, the others are far from everything.
    let mut vectors = Array2::<f32>::eye(5);
    vectors.row_mut(2).assign(&arr1(&[0.0, 0.0, 0.6, 0.0, 0.8]));
    let options = SynonymOptions {
        threshold: 0.75,
        ..SynonymOptions::default()
    };
    let with = index.with_synonyms(&vectors.view(), &options).unwrap();
    assert_eq!(with.counts().synonyms, 2); // either way
    let refused = with
        .with_synonyms(&Array2::zeros((4, 5)).view(), &options)
        .unwrap_err();
    assert!(matches!(
        refused,
        HopError::Vectors {
            found: 4,
            expected: 5,
            ..
        }
    ));
}

#[test]
fn the_walk_goes_from_the_nearest_facts_over_shared_phrases() {
    for mode in [WeightMode::Published, WeightMode::Accumulated] {
        let index = index(mode);
        // Facts in order: alpha owns beta, alpha runs beta, beta owns gamma, delta met epsilon.
        let facts = arr2(&[[1.0_f32, 0.0], [0.9, 0.1], [0.2, 0.5], [0.0, 1.0]]);
        let options = PaperOptions {
            facts: 2,
            ..PaperOptions::default()
        };
        let found = index
            .recall(
                &arr1(&[1.0, 0.0]).view(),
                &facts.view(),
                &[0.5, 0.4, 0.4],
                &options,
            )
            .unwrap();
        assert_eq!(found.ranking.ids().copied().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(
            found
                .facts
                .iter()
                .map(|(fact, _)| *fact)
                .collect::<Vec<_>>(),
            [0, 1]
        );
        assert!(!found.dense_only);
        assert_eq!(found.ranking.as_slice()[2].score, 0.0); // no phrase leads to it, nor its vector
    }
}

#[test]
fn without_facts_the_dense_scores_rank() {
    let empty = [PaperPassage { triples: &[] }, PaperPassage { triples: &[] }];
    let index = PaperHippoRag::build(&empty, WeightMode::Published).unwrap();
    let facts = Array2::<f32>::zeros((0, 2));
    let found = index
        .recall(
            &arr1(&[1.0, 0.0]).view(),
            &facts.view(),
            &[0.1, 0.2],
            &PaperOptions::default(),
        )
        .unwrap();
    assert!(found.dense_only);
    assert_eq!(found.ranking.ids().next(), Some(&1));
}

/// A synonym's score takes the place of a count of facts in one mode, and adds to it in the other.
#[test]
fn published_weights_lose_the_facts_between_synonyms() {
    let chain = chain();
    let passages: Vec<_> = chain
        .iter()
        .map(|triples| PaperPassage { triples })
        .collect();
    let score = |mode| {
        let index = PaperHippoRag::build(&passages, mode).unwrap();
        // alpha and beta are synonyms, which share two facts.
        let mut vectors = Array2::<f32>::eye(5);
        vectors.row_mut(0).assign(&arr1(&[0.6, 0.8, 0.0, 0.0, 0.0]));
        let options = SynonymOptions {
            threshold: 0.75,
            ..SynonymOptions::default()
        };
        let index = index.with_synonyms(&vectors.view(), &options).unwrap();
        let facts = arr2(&[[1.0_f32, 0.0], [0.0, 0.1], [0.0, 0.5], [0.0, 1.0]]);
        let options = PaperOptions {
            facts: 1,
            ..PaperOptions::default()
        };
        let dense = [0.5, 0.5, 0.5];
        let found = index
            .recall(&arr1(&[1.0, 0.0]).view(), &facts.view(), &dense, &options)
            .unwrap();
        found.ranking.as_slice()[0].score
    };
    // Published: 2 × 0.8 between alpha and beta; accumulated: 2 + 0.8. More weight between the
    // phrases leaves less for their passage.
    assert!(score(WeightMode::Published) > score(WeightMode::Accumulated));
}

/// HippoRAG 1: names are linked to the nearest phrase, passages are scored by their facts.
#[test]
fn the_first_hipporag_sums_over_facts() {
    let index = index(WeightMode::Published);
    let first = FirstHippoRag::new(&index).unwrap();
    let phrases = Array2::<f32>::eye(5); // alpha, beta, delta, epsilon, gamma
    let names = arr2(&[[0.9_f32, 0.1, 0.0, 0.0, 0.0]]);
    let dense = [0.1, 0.2, 0.9];
    let ask = |recognition| {
        let options = FirstOptions {
            recognition,
            ..FirstOptions::default()
        };
        first
            .recall(&names.view(), &phrases.view(), &dense, &options)
            .unwrap()
    };
    let found = ask(None);
    assert_eq!(
        found
            .links
            .iter()
            .map(|(phrase, _)| *phrase)
            .collect::<Vec<_>>(),
        [0]
    );
    assert_eq!(found.ranking.ids().copied().collect::<Vec<_>>(), [0, 1, 2]);
    // Passage 0 has two facts of the linked phrase; no fact leads to passage 2.
    assert_eq!(found.ranking.as_slice()[0].score, 1.0);
    assert_eq!(found.ranking.as_slice()[2].score, 0.0);
    // The link's cosine is 0.9: not recognised at 0.95, so the dense scores count by half.
    let mixed = ask(Some(0.95));
    let score = |id: u32| {
        mixed
            .ranking
            .iter()
            .find(|scored| scored.id == id)
            .unwrap()
            .score
    };
    assert!((score(2) - 0.5).abs() < 1e-12 && (score(0) - 0.5).abs() < 1e-12);
    assert_eq!(ask(Some(0.5)), found);
    // A question that names nothing.
    let none = Array2::<f32>::zeros((0, 5));
    let lost = first.recall(
        &none.view(),
        &phrases.view(),
        &dense,
        &FirstOptions::default(),
    );
    let lost = lost.unwrap();
    assert!(lost.dense_only);
    assert_eq!(lost.ranking.ids().next(), Some(&2));
}
