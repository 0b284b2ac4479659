//! The models at hand, each with where it came from and the sha256 of its weights.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use cornu_core::{EmbeddingProvider, PairScorer, TokenCounter, TokenEmbedder};
use cornu_eval::evidence::Model;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::cached::Cached;

/// The model that the chunking table embeds with: it knows Chinese, and a package carries it.
pub const PINNED: &str = "multilingual-e5-small-q4";

/// The folder `CORNU_MODELS`, which `cargo xtask` sets: one folder a model.
pub struct Models {
    root: Option<PathBuf>,
    shared: Mutex<BTreeMap<(String, Prefixes), Shared>>,
}

/// A model that several tables use, with what it has computed so far.
#[derive(Clone)]
pub struct Shared {
    /// Texts to vectors, each computed once.
    pub provider: Arc<dyn EmbeddingProvider>,
    /// Its own tokens.
    pub counter: Arc<dyn TokenCounter>,
}

/// Whether a model puts its own words before what it embeds (`query: `, `passage: `).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Prefixes {
    /// As the model was trained.
    Own,
    /// Nothing: what an ablation takes away.
    None,
}

/// A model that can be used.
pub struct Opened {
    /// Texts to vectors.
    pub provider: Box<dyn EmbeddingProvider>,
    /// Its own tokens.
    pub counter: Arc<dyn TokenCounter>,
}

/// Cross-encoders that a table may use: the first of these folders that is at hand.
pub const CROSS_ENCODERS: [&str; 3] = [
    "cornu-reranker",
    "bge-reranker-base",
    "ms-marco-MiniLM-L-6-v2",
];

/// The cross-encoder that `cornu-embed` carries: taken where none of [`CROSS_ENCODERS`] is at hand.
pub const ADAPTER: &str = "e5-zh-en-pair";

/// The adapter that makes token vectors shorter.
pub const PROJECTION: &str = "e5-zh-en-tokens";

/// Lower states of passages that a second look keeps: of some thousands.
#[cfg(feature = "torch")]
const LOWER_BYTES: usize = 3 << 30;

/// The models of a second look.
pub struct SecondLook {
    /// Pairs to logits.
    pub scorer: Arc<dyn PairScorer>,
    /// The same scores from a model that keeps what it can of each passage: for quality.
    pub keeping: Arc<dyn PairScorer>,
    /// Texts to token vectors.
    pub tokens: Arc<dyn TokenEmbedder>,
    /// The same through [`PROJECTION`], where `cornu-embed` carries it.
    pub projected: Option<Arc<dyn TokenEmbedder>>,
}

/// Either a model or the reason why it cannot be used here.
pub enum Access {
    /// It can.
    Open(Box<Opened>),
    /// It cannot, because of this.
    Gated(String),
}

#[derive(Deserialize)]
struct Installed {
    source: String,
}

impl Models {
    /// Those below `CORNU_MODELS`; none when it is not set.
    #[must_use]
    pub fn from_env() -> Self {
        Self {
            root: std::env::var_os("CORNU_MODELS").map(PathBuf::from),
            shared: Mutex::default(),
        }
    }

    /// The model that a table cannot do without, opened once for all tables of a run; whatever it
    /// has embedded is not computed again.
    ///
    /// # Errors
    /// When it is not there, or broken.
    pub fn shared(&self, name: &str, prefixes: Prefixes) -> Result<Shared> {
        self.shared_or_reason(name, prefixes)?
            .map_err(|reason| anyhow::anyhow!("{name}: {reason}"))
    }

    /// The same for a table that can do without: the inner error is the reason why it must.
    ///
    /// # Errors
    /// When it is there and broken.
    pub fn shared_or_reason(
        &self,
        name: &str,
        prefixes: Prefixes,
    ) -> Result<Result<Shared, String>> {
        let mut known = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), prefixes);
        if let Some(shared) = known.get(&key) {
            return Ok(Ok(shared.clone()));
        }
        let opened = match self.folder(name) {
            Ok(folder) => open(&folder, prefixes).with_context(|| name.to_owned())?,
            Err(reason) => Access::Gated(reason),
        };
        let opened = match opened {
            Access::Open(opened) => opened,
            Access::Gated(reason) => return Ok(Err(reason)),
        };
        let shared = Shared {
            provider: Arc::new(Cached::new(opened.provider)),
            counter: opened.counter,
        };
        known.insert(key, shared.clone());
        Ok(Ok(shared))
    }

    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let root = self
            .root
            .as_ref()
            .ok_or("CORNU_MODELS is not set; run through `cargo xtask bench-tables`")?;
        let folder = root.join(name);
        if folder.is_dir() {
            Ok(folder)
        } else {
            Err(format!(
                "the weights are not at hand; `cargo xtask setup --with {name}` fetches them from a hub"
            ))
        }
    }

    /// Opens a model with its own settings.
    ///
    /// # Errors
    /// When it is there and broken. One that is not there is gated.
    pub fn open(&self, name: &str) -> Result<Access> {
        match self.folder(name) {
            Ok(folder) => open(&folder, Prefixes::Own).with_context(|| name.to_owned()),
            Err(reason) => Ok(Access::Gated(reason)),
        }
    }

    /// The cross-encoder of [`second_look`](Self::second_look): the first of [`CROSS_ENCODERS`]
    /// whose folder is there, else the carried one.
    #[must_use]
    pub fn cross_encoder(&self) -> &'static str {
        let at_hand = |name: &&str| self.folder(name).is_ok();
        CROSS_ENCODERS.into_iter().find(at_hand).unwrap_or(ADAPTER)
    }

    /// The [cross-encoder](Self::cross_encoder), and the token vectors of an embedding model.
    ///
    /// # Errors
    /// A model that is there and broken; the inner one is the reason why there is none.
    pub fn second_look(&self, tokens: &str) -> Result<Result<SecondLook, String>> {
        let scorer = self.cross_encoder();
        let scorer = self.folder(scorer).unwrap_or_else(|_| scorer.into());
        match self.folder(tokens) {
            Ok(tokens) => open_second_look(&scorer, &tokens),
            Err(reason) => Ok(Err(reason)),
        }
    }

    /// For the record: where the model came from, and the sha256 of its weights. `None` when it is
    /// not at hand.
    ///
    /// # Errors
    /// When a file of it cannot be read.
    pub fn record(&self, name: &str) -> Result<Option<Model>> {
        if [ADAPTER, PROJECTION].contains(&name) {
            return adapter_record(name);
        }
        let Ok(folder) = self.folder(name) else {
            return Ok(None);
        };
        let weights = ["model.safetensors", "e5-small-q4.bin"]
            .map(|file| folder.join(file))
            .into_iter()
            .find(|path| path.is_file())
            .with_context(|| format!("{} holds no weights", folder.display()))?;
        let source = std::fs::read_to_string(folder.join("manifest.json"))
            .ok()
            .and_then(|text| serde_json::from_str::<Installed>(&text).ok())
            .map_or_else(
                || "a directory of the user's".to_owned(),
                |installed| installed.source,
            );
        Ok(Some(Model {
            id: name.to_owned(),
            source,
            sha256: sha256(&weights)?,
        }))
    }
}

#[cfg(feature = "torch")]
fn open(folder: &Path, prefixes: Prefixes) -> Result<Access> {
    use cornu_embed::bert::{BertEmbeddingProvider, BertOptions, HfTokenCounter};
    let name = folder
        .to_str()
        .context("the path of the models is not Unicode")?;
    let prefix = match prefixes {
        Prefixes::Own => None,
        Prefixes::None => Some(String::new()),
    };
    let options = BertOptions {
        query_prefix: prefix.clone(),
        document_prefix: prefix,
        ..BertOptions::default()
    };
    let provider = BertEmbeddingProvider::open(name, &options)?;
    let counter = Arc::new(HfTokenCounter::open(folder)?);
    Ok(Access::Open(Box::new(Opened {
        provider: Box::new(provider),
        counter,
    })))
}

#[cfg(not(feature = "torch"))]
fn open(folder: &Path, _: Prefixes) -> Result<Access> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    Ok(Access::Gated(format!("{name} needs the feature `torch`")))
}

#[cfg(feature = "torch")]
fn adapter_record(name: &str) -> Result<Option<Model>> {
    use cornu_embed::bert::Adapter;
    if !Adapter::shipped_names().any(|shipped| shipped == name) {
        return Ok(None);
    }
    let adapter = Adapter::shipped(name)?;
    Ok(Some(Model {
        id: name.to_owned(),
        source: format!(
            "carried by cornu-embed, trained by `cargo xtask train-reranker` on {}",
            adapter.manifest().base.name
        ),
        sha256: adapter.manifest().tensors_sha256.clone(),
    }))
}

#[cfg(not(feature = "torch"))]
fn adapter_record(_: &str) -> Result<Option<Model>> {
    Ok(None)
}

#[cfg(feature = "torch")]
fn open_second_look(scorer: &Path, tokens: &Path) -> Result<Result<SecondLook, String>> {
    use cornu_embed::bert::{
        Adapter, BertEmbeddingProvider, BertOptions, BertPairScorer, Truncation,
    };
    let text = |path: &Path| {
        let name = path.to_str().map(str::to_owned);
        name.context("the path of the models is not Unicode")
    };
    let name = text(scorer)?;
    let open = || BertPairScorer::open(&name, &BertOptions::default());
    let options = BertOptions {
        truncation: Truncation::Right,
        ..BertOptions::default()
    };
    let tokens = BertEmbeddingProvider::open(&text(tokens)?, &options)?;
    let projected = Adapter::shipped_names()
        .find(|name| *name == PROJECTION)
        .map(|name| {
            let projected = tokens.projected_token_embedder(&Adapter::shipped(name)?)?;
            Ok::<_, anyhow::Error>(Arc::new(projected) as Arc<dyn TokenEmbedder>)
        })
        .transpose()?;
    Ok(Ok(SecondLook {
        projected,
        scorer: Arc::new(open()?),
        keeping: Arc::new(open()?.keeping(LOWER_BYTES)),
        tokens: Arc::new(tokens.token_embedder()),
    }))
}

#[cfg(not(feature = "torch"))]
fn open_second_look(scorer: &Path, _: &Path) -> Result<Result<SecondLook, String>> {
    let name = scorer.file_name().unwrap_or_default().to_string_lossy();
    Ok(Err(format!("{name} needs the feature `torch`")))
}

/// The version of libtorch that this program was built with.
#[must_use]
pub fn libtorch_version() -> Option<String> {
    if !cfg!(feature = "torch") {
        return None;
    }
    let folder = PathBuf::from(std::env::var_os("LIBTORCH")?);
    let version = std::fs::read_to_string(folder.join("build-version")).ok()?;
    Some(version.trim().to_owned())
}

/// sha256 of a file, as hexadecimal digits.
pub(crate) fn sha256(path: &Path) -> Result<String> {
    let mut file =
        std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut hasher = Sha256::new();
    std::io::copy(&mut file, &mut hasher)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}
