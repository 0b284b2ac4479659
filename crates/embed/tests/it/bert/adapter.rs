//! Adapters: what is refused, what a trained one does, and that training repeats itself.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use cornu_core::{PairScorer, ProviderError, Side, TokenEmbedder};
use cornu_embed::bert::{
    Adapter, AdapterKind, BertOptions, BertPairScorer, Group, Loss, ModelError, PairTrainer,
    ProjectionOptions, ProjectionTrainer, States, TrainOptions, write_adapter,
};

use super::data;
use super::opened::tiny;

const QUERY: &str = "what is the gradient";
const DOCUMENTS: [&str; 5] = [
    "the gradient is the model",
    "如何清空梯度",
    "training the query",
    "短句",
    "what is the gradient of a document",
];

fn options() -> TrainOptions {
    TrainOptions {
        split: 1,
        rank: 4,
        document_tokens: 24,
        rate: 0.02,
        warmup: 1,
        steps: 40,
        ..TrainOptions::default()
    }
}

fn trainer(options: TrainOptions, threads: usize) -> PairTrainer {
    let bert = BertOptions {
        threads: NonZeroUsize::new(threads),
        ..BertOptions::default()
    };
    PairTrainer::new(data("tiny-bge").to_str().unwrap(), &bert, options).unwrap()
}

fn scorer(adapter: &Path) -> Result<BertPairScorer, ModelError> {
    BertPairScorer::load_with_adapter(&data("tiny-bge"), adapter, &BertOptions::default())
}

/// Steps on one question whose fourth document is the right one.
fn train(trainer: &mut PairTrainer, steps: usize) -> Vec<f64> {
    let query = trainer.states(&[QUERY], Side::Query).unwrap();
    let documents = trainer.states(&DOCUMENTS, Side::Document).unwrap();
    let group = || Group {
        query: &query[0],
        documents: documents.iter().collect(),
        targets: vec![0.0, 0.0, 0.0, 1.0, 0.0],
    };
    let other = || Group {
        documents: documents.iter().rev().collect(),
        targets: vec![0.0, 1.0, 0.0, 0.0, 0.0],
        ..group()
    };
    (0..steps)
        .map(|_| trainer.step(&[group(), other()]).unwrap())
        .collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn each_loss_teaches_the_right_answer() {
    for loss in [Loss::Listwise, Loss::Pairwise, Loss::Distillation] {
        let mut trainer = trainer(TrainOptions { loss, ..options() }, 1);
        let losses = train(&mut trainer, 40);
        assert!(losses[39] < 0.5 * losses[0], "{loss:?}: {losses:?}");
        let query = trainer.states(&[QUERY], Side::Query).unwrap();
        let documents = trainer.states(&DOCUMENTS, Side::Document).unwrap();
        let documents: Vec<&States> = documents.iter().collect();
        let scores = trainer.scores(&query[0], &documents).unwrap();
        let best = (0..5).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        assert_eq!(best, Some(3), "{loss:?}: {scores:?}");
    }
}

/// The shipped form (merged weights, f16 in the file) scores as the network that was trained.
#[test]
fn an_exported_adapter_scores_as_the_trainer_does() {
    let folder = tempfile::tempdir().unwrap();
    let mut trainer = trainer(options(), 2);
    train(&mut trainer, 20);
    let adapter = trainer
        .export(folder.path(), "tiny", serde_json::json!({"steps": 20}))
        .unwrap();
    assert_eq!(adapter.manifest().kind, AdapterKind::Pair);
    trainer.adopt(&adapter).unwrap();
    let query = trainer.states(&[QUERY], Side::Query).unwrap();
    let documents = trainer.states(&DOCUMENTS, Side::Document).unwrap();
    let documents: Vec<&States> = documents.iter().collect();
    let theirs = trainer.scores(&query[0], &documents).unwrap();
    let ours = scorer(folder.path())
        .unwrap()
        .score(QUERY, &DOCUMENTS)
        .unwrap();
    for (ours, theirs) in ours.iter().zip(&theirs) {
        // The trainer keeps lower states in f16.
        assert!((ours - theirs).abs() < 0.02, "{ours} for {theirs}");
    }
    let spread = ours.iter().copied().fold(f32::MIN, f32::max)
        - ours.iter().copied().fold(f32::MAX, f32::min);
    assert!(spread > 1.0, "{ours:?}");
}

/// An oracle that shares no code with the head: with closed gates, no changes and the second
/// similarity alone, a score is 20 times the mean of the largest cosines between token vectors.
#[test]
fn with_closed_gates_a_score_is_max_sim_of_token_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let first = trainer(options(), 1)
        .export(folder.path(), "tiny", serde_json::Value::Null)
        .unwrap();
    let mut tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)> = BTreeMap::new();
    let (hidden, inner) = (32, 64);
    tensors.insert("sides".into(), (vec![2, hidden], vec![0.0; 2 * hidden]));
    tensors.insert("gates.1".into(), (vec![4, 2], vec![-100.0; 8]));
    tensors.insert("head.mix".into(), (vec![2], vec![0.0, 1.0]));
    let zeros = |shape: [usize; 2]| (shape.to_vec(), vec![0.0; shape[0] * shape[1]]);
    tensors.insert("head.inner".into(), zeros([3 * hidden, inner]));
    tensors.insert("head.inner_bias".into(), (vec![inner], vec![0.0; inner]));
    tensors.insert("head.outer".into(), zeros([inner, 1]));
    write_adapter(folder.path(), first.manifest().clone(), &tensors).unwrap();
    let scores = scorer(folder.path())
        .unwrap()
        .score(QUERY, &DOCUMENTS)
        .unwrap();
    let embedder = tiny().token_embedder();
    let query = &embedder.embed_tokens(&[QUERY], Side::Query).unwrap()[0];
    let documents = embedder.embed_tokens(&DOCUMENTS, Side::Document).unwrap();
    for (score, document) in scores.iter().zip(&documents) {
        let cosines = query.vectors.dot(&document.vectors.t());
        let nearest = cosines
            .rows()
            .into_iter()
            .map(|row| row.iter().copied().fold(f32::MIN, f32::max));
        let expected = 20.0 * nearest.sum::<f32>() / query.vectors.nrows() as f32;
        assert!((score - expected).abs() < 1e-4, "{score} for {expected}");
    }
}

#[test]
fn a_score_does_not_depend_on_the_batch_and_the_query_is_never_cut() {
    let folder = tempfile::tempdir().unwrap();
    let mut trained = trainer(options(), 1);
    train(&mut trained, 10);
    trained
        .export(folder.path(), "tiny", serde_json::Value::Null)
        .unwrap();
    let scorer = scorer(folder.path()).unwrap();
    let together = scorer.score(QUERY, &DOCUMENTS).unwrap();
    for (document, score) in DOCUMENTS.iter().zip(&together) {
        let alone = scorer.score(QUERY, &[document]).unwrap();
        assert_eq!(bits(&alone), bits(&[*score]));
    }
    let mut turned = DOCUMENTS;
    turned.reverse();
    let mut backwards = scorer.score(QUERY, &turned).unwrap();
    backwards.reverse();
    assert_eq!(bits(&backwards), bits(&together));
    assert!(scorer.score(QUERY, &[]).unwrap().is_empty());
    let long = "the model is ".repeat(60);
    let cut = scorer
        .score(QUERY, &[&long, &format!("{long} train")])
        .unwrap();
    assert_eq!(bits(&cut[..1]), bits(&cut[1..]));
    let endless = "the model is ".repeat(100);
    let error = scorer.score(&endless, &["a"]).unwrap_err();
    assert!(matches!(error, ProviderError::TooLong { .. }), "{error}");
}

#[test]
fn what_is_kept_of_a_passage_changes_no_bit_of_its_score() {
    let folder = tempfile::tempdir().unwrap();
    let mut trained = trainer(options(), 1);
    train(&mut trained, 10);
    trained
        .export(folder.path(), "tiny", serde_json::Value::Null)
        .unwrap();
    let plain = scorer(folder.path()).unwrap();
    let expected = plain.score(QUERY, &DOCUMENTS).unwrap();
    // Room for all, for some, for none.
    for bytes in [1 << 20, 4000, 10] {
        let keeping = scorer(folder.path()).unwrap().keeping(bytes);
        assert_eq!(keeping.fingerprint(), plain.fingerprint());
        for question in [QUERY, "the model", QUERY] {
            let scores = keeping.score(question, &DOCUMENTS[1..4]).unwrap();
            let again = keeping.score(question, &DOCUMENTS).unwrap();
            assert_eq!(bits(&scores), bits(&again[1..4]), "{bytes}");
            if question == QUERY {
                assert_eq!(bits(&again), bits(&expected), "{bytes}");
            }
        }
    }
}

#[test]
fn training_repeats_itself_on_any_number_of_threads_and_after_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    let mut whole = trainer(options(), 1);
    train(&mut whole, 6);
    let whole = whole.export(&one, "tiny", serde_json::Value::Null).unwrap();

    let mut first = trainer(options(), 3);
    train(&mut first, 4);
    let checkpoint = folder.path().join("last.safetensors");
    first.save(&checkpoint).unwrap();
    let mut second = trainer(options(), 2);
    second.resume(&checkpoint).unwrap();
    assert_eq!(second.steps_done(), 4);
    train(&mut second, 2);
    let stopped = second
        .export(&other, "tiny", serde_json::Value::Null)
        .unwrap();
    assert_eq!(
        whole.manifest().tensors_sha256,
        stopped.manifest().tensors_sha256
    );
}

#[test]
fn an_adapter_of_other_weights_or_damaged_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    trainer(options(), 1)
        .export(folder.path(), "tiny", serde_json::Value::Null)
        .unwrap();
    let bert = BertOptions::default();
    let other = BertPairScorer::load_with_adapter(&data("tiny-bert-pair"), folder.path(), &bert);
    let error = other.err().unwrap();
    assert!(matches!(error, ModelError::OtherBase { .. }), "{error}");
    assert!(error.to_string().contains("tiny-bge"), "{error}");

    let tensors = folder.path().join("adapter.safetensors");
    let mut bytes = std::fs::read(&tensors).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&tensors, bytes).unwrap();
    let error = scorer(folder.path()).err().unwrap();
    assert!(matches!(error, ModelError::Malformed { .. }), "{error}");
    let error = Adapter::open(&folder.path().join("none")).unwrap_err();
    assert!(matches!(error, ModelError::Missing { .. }), "{error}");
}

/// A shipped adapter is found by its name, and knows which of two answers a question has.
#[test]
fn shipped_adapters_open_by_name_and_prefer_the_answer() {
    for name in Adapter::shipped_names() {
        let adapter = Adapter::shipped(name).unwrap();
        if adapter.manifest().kind != AdapterKind::Pair
            || super::model(&adapter.manifest().base.name).is_none()
        {
            continue;
        }
        let scorer = BertPairScorer::open(name, &BertOptions::default()).unwrap();
        let documents = [
            "Lothair II was the king of Lotharingia. His mother was Ermengarde of Tours.",
            "The weather in the valley is mild, and the river freezes only rarely.",
        ];
        let scores = scorer
            .score("Who was the mother of Lothair II?", &documents)
            .unwrap();
        assert!(scores[0] > scores[1], "{name}: {scores:?}");
    }
}

#[test]
fn a_projection_gives_short_unit_vectors_and_its_trainers_scores() {
    let folder = tempfile::tempdir().unwrap();
    let states = ProjectionTrainer::states(tiny(), &DOCUMENTS, Side::Document).unwrap();
    let query = ProjectionTrainer::states(tiny(), &[QUERY], Side::Query).unwrap();
    let sample: Vec<&States> = states.iter().collect();
    let whole = ProjectionOptions {
        dimension: 32,
        ..ProjectionOptions::default()
    };
    // All axes: a rotation, which leaves every cosine alone.
    let rotation = ProjectionTrainer::new(tiny(), &sample, whole).unwrap();
    let plain = rotation.plain_scores(&query[0], &sample).unwrap();
    for (turned, plain) in rotation
        .scores(&query[0], &sample)
        .unwrap()
        .iter()
        .zip(&plain)
    {
        assert!((turned - plain).abs() < 1e-5, "{turned} for {plain}");
    }
    let options = ProjectionOptions {
        dimension: 8,
        rate: 0.02,
        steps: 30,
        ..ProjectionOptions::default()
    };
    let mut trainer = ProjectionTrainer::new(tiny(), &sample, options).unwrap();
    let mut losses = Vec::new();
    for _ in 0..30 {
        let group = Group {
            query: &query[0],
            documents: sample.clone(),
            targets: vec![0.0, 1.0, 0.0, 0.0, 0.0],
        };
        losses.push(trainer.step(&[group]).unwrap());
    }
    assert!(losses[29] < 0.5 * losses[0], "{losses:?}");
    let adapter = trainer
        .export(folder.path(), "tiny-tokens", serde_json::Value::Null)
        .unwrap();
    let embedder = tiny().projected_token_embedder(&adapter).unwrap();
    assert_eq!(embedder.token_dimension(), 8);
    assert_ne!(
        embedder.fingerprint().to_string(),
        tiny().token_embedder().fingerprint().to_string()
    );
    let query_rows = &embedder.embed_tokens(&[QUERY], Side::Query).unwrap()[0].vectors;
    let documents = embedder.embed_tokens(&DOCUMENTS, Side::Document).unwrap();
    let theirs = trainer.scores(&query[0], &sample).unwrap();
    for (document, theirs) in documents.iter().zip(&theirs) {
        for row in document.vectors.rows() {
            assert!((row.dot(&row) - 1.0).abs() < 1e-5);
        }
        let cosines = query_rows.dot(&document.vectors.t());
        let nearest = cosines
            .rows()
            .into_iter()
            .map(|row| row.iter().copied().fold(f32::MIN, f32::max));
        let ours = nearest.sum::<f32>() / query_rows.nrows() as f32;
        assert!((ours - theirs).abs() < 5e-3, "{ours} for {theirs}");
    }
    // A projection is no cross-encoder.
    assert!(scorer(folder.path()).is_err());
}
