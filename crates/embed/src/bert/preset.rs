//! Models that are known by name.

use std::path::{Path, PathBuf};

use super::sentence::Pooling;

/// A model known by name: what its files may leave unsaid.
///
/// ```
/// use cornu_embed::bert::{Pooling, Preset};
/// let preset = Preset::named("bge-small-zh-v1.5").unwrap();
/// assert_eq!((preset.dimension, preset.pooling), (512, Pooling::Cls));
/// assert_eq!(Preset::all().len(), 4);
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name, and name of its folder.
    pub name: &'static str,
    /// Length of a vector.
    pub dimension: usize,
    /// Pooling, as its card says.
    pub pooling: Pooling,
    /// The most tokens, special tokens included.
    pub max_tokens: usize,
    /// What is put before a query.
    pub query_prefix: &'static str,
    /// What is put before a document.
    pub document_prefix: &'static str,
}

static PRESETS: [Preset; 4] = [
    Preset {
        name: "bge-small-zh-v1.5",
        dimension: 512,
        pooling: Pooling::Cls,
        max_tokens: 512,
        query_prefix: "为这个句子生成表示以用于检索相关文章：",
        document_prefix: "",
    },
    Preset {
        name: "bge-small-en-v1.5",
        dimension: 384,
        pooling: Pooling::Cls,
        max_tokens: 512,
        query_prefix: "Represent this sentence for searching relevant passages: ",
        document_prefix: "",
    },
    Preset {
        name: "multilingual-e5-small",
        dimension: 384,
        pooling: Pooling::Mean,
        max_tokens: 512,
        query_prefix: "query: ",
        document_prefix: "passage: ",
    },
    Preset {
        name: "all-MiniLM-L6-v2",
        dimension: 384,
        pooling: Pooling::Mean,
        max_tokens: 256,
        query_prefix: "",
        document_prefix: "",
    },
];

impl Preset {
    /// All presets.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &PRESETS
    }

    /// The preset of a name; a packed form (`-q4` behind the name) is the same model.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.strip_suffix("-q4").unwrap_or(name);
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The model's folder among `models`: under its name, or packed under its name and `-q4`.
    #[must_use]
    pub fn locate(&self, models: &Path) -> Option<PathBuf> {
        [self.name.to_owned(), format!("{}-q4", self.name)]
            .into_iter()
            .map(|name| models.join(name))
            .find(|folder| folder.is_dir())
    }
}
