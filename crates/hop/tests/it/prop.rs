//! PropRAG: paths of propositions, and two walks.

use cornu_core::{
    EmbeddingProvider, Embeddings, Fingerprint, Proposition, ProviderError, TextTokens,
};
use cornu_hop::HopError;
use cornu_hop::prop::{BeamOptions, PropMode, PropOptions, PropPassage, PropRag, PropRecalled};
use ndarray::{Array1, Array2, arr1, arr2};

fn proposition(text: &str, entities: &[&str]) -> Proposition {
    Proposition {
        text: text.to_owned(),
        entities: entities.iter().map(|&name| name.to_owned()).collect(),
    }
}

/// A chain of three passages, and one apart. Propositions in order of text: a, b, c, d.
fn chain() -> [Vec<Proposition>; 4] {
    [
        vec![proposition("a", &["Alpha", "Beta"])],
        vec![proposition("b", &["beta", "Gamma"])],
        vec![proposition("c", &["Gamma", "Delta"])],
        vec![proposition("d", &["Omega", "Psi"])],
    ]
}

fn index(mode: PropMode) -> PropRag {
    let chain = chain();
    let passages: Vec<_> = chain
        .iter()
        .map(|propositions| PropPassage { propositions })
        .collect();
    PropRag::build(&passages, mode).unwrap()
}

/// The question is near `a`; `c` is near what `a` lacks; `d` is near neither.
fn vectors() -> Array2<f32> {
    arr2(&[
        [0.8, 0.6, 0.0],
        [0.6, 0.0, 0.8],
        [0.6, -0.8, 0.0],
        [0.0, 0.0, 1.0],
    ])
}

fn options() -> PropOptions {
    PropOptions {
        first_paths: 1,
        beam: BeamOptions {
            parallel: 0,
            ..BeamOptions::default()
        },
        ..PropOptions::default()
    }
}

/// What is found for the question, all passages being as near.
fn recall(
    index: &PropRag,
    model: Option<&dyn EmbeddingProvider>,
    options: &PropOptions,
) -> PropRecalled {
    let question = arr1(&[1.0, 0.0, 0.0]);
    index
        .recall(
            &question.view(),
            &vectors().view(),
            &[0.5; 4],
            model,
            options,
        )
        .unwrap()
}

/// Whether a path goes from `a` to `b`.
fn joins_a_and_b(index: &PropRag) -> bool {
    let paths = recall(index, None, &options()).paths;
    paths
        .iter()
        .any(|path| path.propositions.starts_with(&[0, 1]))
}

#[test]
fn the_walk_reaches_what_shares_entities_only() {
    let found = recall(&index(PropMode::Clean), None, &options());
    let order: Vec<u32> = found.ranking.ids().copied().collect();
    assert_eq!(order.last(), Some(&3), "{found:?}");
    assert!(!found.dense_only);
    // A path may join a and c over b; together they mean the question best.
    assert!(
        found
            .paths
            .iter()
            .any(|path| path.propositions == [0, 1, 2]),
        "{:?}",
        found.paths
    );
    // Best first.
    assert!(
        found
            .paths
            .windows(2)
            .all(|pair| pair[0].score >= pair[1].score)
    );
}

/// In the published mode "Beta" and "beta" are two entities, so that the chain is broken there.
#[test]
fn spelling_parts_entities_in_the_published_mode() {
    assert!(joins_a_and_b(&index(PropMode::Clean)));
    assert!(!joins_a_and_b(&index(PropMode::Published)));
}

/// A synonym mends it; the published program tells one from facts by its odd weight, and so misses
/// one whose cosine is exactly 1.
#[test]
fn synonyms_are_steps() {
    let steps = |score: f64| {
        let index = index(PropMode::Published);
        let at = |name: &str| index.entities().iter().position(|key| key == name).unwrap() as u32;
        let pairs = [
            (at("Beta"), at("beta"), score),
            (at("beta"), at("Beta"), score),
        ];
        joins_a_and_b(&index.with_synonyms(pairs).unwrap())
    };
    assert!(steps(0.9));
    assert!(!steps(0.7));
    assert!(!steps(1.0));
}

/// Gives every text the question's vector when it is "a b", else another.
struct Joined(Fingerprint);

impl EmbeddingProvider for Joined {
    fn dimension(&self) -> usize {
        3
    }
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        let mut vectors = Array2::zeros((texts.len(), 3));
        for (mut row, text) in vectors.rows_mut().into_iter().zip(texts) {
            row[if *text == "a b" { 0 } else { 2 }] = 1.0;
        }
        let tokens = texts.iter().map(|_| TextTokens::whole(1)).collect();
        Ok(Embeddings { vectors, tokens })
    }
    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        Ok(self.embed(&[text])?.row(0).to_owned())
    }
}

#[test]
fn a_model_scores_joined_texts_again() {
    let index = index(PropMode::Clean);
    let model = Joined(Fingerprint::new("joined"));
    let options = PropOptions {
        beam: BeamOptions {
            width: 1,
            parallel: 3,
            ..BeamOptions::default()
        },
        ..options()
    };
    let found = recall(&index, Some(&model), &options);
    assert_eq!(found.paths[0].propositions, [0, 1]);
    assert_eq!(found.paths[0].score, 1.0);
}

#[test]
fn without_propositions_the_dense_scores_rank() {
    let empty = [
        PropPassage { propositions: &[] },
        PropPassage { propositions: &[] },
    ];
    let index = PropRag::build(&empty, PropMode::Clean).unwrap();
    let (question, none) = (arr1(&[1.0]), Array2::<f32>::zeros((0, 1)));
    let found = index
        .recall(
            &question.view(),
            &none.view(),
            &[0.1, 0.9],
            None,
            &options(),
        )
        .unwrap();
    assert!(found.dense_only);
    assert_eq!(found.ranking.ids().next(), Some(&1));
    let refused = index
        .recall(&question.view(), &none.view(), &[0.1], None, &options())
        .unwrap_err();
    assert!(matches!(
        refused,
        HopError::Vectors {
            what: "passages",
            found: 1,
            expected: 2
        }
    ));
}
