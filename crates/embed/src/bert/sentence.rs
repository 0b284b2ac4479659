//! The files that sentence-transformers puts beside a checkpoint: which pooling, how many tokens,
//! which prefixes. They decide; nothing is guessed (mean pooling on a CLS model gives vectors of
//! the right shape and norm that are wrong).

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::Deserialize;

use super::error::ModelError;
use super::source::{file_name, read_small};

const MAX_JSON: u64 = 1 << 20;

/// How token vectors become one vector.
///
/// ```
/// use cornu_embed::bert::Pooling;
/// let tokens = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
/// let tokens = tokens.as_flattened();
/// assert_eq!(Pooling::Cls.pool(tokens, 2), [1.0, 0.0]);
/// let mean = Pooling::Mean.pool(tokens, 2); // not normalised yet: direction (1, 2)
/// assert!((mean[1] / mean[0] - 2.0).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// The first token's vector (BGE).
    Cls,
    /// The mean over all tokens, special ones included (MiniLM, E5).
    Mean,
}

impl Pooling {
    /// Pools the rows of `tokens` (row-major, `width` values each); sums in f64. O(tokens).
    #[must_use]
    pub fn pool(self, tokens: &[f32], width: usize) -> Vec<f32> {
        let rows = tokens.chunks_exact(width.max(1));
        match self {
            Self::Cls => rows.take(1).flatten().copied().collect(),
            Self::Mean => {
                let count = rows.len().max(1) as f64;
                let mut sums = vec![0.0_f64; width];
                for row in rows {
                    for (sum, value) in sums.iter_mut().zip(row) {
                        *sum += f64::from(*value);
                    }
                }
                sums.iter().map(|sum| (sum / count) as f32).collect()
            }
        }
    }

    /// "cls" or "mean", as it stands in fingerprints.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cls => "cls",
            Self::Mean => "mean",
        }
    }
}

/// What the sentence-transformers files of a model say.
///
/// ```
/// use cornu_embed::bert::{Pooling, SentenceConfig};
/// let folder = tempfile::tempdir()?;
/// std::fs::create_dir(folder.path().join("1_Pooling"))?;
/// std::fs::write(
///     folder.path().join("1_Pooling/config.json"),
///     r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#,
/// )?;
/// let config = SentenceConfig::read(folder.path())?;
/// assert_eq!(config.pooling, Some(Pooling::Cls));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentenceConfig {
    /// The pooling, where the files name one.
    pub pooling: Option<Pooling>,
    /// The most tokens of a text, special tokens included.
    pub max_tokens: Option<usize>,
    /// The prefix of queries.
    pub query_prefix: Option<String>,
    /// The prefix of documents.
    pub document_prefix: Option<String>,
}

impl SentenceConfig {
    /// Reads `modules.json`, the pooling module's `config.json`, `sentence_bert_config.json` and
    /// `config_sentence_transformers.json`, as far as they are there.
    ///
    /// # Errors
    /// [`ModelError::Malformed`], or [`ModelError::Unsupported`] for a pooling other than CLS and
    /// mean and for modules that would change the vectors (a dense layer, for example).
    pub fn read(folder: &Path) -> Result<Self, ModelError> {
        let pooling = read_pooling(folder)?;
        let limits: Option<RawLimits> = read_json(&folder.join("sentence_bert_config.json"))?;
        let prompts: RawPrompts =
            read_json(&folder.join("config_sentence_transformers.json"))?.unwrap_or_default();
        let prompt = |names: &[&str]| {
            names
                .iter()
                .find_map(|name| prompts.prompts.get(*name).cloned())
        };
        Ok(Self {
            pooling,
            max_tokens: limits.and_then(|limits| limits.max_seq_length),
            query_prefix: prompt(&["query"]),
            document_prefix: prompt(&["document", "passage", "corpus"]),
        })
    }
}

#[derive(Deserialize)]
struct RawModule {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct RawLimits {
    max_seq_length: Option<usize>,
}

#[derive(Deserialize, Default)]
struct RawPrompts {
    #[serde(default)]
    prompts: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct RawPooling {
    pooling_mode: Option<String>,
    include_prompt: Option<bool>,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

fn read_pooling(folder: &Path) -> Result<Option<Pooling>, ModelError> {
    let list = folder.join("modules.json");
    let Some(modules) = read_json::<Vec<RawModule>>(&list)? else {
        return pooling_config(&folder.join("1_Pooling").join("config.json"));
    };
    let mut pooling = None;
    for module in &modules {
        let kind = module.kind.rsplit('.').next().unwrap_or_default();
        match kind {
            // Ours normalises in any case.
            "Transformer" | "Normalize" => {}
            "Pooling" => {
                let path = inside(folder, &module.path)
                    .ok_or_else(|| {
                        ModelError::malformed(
                            file_name(&list),
                            format!("module path {:?} leaves the model's folder", module.path),
                        )
                    })?
                    .join("config.json");
                pooling = pooling_config(&path)?;
                if pooling.is_none() {
                    return Err(ModelError::Missing {
                        path,
                        remedy: "fetch the model again; its pooling is not guessed".to_owned(),
                    });
                }
            }
            other => {
                return Err(ModelError::Unsupported {
                    file: file_name(&list),
                    what: format!("a {other} module"),
                    remedy: "use a model whose modules are Transformer, Pooling and Normalize"
                        .to_owned(),
                });
            }
        }
    }
    Ok(pooling)
}

fn pooling_config(path: &Path) -> Result<Option<Pooling>, ModelError> {
    let Some(raw) = read_json::<RawPooling>(path)? else {
        return Ok(None);
    };
    let unsupported = |what: String| ModelError::Unsupported {
        file: file_name(path),
        what,
        remedy: "use a model with CLS or mean pooling".to_owned(),
    };
    if raw.include_prompt == Some(false) {
        return Err(unsupported(
            "pooling without the prefix's tokens".to_owned(),
        ));
    }
    let mut modes: Vec<&str> = raw.pooling_mode.as_deref().into_iter().collect();
    modes.extend(raw.rest.iter().filter_map(|(name, value)| {
        let mode = name.strip_prefix("pooling_mode_")?;
        (value == &serde_json::Value::Bool(true)).then_some(mode)
    }));
    match modes.as_slice() {
        ["cls" | "cls_token"] => Ok(Some(Pooling::Cls)),
        ["mean" | "mean_tokens"] => Ok(Some(Pooling::Mean)),
        [] => Err(unsupported("no pooling at all".to_owned())),
        other => Err(unsupported(format!("{} pooling", other.join(" and ")))),
    }
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, ModelError> {
    let bytes = match read_small(path, MAX_JSON, "") {
        Ok(bytes) => bytes,
        Err(ModelError::Missing { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| ModelError::malformed(file_name(path), error.to_string()))
}

fn inside(folder: &Path, path: &str) -> Option<std::path::PathBuf> {
    let path = Path::new(path);
    path.components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        .then(|| folder.join(path))
}
