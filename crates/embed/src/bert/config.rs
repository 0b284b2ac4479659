//! `config.json`: the shape of the encoder.

use serde::Deserialize;

use super::error::ModelError;

/// The shape of a BERT encoder, checked.
///
/// ```
/// use cornu_embed::bert::BertConfig;
/// let json = br#"{"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 6,
///     "num_attention_heads": 12, "intermediate_size": 1536, "vocab_size": 30522,
///     "max_position_embeddings": 512, "type_vocab_size": 2}"#;
/// let config = BertConfig::from_json(json, "config.json")?;
/// assert_eq!((config.hidden, config.max_tokens()), (384, 512));
/// # Ok::<(), cornu_embed::bert::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BertConfig {
    /// Length of a token's vector.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Attention heads; divides `hidden`.
    pub heads: usize,
    /// Inner width of the feed-forward part.
    pub intermediate: usize,
    /// Number of token ids.
    pub vocabulary: usize,
    /// Rows of the position table.
    pub positions: usize,
    /// Position of the first token: 0 for BERT, padding id + 1 for the RoBERTa family.
    pub first_position: usize,
    /// Number of token types.
    pub types: usize,
    /// Epsilon of the layer norms.
    pub epsilon: f64,
    /// The feed-forward part's activation.
    pub activation: Activation,
    /// Which naming and which heads the checkpoint uses.
    pub family: Family,
}

/// Activation of the feed-forward part.
///
/// ```
/// assert_ne!(cornu_embed::bert::Activation::Gelu, cornu_embed::bert::Activation::GeluTanh);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// x · Φ(x), with the error function (Hendrycks and Gimpel, 2016, equation 1).
    Gelu,
    /// The same with their tanh approximation.
    GeluTanh,
    /// max(x, 0).
    Relu,
}

/// The two families of checkpoints that are read.
///
/// ```
/// assert_ne!(cornu_embed::bert::Family::Bert, cornu_embed::bert::Family::Roberta);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// BERT: positions from 0, a pooler under the classification head.
    Bert,
    /// RoBERTa and XLM-R: positions from padding id + 1, a head of its own.
    Roberta,
}

#[derive(Deserialize)]
struct Raw {
    model_type: Option<String>,
    hidden_size: u64,
    num_hidden_layers: u64,
    num_attention_heads: u64,
    intermediate_size: u64,
    vocab_size: u64,
    max_position_embeddings: u64,
    type_vocab_size: Option<u64>,
    layer_norm_eps: Option<f64>,
    hidden_act: Option<String>,
    position_embedding_type: Option<String>,
    pad_token_id: Option<u64>,
}

impl BertConfig {
    /// Reads `config.json`.
    ///
    /// # Errors
    /// [`ModelError`] when the bytes are not JSON, a number is absent or out of range, or the
    /// model is not an encoder of the BERT or RoBERTa family with absolute positions.
    pub fn from_json(bytes: &[u8], file: &str) -> Result<Self, ModelError> {
        let raw: Raw = serde_json::from_slice(bytes)
            .map_err(|error| ModelError::malformed(file, error.to_string()))?;
        let unsupported = |what: String| ModelError::Unsupported {
            file: file.to_owned(),
            what,
            remedy: "use a checkpoint of the BERT, RoBERTa or XLM-RoBERTa family".to_owned(),
        };
        let family = match raw.model_type.as_deref() {
            None | Some("bert") => Family::Bert,
            Some("roberta" | "xlm-roberta") => Family::Roberta,
            Some(other) => return Err(unsupported(format!("model type {other:?}"))),
        };
        let activation = match raw.hidden_act.as_deref() {
            None | Some("gelu") => Activation::Gelu,
            Some("gelu_new" | "gelu_pytorch_tanh" | "gelu_fast") => Activation::GeluTanh,
            Some("relu") => Activation::Relu,
            Some(other) => return Err(unsupported(format!("activation {other:?}"))),
        };
        if let Some(kind) = raw.position_embedding_type.as_deref()
            && kind != "absolute"
        {
            return Err(unsupported(format!("{kind:?} position embeddings")));
        }
        let number = |name: &str, value: u64, limit: u64| bounded(file, name, value, limit);
        let config = Self {
            hidden: number("hidden_size", raw.hidden_size, 1 << 14)?,
            layers: number("num_hidden_layers", raw.num_hidden_layers, 1 << 8)?,
            heads: number("num_attention_heads", raw.num_attention_heads, 1 << 8)?,
            intermediate: number("intermediate_size", raw.intermediate_size, 1 << 16)?,
            vocabulary: number("vocab_size", raw.vocab_size, 1 << 22)?,
            positions: number(
                "max_position_embeddings",
                raw.max_position_embeddings,
                1 << 17,
            )?,
            first_position: match family {
                Family::Bert => 0,
                Family::Roberta => number(
                    "pad_token_id + 1",
                    raw.pad_token_id.unwrap_or(1).saturating_add(1),
                    1 << 16,
                )?,
            },
            types: number("type_vocab_size", raw.type_vocab_size.unwrap_or(2), 1 << 8)?,
            epsilon: raw.layer_norm_eps.unwrap_or(1e-12),
            activation,
            family,
        };
        config.check(file)?;
        Ok(config)
    }

    pub(crate) fn check(&self, file: &str) -> Result<(), ModelError> {
        let malformed = |what: String| Err(ModelError::malformed(file, what));
        if !self.hidden.is_multiple_of(self.heads) {
            return malformed(format!(
                "{} attention heads do not divide a hidden size of {}",
                self.heads, self.hidden
            ));
        }
        if self.positions <= self.first_position + 2 {
            return malformed(format!("only {} positions", self.positions));
        }
        if !(self.epsilon > 0.0 && self.epsilon < 1.0) {
            return malformed(format!("layer_norm_eps is {}", self.epsilon));
        }
        Ok(())
    }

    /// The most tokens that the position table has room for, special tokens included.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        self.positions - self.first_position
    }
}

fn bounded(file: &str, name: &str, value: u64, limit: u64) -> Result<usize, ModelError> {
    match usize::try_from(value) {
        Ok(size) if value >= 1 && value <= limit => Ok(size),
        _ if value == 0 => Err(ModelError::malformed(file, format!("{name} is 0"))),
        _ => Err(ModelError::TooLarge {
            file: file.to_owned(),
            what: name.to_owned(),
            value,
            limit,
        }),
    }
}
