//! The size of a text in a model's own tokens.

use std::path::Path;
use std::sync::Arc;

use cornu_core::{Fingerprint, TokenCounter};

use super::error::ModelError;
use super::files::ModelFiles;
use super::tokenizer::BertTokenizer;

/// Counts the tokens of a Hugging Face tokenizer, special tokens apart. Needs no libtorch.
///
/// Time is that of the tokenizer, O(bytes). Memory is the vocabulary, plus some hundred bytes for
/// each token of the text at hand.
///
/// ```
/// use cornu_core::TokenCounter;
/// use cornu_embed::bert::{BertTokenizer, HfTokenCounter};
/// let json = br#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
///     "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
///     "decoder": null, "model": {"type": "WordLevel",
///     "vocab": {"[UNK]": 0, "one": 1, "two": 2}, "unk_token": "[UNK]"}}"#;
/// let counter = HfTokenCounter::new(BertTokenizer::from_json(json, "tokenizer.json")?.into());
/// assert_eq!(counter.count("one two three"), 3);
/// assert_eq!(counter.fit("one two three", 2), "one two ".len());
/// # Ok::<(), cornu_embed::bert::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HfTokenCounter {
    tokenizer: Arc<BertTokenizer>,
    fingerprint: Fingerprint,
}

impl HfTokenCounter {
    /// Counts with a tokenizer that is open already.
    #[must_use]
    pub fn new(tokenizer: Arc<BertTokenizer>) -> Self {
        let fingerprint =
            Fingerprint::new("hf-tokenizer").with("tokenizer_sha256", tokenizer.sha256());
        Self {
            tokenizer,
            fingerprint,
        }
    }

    /// Counts with the tokenizer of a model's folder or of a `tokenizer.json`.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let tokenizer = if path.is_dir() {
            ModelFiles::open(path)?.into_tokenizer()
        } else {
            BertTokenizer::open(path)?
        };
        Ok(Self::new(tokenizer.into()))
    }
}

impl TokenCounter for HfTokenCounter {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Should the tokenizer fail on a text, the count is its bytes: never too few.
    fn count(&self, text: &str) -> usize {
        self.tokenizer
            .spans(text)
            .map_or(text.len(), |spans| spans.len())
    }

    /// A cut can take one piece apart into as many tokens as it has characters: the longest piece
    /// (Unigram, BPE), or the longest word that WordPiece looks at (100 characters; a word that is
    /// unknown as a whole is one token, its start may be many).
    fn slack(&self) -> usize {
        self.tokenizer.slack()
    }

    /// Encodes about as much text as fits, once, and cuts where token `limit` ends; then checks
    /// that this is a fit and that not one more character is.
    fn fit(&self, text: &str, limit: usize) -> usize {
        let mut reach = limit.saturating_mul(4).max(64);
        loop {
            let end = floor(text, reach);
            let window = text.get(..end).unwrap_or(text);
            let Ok(spans) = self.tokenizer.spans(window) else {
                return self.fit_within(text, end, limit);
            };
            if spans.len() <= limit && end == text.len() {
                return end;
            }
            if spans.len() > limit {
                let cut = spans.get(limit).map_or(0, |next| next.start());
                return self.settle(text, floor(text, cut.min(end)), end, limit);
            }
            reach = reach.saturating_mul(2);
        }
    }
}

impl HfTokenCounter {
    /// Moves `cut` down until it fits, then up while another character still fits.
    fn settle(&self, text: &str, cut: usize, end: usize, limit: usize) -> usize {
        let fits = |at: usize| text.get(..at).is_some_and(|part| self.count(part) <= limit);
        if !fits(cut) {
            return self.fit_within(text, cut, limit);
        }
        let mut cut = cut;
        while cut < end {
            let next = cut
                + text
                    .get(cut..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(1, char::len_utf8);
            if !fits(next) {
                break;
            }
            cut = next;
        }
        cut
    }
}

fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}
