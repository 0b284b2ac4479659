//! The formulas: how rare a term is, and how much its count in a text says.

use crate::error::SparseError;

/// Which BM25. N is the number of texts that are seen and not empty, df how many of them hold the
/// term, tf its count in the text, and L = 1 − b + b · length / average length.
///
/// The differences in effect are small (Kamphuis, de Vries, Boytsov and Lin, ECIR 2020), so the
/// default is the one whose idf is always positive.
///
/// ```
/// assert_eq!(cornu_sparse::Variant::default(), cornu_sparse::Variant::Lucene);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// ln(1 + (N − df + ½) / (df + ½)) · tf / (k1 · L + tf)
    #[default]
    Lucene,
    /// ln((N − df + ½) / (df + ½)) · tf / (k1 · L + tf), the idf not below 0: a term that stands in
    /// more than half of the texts counts nothing.
    Robertson,
    /// ln(N / df) · (k1 + 1) · tf / (k1 · L + tf)
    Atire,
    /// ln((N + 1) / (df + ½)) · (k1 + 1) · (c + δ) / (k1 + c + δ), c = tf / L (Lv and Zhai, SIGIR
    /// 2011)
    Bm25L,
    /// ln((N + 1) / df) · (δ + (k1 + 1) · tf / (k1 · L + tf)) (Lv and Zhai, CIKM 2011)
    Bm25Plus,
}

/// A variant with its parameters.
///
/// A score is the sum over the query's terms *that the text holds*, as both papers on δ have it: a
/// text that lacks a term gets nothing for it. Some libraries also give a text that lacks the term
/// the value of the formula at tf = 0, which takes δ back out of the order.
///
/// ```
/// use cornu_sparse::{Bm25, Variant};
///
/// let bm25 = Bm25::new(Variant::Bm25Plus, 1.5, 0.75)?.with_delta(0.5)?;
/// assert_eq!((bm25.k1(), bm25.b(), bm25.delta()), (1.5, 0.75, 0.5));
/// assert_eq!(Bm25::default(), Bm25::new(Variant::Lucene, 1.2, 0.75)?);
/// # Ok::<(), cornu_sparse::SparseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    variant: Variant,
    k1: f64,
    b: f64,
    delta: f64,
}

impl Default for Bm25 {
    /// Lucene with its usual k1 = 1.2 and b = 0.75.
    fn default() -> Self {
        Self {
            variant: Variant::Lucene,
            k1: 1.2,
            b: 0.75,
            delta: 0.0,
        }
    }
}

impl Bm25 {
    /// A variant with k1 (from 0, at most 1e6: how slowly further occurrences stop counting) and b
    /// (from 0 to 1: how much long texts are discounted). δ is 1 for BM25+, ½ for BM25L, as in the
    /// papers.
    ///
    /// # Errors
    /// [`SparseError::Parameter`].
    pub fn new(variant: Variant, k1: f64, b: f64) -> Result<Self, SparseError> {
        in_range("k1", k1, 1e6)?;
        in_range("b", b, 1.0)?;
        let delta = match variant {
            Variant::Bm25L => 0.5,
            Variant::Bm25Plus => 1.0,
            Variant::Lucene | Variant::Robertson | Variant::Atire => 0.0,
        };
        Ok(Self {
            variant,
            k1,
            b,
            delta,
        })
    }

    /// Another δ (from 0, at most 1e6). Only BM25L and BM25+ use it.
    ///
    /// # Errors
    /// [`SparseError::Parameter`].
    pub fn with_delta(mut self, delta: f64) -> Result<Self, SparseError> {
        in_range("delta", delta, 1e6)?;
        self.delta = delta;
        Ok(self)
    }

    /// The formula.
    #[must_use]
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// How slowly further occurrences stop counting.
    #[must_use]
    pub fn k1(&self) -> f64 {
        self.k1
    }

    /// How much long texts are discounted.
    #[must_use]
    pub fn b(&self) -> f64 {
        self.b
    }

    /// What a text gets for holding a term at all, beyond its count.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// The weight of a term that `df` of `n` texts hold; at least 0.
    pub(crate) fn idf(&self, df: u64, n: u64) -> f64 {
        if df == 0 {
            return 0.0;
        }
        let (df, n) = (df as f64, n as f64);
        let ratio = match self.variant {
            Variant::Lucene => 1.0 + (n - df + 0.5) / (df + 0.5),
            Variant::Robertson => ((n - df + 0.5) / (df + 0.5)).max(1.0),
            Variant::Atire => n / df,
            Variant::Bm25L => (n + 1.0) / (df + 0.5),
            Variant::Bm25Plus => (n + 1.0) / df,
        };
        libm::log(ratio)
    }

    pub(crate) fn saturation(&self, average_length: f64) -> Saturation {
        let scale = match self.variant {
            Variant::Bm25L => 1.0, // of L itself
            _ => self.k1,
        };
        Saturation {
            bm25: *self,
            at_zero: scale * (1.0 - self.b),
            a_word: scale * self.b / average_length,
        }
    }
}

/// The part of the formula that looks at one text: increases with the count, decreases with the
/// length, and is at least 0 and finite for counts and lengths of at least 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saturation {
    bm25: Bm25,
    /// k1 · L (for BM25L: L) of an empty text, and what each word adds.
    at_zero: f64,
    a_word: f64,
}

impl Saturation {
    #[inline]
    pub(crate) fn of(&self, count: u32, length: u32) -> f64 {
        let tf = f64::from(count);
        let norm = self.at_zero + self.a_word * f64::from(length);
        let Bm25 { k1, delta, .. } = self.bm25;
        match self.bm25.variant {
            Variant::Lucene | Variant::Robertson => tf / (norm + tf),
            Variant::Atire => (k1 + 1.0) * tf / (norm + tf),
            Variant::Bm25Plus => delta + (k1 + 1.0) * tf / (norm + tf),
            Variant::Bm25L => {
                let c = tf / norm + delta;
                (k1 + 1.0) * c / (k1 + c)
            }
        }
    }
}

fn in_range(name: &'static str, value: f64, most: f64) -> Result<(), SparseError> {
    match (0.0..=most).contains(&value) {
        true => Ok(()),
        false => Err(SparseError::Parameter {
            name,
            value,
            least: 0.0,
            most,
        }),
    }
}
