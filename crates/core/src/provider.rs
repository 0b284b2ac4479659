//! The traits for models. Each is small, object-safe, takes `&self`, and can be shared between
//! threads, so that no crate above needs to know what stands behind it.

use ndarray::{Array1, Array2};

use crate::fingerprint::Fingerprint;
use crate::span::ByteSpan;

/// Texts to unit vectors.
///
/// For every implementation holds, and the suites of `testing` (feature `proptest`) check:
/// - `embed` gives shape (N, D) in the order of the input, D = [`dimension`](Self::dimension);
///   no texts give (0, D). `embed_query` gives shape (D).
/// - Every vector is finite and has L2 norm 1 within 1e-5.
/// - A text's vector does not depend on the other texts of the call, bit for bit.
/// - Nothing is truncated in silence: [`Embeddings::tokens`] says what was kept.
///
/// ```
/// use cornu_core::{EmbeddingProvider, Embeddings, Fingerprint, ProviderError, TextTokens};
/// use ndarray::{Array1, Array2};
///
/// /// Counts vowels and the rest: two dimensions.
/// struct Vowels(Fingerprint);
///
/// impl EmbeddingProvider for Vowels {
///     fn dimension(&self) -> usize { 2 }
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
///         let mut vectors = Array2::zeros((texts.len(), 2));
///         for (mut row, text) in vectors.rows_mut().into_iter().zip(texts) {
///             row[0] = 1.0 + text.chars().filter(|c| "aeiou".contains(*c)).count() as f32;
///             row[1] = 1.0 + text.chars().filter(|c| !"aeiou".contains(*c)).count() as f32;
///         }
///         cornu_core::normalise_rows(&mut vectors)?;
///         let tokens = texts.iter().map(|t| TextTokens::whole(t.chars().count())).collect();
///         Ok(Embeddings { vectors, tokens })
///     }
///     fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
///         Ok(self.embed(&[text])?.row(0).to_owned())
///     }
/// }
///
/// let provider: Box<dyn EmbeddingProvider> = Box::new(Vowels(Fingerprint::new("vowels")));
/// assert_eq!(provider.embed(&["aa", "xx"])?.dim(), (2, 2));
/// # Ok::<(), ProviderError>(())
/// ```
pub trait EmbeddingProvider: Send + Sync {
    /// D, the length of each vector.
    fn dimension(&self) -> usize;

    /// Everything the vectors depend on.
    fn fingerprint(&self) -> &Fingerprint;

    /// Document vectors, and how much of each text they stand for.
    ///
    /// # Errors
    /// [`ProviderError`]; then no vector is given, not even for the texts that went well.
    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError>;

    /// Document vectors of shape (N, D).
    ///
    /// # Errors
    /// As [`embed_counted`](Self::embed_counted).
    fn embed(&self, texts: &[&str]) -> Result<Array2<f32>, ProviderError> {
        self.embed_counted(texts)
            .map(|embeddings| embeddings.vectors)
    }

    /// The vector of a query, of shape (D), with the model's query prefix where it has one.
    ///
    /// # Errors
    /// [`ProviderError`].
    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError>;
}

/// What [`EmbeddingProvider::embed_counted`] gives.
///
/// ```
/// use cornu_core::{Embeddings, TextTokens};
/// let cut = TextTokens { kept: 512, total: 900 };
/// let embeddings = Embeddings { vectors: ndarray::arr2(&[[1.0, 0.0]]), tokens: vec![cut] };
/// assert_eq!(embeddings.truncated().collect::<Vec<_>>(), [0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    /// Shape (N, D), rows of L2 norm 1.
    pub vectors: Array2<f32>,
    /// For each text, how many of its tokens the vector stands for.
    pub tokens: Vec<TextTokens>,
}

impl Embeddings {
    /// The positions of the texts that were cut.
    pub fn truncated(&self) -> impl Iterator<Item = usize> + '_ {
        self.tokens
            .iter()
            .enumerate()
            .filter(|(_, tokens)| tokens.is_cut())
            .map(|(at, _)| at)
    }
}

/// How many tokens a text had, and how many were kept. Special tokens are not counted.
///
/// ```
/// use cornu_core::TextTokens;
/// assert!(!TextTokens::whole(7).is_cut());
/// assert!(TextTokens { kept: 5, total: 7 }.is_cut());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextTokens {
    /// Tokens that the output stands for.
    pub kept: usize,
    /// Tokens of the text.
    pub total: usize,
}

impl TextTokens {
    /// A text that was kept whole.
    #[must_use]
    pub fn whole(total: usize) -> Self {
        Self { kept: total, total }
    }

    /// Whether tokens were left out.
    #[must_use]
    pub fn is_cut(self) -> bool {
        self.kept < self.total
    }
}

/// Which side of a search a text stands on; models with prefixes treat the two differently.
///
/// ```
/// assert_ne!(cornu_core::Side::Query, cornu_core::Side::Document);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// What is asked.
    Query,
    /// What is searched.
    Document,
}

/// Texts to one vector a token (late interaction).
pub trait TokenEmbedder: Send + Sync {
    /// The length of each token's vector.
    fn token_dimension(&self) -> usize;

    /// Everything the vectors depend on.
    fn fingerprint(&self) -> &Fingerprint;

    /// For each text, in order, the vectors of its tokens. Padding is never among them.
    ///
    /// # Errors
    /// [`ProviderError`].
    fn embed_tokens(&self, texts: &[&str], side: Side) -> Result<Vec<TokenVectors>, ProviderError>;
}

/// The tokens of one text.
///
/// ```
/// use cornu_core::{ByteSpan, TextTokens, TokenVectors};
/// let tokens = TokenVectors {
///     vectors: ndarray::arr2(&[[1.0, 0.0]]),
///     spans: vec![Some(ByteSpan::new(0, 3)?)],
///     tokens: TextTokens::whole(1),
/// };
/// assert_eq!(tokens.vectors.nrows(), tokens.spans.len());
/// # Ok::<(), cornu_core::SpanError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TokenVectors {
    /// Shape (T, d), rows of L2 norm 1.
    pub vectors: Array2<f32>,
    /// For each row, the bytes of the text that it stands for; `None` for a special token.
    pub spans: Vec<Option<ByteSpan>>,
    /// How much of the text is covered.
    pub tokens: TextTokens,
}

/// A query and documents to scores (cross-encoder). Larger is better; scores are finite and
/// comparable within one call.
pub trait PairScorer: Send + Sync {
    /// Everything the scores depend on.
    fn fingerprint(&self) -> &Fingerprint;

    /// One score for each document, in order. Where the pair is too long the document is cut, the
    /// query never.
    ///
    /// # Errors
    /// [`ProviderError`].
    fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError>;
}

/// A statement (subject, predicate, object) read from a text.
///
/// ```
/// use cornu_core::Triple;
/// let triple = Triple { subject: "A".into(), predicate: "owns".into(), object: "B".into() };
/// assert_eq!(triple.object, "B");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Triple {
    /// Of what it is said.
    pub subject: String,
    /// What is said.
    pub predicate: String,
    /// In relation to what.
    pub object: String,
}

/// A statement in words, with the entities it speaks of.
///
/// ```
/// use cornu_core::Proposition;
/// let proposition = Proposition { text: "A owns B.".into(), entities: vec!["A".into(), "B".into()] };
/// assert_eq!(proposition.entities.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Proposition {
    /// The statement.
    pub text: String,
    /// The entities it speaks of.
    pub entities: Vec<String>,
}

/// What was read from one text.
///
/// ```
/// assert!(cornu_core::Extraction::default().triples.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Extraction {
    /// Named things.
    pub entities: Vec<String>,
    /// Statements between them.
    pub triples: Vec<Triple>,
    /// Statements in words.
    pub propositions: Vec<Proposition>,
}

/// Texts to entities, triples and propositions.
pub trait Extractor: Send + Sync {
    /// Everything the output depends on.
    fn fingerprint(&self) -> &Fingerprint;

    /// One extraction for each text, in order.
    ///
    /// # Errors
    /// [`ProviderError`].
    fn extract(&self, texts: &[&str]) -> Result<Vec<Extraction>, ProviderError>;
}

/// A text to a shorter one.
pub trait Summariser: Send + Sync {
    /// Everything the output depends on.
    fn fingerprint(&self) -> &Fingerprint;

    /// A summary of at most `max_tokens` tokens of the summariser's own counting.
    ///
    /// # Errors
    /// [`ProviderError`].
    fn summarise(&self, text: &str, max_tokens: usize) -> Result<String, ProviderError>;
}

/// The size of a text in tokens. Special tokens that a model puts around a text are not counted.
///
/// For every implementation holds: the empty text has 0 tokens; a prefix that ends at a character
/// boundary has at most [`slack`](Self::slack) more tokens than the whole.
///
/// ```
/// use cornu_core::{Fingerprint, TokenCounter};
///
/// struct Characters(Fingerprint);
/// impl TokenCounter for Characters {
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn count(&self, text: &str) -> usize { text.chars().count() }
/// }
///
/// let counter = Characters(Fingerprint::new("characters"));
/// assert_eq!(counter.fit("一二三四", 3), "一二三".len());
/// ```
pub trait TokenCounter: Send + Sync {
    /// Everything the counts depend on.
    fn fingerprint(&self) -> &Fingerprint;

    /// Number of tokens. O(bytes).
    fn count(&self, text: &str) -> usize;

    /// By how much a prefix may count more than the whole; 0 for characters and words, a few for
    /// tokenizers that merge.
    fn slack(&self) -> usize {
        0
    }

    /// The end, in bytes, of a prefix that holds at most `limit` tokens and that could not be a
    /// character longer; 0 when not even the first character fits. O(bytes of the prefix, times
    /// a logarithm) unless an implementation knows better.
    fn fit(&self, text: &str, limit: usize) -> usize {
        // Gallop to a prefix that is too long, so that the cost follows the prefix, not the text.
        let mut reach = limit.saturating_mul(4).max(16);
        loop {
            let end = floor_boundary(text, reach);
            if end == text.len() || self.count(&text[..end]) > limit {
                return self.fit_within(text, end, limit);
            }
            reach = reach.saturating_mul(2);
        }
    }

    /// The search behind [`fit`](Self::fit), within the first `end` bytes (a character boundary).
    #[doc(hidden)]
    fn fit_within(&self, text: &str, end: usize, limit: usize) -> usize {
        let window = &text[..end];
        if self.count(window) <= limit {
            return end;
        }
        let (mut low, mut high) = (0, end); // `low` fits, `high` does not
        loop {
            let mut middle = floor_boundary(window, low + (high - low) / 2);
            if middle <= low {
                middle = next_boundary(window, low);
            }
            if middle >= high {
                return low;
            }
            if self.count(&window[..middle]) <= limit {
                low = middle;
            } else {
                high = middle;
            }
        }
    }
}

/// Scales every row to L2 norm 1, in place, with sums in f64.
///
/// # Errors
/// [`ProviderError::BadVector`] for a row that is zero or not finite: such a row has no direction.
///
/// ```
/// let mut vectors = ndarray::arr2(&[[3.0, 4.0]]);
/// cornu_core::normalise_rows(&mut vectors)?;
/// assert_eq!(vectors, ndarray::arr2(&[[0.6, 0.8]]));
/// assert!(cornu_core::normalise_rows(&mut ndarray::arr2(&[[0.0, 0.0]])).is_err());
/// # Ok::<(), cornu_core::ProviderError>(())
/// ```
pub fn normalise_rows(vectors: &mut Array2<f32>) -> Result<(), ProviderError> {
    for (row, mut vector) in vectors.rows_mut().into_iter().enumerate() {
        let norm = vector
            .iter()
            .map(|&x| f64::from(x) * f64::from(x))
            .sum::<f64>()
            .sqrt();
        if !norm.is_finite() {
            return Err(ProviderError::BadVector {
                row,
                what: "not finite",
            });
        }
        if norm == 0.0 {
            return Err(ProviderError::BadVector { row, what: "zero" });
        }
        vector.mapv_inplace(|x| (f64::from(x) / norm) as f32);
    }
    Ok(())
}

/// Why a model gave no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// A text is longer than the model takes, and truncation was not asked for.
    #[error(
        "text {index} of the call has {tokens} tokens, the model takes {limit}; split it, or ask \
         for truncation"
    )]
    TooLong {
        /// Position of the text in the call, from 0.
        index: usize,
        /// Its tokens.
        tokens: usize,
        /// The most the model takes, special tokens apart.
        limit: usize,
    },
    /// A vector has no direction.
    #[error("vector {row} is {what}; the model or its server is broken, nothing was kept")]
    BadVector {
        /// Position, from 0.
        row: usize,
        /// "zero" or "not finite".
        what: &'static str,
    },
    /// The provider is not set up: a key, a file or a feature is missing.
    #[error("{provider} is not available: {reason}; {remedy}")]
    Unavailable {
        /// Which provider.
        provider: String,
        /// What is missing.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// A remote provider answered with something that is not what was asked for.
    #[error("{provider} answered wrongly: {reason}; {remedy}")]
    Protocol {
        /// Which provider.
        provider: String,
        /// What is wrong with the answer.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// The model's own machinery failed.
    #[error("{provider} failed: {source}")]
    Failed {
        /// Which provider.
        provider: String,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

fn floor_boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

fn next_boundary(text: &str, at: usize) -> usize {
    (at + 1..=text.len())
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(text.len())
}
