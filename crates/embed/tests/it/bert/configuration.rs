//! What a model's files say is read from them, and what cannot be done is refused.

use std::fs;
use std::path::Path;

use cornu_embed::bert::{
    Activation, BertConfig, Family, ModelError, ModelFiles, Pooling, Preset, SentenceConfig,
};
use serde_json::json;

use super::data;

fn base() -> serde_json::Value {
    json!({
        "model_type": "bert", "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 64, "vocab_size": 100, "max_position_embeddings": 48
    })
}

fn config(change: impl FnOnce(&mut serde_json::Value)) -> Result<BertConfig, ModelError> {
    let mut value = base();
    change(&mut value);
    BertConfig::from_json(value.to_string().as_bytes(), "config.json")
}

#[test]
fn positions_start_after_the_padding_id_in_the_roberta_family() {
    let bert = config(|_| {}).unwrap();
    assert_eq!((bert.family, bert.first_position), (Family::Bert, 0));
    assert_eq!(bert.max_tokens(), 48);
    let xlmr = config(|value| value["model_type"] = json!("xlm-roberta")).unwrap();
    assert_eq!((xlmr.family, xlmr.first_position), (Family::Roberta, 2));
    assert_eq!(xlmr.max_tokens(), 46);
}

#[test]
fn activations_are_told_apart() {
    let read = |name: &str| config(|value| value["hidden_act"] = json!(name)).map(|c| c.activation);
    assert_eq!(read("gelu").unwrap(), Activation::Gelu);
    assert_eq!(read("gelu_pytorch_tanh").unwrap(), Activation::GeluTanh);
    assert_eq!(read("relu").unwrap(), Activation::Relu);
    assert!(matches!(
        read("swiglu"),
        Err(ModelError::Unsupported { .. })
    ));
}

#[test]
fn impossible_shapes_are_errors() {
    type Change = fn(&mut serde_json::Value);
    let changes: [Change; 7] = [
        |value| value["num_attention_heads"] = json!(5),
        |value| value["hidden_size"] = json!(0),
        |value| value["vocab_size"] = json!(u64::MAX),
        |value| value["num_hidden_layers"] = json!(-1),
        |value| value["max_position_embeddings"] = json!(2),
        |value| value["layer_norm_eps"] = json!(0.0),
        |value| drop(value.as_object_mut().unwrap().remove("hidden_size")),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        assert!(config(change).is_err(), "change {at}");
    }
    for kind in ["gpt2", "t5"] {
        let read = config(|value| value["model_type"] = json!(kind));
        assert!(
            matches!(read, Err(ModelError::Unsupported { .. })),
            "{kind}"
        );
    }
    let read = config(|value| value["position_embedding_type"] = json!("relative_key"));
    assert!(matches!(read, Err(ModelError::Unsupported { .. })));
}

/// EM-05: the two poolings differ, and the model's own file decides which it is.
#[test]
fn em_05_pooling_comes_from_the_models_own_file() {
    let tokens = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0];
    assert_eq!(Pooling::Cls.pool(&tokens, 2), [1.0, 0.0]);
    let mean = Pooling::Mean.pool(&tokens, 2);
    let norm = mean[0].hypot(mean[1]);
    assert!((mean[0] / norm - 0.4472).abs() < 1e-4 && (mean[1] / norm - 0.8944).abs() < 1e-4);

    assert_eq!(
        ModelFiles::open(&data("tiny-bge"))
            .unwrap()
            .sentence()
            .pooling,
        Some(Pooling::Cls)
    );
    let folder = tempfile::tempdir().unwrap();
    let read = |pooling: serde_json::Value| {
        fs::create_dir_all(folder.path().join("1_Pooling")).unwrap();
        write(folder.path(), "1_Pooling/config.json", &pooling);
        SentenceConfig::read(folder.path())
    };
    let modes = |cls: bool, mean: bool, max: bool| {
        json!({"pooling_mode_cls_token": cls, "pooling_mode_mean_tokens": mean,
               "pooling_mode_max_tokens": max})
    };
    assert_eq!(
        read(modes(true, false, false)).unwrap().pooling,
        Some(Pooling::Cls)
    );
    assert_eq!(
        read(modes(false, true, false)).unwrap().pooling,
        Some(Pooling::Mean)
    );
    assert_eq!(
        read(json!({"pooling_mode": "cls"})).unwrap().pooling,
        Some(Pooling::Cls)
    );
    for refused in [
        modes(false, false, true),
        modes(true, true, false),
        modes(false, false, false),
        json!({"pooling_mode_lasttoken": true}),
        json!({"pooling_mode": "max"}),
        json!({"pooling_mode_mean_tokens": true, "include_prompt": false}),
    ] {
        let read = read(refused.clone());
        assert!(
            matches!(read, Err(ModelError::Unsupported { .. })),
            "{refused}"
        );
    }
}

#[test]
fn modules_that_change_vectors_are_refused_not_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let module = |kind: &str, path: &str| {
        json!({"idx": 0, "name": "0", "path": path,
               "type": format!("sentence_transformers.models.{kind}")})
    };
    fs::create_dir(folder.path().join("pool")).unwrap();
    write(
        folder.path(),
        "pool/config.json",
        &json!({"pooling_mode_mean_tokens": true}),
    );
    let read = |modules: serde_json::Value| {
        write(folder.path(), "modules.json", &modules);
        SentenceConfig::read(folder.path())
    };
    let plain = read(json!([
        module("Transformer", ""),
        module("Pooling", "pool")
    ]));
    assert_eq!(plain.unwrap().pooling, Some(Pooling::Mean));
    let dense = read(json!([
        module("Pooling", "pool"),
        module("Dense", "2_Dense")
    ]));
    assert!(matches!(dense, Err(ModelError::Unsupported { .. })));
    for outside in ["../pool", "/etc", "pool/../../x"] {
        let read = read(json!([module("Pooling", outside)]));
        assert!(
            matches!(read, Err(ModelError::Malformed { .. })),
            "{outside}"
        );
    }
    let lost = read(json!([module("Pooling", "nowhere")]));
    assert!(matches!(lost, Err(ModelError::Missing { .. })));
}

#[test]
fn presets_fill_only_what_the_files_leave_open() {
    let bge = Preset::named("bge-small-zh-v1.5").unwrap();
    assert_eq!(bge.query_prefix, "为这个句子生成表示以用于检索相关文章：");
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("bge-small-zh-v1.5");
    copy(&data("tiny-bge"), &model);
    assert_eq!(bge.locate(folder.path()), Some(model.clone()));
    let files = ModelFiles::open(&model).unwrap();
    // Named by the files: its own prompt. Left open by them: the preset's.
    assert_eq!(files.sentence().query_prefix.as_deref(), Some("query "));
    assert_eq!(files.sentence().document_prefix.as_deref(), Some(""));
    assert_eq!(files.sentence().max_tokens, Some(192));
}

#[test]
fn a_folder_without_weights_or_with_pickled_ones_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let missing = ModelFiles::open(folder.path()).err().unwrap();
    assert!(
        missing.to_string().contains("model.safetensors"),
        "{missing}"
    );
    fs::write(folder.path().join("pytorch_model.bin"), b"\x80\x02}q\x00.").unwrap();
    let pickled = ModelFiles::open(folder.path()).err().unwrap();
    assert!(pickled.to_string().contains("convert"), "{pickled}");
}

fn write(folder: &Path, name: &str, value: &serde_json::Value) {
    fs::write(folder.join(name), value.to_string()).unwrap();
}

pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
