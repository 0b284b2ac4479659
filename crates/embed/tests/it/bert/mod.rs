//! BERT. What needs weights of a published model takes them from `CORNU_MODELS` (`cargo xtask
//! test` sets it) and otherwise says that it was skipped; `CORNU_REQUIRE_MODELS=1` makes that a
//! failure.

mod configuration;
mod counting;
mod hostile;
mod packed;

#[cfg(feature = "torch")]
mod adapter;
#[cfg(feature = "torch")]
mod bits;
#[cfg(feature = "torch")]
mod cases;
#[cfg(feature = "torch")]
mod contract;
#[cfg(feature = "torch")]
mod parity;
#[cfg(feature = "torch")]
mod synonyms;
#[cfg(feature = "torch")]
mod tiny;

use std::io::Write;
use std::path::{Path, PathBuf};

/// A committed file of this crate's tests.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn oracle_texts() -> Vec<String> {
    serde_json::from_value(json(&data("texts.json"))).unwrap()
}

/// The folder of a published model, or a loud word that the test is skipped.
fn model(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CORNU_MODELS").map(|models| PathBuf::from(models).join(name));
    match folder {
        Some(folder) if folder.is_dir() => Some(folder),
        other => {
            let why = other.map_or_else(
                || "CORNU_MODELS is not set".to_owned(),
                |folder| format!("{} is not there", folder.display()),
            );
            assert!(
                std::env::var_os("CORNU_REQUIRE_MODELS").is_none_or(|value| value != "1"),
                "{name} is required: {why}"
            );
            let test = std::thread::current().name().unwrap_or("a test").to_owned();
            // Not `eprintln!`: the test harness swallows it when a test passes.
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
            None
        }
    }
}

#[cfg(feature = "torch")]
mod opened {
    //! Each model is opened once for all tests.

    use std::path::Path;
    use std::sync::LazyLock;

    use cornu_embed::bert::{BertEmbeddingProvider, BertOptions, Truncation};

    pub(super) fn tiny() -> &'static BertEmbeddingProvider {
        static TINY: LazyLock<BertEmbeddingProvider> =
            LazyLock::new(|| open(&super::data("tiny-bge"), &BertOptions::default()));
        &TINY
    }

    pub(super) fn minilm() -> Option<&'static BertEmbeddingProvider> {
        static MINILM: LazyLock<Option<BertEmbeddingProvider>> =
            LazyLock::new(|| super::model("all-MiniLM-L6-v2").map(|folder| open(&folder, &cut())));
        super::model("all-MiniLM-L6-v2")?;
        MINILM.as_ref()
    }

    pub(super) fn e5() -> Option<&'static BertEmbeddingProvider> {
        static E5: LazyLock<Option<BertEmbeddingProvider>> = LazyLock::new(|| {
            super::model("multilingual-e5-small-q4").map(|folder| open(&folder, &cut()))
        });
        super::model("multilingual-e5-small-q4")?;
        E5.as_ref()
    }

    pub(super) fn open(folder: &Path, options: &BertOptions) -> BertEmbeddingProvider {
        BertEmbeddingProvider::open(folder.to_str().unwrap(), options).unwrap()
    }

    fn cut() -> BertOptions {
        BertOptions {
            truncation: Truncation::Right,
            ..BertOptions::default()
        }
    }
}

/// Decodes base64 of little-endian f32.
#[cfg(feature = "torch")]
fn floats(value: &serde_json::Value) -> Vec<f32> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let text = value.as_str().unwrap().trim_end_matches('=');
    let mut bytes = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let bits = group
            .iter()
            .fold(0, |bits, &byte| (bits << 6) | digit(byte));
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    let (words, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

#[cfg(feature = "torch")]
fn cosine(a: impl IntoIterator<Item = f32>, b: impl IntoIterator<Item = f32>) -> f64 {
    let (mut dot, mut a2, mut b2) = (0.0, 0.0, 0.0);
    for (a, b) in a.into_iter().zip(b) {
        let (a, b) = (f64::from(a), f64::from(b));
        dot += a * b;
        a2 += a * a;
        b2 += b * b;
    }
    dot / (a2 * b2).sqrt()
}
