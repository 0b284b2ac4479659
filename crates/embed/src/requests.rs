//! What the providers over HTTP share: texts to requests, replies to rows.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cornu_core::{
    Embeddings, Fingerprint, ProviderError, TextTokens, TokenCounter, normalise_rows,
};
use ndarray::{Array2, s};

pub use crate::bert::Truncation;

/// A limit that is kept on our side, before anything is sent.
///
/// Many servers cut what is too long and do not say so, and nothing in their replies tells. With
/// a limit at or below the model's own, nothing is cut in silence. The counter should be that of
/// the model; one that counts too few leaves the server to cut.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::{Fingerprint, TokenCounter};
/// use cornu_embed::requests::{TokenLimit, Truncation};
///
/// struct Characters(Fingerprint);
/// impl TokenCounter for Characters {
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn count(&self, text: &str) -> usize { text.chars().count() }
/// }
///
/// let limit = TokenLimit {
///     counter: Arc::new(Characters(Fingerprint::new("characters"))),
///     tokens: 400,
///     truncation: Truncation::Error,
/// };
/// assert!(format!("{limit:?}").contains("characters"));
/// ```
#[derive(Clone)]
pub struct TokenLimit {
    /// What a token is.
    pub counter: Arc<dyn TokenCounter>,
    /// The most tokens of what is sent: prefix and text, without the model's special tokens.
    pub tokens: usize,
    /// What to do with a text that has more.
    pub truncation: Truncation,
}

impl fmt::Debug for TokenLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenLimit")
            .field("counter", &self.counter.fingerprint().to_string())
            .field("tokens", &self.tokens)
            .field("truncation", &self.truncation)
            .finish()
    }
}

impl TokenLimit {
    /// Adds the limit to what vectors depend on. One that refuses changes no vector.
    pub(crate) fn sign(&self, fingerprint: Fingerprint) -> Fingerprint {
        let truncation = match self.truncation {
            Truncation::Error => return fingerprint,
            Truncation::Left => "left",
            Truncation::Right => "right",
        };
        fingerprint
            .with("truncation", truncation)
            .with("limit", self.tokens)
            .with("limit_counter", self.counter.fingerprint())
    }

    /// The part of a text that is sent behind a prefix.
    fn fit(&self, index: usize, prefix: &str, text: &str) -> Result<Kept, ProviderError> {
        let count = |part: &str| self.counter.count(part);
        let total = count(text);
        let joined = |part: &str| match prefix {
            "" => count(part),
            _ => count(&format!("{prefix}{part}")),
        };
        if joined(text) <= self.tokens {
            return Ok(Kept::whole(text, Some(total)));
        }
        let mut room = self.tokens.saturating_sub(count(prefix));
        let too_long = ProviderError::TooLong {
            index,
            tokens: total,
            limit: room,
        };
        if self.truncation == Truncation::Error {
            return Err(too_long);
        }
        while room > 0 {
            let range = match self.truncation {
                Truncation::Left => suffix(text, room, &count)..text.len(),
                _ => 0..self.counter.fit(text, room),
            };
            let part = text.get(range.clone()).unwrap_or_default();
            // Tokenizers that merge may count more for the two together.
            if !part.is_empty() && joined(part) <= self.tokens {
                let kept = count(part).min(total);
                return Ok(Kept {
                    range,
                    tokens: Some(TextTokens { kept, total }),
                });
            }
            room -= 1;
        }
        Err(too_long) // not even one character fits
    }
}

/// The start of the longest end of a text that has at most `room` tokens, by bisection.
fn suffix(text: &str, room: usize, count: &dyn Fn(&str) -> usize) -> usize {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let too_long = |&at: &usize| count(text.get(at..).unwrap_or_default()) > room;
    let first = starts.partition_point(too_long);
    starts.get(first).copied().unwrap_or(text.len())
}

struct Kept {
    range: Range<usize>,
    tokens: Option<TextTokens>,
}

impl Kept {
    fn whole(text: &str, tokens: Option<usize>) -> Self {
        Self {
            range: 0..text.len(),
            tokens: tokens.map(TextTokens::whole),
        }
    }
}

/// A server's answer to one batch.
pub(crate) struct Answer {
    /// One for each text, in order.
    pub(crate) vectors: Vec<Vec<f32>>,
    /// The server's count of the tokens of the batch.
    pub(crate) tokens: Option<u64>,
}

/// How texts are sent. One for each provider.
pub(crate) struct Dispatch {
    pub(crate) provider: String,
    pub(crate) batch_size: usize,
    pub(crate) concurrency: usize,
    pub(crate) limit: Option<TokenLimit>,
    /// The largest |norm − 1| of a vector as it came, as the bits of an f64.
    norm_error: AtomicU64,
}

/// Vectors of one batch, normalised.
struct Done {
    vectors: Array2<f32>,
    tokens: Vec<TextTokens>,
}

impl Dispatch {
    pub(crate) fn new(
        provider: String,
        batch_size: usize,
        concurrency: usize,
        limit: Option<TokenLimit>,
    ) -> Result<Self, ProviderError> {
        if batch_size == 0 || concurrency == 0 {
            return Err(ProviderError::Unavailable {
                provider,
                reason: "batch_size and concurrency are at least 1".to_owned(),
                remedy: "leave them at their defaults".to_owned(),
            });
        }
        Ok(Self {
            provider,
            batch_size,
            concurrency,
            limit,
            norm_error: AtomicU64::new(0),
        })
    }

    pub(crate) fn norm_error(&self) -> f64 {
        f64::from_bits(self.norm_error.load(Ordering::Relaxed))
    }

    pub(crate) fn protocol(&self, reason: String) -> ProviderError {
        ProviderError::Protocol {
            provider: self.provider.clone(),
            reason,
            remedy: "check the server, the model's name and the dimension".to_owned(),
        }
    }

    /// Sends all texts in batches, several at a time, and gives their rows in order. After a
    /// failure no further batch is begun, and the error is that of the first batch that failed,
    /// by position and not by time.
    pub(crate) fn embed(
        &self,
        prefix: &str,
        texts: &[&str],
        dimension: usize,
        send: &(dyn Fn(Vec<String>) -> Result<Answer, ProviderError> + Sync),
    ) -> Result<Embeddings, ProviderError> {
        // All of them first: a text that is too long costs nothing.
        let kept: Vec<Kept> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| match &self.limit {
                Some(limit) => limit.fit(index, prefix, text),
                None => Ok(Kept::whole(text, None)),
            })
            .collect::<Result<_, _>>()?;
        let pairs: Vec<(&str, &Kept)> = texts.iter().copied().zip(&kept).collect();
        let batches: Vec<&[(&str, &Kept)]> = pairs.chunks(self.batch_size).collect();
        let run = |number: usize, batch: &[(&str, &Kept)]| {
            let texts = batch.iter().map(|(text, kept)| {
                let part = text.get(kept.range.clone()).unwrap_or_default();
                let sent = format!("{prefix}{part}");
                // APIs refuse the empty text.
                if sent.is_empty() {
                    " ".to_owned()
                } else {
                    sent
                }
            });
            let answer = send(texts.collect())?;
            self.check(number * self.batch_size, batch, &answer, dimension)
        };

        let done = in_order(self.concurrency, &batches, &run)?;
        let mut vectors = Array2::zeros((texts.len(), dimension));
        let mut tokens = Vec::with_capacity(texts.len());
        for batch in done {
            let (start, end) = (tokens.len(), tokens.len() + batch.tokens.len());
            vectors.slice_mut(s![start..end, ..]).assign(&batch.vectors);
            tokens.extend(batch.tokens);
        }
        Ok(Embeddings { vectors, tokens })
    }

    /// Checks and normalises the vectors of the texts from `first` on.
    fn check(
        &self,
        first: usize,
        batch: &[(&str, &Kept)],
        answer: &Answer,
        dimension: usize,
    ) -> Result<Done, ProviderError> {
        let (given, wanted) = (answer.vectors.len(), batch.len());
        if given != wanted {
            return Err(self.protocol(format!("{given} vectors for {wanted} texts")));
        }
        let mut flat = Vec::with_capacity(wanted * dimension);
        for (at, vector) in answer.vectors.iter().enumerate() {
            if vector.len() != dimension {
                let (text, found) = (first + at, vector.len());
                let reason = format!("text {text} has {found} dimensions, not {dimension}");
                return Err(self.protocol(reason));
            }
            flat.extend_from_slice(vector);
        }
        let mut vectors = Array2::from_shape_vec((wanted, dimension), flat)
            .map_err(|error| self.protocol(error.to_string()))?;
        let worst = vectors.rows().into_iter().map(|row| {
            let squares: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            (squares.sqrt() - 1.0).abs()
        });
        let worst = worst.fold(0.0, f64::max);
        normalise_rows(&mut vectors).map_err(|error| match error {
            ProviderError::BadVector { row, what } => ProviderError::BadVector {
                row: first + row,
                what,
            },
            other => other,
        })?;
        // Bits of numbers that are not negative are in the order of the numbers.
        self.norm_error
            .fetch_max(worst.to_bits(), Ordering::Relaxed);
        Ok(Done {
            tokens: counts(batch, answer.tokens),
            vectors,
        })
    }
}

/// Tokens of each text: our own count where there is a limit, else a share of the server's count
/// in proportion to the bytes (exact in sum), else the number of characters.
fn counts(batch: &[(&str, &Kept)], usage: Option<u64>) -> Vec<TextTokens> {
    let bytes: u128 = batch.iter().map(|(text, _)| text.len() as u128).sum();
    let mut before = (0_u128, 0_u128); // bytes, tokens
    let each = batch.iter().map(|(text, kept)| {
        if let Some(tokens) = kept.tokens {
            return tokens;
        }
        let Some(usage) = usage.filter(|_| bytes > 0) else {
            return TextTokens::whole(text.chars().count());
        };
        let upto = before.0 + text.len() as u128;
        let tokens = u128::from(usage) * upto / bytes;
        let share = tokens - before.1;
        before = (upto, tokens);
        TextTokens::whole(usize::try_from(share).unwrap_or(usize::MAX))
    });
    each.collect()
}

/// Runs the batches on up to `threads` threads; results in order, or the first error by position.
fn in_order<B: Copy + Sync, T: Send>(
    threads: usize,
    batches: &[B],
    run: &(dyn Fn(usize, B) -> Result<T, ProviderError> + Sync),
) -> Result<Vec<T>, ProviderError> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results = Mutex::new(Vec::with_capacity(batches.len()));
    let work = || {
        while !failed.load(Ordering::SeqCst) {
            // Batches are begun in order, so all before a failed one have been begun.
            let number = next.fetch_add(1, Ordering::SeqCst);
            let Some(&batch) = batches.get(number) else {
                return;
            };
            let result = run(number, batch);
            if result.is_err() {
                failed.store(true, Ordering::SeqCst);
            }
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((number, result));
        }
    };
    let threads = threads.min(batches.len());
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
