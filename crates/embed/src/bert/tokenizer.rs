//! Texts to token ids, with our own truncation.
//!
//! Truncation and padding that a `tokenizer.json` asks for are switched off: a file's fixed
//! padding would put padding into every text, and its truncation would cut in silence.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

#[cfg(feature = "torch")]
use cornu_core::ProviderError;
use cornu_core::{ByteSpan, TextTokens};
use tokenizers::{ModelWrapper, Tokenizer};

use super::error::ModelError;
use super::packed::PackedTokenizer;
use super::source::{file_name, read_small, sha256_of};

const MAX_FILE: u64 = 64 << 20;

/// What to do with a text that is longer than the model takes.
///
/// ```
/// use cornu_embed::bert::Truncation;
/// assert_eq!(Truncation::default(), Truncation::Error);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Truncation {
    /// Refuse it: [`ProviderError::TooLong`](cornu_core::ProviderError::TooLong) names the text.
    #[default]
    Error,
    /// Drop tokens from its start.
    Left,
    /// Drop tokens from its end.
    Right,
}

impl Truncation {
    /// "error", "left" or "right", as it stands in fingerprints.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// A model's tokenizer: a `tokenizer.json`, or the one inside a packed model.
///
/// ```
/// use cornu_embed::bert::BertTokenizer;
/// let json = br#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
///     "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
///     "decoder": null, "model": {"type": "WordLevel",
///     "vocab": {"[UNK]": 0, "one": 1, "two": 2}, "unk_token": "[UNK]"}}"#;
/// let tokenizer = BertTokenizer::from_json(json, "tokenizer.json")?;
/// assert_eq!(tokenizer.ids("one two three")?, [1, 2, 0]);
/// # Ok::<(), cornu_embed::bert::ModelError>(())
/// ```
pub struct BertTokenizer {
    inner: Inner,
    file: String,
    sha256: String,
    slack: usize,
}

enum Inner {
    Json(Box<Tokenizer>),
    Packed(Box<PackedTokenizer>),
}

impl fmt::Debug for BertTokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BertTokenizer")
            .field("file", &self.file)
            .field("sha256", &self.sha256)
            .finish_non_exhaustive()
    }
}

impl BertTokenizer {
    /// Reads a `tokenizer.json` of at most 64 MiB.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json), and [`ModelError::Missing`].
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let bytes = read_small(path, MAX_FILE, "fetch the model's tokenizer.json")?;
        Self::from_json(&bytes, &file_name(path))
    }

    /// Reads the content of a `tokenizer.json`; `file` names it in errors.
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`] when it is not valid.
    pub fn from_json(bytes: &[u8], file: &str) -> Result<Self, ModelError> {
        let mut tokenizer = contained(file, || Tokenizer::from_bytes(bytes))?;
        tokenizer.with_padding(None);
        contained(file, || tokenizer.with_truncation(None).map(|_| ()))?;
        let slack = match tokenizer.get_model() {
            // A word of this many characters may be one piece, and its start as many as it has.
            ModelWrapper::WordPiece(model) => model.max_input_chars_per_word,
            ModelWrapper::WordLevel(_) => 0,
            ModelWrapper::BPE(_) | ModelWrapper::Unigram(_) => {
                let vocabulary = tokenizer.get_vocab(false);
                vocabulary
                    .into_keys()
                    .map(|piece| piece.chars().count())
                    .max()
                    .unwrap_or(0)
            }
        };
        Self::checked(Self {
            inner: Inner::Json(Box::new(tokenizer)),
            file: file.to_owned(),
            sha256: sha256_of(bytes),
            slack,
        })
    }

    pub(crate) fn packed(
        tokenizer: PackedTokenizer,
        longest_piece: usize,
        file: &str,
        sha256: String,
    ) -> Result<Self, ModelError> {
        Self::checked(Self {
            inner: Inner::Packed(Box::new(tokenizer)),
            file: file.to_owned(),
            sha256,
            slack: longest_piece,
        })
    }

    /// A tokenizer that fails on a letter, or on a character that it cannot know, fails here.
    fn checked(self) -> Result<Self, ModelError> {
        for probe in ["", "a", "\u{10FFFD}"] {
            self.encode(probe, "", usize::MAX, Truncation::Error)
                .map_err(|_| ModelError::Tokenizer {
                    file: self.file.clone(),
                    what: format!("it cannot encode {probe:?}"),
                })?;
        }
        Ok(self)
    }

    /// sha256 of the file that it was read from.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The ids of a text without special tokens. O(bytes).
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`].
    pub fn ids(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        Ok(self.raw(text)?.get_ids().to_vec())
    }

    /// The bytes of each token of a text, in order, without special tokens. O(bytes).
    pub(crate) fn spans(&self, text: &str) -> Result<Vec<ByteSpan>, ModelError> {
        let encoding = self.raw(text)?;
        let spans = encoding.get_offsets().iter();
        Ok(spans
            .map(|&(start, end)| ByteSpan::from_range(start..end))
            .collect())
    }

    /// See [`TokenCounter::slack`](cornu_core::TokenCounter::slack).
    pub(crate) fn slack(&self) -> usize {
        self.slack
    }

    /// The tokens of `prefix` + `text`, special tokens around them, at most `limit` in all. The
    /// prefix is never cut. O(bytes).
    ///
    /// # Errors
    /// [`EncodeError`].
    pub fn encode(
        &self,
        text: &str,
        prefix: &str,
        limit: usize,
        truncation: Truncation,
    ) -> Result<Tokens, EncodeError> {
        let whole: String;
        let input = if prefix.is_empty() {
            text
        } else {
            whole = [prefix, text].concat();
            &whole
        };
        let content = self.raw(input)?;
        // A token that reaches into the text is the text's.
        let prefix_tokens = content
            .get_offsets()
            .iter()
            .take_while(|(_, end)| !prefix.is_empty() && *end <= prefix.len())
            .count();
        let total = content.len() - prefix_tokens;
        let special = self.special_tokens(false)?;
        let room = limit.saturating_sub(special + prefix_tokens);
        if room == 0 {
            return Err(EncodeError::NoRoom { limit });
        }
        let kept = total.min(room);
        let dropped = total - kept;
        let content = if dropped == 0 {
            content
        } else {
            let keep = match truncation {
                Truncation::Error => return Err(EncodeError::TooLong { total, room }),
                Truncation::Right => 0..prefix_tokens + kept,
                Truncation::Left => prefix_tokens + dropped..content.len(),
            };
            let first = 0..if keep.start == 0 { 0 } else { prefix_tokens };
            cut(&content, first, keep)
        };
        let encoding = self.post_process(content, None)?;
        let tokens = TextTokens { kept, total };
        Tokens::new(&encoding, prefix.len(), tokens).ok_or_else(|| self.inconsistent().into())
    }

    /// The tokens of a pair of texts, at most `limit` in all; the second is cut at its end to fit,
    /// the first never. Counts and spans are of the second.
    ///
    /// # Errors
    /// [`EncodeError`]; [`EncodeError::TooLong`] when the first leaves no room for the second.
    pub fn encode_pair(
        &self,
        first: &str,
        second: &str,
        limit: usize,
    ) -> Result<Tokens, EncodeError> {
        let (first, second) = (self.raw(first)?, self.raw(second)?);
        let special = self.special_tokens(true)?;
        let Some(room) = limit
            .checked_sub(special + first.len())
            .filter(|&room| room > 0)
        else {
            let room = limit.saturating_sub(special + 1);
            let total = first.len();
            return Err(EncodeError::TooLong { total, room });
        };
        let total = second.len();
        let kept = total.min(room);
        let second = if kept == total {
            second
        } else {
            cut(&second, 0..0, 0..kept)
        };
        let encoding = self.post_process(first, Some(second))?;
        let tokens = TextTokens { kept, total };
        Tokens::new(&encoding, 0, tokens).ok_or_else(|| self.inconsistent().into())
    }

    fn special_tokens(&self, pair: bool) -> Result<usize, ModelError> {
        let empty = tokenizers::Encoding::default();
        let pair = pair.then(tokenizers::Encoding::default);
        Ok(self.post_process(empty, pair)?.len())
    }

    fn raw(&self, text: &str) -> Result<tokenizers::Encoding, ModelError> {
        contained(&self.file, || match &self.inner {
            Inner::Json(tokenizer) => tokenizer.encode(text, false),
            Inner::Packed(tokenizer) => tokenizer.encode(text),
        })
    }

    fn post_process(
        &self,
        text: tokenizers::Encoding,
        pair: Option<tokenizers::Encoding>,
    ) -> Result<tokenizers::Encoding, ModelError> {
        contained(&self.file, || match &self.inner {
            Inner::Json(tokenizer) => tokenizer.post_process(text, pair, true),
            Inner::Packed(tokenizer) => tokenizer.post_process(text, pair),
        })
    }

    fn inconsistent(&self) -> ModelError {
        ModelError::Tokenizer {
            file: self.file.clone(),
            what: "its post-processor gives lists of different lengths".into(),
        }
    }
}

/// The tokens of one input of the encoder: lists of equal length.
///
/// ```
/// # use cornu_embed::bert::{BertTokenizer, Truncation};
/// # let json = br#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
/// #     "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
/// #     "decoder": null, "model": {"type": "WordLevel",
/// #     "vocab": {"[UNK]": 0, "one": 1, "two": 2}, "unk_token": "[UNK]"}}"#;
/// # let tokenizer = BertTokenizer::from_json(json, "tokenizer.json")?;
/// let tokens = tokenizer.encode("one two one", "", 2, Truncation::Right)?;
/// assert_eq!(tokens.ids, [1, 2]);
/// assert_eq!((tokens.count.kept, tokens.count.total), (2, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Ids, special and prefix tokens included.
    pub ids: Vec<u32>,
    /// Token types: 0, and 1 for the second text of a pair where the model has two.
    pub types: Vec<u32>,
    /// For each token, the bytes of the text; `None` for special and prefix tokens.
    pub spans: Vec<Option<ByteSpan>>,
    /// How much of the text was kept.
    pub count: TextTokens,
}

impl Tokens {
    fn new(encoding: &tokenizers::Encoding, prefix: usize, count: TextTokens) -> Option<Self> {
        let spans = encoding
            .get_offsets()
            .iter()
            .zip(encoding.get_special_tokens_mask())
            .map(|(&(start, end), &special)| {
                let in_text = special == 0 && (end > prefix || prefix == 0);
                in_text.then(|| {
                    ByteSpan::from_range(start.saturating_sub(prefix)..end.saturating_sub(prefix))
                })
            })
            .collect::<Vec<_>>();
        let tokens = Self {
            ids: encoding.get_ids().to_vec(),
            types: encoding.get_type_ids().to_vec(),
            spans,
            count,
        };
        let same = tokens.ids.len() == tokens.types.len() && tokens.ids.len() == tokens.spans.len();
        same.then_some(tokens)
    }

    /// Number of tokens, special and prefix tokens included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is not even a special token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// An input of `length` tokens that means nothing; ids differ, so that vectors do.
    #[cfg(feature = "torch")]
    pub(crate) fn probe(length: usize, vocabulary: usize) -> Self {
        let id = |at: usize| u32::try_from((at * 7919 + length) % vocabulary).unwrap_or(0);
        Self {
            ids: (0..length).map(id).collect(),
            types: vec![0; length],
            spans: vec![None; length],
            count: TextTokens::whole(length),
        }
    }
}

/// Why a text has no tokens.
///
/// ```
/// use cornu_embed::bert::EncodeError;
/// let error = EncodeError::TooLong { total: 900, room: 510 };
/// assert!(error.to_string().contains("900"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// It has more tokens than fit, and truncation was not asked for.
    #[error("the text has {total} tokens, {room} fit; split it, or ask for truncation")]
    TooLong {
        /// Tokens of the text.
        total: usize,
        /// Tokens that fit beside the prefix and the special tokens.
        room: usize,
    },
    /// The prefix and the special tokens fill the limit.
    #[error("a limit of {limit} tokens leaves no room beside the prefix; raise it")]
    NoRoom {
        /// The limit.
        limit: usize,
    },
    /// The tokenizer failed.
    #[error(transparent)]
    Model(ModelError),
}

impl From<ModelError> for EncodeError {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

#[cfg(feature = "torch")]
impl EncodeError {
    pub(crate) fn at(self, index: usize, provider: &str) -> ProviderError {
        match self {
            Self::TooLong { total, room } => ProviderError::TooLong {
                index,
                tokens: total,
                limit: room,
            },
            Self::NoRoom { limit } => ProviderError::Unavailable {
                provider: provider.to_owned(),
                reason: format!("a limit of {limit} tokens leaves no room beside the prefix"),
                remedy: "raise max_tokens or shorten the prefix".to_owned(),
            },
            Self::Model(error) => error.for_provider(provider),
        }
    }
}

/// The tokens of two ranges, one after the other.
fn cut(
    all: &tokenizers::Encoding,
    first: std::ops::Range<usize>,
    second: std::ops::Range<usize>,
) -> tokenizers::Encoding {
    fn pick<T: Clone>(
        of: &[T],
        first: &std::ops::Range<usize>,
        second: &std::ops::Range<usize>,
    ) -> Vec<T> {
        let part = |range: &std::ops::Range<usize>| of.get(range.clone()).unwrap_or_default();
        [part(first), part(second)].concat()
    }
    tokenizers::Encoding::new(
        pick(all.get_ids(), &first, &second),
        pick(all.get_type_ids(), &first, &second),
        pick(all.get_tokens(), &first, &second),
        pick(all.get_word_ids(), &first, &second),
        pick(all.get_offsets(), &first, &second),
        pick(all.get_special_tokens_mask(), &first, &second),
        pick(all.get_attention_mask(), &first, &second),
        Vec::new(),
        Default::default(),
    )
}

/// Runs foreign code on an untrusted file. A tokenizer file can make the tokenizer library panic;
/// for our caller that is an error like any other.
fn contained<T>(file: &str, run: impl FnOnce() -> tokenizers::Result<T>) -> Result<T, ModelError> {
    let failed = |what: String| ModelError::Tokenizer {
        file: file.to_owned(),
        what,
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed("the tokenizer library panicked".to_owned())),
    }
}
