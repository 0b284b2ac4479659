//! An embedder that is right, and one fault at a time wrong.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::ThreadId;

use cornu_core::{
    EmbeddingProvider, Embeddings, Fingerprint, ProviderError, TextTokens, normalise_rows,
};
use ndarray::{Array1, Array2};

/// A mistake that embedders make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Right, and strict: texts that are too long or blank are refused.
    Strict,
    NotNormalised,
    MeanOfUnitWindows,
    NotANumber,
    ZeroForBlank,
    WrongDimension,
    RowForNoTexts,
    MergesEqualTexts,
    SortedByLength,
    CentredOnBatch,
    PaddingCounts,
    LossyCache,
    BlankRefusedOnce,
    OneThreadOnly,
    SameForAll,
    EmbedForgetsPrefix,
    NoTokenCounts,
    SilentCut,
    SilentCutInTheMiddle,
    LongIsUnavailable,
    LongAtWrongPlace,
    RefusesEmoji,
    QueryAsMatrix,
    QueryNotNormalised,
    QueryPrefixOnce,
    FingerprintCountsCalls,
    DimensionFromLastCall,
    ZeroDimension,
}

const DIMENSION: usize = 8;
const LIMIT: usize = 512; // characters

pub(crate) struct BrokenEmbedder {
    fault: Fault,
    fingerprints: [Fingerprint; 2],
    calls: AtomicUsize,
    queries: AtomicUsize,
    texts: AtomicUsize,
    asked: Mutex<BTreeSet<String>>,
    home: OnceLock<ThreadId>,
}

impl BrokenEmbedder {
    pub(crate) fn new(fault: Fault) -> Self {
        let fingerprint = |calls: usize| Fingerprint::new("broken").with("calls", calls);
        Self {
            fault,
            fingerprints: [fingerprint(0), fingerprint(1)],
            calls: AtomicUsize::new(0),
            queries: AtomicUsize::new(0),
            texts: AtomicUsize::new(0),
            asked: Mutex::default(),
            home: OnceLock::new(),
        }
    }

    /// Calls and texts so far.
    pub(crate) fn used(&self) -> (usize, usize) {
        let load = |count: &AtomicUsize| count.load(Ordering::SeqCst);
        (load(&self.calls), load(&self.texts))
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// Every character moves one component; the sum depends on their order.
    fn direction(&self, text: &str, salt: u32) -> Vec<f32> {
        let mut sums = vec![0.0_f32; DIMENSION];
        sums[0] = 1.0 + salt as f32;
        if self.is(Fault::SameForAll) {
            return sums;
        }
        let letters: Vec<char> = match self.fault {
            Fault::SilentCut | Fault::LongAtWrongPlace => text.chars().take(LIMIT).collect(),
            Fault::SilentCutInTheMiddle => {
                let letters: Vec<char> = text.chars().collect();
                let (head, tail) = (
                    letters.len().min(LIMIT),
                    letters.len().saturating_sub(LIMIT),
                );
                [&letters[..head], &letters[tail.max(head)..]].concat()
            }
            _ => text.chars().take(LIMIT).collect(),
        };
        let mut hash = 17_u32;
        for letter in letters {
            hash = hash.wrapping_mul(31).wrapping_add(u32::from(letter));
            let mixed = hash ^ (hash >> 15);
            let sign = if mixed & 8 == 0 { 1.0 } else { -1.0 };
            sums[(mixed % 8) as usize] += sign * (1.0 + (mixed >> 24) as f32 / 256.0);
        }
        if sums.iter().all(|x| *x == 0.0) {
            sums[0] = 1.0;
        }
        sums
    }

    fn counts(&self, text: &str) -> TextTokens {
        let total = text.chars().count();
        match self.fault {
            Fault::SilentCut | Fault::SilentCutInTheMiddle => TextTokens::whole(total),
            _ => TextTokens {
                kept: total.min(LIMIT),
                total,
            },
        }
    }

    fn refuse(&self, texts: &[&str]) -> Result<(), ProviderError> {
        let unavailable = |reason: &str| ProviderError::Unavailable {
            provider: "broken".into(),
            reason: reason.into(),
            remedy: "none".into(),
        };
        for (index, text) in texts.iter().enumerate() {
            let tokens = text.chars().count();
            let blank = text.trim().is_empty();
            match self.fault {
                Fault::Strict if tokens > LIMIT => {
                    return Err(ProviderError::TooLong {
                        index,
                        tokens,
                        limit: LIMIT,
                    });
                }
                Fault::LongAtWrongPlace if tokens > LIMIT => {
                    return Err(ProviderError::TooLong {
                        index: 0,
                        tokens,
                        limit: LIMIT,
                    });
                }
                Fault::LongIsUnavailable if tokens > LIMIT => return Err(unavailable("413")),
                Fault::Strict if blank => return Err(unavailable("blank")),
                Fault::BlankRefusedOnce if blank => {
                    let mut asked = self.asked.lock().unwrap();
                    if asked.insert((*text).to_owned()) {
                        return Err(unavailable("still warming up"));
                    }
                }
                Fault::RefusesEmoji if text.contains('👩') => return Err(unavailable("emoji")),
                Fault::OneThreadOnly
                    if *self.home.get_or_init(|| std::thread::current().id())
                        != std::thread::current().id() =>
                {
                    return Err(unavailable("a busy interpreter"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl EmbeddingProvider for BrokenEmbedder {
    fn dimension(&self) -> usize {
        match self.fault {
            Fault::ZeroDimension => 0,
            Fault::DimensionFromLastCall if self.queries.load(Ordering::SeqCst) > 30 => {
                DIMENSION + 1
            }
            _ => DIMENSION,
        }
    }

    fn fingerprint(&self) -> &Fingerprint {
        let used = self.calls.load(Ordering::SeqCst) > 0;
        &self.fingerprints[usize::from(used && self.is(Fault::FingerprintCountsCalls))]
    }

    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        self.refuse(texts)?;
        let longest = texts
            .iter()
            .map(|text| text.chars().count())
            .max()
            .unwrap_or(0);
        let mut order: Vec<&str> = texts.to_vec();
        match self.fault {
            Fault::SortedByLength => order.sort_by_key(|text| text.len()),
            Fault::MergesEqualTexts => order.dedup(),
            Fault::RowForNoTexts if texts.is_empty() => order.push(""),
            _ => {}
        }
        let columns = DIMENSION - usize::from(self.is(Fault::WrongDimension));
        let mut rows: Vec<Vec<f32>> = order.iter().map(|text| self.direction(text, 0)).collect();
        match self.fault {
            Fault::PaddingCounts => {
                for (row, text) in rows.iter_mut().zip(&order) {
                    row[0] += 0.01 * (longest - text.chars().count()) as f32;
                }
            }
            Fault::CentredOnBatch => {
                let count = rows.len() as f32;
                for at in 0..DIMENSION {
                    let mean = rows.iter().map(|row| row[at]).sum::<f32>() / count;
                    rows.iter_mut().for_each(|row| row[at] += 0.1 * mean);
                }
            }
            Fault::LossyCache if texts.len() > 5 => {
                // The second answer to a batch comes from a cache that rounds.
                let key = format!("{texts:?}");
                let mut asked = self.asked.lock().unwrap();
                if !asked.insert(format!("again {key}")) || asked.contains(&format!("now {key}")) {
                    rows.iter_mut()
                        .flatten()
                        .for_each(|x| *x = (*x * 4.0).round() / 4.0);
                }
            }
            _ => {}
        }
        let mut vectors =
            Array2::from_shape_fn((rows.len(), columns), |(row, column)| rows[row][column]);
        if !self.is(Fault::NotNormalised) {
            normalise_rows(&mut vectors)?;
        }
        for (mut row, text) in vectors.rows_mut().into_iter().zip(&order) {
            match self.fault {
                Fault::MeanOfUnitWindows if text.chars().count() > 40 => row *= 0.8,
                Fault::NotANumber if text.chars().count() == 1 => row[3] = f32::NAN,
                Fault::ZeroForBlank if text.trim().is_empty() => row.fill(0.0),
                _ => {}
            }
        }
        let tokens = match self.is(Fault::NoTokenCounts) {
            true => vec![],
            false => texts.iter().map(|text| self.counts(text)).collect(),
        };
        Ok(Embeddings { vectors, tokens })
    }

    fn embed(&self, texts: &[&str]) -> Result<Array2<f32>, ProviderError> {
        if self.is(Fault::EmbedForgetsPrefix) {
            let texts: Vec<String> = texts
                .iter()
                .map(|text| format!("passage: {text}"))
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            return Ok(self.embed_counted(&texts)?.vectors);
        }
        Ok(self.embed_counted(texts)?.vectors)
    }

    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        let asked = self.queries.fetch_add(1, Ordering::SeqCst);
        let prefixed = match self.is(Fault::QueryPrefixOnce) && asked > 0 {
            true => text.to_owned(),
            false => format!("query: {text}"),
        };
        let mut vectors = self.embed_counted(&[&prefixed])?.vectors;
        if self.is(Fault::QueryNotNormalised) {
            vectors *= 3.0;
        }
        match self.is(Fault::QueryAsMatrix) {
            true => Ok(Array1::zeros(2 * DIMENSION)),
            false => Ok(vectors.row(0).to_owned()),
        }
    }
}
