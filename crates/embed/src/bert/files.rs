//! A model's folder.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::config::BertConfig;
use super::error::ModelError;
use super::packed::PackedModel;
use super::preset::Preset;
use super::safetensors::SafeTensors;
#[cfg(feature = "torch")]
use super::sentence::Pooling;
use super::sentence::SentenceConfig;
use super::source::{file_name, read_small, sha256};
use super::tokenizer::BertTokenizer;

const MAX_CONFIG: u64 = 1 << 20;
const PACKED: &str = "e5-small-q4.bin";
const WEIGHTS: &str = "model.safetensors";

/// The files of a model, read and checked; its weights are read when an encoder asks for them.
///
/// A folder holds either `e5-small-q4.bin`, or `model.safetensors`, `config.json` and
/// `tokenizer.json`. Pickled weights (`pytorch_model.bin`) are refused: reading them runs code.
///
/// ```no_run
/// use cornu_embed::bert::ModelFiles;
/// let files = ModelFiles::open("models/all-MiniLM-L6-v2".as_ref())?;
/// println!("{} weights of {}", files.weights_sha256(), files.name());
/// # Ok::<(), cornu_embed::bert::ModelError>(())
/// ```
pub struct ModelFiles {
    name: String,
    config: BertConfig,
    sentence: SentenceConfig,
    tokenizer: BertTokenizer,
    weights: WeightFile,
    weights_path: PathBuf,
    sha256: String,
}

#[cfg_attr(
    not(feature = "torch"),
    expect(dead_code, reason = "read by the encoder")
)]
pub(crate) enum WeightFile {
    SafeTensors(SafeTensors<BufReader<File>>),
    Packed(Box<PackedModel<BufReader<File>>>),
}

impl ModelFiles {
    /// Opens a folder. Reads each file once, the weights for their sha256.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let name = folder.file_name().map_or_else(
            || file_name(folder),
            |name| name.to_string_lossy().into_owned(),
        );
        let packed = folder.join(PACKED);
        let files = if packed.is_file() {
            Self::open_packed(name, packed)?
        } else {
            Self::open_folder(name, folder)?
        };
        Ok(files.with_preset())
    }

    fn open_packed(name: String, path: PathBuf) -> Result<Self, ModelError> {
        let sha256 = sha256(&path)?;
        let model = PackedModel::open(&path)?;
        let tokenizer = model.tokenizer()?;
        Ok(Self {
            name,
            config: model.config().clone(),
            // The format holds one model, multilingual-e5-small.
            sentence: Preset::named("multilingual-e5-small")
                .map(SentenceConfig::from)
                .unwrap_or_default(),
            tokenizer,
            weights: WeightFile::Packed(Box::new(model)),
            weights_path: path,
            sha256,
        })
    }

    fn open_folder(name: String, folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join(WEIGHTS);
        if !path.is_file() && folder.join("pytorch_model.bin").is_file() {
            return Err(ModelError::Unsupported {
                file: file_name(&folder.join("pytorch_model.bin")),
                what: "unpickling, which runs code".to_owned(),
                remedy: format!("convert it to {WEIGHTS}"),
            });
        }
        let weights = SafeTensors::open(&path)?;
        let config = folder.join("config.json");
        let bytes = read_small(&config, MAX_CONFIG, "fetch the model's config.json")?;
        Ok(Self {
            name,
            config: BertConfig::from_json(&bytes, &file_name(&config))?,
            sentence: SentenceConfig::read(folder)?,
            tokenizer: BertTokenizer::open(&folder.join("tokenizer.json"))?,
            weights: WeightFile::SafeTensors(weights),
            sha256: sha256(&path)?,
            weights_path: path,
        })
    }

    /// Fills in what the files leave open from the preset of the folder's name.
    fn with_preset(mut self) -> Self {
        if let Some(preset) = Preset::named(&self.name) {
            let known = SentenceConfig::from(preset);
            let said = &mut self.sentence;
            said.pooling = said.pooling.or(known.pooling);
            said.max_tokens = said.max_tokens.or(known.max_tokens);
            said.query_prefix = said.query_prefix.take().or(known.query_prefix);
            said.document_prefix = said.document_prefix.take().or(known.document_prefix);
        }
        self
    }

    /// The folder's name, which stands for the model in fingerprints.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The encoder's shape.
    #[must_use]
    pub fn config(&self) -> &BertConfig {
        &self.config
    }

    /// Pooling, limit and prefixes, as far as they are known.
    #[must_use]
    pub fn sentence(&self) -> &SentenceConfig {
        &self.sentence
    }

    /// The tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &BertTokenizer {
        &self.tokenizer
    }

    /// Gives up the rest for the tokenizer.
    #[must_use]
    pub fn into_tokenizer(self) -> BertTokenizer {
        self.tokenizer
    }

    /// sha256 of the file that holds the weights.
    #[must_use]
    pub fn weights_sha256(&self) -> &str {
        &self.sha256
    }

    /// The file that holds the weights.
    #[must_use]
    pub fn weights_path(&self) -> &Path {
        &self.weights_path
    }

    #[cfg_attr(
        not(feature = "torch"),
        expect(dead_code, reason = "the encoder's half")
    )]
    pub(crate) fn into_parts(self) -> (BertConfig, BertTokenizer, WeightFile) {
        (self.config, self.tokenizer, self.weights)
    }
}

impl From<&Preset> for SentenceConfig {
    fn from(preset: &Preset) -> Self {
        Self {
            pooling: Some(preset.pooling),
            max_tokens: Some(preset.max_tokens),
            query_prefix: Some(preset.query_prefix.to_owned()),
            document_prefix: Some(preset.document_prefix.to_owned()),
        }
    }
}

#[cfg(feature = "torch")]
impl Pooling {
    /// The pooling, or an error that says how to name one.
    #[cfg_attr(
        not(feature = "torch"),
        expect(dead_code, reason = "the encoder's half")
    )]
    pub(crate) fn required(this: Option<Self>, file: &str) -> Result<Self, ModelError> {
        this.ok_or_else(|| ModelError::Unsupported {
            file: file.to_owned(),
            what: "a guess at its pooling (no 1_Pooling/config.json)".to_owned(),
            remedy: "name it in BertOptions::pooling".to_owned(),
        })
    }
}
