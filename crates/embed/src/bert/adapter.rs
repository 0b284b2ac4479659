//! Adapters: small files that change what a model does, bound to the weights they were trained on.
//!
//! A folder holds `adapter.json`, the [`AdapterManifest`], and `adapter.safetensors`. The manifest
//! names the base by the sha256 of its weights, and the tensors by theirs: an adapter on other
//! weights would give numbers that mean nothing, so it is refused.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::ModelError;
use super::safetensors::{Precision, SafeTensors, to_bytes};
use super::source::{file_name, read_small, sha256_of};

const MANIFEST: &str = "adapter.json";
const TENSORS: &str = "adapter.safetensors";
const FORMAT: &str = "cornu.adapter.v1";
/// Name, manifest and tensors of each adapter in this crate's folder `adapters`.
const CARRIED: &[(&str, &[u8], &[u8])] = include!(concat!(env!("OUT_DIR"), "/carried.rs"));

const MAX_MANIFEST: u64 = 1 << 20;
const MAX_TENSORS: u64 = 256 << 20;

/// What an adapter says about itself, beside its tensors.
///
/// ```
/// use cornu_embed::bert::{AdapterKind, AdapterManifest};
/// let json = br#"{"format": "cornu.adapter.v1", "kind": "pair", "name": "example",
///     "base": {"name": "all-MiniLM-L6-v2", "weights_sha256": "00"}, "tensors_sha256": "11",
///     "split": 4, "document_tokens": 160}"#;
/// let manifest = AdapterManifest::from_json(json, "adapter.json")?;
/// assert_eq!((manifest.kind, manifest.split), (AdapterKind::Pair, 4));
/// # Ok::<(), cornu_embed::bert::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdapterManifest {
    /// `cornu.adapter.v1`.
    pub format: String,
    /// What it makes of the model.
    pub kind: AdapterKind,
    /// Its name, which stands in fingerprints.
    pub name: String,
    /// The model that it was trained on.
    pub base: AdapterBase,
    /// sha256 of `adapter.safetensors`, in hexadecimal.
    pub tensors_sha256: String,
    /// For [`AdapterKind::Pair`]: how many layers read query and document apart, before the others
    /// read them together.
    #[serde(default)]
    pub split: usize,
    /// The most tokens of a document, special tokens and prefix included: those it was trained on.
    pub document_tokens: usize,
    /// How it was trained: for people, and for those who train it again.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub training: serde_json::Value,
}

/// What an adapter makes of a model.
///
/// ```
/// assert_ne!(cornu_embed::bert::AdapterKind::Pair, cornu_embed::bert::AdapterKind::Tokens);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AdapterKind {
    /// A cross-encoder: low-rank changes of the upper layers, and a head.
    Pair,
    /// A projection of token vectors to fewer dimensions.
    Tokens,
}

/// The model that an adapter belongs to.
///
/// ```
/// use cornu_embed::bert::AdapterBase;
/// let base = AdapterBase { name: "all-MiniLM-L6-v2".into(), weights_sha256: "00".into() };
/// assert_eq!(base.clone(), base);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterBase {
    /// Its name, for people.
    pub name: String,
    /// sha256 of the file of its weights, in hexadecimal: what counts.
    pub weights_sha256: String,
}

impl AdapterManifest {
    /// Reads an `adapter.json`; `file` names it in errors.
    ///
    /// # Errors
    /// [`ModelError::Malformed`], or [`ModelError::Unsupported`] for another format.
    pub fn from_json(bytes: &[u8], file: &str) -> Result<Self, ModelError> {
        let manifest: Self = serde_json::from_slice(bytes)
            .map_err(|error| ModelError::malformed(file, error.to_string()))?;
        if manifest.format != FORMAT {
            return Err(ModelError::Unsupported {
                file: file.to_owned(),
                what: format!("the format {:?}", manifest.format),
                remedy: format!("use an adapter of the format {FORMAT}"),
            });
        }
        if manifest.document_tokens < 8 {
            return Err(ModelError::malformed(
                file,
                format!("document_tokens is {}", manifest.document_tokens),
            ));
        }
        Ok(manifest)
    }
}

/// An adapter, read and checked.
///
/// ```no_run
/// use cornu_embed::bert::Adapter;
/// let adapter = Adapter::open("crates/embed/adapters/e5-zh-en-pair".as_ref())?;
/// println!("{} on {}", adapter.manifest().name, adapter.manifest().base.name);
/// # Ok::<(), cornu_embed::bert::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Adapter {
    manifest: AdapterManifest,
    file: String,
    tensors: BTreeMap<String, Named>,
}

/// A tensor's shape and values, row-major.
pub(crate) type Named = (Vec<usize>, Vec<f32>);

impl Adapter {
    /// Reads a folder and checks the tensors against the manifest. At most 256 MiB.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let manifest = folder.join(MANIFEST);
        let remedy = "name a folder that holds adapter.json and adapter.safetensors";
        let bytes = read_small(&manifest, MAX_MANIFEST, remedy)?;
        let manifest = AdapterManifest::from_json(&bytes, &file_name(&manifest))?;
        let path = folder.join(TENSORS);
        let bytes = read_small(&path, MAX_TENSORS, remedy)?;
        Self::from_parts(manifest, &bytes, &file_name(&path))
    }

    /// The names of the adapters that this crate carries, sorted: those that
    /// `cargo xtask train-reranker` trained.
    pub fn shipped_names() -> impl ExactSizeIterator<Item = &'static str> {
        CARRIED.iter().map(|(name, _, _)| *name)
    }

    /// One that this crate carries, by its name. Its base's weights are not carried.
    ///
    /// # Errors
    /// [`ModelError::Missing`] where there is none of that name.
    ///
    /// ```
    /// use cornu_embed::bert::Adapter;
    /// for name in Adapter::shipped_names() {
    ///     assert_eq!(Adapter::shipped(name)?.manifest().name, name);
    /// }
    /// assert!(Adapter::shipped("none").is_err());
    /// # Ok::<(), cornu_embed::bert::ModelError>(())
    /// ```
    pub fn shipped(name: &str) -> Result<Self, ModelError> {
        let (_, manifest, tensors) =
            CARRIED
                .iter()
                .find(|(of, _, _)| *of == name)
                .ok_or_else(|| {
                    let names: Vec<&str> = Self::shipped_names().collect();
                    ModelError::Missing {
                        path: name.into(),
                        remedy: format!("name one of the shipped adapters: {}", names.join(", ")),
                    }
                })?;
        let manifest = AdapterManifest::from_json(manifest, MANIFEST)?;
        Self::from_parts(manifest, tensors, name)
    }

    /// As [`open`](Self::open), from bytes; `file` names them in errors.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn from_parts(
        manifest: AdapterManifest,
        tensors: &[u8],
        file: &str,
    ) -> Result<Self, ModelError> {
        let found = sha256_of(tensors);
        if found != manifest.tensors_sha256 {
            return Err(ModelError::malformed(
                file,
                format!(
                    "its sha256 is {found}, adapter.json says {}",
                    manifest.tensors_sha256
                ),
            ));
        }
        let mut reader = SafeTensors::new(std::io::Cursor::new(tensors), file)?;
        let names: Vec<String> = reader.names().map(str::to_owned).collect();
        let mut all = BTreeMap::new();
        for name in names {
            let shape = reader.shape(&name).unwrap_or_default().to_vec();
            let values = reader.read(&name)?;
            if values.iter().any(|value| !value.is_finite()) {
                return Err(ModelError::malformed(
                    file,
                    format!("tensor {name:?} holds a value that is not finite"),
                ));
            }
            all.insert(name, (shape, values));
        }
        Ok(Self {
            manifest,
            file: file.to_owned(),
            tensors: all,
        })
    }

    /// What it says about itself.
    #[must_use]
    pub fn manifest(&self) -> &AdapterManifest {
        &self.manifest
    }

    /// Refuses other weights than those it was trained on.
    ///
    /// # Errors
    /// [`ModelError::OtherBase`].
    pub fn check_base(&self, weights_sha256: &str) -> Result<(), ModelError> {
        if self.manifest.base.weights_sha256 == weights_sha256 {
            return Ok(());
        }
        Err(ModelError::OtherBase {
            file: self.file.clone(),
            base: self.manifest.base.name.clone(),
            expected: self.manifest.base.weights_sha256.clone(),
            found: weights_sha256.to_owned(),
        })
    }

    /// Refuses an adapter of another kind.
    #[cfg_attr(
        not(feature = "torch"),
        expect(dead_code, reason = "the encoder's half")
    )]
    pub(crate) fn check_kind(&self, kind: AdapterKind) -> Result<(), ModelError> {
        if self.manifest.kind == kind {
            return Ok(());
        }
        Err(ModelError::Unsupported {
            file: self.file.clone(),
            what: format!("its use as {:?}", self.manifest.kind),
            remedy: format!("name an adapter of the kind {kind:?}"),
        })
    }

    /// The first size of a tensor.
    #[cfg_attr(
        not(feature = "torch"),
        expect(dead_code, reason = "the encoder's half")
    )]
    pub(crate) fn rows(&self, name: &str) -> Result<usize, ModelError> {
        let first = self.tensors.get(name).and_then(|(shape, _)| shape.first());
        first.copied().ok_or_else(|| ModelError::Weight {
            file: self.file.clone(),
            tensor: name.to_owned(),
            found: Vec::new(),
            expected: vec![0, 0],
        })
    }

    /// A tensor of the shape that is needed.
    pub(crate) fn tensor(&self, name: &str, expected: &[usize]) -> Result<&[f32], ModelError> {
        match self.tensors.get(name) {
            Some((shape, values)) if shape == expected => Ok(values),
            other => Err(ModelError::Weight {
                file: self.file.clone(),
                tensor: name.to_owned(),
                found: other.map(|(shape, _)| shape.clone()).unwrap_or_default(),
                expected: expected.to_vec(),
            }),
        }
    }

    /// What is added to a weight (out, in), row-major: B · A of `lora.NAME.b` (out, rank) and
    /// `lora.NAME.a` (rank, in). `None` where the adapter leaves the weight alone.
    #[cfg_attr(
        not(feature = "torch"),
        expect(dead_code, reason = "the encoder's half")
    )]
    pub(crate) fn change(
        &self,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<Option<Vec<f32>>, ModelError> {
        let Some((shape, _)) = self.tensors.get(&format!("lora.{name}.a")) else {
            return Ok(None);
        };
        let rank = shape.first().copied().unwrap_or(0);
        let a = self.tensor(&format!("lora.{name}.a"), &[rank, inputs])?;
        let b = self.tensor(&format!("lora.{name}.b"), &[outputs, rank])?;
        let mut change = Vec::with_capacity(outputs * inputs);
        for row in b.chunks_exact(rank.max(1)) {
            let mut sums = vec![0.0_f64; inputs];
            for (factor, from) in row.iter().zip(a.chunks_exact(inputs.max(1))) {
                for (sum, value) in sums.iter_mut().zip(from) {
                    *sum += f64::from(*factor) * f64::from(*value);
                }
            }
            change.extend(sums.into_iter().map(|sum| sum as f32));
        }
        Ok(Some(change))
    }
}

/// Writes an adapter into a folder, tensors as f16, and returns it as a reader will see it.
/// `manifest.tensors_sha256` is filled in. O(values).
///
/// # Errors
/// [`ModelError::Io`].
pub fn write_adapter(
    folder: &Path,
    mut manifest: AdapterManifest,
    tensors: &BTreeMap<String, (Vec<usize>, Vec<f32>)>,
) -> Result<Adapter, ModelError> {
    let bytes = to_bytes(tensors, Precision::Half);
    manifest.tensors_sha256 = sha256_of(&bytes);
    FORMAT.clone_into(&mut manifest.format);
    let json = serde_json::to_vec_pretty(&manifest)
        .map_err(|error| ModelError::malformed(MANIFEST, error.to_string()))?;
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).map_err(|source| ModelError::Io {
            file: file_name(&path),
            source,
        })
    };
    std::fs::create_dir_all(folder).map_err(|source| ModelError::Io {
        file: file_name(folder),
        source,
    })?;
    write(TENSORS, &bytes)?;
    write(MANIFEST, &[json.as_slice(), b"\n"].concat())?;
    Adapter::from_parts(manifest, &bytes, TENSORS)
}
