//! Which vectors belong together.

use std::fmt;
use std::sync::Arc;

use cornu_core::{Fingerprint, Side, TokenEmbedder, TokenVectors};

use super::query::QueryTokens;
use super::tokens::{Precision, TokenMatrix};
use crate::error::{RerankError, TokensError};

/// A token embedder with how its vectors are kept: what ingest and search have to agree in.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::{Fingerprint, ProviderError, Side, TextTokens, TokenEmbedder, TokenVectors};
/// use cornu_rerank::{Precision, TokenSpace};
///
/// /// One vector a byte: vowel or not.
/// struct Vowels(Fingerprint);
/// impl TokenEmbedder for Vowels {
///     fn token_dimension(&self) -> usize { 2 }
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn embed_tokens(&self, texts: &[&str], _: Side) -> Result<Vec<TokenVectors>, ProviderError> {
///         Ok(texts.iter().map(|text| TokenVectors {
///             vectors: ndarray::Array2::from_shape_fn((text.len(), 2), |(token, side)| {
///                 let vowel = b"aeiou".contains(&text.as_bytes()[token]);
///                 f32::from(u8::from(vowel == (side == 0)))
///             }),
///             spans: vec![None; text.len()],
///             tokens: TextTokens::whole(text.len()),
///         }).collect())
///     }
/// }
///
/// let space = TokenSpace::new(Arc::new(Vowels(Fingerprint::new("vowels")))).with_precision(Precision::Int8);
/// assert_eq!(space.documents(&["an", "xx"])?[0].len(), 2);
/// assert_eq!(space.fingerprint().get("tokens.precision"), Some("int8"));
/// # Ok::<(), cornu_rerank::RerankError>(())
/// ```
#[derive(Clone)]
pub struct TokenSpace {
    embedder: Arc<dyn TokenEmbedder>,
    precision: Precision,
    special_tokens: bool,
    fingerprint: Fingerprint,
}

impl TokenSpace {
    /// All tokens of an embedder, in 16-bit floats.
    #[must_use]
    pub fn new(embedder: Arc<dyn TokenEmbedder>) -> Self {
        let fingerprint = embedder.fingerprint().clone();
        Self {
            embedder,
            precision: Precision::default(),
            special_tokens: true,
            fingerprint,
        }
        .named()
    }

    /// Another precision for documents. A query is always in f32.
    #[must_use]
    pub fn with_precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self.named()
    }

    /// Whether tokens that stand for no part of the text (`[CLS]`, `[SEP]`, ColBERT's markers, a
    /// prefix) count, on both sides. Default: yes, as in ColBERT, whose markers are trained to.
    #[must_use]
    pub fn with_special_tokens(mut self, count: bool) -> Self {
        self.special_tokens = count;
        self.named()
    }

    fn named(mut self) -> Self {
        self.fingerprint = self
            .fingerprint
            .with("tokens.precision", self.precision.name())
            .with("tokens.special", self.special_tokens);
        self
    }

    /// Everything that stored vectors depend on.
    #[must_use]
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// How documents are kept.
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The vectors of documents, in order, as they are to be stored.
    ///
    /// # Errors
    /// What the embedder gives; [`RerankError::Rows`] when it gives another number of texts;
    /// [`RerankError::Tokens`].
    pub fn documents(&self, texts: &[&str]) -> Result<Vec<TokenMatrix>, RerankError> {
        let embedded = self.embed(texts, Side::Document)?;
        let packed = embedded.iter().map(|tokens| {
            let keep = self.counting(tokens)?;
            Ok(TokenMatrix::masked(
                tokens.vectors.view(),
                &keep,
                self.precision,
            )?)
        });
        packed.collect()
    }

    /// The vectors of a query.
    ///
    /// # Errors
    /// As [`documents`](Self::documents).
    pub fn query(&self, text: &str) -> Result<QueryTokens, RerankError> {
        let embedded = self.embed(&[text], Side::Query)?;
        // One text was given, and as many came back.
        let tokens = embedded.first().ok_or_else(|| self.rows(1, 0))?;
        let keep = self.counting(tokens)?;
        Ok(QueryTokens::masked(tokens.vectors.view(), &keep)?)
    }

    pub(super) fn embed(
        &self,
        texts: &[&str],
        side: Side,
    ) -> Result<Vec<TokenVectors>, RerankError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let embedded = self.embedder.embed_tokens(texts, side)?;
        match embedded.len() == texts.len() {
            true => Ok(embedded),
            false => Err(self.rows(texts.len(), embedded.len())),
        }
    }

    /// For each token, whether it counts.
    pub(super) fn counting(&self, tokens: &TokenVectors) -> Result<Vec<bool>, TokensError> {
        if tokens.spans.len() != tokens.vectors.nrows() {
            let (mask, tokens) = (tokens.spans.len(), tokens.vectors.nrows());
            return Err(TokensError::Mask { mask, tokens });
        }
        let keep = |span: &Option<_>| self.special_tokens || span.is_some();
        Ok(tokens.spans.iter().map(keep).collect())
    }

    fn rows(&self, sent: usize, found: usize) -> RerankError {
        let scorer = self.embedder.fingerprint().model().to_owned();
        RerankError::Rows {
            scorer,
            sent,
            found,
        }
    }
}

impl fmt::Debug for TokenSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenSpace")
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}
